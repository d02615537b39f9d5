"""The number of examples with which a property is tried: all in the whole suite, a part in `make quick`."""

from __future__ import annotations

from hypothesis import settings


def share(number: int) -> int:
    """Return a number of examples, reduced by the ratio of the active profile to Hypothesis' default of a hundred."""
    return max(1, number * settings().max_examples // 100)


def examples(number: int) -> settings:
    """Try a property with a share of so many examples."""
    return settings(max_examples=share(number))
