"""Counting of different wrong answers, which shows whether the right one may have been found by trial."""

from collections.abc import Callable
from dataclasses import dataclass

WRONG_TRIES = "netlab_wrong_tries"
"""The key of the number of wrong tries in the metadata of a check's output, where a grader reads it."""
TRIES_BY_HALVES = 4
"""The number of wrong numbers that a search by halves needs."""
MAX_TRY_CHARACTERS = 40


@dataclass(frozen=True)
class TryCounter:
    """The counter of wrong answers of a chapter."""

    record: Callable[[str, str], int]
    """Called with the key of a check and a wrong answer; returns the number of different ones so far."""
    read: Callable[[str], int]
    """Called with the key of a check; returns the number of different wrong answers so far."""


def tries_in_words(number: int, noun: str) -> tuple[str, ...]:
    """Return a tuple with the sentence about a number of wrong tries, which the plural `noun` names, such as "letters";
    an empty one for none or one.
    """
    return (f"Wrong {noun} so far: {number}.",) if number > 1 else ()
