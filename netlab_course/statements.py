"""Statements on the mean of a repeated measurement, each with a number that only one student's copy has.

Theory alone gives the same verdict in every copy, so a verdict could be copied. The number of a statement lies on either
side of the mean, and a student's own numbers decide on which.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from netlab.base.errors import NetlabError
from netlab_course.answers import with_unit
from netlab_course.own_numbers import StudentValues

SUPPORTED, UNDECIDED, REFUTED = "supported", "undecided", "refuted"
STATEMENT_VERDICTS = (SUPPORTED, UNDECIDED, REFUTED)


def stated_number(own: StudentValues, mean: float, factors: Sequence[float]) -> float:
    """Return the number of a student's statement: the expected `mean` times one of `factors`, which the copy's `own`
    numbers choose, rounded to three significant digits. Raises NetlabError unless as many factors are below 1 as above
    it.

    The drawn numbers of the copy choose the factor, so the number is the same whenever the copy is opened. Raises
    NetlabError unless as many factors lie below 1 as above it: else one verdict would be more frequent.

    Parameters
    ----------
    own : StudentValues
        The drawn numbers of the copy.
    mean : float
        The mean that is expected, in the unit of the measured values.
    factors : sequence of float
        Factors whose distance from 1 is at least two half widths of the interval of eight seeds, relative to the mean.

    Examples
    --------
    >>> stated_number(StudentValues({"rate_mbps": 5}), 20.0, (0.8, 1.25))
    25
    """
    below = sum(factor < 1 for factor in factors)
    if 1 in factors or not 0 < 2 * below == len(factors):
        raise NetlabError(f"A statement needs as many factors below 1 as above it, got {tuple(factors)}.")
    digest = hashlib.sha256(f"statement\n{own!r}".encode()).digest()
    number = float(f"{mean * factors[int.from_bytes(digest[:8], 'big') % len(factors)]:.3g}")
    return int(number) if number.is_integer() else number


@dataclass(frozen=True)
class Statement:
    """A statement that the mean of the measured values is above a number, or below it."""

    number: float
    """The number, in the unit of the values."""
    above: bool = True
    """True: the mean is said to be above the number. False: below it."""

    def in_words(self, unit: str) -> str:
        """Return the statement as text, such as "more than 25 ms"; `unit` is the unit of the values."""
        return f"{'more' if self.above else 'less'} than {with_unit(self.number, unit)}"

    def verdicts(self, places: Collection[str]) -> set[str]:
        """Return the correct words of `STATEMENT_VERDICTS` (supported, undecided, refuted), one for each word in
        `places`, which tells where the statement's number lies, seen from the measured interval: "above", "inside" or
        "below".
        """
        lower, higher = (SUPPORTED, REFUTED) if self.above else (REFUTED, SUPPORTED)
        words = {"below": lower, "inside": UNDECIDED, "above": higher}
        return {words[place] for place in places}
