"""The chapter's checks: right answers pass, wrong ones get their sentence, runs are judged by what ran."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
import pytest

from netlab import Link, Tcp, Topology
from netlab.chapters import short_flows
from netlab.measure.results import Run
from netlab.runs.scenario import Scenario
from tests.chapters.checking import passes, said

SEGMENTS = (1, 12, 40, 100, 101, 102)


def stairs_ms(size_bytes: float, rtt_ms: float, initial_window_segments: int) -> float:
    return rtt_ms * (math.ceil(math.log2(size_bytes / (initial_window_segments * 1448) + 1)) + 0.5)


@pytest.mark.parametrize("token", ["", "anna", "ben"])
def test_right_answers_pass(token: str) -> None:
    chapter = short_flows.begin(token)
    passes(chapter.check.stairs, stairs_ms)
    segments = math.ceil(1000 * chapter.own.page_kb / 1448)
    passes(chapter.check.window, math.ceil(segments / 3))
    assert said(chapter.check.window, math.ceil(segments / 3) - 1) != ""


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
    passes(chapter.check.staircase, stand_in(chapter.own))


def test_each_condition_is_looked_for_in_what_ran() -> None:
    chapter = short_flows.begin()
    own = chapter.own
    cases = {
        f"must have a rate, {own.rate_mbps} Mbit/s. Seen: [51].": stand_in(own, rate_mbps=51),
        f"must be delayed by {own.delay_ms} ms": stand_in(own, delay_ms=own.delay_ms + 1),
        "must be 6 TCP transfers or more": stand_in(own, segments=SEGMENTS[:5]),
        "must be over before the next one starts": stand_in(own, gap_s=0.1),
        "Nothing may be lost": stand_in(own, retransmits=2),
        "the links must be plain": stand_in(own, loss_rate=0.01),
        "on 4 different stairs or more. Seen: 3.": stand_in(own, segments=(1, 2, 3, 12, 13, 40)),
    }
    for sentence, run in cases.items():
        assert sentence in said(chapter.check.staircase, run)


def test_a_transfer_that_never_ended_is_not_over() -> None:
    chapter = short_flows.begin()
    run = stand_in(chapter.own)
    run.flows.loc[2, "completion_s"] = math.nan
    assert "must be over before the next one starts" in said(chapter.check.staircase, run)
    assert "not over" in said(chapter.check.staircase, run)


def test_a_segment_of_1500_bytes_is_not_right() -> None:
    wrong = said(
        short_flows.begin().check.stairs,
        lambda **case: stairs_ms(**{**case, "size_bytes": case["size_bytes"] * 1448 / 1500}),
    )
    assert "1448 bytes of data" in wrong


def test_transfers_in_the_other_direction_are_said_to_go_there() -> None:
    chapter = short_flows.begin()
    run = stand_in(chapter.own)
    for item in run.settings["scenario"]["traffic"]:
        item["src"], item["dst"] = "h2", "h1"
    assert "Seen: h2 to h1: 1448 bytes" in said(chapter.check.staircase, run)
