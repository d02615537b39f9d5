"""Answers that meet in one port, against theory with stated tolerances."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest

import netlab as nl
from netlab_course.chapters import incast
from netlab_course.chapters.incast import experiments, settings
from netlab_course.checks import Status
from tests.agreement import agrees
from tests.chapters.checking import names_of_cells

pytestmark = pytest.mark.pocket
SHORT_TIMER = {settings.MIN_RTO: 5000}


def measured(
    servers: int,
    queue_packets: int = settings.QUEUE_PACKETS,
    *,
    seed: int = 1,
    port: dict[str, Any] | None = None,
    congestion: str = "cubic",
    sysctls: dict[str, Any] | None = None,
) -> nl.Run:
    """A run of twenty queries to a rack."""
    network = settings.rack(servers, queue_packets, **(port or {}))
    traffic = settings.queries(servers, congestion)
    return nl.run(network, traffic, duration_s=settings.DURATION_S, sysctls=sysctls, seed=seed)


def slowest_ms(runs: Sequence[nl.Run]) -> float:
    """The slowest last answer of all queries but the first."""
    return max(float(experiments.later_ms(run).max()) for run in runs)


def test_the_page_builds_the_rack_and_the_queries_that_the_checks_expect() -> None:
    page = names_of_cells("17_incast", "network", "sixteen", experiments=experiments)
    for servers, queue_packets, port in ((2, 32, {}), (24, 64, settings.step())):
        made = page["rack"](servers, queue_packets, **port)
        assert made.to_dict() == settings.rack(servers, queue_packets, **port).to_dict()
        assert page["queries"](servers, "dctcp") == settings.queries(servers, "dctcp")
    assert page["last_ms"].max() > 200 and page["last_ms"].median() < 10, "what the chapter's question says"


@pytest.mark.parametrize("servers", [1, 2, 8, 16])
def test_a_queue_with_room_for_all_answers_gives_the_ideal_time(servers: int) -> None:
    """Within 4 % and the jitter of 40 us, for every query after the first; nothing is dropped."""
    run = measured(servers, 1000)
    ideal = settings.ideal_ms(servers)
    assert experiments.drops(run) == 0
    for each in experiments.later_ms(run):
        agrees(f"last answer of {servers} (ms)", each, ideal, absolute=0.04 * ideal + 0.08)


@pytest.mark.parametrize("token", ["", "anna", "ben", "t3", "t9", "t12"])
def test_drops_begin_at_the_formulas_number_of_servers(token: str) -> None:
    """None below it; some at it or at one more: the jitter spreads the answers."""
    own = incast.begin(token).own
    first = math.floor(settings.fitting_servers(own.drop_queue, 1000 * own.drop_kb)) + 1
    dropped = {}
    for servers in (first - 1, first, first + 1):
        traffic = [
            nl.Requests("c", item.dst, response_bytes=1000 * own.drop_kb, count=20, interval_s=0.5)
            for item in settings.queries(servers)
        ]
        run = nl.run(settings.rack(servers, own.drop_queue), traffic, duration_s=settings.DURATION_S)
        dropped[servers] = experiments.drops(run)
    assert dropped[first - 1] == 0 < dropped[first + 1], dropped


def test_late_answer_makes_an_query_late() -> None:
    """A few per cent of the single answers of sixteen servers are late, and 1 - (1 - p)**16 of the queries, within 15 points."""
    runs = [measured(16, seed=seed) for seed in (1, 2, 3)]
    late = sum(experiments.late_share(run) for run in runs) / 3
    queries = sum(float((experiments.last_answers_ms(run) > experiments.LATE_MS).mean()) for run in runs) / 3
    assert 0.01 < late < 0.06
    agrees("share of late queries", queries, 1 - (1 - late) ** 16, absolute=0.15)
    for run in runs:
        late_ms = experiments.last_answers_ms(run).loc[lambda times: times > experiments.LATE_MS]
        assert late_ms.between(200, 225).all(), "Linux's smallest timeout, to a tick and an answer more"


def test_the_smallest_timeout_sets_how_late_a_late_answer_is() -> None:
    """Ten times less, ten times shorter, in ticks of 4 ms."""
    for minimum_ms in (100, 20):
        run = measured(24, sysctls={settings.MIN_RTO: 1000 * minimum_ms})
        found = experiments.later_ms(run)
        slow = found[found > minimum_ms]
        assert len(slow) > 0
        assert slow.between(minimum_ms, 2 * minimum_ms + 20).all(), list(slow)


def test_dctcp_needs_room_for_two_packets_of_each_server() -> None:
    """Its smallest window is 2. With 2 N below room and path no query is late; at 1.4 times this, most are."""
    room = 32 + 8.26
    for servers, is_late in ((16, False), (28, True)):
        assert (2 * servers > room) == is_late
        run = measured(servers, port=settings.step(), congestion="dctcp")
        late = float((experiments.later_ms(run) > experiments.LATE_MS).mean())
        assert (late > 0.2) == is_late, late


@pytest.mark.parametrize("token", ["", "anna", "t3", "t9", "t5"])
def test_both_designs_pass_and_the_rack_as_it_is_does_not(token: str) -> None:
    """CUBIC with 200 ms is late for each token; the timer and DCTCP keep their limits with three seeds each."""
    chapter = incast.begin(token)
    own = chapter.own
    usual = measured(own.servers, own.queue_packets)
    assert chapter.check.timer_run.judge(usual).status is Status.FAILED
    assert chapter.check.marks_run.judge(usual).status is Status.FAILED
    for seed in (1, 2, 3):
        timer = measured(own.servers, own.queue_packets, seed=seed, sysctls=SHORT_TIMER)
        assert chapter.check.timer_run.judge(timer).status is Status.PASSED, slowest_ms([timer])
        assert chapter.check.marks_run.judge(timer).status is Status.FAILED
        marks = measured(own.servers, own.queue_packets, seed=seed, port=settings.step(), congestion="dctcp")
        assert chapter.check.marks_run.judge(marks).status is Status.PASSED, slowest_ms([marks])
        assert chapter.check.timer_run.judge(marks).status is Status.FAILED


def test_dctcp_is_a_little_later_than_the_ideal_time() -> None:
    """By 0.2 to 4 % over eight seeds, which the interval of the exercise shows."""
    own = incast.begin().own
    table = nl.repeat(settings.claimed_scenario(own), seeds=8)
    mean, half = nl.interval(incast.begin().check.repeated.values(table))
    ideal = settings.ideal_ms(own.servers)
    assert 1.002 * ideal < mean < 1.04 * ideal
    assert mean - half > ideal
