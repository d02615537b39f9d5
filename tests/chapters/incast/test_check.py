"""The chapter's formulas against numbers worked by hand, and its checks: right, wrong and bad answers."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import netlab as nl
from netlab.measure.results import Run
from netlab.runs.replications import interval, table_of
from netlab_course.chapters import incast
from netlab_course.chapters.incast import settings
from netlab_course.chapters.incast.check import LAST_QUERY_S, last_query_ms
from netlab_course.checks import Status
from tests.chapters.checking import failure_text, passes

PLAIN: dict[str, Any] = {}


def stand_in(
    own: Any,
    *,
    last_ms: float = 9.0,
    first_ms: float = 212.0,
    servers: int | None = None,
    queue_packets: int | None = None,
    congestion: str = "cubic",
    port: dict[str, Any] = PLAIN,
    sysctls: dict[str, Any] = PLAIN,
    **fields: Any,
) -> Run:
    """A run that nobody made, in which the slowest answer of each query after the first takes `last_ms`."""
    count = own.servers if servers is None else servers
    network = settings.rack(count, own.queue_packets if queue_packets is None else queue_packets, **port)
    traffic = [
        nl.Requests(item.src, item.dst, **{**_fields(item), "congestion": congestion, **fields})
        for item in settings.queries(count)
    ]
    scenario = nl.Scenario(network, traffic, duration_s=settings.DURATION_S, sysctls=sysctls).to_dict()
    rows = [
        {"flow": item.label, "request": number, "completion_s": (last_ms if number else first_ms) / 1000}
        for item in traffic
        for number in range(settings.QUERIES)
    ]
    empty = pd.DataFrame()
    run = Run(empty, empty, empty, empty, empty, empty, empty, {"scenario": scenario, "network_s": 10.5})
    return replace(run, requests=pd.DataFrame(rows))


def _fields(item: nl.Requests) -> dict[str, Any]:
    return {name: getattr(item, name) for name in ("response_bytes", "count", "interval_s")}


@pytest.fixture
def chapter() -> Any:
    return incast.begin()


def test_sixteen_servers_need_what_their_frames_need_and_a_round_trip() -> None:
    """By hand: 16 * 32 000 * 8 = 4.096 Mbit of data, times 1514 / 1448 = 4.2827 Mbit, at 1 Mbit/ms; and 0.1 ms."""
    assert settings.ideal_ms(16) == pytest.approx(4.3827, abs=5e-5)
    assert settings.ideal_ms(0) == settings.RTT_MS, "without any answer only the round trip is left"
    assert settings.ideal_ms(32) - settings.RTT_MS == pytest.approx(2 * (settings.ideal_ms(16) - settings.RTT_MS))


def test_the_largest_queue_counts_the_growth_of_the_window() -> None:
    """By hand: 23 segments and a window of 10 are 10 at once and then 13 that come two for each that leaves."""
    assert settings.segments(32_000) == 23 and settings.segments(1448) == 1 and settings.segments(1449) == 2
    assert settings.largest_block(32_000) == 16.5
    assert settings.largest_block(10 * 1448) == 10, "a response of one window comes at once"
    assert settings.largest_block(5 * 1448) == 5
    # 64 packets in the queue and 100 000 bit / 8 / 1514 = 8.256 on the path; 72.256 / 16.5 = 4.379.
    assert settings.fitting_servers(64, 32_000) == pytest.approx(4.379, abs=5e-4)


def slope(servers: int, response_bytes: int, rate_mbps: float, rtt_ms: float) -> float:
    return servers * (8 * response_bytes * 1514 / 1448) / (rate_mbps * 1000) + rtt_ms


def test_ideal_time_passes_and_other_answers_fail_with_the_reason(chapter: Any) -> None:
    check = chapter.check.ideal
    passes(check, slope)
    assert "expected a function" in failure_text(check, 4.38)
    assert check.judge(lambda servers, response_bytes, rate_mbps, rtt_ms: ...).status is Status.NOT_ATTEMPTED
    assert "it is called with (servers, response_bytes, rate_mbps, rtt_ms)" in failure_text(
        check, lambda servers: servers
    )
    assert "number" in failure_text(check, lambda servers, response_bytes, rate_mbps, rtt_ms: "soon")
    sixteen = failure_text(check, lambda servers, response_bytes, rate_mbps, rtt_ms: 4.38)
    assert "For a hint" in sixteen and "4.75" not in sixteen


@pytest.mark.parametrize("token", ["", "anna", "ben", "t3", "t9"])
def test_the_first_number_of_servers_too_many_passes(token: str) -> None:
    chapter = incast.begin(token)
    own = chapter.own
    size = math.ceil(1000 * own.drop_kb / 1448)
    first = next(n for n in range(1, 99) if n * (size + 10) / 2 > own.drop_queue + 1e5 / 8 / 1514)
    passes(chapter.check.first_drop, first)
    assert "first burst alone" in failure_text(
        chapter.check.first_drop, math.floor((own.drop_queue + 1e5 / 8 / 1514) / 10) + 1
    )
    assert "the first too large" in failure_text(chapter.check.first_drop, first - 1)
    assert "whole number" in failure_text(chapter.check.first_drop, first + 0.1)
    assert "got" in failure_text(chapter.check.first_drop, "many")


def test_a_shorter_timer_passes_and_each_condition_is_looked_for(chapter: Any) -> None:
    own, check = chapter.own, chapter.check.timer_run
    short = {settings.MIN_RTO: 5000}
    passes(check, stand_in(own, last_ms=own.timer_ms - 1, sysctls=short))
    cases = {
        "must come within": stand_in(own, last_ms=own.timer_ms + 1, sysctls=short),
        "It must be the rack of the exercise": stand_in(own, servers=8, sysctls=short),
        f"queue_packets=1000, not {own.queue_packets}": stand_in(own, queue_packets=1000, sysctls=short),
        "response_bytes=1000, not 32000": stand_in(own, response_bytes=1000, sysctls=short),
        "count=2, not 20": stand_in(own, count=2, sysctls=short),
        "Only sysctls may differ": stand_in(own, congestion="dctcp", port=settings.step(), sysctls=short),
    }
    for sentence, run in cases.items():
        assert sentence in failure_text(check, run), sentence
    assert "expected what nl.run(...) returns" in failure_text(check, 5000)


@pytest.mark.parametrize("key", ["timer_run", "marks_run"])
def test_a_smaller_rack_is_in_time_for_no_points(chapter: Any, key: str) -> None:
    told = failure_text(getattr(chapter.check, key), stand_in(chapter.own, last_ms=0.6, servers=2))
    assert "It must be the rack of the exercise" in told and "0.6 ms in another rack" in told


def test_an_answer_that_did_not_arrive_is_not_in_time(chapter: Any) -> None:
    run = stand_in(chapter.own)
    run.requests.loc[run.requests.index[-1], "completion_s"] = math.nan
    assert "an answer that did not arrive" in failure_text(chapter.check.timer_run, run)
    short = stand_in(chapter.own)
    short = replace(short, requests=short.requests[short.requests["request"] < 5])
    assert "an answer that did not arrive" in failure_text(chapter.check.timer_run, short), "queries that nobody made"


def test_marks_pass_and_a_shorter_timer_does_not(chapter: Any) -> None:
    own, check = chapter.own, chapter.check.marks_run
    marks: dict[str, Any] = {"congestion": "dctcp", "port": settings.step()}
    passes(check, stand_in(own, last_ms=own.marks_ms - 1, **marks))
    assert "No sysctl may be set" in failure_text(check, stand_in(own, sysctls={settings.MIN_RTO: 5000}, **marks))
    assert f"Seen: {own.marks_ms + 1:.1f} ms." in failure_text(check, stand_in(own, last_ms=own.marks_ms + 1, **marks))
    assert "It must be the rack" in failure_text(check, stand_in(own, servers=4, **marks))


def finding(own: Any, last_ms: Any, verdict: str = "undecided") -> list[Any]:
    """Return what a student hands over who measured these times, one for each of the seeds 1, 2, ..."""
    described = settings.claimed_scenario(own)
    runs: dict[Any, Any] = {}
    for seed, value in enumerate(last_ms, start=1):
        rows = [
            {"flow": item.label, "kind": "requests", "completion_s": LAST_QUERY_S + (value - 0.1 * place) / 1000}
            for place, item in enumerate(described.traffic)
        ]
        runs[seed] = SimpleNamespace(flows=pd.DataFrame(rows).assign(error=None))
    table = table_of(described.to_dict(), runs)
    values = last_query_ms(table)
    return [table, interval(values), "An interval that lies above the claimed time.", verdict]


def test_the_claim_is_judged_by_the_interval_of_the_last_query(chapter: Any) -> None:
    claimed = chapter.own.stated_ms
    scattered = np.array([0.05, 0.07, 0.06, 0.04, 0.08, 0.05, 0.06, 0.07])
    for times, right in ((claimed - scattered, "supported"), (claimed + scattered, "refuted")):
        passes(chapter.check.repeated, finding(chapter.own, times, right))
        for wrong in {"supported", "undecided", "refuted"} - {right}:
            assert f"less than {claimed} ms" in failure_text(chapter.check.repeated, finding(chapter.own, times, wrong))
    passes(chapter.check.repeated, finding(chapter.own, claimed + np.array([-1, 1] * 4)))
    assert "expected a list of four" in failure_text(chapter.check.repeated, [1, 2])


def test_usual_wrong_times_of_the_last_query_are_named(chapter: Any) -> None:
    late = settings.ideal_ms(chapter.own.servers) + np.linspace(0.02, 0.1, 8)
    table, _, refutation, verdict = finding(chapter.own, late)
    ends = table.groupby("seed")["completion_s"]
    for values, words in (
        (1000 * ends.max(), "from the start of the run"),
        (1000 * (ends.mean() - LAST_QUERY_S), "ends with the slowest"),
        (1000 * (ends.max() - 10), "19 pauses"),
    ):
        assert words in failure_text(chapter.check.repeated, [table, interval(values), refutation, verdict])
    other = SimpleNamespace(servers=chapter.own.servers - 1, queue_packets=chapter.own.queue_packets)
    assert "must be what the exercise describes" in failure_text(chapter.check.repeated, finding(other, late))


def test_the_ideal_time_of_packets_without_their_frames_is_too_short(chapter: Any) -> None:
    def of_packets(servers: int, response_bytes: int, rate_mbps: float, rtt_ms: float) -> float:
        return 8 * servers * response_bytes * 1500 / 1448 / (1000 * rate_mbps) + rtt_ms

    failure_text(chapter.check.ideal, of_packets)
