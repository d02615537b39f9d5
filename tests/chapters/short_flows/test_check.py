"""The chapter's checks: right answers pass, wrong ones get their sentence, runs are judged by what ran."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from netlab import Change, Link, Tcp, Topology, interval, run
from netlab.measure.results import Run
from netlab.runs.replications import table_of
from netlab.runs.scenario import Scenario
from netlab_course.chapters import short_flows
from netlab_course.chapters.opening import judging_checks
from netlab_course.chapters.short_flows import settings as chapter_settings
from tests.chapters.checking import failure_text, passes

SEGMENTS = (1, 12, 40, 100, 101, 102)


def stairs_ms(size_bytes: float, rtt_ms: float, initial_window_segments: int) -> float:
    return rtt_ms * (math.ceil(math.log2(size_bytes / (initial_window_segments * 1448) + 1)) + 0.5)


@pytest.mark.parametrize("token", ["", "anna", "ben"])
def test_right_answers_pass(token: str) -> None:
    chapter = short_flows.begin(token)
    passes(judging_checks(chapter)["stairs"], stairs_ms)
    segments = math.ceil(1000 * chapter.own.page_kb / 1448)
    passes(judging_checks(chapter)["window"], math.ceil(segments / 3))
    assert failure_text(judging_checks(chapter)["window"], math.ceil(segments / 3) - 1) != ""


def stand_in(own: Any, *, rate_mbps: float = 0, delay_ms: float = 0, **other: Any) -> Run:
    """A run that nobody made: transfers one after the other, each on its stair."""
    segments = other.get("segments", SEGMENTS)
    gap_s, late_s = other.get("gap_s", 2.0), other.get("late_s", 0.0)
    delay_ms = delay_ms or own.delay_ms
    slow = Link(
        "h1", "h2", rate_mbps=rate_mbps or own.rate_mbps, delay_ms=delay_ms, loss_rate=other.get("loss_rate", 0)
    )
    flows = [Tcp("h1", "h2", num_bytes=1448 * size, start_s=gap_s * at) for at, size in enumerate(segments)]
    times_s = [stairs_ms(1448 * size, 2 * delay_ms, 10) / 1000 + late_s for size in segments]
    table = pd.DataFrame(
        {
            "start_s": [flow.start_s for flow in flows],
            "completion_s": times_s,
            "retransmits": other.get("retransmits", 0),
        }
    )
    duration_s = gap_s * len(segments) + 1
    scenario = Scenario(Topology(["h1", "h2"], links=[slow]), flows, duration_s=duration_s).to_dict()
    empty = pd.DataFrame()
    return Run(table, empty, empty, empty, empty, empty, empty, {"scenario": scenario, "network_s": duration_s})


@pytest.mark.parametrize("token", ["", "anna"])
def test_a_staircase_passes(token: str) -> None:
    chapter = short_flows.begin(token)
    passes(judging_checks(chapter)["staircase"], stand_in(chapter.own))


def test_each_condition_is_checked_in_the_run() -> None:
    chapter = short_flows.begin()
    own = chapter.own
    cases = {
        f"must have a rate, {own.rate_mbps} Mbit/s. Seen: [51].": stand_in(own, rate_mbps=51),
        f"must be delayed by {own.delay_ms} ms": stand_in(own, delay_ms=own.delay_ms + 1),
        "must be 6 TCP transfers or more": stand_in(own, segments=SEGMENTS[:5]),
        "must be over before the next one starts": stand_in(own, gap_s=0.1),
        "Nothing may be lost": stand_in(own, retransmits=2),
        "on 4 different stairs or more, each within 5 % of your function. Seen: 3;": stand_in(
            own, segments=(1, 2, 3, 12, 13, 40)
        ),
    }
    for sentence, made in cases.items():
        assert sentence in failure_text(judging_checks(chapter)["staircase"], made)


def test_a_transfer_that_never_ended_is_not_over() -> None:
    chapter = short_flows.begin()
    run = stand_in(chapter.own)
    run.flows.loc[2, "completion_s"] = math.nan
    assert "must be over before the next one starts" in failure_text(judging_checks(chapter)["staircase"], run)
    assert "not over" in failure_text(judging_checks(chapter)["staircase"], run)


def test_a_segment_of_1500_bytes_is_not_right() -> None:
    wrong = failure_text(
        judging_checks(short_flows.begin())["stairs"],
        lambda **case: stairs_ms(**{**case, "size_bytes": case["size_bytes"] * 1448 / 1500}),
    )
    assert "1448 bytes of data" in wrong


@pytest.mark.parametrize("least", [-99, 1])
def test_a_logarithm_without_its_one_is_not_taken_for_another_segment(least: int) -> None:
    def wrong_ms(size_bytes: float, rtt_ms: float, initial_window_segments: int) -> float:
        windows = size_bytes / (initial_window_segments * 1448)
        return rtt_ms * (max(least, math.ceil(math.log2(windows))) + 0.5)

    assert "the logarithm lacks a 1" in failure_text(judging_checks(short_flows.begin())["stairs"], wrong_ms)


def test_transfers_in_the_wrong_direction_are_reported() -> None:
    chapter = short_flows.begin()
    run = stand_in(chapter.own)
    for item in run.settings["scenario"]["traffic"]:
        item["src"], item["dst"] = "h2", "h1"
    assert "Seen: h2 to h1: 1448 bytes" in failure_text(judging_checks(chapter)["staircase"], run)


LATE_PAGES = [10, 17, 3, 13, 20, 7, 10, 16]
"""Numbers of late pages out of 200, for eight seeds: 6.0 ± 2.3 %; a handshake fails in 5.9 % at a loss of 3 %."""


def finding(own: Any, shares: Any, verdict: str = "refuted") -> list[Any]:
    """A table of pages that nobody sent, and what was made of it."""
    scenario = chapter_settings.lossy_pages(own)
    runs: dict[Any, Any] = {}
    for seed, late in enumerate(LATE_PAGES, 1):
        flows = pd.DataFrame(
            {"flow": [f"page {place}" for place in range(chapter_settings.PAGES)], "completion_s": 0.256, "error": None}
        )
        flows.loc[: late - 1, "completion_s"] = 1.28
        # A page that waited for its last segment, and is not late.
        flows.loc[50, "completion_s"] = 0.7
        runs[seed] = SimpleNamespace(flows=flows)
    refutation = f"high < {own.stated_percent}"
    return [table_of(scenario.to_dict(), runs), interval(shares), refutation, verdict]


@pytest.mark.parametrize("token", ["", "anna", "ben"])
def test_shares_of_late_pages_pass_and_their_verdict_follows_the_students_statement(token: str) -> None:
    chapter = short_flows.begin(token)
    shares = np.array(LATE_PAGES) / chapter_settings.PAGES * 100
    mean, half = interval(shares)
    stated = chapter.own.stated_percent
    right = "refuted" if stated > mean + half else "supported" if stated < mean - half else "undecided"
    passes(judging_checks(chapter)["repeated"], finding(chapter.own, shares, right))
    for wrong in {"supported", "undecided", "refuted"} - {right}:
        assert f"more than {stated} %" in failure_text(
            judging_checks(chapter)["repeated"], finding(chapter.own, shares, wrong)
        )


@pytest.mark.parametrize(
    ("shares", "words"),
    [
        (np.array(LATE_PAGES) / chapter_settings.PAGES, "these are shares of 1"),
        (np.array(LATE_PAGES), "these are numbers of pages, and the exercise asks for their share"),
        (100 - np.array(LATE_PAGES) / chapter_settings.PAGES * 100, "in time"),
        (np.zeros(8), "completion_s is in seconds"),
        ((np.array(LATE_PAGES) + 1) / chapter_settings.PAGES * 100, "must be that of the values"),
    ],
)
def test_other_numbers_than_the_share_of_late_pages_are_named(shares: Any, words: str) -> None:
    chapter = short_flows.begin()
    assert words in failure_text(judging_checks(chapter)["repeated"], finding(chapter.own, shares))


def test_loss_rate_of_another_student_is_refused() -> None:
    chapter = short_flows.begin()
    other = SimpleNamespace(loss_percent=chapter.own.loss_percent + 1, stated_percent=3)
    answer = finding(other, np.array(LATE_PAGES) / chapter_settings.PAGES * 100)
    assert "must be what the exercise describes" in failure_text(judging_checks(chapter)["repeated"], answer)


def test_a_round_too_many_where_the_last_one_is_full_is_not_taken_for_equal_rounds() -> None:
    """Seven windows take three rounds; floor(...) + 1 gives four, and rounds of one window would be seven."""

    def wrong(size_bytes: float, rtt_ms: float, initial_window_segments: int) -> float:
        return rtt_ms * (math.floor(math.log2(size_bytes / (initial_window_segments * 1448) + 1)) + 1.5)

    heard = failure_text(judging_checks(short_flows.begin())["stairs"], wrong)
    assert "size_bytes=101360" in heard and "This is a round trip too many" in heard
    assert "each round sends as much as the first" not in heard


def test_large_transfers_lie_on_no_stair() -> None:
    """Their times are those of the link's rate, which differ by more than a round trip, too."""
    chapter = short_flows.begin()
    run = stand_in(chapter.own)
    run.flows["completion_s"] *= 1.1
    assert "on 4 different stairs or more, each within 5 % of your function. Seen: 0;" in failure_text(
        judging_checks(chapter)["staircase"], run
    )


def cut(begin_s: float, end_s: float, **other: Any) -> Run:
    """A run of the small page in which the link to h2 is cut from one moment to another."""
    states = other.get("states", ({"up": False}, {"up": True}))
    changes = [
        Change(at_s=at_s, link=("r1", "h2"), **state) for at_s, state in zip((begin_s, end_s), states, strict=True)
    ]
    page = Tcp("h1", "h2", num_bytes=16 * 1448, start_s=other.get("start_s", 1))
    network = chapter_settings.path(other.get("rate_mbps", 10), loss_rate=other.get("loss_rate", 0.0))
    return run(network, [page], duration_s=6, changes=changes)


@pytest.mark.library
@pytest.mark.parametrize(("begin_s", "end_s"), [(0.99, 1.01), (0.5, 1.9), (1.02, 1.06)])
def test_a_cut_of_a_packet_of_the_handshake_passes(begin_s: float, end_s: float) -> None:
    """The SYN, the SYN for a longer time, and what is on its way: a cut loses that as well."""
    passes(judging_checks(short_flows.begin())["cut"], cut(begin_s, end_s))


@pytest.mark.library
def test_any_other_cut_is_refused_with_its_reason() -> None:
    losing = ({"loss_rate": 1.0}, {"loss_rate": 0.0})
    cases = {
        "One packet must be sent again, and the page must arrive. Seen: 0 sent again": cut(3, 3.5),
        "Seen: 2 sent again": cut(0.99, 2.5),
        "must be the SYN or its answer": cut(1.2065, 1.2066),
        "must be small_page alone": cut(1.99, 2.01, start_s=2),
        "must be path(10), which loses nothing by itself. Seen: h1-r1 with no field; r1-h2 with rate_mbps=100": cut(
            0.99, 1.01, rate_mbps=100
        ),
        "loss_rate=0.001, queue_packets=1000. Hand path(10) to nl.run": cut(0.99, 1.01, loss_rate=0.001),
        "cut once and mended once, by up=False and up=True alone": cut(0.99, 1.01, states=losing),
    }
    for sentence, made in cases.items():
        assert sentence in failure_text(judging_checks(short_flows.begin())["cut"], made)


def test_bits_for_bytes_are_not_taken_for_an_initial_window_of_one_segment() -> None:
    def bits(size_bytes: float, rtt_ms: float, initial_window_segments: int) -> float:
        windows = 8 * size_bytes / (initial_window_segments * 1448)
        return rtt_ms * (math.ceil(math.log2(windows + 1)) + 0.5)

    assert "bits of the page with bytes of a segment" in failure_text(
        judging_checks(short_flows.begin())["stairs"], bits
    )
