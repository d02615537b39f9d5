"""Checks of a number and of a function, and the text of a verdict."""

from __future__ import annotations

from netlab_course import checks
from netlab_course.checks import Number
from netlab_course.function_checks import Function
from netlab_course.misconceptions import Misconception


def limit(rate_mbps: float, payload_bytes: int) -> float:
    return rate_mbps * payload_bytes / (payload_bytes + 42)


NUMBER = Number(name="limit", expected=4.798, unit="Mbit/s", tolerance=0.005, right="Keep it.")


FUNCTION = Function(
    name="limit",
    reference=limit,
    cases=[{"rate_mbps": 5, "payload_bytes": 1000}, {"rate_mbps": 100, "payload_bytes": 1470}],
    unit="Mbit/s",
    tolerance=0.001,
    misconceptions=[
        Misconception(
            lambda rate_mbps, payload_bytes: rate_mbps * payload_bytes / (payload_bytes + 66),
            "Preamble counted.",
        )
    ],
)


def verdict_text(result: checks.Result) -> str:
    """Undo the wrapping of a verdict."""
    return " ".join(str(result).split())
