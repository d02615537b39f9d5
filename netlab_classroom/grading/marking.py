"""Marking of an answer: points, status and sentences, from a check with hidden cases."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd

from netlab.base.errors import NetlabError
from netlab_classroom.grading import plain
from netlab_classroom.grading.examiner import Exercise
from netlab_classroom.grading.master import Edition
from netlab_course.answers import with_unit
from netlab_course.checks import Check, ChoiceCheck, Number, Result, Status, right_number
from netlab_course.conditions import Build, Condition
from netlab_course.function_checks import Function

PASSED, FAILED, NOT_ATTEMPTED = "passed", "failed", "not attempted"
TIMED_OUT, CRASHED, MISSING, UNREADABLE, REVIEW = "timed out", "crashed", "missing", "unreadable", "waiting for review"
NOT_GRADED = "not graded"
PARTLY = "partly correct"
"""The status in reports of a failed answer that has some of its points."""
STATUSES = (PASSED, FAILED, NOT_ATTEMPTED, TIMED_OUT, CRASHED, MISSING, UNREADABLE, REVIEW, NOT_GRADED)
SHOWN_STATUSES = (PASSED, PARTLY, *STATUSES[1:])
MAX_SHOWN_VALUES = 8
ADDRESS = re.compile(
    r" object at 0x[0-9a-f]+"
)  # an address changes each time, and a second grading must give the same bytes


@dataclass
class ExerciseMark:
    """The result of a student's exercise."""

    key: str
    status: str
    """The key of the exercise, and one of `STATUSES`."""
    points: float
    of: float
    """The points of the answer, and the maximum."""
    sentences: list[str] = field(default_factory=list)
    """The feedback for the student."""
    answer: str = ""
    """The student's cell or words."""
    value: str = ""
    """The value of the answer, in a few words."""
    expected: str = ""
    """The right number, for the instructor; "" if there is none."""
    parts: list[dict[str, Any]] = field(default_factory=list)
    """The parts of an exercise whose points are divided: label, points, of."""
    slip: str = ""
    """The message about the mistake, for the class's list of mistakes."""
    words: str = ""
    """A fingerprint of an answer in words; "" for code."""
    counted: int = 0
    """The number of its words."""
    wrong_tries: int = 0
    """The number of wrong tries that the notebook shows below its check; a student can remove it."""
    may_be_found_by_trial: bool = False
    """True if these are enough to find the answer by trial (`Check.many_tries`)."""


def grade(mark: ExerciseMark, exercise: Exercise, check: Check, answer: Any, edition: Edition, seed: str) -> None:
    """Write points, status, parts, feedback and, after a failure, its second sentence as `slip` for an answer (a
    decoded value, or a stand-in for a function or class) into `mark`: by the exercise's own judge, if it has one, else
    by the check of the notebook, for a function over hidden cases, which follow from `seed`, and for something built
    with shares by each condition. `edition` has the student's own numbers. Raises NetlabError if the check cannot judge
    the answer.
    """
    if exercise.judge is not None:
        results = [("", exercise.points, exercise.judge(check, answer, edition.chapter.own))]
    elif isinstance(check, Function):
        results = _function_results(exercise, check, answer, seed)
    elif isinstance(check, Build) and exercise.shares:
        results = _shared_results(exercise, check, answer)
    else:
        results = [("", exercise.points, check.judge(answer))]
    mark.parts = [
        {"label": label, "of": of, "points": of if result.status is Status.PASSED else 0}
        for label, of, result in results
    ]
    mark.points = sum(part["points"] for part in mark.parts)
    states = [result.status for _, _, result in results]
    if all(state is Status.PASSED for state in states):
        mark.status = PASSED
    elif all(state is Status.NOT_ATTEMPTED for state in states):
        mark.status = NOT_ATTEMPTED
    else:
        mark.status = FAILED
    mark.sentences = list(
        dict.fromkeys(
            ADDRESS.sub("", sentence)
            for _, _, result in results
            for sentence in result.sentences
            if (result.status is not Status.PASSED or mark.status == PASSED) and "chapter.check." not in sentence
        )
    )
    if mark.status == FAILED and len(mark.sentences) > 1:
        # Failed conditions are listed only if there are several of them.
        mark.slip = mark.sentences[1].removeprefix("- ")


def shown_status(mark: Mapping[str, Any]) -> str:
    """Return the status of an exercise under its name in reports; `mark` has the fields of ExerciseMark, and a failed
    answer with some of its points is "partly correct".
    """
    return PARTLY if mark["status"] == FAILED and mark["points"] > 0 else str(mark["status"])


def _function_results(exercise: Exercise, check: Function, answer: Any, seed: str) -> list[tuple[str, float, Result]]:
    """Return label, points and result (tuples) of each part of an exercise whose answer is a function: one part without
    a label for all trials, hidden ones that follow from the seed and edges, or two, "trials" and "edges", if the edges
    have points of their own.
    """
    trials, ordinary = exercise.trials(check, seed)
    if not exercise.edge_points or ordinary == len(trials):
        return [("", exercise.points, judge_trials(check, answer, trials))]
    return [
        ("trials", exercise.points - exercise.edge_points, judge_trials(check, answer, trials[:ordinary])),
        ("edges", exercise.edge_points, judge_trials(check, answer, trials[ordinary:], ordinary)),
    ]


def judge_trials(check: Function, answer: Any, trials: Sequence[Mapping[str, Any]], first: int = 0) -> Result:
    """Return the result of a check of a function over hidden trials (each has the arguments by name). If `answer` is a
    RecordedFunction, its recorded calls from index `first` on are judged, up to the first error or missing call, which
    fails unless an earlier call is wrong.
    """
    if not isinstance(answer, RecordedFunction):
        whole_check = replace(check, cases=trials)
        return whole_check.judge(answer)
    # The check judges the calls before the first error; then the error is reported.
    calls = answer.calls[first : first + len(trials)]
    whole = next((place for place, call in enumerate(calls) if "value" not in call), len(calls))
    if len(calls) < len(trials):
        whole = min(whole, len(calls))
    if whole:
        part = replace(check, cases=trials[:whole])
        result = part.judge(RecordedFunction(calls[:whole]))
        if whole == len(trials) or result.status is not Status.PASSED:
            return result
    error_text = str(calls[whole].get("error", "an error"))[:500] if whole < len(calls) else "nothing"
    given = ", ".join(f"{name}={value!r}" for name, value in trials[whole].items())
    return Result(check.name, Status.FAILED, (f"for {given} the function raised {error_text}.",))


def _shared_results(exercise: Exercise, check: Build, answer: Any) -> list[tuple[str, float, Result]]:
    """Return label (the condition's sentence), points and result (tuples) for each condition of the check of something
    built or measured; the points are the exercise's shares. Raises NetlabError when their numbers differ.
    """
    if len(exercise.shares) != len(check.conditions):
        raise NetlabError(
            f"The examiner of {check.key} has {len(exercise.shares)} shares, and its check {len(check.conditions)} conditions."
        )
    whole = check.judge(answer)

    def part(condition: Condition) -> Result:
        """Return the result of a condition judged alone; if it does not hold, that of the whole check, whose message
        says how many do not.
        """
        if whole.status is not Status.FAILED:
            return whole
        alone = replace(check, conditions=[condition]).judge(answer)
        # A part alone would say that its condition does not hold; the whole check says how many do not, as in the notebook.
        return whole if alone.status is Status.FAILED else alone

    return [
        (condition.sentence, share, part(condition))
        for condition, share in zip(check.conditions, exercise.shares, strict=True)
    ]


class RecordedFunction:
    """A student's function by its results in the sandbox, which calls return one after the other whatever the
    arguments.
    """

    def __init__(self, calls: Sequence[Any]) -> None:
        """Take the untrusted results of the function's calls in the sandbox in order, each with "value" (encoded by
        `plain`) or "error" (a text).
        """
        self.calls = [call if isinstance(call, dict) else {} for call in calls]
        self._next = 0

    def __call__(self, **_case: Any) -> Any:
        """Return the value of the next recorded call, whatever the arguments. Raises NetlabError with the student's
        error if that call failed, IndexError after the last.
        """
        call, self._next = self.calls[self._next], self._next + 1
        if "value" not in call:
            raise NetlabError(str(call.get("error", "it gave no value")))
        return plain.decode(call["value"])


def parts_of(exercise: Exercise, check: Check) -> list[tuple[str, float]]:
    """Return label and points (pairs) of each part into which an exercise's points are divided, in order: "trials" and
    "edges" of a function whose edges have points, the conditions of something built whose points are shared, else a
    single part with the label "".
    """
    if exercise.judge is None and isinstance(check, Function) and exercise.edge_points and exercise.edges:
        return [("trials", exercise.points - exercise.edge_points), ("edges", exercise.edge_points)]
    if exercise.judge is None and isinstance(check, Build) and exercise.shares:
        return [(condition.sentence, share) for condition, share in zip(check.conditions, exercise.shares, strict=True)]
    return [("", exercise.points)]


def expected_text(check: Check) -> str:
    """Return the right answer of a check as text: a number with its unit, or the letter of a choice; "" for any other
    check.
    """
    if isinstance(check, Number):
        return with_unit(right_number(check), check.unit)
    return check.answer if isinstance(check, ChoiceCheck) else ""


def format_answer(answer: Any, check: Check) -> str:
    """Return the value of an answer as text: a number with the unit of its check, "a function" for a recorded one, "a
    table of ... rows", these for each value of a list with tables, and any other value as Python writes it, without
    addresses in memory and cut to 80 characters.
    """
    if isinstance(answer, bool) or not isinstance(answer, (int, float)):
        if isinstance(answer, RecordedFunction):
            return "a function"
        if isinstance(answer, pd.DataFrame):
            return f"a table of {len(answer)} rows"
        if isinstance(answer, list) and any(isinstance(value, pd.DataFrame) for value in answer):
            return ", ".join(format_answer(value, check) for value in answer[:MAX_SHOWN_VALUES])
        return ADDRESS.sub("", repr(answer))[:80]
    return with_unit(float(answer), check.unit) if isinstance(check, Number) and math.isfinite(answer) else repr(answer)
