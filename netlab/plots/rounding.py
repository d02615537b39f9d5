"""Rounding of a figure's numbers, so that equal experiments give equal notebooks: the last bits of a logarithm or a sum
differ between processors, and a notebook stores all digits of a figure.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

SIGNIFICANT_DIGITS = 10
NOISE_DIGITS = 13
"""A value whose first digit is this many places behind that of the largest value of its series is a rounding error."""


def round_numbers(value: Any) -> Any:
    """Return a copy of a figure's data (dicts, lists, arrays, base64) with rounded floats, and 0.0 for -0.0.

    >>> round_numbers({"x": [75.20596766239444, -0.0, 3e-16, None], "name": "measured"})
    {'x': [75.20596766, 0.0, 0.0, None], 'name': 'measured'}
    """
    if isinstance(value, dict):
        if "bdata" in value and "dtype" in value:
            return _rounded_base64(value)
        return {key: round_numbers(each) for key, each in value.items()}
    if isinstance(value, np.ndarray):
        return _round_array(value) if value.dtype.kind == "f" else value
    if isinstance(value, (list, tuple)):
        return _round_sequence(value)
    if isinstance(value, (float, np.floating)):
        return _round_one(float(value))
    return value


def _round_one(value: float) -> float:
    """Return a number rounded to 10 significant digits."""
    # Adding 0.0 turns -0.0 into 0.0.
    return float(f"{value:.{SIGNIFICANT_DIGITS}g}") + 0.0 if math.isfinite(value) else value


def _round_sequence(values: Sequence[Any]) -> Any:
    """Return a list or tuple with its floats rounded; values that are tiny compared with the largest become 0."""
    kind = tuple if isinstance(values, tuple) else list
    largest = max((abs(each) for each in values if _is_finite_float(each)), default=0.0)
    if not largest:
        return kind(round_numbers(each) for each in values)
    places = NOISE_DIGITS - 1 - math.floor(math.log10(largest))
    return kind(_round_one(round(each, places)) if _is_finite_float(each) else round_numbers(each) for each in values)


def _is_finite_float(value: Any) -> bool:
    """Return whether a value is a float of Python or NumPy other than NaN and infinity."""
    return isinstance(value, (float, np.floating)) and math.isfinite(value)


def _round_array(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return an array of floats with its values rounded as in a list, in the same type and shape."""
    flat = [float(each) for each in values.ravel()]
    return np.asarray(_round_sequence(flat), dtype=values.dtype).reshape(values.shape)


def _rounded_base64(encoded: dict[str, Any]) -> dict[str, Any]:
    """Return Plotly's form of an array, a dict with base64, with its numbers rounded if they are floats."""
    values = np.frombuffer(base64.b64decode(encoded["bdata"]), dtype=encoded["dtype"])
    if values.dtype.kind != "f":
        return encoded
    return {**encoded, "bdata": base64.b64encode(_round_array(values).tobytes()).decode("ascii")}
