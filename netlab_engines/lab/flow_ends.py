"""The end of a flow of a live network, found from its counters, and the next time to look at them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from netlab.base.errors import ScenarioError
from netlab.traffic.requests import RequestsItem
from netlab.traffic.tcp import TcpItem

GRID_S = 0.01
"""Traffic of a live network starts at multiples of this time, so a finer end would be of no use."""
MAX_STEP_S = 0.5
PART_OF_AGE = 0.5
PART_OF_REST = 0.7


@dataclass(frozen=True)
class Progress:
    """The state of a flow that ends with a last byte.

    Attributes
    ----------
    received_bytes : int
        Application bytes that have arrived.
    rest_bytes : int
        Application bytes that have not arrived.
    end_s : float or None
        The network time in s at which the last byte arrived, or None if it has not.
    """

    received_bytes: int
    rest_bytes: int
    end_s: float | None


def progress(item: Mapping[str, Any], totals: Mapping[str, Any] | None) -> Progress:
    """Return how much of a flow has arrived (bytes that have and have not, and the time in s of the last one, None
    before it), from its item in the plan and its totals so far (None: it has not begun). Raises ScenarioError if the
    flow has no last byte: it is neither TCP with a number of bytes nor requests with a count.
    """
    if item["kind"] == "tcp" and item["num_bytes"] is not None:
        num_bytes = cast("TcpItem", item)["num_bytes"]
        rows = [] if totals is None else totals["streams"]
        received_bytes = sum(row["received_bytes"] for row in rows)
        return Progress(
            received_bytes,
            num_bytes - received_bytes,
            _latest([row["last_s"] for row in rows], received_bytes >= num_bytes),
        )
    if item["kind"] == "requests" and (count := cast("RequestsItem", item)["count"]) is not None:
        ends_s = [] if totals is None else [row["end_s"] for row in totals["responses"] if row["end_s"] is not None]
        received_bytes = 0 if totals is None else sum(row["received_bytes"] for row in totals["ends"])
        rest_bytes = count * item["response_bytes"] - received_bytes
        return Progress(received_bytes, rest_bytes, _latest(ends_s, len(ends_s) >= count))
    problem = (
        f"flow: {item['label']!r} has no last byte to wait for; give an nl.Tcp num_bytes or an nl.Requests a count, or use "
        "lab.advance(duration_s)"
    )
    raise ScenarioError([problem])


def _latest(times_s: list[float], is_complete: bool) -> float | None:
    """Return the latest of the times `times_s`, in s, or None if the flow is not complete (`is_complete` is False)."""
    return max(times_s) if is_complete else None


def next_look_s(age_s: float, now_s: float, rest_bytes: int, fastest_bytes_s: float) -> float:
    """Return the network time in s, a multiple of GRID_S, at which to look at a flow again.

    It is after `PART_OF_REST` of the time that the flow's rest takes at the fastest rate seen; after no more than
    `PART_OF_AGE` of its age, because a young flow doubles its rate in each round trip; and after GRID_S to MAX_STEP_S.

    Parameters
    ----------
    age_s, now_s : float
        The time since the flow was waited for first, and the network time, in s.
    rest_bytes : int
        The bytes that have not arrived.
    fastest_bytes_s : float
        The fastest rate at which its bytes arrived between two looks, in bytes/s; 0 if none arrived.
    """
    step_s = min(MAX_STEP_S, PART_OF_AGE * age_s)
    if fastest_bytes_s > 0:
        step_s = min(step_s, PART_OF_REST * rest_bytes / fastest_bytes_s)
    # The small number keeps a time on the grid from being rounded by its last bits.
    steps = math.floor(now_s / GRID_S + 1e-6) + max(1, math.floor(step_s / GRID_S))
    return round(steps * GRID_S, 9)
