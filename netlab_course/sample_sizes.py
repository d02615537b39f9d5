"""Checks of a planned number of runs: a pilot's scatter tells how many runs a wanted half width needs.

The answer is a list of five: the table of a pilot, the planned number, the table of that many runs, its interval, and a
word on whether the plan was reached. The number must follow from the student's own pilot, so it differs between copies.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar

import pandas as pd

from netlab.runs.replications import Interval, interval
from netlab.runs.scenario import Scenario
from netlab.theory import runs_needed, student_t
from netlab_course import replays
from netlab_course.answers import answer_in_words, as_number, bare_word, with_unit
from netlab_course.checks import Result, Status
from netlab_course.conditions import Condition
from netlab_course.interval_slips import Slip, statistical_slips
from netlab_course.measured_tables import PILOT, MeasuredTables, Values
from netlab_course.repeated_tables import as_repeated_tables, count_seeds, differences_in_words, is_complete
from netlab_course.rounded_intervals import NEEDED_DIGITS, ROUNDED_TOO_FAR, agrees, is_rounded_too_far

PILOTS = 6
"""The number of runs of a pilot."""
MAX_RUNS = 16
"""The largest number of runs after the pilot; a plan for more is measured with this number."""
WORDS = REACHED, MISSED = ("reached", "missed")
PARTS = (PILOT, "my_planned", "my_table", "my_interval", f'a word, "{REACHED}" or "{MISSED}"')
"""The names of the parts of an answer in their order."""
MAX_NAMED = 2
"""Mistakes that are named for one number."""
_WORD_OFF = 0.01


@dataclass(frozen=True)
class PlannedSample:
    """A student's planned sample: the pilot, the planned number of runs, and these runs with their interval."""

    pilot: pd.DataFrame
    """The table of `netlab.repeat` of the pilot."""
    planned: float
    """The planned number of runs."""
    table: pd.DataFrame
    """The table of `netlab.repeat` of the planned runs."""
    interval: tuple[float, float]
    """Mean and half width of the planned runs."""
    verdict: str
    """One of `WORDS`: whether the interval is as narrow as planned."""


@dataclass(kw_only=True, repr=False)
class SampleSize(MeasuredTables):
    """A check of the number of runs that a wanted half width needs, planned from a pilot and then measured."""

    kind: type = PlannedSample
    scenario: Callable[[], Scenario]
    """Returns the scenario that must be repeated; a longer duration is accepted."""
    made_by: str
    """The code with which the student makes it."""
    values: Callable[[pd.DataFrame], pd.Series[float]]
    """Returns the values whose mean is asked for, one for each seed, from a table."""
    half_width: float
    """The wanted half width, in `unit`."""
    unit: str
    """The unit of the values."""
    expected: Callable[[pd.DataFrame], float]
    """Returns the theoretical value for a table, in `unit`, for the message about a right answer."""
    _guesses: ClassVar[str] = "words"

    def _usual_conditions(self) -> list[Condition]:
        """Return the conditions on the scenario, the seeds, the plan, the interval and the word, in this order."""
        wanted = with_unit(self.half_width, self.unit)
        of_values = self._interval_condition()
        return [
            Condition(
                lambda found: not self._differences_in_words(found),
                "Both tables must repeat what the exercise describes.",
                f"{self.made_by} makes it; nl.repeat(...) takes it as it is.",
                self._differences_in_words,
            ),
            Condition(
                lambda found: (
                    count_seeds(found.pilot) == PILOTS
                    and count_seeds(found.table) == min(found.planned, MAX_RUNS)
                    and is_complete(found.pilot)
                    and is_complete(found.table)
                ),
                f"my_pilot must have {PILOTS} different seeds, my_table my_planned of them, but at most {MAX_RUNS}, and no run "
                "may have failed.",
                f"min(my_planned, {MAX_RUNS}) is a number that nl.repeat(..., seeds=...) takes.",
                lambda found: (
                    f"{count_seeds(found.pilot)} and {count_seeds(found.table)} seeds, my_planned = {found.planned:g}"
                ),
            ),
            Condition(
                lambda found: found.planned == runs_needed(float(self.values(found.pilot).std()), self.half_width),
                f"my_planned must be the number of runs with which the pilot's scatter gives a half width of {wanted}.",
                "Which number makes t s / sqrt(n) just small enough? Try it in the formula, and the next smaller one.",
                self._plan_in_words,
            ),
            of_values,
            Condition(
                lambda found: found.verdict in self._right_words(found),
                f"The word must say whether the half width of my_table's interval is at most {wanted}.",
                f"{REACHED!r}: it is. {MISSED!r}: it is larger.",
                lambda found: f"{found.verdict!r}, and {Interval(*found.interval):.4g}",
                after=(of_values,),
            ),
        ]

    def _interval_condition(self) -> Condition:
        """Return the condition that the interval is that of the planned runs."""
        return Condition(
            lambda found: agrees(found.interval, interval(self.values(found.table))),
            "my_interval must be that of my_table's values, one for each seed.",
            lambda found: (
                NEEDED_DIGITS
                if is_rounded_too_far(found.interval, interval(self.values(found.table)))
                else "Compute the value of each seed as for the pilot; nl.interval(...) takes the values."
            ),
            self._interval_in_words,
        )

    @property
    def many_tries(self) -> int:
        """The number of different wrong words from which the right one may have been found by trial: 1 of two."""
        return len(WORDS) - 1

    def _judge(self, answer: object) -> Result:
        """Return the verdict on a list of five parts; the message about a right answer also says where the theoretical
        value lies.
        """
        found = _parse(answer)
        if isinstance(found, str):
            return self._result(Status.FAILED, found)
        result = super()._judge(found)
        if result.status is not Status.PASSED:
            return result
        mean, half = interval(self.values(found.table))
        off = self.expected(found.table) - mean
        place = "inside" if abs(off) <= half else "above" if off > 0 else "below"
        return self._result(
            result.status, result.sentences[0], f"Theory lies {place} your interval.", *result.sentences[1:]
        )

    def _tables(self, answer: object) -> dict[str, pd.DataFrame]:
        """Return the two tables in an answer by their names; none if the answer has a wrong form."""
        found = _parse(answer)
        return {} if isinstance(found, str) else {PILOT: found.pilot, "my_table": found.table}

    def _replayed_values(self) -> tuple[str, tuple[Values, ...]]:
        """Return the unit of the values that are compared when runs are made again, and their functions."""
        return self.unit, (self.values,)

    def doubt_about_origin(self, answer: object) -> str:
        """Return a sentence on seeds of the pilot or of the planned runs that may be chosen, or on values that are others
        when some of the seeds are run again; "" if there is none.
        """
        table = self._tables(answer).get("my_table")
        gaps = "" if table is None else replays.seeds_in_a_row_problem(table, "my_table")
        return gaps or super().doubt_about_origin(answer)

    def _wrong_guess(self, answer: object) -> str:
        """Return the word in a failed answer if it is wrong; "" if it is right, is not judged yet (a wrong interval, or a
        table of one seed), or the answer has a wrong form.
        """
        found = _parse(answer)
        return "" if isinstance(found, str) or not self.conditions[-1].is_refuted_by(found) else found.verdict

    def _differences_in_words(self, found: PlannedSample) -> str:
        """Return a text on the differences of the two tables' scenarios from the one asked for; "" if there are none."""
        scenario = self.scenario()
        return differences_in_words({PILOT: (found.pilot, scenario), "my_table": (found.table, scenario)})

    def _plan_in_words(self, found: PlannedSample) -> str:
        """Return a student's planned number as text, with the message about a known mistake if it is one."""
        values = self.values(found.pilot)
        return plan_in_words(found.planned, plan_slips(float(values.std()), len(values), self.half_width))

    def _interval_in_words(self, found: PlannedSample) -> str:
        """Return a student's interval as text, with the message about a known mistake if it is one."""
        mean, half = found.interval
        got = f"{mean:.4g} ± {half:.2g}"
        known = [
            (abs(wrong[0] - mean) + abs(wrong[1] - half), slip)
            for wrong, slip in self._interval_slips(found)
            if agrees((mean, half), wrong)
        ]
        # Two mistakes may agree with a rounded interval; the nearer one is named.
        if known:
            return f"{got}; {min(known)[1]}"
        too_far = is_rounded_too_far(found.interval, interval(self.values(found.table)))
        return f"{got}; {ROUNDED_TOO_FAR}" if too_far else got

    def _interval_slips(self, found: PlannedSample) -> Iterator[Slip]:
        """Yield the wrong intervals that known mistakes give for a student's tables, each with its message."""
        values = self.values(found.table)
        mean, half = interval(values)
        yield interval(self.values(found.pilot)), "this is the interval of the pilot"
        yield from statistical_slips(values)
        yield (mean / 100, half / 100), f"this is a fraction; {self.unit} is asked for"

    def _right_words(self, found: PlannedSample) -> set[str]:
        """Return the right words for the runs of a student's plan; both if the half width is the wanted one apart from
        rounding.
        """
        half = interval(self.values(found.table)).half_width
        off = _WORD_OFF * self.half_width
        places = ((REACHED, half <= self.half_width + off), (MISSED, half > self.half_width - off))
        return {word for word, right in places if right}


def plan_slips(scatter: float, pilots: int, half_width: float) -> Iterator[tuple[float, str]]:
    """Yield the wrong numbers of runs (not rounded) that known mistakes give for the scatter of so many pilots, each
    with its message; `half_width` is the wanted one.
    """
    factor, ratio = student_t(pilots), scatter / half_width
    yield (1.96 * ratio) ** 2, "1.96 is the factor of very many values; for so few runs Student's t is larger"
    yield factor * ratio, "the half width falls with the root of n: is a square missing?"
    yield ratio**2, "Student's t is missing, which makes 95 % of the standard error"
    yield (factor * ratio) ** 2 / pilots, "the pilot's s is the scatter of single runs, not that of their mean"
    whole = "half of the interval's width is asked for, not the whole"
    yield from (((2 * factor * ratio) ** 2, whole), (runs_needed(scatter, half_width / 2), whole))
    yield (
        max(0, runs_needed(scatter, half_width) - pilots),
        "the runs of the pilot are not subtracted from those of the plan",
    )
    yield (
        (factor * ratio) ** 2,
        f"this is with Student's t of the {pilots} runs of the pilot; take that of all the runs",
    )
    small = scatter * ((pilots - 1) / pilots) ** 0.5
    yield runs_needed(small, half_width), "the standard deviation of a sample has ddof=1, as in chapter 2"
    yield runs_needed(scatter, half_width) - 1, "with so many the half width is still a little larger: round up"
    yield runs_needed(scatter, half_width) + 1, "one run less has that half width, too"


def plan_in_words(planned: float, slips: Iterable[tuple[float, str]]) -> str:
    """Return a planned number of runs as text, with the message about a known mistake if it is one of `slips` (numbers
    that need not be whole, with messages); the numbers are so small that two mistakes may give the same: the first two are
    named then.
    """
    if planned != int(planned):
        return f"{planned:.4g}; runs are counted in whole numbers, so it is rounded up"
    told = f"{planned:g}"
    known = [*dict.fromkeys(slip for wrong, slip in slips if planned in {int(wrong), math.ceil(wrong)})][:MAX_NAMED]
    return f"{told}; {' Or: '.join(_as_sentences(known))}" if known else told


def _as_sentences(clauses: Iterable[str]) -> list[str]:
    """Return clauses with a full stop at their end, or the question mark that they have."""
    return [clause if clause.endswith("?") else f"{clause}." for clause in clauses]


def _parse(answer: object) -> PlannedSample | str:
    """Return a student's answer as a planned sample, or a message about its wrong form. It must be a list or tuple of a
    table, a number, a table, an interval (mean and half width), and a word.
    """
    if not isinstance(answer, (list, tuple)) or len(answer) != len(PARTS):
        return f"expected a list of five ({', '.join(PARTS)}), got {answer_in_words(answer)}."
    pilot, given_number, table, given, verdict = answer
    tables = as_repeated_tables({PILOT: pilot, "my_table": table})
    if isinstance(tables, str):
        return tables
    planned, complaint = as_number(given_number)
    if planned is None:
        return f"my_planned: {complaint}"
    try:
        mean, half = (float(number) for number in given)
    except (TypeError, ValueError):
        return f"my_interval must be what nl.interval(...) returns, mean and half width, got {answer_in_words(given)}."
    word = bare_word(verdict)
    if word not in WORDS:
        return f"the fifth must be one of {', '.join(map(repr, WORDS))}, got {answer_in_words(verdict)}."
    return PlannedSample(tables[0], planned, tables[1], (mean, half), word)
