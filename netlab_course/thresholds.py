"""Checks of a threshold: the largest whole number at which a statement on a mean still holds.

The student computes the number by a rule, searches for the measured one, and shows it by two tables of `netlab.repeat`:
one at this number, one at the next. The check judges the tables, so the student's own runs say on which side a wrong
number lies.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import pandas as pd

from netlab.runs.replications import Interval, interval
from netlab.runs.scenario import Scenario
from netlab_course.answers import answer_in_words, as_number, with_unit
from netlab_course.checks import Result, Status
from netlab_course.conditions import Condition
from netlab_course.measured_tables import MeasuredTables, Values
from netlab_course.repeated_tables import as_repeated_tables, count_seeds, differences_in_words, is_complete
from netlab_course.scenario_differences import repeats

MIN_SEEDS, MAX_SEEDS = 8, 25
MAX_NUMBER = 64
PARTS = ("my_rule", "my_most", "my_last", "my_beyond")
"""The names of the parts of an answer in their order."""


@dataclass(frozen=True)
class FoundThreshold:
    """A student's threshold: the number by the rule, the number found, and the tables at it and at the next number."""

    predicted: float
    """The number by the rule."""
    largest: int
    """The largest number at which the statement holds."""
    last: pd.DataFrame
    """The table of `netlab.repeat` at `largest`."""
    beyond: pd.DataFrame
    """The table of `netlab.repeat` at `largest` + 1."""


@dataclass(kw_only=True, repr=False)
class Threshold(MeasuredTables):
    """A check of the largest whole number at which a mean is at least a limit; the mean falls as the number grows."""

    kind: type = FoundThreshold
    scenario: Callable[[int], Scenario]
    """Returns the scenario for a number; a longer duration is accepted."""
    made_by: str
    """The code with which the student makes it, such as "beside_h2(my_most)"."""
    values: Callable[[pd.DataFrame], pd.Series[float]]
    """Returns the values whose mean must be at least `limit`, one for each seed, from a table."""
    quantity: str
    """The name of the mean, such as "h2's mean"."""
    limit: float
    """The smallest allowed mean, in `unit`."""
    unit: str
    """The unit of the values."""
    rule: Callable[[], int]
    """Returns the number by the rule, which may differ from the measured one."""
    rule_slips: Mapping[int, str] = field(default_factory=dict)
    """Messages about wrong numbers by the rule, by the number; they continue a sentence."""
    _guesses: ClassVar[str] = "numbers by the rule"

    def _usual_conditions(self) -> list[Condition]:
        """Return the conditions on the rule's number, both scenarios, the seeds, both means and both intervals, in this
        order.
        """
        limit = with_unit(self.limit, self.unit)
        return [
            Condition(
                lambda found: found.predicted == self.rule(),
                "my_rule must be the largest number that the rule allows.",
                f"At which number is the rule's value exactly {limit}? That number is rounded down.",
                self._rule_in_words,
            ),
            Condition(
                lambda found: not self._differences_in_words(found),
                "my_last must repeat the scenario of my_most, my_beyond that of one more.",
                f"nl.repeat({self.made_by}, seeds=...) makes the first.",
                self._differences_in_words,
            ),
            Condition(
                lambda found: all(
                    MIN_SEEDS <= count_seeds(table) <= MAX_SEEDS and is_complete(table)
                    for table in (found.last, found.beyond)
                ),
                f"Each table must have {MIN_SEEDS} to {MAX_SEEDS} different seeds, and no run may have failed.",
                "nl.repeat(..., seeds=...) takes a number, or a list of seeds.",
                lambda found: f"{count_seeds(found.last)} and {count_seeds(found.beyond)} seeds",
            ),
            Condition(
                lambda found: self._interval(found.last).mean >= self.limit > self._interval(found.beyond).mean,
                f"{self.quantity} must be at least {limit} at my_most, and less at one more.",
                "Where does your search change from one side to the other?",
                self._means_in_words,
            ),
            Condition(
                lambda found: all(
                    abs(mean - self.limit) > half for mean, half in map(self._interval, (found.last, found.beyond))
                ),
                f"Neither interval may hold {limit}, or the next number may be as right.",
                "Which of the two is not decided yet, and what makes an interval narrower?",
                self._intervals_in_words,
            ),
        ]

    def _judge(self, answer: object) -> Result:
        """Return the verdict on a list of four parts; the message about a right answer also says whether the rule gives
        the same number.
        """
        found = _parse(answer)
        if isinstance(found, str):
            return self._result(Status.FAILED, found)
        result = super()._judge(found)
        if result.status is not Status.PASSED:
            return result
        same = found.predicted == found.largest
        compared = "The rule gives the same number." if same else f"The rule gives {found.predicted:g}."
        return self._result(result.status, result.sentences[0], compared, *result.sentences[1:])

    def _tables(self, answer: object) -> dict[str, pd.DataFrame]:
        """Return the two tables in an answer by their names; none if the answer has a wrong form."""
        found = _parse(answer)
        return {} if isinstance(found, str) else {"my_last": found.last, "my_beyond": found.beyond}

    def _replayed_values(self) -> tuple[str, tuple[Values, ...]]:
        """Return the unit of the values that are compared when runs are made again, and their functions."""
        return self.unit, (self.values,)

    def _compared_number(self) -> float:
        """Return the smallest allowed mean."""
        return self.limit

    def _wrong_guess(self, answer: object) -> str:
        """Return the number by the rule in a failed answer if it is wrong; "" if it is right or the answer has a wrong
        form.
        """
        found = _parse(answer)
        return "" if isinstance(found, str) or self.conditions[0].holds_for(found) else f"{found.predicted:g}"

    def _interval(self, table: pd.DataFrame) -> Interval:
        """Return the interval of the values in a table."""
        return interval(self.values(table))

    def _rule_in_words(self, found: FoundThreshold) -> str:
        """Return a student's number by the rule as text, with the message about a known mistake if it is one."""
        slip = self.rule_slips.get(int(found.predicted)) if found.predicted == int(found.predicted) else None
        if slip is None and found.predicted != int(found.predicted):
            slip = "a whole number is asked for"
        return f"{found.predicted:.4g}; {slip}" if slip else f"{found.predicted:.4g}"

    def _differences_in_words(self, found: FoundThreshold) -> str:
        """Return a text on the differences of the two tables' scenarios from those of the student's number and the next
        one; "" if there are none.
        """
        wanted = self.scenario(found.largest), self.scenario(found.largest + 1)
        if repeats(found.last, wanted[1]) and repeats(found.beyond, wanted[0]):
            return "the two tables are the other way round"
        return differences_in_words({"my_last": (found.last, wanted[0]), "my_beyond": (found.beyond, wanted[1])})

    def _means_in_words(self, found: FoundThreshold) -> str:
        """Return both means of a student's threshold as text, with the message about a known mistake if its number is
        one.
        """
        last, beyond = (self._interval(table).mean for table in (found.last, found.beyond))
        told = ", ".join(
            f"{with_unit(mean, self.unit, self.limit)} at {number}"
            for mean, number in ((last, found.largest), (beyond, found.largest + 1))
        )
        # Tables of other numbers say nothing about the side of this one.
        if found.largest == self.rule() and not self._differences_in_words(found):
            return f"{told}; this is the rule's number, and your runs are not on its side"
        return told

    def _intervals_in_words(self, found: FoundThreshold) -> str:
        """Return both intervals of a student's threshold as text."""
        return f"{self._interval(found.last):.4g} at {found.largest}, {self._interval(found.beyond):.4g} at {found.largest + 1}"


def _parse(answer: object) -> FoundThreshold | str:
    """Return a student's answer as a threshold, or a message about its wrong form. It must be a list or tuple of two
    numbers and two tables.
    """
    if not isinstance(answer, (list, tuple)) or len(answer) != len(PARTS):
        return f"expected a list of four ({', '.join(PARTS)}), got {answer_in_words(answer)}."
    numbers = []
    for given, name in zip(answer, PARTS[:2], strict=False):
        number, complaint = as_number(given)
        if number is None:
            return f"{name}: {complaint}"
        numbers.append(number)
    predicted, largest = numbers
    if not (largest == int(largest) and 1 <= largest < MAX_NUMBER):
        return f"my_most must be a whole number from 1 to {MAX_NUMBER - 1}, got {largest:g}."
    tables = as_repeated_tables(dict(zip(PARTS[2:], answer[2:], strict=True)))
    return tables if isinstance(tables, str) else FoundThreshold(predicted, int(largest), *tables)
