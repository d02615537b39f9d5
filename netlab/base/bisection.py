"""Bisection."""

from collections.abc import Callable

HALVINGS = 60  # a double has 53 binary digits


def bisect_largest(holds: Callable[[float], bool], low: float, high: float) -> float:
    """Return nearly the largest number from `low` to `high` up to which `holds` is True (else `low`), False beyond it.

    >>> round(bisect_largest(lambda x: x * x < 2, 0, 2), 6)
    1.414214
    """
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if holds(middle):
            low = middle
        else:
            high = middle
    return low
