"""What the chapter "Parallel streams" measures on: its networks and the figures that its parts share. No answers are here."""

from __future__ import annotations

from typing import Any

from netlab.network import topologies
from netlab.network.link import Link
from netlab.network.topology import Topology

WAN_MBPS = 10_000
RTT_MS = 20
"""Of the path with 10 Gbit/s and of the slow one."""
WINDOW_BYTES = 8 * 2**20
LOSS_RATE = 0.01
SLOW_MBPS = 50
SLOW_QUEUE_PACKETS = 83
"""One bandwidth-delay product of 50 Mbit/s and 20 ms."""


def wan(delay_ms: float = RTT_MS, **more: Any) -> Topology:
    """The path of `lab9`, 10 Gbit/s from h1 to h2; `more` holds for both directions, delay and loss for the way there only."""
    there = {"rate_mbps": WAN_MBPS, "delay_ms": delay_ms, "queue_bytes": 15_000_000, **more}
    link = Link("h1", "h2", **there, reverse={"delay_ms": 0, "loss_rate": 0})
    return Topology(hosts=["h1", "h2"], links=[link])


def slow_path(pairs: int, loss_rate: float = LOSS_RATE, **more: Any) -> Topology:
    """Senders h1, h2, ... through one link of 50 Mbit/s; 20 ms of round trip, random loss behind its queue."""
    return topologies.dumbbell(
        pairs,
        rate_mbps=SLOW_MBPS,
        delay_ms=RTT_MS // 2,
        queue_packets=SLOW_QUEUE_PACKETS,
        loss_rate=loss_rate,
        reverse={"loss_rate": 0},
        **more,
    )


def shared(**queue: Any) -> Topology:
    """Three pairs of hosts through the link that `simpleperf`'s paths share: 30 Mbit/s, 60 ms of round trip, 100 packets."""
    return topologies.dumbbell(3, rate_mbps=30, delay_ms=30, queue_packets=100, **queue)
