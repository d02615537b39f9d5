"""Networks and own numbers of the chapter "Fair by which measure?", without answers."""

from collections.abc import Mapping
from typing import Any

from netlab.engines import lasting
from netlab.network.link import Link
from netlab.network.topology import Topology, of_links
from netlab.runs.scenario import Scenario
from netlab.traffic import Tcp
from netlab_course.own_numbers import OwnNumbers, StudentValues

RATE_MBPS = 5
NEAR_MS = 300
FAR_MS = 800
QUEUE_PACKETS = 100
FAST_MBPS = 200
LOSS_RATE = 0.002
"""Rate and loss rate of the links on which nothing but random losses limits a flow."""
SECONDS = lasting(240, real_s=26)
WARM_UP_S = lasting(60, real_s=10)
"""Time in s that is left out of every mean, with slow start and the first window, which is too large."""
ONE_RUN_S = lasting(240, real_s=75)
HOSTS_RUN_S = lasting(240, real_s=60)
"""Durations in s of single runs on the page: four minutes, less where readers would wait for all of them in real time."""
START_WITHIN_S = 10
"""Flows start at random moments within this time in s, so that each seed is another draw."""

UNLIMITED: Mapping[str, Any] = {"rate_mbps": None, "queue_packets": None, "aqm": "fifo", "aqm_options": {}}

NUMBERS = OwnNumbers(
    {
        "rate_mbps": (4, 3, 5, 6, 8),
        "base_rtt_ms": (200, 160, 180, 220, 240, 260, 280),
        "near_ms": (120, 100, 150, 180, 90, 200),
        "times": (3, 2.5, 4, 3.5, 5),
    },
    derive=lambda own: {"far_ms": round(own.near_ms * own.times)},
)


def gentle_red(room_packets: int = QUEUE_PACKETS) -> dict[str, Any]:
    """Return the link fields of a RED that drops few packets at random, from a tenth to nine tenths of `room_packets`
    on; the queue has three times that room.
    """
    thresholds = {"min_packets": max(1, round(0.1 * room_packets)), "max_packets": max(2, round(0.9 * room_packets))}
    return {"queue_packets": 3 * room_packets, "aqm": "red", "aqm_options": {**thresholds, "probability": 0.05}}


QUEUES: dict[str, dict[str, Any]] = {
    "drop-tail": {"queue_packets": QUEUE_PACKETS},
    "gentle RED": gentle_red(),
    "steep RED": {
        "queue_packets": QUEUE_PACKETS,
        "aqm": "red",
        "aqm_options": {"min_packets": 20, "max_packets": 23, "probability": 1.0},
    },
}
"""Three queues: one that drops when it is full, one that drops early and few packets at a time, and the published lab's."""


def two_distances(
    queue: str | Mapping[str, Any] = "drop-tail", far_ms: float = FAR_MS, near_ms: float = NEAR_MS
) -> Topology:
    """Return a network of senders h1 (far) and h2 (near) and receiver h3 behind a slow link; their delays in ms are on
    the return path.

    The queue is one of `QUEUES` or has the fields of a link.
    """
    fields = QUEUES[queue] if isinstance(queue, str) else queue
    return of_links(
        Link("h1", "r1", reverse={"delay_ms": far_ms}),
        Link("h2", "r1", reverse={"delay_ms": near_ms}),
        Link("r1", "h3", rate_mbps=RATE_MBPS, **fields, reverse=UNLIMITED),
    )


def far_and_near(own: StudentValues) -> Scenario:
    """Return a scenario of a far and a near Reno flow behind the gentle RED, at the distances of this copy."""
    flows = [Tcp("h1", "h3", congestion="reno"), Tcp("h2", "h3", congestion="reno")]
    return Scenario(two_distances("gentle RED", own.far_ms, own.near_ms), flows, duration_s=lasting(120, real_s=30))


def crossing(
    rate_mbps: float = RATE_MBPS, base_rtt_ms: float = NEAR_MS, h2_delay_ms: float | None = None, **queue: Any
) -> Topology:
    """Return a network of two slow links in a row, from r1 to r2 and from r2 to h3, with hosts at each node (`epfl`
    figure 3).

    Each host delays its packets by half of `base_rtt_ms`, the round-trip time with empty queues; h2 by `h2_delay_ms` if
    that is given. `queue` has fields of both slow links, such as ``queue_packets=100`` or ``aqm="fq"``.
    """
    out_ms = base_rtt_ms / 2
    return of_links(
        Link("h1", "r1", delay_ms=out_ms, reverse={"delay_ms": 0}),
        Link("r1", "r2", rate_mbps=rate_mbps, **queue, reverse=UNLIMITED),
        Link("h2", "r2", delay_ms=out_ms if h2_delay_ms is None else h2_delay_ms, reverse={"delay_ms": 0}),
        Link("r2", "h3", rate_mbps=rate_mbps, **queue, reverse={**UNLIMITED, "delay_ms": out_ms}),
    )


def losing_at_random(loss_rate: float = LOSS_RATE) -> Topology:
    """Return the network of `crossing` at 300 ms with fast links instead of slow ones, each of which loses data at random
    with this chance; nothing waits.
    """
    fast: dict[str, Any] = {"rate_mbps": FAST_MBPS, "queue_packets": 5000, "loss_rate": loss_rate}
    without: dict[str, Any] = {**UNLIMITED, "loss_rate": 0}
    out_ms = NEAR_MS / 2
    return of_links(
        Link("h1", "r1", delay_ms=out_ms, reverse={"delay_ms": 0}),
        Link("r1", "r2", **fast, reverse=without),
        Link("h2", "r2", delay_ms=out_ms, reverse={"delay_ms": 0}),
        Link("r2", "h3", **fast, reverse={**without, "delay_ms": out_ms}),
    )
