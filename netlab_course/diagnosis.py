"""Diagnosis of a wrong number: the mistake that explains it, or advice; for functions the direction in which it is off."""

import math
from collections.abc import Callable, Iterable
from functools import partial

# Minimum distance between a known mistake and the right answer, in tolerances.
_MIN_DISTANCE_TOLERANCES = 3.0
_NEARBY_TOLERANCE = 0.05
_MAX_DIGITS = 6
_CALCULATION_ERROR = 1e-6


# Factors between a wrong number and the right one, each with the message about the mistake. If two factors agree within
# the tolerance, the first one, which is more common, is used.
# A factor of a unit is named, because a student with this factor has done the exercise. A half or a double may be a
# guess: they get the message of any other number, so that nobody finds the answer by doubling.
_SLIPS: tuple[tuple[float, str], ...] = (
    (1e6, "It is a million times too large{}"),
    (1e-6, "It is a million times too small{}"),
    (1e3, "It is a thousand times too large{}"),
    (1e-3, "It is a thousand times too small{}"),
    (8.0, "It is eight times too large: a byte has 8 bits; were bytes turned into bits once too often?"),
    (1 / 8, "It is eight times too small: a byte has 8 bits; are these bytes where bits are asked for?"),
    (100.0, "It is a hundred times too large: per cent where a fraction is meant, 2 % rather than 0.02?"),
    (0.01, "It is a hundred times too small: was a percentage divided by 100 twice?"),
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
"""The end of the message about a factor of a thousand or a million, by the unit of the answer."""
_OF_ANY_UNIT = {
    1e6: ": bits for megabits in what it is computed from?",
    1e-6: ": megabits for bits in what it is computed from?",
    1e3: ": kilobits for megabits, or milliseconds for seconds, in what it is computed from?",
    1e-3: ": megabits for kilobits, or seconds for milliseconds, in what it is computed from?",
}
_FAR_SLIPS = {factor for factor, _ in _SLIPS if factor < 0 or max(factor, 1 / factor) >= 8}


def close(number: float, expected: float, tolerance: float) -> bool:
    """Return whether a number is within a relative tolerance (0.01 is 1 %) of the expected one, or within an absolute
    one if 0 is expected.
    """
    scale = abs(expected) if expected != 0 else 1.0
    return abs(number - expected) <= tolerance * scale * (1 + 1e-12)


def is_far(wrong: float, expected: float, tolerance: float) -> bool:
    """Return whether a wrong number is well outside the tolerance of the expected one: farther from it than three times
    the tolerance, which is relative, or absolute if 0 is expected.
    """
    return not close(wrong, expected, _MIN_DISTANCE_TOLERANCES * tolerance)


def explanation(
    number: float,
    expected: float,
    tolerance: float,
    misconceptions: Iterable[tuple[float, str]],
    unit: str = "",
    *,
    whole: bool = False,
) -> str:
    """Return a message with the mistake that leads from the expected number to this one, both in `unit`; if none is
    known, with advice that does not tell on which side the number is. `misconceptions` are wrong numbers with messages,
    `tolerance` is relative. `whole` is True if a count is asked for.
    """
    slip = named_slip(number, expected, tolerance, misconceptions, unit)
    if slip:
        return slip
    if number == 0:
        return "It is not zero." if expected else ""
    if number * expected < 0:
        return "It has the wrong sign, and not only that."
    if whole and abs(number - round(expected)) == 1:
        return "It is off by one: look at where you round up or down, and at which of both ends you count."
    if close(number, expected, _NEARBY_TOLERANCE):
        return "It is close: is something small forgotten, or counted twice?"
    return "No usual mistake leads to this number. Write down the formula with its units, and check each part alone."


def named_slip(
    number: float, expected: float, tolerance: float, misconceptions: Iterable[tuple[float, str]], unit: str = ""
) -> str:
    """Return a message with the mistake that leads from the expected number to this one, both in `unit`: one of
    `misconceptions` (wrong numbers with messages), of several the nearest, or a wrong factor or unit; "" if none is known.
    `tolerance` is relative.
    """
    # Mistakes must be matched more closely than the distance between them, else the message would be a guess.
    tight = min(tolerance, 0.01)
    # A measured number is only close to the theory of the mistake: apply the tolerance, up to 2 %.
    known = [
        (abs(number - wrong), sentence)
        for wrong, sentence in misconceptions
        if close(number, wrong, min(tolerance, 0.02)) and not close(wrong, expected, tolerance)
    ]
    if known:
        return min(known, key=lambda pair: pair[0])[1]
    if expected != 0:
        for factor, sentence in _SLIPS:
            # Far from 1, a factor can be recognized in any rounded answer; close to 1, it cannot: 1514/1448 is not 1.0486.
            wrong = expected * factor
            found = close(number, wrong, min(tolerance, 0.05)) if factor in _FAR_SLIPS else _is_exact(number, wrong)
            if abs(factor - 1) > 2 * tolerance and found:
                return sentence.format(_OF_UNIT.get((unit, factor), _OF_ANY_UNIT.get(factor, "")))
        if 0 < expected < 1 and close(number, 1 - expected, tight):
            return "Is this the share that arrived, where the share lost is asked for, or the other way round?"
        if close(number, 1 / expected, tight):
            return "Is the division upside down?"
    return ""


def _is_exact(number: float, wrong: float) -> bool:
    """Return whether a number is the one that a mistake gives, or that number rounded to four digits or more."""
    return close(number, wrong, _CALCULATION_ERROR) or any(
        number == _to_digits(wrong, digits) for digits in range(4, _MAX_DIGITS + 1)
    )


def possible_roundings(number: float, expected: float) -> list[Callable[[float], float]]:
    """Return the ways of rounding that lead from the expected number to this one and leave a significant digit or more: to
    decimals, or to significant digits. One trial does not show which of them a function uses, or whether another formula
    happens to give the same number.
    """
    if number in (0, expected):
        return []
    magnitude = math.floor(math.log10(abs(number)))
    ways = [
        *(partial(round, ndigits=decimals) for decimals in range(max(0, -magnitude), _MAX_DIGITS + 1)),
        *(partial(_to_digits, digits=digits) for digits in range(1, _MAX_DIGITS + 1)),
    ]
    return [way for way in ways if way(expected) == number]


def _to_digits(number: float, digits: int) -> float:
    """Return a number, rounded to so many significant digits."""
    return float(f"{number:.{digits}g}")


def direction(number: float, expected: float) -> str:
    """Return a text on which side of the right number a wrong one is and roughly how far; "" if 0 is expected. A single
    number could be bisected with it, so it is only for the trials of a function, and with a recognized mistake.
    """
    if expected == 0:
        return ""
    if number == 0:
        return "It is not zero."
    ratio = number / expected
    if ratio < 0:
        return "It has the wrong sign, and not only that."
    side = "large" if ratio > 1 else "small"
    times = max(ratio, 1 / ratio) if ratio else math.inf  # denormal numbers may give a ratio of 0
    for most, words in (
        (1.05, f"It is close, but a little too {side}: is something small forgotten, or counted twice?"),
        (1.5, f"It is too {side}, by less than a half."),
        (3.0, f"It is too {side}, by about a factor of two."),
        (30.0, f"It is too {side}, by a factor of three to thirty."),
    ):
        if times < most:
            return words
    return f"It is far too {side}."
