"""The chapter's checks: right answers pass, wrong ones get their sentence."""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

import netlab as nl
from netlab.measure.results import Run
from netlab_course.chapters import congestion_control
from netlab_course.checks import Status, right_number
from tests.chapters.checking import failure_text, passes

chapter = congestion_control.begin()
own = chapter.own


def by_area(rate_mbps: float, rtt_ms: float) -> float:
    """The climb, round trip by round trip: what the window lacks in each."""
    window = rate_mbps * 1e6 * rtt_ms / 1e3 / 8 / 1514
    rounds = 10_000
    return sum((window / 2 - window / 2 * (place + 0.5) / rounds) for place in range(rounds)) * (window / 2) / rounds


def test_right_answers_pass() -> None:
    passes(chapter.check.cost, by_area)
    passes(chapter.check.free, own.rate_mbps * 2 * own.delay_ms / 12.112)
    passes(chapter.check.free, round(own.rate_mbps * 2 * own.delay_ms / 12))


def test_a_cost_for_one_rate_only_is_no_function_of_the_path() -> None:
    assert "a parameter" in failure_text(chapter.check.cost, lambda rate_mbps, rtt_ms: by_area(4, rtt_ms))


def measured_run(
    scenario: nl.Scenario | None = None, *, losses_s: tuple[float, ...] = (1, 3, 5, 7), retransmits: int = 2
) -> Run:
    """A run as a student would keep it, with losses at these times."""
    scenario = scenario or asked()
    times_s = [round(0.5 * step, 1) for step in range(1, 41)]
    intervals = pd.DataFrame(
        {
            "flow": "h1-h3 reno",
            "t_s": times_s,
            "cwnd_segments": 30.0,
            "retransmits": [float(sum(retransmits for loss_s in losses_s if loss_s <= t_s)) for t_s in times_s],
        }
    )
    empty = pd.DataFrame()
    return Run(
        empty, intervals, empty, empty, empty, empty, empty, settings={"scenario": scenario.to_dict(), "network_s": 20}
    )


def asked(*others: Any, path: Any = None, **more: Any) -> nl.Scenario:
    """The scenario that the exercise asks for, with changes."""
    network = path or chapter.settings.path(own.rate_mbps, own.delay_ms, own.room_packets)
    traffic = more.pop("traffic", [nl.Tcp("h1", "h3", congestion="reno")])
    return nl.Scenario(network, [*traffic, *others], **{"duration_s": 20, "interval_s": 0.05, **more})


def reno(**more: Any) -> nl.Tcp:
    """The flow that the exercise asks for, with changes."""
    return nl.Tcp("h1", "h3", congestion="reno", **more)


def test_the_run_that_is_asked_for_passes() -> None:
    passes(chapter.check.sawtooth, measured_run())


@pytest.mark.parametrize(
    ("run", "sentence"),
    [
        (lambda: measured_run(asked(traffic=[nl.Tcp("h1", "h3")])), "must use Reno"),
        (
            lambda: measured_run(asked(nl.Tcp("h2", "h3", congestion="reno"))),
            "One TCP flow must be sent, from h1 to h3, without a window or a size, and nothing beside it.",
        ),
        (
            lambda: measured_run(asked(nl.Udp("h2", "h3", rate_mbps=200, start_s=10, duration_s=0.3))),
            "One TCP flow must be sent, from h1 to h3, without a window or a size, and nothing beside it.",
        ),
        (lambda: measured_run(asked(path=chapter.settings.path())), "the rate, the delay and the queue"),
        (
            lambda: measured_run(
                asked(path=chapter.settings.path(own.rate_mbps, own.delay_ms, own.room_packets, 0.01))
            ),
            "lose nothing at random. Seen: r1-h3 with",
        ),
        (lambda: measured_run(asked(duration_s=10)), "must send for 20 s or more. Seen: 10 s."),
        (
            lambda: measured_run(asked(traffic=[reno(start_s=15)], duration_s=30)),
            "must send for 20 s or more. Seen: 15 s.",
        ),
        (
            lambda: measured_run(asked(traffic=[reno(duration_s=8)], duration_s=30)),
            "must send for 20 s or more. Seen: 8 s.",
        ),
        (lambda: measured_run(asked(traffic=[reno(window_bytes=40_000)])), "without a window or a size"),
        (lambda: measured_run(asked(traffic=[reno(num_bytes=40_000)])), "without a window or a size"),
        (lambda: measured_run(asked(interval_s=0.1)), "every 0.05 s or more often"),
        (lambda: measured_run(losses_s=(1,)), "fall 3 times"),
        (lambda: nl.Scenario, "expected what nl.run(...) returns"),
    ],
)
def test_different_run_fails_with_the_missing_condition(run: Any, sentence: str) -> None:
    answer = run()
    assert sentence in failure_text(chapter.check.sawtooth, answer)
    if isinstance(answer, Run):
        assert "1 of 6 conditions" in failure_text(chapter.check.sawtooth, answer)


def test_printed_output_is_no_run() -> None:
    assert chapter.check.sawtooth.judge(SimpleNamespace()).status is Status.FAILED


@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_half_and_double_the_queue_get_the_same_answer_as_their_neighbours(factor: float) -> None:
    """Else the queue of exercise 2, tried once more, would give the answer away."""
    right = right_number(chapter.check.free)
    told, nearby = (failure_text(chapter.check.free, number * right) for number in (factor, 1.1 * factor))
    assert told.split("packets.")[1] == nearby.split("packets.")[1]


@cache
def opened(token: str) -> Any:
    return congestion_control.begin(token)


@pytest.mark.parametrize("token", ["anna", "ben", "chris", "dora"])
def test_every_copy_has_a_path_on_which_its_own_queue_is_too_small(token: str) -> None:
    """Else exercise 3 would have been answered by exercise 2."""
    own = opened(token).own
    assert own.room_packets < 0.85 * right_number(opened(token).check.free)
    assert opened(token).check.cost.judge(by_area).status is Status.PASSED
