"""How many examples a property is tried with: all in the whole suite, in `make quick` a part."""

from __future__ import annotations

from hypothesis import settings


def share(number: int) -> int:
    """So many, or as much less as the profile in force has less than Hypothesis' hundred."""
    return max(1, number * settings().max_examples // 100)


def examples(number: int) -> settings:
    """Try a property with a share of so many examples."""
    return settings(max_examples=share(number))
