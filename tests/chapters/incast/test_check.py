"""The chapter's formulas against numbers worked by hand, and its checks: right, wrong and bad answers."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pandas as pd
import pytest

import netlab as nl
from netlab.measure.results import Run
from netlab.runs.replications import interval, table_of
from netlab_course.chapters import incast
from netlab_course.chapters.incast import settings
from netlab_course.chapters.incast.check import LAST_QUERY_S, last_query_ms
from netlab_course.chapters.incast.designs import PlannedDesign
from netlab_course.chapters.opening import judging_checks
from netlab_course.checks import Status
from netlab_course.tries import TryCounter
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
    seed: int = 1,
    **fields: Any,
) -> Run:
    """A run that was not made, in which the slowest answer of each query after the first takes `last_ms`."""
    count = own.servers if servers is None else servers
    network = settings.rack(count, own.queue_packets if queue_packets is None else queue_packets, **port)
    traffic = [
        nl.Requests(item.src, item.dst, **{**_fields(item), "congestion": congestion, **fields})
        for item in settings.queries(count)
    ]
    scenario = nl.Scenario(network, traffic, duration_s=settings.DURATION_S, sysctls=sysctls, seed=seed).to_dict()
    rows = [
        {"flow": item.label, "request": number, "completion_s": (last_ms if number else first_ms) / 1000}
        for item in traffic
        for number in range(settings.QUERIES)
    ]
    empty = pd.DataFrame()
    run = Run(empty, empty, empty, empty, empty, empty, empty, {"scenario": scenario, "network_s": 10.5})
    return replace(run, requests=pd.DataFrame(rows))


def stand_ins(own: Any, **words: Any) -> dict[int, Run]:
    """A run of this kind for each seed of the exercises."""
    return {seed: stand_in(own, seed=seed, **words) for seed in settings.SEEDS}


def timer(own: Any, bound_ms: float, runs: Any = None, **words: Any) -> Any:
    """Return the runs of a student who computed this bound."""
    made = stand_ins(own, **{"last_ms": own.timer_ms - 1, "sysctls": bound(bound_ms), **words})
    return made if runs is None else runs


def room(own: Any, packets: float, **words: Any) -> dict[int, Run]:
    """Return the runs of a student who computed this room."""
    marks: dict[str, Any] = {"congestion": "dctcp", "port": settings.step(8), "last_ms": own.marks_ms - 1}
    return stand_ins(own, **{**marks, "queue_packets": packets, **words})


def bound(milliseconds: float) -> dict[str, Any]:
    """The sysctls that set the smallest timeout."""
    return {settings.MIN_RTO: round(1000 * milliseconds)}


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
    check = judging_checks(chapter)["ideal"]
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
    passes(judging_checks(chapter)["first_drop"], first)
    assert "first burst alone" in failure_text(
        judging_checks(chapter)["first_drop"], math.floor((own.drop_queue + 1e5 / 8 / 1514) / 10) + 1
    )
    assert "the first too large" in failure_text(judging_checks(chapter)["first_drop"], first - 1)
    assert "larger pieces: that is not in the formula" in failure_text(judging_checks(chapter)["first_drop"], first + 1)
    assert "whole number" in failure_text(judging_checks(chapter)["first_drop"], first + 0.1)
    assert "got" in failure_text(judging_checks(chapter)["first_drop"], "many")


def test_no_copy_has_the_right_number_without_the_packets_on_the_path() -> None:
    for token in ("", *map(str, range(200))):
        opened = incast.begin(token)
        size = math.ceil(1000 * opened.own.drop_kb / 1448)
        without_path = math.floor(opened.own.drop_queue / ((size + 10) / 2)) + 1
        assert "if packets on the path count, too" in failure_text(judging_checks(opened)["first_drop"], without_path)


@pytest.mark.slow
def test_a_large_bound_in_time_passes_and_each_condition_is_looked_for(chapter: Any) -> None:
    own, check = chapter.own, judging_checks(chapter)["timer_runs"]
    large_ms = own.timer_ms - 12
    large = bound(large_ms)
    passes(check, timer(own, large_ms))
    cases = {
        "must come within": {"last_ms": own.timer_ms + 1},
        "It must be the rack of the exercise": {"servers": 8},
        f"queue_packets=1000, not {own.queue_packets}": {"queue_packets": 1000},
        "response_bytes=1000, not 32000": {"response_bytes": 1000},
        "count=2, not 20": {"count": 2},
        "Only the bound may differ": {"congestion": "dctcp", "port": settings.step()},
        "and no other sysctl": {"sysctls": {**large, "net.ipv4.tcp_ecn": 1}},
        "There must be 5 runs, one for each of the seeds 1 to 5": {
            "runs": {key: stand_in(own, sysctls=large) for key in settings.SEEDS}
        },
        "to the same number": {
            "runs": {**stand_ins(own, sysctls=large), 3: stand_in(own, seed=3, sysctls=bound(large_ms - 1))}
        },
        "timer_runs must be what nl.sweep({...}) returns": {"runs": {1: 9.0}},
        "got an object of type Run": {"runs": stand_in(own, sysctls=large)},
    }
    for sentence, words in cases.items():
        assert sentence in failure_text(check, timer(own, large_ms, **words)), sentence
    for answer in cast("list[object]", [5000, {}, [1, 2]]):
        assert "timer_runs must be what nl.sweep({...}) returns, runs by seed" in failure_text(check, answer)


@pytest.mark.parametrize("key", ["timer_runs", "marks_runs"])
def test_runs_without_a_bound_or_marks_get_a_message(chapter: Any, key: str) -> None:
    assert "conditions" in failure_text(judging_checks(chapter)[key], stand_ins(chapter.own))


def test_functions_of_the_bound_and_the_room_pass_and_constants_fail(chapter: Any) -> None:
    """By hand: 21 - 8 = 13 ms come on top of the bound, and 2 ms for the ticks: 50 - 15 = 35. 2 * 50 - 8.26 = 91.7."""
    largest, least = judging_checks(chapter)["bound"], judging_checks(chapter)["room"]
    assert largest.reference(50, 8, 21) == 35
    assert least.reference(50, 1000, 0.1) == pytest.approx(91.74, abs=0.005)
    passes(largest, lambda limit_ms, short_ms, slowest_ms: limit_ms + short_ms - slowest_ms - 2)
    passes(least, lambda servers, rate_mbps, rtt_ms: math.ceil(2 * servers - rate_mbps * rtt_ms / 12.112))
    assert "is a number written into the function" in failure_text(largest, lambda limit_ms, short_ms, slowest_ms: 35)
    assert "got 48 ms" in failure_text(largest, lambda limit_ms, short_ms, slowest_ms: limit_ms - 12)
    assert "1448 bytes of data, and headers" in failure_text(
        least, lambda servers, rate_mbps, rtt_ms: 2 * servers - rate_mbps * rtt_ms / 8 / 1.448
    )
    assert "Are rate_mbps and rtt_ms used?" in failure_text(
        least, lambda servers, rate_mbps, rtt_ms: 2 * servers - 8.2563
    )


@pytest.mark.parametrize(
    ("bound_ms", "words"),
    [
        (0.024, "Seen: 0.024 ms; the sysctl is in microseconds"),
        (math.nan, "Seen: no net.ipv4.tcp_rto_min_us, so that the bound is Linux's 200 ms."),
        (5.0, "was not computed for your limit"),
        (300.0, "Seen: 300 ms. largest_bound_ms"),
    ],
)
def test_a_bound_in_the_wrong_unit_and_none_are_named(chapter: Any, bound_ms: float, words: str) -> None:
    computed = judging_checks(chapter)["timer_runs"].conditions[-1]
    found = PlannedDesign(bound_ms, {})
    assert not computed.holds_for(found) and words in computed.complaint(found)


@pytest.mark.parametrize("token", ["", "anna", "bert"])
def test_a_bound_that_is_two_ms_below_the_computed_one_is_right(token: str) -> None:
    """A late answer takes 6 to 11 ms besides its wait, and 2 ms are left for the ticks of the timer."""
    chapter = incast.begin(token)
    computed = judging_checks(chapter)["timer_runs"].conditions[-1]
    assert "or up to 2 ms below" in computed.sentence
    for rest_ms in (6, 8, 11):
        for spare_ms in (0, 1, 2):
            assert computed.holds_for(PlannedDesign(chapter.own.timer_ms - rest_ms - 2 - spare_ms, {}))


@pytest.mark.slow
@pytest.mark.parametrize("token", ["", "t24"])
def test_no_message_on_a_number_tells_its_side_but_that_of_a_known_mistake(token: str) -> None:
    """A bound in time that is too small and a late one that is too large hear the same of their number."""
    chapter = incast.begin(token)
    own, check = chapter.own, judging_checks(chapter)["timer_runs"]
    asked = "must be the limit less all that a late answer takes besides its wait"
    edges = [own.timer_ms - 16, own.timer_ms - 15, own.timer_ms - 6, own.timer_ms - 5]
    for bound_ms in [*edges, *range(1, own.timer_ms + 10, 4)]:
        told = failure_text(check, timer(own, bound_ms, last_ms=own.timer_ms + 1))
        right = own.timer_ms - 15 <= bound_ms <= own.timer_ms - 6
        assert (asked in told) == (not right), bound_ms
        assert not re.search(r"larger|smaller|too (large|small|much|little|few|many)|higher|lower", told), told
    assert "this is the limit itself" in failure_text(check, timer(own, own.timer_ms))
    assert "was not computed for your limit" in failure_text(check, timer(own, 5))
    least, rooms = math.ceil(settings.least_room(own.servers)), judging_checks(chapter)["marks_runs"]
    for packets in range(least - 5, least + 4):
        passes(rooms, room(own, packets))
    for packets in (least - 6, least + 4, 128):
        told = failure_text(rooms, room(own, packets))
        assert "must follow from the smallest windows" in told and not re.search(r"\b(larger|smaller)\b", told)
    assert "packets on the path need no room" in failure_text(rooms, room(own, 2 * own.servers))


@pytest.mark.slow
def test_different_wrong_numbers_of_a_design_are_counted(chapter: Any, capsys: pytest.CaptureFixture[str]) -> None:
    own, seen = chapter.own, set()

    def record(_key: str, guess: str) -> int:
        seen.add(guess)
        return len(seen)

    check = replace(judging_checks(chapter)["timer_runs"])
    check.tries = TryCounter(record, lambda _key: len(seen))
    for bound_ms in (5, 5, 15, own.timer_ms - 12):
        check(timer(own, bound_ms, runs=timer(own, bound_ms) if bound_ms > 15 else None))
    check(stand_ins(own))
    assert check.many_tries == 3, "a search by halves from 200 ms meets 100 and 50, from the limit 18 and 27"
    assert seen == {"5", "15"}, "runs without a bound are no guess"
    assert "Wrong numbers so far: 2." in capsys.readouterr().out


def doubts(check: Any, runs: dict[int, Run], again: dict[int, Run]) -> str:
    """Return what a notebook says to a design that passes, and whose runs are `again` when they are repeated."""
    passes(check, runs)
    made = replace(check, replay=lambda scenarios: {seed: again[seed] for seed in scenarios})
    if not again:
        made = replace(check, replay=lambda _scenarios: {})
    return "" if made.verdict(runs).status is Status.PASSED else str(made.verdict(runs))


@pytest.mark.slow
def test_a_design_must_hold_with_the_seeds_of_the_exercise_and_with_measured_times(chapter: Any) -> None:
    own, check = chapter.own, judging_checks(chapter)["timer_runs"]
    large_ms = own.timer_ms - 12
    right: dict[str, Any] = {"sysctls": bound(large_ms), "last_ms": own.timer_ms - 1}
    runs = timer(own, large_ms)
    assert doubts(check, runs, stand_ins(own, **right)) == ""
    assert doubts(check, runs, {}) == "", "what cannot be repeated here is believed"
    lucky = {seed: stand_in(own, seed=seed + 6, **right) for seed in settings.SEEDS}
    assert "these runs have the seeds 7, 8, 9, 10, 11; the exercise asks" in doubts(
        check, timer(own, large_ms, lucky), lucky
    )
    later = stand_ins(own, **right) | {4: stand_in(own, seed=4, **{**right, "last_ms": 200})}
    assert "the run with seed 4 has other numbers" in doubts(check, runs, later)
    best = stand_ins(own, **{**right, "last_ms": 0.9 * settings.ideal_ms(own.servers)})
    assert "less than the ideal time: hand over the runs" in doubts(check, timer(own, large_ms, best), best)


@pytest.mark.parametrize("key", ["timer_runs", "marks_runs"])
def test_a_smaller_rack_is_in_time_for_no_points(chapter: Any, key: str) -> None:
    told = failure_text(judging_checks(chapter)[key], stand_ins(chapter.own, last_ms=0.6, servers=2))
    assert "It must be the rack of the exercise" in told and "0.6 ms, but in other runs than asked for" in told


def test_an_answer_that_did_not_arrive_is_not_in_time(chapter: Any) -> None:
    runs = stand_ins(chapter.own)
    runs[5].requests.loc[runs[5].requests.index[-1], "completion_s"] = math.nan
    check, own = judging_checks(chapter)["timer_runs"], chapter.own
    assert "an answer that did not arrive" in failure_text(check, timer(own, 20, runs))
    short = stand_ins(own)
    short[2] = replace(short[2], requests=short[2].requests[short[2].requests["request"] < 5])
    assert "an answer that did not arrive" in failure_text(check, timer(own, 20, short)), "queries not made"


def test_one_query_of_all_seeds_may_be_late_and_not_two(chapter: Any) -> None:
    own, check = chapter.own, judging_checks(chapter)["timer_runs"]
    answer = timer(own, own.timer_ms - 12)
    for seed, late in ((1, False), (4, True)):
        table = answer[seed].requests
        table.loc[table.index[-1], "completion_s"] = 0.3
        if late:
            assert "Seen: 300.0 ms" in failure_text(check, answer)
        else:
            passes(check, answer)


@pytest.mark.slow
def test_marks_with_little_room_pass_and_a_shorter_timer_does_not(chapter: Any) -> None:
    own, check = chapter.own, judging_checks(chapter)["marks_runs"]
    # By hand: 24 servers with 2 segments each, of which 8.256 are on the path.
    assert settings.least_room(24) == pytest.approx(39.744, abs=5e-4)
    least = math.ceil(settings.least_room(own.servers))
    passes(check, room(own, least + 3))
    for packets in (least + 4, own.queue_packets, 128):
        assert "must follow from the smallest windows" in failure_text(check, room(own, packets))
    assert "No sysctl may be set" in failure_text(check, room(own, least, sysctls=bound(5)))
    late = room(own, least, last_ms=own.marks_ms + 1)
    assert f"Seen: {own.marks_ms + 1:.1f} ms." in failure_text(check, late)
    assert "It must be the rack" in failure_text(check, room(own, least, servers=4))


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
    return [table, interval(values), f"low > {own.stated_ms}", verdict]


def test_the_claim_is_judged_by_the_interval_of_the_last_query(chapter: Any) -> None:
    claimed = chapter.own.stated_ms
    scattered = np.array([0.05, 0.07, 0.06, 0.04, 0.08, 0.05, 0.06, 0.07])
    for times, right in ((claimed - scattered, "supported"), (claimed + scattered, "refuted")):
        passes(judging_checks(chapter)["repeated"], finding(chapter.own, times, right))
        for wrong in {"supported", "undecided", "refuted"} - {right}:
            assert f"less than {claimed} ms" in failure_text(
                judging_checks(chapter)["repeated"], finding(chapter.own, times, wrong)
            )
    passes(judging_checks(chapter)["repeated"], finding(chapter.own, claimed + np.array([-1, 1] * 4)))
    assert "expected a list of four" in failure_text(judging_checks(chapter)["repeated"], [1, 2])


def test_usual_wrong_times_of_the_last_query_are_named(chapter: Any) -> None:
    late = settings.ideal_ms(chapter.own.servers) + np.linspace(0.02, 0.1, 8)
    table, _, refutation, verdict = finding(chapter.own, late)
    ends = table.groupby("seed")["completion_s"]
    for values, words in (
        (1000 * ends.max(), "from the start of the run"),
        (1000 * (ends.mean() - LAST_QUERY_S), "ends with the slowest"),
        (1000 * (ends.max() - 10), "19 pauses"),
    ):
        assert words in failure_text(
            judging_checks(chapter)["repeated"], [table, interval(values), refutation, verdict]
        )
    other = SimpleNamespace(servers=chapter.own.servers - 1, queue_packets=chapter.own.queue_packets, stated_ms=11)
    assert "must be what the exercise describes" in failure_text(
        judging_checks(chapter)["repeated"], finding(other, late)
    )


def test_the_ideal_time_of_packets_without_their_frames_is_too_short(chapter: Any) -> None:
    def of_packets(servers: int, response_bytes: int, rate_mbps: float, rtt_ms: float) -> float:
        return 8 * servers * response_bytes * 1500 / 1448 / (1000 * rate_mbps) + rtt_ms

    failure_text(judging_checks(chapter)["ideal"], of_packets)


def test_full_last_frames_of_the_ideal_time_are_named(chapter: Any) -> None:
    def of_full_frames(servers: int, response_bytes: int, rate_mbps: float, rtt_ms: float) -> float:
        return servers * math.ceil(response_bytes / 1448) * 1514 * 8e-3 / rate_mbps + rtt_ms

    def of_exact_frames(servers: int, response_bytes: int, rate_mbps: float, rtt_ms: float) -> float:
        return servers * (response_bytes + 66 * math.ceil(response_bytes / 1448)) * 8e-3 / rate_mbps + rtt_ms

    assert "The last frame of a response is not full" in failure_text(judging_checks(chapter)["ideal"], of_full_frames)
    passes(judging_checks(chapter)["ideal"], of_exact_frames)


def test_a_mean_below_the_ideal_time_is_refused(chapter: Any) -> None:
    check = replace(judging_checks(chapter)["repeated"], replay=lambda _scenarios: {})
    ideal = settings.ideal_ms(chapter.own.servers)
    scattered = np.linspace(-0.05, 0.05, 8)
    for mean, refused in ((0.9 * ideal, True), (1.01 * ideal, False)):
        answer = finding(chapter.own, mean + scattered)
        answer[-1] = "supported" if mean < chapter.own.stated_ms else "refuted"
        passes(check, answer)
        result = check.verdict(answer)
        assert ("is below the ideal time, and no run can be" in str(result)) == refused
