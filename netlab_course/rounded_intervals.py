"""Comparison of a student's intervals, which may be rounded, with the right ones and with what a figure shows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from netlab.runs.replications import interval

# Relative margins: of a mean rounded to four digits, and of a half width rounded to two.
_MEAN_OFF, _HALF_OFF = 0.0006, 0.051
_FIGURE_OFF = 0.002
_MAX_DIGITS = 9
_EXACT_OFF = 0.002
# A mean may also be rounded to three digits, even if the half width is much narrower.
_MEAN_DIGITS, _HALF_DIGITS = 3, 2
ROUNDED_TOO_FAR = "this is rounded too far"
NEEDED_DIGITS = "Hand over what nl.interval(...) returns, or three significant digits of both numbers."
"""The advice on an interval that is rounded too far."""


def agrees(given: tuple[float, float], right: tuple[float, float]) -> bool:
    """Return whether an interval equals the right one, both as mean and half width, apart from rounding the mean to
    three digits and the half width to two.
    """
    (mean, half), (its_mean, its_half) = given, right
    return (_is_near(mean, right) or _is_rounded(mean, its_mean, _MEAN_DIGITS)) and (
        abs(half - its_half) <= _EXACT_OFF * its_half + 1e-12 or _is_rounded(half, its_half, _HALF_DIGITS)
    )


def is_rounded_too_far(given: tuple[float, float], right: tuple[float, float]) -> bool:
    """Return whether an interval, as mean and half width, is the right one with fewer digits than `agrees` allows: both
    numbers rounded to as many decimals, or the half width to one significant digit.
    """
    (mean, half), (its_mean, its_half) = given, right
    if mean == 0 or agrees(given, right):
        return False
    alike = any(
        math.isclose(mean, round(its_mean, decimals), rel_tol=1e-9)
        and math.isclose(half, round(its_half, decimals), rel_tol=1e-9)
        for decimals in range(_MAX_DIGITS)
    )
    return alike or (
        (_is_near(mean, right) or _is_rounded(mean, its_mean, 2)) and half > 0 and _is_rounded(half, its_half, 1)
    )


def _is_near(mean: float, right: tuple[float, float]) -> bool:
    """Return whether a mean is near that of the right interval, as seen from how narrow this is."""
    its_mean, its_half = right
    return abs(mean - its_mean) <= _MEAN_OFF * abs(its_mean) + _HALF_OFF * its_half


def _is_rounded(number: float, right: float, least_digits: int) -> bool:
    """Return whether a number is the right one, rounded to so many significant digits or to more, up to eight."""
    return any(
        math.isclose(number, float(f"{right:.{digits}g}"), rel_tol=1e-9) for digits in range(least_digits, _MAX_DIGITS)
    )


def have_equal_numbers(numbers: Sequence[float], values: pd.Series[float]) -> bool:
    """Return whether a list of numbers and a column of values have the same numbers in any order, within a relative
    error of 0.002.
    """
    if len(numbers) != len(values):
        return False
    return bool(np.allclose(np.sort(numbers), np.sort(values.to_numpy(dtype=float)), rtol=_FIGURE_OFF))


def has_numbers(numbers: Sequence[float], values: pd.Series[float]) -> bool:
    """Return whether each of a column of values is among a list of numbers, within a relative error of 0.002."""
    return len(numbers) > 0 and all(np.isclose(numbers, value, rtol=_FIGURE_OFF).any() for value in values)


def shows(figure: Mapping[str, Any], given: tuple[float, float]) -> bool:
    """Return whether a figure (in the form of `figure_numbers`) shows both edges of an interval (mean and half width)
    as lines, areas or traces, or its half width as an error bar; a drawn number may be rounded to four digits.
    """
    mean, half = given
    if any(abs(bar - half) <= _HALF_OFF * half for bar in figure["bars"]):
        return True
    levels = (mean - half, mean, mean + half)

    def is_level(number: float, level: float) -> bool:
        """Return whether a drawn number is this level, apart from rounding."""
        return abs(number - level) <= _HALF_OFF * half + 1e-9 * abs(level) or _is_rounded(number, level, 4)

    def near(number: float) -> bool:
        """Return whether a number equals an edge or the mean of the interval, apart from rounding."""
        return any(is_level(number, level) for level in levels)

    # A number of a trace with other values may equal an edge by chance: use traces whose numbers are all edges or the mean.
    # If the values hardly scatter, all of them are near; but lines have three levels at most.
    lines = [
        number
        for numbers in figure["traces"]
        if len(set(numbers)) <= len(levels) and all(map(near, numbers))
        for number in numbers
    ]
    there = [*figure["shapes"], *lines]
    return all(any(is_level(number, edge) for number in there) for edge in (levels[0], levels[2]))


def places(given: tuple[float, float], number: float) -> set[str]:
    """Return the words ("above", "inside", "below") for where a number lies, seen from an interval (mean and half width
    in the number's unit); two of them near an edge, because the interval may be rounded.
    """
    mean, half = given
    margin = _margin(given)
    found = set()
    if number > mean + half - margin:
        found.add("above")
    if number < mean - half + margin:
        found.add("below")
    if abs(number - mean) <= half + margin:
        found.add("inside")
    return found


def _margin(given: tuple[float, float]) -> float:
    """Return the largest error that rounding can make in an edge of an interval (mean and half width), in the unit of
    the interval.
    """
    mean, half = given
    return _MEAN_OFF * abs(mean) + _HALF_OFF * half


def interval_of(numbers: npt.NDArray[np.floating[Any]]) -> tuple[float, float]:
    """Return the confidence interval of the mean of numbers (mean and half width); twice NaN if they have NaN or
    infinity, or are fewer than two.
    """
    return interval(numbers) if len(numbers) > 1 and np.isfinite(numbers).all() else (np.nan, np.nan)
