"""Checks of a planned number of runs: right work passes whatever the pilot is, and each usual mistake is named."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import netlab as nl
from netlab.runs.replications import table_of
from netlab_course.checks import Status
from netlab_course.sample_sizes import PlannedSample, SampleSize
from tests.chapters.checking import count_tries, failure_text, passes
from tests.fake_runs import FakeRun, no_replay, replay_of

HALF = 3.0


def scenario() -> nl.Scenario:
    return nl.Scenario(nl.topologies.dumbbell(), [nl.Tcp("h1", "h3")], duration_s=10)


def table(runs: int, scatter: float, duration_s: float = 10) -> pd.DataFrame:
    """A table as from `nl.repeat` of this many runs, whose values scatter so much about 25 %."""
    values = np.random.default_rng(runs).normal(size=runs)
    values = 25 + scatter * (values - values.mean()) / np.std(values, ddof=1)
    found = {
        seed: FakeRun(pd.DataFrame([{"flow": "a", "src": "h1", "part": value, "error": None}]))
        for seed, value in enumerate(values, start=1)
    }
    return table_of(replace(scenario(), duration_s=duration_s).to_dict(), found)  # type: ignore[arg-type]


CHECK = SampleSize(
    name="runs for a part",
    scenario=scenario,
    made_by="scenario()",
    values=lambda found: found.set_index("seed")["part"],
    half_width=HALF,
    unit="%",
    expected=lambda _found: 25.0,
    hints=["Plan."],
    replay=no_replay,
)


def work(scatter: float = 4.0, then: float = 4.0, planned: int | None = None) -> list[Any]:
    """The work of a student whose pilot scatters so much, and then the runs of the plan."""
    number = nl.theory.runs_needed(scatter, HALF) if planned is None else planned
    after = table(min(number, 16), then)
    found = nl.interval(CHECK.values(after))
    return [table(6, scatter), number, after, found, "reached" if found.half_width <= HALF else "missed"]


@pytest.mark.parametrize("scatter", [0.5, 1.5, 2.5, 3.5, 4.5, 6.0, 9.0])
@pytest.mark.parametrize("then", [2.0, 8.0])
def test_right_work_passes_whatever_is_drawn(scatter: float, then: float) -> None:
    passes(CHECK, work(scatter, then))
    assert "Theory lies inside your interval." in CHECK.judge(work(scatter, then)).sentences


@pytest.mark.parametrize(
    ("planned", "sentence"),
    [
        (math.ceil((2.571 * 4.0 / HALF) ** 2), "Student's t of the 6 runs of the pilot"),
        (nl.theory.runs_needed(4.0, HALF) + 1, "one run less has that half width, too"),
        (nl.theory.runs_needed(4.0, HALF) - 1, "a little larger: round up"),
    ],
)
def test_neighbours_of_the_planned_number_are_wrong(planned: int, sentence: str) -> None:
    assert sentence in failure_text(CHECK, work(4.0, planned=planned))


@pytest.mark.parametrize("seeds", [(3, 9, 11, 20, 21, 40), (2, 3, 4, 5, 6, 7)])
def test_a_pilot_with_chosen_seeds_is_refused(seeds: tuple[int, ...]) -> None:
    answer = work()
    attrs = answer[0].attrs
    answer[0] = answer[0].assign(seed=list(seeds))
    answer[0].attrs = attrs
    assert CHECK.judge(answer).status is Status.PASSED, "a grader draws other seeds"
    assert "my_pilot must have the seeds 1 to 6 (seeds=6), whatever they bring, got" in str(CHECK.verdict(answer))


def test_planned_runs_with_gaps_between_their_seeds_are_refused() -> None:
    answer = work()
    attrs = answer[2].attrs
    answer[2] = answer[2].assign(seed=answer[2]["seed"] * 2)
    answer[2].attrs = attrs
    assert "my_table must have seeds in a row" in str(CHECK.verdict(answer))


@pytest.mark.parametrize(
    ("planned", "words"),
    [
        (7, "1.96 is the factor of very many values"),
        (4, "is a square missing? Or: the runs of the pilot are not subtracted from those of the plan. Which"),
        (2, "Student's t is missing"),
        (9, "has ddof=1, as in chapter 2. Or: with so many the half width is still a little larger: round up."),
        (11, "take that of all the runs. Or: one run less has that half width, too."),
        (47, "half of the interval's width is asked for, not the whole"),
        (nl.theory.runs_needed(4.0, HALF / 2), "half of the interval's width is asked for, not the whole"),
        (
            20,
            "my_planned must be the number of runs with which the pilot's scatter gives a half width of 3 %. Seen: 20.",
        ),
    ],
)
def test_each_usual_mistake_with_the_plan_is_named(planned: int, words: str) -> None:
    told = failure_text(CHECK, work(4.0, planned=planned))
    assert words in told and "1 of 5 conditions" in told


def test_a_plan_that_is_no_whole_number_is_to_be_rounded_up() -> None:
    answer = work()
    assert "it is rounded up" in failure_text(CHECK, [answer[0], 9.4, *answer[2:]])


def test_each_usual_mistake_with_the_interval_is_named() -> None:
    answer = work()
    values = CHECK.values(answer[2])
    (mean, half), scatter = answer[3], values.std()
    for wrong, words in (
        (nl.interval(CHECK.values(answer[0])), "the interval of the pilot"),
        ((mean, scatter), "the standard deviation"),
        ((mean, scatter / len(values) ** 0.5), "Student's t is missing"),
        ((mean, 2 * half), "the whole width"),
        ((mean - half, mean + half), "the two edges"),
        ((mean / 100, half / 100), "this is a fraction; % is asked for"),
    ):
        told = failure_text(CHECK, [*answer[:3], wrong, answer[4]])
        assert words in told and "1 of 5 conditions" in told


def test_the_word_must_follow_from_the_runs_of_the_plan() -> None:
    for then, wrong in ((2.0, "missed"), (8.0, "reached")):
        answer = work(4.0, then)
        told = failure_text(CHECK, [*answer[:4], wrong])
        assert "at most 3 %" in told and "1 of 5 conditions" in told
        assert f"Seen: {wrong!r}, and {nl.interval(CHECK.values(answer[2])):.4g}." in told
        passes(CHECK, [*answer[:4], f" {answer[4].capitalize()}."])


def test_the_word_is_not_judged_before_the_interval_is_right() -> None:
    check = replace(CHECK)
    seen = count_tries(check)
    answer = work()
    for word in ("reached", "missed"):
        given = [*answer[:3], (23.47, 3.4), word]
        told = failure_text(check, given)
        assert "1 of 5 conditions does not hold yet. (1 more" in told and "The word must say" not in told
        check(given)
    assert not seen


def test_an_interval_that_is_rounded_too_far_is_named() -> None:
    answer = work()
    mean, half = answer[3]
    told = failure_text(CHECK, [*answer[:3], (float(f"{mean:.2g}"), float(f"{half:.1g}")), answer[4]])
    assert "this is rounded too far. Hand over what nl.interval(...) returns" in told


def test_other_scenarios_and_numbers_of_runs_are_reported() -> None:
    answer = work()
    shorter = table(answer[1], 4.0, duration_s=5)
    assert "my_table differs in duration_s=5, less than 10" in failure_text(CHECK, [*answer[:2], shorter, *answer[3:]])
    assert "Seen: 8 and 10 seeds, my_planned = 10" in failure_text(CHECK, [table(8, 4.0), *answer[1:]])
    assert "but at most 16" in failure_text(CHECK, [*answer[:2], table(12, 4.0), *answer[3:]])


@pytest.mark.parametrize(
    ("place", "part", "words"),
    [
        (0, 5.0, "my_pilot must be the table that nl.repeat(...) returns, got 5.0"),
        (1, "ten", "my_planned: got the text 'ten'"),
        (2, pd.DataFrame({"seed": [1], "flow": ["a"]}), "my_table must be the table as nl.repeat"),
        (3, 3.0, "my_interval must be what nl.interval(...) returns"),
        (4, "inside", "the fifth must be one of 'reached', 'missed', got 'inside'"),
    ],
)
def test_an_answer_of_the_wrong_form_is_reported(place: int, part: object, words: str) -> None:
    answer = work()
    answer[place] = part
    assert words in failure_text(CHECK, answer)
    assert "a list of five" in failure_text(CHECK, answer[:4])


def test_parts_that_were_never_checked_are_no_answer() -> None:
    assert "expected a list of five" in failure_text(CHECK, PlannedSample(*work()))


def test_wrong_words_are_counted_and_no_other_mistake() -> None:
    check = replace(CHECK)
    seen = count_tries(check)
    answer = work()
    for given in (..., [*answer[:4], "perhaps"], [answer[0], 2, *answer[2:]], answer):
        check(given)
    assert not seen
    check([*answer[:4], "missed" if answer[4] == "reached" else "reached"])
    assert len(seen) == check.many_tries == 1
    assert check.judge([...] * 5).status is Status.NOT_ATTEMPTED


def test_each_condition_can_be_judged_alone_as_a_grader_does() -> None:
    answer = work()
    answer[1], answer[4] = 9, "missed" if answer[4] == "reached" else "reached"
    alone = [replace(CHECK, conditions=[each]).judge(answer).status for each in CHECK.conditions]
    failed, passed = Status.FAILED, Status.PASSED
    assert alone == [passed, failed, failed, passed, failed]


@pytest.mark.parametrize("place", [0, 2])
def test_a_table_without_an_interval_gets_a_message_and_its_word_is_no_try(place: int) -> None:
    check = replace(CHECK)
    seen = count_tries(check)
    for seeds in (0, 1):
        answer = work()
        answer[place] = answer[place][answer[place]["seed"] <= seeds]
        answer[1] = 1 if place == 2 else answer[1]
        assert "can be looked at only when" in failure_text(check, answer)
        check(answer)
    assert not seen


def test_the_standard_deviation_of_six_runs_is_no_half_width() -> None:
    answer = work(2.8)
    assert answer[1] == 6
    (mean, half), scatter = answer[3], float(CHECK.values(answer[2]).std())
    told = failure_text(CHECK, [*answer[:3], (mean, scatter), answer[4]])
    assert "this half width is the standard deviation: how far single runs scatter" in told
    passes(CHECK, [*answer[:3], (mean, float(f"{half:.3g}")), answer[4]])


def test_a_value_that_a_run_does_not_give_again_is_refused_in_a_notebook() -> None:
    answer = work()
    # The pilot has the seeds of the table's first runs, so only one of both can be what the runs give.
    told = str(replace(CHECK, replay=replay_of(answer[2])).verdict(answer))
    assert "in my_pilot, and" in told and "when it is run again" in told
    told = str(
        replace(
            CHECK, replay=replay_of(answer[0].reindex(range(16), method="ffill").assign(seed=range(1, 17)))
        ).verdict(answer)
    )
    assert "when it is run again" in told
