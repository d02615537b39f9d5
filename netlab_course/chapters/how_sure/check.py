"""Checks of the chapter "How sure are you?". The answers are below."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from netlab import theory
from netlab.runs.replications import Interval, interval
from netlab_course import replays
from netlab_course.answers import answer_in_words
from netlab_course.chapters.how_sure.settings import BUDGET_RUNS, QUEUES, candidate
from netlab_course.checks import Number, Result, Status
from netlab_course.conditions import Build, Condition
from netlab_course.function_checks import Function
from netlab_course.misconceptions import Misconception, slips
from netlab_course.own_numbers import StudentValues
from netlab_course.repeated_tables import as_repeated_table
from netlab_course.rounded_intervals import NEEDED_DIGITS, ROUNDED_TOO_FAR, is_rounded_too_far
from netlab_course.scenario_differences import repeats

_MEAN, _HALF_WIDTH = "mean", "half width"
_ROUNDING = 0.02
MIN_PAIRS = 5


class Checks:
    """The checks of the chapter "How sure are you?", each an attribute, for one student's numbers."""

    def __init__(self, own: StudentValues) -> None:
        """Make each check of the chapter an attribute, with the student's own numbers."""
        self.interval = _interval(own)
        self.runs = _runs(own)
        self.decision = _decision(own)


class Intervals(Function):
    """A check of a function that returns mean and half width, which are judged separately."""

    def mistakes(self) -> Iterator[tuple[object, str]]:
        """Yield each known mistake as a function of values that returns mean and half width, with its message."""
        for trap in self.misconceptions:

            def both(values: Sequence[float], trap: Misconception = trap) -> tuple[float, float]:
                """Return the mean and the half width of some values that the misconception `trap` gives."""
                assert callable(trap.answer)
                return trap.answer(values, _MEAN), trap.answer(values, _HALF_WIDTH)

            yield both, trap.sentence

    def arguments(self, case: Mapping[str, Any]) -> dict[str, Any]:
        """Return the argument, by name, of the student's function in a trial: a copy of the `values` of `case`, because
        a solution may sort them.
        """
        return {"values": list(case["values"])}

    def call(self, case: Mapping[str, Any]) -> str:
        """Return the values of a trial, the `values` of `case`, as text, such as "values=[4, 6, 11]"."""
        return super().words(self.arguments(case))

    def words(self, case: Mapping[str, Any]) -> str:
        """Return the values of a trial and the name of the number that it judges, the `of` of `case`, as text, such as
        "the mean of values=[4, 6, 11]".
        """
        return f"the {case['of']} of {self.call(case)}"

    def part(self, value: Any, case: Mapping[str, Any]) -> Any:
        """Return the number in the function's result `value` that the trial judges, mean or half width as the `of` of
        `case` says. Raises TypeError if `value` is not a pair.
        """
        try:
            mean, half = value
        except (TypeError, ValueError):
            raise TypeError(
                f"it should return two numbers, mean and half width, not {answer_in_words(value)}"
            ) from None
        return mean if case["of"] == _MEAN else half


def _mean_or_half_width(values: Sequence[float], of: str) -> float:
    """Return the mean (`of` is "mean") or the half width (any other `of`) of the 95 % interval of some values."""
    return interval(values)[0 if of == _MEAN else 1]


def _other_half(half: Any) -> Any:
    """Return a wrong function of values and `of` ("mean" or "half width"): the mean is right, and the half width is
    what the function `half` returns for the array of the values.
    """
    return lambda values, of: float(np.mean(values)) if of == _MEAN else float(half(np.asarray(values, dtype=float)))


def _interval(own: StudentValues) -> Intervals:
    """Return the check of the function that computes an interval; one trial has the values of a student's worked
    example.
    """
    return Intervals(
        name="interval",
        same_as=(interval,),
        reference=_mean_or_half_width,
        cases=[
            {"values": list(values), "of": of}
            for values in (own.worked, (2.5, 2.0, 3.5, 3.0, 1.0), (0.1, 0.3), tuple(range(12)))
            for of in (_MEAN, _HALF_WIDTH)
        ],
        unit="",
        tolerance=0.002,
        misconceptions=slips(
            _other_half(lambda x: np.std(x, ddof=1)),
            "This half width is the standard deviation: how far single runs scatter, not how sure their mean is.",
            _other_half(lambda x: np.std(x, ddof=1) / math.sqrt(len(x))),
            "This half width is the standard error. Student's factor is missing: with it the interval is one of 95 %.",
            _other_half(lambda x: theory.student_t(len(x)) * np.std(x) / math.sqrt(len(x))),
            "The standard deviation of a sample divides by one less than the number of values: ddof=1.",
            _other_half(lambda x: 1.96 * np.std(x, ddof=1) / math.sqrt(len(x))),
            "1.96 holds for very many values. For few of them Student's factor is larger.",
            _other_half(lambda x: theory.student_t(len(x)) * np.std(x, ddof=1) / len(x)),
            "This divides by the number of values. Divide by its square root.",
            _other_half(lambda x: theory.student_t(len(x)) * np.std(x, ddof=1)),
            "This half width does not shrink when there are more values: by what must it be divided?",
            _other_half(lambda x: theory.student_t(len(x)) * np.var(x, ddof=1) / math.sqrt(len(x))),
            "This takes the variance. Its root is the standard deviation.",
            _other_half(lambda x: theory.student_t(max(2, len(x) - 1)) * np.std(x, ddof=1) / math.sqrt(len(x))),
            "This is Student's factor for one value less. nl.theory.student_t takes the number of values as it is.",
            lambda values, of: _mean_or_half_width(values, _HALF_WIDTH if of == _MEAN else _MEAN),
            "The two numbers are the other way round: first the mean, then half of the width.",
            _other_half(lambda x: 2 * _mean_or_half_width(x, _HALF_WIDTH)),
            "This is the whole width, from one edge to the other. Asked for is half of it.",
            lambda values, of: (
                _mean_or_half_width(values, _MEAN)
                + (-1 if of == _MEAN else 1) * _mean_or_half_width(values, _HALF_WIDTH)
            ),
            "These are the two edges. Asked for are the mean and half of the width.",
            lambda values, of: float(np.median(values)) if of == _MEAN else _mean_or_half_width(values, _HALF_WIDTH),
            "This is the median. The interval is of the mean.",
        ),
        right="It is what nl.interval does.",
        hints=[
            "Three things: the mean, the standard deviation of the values, Student's factor for so many values.",
            "np.std divides by the number of values less ddof; nl.theory.student_t(len(values)) is the factor.",
            "The sum of r values has r times the variance of one. What is its standard deviation, and the mean's, which is the sum over r?",
        ],
    )


def _runs(own: StudentValues) -> Number:
    """Return the check of the number of runs that a wanted half width needs, both from a student's own numbers."""
    ratio = own.scatter_ms / own.wanted_ms
    return Number(
        name="number of runs",
        same_as=(theory.runs_needed,),
        expected=lambda: theory.runs_needed(own.scatter_ms, own.wanted_ms),
        unit="",
        whole=True,
        tolerance=1e-6,
        misconceptions=slips(
            lambda: math.ceil(ratio**2),
            "This makes the standard error so small. The interval is about twice as wide.",
            lambda: ratio**2,
            "This makes the standard error so small. The interval is about twice as wide.",
            lambda: math.ceil((1.96 * ratio) ** 2),
            "1.96 is the factor of very many values. Student's factor for so many runs is a little larger.",
            lambda: (1.96 * ratio) ** 2,
            "Runs are whole, and 1.96 is the factor of very many values: Student's is a little larger.",
            lambda: math.ceil((theory.student_t(12) * ratio) ** 2),
            "This takes Student's factor of the twelve trial runs. With all the runs it is smaller.",
            lambda: theory.runs_needed(own.scatter_ms, own.wanted_ms) + 12,
            "The twelve trial runs are among the runs that you need.",
            lambda: theory.runs_needed(own.scatter_ms, own.wanted_ms) - 12,
            "The twelve trial runs are among the runs that you need: give the number of all.",
            lambda: 2 * ratio,
            "With this many the half width is too large: it falls with the root of the number.",
            lambda: (4 * ratio) ** 2,
            "This makes the whole width so small. Asked for is half of it: how far the interval reaches to each side.",
        ),
        right="Half of the width needs four times the runs: certainty is expensive.",
        hints=[
            "Set the half width of the formula equal to the wanted one, and solve for the number of runs.",
            "For 20 runs and more Student's factor is about 2: then r is near (2 s / h)^2. Try that in the formula, then its neighbours.",
            "One run less must be too few: compute the half width for your r and for the number below it.",
        ],
    )


@dataclass(frozen=True)
class QueueChoice:
    """The choice of the best queue, with the measurements behind it."""

    tables: Mapping[str, pd.DataFrame]
    """The table of `netlab.repeat` for each queue."""
    interval: tuple[float, float]
    """Mean and half width of the difference of loss rates, second best queue minus best, seed by seed."""
    choice: str
    """The best queue."""

    # Pandas copies the scenario of a table at each operation, and all conditions ask for these two.
    @functools.cached_property
    def losses(self) -> dict[str, pd.Series[float]]:
        """The loss rates (0 to 1) of each queue, by its letter, as a series by seed."""
        return {queue: table.set_index("seed")["loss_rate"].astype(float) for queue, table in self.tables.items()}

    def runs_by_queue(self) -> dict[str, int]:
        """Return the number of runs of each queue, by its letter: the different seeds of its table, and those of the
        third queue, with which all three were compared, even if the later tables took the place of the first.
        """
        return {queue: len(set(table["seed"]) | self._first_seeds()) for queue, table in self.tables.items()}

    def runs(self) -> int:
        """Return the number of runs of all queues together."""
        return sum(self.runs_by_queue().values())

    def all_pairs(self) -> pd.Series[float]:
        """Return the loss rates of the second best queue minus those of the choice, by all seeds that both have; the
        name of the series is that queue. Raises ValueError if no other queue has two seeds in common with the choice.
        """
        return min(self._pairs, key=lambda pair: float(pair.mean()))

    def differences(self) -> pd.Series[float]:
        """Return the differences of `all_pairs` for fresh seeds alone, those that the third queue does not have.
        Raises ValueError as `all_pairs` does.
        """
        pairs = self.all_pairs()
        return pairs[~pairs.index.isin(self._first_seeds())]

    @functools.cached_property
    def _pairs(self) -> list[pd.Series[float]]:
        """The differences to each other queue that has two seeds or more in common with the choice."""
        pairs = [
            (self.losses[queue] - self.losses[self.choice]).dropna().rename(queue)
            for queue in QUEUES
            if queue != self.choice
        ]
        return [pair for pair in pairs if len(pair) > 1]

    def _first_seeds(self) -> set[int]:
        """Return the seeds of the queue that is neither the choice nor the next best; none if no next best is known."""
        compared = {self.choice, self.all_pairs().name} if self._pairs else set(QUEUES)
        return {int(seed) for queue in QUEUES if queue not in compared for seed in self.tables[queue]["seed"]}

    def right(self) -> Interval:
        """Return the interval of the differences between the second best queue and the choice, seed by seed: the right
        answer. Raises ValueError if fewer than two fresh seeds are in common.
        """
        fresh = self.differences()
        if len(fresh) < 2:
            raise ValueError("no interval of fewer than two differences")
        return interval(fresh)

    def unpaired_interval(self) -> Interval:
        """Return the interval of the difference between the second best queue and the choice that ignores the seeds and
        is wider, a known mistake: that of two independent samples (Welch).
        """
        return interval(self.losses[str(self.differences().name)], self.losses[self.choice])

    def combined_interval(self) -> tuple[float, float]:
        """Return the difference between the means of the second best queue and the choice, and the root of the sum of
        the squares of both half widths: a known mistake, as this is no 95 % interval.
        """
        mean, half = interval(self.losses[self.choice])
        other, its_half = interval(self.losses[str(self.differences().name)])
        return other - mean, math.hypot(half, its_half)


@dataclass(kw_only=True, repr=False)
class Decision(Build):
    """A comparison of three queues within a budget of runs, judged by the runs, the interval and the choice."""

    replay: replays.Replay = replays.run_again
    """Runs some seeds of a table again, to see that its numbers were measured."""

    def doubt_about_origin(self, answer: object) -> str:
        """Return a sentence on a table with gaps between its seeds, or with a loss rate that is another one when the seed is
        run again; "" if there is none. Which seeds in a row a student takes is a part of the exercise.
        """
        found = answer if isinstance(answer, QueueChoice) else _parse_decision(answer)
        if isinstance(found, str):
            return ""
        for queue, table in found.tables.items():
            gaps = replays.seeds_in_a_row_problem(table, f"the table of {queue}")
            if gaps:
                return gaps
            differing = replays.invented_value(table, lambda rows: rows.set_index("seed")["loss_rate"], self.replay)
            if differing is not None:
                seed, given, again = differing
                return f"seed {seed} of {queue} lost {given:.4g}, and {again:.4g} when it is run again: {replays.AS_MEASURED}"
        return ""

    def _judge(self, answer: object) -> Result:
        """Return the verdict on a list of three parts (tables, interval, letter), or on a `QueueChoice` that a grader
        made of it.
        """
        found = answer if isinstance(answer, QueueChoice) else _parse_decision(answer)
        return self._result(Status.FAILED, found) if isinstance(found, str) else super()._judge(found)


def _parse_decision(answer: object) -> QueueChoice | str:
    """Return a student's answer as a choice, or a message about its wrong form. It must be a list or tuple of the
    tables of `netlab.repeat` by queue, an interval (mean and half width), and the letter of a queue.
    """
    if not isinstance(answer, (list, tuple)) or len(answer) != 3:
        return f"expected a list of three (tables, interval, letter), got {answer_in_words(answer)}."
    tables, given, choice = answer
    expected = 'the first must be a dictionary with a table for "A", "B" and "C"'
    if not isinstance(tables, Mapping):
        return f"{expected}, got {answer_in_words(tables)}."
    if set(tables) != set(QUEUES):
        missing = [f'"{queue}" is missing' for queue in QUEUES if queue not in tables]
        others = [f"{answer_in_words(key)} is none of them" for key in tables if key not in QUEUES]
        return f"{expected}: {', '.join(missing + others)}."
    whole = {}
    for queue, part in tables.items():
        table = as_repeated_table(part, f"the table of {queue}")
        if isinstance(table, str):
            return table
        if "loss_rate" not in table:
            return f"the table of {queue} must have its column loss_rate."
        whole[queue] = table
    try:
        mean, half = (float(number) for number in given)
    except (TypeError, ValueError):
        return f"the second must be what nl.interval(...) returns, mean and half width, got {answer_in_words(given)}."
    letter = choice.strip().upper() if isinstance(choice, str) else ""
    if letter not in QUEUES:
        return f"the third must be one of {', '.join(map(repr, QUEUES))}, got {answer_in_words(choice)}."
    return QueueChoice(whole, (mean, half), letter)


def _mismatched_queues(tables: Mapping[str, pd.DataFrame], own: StudentValues) -> list[str]:
    """Return the letters of the queues whose tables belong to another scenario or duration than `candidate` returns for
    the student's numbers; longer runs would circumvent the budget.
    """

    def matches_queue(queue: str) -> bool:
        """Return whether the table of a queue, given by its letter, belongs to the queue's scenario and has its
        duration.
        """
        scenario, table = candidate(own, queue), tables[queue]
        return repeats(table, scenario) and bool(table.attrs["scenario"]["duration_s"] == scenario.duration_s)

    return [queue for queue in QUEUES if not matches_queue(queue)]


def _agrees(given: tuple[float, float], right: tuple[float, float]) -> bool:
    """Return whether an interval equals the right one, both as mean and half width, apart from rounding."""
    margin = _ROUNDING * (abs(right[0]) + right[1])
    return all(abs(number - exact) <= margin for number, exact in zip(given, right, strict=True))


def _slip(found: QueueChoice) -> str:
    """Return the interval of a student's choice as text, with the message about a known mistake if it is one."""
    mean, half = found.interval
    got = f"{mean:.4g} ± {half:.2g}"
    right_mean, right_half = found.right()
    losses = found.losses
    slips: list[tuple[tuple[float, float], str]] = [
        ((-right_mean, right_half), "the other way round: subtract the loss rate of your choice"),
        (
            found.unpaired_interval(),
            "the interval of two independent samples; subtract seed by seed, then take the interval",
        ),
        (
            interval(found.all_pairs()),
            "the interval of all seeds; leave out those of the third queue, by which you chose the two",
        ),
        (found.combined_interval(), "the two half widths put together: subtract seed by seed, then take the interval"),
        ((100 * right_mean, 100 * right_half), "in per cent; loss rates are fractions here"),
        (
            (right_mean - right_half, right_mean + right_half),
            "the two edges; give the mean and half of the width",
        ),
    ]
    for queue in QUEUES:
        if queue != found.choice:
            pairs = (losses[queue] - losses[found.choice]).dropna()
            if len(pairs) > 1:
                slips.append((interval(pairs), f"the difference to {queue}, which is not the next best"))
    for queue in QUEUES:
        alone = interval(losses[queue])
        slips.append(
            ((alone.mean, alone.half_width), f"the interval of the loss rates of {queue}, not of a difference")
        )
    if is_rounded_too_far(found.interval, found.right()):
        return f"{got}; {ROUNDED_TOO_FAR}"
    return next((f"{got}; this is {words}" for slip, words in slips if _agrees((mean, half), slip)), got)


def _better_queue_in_words(found: QueueChoice) -> str:
    """Return by how much another queue loses less than a student's choice, as text: on average of the differences, or,
    without enough of them, of the tables. Raises ValueError if none does.
    """
    try:
        lead = found.right().mean
    except ValueError:
        means = {queue: float(losses.mean()) for queue, losses in found.losses.items()}
        lead = min(means[queue] for queue in QUEUES if queue != found.choice) - means[found.choice]
    if lead > 0:
        raise ValueError("no other queue loses less")
    return f"{found.choice!r}; another queue loses {-lead:.2g} less on average"


def _interval_in_words(found: QueueChoice) -> str:
    """Return the interval of a student's choice as text, and whether it holds 0 or lies below."""
    difference = found.right()
    below = "it lies below 0, so by your own tables another queue loses less"
    return f"{difference:.4g}; {'it holds 0' if difference.mean + difference.half_width >= 0 else below}"


def _decision(own: StudentValues) -> Decision:
    """Return the check of the choice of the best queue within a budget of runs, for the queues of a student's copy."""
    return Decision(
        name="the best of three queues",
        kind=QueueChoice,
        conditions=[
            Condition(
                lambda found: not _mismatched_queues(found.tables, own),
                "Each table must be of the queue whose letter it has.",
                'nl.repeat(candidate("A"), seeds=...) makes that of A.',
                lambda found: ", ".join(
                    f"{queue} is another scenario" for queue in _mismatched_queues(found.tables, own)
                ),
            ),
            Condition(
                lambda found: found.runs() <= BUDGET_RUNS and all(len(each) > 1 for each in found.losses.values()),
                f"All tables together may have {BUDGET_RUNS} runs, and each must have two or more.",
                "Where is another run worth most?",
                lambda found: (
                    f"{found.runs()} runs ({', '.join(f'{queue}: {number}' for queue, number in found.runs_by_queue().items())})"
                ),
            ),
            Condition(
                lambda found: len(found.differences()) >= MIN_PAIRS,
                f"Your choice and the next best must have {MIN_PAIRS} fresh seeds in common, or more: seeds that the third queue "
                "does not have.",
                "seeds=8 means the seeds 1 to 8; range(3, 9) means 3 to 8. Runs that chose a queue flatter it.",
                lambda found: f"{len(found.differences())} fresh seeds in common with {found.differences().name}",
            ),
            Condition(
                lambda found: _agrees(found.interval, found.right()),
                "The interval must be of the differences: the next best queue's loss rate minus that of your choice, by fresh seeds.",
                lambda found: (
                    NEEDED_DIGITS
                    if is_rounded_too_far(found.interval, found.right())
                    else "Put the loss rates side by side by seed, subtract, then nl.interval(...)."
                ),
                _slip,
            ),
            Condition(
                lambda found: found.right().mean > 0,
                "The queue of your choice must lose less than both others in your runs.",
                "Compare the means of the seeds that the tables have in common.",
                _better_queue_in_words,
            ),
            Condition(
                lambda found: found.right().mean > found.right().half_width,
                "The interval must lie above 0: else the difference may as well be nothing.",
                f"If it holds 0, give all that is left of the {BUDGET_RUNS} runs to the two queues that are close, as the next seeds in a "
                "row of both; if nothing is left, plan fewer runs of the third.",
                _interval_in_words,
            ),
        ],
        right="How many of your runs would have decided it? Try fewer, and other seeds: a sure verdict must survive that.",
        hints=[
            "Two runs of each show which queue is out. Spend the rest on the two that are close, with the same fresh seeds for both.",
            'my_tables["A"].set_index("seed")["loss_rate"] are the loss rates of A by seed: two of these can be subtracted.',
            "Subtract the best from the next best: seeds that only one of them has give no number (dropna). Take the interval of the rest.",
        ],
    )
