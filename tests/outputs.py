"""Comparison of two outputs of a notebook cell: equal words, and numbers that agree to a part in a thousand.

Byte for byte they agree only between equal versions of Python (docs/explanation/virtual_time.md).
"""

from __future__ import annotations

import base64
import math
import re

import numpy as np

RELATIVE = 1e-3
ABSOLUTE = 2e-3
FIGURE = "application/vnd.plotly.v1+json"
WIDGET = "application/vnd.jupyter.widget-view+json"
_NUMBER = re.compile(r"(?<![\w.])[-+−]?\d+(?:\.\d+)?(?:e[-+]?\d+)?", re.IGNORECASE)
_SPACE = re.compile(r"[\s─-]+")


def agree(one: object, other: object) -> bool:
    """Return whether two outputs, or parts of them, have the same meaning.

    >>> agree("delay 94.1490 ms", "delay  94.1482 ms"), agree("4.798 Mbit/s", "4.69 Mbit/s")
    (True, False)
    """
    if isinstance(one, dict) and isinstance(other, dict):
        # A panel is saved without its controls.
        one, other = ({key: value for key, value in part.items() if key != WIDGET} for part in (one, other))
        if set(one) != set(other):
            return False
        if set(one) >= {"bdata", "dtype"}:
            return one["dtype"] == other["dtype"] and _close(_array(one), _array(other))
        # The HTML of a figure is the figure once more.
        return all(agree(one[key], other[key]) for key in one if not (key == "text/html" and FIGURE in one))
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(agree, one, other))
    if isinstance(one, str) and isinstance(other, str):
        return _words(one) == _words(other) and _close(_numbers(one), _numbers(other))
    if isinstance(one, bool) or isinstance(other, bool) or not all(isinstance(v, (int, float)) for v in (one, other)):
        return type(one) is type(other) and one == other
    return _close(np.array([one]), np.array([other]))


def _close(one: np.ndarray, other: np.ndarray) -> bool:
    return one.shape == other.shape and bool(np.allclose(one, other, rtol=RELATIVE, atol=ABSOLUTE, equal_nan=True))


def _array(words: dict) -> np.ndarray:
    return np.frombuffer(base64.b64decode(words["bdata"]), dtype=words["dtype"]).astype(float)


def _numbers(text: str) -> np.ndarray:
    return np.array([float(number.replace("−", "-")) for number in _NUMBER.findall(text)] or [math.nan])


def _words(text: str) -> str:
    return _SPACE.sub(" ", _NUMBER.sub("#", text)).strip()
