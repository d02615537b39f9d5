"""Networks and common numbers of the chapter "Delay and jitter", without answers."""

from typing import Any

from netlab.network.link import Link
from netlab.network.topology import Topology
from netlab_course.own_numbers import OwnNumbers

CABLE_MBPS = 100
OFFERED_MBPS = 54.2
IPERF_PAYLOAD_BYTES = 1470
NETEM_PACKETS = 1000
"""The default limit of netem."""
WINDOW_BYTES = 150_000
JITTER_MBPS = 20

TCP_VARIANTS: dict[str, tuple[bool, dict[str, int]]] = {
    "delay varies, order kept": (False, {}),
    "three duplicate ACKs (1990s)": (True, {"net.ipv4.tcp_sack": 0, "net.ipv4.tcp_max_reordering": 3}),
    "SACK and RACK, no DSACK": (True, {"net.ipv4.tcp_dsack": 0}),
    "SACK, RACK and DSACK (today)": (True, {}),
}
"""For each name: whether packets may overtake each other, and the kernel settings that restore an older TCP."""


# The default limit must be much too small.
NUMBERS = OwnNumbers(
    {"sent_mbps": (54.2, *range(48, 73)), "wait_ms": (400, *range(300, 400, 10), *range(410, 710, 10))},
    holds=lambda own: own.sent_mbps * own.wait_ms * 1000 / (8 * IPERF_PAYLOAD_BYTES) > 1.2 * NETEM_PACKETS,
)


def _one_link(reverse: dict[str, Any], **there: Any) -> Topology:
    """Return two hosts and a link with these properties from h1 to h2; `reverse` has those that
    differ on the way back.
    """
    return Topology(hosts=["h1", "h2"], links=[Link("h1", "h2", queue_packets=1000, **there, reverse=reverse)])


def cable(delay_ms: float = 0.0) -> Topology:
    """Return a network of two hosts and a cable of 100 Mbit/s that delays packets from h1 to h2 by `delay_ms`, and not
    those back.
    """
    return _one_link({"delay_ms": 0}, rate_mbps=CABLE_MBPS, framing="ethernet", delay_ms=delay_ms)


def jittery(jitter_ms: float, *, reorder: bool) -> Topology:
    """Return a network of two hosts and a link of 20 Mbit/s with 20 ms each way, whose delay from h1 to h2 varies by
    `jitter_ms`; with `reorder`, packets may overtake each other.
    """
    back = {"jitter_ms": 0, "reorder": False}
    return _one_link(back, rate_mbps=JITTER_MBPS, delay_ms=20, jitter_ms=jitter_ms, reorder=reorder)
