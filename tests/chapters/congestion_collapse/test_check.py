"""The chapter's checks: right answers pass, wrong ones get their sentence, hints lead to the answer."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

import netlab as nl
from netlab.measure.results import Run
from netlab_course.chapters import congestion_collapse
from netlab_course.chapters.congestion_collapse.check import Checks
from netlab_course.chapters.opening import judging_checks
from netlab_course.checks import Check
from netlab_course.own_numbers import StudentValues
from tests.chapters.checking import extremes, failure_text, passes

OPEN = (None, None)
chapter = congestion_collapse.begin()


def clockwork_mbps(gap_ms: float, service_ms: float, offered_mbps: float) -> float:
    return gap_ms / service_ms * offered_mbps


@pytest.mark.parametrize(
    ("check", "answer"),
    [
        (judging_checks(chapter)["share"], 2),
        (judging_checks(chapter)["clockwork"], clockwork_mbps),
        (judging_checks(chapter)["rescue"], nl.topologies.two_routers(access_mbps=(None, 0.5))),
        (judging_checks(chapter)["rescue"], nl.topologies.two_routers(access_mbps=(None, 0.52), queue_packets=20)),
    ],
)
def test_right_answers_pass(check: Check, answer: object) -> None:
    passes(check, answer)


@pytest.mark.parametrize(
    ("network", "sentence"),
    [
        (nl.topologies.two_routers(OPEN), "Exactly one link"),
        (nl.topologies.two_routers(OPEN, middle_mbps=10), "none a higher one. Seen: r1-r2 is faster."),
        (nl.topologies.two_routers(OPEN, exit_mbps=(1, 1.5)), "none a higher one. Seen: r2-h3 is faster."),
        (nl.topologies.two_routers((1, 0.5)), "Exactly one link"),
        (
            nl.topologies.two_routers((None, 0.6)),
            "at least 1.4 Mbit/s. Seen: 0.914 Mbit/s of h1 and 0.48 Mbit/s of h2. Alone, each gets",
        ),
        (nl.topologies.two_routers((None, 0.5), aqm="fq_codel"), "must be plain: nothing is lost"),
        (nl.topologies.two_routers((None, 2)), "h1 must get at least 0.95"),
        (nl.topologies.two_routers((None, 0.1)), "both together must get at least 1.4"),
        (nl.topologies.three_pcs(), "five links must stay"),
        (
            nl.Topology(["h1"], switches=["s1", "s2"], links=[nl.Link("s1", "s2"), nl.Link("s2", "s1")]),
            "The network must be one that can run. Seen: switches must not form a loop",
        ),
    ],
)
def test_network_without_effect_is_reported_with_the_reason(network: nl.Topology, sentence: str) -> None:
    assert sentence in failure_text(judging_checks(chapter)["rescue"], network)


def measured_run(**changes: Any) -> Any:
    """A run as the check sees one, its counters made up."""
    words = {"h1_mbps": 1, "duration_s": 200, "died": 2160, "network": chapter.settings.network(), **changes}
    traffic = [nl.Udp("h1", "h4", rate_mbps=words["h1_mbps"]), nl.Udp("h2", "h3", rate_mbps=2.75)]
    scenario = nl.Scenario(words["network"], traffic, duration_s=words["duration_s"], interval_s=1)
    queues = pd.DataFrame(
        {"link": ["r1 to r2", "r2 to h3"], "sent_packets": [5400, 1800], "drops": [9000, words["died"]]}
    )
    nothing = pd.DataFrame()
    return Run(nothing, nothing, nothing, nothing, queues, nothing, nothing, settings={"scenario": scenario.to_dict()})


GIVEN = chapter.settings.network()
REORDERED = nl.Topology(GIVEN.hosts[::-1], GIVEN.routers[::-1], links=GIVEN.links[::-1])


@pytest.mark.parametrize("network", [GIVEN, nl.topologies.two_routers(OPEN), REORDERED])
def test_a_run_that_drops_the_own_share_passes(network: nl.Topology) -> None:
    passes(judging_checks(chapter)["my_run"], measured_run(network=network))


def with_rate(dropped_percent: int, factor: float, seed: int, spacing: Any = "auto") -> tuple[Any, Run]:
    """The check of the copy with this share, and a run with `factor` times the rate of theory."""
    share = dropped_percent / 100 + 0.5 / 1.5
    own = StudentValues({**vars(chapter.own), "dropped_percent": dropped_percent})
    rates = {"h1": ("h4", 1), "h2": ("h3", round(factor * share / (1 - share), 2))}
    flows = [nl.Udp(src, dst, rate_mbps=mbps, spacing=spacing) for src, (dst, mbps) in rates.items()]
    network = congestion_collapse.settings.network()
    return Checks(own).my_run, nl.run(network, flows, duration_s=200, interval_s=1, seed=seed)


SHARES = congestion_collapse.settings.NUMBERS.values("dropped_percent")


@pytest.mark.library
@pytest.mark.slow
@pytest.mark.parametrize("dropped_percent", SHARES)
@pytest.mark.parametrize("seed", [1, 2, 3, 4, 5])
def test_theory_finds_the_rate_that_drops_each_share(dropped_percent: int, seed: int) -> None:
    """The share is measured in a run; the queues keep some packets, so it is a little below theory."""
    passes(*with_rate(dropped_percent, 1, seed))


@pytest.mark.library
@pytest.mark.slow
@pytest.mark.parametrize("dropped_percent", extremes(SHARES))
@pytest.mark.parametrize("factor", [0.9, 1.1])
@pytest.mark.parametrize("seed", [1, 2, 3, 4, 5])
def test_a_rate_that_is_a_tenth_off_drops_another_share(dropped_percent: int, factor: float, seed: int) -> None:
    told = failure_text(*with_rate(dropped_percent, factor, seed))
    assert f"{dropped_percent} % must be dropped behind it, at r2" in told


@pytest.mark.library
@pytest.mark.slow
@pytest.mark.parametrize("dropped_percent", SHARES)
def test_even_spacing_drops_another_share(dropped_percent: int) -> None:
    told = failure_text(*with_rate(dropped_percent, 1, 1, "even"))
    assert f"{dropped_percent} % must be dropped behind it, at r2" in told


@pytest.mark.parametrize(
    ("run", "sentence"),
    [
        (measured_run(h1_mbps=2), "h1 to h4 at 1 Mbit/s"),
        (measured_run(duration_s=5), "The run must last 200 s or more. Seen: 5 s."),
        (measured_run(network=nl.topologies.two_routers()), "The network must be the one from above"),
        (measured_run(network=chapter.settings.network(queue_packets=200)), "link r1-r2: queue_packets=200, not 50"),
        (measured_run(network=chapter.settings.network(aqm="fq_codel")), "link r1-r2: aqm=fq_codel, not asked for"),
        (
            measured_run(died=0),
            "40 % must be dropped behind it, at r2 (-1.2 to +0.7 points). Seen: 0 %.",
        ),
        (measured_run(died=2400), "Which part of what crosses is h2's"),
        ("a run", "expected what nl.run(...) returns"),
    ],
)
def test_different_run_fails_with_the_reason(run: object, sentence: str) -> None:
    assert sentence in failure_text(judging_checks(chapter)["my_run"], run)


def test_a_division_upside_down_is_not_taken_for_per_cent() -> None:
    """In the worked example it is a hundred times the right number."""

    def upside_down(gap_ms: float, service_ms: float, offered_mbps: float) -> float:
        return offered_mbps * service_ms / gap_ms

    assert "The division is upside down" in failure_text(judging_checks(chapter)["clockwork"], upside_down)
