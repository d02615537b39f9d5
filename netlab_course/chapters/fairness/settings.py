"""Networks and own numbers of the chapter "Fair by which measure?", without answers."""

from collections.abc import Mapping
from typing import Any

from netlab.engines import run_length_s
from netlab.network.link import Link
from netlab.network.topology import Topology, topology_from_links
from netlab.runs.scenario import Scenario
from netlab.traffic import Tcp
from netlab_course.own_numbers import OwnNumbers, StudentValues

RATE_MBPS = 5
NEAR_MS = 300
FAR_MS = 800
QUEUE_PACKETS = 100
SECONDS = run_length_s(240, real_s=26)
WARM_UP_S = run_length_s(60, real_s=10)
"""Time in s that is left out of every mean, with slow start and the first window, which is too large."""
START_WITHIN_S = 10
"""Flows start at random moments within this time in s, so that each seed is another draw."""

UNLIMITED: Mapping[str, Any] = {"rate_mbps": None, "queue_packets": None, "aqm": "fifo", "aqm_options": {}}

NUMBERS = OwnNumbers(
    {
        "rate_mbps": (4, 3, 5, 6, 8),
        "base_rtt_ms": (200, 160, 180, 220, 240, 260, 280),
        "near_ms": (120, 100, 150, 90, 110, 130),
        "times": (3, 2.5, 4, 3.5),
        # In runs of 60 s the far flow's part scatters by 2.5 to 5 per cent at these distances: some nine runs are planned.
        "half_percent": (3, 2.7, 3.3),
    },
    derive=lambda own: {"far_ms": round(own.near_ms * own.times)},
)


def gentle_red(room_packets: int = QUEUE_PACKETS) -> dict[str, Any]:
    """Return the fields of a link whose RED drops few packets at random while its mean queue is between a tenth and
    nine tenths of `room_packets`; the queue has room for three times `room_packets`.
    """
    thresholds = {"min_packets": max(1, round(0.1 * room_packets)), "max_packets": max(2, round(0.9 * room_packets))}
    return {"queue_packets": 3 * room_packets, "aqm": "red", "aqm_options": {**thresholds, "probability": 0.05}}


QUEUES: dict[str, dict[str, Any]] = {"drop-tail": {"queue_packets": QUEUE_PACKETS}, "gentle RED": gentle_red()}
"""A queue that drops when it is full, and one that drops early and few packets at a time."""


def two_distances(
    queue: str | Mapping[str, Any] = "drop-tail", far_ms: float = FAR_MS, near_ms: float = NEAR_MS
) -> Topology:
    """Return a network of senders h1 (far) and h2 (near) and receiver h3 behind a link of 5 Mbit/s, whose queue is a
    key of `QUEUES` or has the fields of a link; the delays `far_ms` and `near_ms` are on the way back only.
    """
    fields = QUEUES[queue] if isinstance(queue, str) else queue
    return topology_from_links(
        Link("h1", "r1", reverse={"delay_ms": far_ms}),
        Link("h2", "r1", reverse={"delay_ms": near_ms}),
        Link("r1", "h3", rate_mbps=RATE_MBPS, **fields, reverse=UNLIMITED),
    )


def far_and_near(own: StudentValues) -> Scenario:
    """Return a scenario of a far (h1) and a near Reno flow (h2) behind the gentle RED, at the distances of a student's
    copy.
    """
    flows = [Tcp("h1", "h3", congestion="reno"), Tcp("h2", "h3", congestion="reno")]
    return Scenario(two_distances("gentle RED", own.far_ms, own.near_ms), flows, duration_s=run_length_s(60, real_s=30))
