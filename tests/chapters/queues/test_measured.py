"""Long queues, marks and queues for each flow (`epfl` section 4), against theory with stated tolerances."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import netlab as nl
from netlab import theory
from netlab_course.chapters import queues
from netlab_course.chapters.opening import judging_checks
from netlab_course.chapters.queues import experiments, settings
from netlab_course.checks import Status
from tests.agreement import agrees
from tests.chapters.checking import names_of_cells

pytestmark = pytest.mark.pocket
IDLE_PERCENT = (0.8, 1.3)
LAB_RED = {"min_packets": 20, "max_packets": 23, "probability": 1.0}
ASK_FOR_ECN = {"net.ipv4.tcp_ecn": 1}


def marking(threshold_packets: int, rate_mbps: float, base_rtt_ms: float) -> nl.Topology:
    """The network of the page whose queue marks all packets above a threshold."""
    page = names_of_cells("12_queues", "network", "marking")
    created: nl.Topology = page["marking"](threshold_packets, rate_mbps, base_rtt_ms)
    return created


def test_the_published_round_trip_times_come_again() -> None:
    """RED's and DCTCP's within a tenth of `epfl`'s; 1000 packets wait between seven tenths of a full queue and a full one."""
    runs = names_of_cells("12_queues", "network", "capture", "lab", experiments=experiments, np=np)["lab"]
    for name in ("CUBIC, RED", "DCTCP, RED and ECN"):
        late = runs[name].intervals[runs[name].intervals["t_s"] > 60]
        agrees(f"RTT of {name} (ms)", late["rtt_ms"].mean(), experiments.PUBLISHED[name][2], relative=0.1)
    long_run = runs["CUBIC, 1000 packets"]
    full_ms = experiments.full_queue_wait_ms(1000, 5, 1514)
    assert 0.7 * full_ms < long_run.intervals.loc[long_run.intervals["t_s"] > 60, "rtt_ms"].mean() < full_ms


def test_only_flows_with_ecn_are_marked() -> None:
    """Linux's CUBIC sends 00 and loses; with tcp_ecn=1 it is marked, answers and loses nothing."""
    red = settings.one_link(5, 0, aqm="red", aqm_options={**LAB_RED, "ecn": True})
    flows = [nl.Tcp("h1", "h3"), nl.Tcp("h2", "h3")]
    seen = {
        name: nl.run(red, flows, duration_s=5, sysctls=sysctls, captures=[nl.Capture("r1", "h3")])
        for name, sysctls in (("plain", {}), ("asks", ASK_FOR_ECN))
    }
    table: Any = experiments.ecn_table(seen).set_index("").rename(columns=str.strip)
    assert table.loc["plain", "sent again"] > 0
    assert not table.loc["plain", ["10, ECT(0)", "11, CE", "ACKs, ECE", "data, CWR"]].any()
    assert table.loc["asks", "sent again"] == table.loc["asks", "00"] == 0
    assert table.loc["asks", ["10, ECT(0)", "11, CE", "ACKs, ECE", "data, CWR"]].all()


def test_dctcp_needs_a_seventh_of_the_bdp_and_its_queue_oscillates() -> None:
    own = queues.begin("anna").own
    threshold = math.ceil(theory.dctcp_threshold_packets(own.rate_mbps, own.base_rtt_ms))
    step = marking(threshold, own.rate_mbps, own.base_rtt_ms)
    run = nl.run(step, [nl.Tcp("h1", "h3", congestion="dctcp")], duration_s=20, interval_s=0.1)
    found = experiments.thresholds_table({threshold: run})
    limit_mbps = theory.tcp_goodput_limit_mbps(own.rate_mbps)
    agrees("goodput (Mbit/s)", found["goodput_mbps"][0], limit_mbps, relative=0.01)
    low, high = theory.dctcp_queue_packets(own.rate_mbps, own.base_rtt_ms, threshold)
    middle_ms = (low + high) / 2 * theory.transmission_delay_ms(1514, own.rate_mbps)
    agrees("mean wait (ms)", found["wait_ms"][0], middle_ms, relative=0.35)


@pytest.mark.parametrize(("token", "seed"), [("", 1), ("anna", 77), ("t3", 78), ("t4", 79), ("t9", 80)])
def test_only_the_smallest_threshold_that_fills_the_link_passes_the_exercise_or_one_more(token: str, seed: int) -> None:
    """A search by runs finds the smallest, which is at most the swing of the window, the root of half of the BDP."""
    chapter = queues.begin(token)
    own = chapter.own
    passed, full_mbps = {}, settings.FULL * theory.tcp_goodput_limit_mbps(own.rate_mbps)
    smallest = 0
    for threshold in range(1, 10):
        step = marking(threshold, own.rate_mbps, own.base_rtt_ms)
        run = nl.run(step, [nl.Tcp("h1", "h3", congestion="dctcp")], duration_s=20, seed=seed)
        if not smallest and run.goodput_mbps(after_s=5).iloc[0] > full_mbps:
            smallest = threshold
        passed[threshold] = judging_checks(chapter)["threshold_run"].judge(run).status is Status.PASSED
    assert 1 < smallest <= math.ceil((own.bdp_frames / 2) ** 0.5)
    assert [threshold for threshold, good in passed.items() if good] == [smallest, smallest + 1]


def test_linuxs_own_fq_codel_passes_the_exercise_on_marks() -> None:
    chapter = queues.begin()
    own = chapter.own
    network = settings.one_link(own.rate_mbps, own.base_rtt_ms, aqm="fq_codel")
    run = nl.run(network, [nl.Tcp("h1", "h3")], duration_s=20, sysctls=ASK_FOR_ECN)
    assert judging_checks(chapter)["ecn_run"].judge(run).status is Status.PASSED


def test_cubic_that_asks_for_ecn_starves_in_the_queue_for_small_answers() -> None:
    """Both rows of DualPI2: a share of the same order without ECN, a fourteenth of DCTCP's with it."""
    page = names_of_cells("12_queues", "network", "marking", "together", np=np)
    runs = nl.sweep(
        {
            (name, seed): page["dctcp_and_cubic"](*page["pairs"][name], seed)
            for name in ("DualPI2", "DualPI2, both with ECN")
            for seed in (1, 2, 3)
        }
    )
    table = experiments.together_table(runs).set_index("")
    got = {
        name: [float(str(table.loc[name, column]).split()[0]) for column in table if "Mbit/s" in str(column)]
        for name in ("DualPI2", "DualPI2, both with ECN")
    }
    assert got["DualPI2"][1] > 0.5 * got["DualPI2"][0]
    agrees("DCTCP (Mbit/s)", got["DualPI2, both with ECN"][0], 17.85, absolute=0.2)
    agrees("CUBIC (Mbit/s)", got["DualPI2, both with ECN"][1], 1.27, absolute=0.2)


def test_a_queue_for_each_flow_protects_a_page() -> None:
    page = names_of_cells("12_queues", "network", "beside-pages", np=np)
    queues_of_part_4 = {
        "long drop-tail": {"queue_packets": 1000},
        "drop-tail, 5": {"queue_packets": 5},
        "CoDel": {"aqm": "codel"},
        "fq_codel": {"aqm": "fq_codel"},
    }
    runs = nl.sweep(
        {
            (name, seed): page["beside_pages"](queue, seed)
            for name, queue in queues_of_part_4.items()
            for seed in range(1, 11)
        }
    )
    found = experiments.compared_table(runs)
    assert (found["pages"] == 6).all()
    tiny = found[found["queue"] == "drop-tail, 5"].set_index("seed")["slowest_s"]
    assert 3.5 < tiny.loc[6:10].max() / tiny.loc[1:5].max() < 4.5, "what the page says of the slowest"
    seen = {
        name: row.map(lambda each: getattr(each, "mean", each))
        for name, row in experiments.mean_intervals(found).items()
    }
    assert seen["long drop-tail"]["page_s"] > 10 * seen["fq_codel"]["page_s"]
    assert seen["fq_codel"]["other_wait_ms"] < 2 < seen["CoDel"]["other_wait_ms"] < 10
    assert seen["drop-tail, 5"]["full"] < 0.92
    assert seen["fq_codel"]["full"] > 0.96


def test_a_path_answers_less_often_behind_a_full_queue() -> None:
    """Responsiveness: a round trip is the base round trip and the wait behind a queue that is seven tenths full or more."""
    asking, downloads = (
        nl.Requests("h3", "h2", response_bytes=1000, think_s=0.05, start_s=5),
        nl.Tcp("h1", "h3", streams=4),
    )
    answer_ms = {
        name: 1000 * nl.run(network, traffic, duration_s=20).requests["completion_s"].mean()
        for name, network, traffic in (
            ("idle", settings.one_link(), [asking]),
            ("loaded", settings.one_link(), [downloads, asking]),
            ("fq_codel", settings.one_link(aqm="fq_codel"), [downloads, asking]),
        )
    }
    transmission_ms = 8 * (1000 + 66) / 20_000
    agrees("idle (ms)", answer_ms["idle"], 20 + transmission_ms, relative=0.005)
    full_ms = experiments.full_queue_wait_ms(1000, 20, 1514)
    assert 20 + 0.7 * full_ms < answer_ms["loaded"] < 20.5 + full_ms
    # A packet waits for one or two frames of the downloads behind fq_codel.
    agrees("fq_codel (ms)", answer_ms["fq_codel"], 20 + transmission_ms, absolute=2 * 8 * 1514 / 20_000)


def begun_at(network: nl.Topology, congestion: str, seed: int, seconds: float) -> nl.Run:
    """Two flows that begin within 3 s."""
    starts_s = np.random.default_rng(seed).uniform(0, 3, 2).round(3)
    flows = [
        nl.Tcp(host, "h3", congestion=congestion, start_s=float(start_s))
        for host, start_s in zip(("h1", "h2"), starts_s, strict=True)
    ]
    return nl.run(network, flows, duration_s=seconds, interval_s=0.5, seed=seed)


def test_the_labs_three_settings_are_alike_at_other_moments() -> None:
    """Five draws: goodputs of 4.7 or 4.8 Mbit/s in all three settings, and these RTTs."""
    marks = {"aqm": "red", "aqm_options": {**LAB_RED, "ecn": True}}
    cases: tuple[tuple[dict[str, Any], str, tuple[int, int]], ...] = (
        ({"queue_packets": 1000}, "cubic", (2156, 2172)),
        ({"aqm": "red", "aqm_options": LAB_RED}, "cubic", (50, 51)),
        (marks, "dctcp", (56, 56)),
    )
    for queue, congestion, expected in cases:
        runs = [begun_at(settings.one_link(5, 0, **queue), congestion, seed, 180) for seed in range(1, 6)]
        assert {round(float(run.goodput_mbps(after_s=60).sum()), 1) for run in runs} <= {4.7, 4.8}
        rtts_ms = [round(run.intervals.loc[run.intervals["t_s"] > 60, "rtt_ms"].mean()) for run in runs]
        assert (min(rtts_ms), max(rtts_ms)) == expected


def test_a_queue_of_20_leaves_a_hundredth_of_a_long_path_idle() -> None:
    network, limit_mbps = settings.one_link(5, 200, queue_packets=20), theory.tcp_goodput_limit_mbps(5)
    idle = [
        100 * (1 - begun_at(network, "cubic", seed, 120).goodput_mbps(after_s=40).sum() / limit_mbps)
        for seed in range(1, 6)
    ]
    assert (round(min(idle), 1), round(max(idle), 1)) == IDLE_PERCENT
