"""A wrong number: the slip that leads to it, or the side on which it lies."""

import math
from collections.abc import Iterable

# How far a slip must lie from the right answer, in tolerances, for a check to tell them apart.
_CLEAR = 3.0


# Factors between a wrong number and the right one, each with the sentence that names the slip. The order
# decides where two agree within the tolerance: the slip that students make more often comes first.
# A unit's factor is said as it is, for who has met it has done the exercise. A half or a double may be a guess: of those the
# sentence says no more than it does of any number near them, so that nobody doubles their way to an answer.
_SLIPS: tuple[tuple[float, str], ...] = (
    (1e6, "It is a million times too large{}"),
    (1e-6, "It is a million times too small{}"),
    (1e3, "It is a thousand times too large{}"),
    (1e-3, "It is a thousand times too small{}"),
    (8.0, "It is eight times too large: a byte has 8 bits; were bytes turned into bits once too often?"),
    (1 / 8, "It is eight times too small: a byte has 8 bits; are these bytes where bits are asked for?"),
    (100.0, "It is a hundred times too large: per cent where a fraction is meant, 2 % rather than 0.02?"),
    (0.01, "It is a hundred times too small: was a percentage divided by 100 twice?"),
    (
        2.0,
        "It is too large, by about a factor of two: one way and there and back again, or one flow and two, mixed up?",
    ),
    (
        0.5,
        "It is too small, by about a factor of two: one way and there and back again, or one flow and two, mixed up?",
    ),
    (2**20 / 1e6, "It is 4.9 % too large: 'mega' is 1,000,000 here, not 1024 * 1024."),
    (1e6 / 2**20, "It is 4.6 % too small: 'mega' is 1,000,000 here, not 1024 * 1024."),
    (-1.0, "The sign is the other way round."),
)


_OF_UNIT: dict[tuple[str, float], str] = {
    ("Mbit/s", 1e6): ": bits where megabits are meant?",
    ("Mbit/s", 1e-6): ": was a number already in megabits divided by a million?",
    ("Mbit/s", 1e3): ": kilobits for megabits?",
    ("Mbit/s", 1e-3): ": was a number already in megabits divided by 1000?",
    ("ms", 1e6): ": nanoseconds for milliseconds?",
    ("ms", 1e-6): ".",
    ("ms", 1e3): ": was a number already in milliseconds multiplied by 1000?",
    ("ms", 1e-3): ": seconds for milliseconds?",
    ("s", 1e6): ": microseconds for seconds?",
    ("s", 1e-6): ".",
    ("s", 1e3): ": milliseconds for seconds?",
    ("s", 1e-3): ": was a number already in seconds divided by 1000?",
    ("bytes", 1e6): ": were bytes multiplied by a million once too often?",
    ("bytes", 1e-6): ": megabytes for bytes?",
    ("bytes", 1e3): ": were bytes multiplied by 1000 once too often?",
    ("bytes", 1e-3): ": kilobytes for bytes?",
}
"""The end of the sentence on a factor of a thousand or a million, by the unit that the answer has."""
_OF_ANY_UNIT = {
    1e6: ": bits for megabits in what it is computed from?",
    1e-6: ": megabits for bits in what it is computed from?",
    1e3: ": kilobits for megabits, or milliseconds for seconds, in what it is computed from?",
    1e-3: ": megabits for kilobits, or seconds for milliseconds, in what it is computed from?",
}
_FAR_SLIPS = {factor for factor, _ in _SLIPS if factor < 0 or max(factor, 1 / factor) >= 8}


def close(number: float, expected: float, tolerance: float) -> bool:
    """Tell whether a number is right: within a relative tolerance, an absolute one where 0 is expected."""
    scale = abs(expected) if expected != 0 else 1.0
    return abs(number - expected) <= tolerance * scale * (1 + 1e-12)


def clear(wrong: float, expected: float, tolerance: float) -> bool:
    """Tell whether a wrong number lies well outside the tolerance around the right one."""
    return not close(wrong, expected, _CLEAR * tolerance)


def diagnose(
    number: float, expected: float, tolerance: float, misconceptions: Iterable[tuple[float, str]], unit: str = ""
) -> str:
    """Name the slip that leads from the right number to this one; say which way it is off if none does."""
    return named_slip(number, expected, tolerance, misconceptions, unit) or direction(number, expected)


def named_slip(
    number: float, expected: float, tolerance: float, misconceptions: Iterable[tuple[float, str]], unit: str = ""
) -> str:
    """Name the slip that leads from the right number to this one; nothing if none does."""
    # A slip must be matched more closely than the slips lie apart, or a sentence would be a guess.
    tight = min(tolerance, 0.01)
    # What was measured lies beside what the slip makes of theory: a wide tolerance says so.
    for wrong, sentence in misconceptions:
        if close(number, wrong, min(tolerance, 0.02)) and not close(wrong, expected, tolerance):
            return sentence
    if expected != 0:
        for factor, sentence in _SLIPS:
            # Far from 1 a slip is as sure in a rounded answer; near it, 1.0486 must not be found in 1514/1448.
            margin = min(tolerance, 0.05) if factor in _FAR_SLIPS else min(tight, 0.002)
            if abs(factor - 1) > 2 * tolerance and close(number, expected * factor, margin):
                return sentence.format(_OF_UNIT.get((unit, factor), _OF_ANY_UNIT.get(factor, "")))
        if 0 < expected < 1 and close(number, 1 - expected, tight):
            return "Is this the share that arrived, where the share lost is asked for, or the other way round?"
        if close(number, 1 / expected, tight):
            return f"{direction(number, expected)} Is the division upside down?"
    return ""


def direction(number: float, expected: float) -> str:
    """Say on which side of the right number a wrong one lies and about how far, never so exactly that it tells."""
    if expected == 0:
        return ""
    if number == 0:
        return "It is not zero."
    ratio = number / expected
    if ratio < 0:
        return "It has the wrong sign, and not only that."
    side = "large" if ratio > 1 else "small"
    times = max(ratio, 1 / ratio) if ratio else math.inf  # the smallest numbers there are leave no ratio
    for most, words in (
        (1.05, f"It is close, but a little too {side}: is something small forgotten, or counted twice?"),
        (1.5, f"It is too {side}, by less than a half."),
        (3.0, f"It is too {side}, by about a factor of two."),
        (30.0, f"It is too {side}, by a factor of three to thirty."),
    ):
        if times < most:
            return words
    return f"It is far too {side}."
