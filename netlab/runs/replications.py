"""Several draws of one figure: their mean, and how sure it is."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats


def mean_and_half(values: Any) -> tuple[float, float]:
    """Return the mean, and half the width of its 95 % interval (Student's t over the draws).

    Parameters
    ----------
    values : sequence of float
        Independent draws, two or more.

    Returns
    -------
    tuple of float
        Both in the values' own unit.

    References
    ----------
    Student, "The Probable Error of a Mean", Biometrika 6, 1908.

    Examples
    --------
    >>> mean, half = mean_and_half([1.0, 2.0, 3.0])
    >>> round(mean, 3), round(half, 3)
    (2.0, 2.484)
    """
    half = stats.t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / np.sqrt(len(values))
    return float(np.mean(values)), float(half)
