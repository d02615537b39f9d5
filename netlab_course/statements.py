"""Statements on the mean of a repeated measurement, each with a number that only one student's copy has.

Theory alone gives the same verdict in every copy, so a verdict could be copied. The number of a statement lies on either
side of the mean, or so near it that the interval holds it, and a student's own numbers decide where.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from netlab.base.errors import NetlabError
from netlab_course.answers import with_unit
from netlab_course.own_numbers import StudentValues
from netlab_course.refutations import refutation_problem

SUPPORTED, UNDECIDED, REFUTED = "supported", "undecided", "refuted"
STATEMENT_VERDICTS = (SUPPORTED, UNDECIDED, REFUTED)


def stated_number(own: StudentValues, mean: float, factors: Sequence[float], undecided: Sequence[float] = ()) -> float:
    """Return the number of a student's statement: the expected `mean` times one of `factors` or `undecided`, which the
    copy's `own` numbers choose, rounded to three significant digits. Raises NetlabError unless as many factors are
    below 1 as above it.

    The number is the same whenever the copy is opened. With more factors on one side of 1, one verdict would be more
    frequent.

    Parameters
    ----------
    own : StudentValues
        The drawn numbers of the copy.
    mean : float
        The mean that is expected, in the unit of the measured values.
    factors : sequence of float
        Factors whose distance from 1 is at least two half widths of the interval of eight seeds, relative to the mean.
    undecided : sequence of float
        Factors so near the measured mean that an interval of as many seeds as allowed holds the number.

    Examples
    --------
    >>> stated_number(StudentValues({"rate_mbps": 5}), 20.0, (0.8, 1.25))
    25
    """
    below = sum(factor < 1 for factor in factors)
    if 1 in factors or not 0 < 2 * below == len(factors):
        raise NetlabError(f"A statement needs as many factors below 1 as above it, got {tuple(factors)}.")
    digest = hashlib.sha256(f"statement\n{own!r}".encode()).digest()
    all_factors = (*factors, *undecided)
    number = float(f"{mean * all_factors[int.from_bytes(digest[:8], 'big') % len(all_factors)]:.3g}")
    return int(number) if number.is_integer() else number


@dataclass(frozen=True)
class Statement:
    """A statement that the mean of the measured values is above a number, or below it."""

    number: float
    """The number, in the unit of the values."""
    above: bool = True
    """True: the mean is said to be above the number. False: below it."""
    is_close: bool = False
    """True if the number is so near the mean that most intervals hold it."""

    def in_words(self, unit: str) -> str:
        """Return the statement as text, such as "more than 25 ms"; `unit` is the unit of the values."""
        return f"{'more' if self.above else 'less'} than {with_unit(self.number, unit)}"

    def refutation_problem(self, condition: str, unit: str) -> str:
        """Return what is wrong with a student's condition on an interval that refutes the statement, such as "high < 25",
        as a part of a sentence; "" if nothing is. `unit` is the unit of the values.
        """
        return refutation_problem(condition, self.number, above=self.above, unit=unit)

    def allows_doubt(self, verdict: str, mean: float, half: float) -> bool:
        """Return whether a verdict is "undecided", and right for most seeds: the number is close to the mean, and at most
        two half widths from that of these seeds. A grader's seeds are others than the student's, and one interval in
        twenty does not hold a number that is the true mean.
        """
        return self.is_close and verdict == UNDECIDED and abs(self.number - mean) <= 2 * half

    def verdicts(self, places: Collection[str]) -> set[str]:
        """Return the correct words of `STATEMENT_VERDICTS` (supported, undecided, refuted), one for each word in
        `places`, which tells where the statement's number lies, seen from the measured interval: "above", "inside" or
        "below".
        """
        lower, higher = (SUPPORTED, REFUTED) if self.above else (REFUTED, SUPPORTED)
        words = {"below": lower, "inside": UNDECIDED, "above": higher}
        return {words[place] for place in places}
