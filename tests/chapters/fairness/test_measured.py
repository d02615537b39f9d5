"""Distance, two bottlenecks and fair queues (`epfl` section 3), against theory with stated tolerances."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest

import netlab as nl
from netlab import theory
from netlab_course.chapters import fairness
from netlab_course.chapters.fairness import check, experiments, settings
from netlab_course.chapters.opening import judging_checks
from tests.agreement import agrees
from tests.chapters.checking import names_of_cells

pytestmark = pytest.mark.pocket


@pytest.fixture(scope="module")
def page() -> dict[str, Any]:
    """The networks and scenarios that the chapter's cells define, with the printed numbers."""
    own = fairness.begin().own
    reno = [nl.Tcp("h1", "h3", congestion="reno"), nl.Tcp("h2", "h3", congestion="reno")]
    cells = ("network", "draw", "far-and-near", "crossing")
    return names_of_cells("11_fairness", *cells, np=np, own=own, reno=reno)


def crossings(page: dict[str, Any], network: nl.Topology, seeds: int) -> pd.DataFrame:
    """Return the table of runs of three flows over two links, for both senders and the seeds from 1 on."""
    draws = product(("reno", "cubic"), range(1, seeds + 1))
    return experiments.crossings(nl.sweep({each: page["draw"](network, experiments.PAIRS, *each) for each in draws}))


def test_the_check_and_the_panel_have_the_scenarios_that_the_chapters_cells_make(page: dict[str, Any]) -> None:
    assert page["far_and_near"].to_dict() == settings.far_and_near(fairness.begin().own).to_dict()
    for queue, fields in page["queues"].items():
        network = page["two_distances"](800, 300, **fields)
        made = page["draw"](network, [("h1", "h3"), ("h2", "h3")], "cubic", 7)
        wanted = experiments.random_start_scenario(
            settings.two_distances(queue), [("h1", "h3"), ("h2", "h3")], "cubic", 7
        )
        assert made.to_dict() == wanted.to_dict()


@pytest.mark.parametrize(("congestion", "queue", "heard"), experiments.CASES)
def test_cost_of_distance_lies_near_its_exponent(congestion: str, queue: str, heard: str) -> None:
    """Three draws: the mean exponent is nearer to its own theory than a half, and losses come as theory has it."""
    network = settings.two_distances(queue, 800)
    pairs = [("h1", "h3"), ("h2", "h3")]
    scenarios = {
        (congestion, queue, 800, seed): experiments.random_start_scenario(network, pairs, congestion, seed)
        for seed in (1, 2, 3)
    }
    found = experiments.distances(nl.sweep(scenarios))
    agrees("exponent", found["exponent"].mean(), theory.RTT_EXPONENTS[congestion, heard], absolute=0.6)
    cuts = found["near_reductions"].sum() / found["far_reductions"].sum()
    sent = found["near_mbps"].sum() / found["far_mbps"].sum()
    agrees("near cuts / far cuts", cuts, 1.0 if heard == "synchronized" else sent, relative=0.4)


def test_reno_and_cubic_reach_optima_of_their_own_over_two_bottlenecks(page: dict[str, Any]) -> None:
    """Three draws of each, with random losses: within 20 % of the weighted optimum, Reno's long flow with more than CUBIC's."""
    found = crossings(page, page["two_links"], seeds=3)
    ratio = found.groupby("congestion")["ratio"].mean()
    expected = experiments.allocations()["long / short"]
    agrees("Reno's long / short", ratio["reno"], expected["Reno's own"], relative=0.2)
    agrees("CUBIC's long / short", ratio["cubic"], expected["CUBIC's own"], relative=0.2)
    assert ratio["reno"] > ratio["cubic"]


def test_with_random_losses_alone_both_senders_reach_their_own_optimum(page: dict[str, Any]) -> None:
    """Ten draws without RED; the intervals exclude max-min and proportional fairness."""
    wire = {"queue_packets": 5000, "loss_rate": 0.002, "way_back": {**page["unlimited"], "loss_rate": 0}}
    found = crossings(page, page["crossing"](200, 300, **wire), seeds=10)
    for congestion, rows in found.groupby("congestion"):
        mean, half = nl.interval(rows["ratio"])
        assert abs(mean - experiments.own_ratio(rows, str(congestion))) < half < 0.1
        assert mean + half < 1 and mean - half > 0.5


@pytest.mark.parametrize("aqm", ["fq_codel", "cake", "fq_pie"])
# The copies in which one of the three comes nearest to the bars.
@pytest.mark.parametrize(("rate_mbps", "base_rtt_ms"), [(6, 280), (8, 200), (8, 260)])
def test_short_fair_queues_pass_the_exercise_in_each_copy(
    page: dict[str, Any], aqm: str, rate_mbps: float, base_rtt_ms: float
) -> None:
    own = fairness.begin().own
    own.rate_mbps, own.base_rtt_ms = rate_mbps, base_rtt_ms
    network = page["crossing"](rate_mbps, base_rtt_ms, queue_packets=300, aqm=aqm)
    run = nl.run(network, [nl.Tcp(*pair) for pair in experiments.PAIRS], duration_s=120, interval_s=1)
    assert "all 6 conditions hold" in str(check.Checks(own).fair_run.judge(run))


def test_queue_for_each_flow_is_max_min_fair_and_passes_the_check(page: dict[str, Any]) -> None:
    chapter = fairness.begin("anna")
    own = chapter.own
    network = page["crossing"](own.rate_mbps, own.base_rtt_ms, queue_packets=300, aqm="fq")
    run = nl.run(network, [nl.Tcp(*pair) for pair in experiments.PAIRS], duration_s=120, interval_s=1)
    for mbps in run.goodput_mbps(after_s=20):
        agrees("goodput (Mbit/s)", mbps, theory.tcp_goodput_limit_mbps(own.rate_mbps) / 2, relative=0.03)
    assert "all 6 conditions hold" in str(judging_checks(chapter)["fair_run"].judge(run))


def test_three_connections_are_fair_by_connection_and_unfair_by_host() -> None:
    """The page quotes these results of five draws."""
    by_host, by_connection = [], []
    for seed in range(1, 6):
        starts_s = np.random.default_rng(seed).uniform(0, 5, 2).round(2)
        flows = [
            nl.Tcp("h1", "h3", start_s=float(starts_s[0])),
            nl.Tcp("h2", "h3", streams=3, start_s=float(starts_s[1])),
        ]
        run = nl.run(settings.two_distances(far_ms=300), flows, duration_s=240, interval_s=1)
        by_host.append(theory.jain_index(run.flows["goodput_mbps"]))
        by_connection.append(theory.jain_index(run.streams["goodput_mbps"]))
    assert (round(min(by_host), 2), round(max(by_host), 2)) == (0.77, 0.89)
    assert (round(min(by_connection), 2), round(max(by_connection), 2)) == (0.97, 1.0)
