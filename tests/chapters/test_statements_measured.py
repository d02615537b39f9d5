"""Statements of copies against runs with eight seeds: the verdict is clear, and that of another copy costs its points."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

import netlab as nl
from netlab_classroom.grading import marking, master
from netlab_classroom.grading.examiner import Exercise
from netlab_course.chapters import congestion_collapse
from netlab_course.chapters.opening import judging_checks
from netlab_course.checks import Status
from netlab_course.repetition import Repetition
from netlab_course.rounded_intervals import places
from netlab_course.statements import REFUTED, SUPPORTED, UNDECIDED
from tests.chapters.checking import all_chapters, checks_of, names_of_cells

pytestmark = pytest.mark.library
ROOT = Path(__file__).parents[2]
TOKENS = [f"t{number}" for number in range(20)]
CLEAR = 2
"""The smallest distance between the stated number and the mean, in half widths of eight seeds."""
LONG_S = {"load_and_delay": 80.0}
"""The duration of a run where it must be longer than the scenario: chapter 13 asks for an interval of 3 %."""
VERDICT = 3
"""The place of the verdict in an answer."""


def repeated(chapter: Any, token: str) -> Repetition:
    (found,) = (check for check in checks_of(chapter, token) if isinstance(check, Repetition))
    return found


def number(check: Repetition) -> float:
    assert check.statement is not None
    return check.statement.number


def theory(check: Repetition) -> float:
    """Return the theoretical value for the scenario itself, which no table contains yet."""
    table: Any = SimpleNamespace(attrs={"scenario": check.scenario().to_dict()})
    return check.expected(table)


def measured(topic: str, check: Repetition) -> pd.DataFrame:
    requested = check.scenario()
    if topic == "own_control":  # its scenario has placeholders for the student's classes
        classes = names_of_cells("15_own_control", "aimd", "mine", "repeated-scenario", __name__="student")
        requested = classes["side_by_side"](classes["Aimd"], classes["Mine"])
    return nl.repeat(replace(requested, duration_s=LONG_S.get(topic, requested.duration_s)), seeds=8)


def third_part(check: Repetition, table: pd.DataFrame, mean: float, half: float) -> Any:
    """Return the third part of an answer: a figure of the values and the interval, or a condition."""
    if not check.with_figure:
        assert check.statement is not None
        return f"{'high <' if check.statement.above else 'low >'} {check.statement.number}"
    figure = check.values(table).reset_index(drop=True).plot(kind="scatter", backend="plotly")
    figure.add_hrect(y0=mean - half, y1=mean + half)
    return figure.update_yaxes(title_text=check.axis)


def verdict_points(check: Repetition, exercise: Exercise) -> float:
    """Return the points of the verdict: its condition comes after three on the figure, if there is one."""
    return exercise.shares[VERDICT + 3 * check.with_figure]


def points(topic: str, check: Repetition, answer: list[Any]) -> float:
    exercise = master.find(topic, ROOT).exercises()[check.key]
    assert isinstance(exercise, Exercise)
    mark = marking.ExerciseMark(check.key, marking.FAILED, 0, exercise.points)
    marking.grade(mark, exercise, check, answer, SimpleNamespace(), seed="1")  # type: ignore[arg-type]
    return mark.points


@pytest.mark.parametrize(
    "chapter",
    [
        pytest.param(chapter, id=chapter.__name__.rsplit(".", 1)[-1])
        for chapter in all_chapters()
        if any(isinstance(check, Repetition) and check.statement for check in checks_of(chapter))
    ],
)
def test_two_copies_have_clear_verdicts_that_differ(chapter: Any) -> None:
    topic = chapter.__name__.rsplit(".", 1)[-1]
    first = repeated(chapter, "")
    tables = [measured(topic, first)]
    # The mean relative to theory hardly depends on the copy, so it tells which copy has the other verdict.
    relative = nl.interval(first.values(tables[0])).mean / theory(first)
    others = (repeated(chapter, token) for token in TOKENS)
    second = next(
        each
        for each in others
        if not each.statement.is_close  # type: ignore[union-attr]
        and (number(each) / theory(each) > relative) != (number(first) / theory(first) > relative)
    )
    tables.append(measured(topic, second))
    answers = []
    for check, table in zip((first, second), tables, strict=True):
        mean, half = nl.interval(check.values(table))
        assert abs(number(check) - mean) >= CLEAR * half, (number(check), mean, half)
        assert check.statement is not None
        verdict = SUPPORTED if (mean > number(check)) == check.statement.above else REFUTED
        answers.append([table, (mean, half), third_part(check, table, mean, half), verdict])
    verdicts = [answer[VERDICT] for answer in answers]
    assert set(verdicts) == {SUPPORTED, REFUTED}
    for check, answer, copied in zip((first, second), answers, reversed(verdicts), strict=True):
        exercise = master.find(topic, ROOT).exercises()[check.key]
        assert isinstance(exercise, Exercise)
        assert points(topic, check, answer) == exercise.points
        assert check.verdict(answer).status is Status.PASSED, "the same seeds give the same numbers"
        assert points(topic, check, [*answer[:VERDICT], copied]) == exercise.points - verdict_points(check, exercise)


@pytest.mark.slow
def test_copies_whose_number_is_near_the_mean_are_undecided_with_few_and_with_many_seeds() -> None:
    """A true mean is outside one interval in twenty, so of six at least five are undecided."""
    close = [
        check
        for token in TOKENS * 2
        if (check := judging_checks(congestion_collapse.begin(token))["repeated"]).statement.is_close
    ]
    undecided: dict[int, list[bool]] = {8: [], 16: []}
    for place, check in enumerate(close[:6]):
        first = 1 + 100 * place
        values = check.values(nl.repeat(check.scenario(), seeds=range(first, first + 16)))
        for seeds, found in undecided.items():
            verdicts = check.statement.verdicts(places(nl.interval(values[:seeds]), check.statement.number))
            found.append(UNDECIDED in verdicts)
    for seeds, found in undecided.items():
        assert len(found) == 6 and sum(found) >= 5, (seeds, found)
