"""Known wrong answers to an exercise, each with a message of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any


@dataclass(frozen=True)
class Misconception:
    """A known wrong answer (a number or a formula) with its own message."""

    answer: float | Callable[..., float]
    """The wrong number; for a `Function` check the wrong formula, called like the right one."""
    sentence: str
    """The message: the mistake, and the place to look."""
    may_be_near: bool = False
    """True if students may have numbers with which the wrong one is near the right one, or within its tolerance, where it
    passes; of other mistakes no copy has such numbers.
    """

    def number(self, **case: Any) -> float:
        """Return the wrong number, in the check's unit; a wrong formula is called with these arguments of a trial."""
        return float(self.answer(**case)) if callable(self.answer) else float(self.answer)


def slips(*pairs: Any) -> list[Misconception]:
    """Return misconceptions from alternating wrong answers (numbers, or functions of the check's keyword arguments) and
    messages. Raises ValueError when the last message is missing.
    """
    return [Misconception(answer, sentence) for answer, sentence in zip(pairs[::2], pairs[1::2], strict=True)]


def formula_slips(*pairs: Any) -> list[Misconception]:
    """Return misconceptions from alternating wrong formulas and messages; a formula takes one object with the check's
    arguments as attributes (`lambda q: q.rate_mbps * 2`). Raises ValueError when the last message is missing.
    """

    def spread(formula: Callable[[Any], float]) -> Callable[..., float]:
        """Return a function of keyword arguments that calls `formula` with one object that has them as attributes."""
        return lambda **case: formula(SimpleNamespace(**case))

    return [Misconception(spread(formula), sentence) for formula, sentence in zip(pairs[::2], pairs[1::2], strict=True)]
