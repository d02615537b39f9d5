"""How many examples a property is tried with."""

from __future__ import annotations

from hypothesis import settings


def examples(number: int) -> settings:
    """So many in the whole suite; in `make quick` as much less as its profile has less than Hypothesis' hundred."""
    return settings(max_examples=max(1, number * settings().max_examples // 100))
