"""Rules for the values of fields; each rule describes in a sentence why a value breaks it."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from netlab.base.arguments import quote_flag, quote_number
from netlab.base.errors import one_of
from netlab.base.values import is_integer, is_number

MAX_COUNT = 2**63 - 1
"""The largest number of bytes or packets that can be asked of a kernel."""


@dataclass(frozen=True)
class Flag:
    """A rule for a field: its value must be True or False."""

    def problem(self, name: str, value: object) -> str | None:
        """Return the message about a `value` of the field `name` that is not True or False; None if it is."""
        return None if isinstance(value, bool) else f"{name} must be True or False, {quote_flag(name, value)}"


@dataclass(frozen=True)
class Choice:
    """A rule for a field: its value must be one of `words`."""

    words: Sequence[str]

    def problem(self, name: str, value: object) -> str | None:
        """Return the message about a `value` of the field `name` that is none of `words`; None if it is one."""
        return None if value in self.words else f"{name}: {one_of(value, self.words)}"


@dataclass(frozen=True)
class Range:
    """A rule for a field: its value must be a number from `low` to `high`; a whole one if `whole`, not `low` itself if
    `above`, or None if `optional`.

    >>> Range(0.001, 60).problem("target_ms", 61), Range(0, above=True).problem("duration_s", 0)
    ('target_ms must be a number from 0.001 to 60, got 61', 'duration_s must be a number above 0, got 0')
    """

    low: float
    high: float = math.inf
    whole: bool = False
    above: bool = False
    optional: bool = False

    def problem(self, name: str, value: object) -> str | None:
        """Return the message about a `value` of the field `name` outside the allowed range; None if it fits."""
        if value is None and self.optional:
            return None
        fits = is_integer(value) if self.whole else is_number(value)
        too_large = isinstance(value, (int, float)) and value > self.high
        if fits and not too_large and (value > self.low or (value == self.low and not self.above)):  # type: ignore[operator]
            return None
        allowed = f"from {_digits(self.low)} to {_digits(self.high)}"
        if self.high >= MAX_COUNT and not (too_large and isinstance(value, int)):
            allowed = f"{'above' if self.above else 'of at least'} {_digits(self.low)}"
        return f"{name} must be a {'whole ' * self.whole}number {allowed}, {quote_number(name, value)}"


@dataclass(frozen=True)
class Ranges:
    """A rule for a field: its value must be a list of 1 to `most` numbers that each fit the rule `each`.

    >>> Ranges(Range(1, 9, whole=True), 2).problem("quanta_bytes", [5, 10])
    'quanta_bytes[1] must be a whole number from 1 to 9, got 10'
    """

    each: Range
    most: int

    def problem(self, name: str, value: object) -> str | None:
        """Return the message about a list `value` of a wrong length or its first wrong number; None if all fit."""
        if not isinstance(value, (list, tuple)) or not 1 <= len(value) <= self.most:
            return f"{name} must be a list of 1 to {self.most} numbers, {quote_number(name, value)}"
        problems = (self.each.problem(f"{name}[{place}]", one) for place, one in enumerate(value))
        return next((problem for problem in problems if problem is not None), None)


Rule = Flag | Choice | Range | Ranges
"""A rule for the value of a field: `problem` describes why a value breaks the rule, or returns None."""


def violations(rules: Mapping[str, Rule], item: object) -> Iterator[str]:
    """Yield a message for each attribute of an object that breaks its rule in `rules`; a missing one counts as None."""
    for name, rule in rules.items():
        problem = rule.problem(name, getattr(item, name, None))
        if problem is not None:
            yield problem


def _digits(number: float) -> str:
    """Return a number for a message in decimal digits, without an exponent and trailing zeros."""
    return str(number) if isinstance(number, int) else f"{number:f}".rstrip("0").rstrip(".")
