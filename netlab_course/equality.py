"""Comparison of two notebooks' texts that ignores the last digits of numbers."""

import base64
import binascii
import json
import math
import re
from typing import Any

import numpy as np

RELATIVE_TOLERANCE, ABSOLUTE_TOLERANCE = 1e-9, 1e-12
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_FIGURE_ID = re.compile(r"figure-[0-9a-f]{6,}")
"""An id that is derived from a figure's numbers."""


def equal_but_for_rounding(first: str, second: str) -> bool:
    """Return whether the texts of two notebook files (JSON) are equal except for the last digits of fractional numbers,
    ids of figures, and the sign of 0.

    >>> equal_but_for_rounding('{"x": [0.1, "1.2 ms"]}', '{"x": [0.10000000000000001, "1.2 ms"]}')
    True
    >>> equal_but_for_rounding('{"x": "1.2 ms"}', '{"x": "1.3 ms"}')
    False
    """
    if first == second:
        return True
    try:
        return _equal(json.loads(first), json.loads(second))
    except ValueError:
        return False


def _equal(first: Any, second: Any) -> bool:
    """Return whether two values from JSON are equal, except for the rounding of floats, of fractional numbers in texts,
    and of arrays.
    """
    kinds = {type(first), type(second)}
    if float in kinds and kinds <= {int, float}:
        return _are_close(first, second)
    if len(kinds) > 1:
        return False
    if isinstance(first, list):
        return len(first) == len(second) and all(map(_equal, first, second))
    if isinstance(first, dict):
        if first.keys() == second.keys() == {"dtype", "bdata"} and first["dtype"] == second["dtype"]:
            return _equal_arrays(first, second)
        return list(first) == list(second) and all(_equal(first[key], second[key]) for key in first)
    return bool(first == second) or (isinstance(first, str) and _equal_texts(first, second))


def _equal_texts(first: str, second: str) -> bool:
    """Return whether two texts are equal except for ids of figures and the last digits of fractional numbers; integers
    must be equal.
    """
    first, second = _FIGURE_ID.sub("figure", first), _FIGURE_ID.sub("figure", second)
    # A number leaves a mark in its place: "1.5" and "1.5-2.5" are different texts.
    if _NUMBER.sub("#", first) != _NUMBER.sub("#", second):
        return False
    pairs = zip(_NUMBER.findall(first), _NUMBER.findall(second), strict=False)
    # An integer in a text is a count, an id or a part of a name, and must be equal.
    return all(one == other or ("." in one + other and _are_close(float(one), float(other))) for one, other in pairs)


def _equal_arrays(first: dict[str, str], second: dict[str, str]) -> bool:
    """Return whether two arrays in Plotly's base64 form, dicts with `dtype` and `bdata`, are equal except for rounding;
    arrays that cannot be decoded must have the same text.
    """
    try:
        one, other = (np.frombuffer(base64.b64decode(each["bdata"]), dtype=each["dtype"]) for each in (first, second))
    except (binascii.Error, TypeError, ValueError):
        return first == second
    return one.shape == other.shape and bool(
        np.allclose(one, other, rtol=RELATIVE_TOLERANCE, atol=ABSOLUTE_TOLERANCE, equal_nan=True)
    )


def _are_close(first: float, second: float) -> bool:
    """Return whether two numbers are equal except for a relative error of 1e-9 or an absolute one of 1e-12."""
    return first == second or math.isclose(first, second, rel_tol=RELATIVE_TOLERANCE, abs_tol=ABSOLUTE_TOLERANCE)
