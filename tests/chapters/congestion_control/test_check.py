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
from netlab_course.chapters.congestion_control import settings
from netlab_course.chapters.congestion_control.check import Checks
from netlab_course.chapters.opening import judging_checks
from netlab_course.checks import Status, right_number
from netlab_course.own_numbers import StudentValues
from tests.chapters.checking import failure_text, passes

chapter = congestion_control.begin()
own = chapter.own


def by_area(rate_mbps: float, rtt_ms: float) -> float:
    """The climb, round trip by round trip: what the window lacks in each."""
    window = rate_mbps * 1e6 * rtt_ms / 1e3 / 8 / 1514
    rounds = 10_000
    return sum((window / 2 - window / 2 * (place + 0.5) / rounds) for place in range(rounds)) * (window / 2) / rounds


def test_right_answers_pass() -> None:
    passes(judging_checks(chapter)["cost"], by_area)
    passes(judging_checks(chapter)["free"], own.rate_mbps * 2 * own.delay_ms / 12.112)
    passes(judging_checks(chapter)["free"], round(own.rate_mbps * 2 * own.delay_ms / 12))


def test_a_cost_that_is_right_for_one_rate_only_fails() -> None:
    assert "the same for another rate_mbps: is a number written into the function" in failure_text(
        judging_checks(chapter)["cost"], lambda rate_mbps, rtt_ms: by_area(4, rtt_ms)
    )


def measured_run(
    scenario: nl.Scenario | None = None, *, losses_s: tuple[float, ...] = (1, 4, 10, 16, 22), retransmits: int = 2
) -> Run:
    """A run as a student would keep it, with losses at these times."""
    scenario = scenario or exercise_scenario()
    times_s = [round(0.5 * step, 1) for step in range(1, 81)]
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
        empty, intervals, empty, empty, empty, empty, empty, settings={"scenario": scenario.to_dict(), "network_s": 40}
    )


def exercise_scenario(*others: Any, path: Any = None, **more: Any) -> nl.Scenario:
    """The scenario that the exercise asks for, with changes."""
    network = path or chapter.settings.path(own.rate_mbps, own.delay_ms, 63)
    traffic = more.pop("traffic", [nl.Tcp("h1", "h3", congestion="reno")])
    return nl.Scenario(network, [*traffic, *others], **{"duration_s": 40, "interval_s": 0.05, **more})


def reno(**more: Any) -> nl.Tcp:
    """The flow that the exercise asks for, with changes."""
    return nl.Tcp("h1", "h3", congestion="reno", **more)


def test_the_run_that_is_asked_for_passes() -> None:
    passes(judging_checks(chapter)["sawtooth"], measured_run())


@pytest.mark.parametrize(
    ("run", "sentence"),
    [
        (lambda: measured_run(exercise_scenario(traffic=[nl.Tcp("h1", "h3")])), "must use Reno"),
        (
            lambda: measured_run(exercise_scenario(nl.Tcp("h2", "h3", congestion="reno"))),
            "One TCP flow must be sent, from h1 to h3, without a window or a size, and no other traffic.",
        ),
        (
            lambda: measured_run(exercise_scenario(nl.Udp("h2", "h3", rate_mbps=200, start_s=10, duration_s=0.3))),
            "One TCP flow must be sent, from h1 to h3, without a window or a size, and no other traffic.",
        ),
        (lambda: measured_run(exercise_scenario(path=chapter.settings.path())), "the rate and the delay"),
        (
            lambda: measured_run(exercise_scenario(path=chapter.settings.path(own.rate_mbps, own.delay_ms, 63, 0.01))),
            "lose nothing at random. Seen: r1-h3 with",
        ),
        (lambda: measured_run(exercise_scenario(duration_s=10)), "must send for 40 s or more. Seen: 10 s."),
        (
            lambda: measured_run(exercise_scenario(traffic=[reno(start_s=15)], duration_s=50)),
            "must send for 40 s or more. Seen: 35 s.",
        ),
        (
            lambda: measured_run(exercise_scenario(traffic=[reno(duration_s=8)], duration_s=50)),
            "must send for 40 s or more. Seen: 8 s.",
        ),
        (lambda: measured_run(exercise_scenario(traffic=[reno(window_bytes=40_000)])), "without a window or a size"),
        (lambda: measured_run(exercise_scenario(traffic=[reno(num_bytes=40_000)])), "without a window or a size"),
        (lambda: measured_run(exercise_scenario(interval_s=0.1)), "every 0.05 s or more often"),
        (lambda: measured_run(losses_s=(1,)), "2 teeth or more, of 6 s on average (within 20 %). Seen: no tooth."),
        (lambda: measured_run(losses_s=(1, 8, 14)), "Seen: 1 tooth of 6.0 s."),
        (lambda: measured_run(losses_s=(1, 8, 10, 12, 14)), "Seen: 3 teeth of 2.0 s."),
        (lambda: nl.Scenario, "expected what nl.run(...) returns"),
    ],
)
def test_different_run_fails_with_the_missing_condition(run: Any, sentence: str) -> None:
    answer = run()
    assert sentence in failure_text(judging_checks(chapter)["sawtooth"], answer)
    if isinstance(answer, Run):
        assert "1 of 6 conditions" in failure_text(judging_checks(chapter)["sawtooth"], answer)


@pytest.mark.library
@pytest.mark.parametrize("rate_mbps", settings.NUMBERS.values("rate_mbps"))
def test_theory_finds_a_queue_for_each_rate(rate_mbps: int) -> None:
    """The time of a tooth is measured in a run, in which the window gets a little above path and queue."""
    values = StudentValues({**vars(own), "rate_mbps": rate_mbps})
    path = settings.path(rate_mbps, own.delay_ms, round(settings.tooth_queue_packets(values)))
    passes(Checks(values).sawtooth, nl.run(path, [reno()], duration_s=40, interval_s=0.05))


def test_printed_output_is_no_run() -> None:
    assert judging_checks(chapter)["sawtooth"].judge(SimpleNamespace()).status is Status.FAILED


@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_half_and_double_the_queue_get_the_same_answer_as_their_neighbours(factor: float) -> None:
    """Else a queue that was tried would give the answer away."""
    right = right_number(judging_checks(chapter)["free"])
    text, nearby = (failure_text(judging_checks(chapter)["free"], number * right) for number in (factor, 1.1 * factor))
    assert text.split("packets.")[1] == nearby.split("packets.")[1]


@cache
def opened(token: str) -> Any:
    return congestion_control.begin(token)


@pytest.mark.parametrize("token", ["anna", "ben", "chris", "dora"])
def test_no_copy_has_the_queue_of_exercise_3_in_exercise_2(token: str) -> None:
    """Else exercise 3 would have been answered by exercise 2."""
    own = opened(token).own
    assert (
        abs(settings.tooth_queue_packets(own) / float(right_number(judging_checks(opened(token))["free"])) - 1) > 0.25
    )
    assert judging_checks(opened(token))["cost"].judge(by_area).status is Status.PASSED


def test_tab_on_the_settings_does_not_offer_the_queue_of_the_sawtooth() -> None:
    assert {"QueueTrials", "path"} <= set(dir(settings)) and "tooth_queue_packets" not in dir(settings)
