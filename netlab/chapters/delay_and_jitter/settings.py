"""What the chapter "Delay and jitter" measures on: its networks and the figures that its parts share. No answers are here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from netlab import theory
from netlab.course.own_figures import OwnFigures, StudentValues
from netlab.network.link import Link
from netlab.network.topology import Topology

CABLE_MBPS = 100
OFFERED_MBPS = 54.2
IPERF_PAYLOAD_BYTES = 1470
NETEM_PACKETS = 1000
"""What netem holds if it is not told otherwise."""
WINDOW_BYTES = 150_000
JITTER_MBPS = 20

TCP_VARIANTS: dict[str, tuple[bool, dict[str, int]]] = {
    "delay varies, order kept": (False, {}),
    "three duplicate ACKs (1990s)": (True, {"net.ipv4.tcp_sack": 0, "net.ipv4.tcp_max_reordering": 3}),
    "SACK and RACK, no DSACK": (True, {"net.ipv4.tcp_dsack": 0}),
    "SACK, RACK and DSACK (today)": (True, {}),
}
"""By name: whether packets may overtake each other, and the kernel settings that make TCP what it was."""


def _holds(own: StudentValues) -> bool:
    # The default buffer must be far too small, and the payload that is asked for must be neither tiny nor the largest.
    easiest_mbps = theory.wifi_udp_limit_mbps(1472, {"rate_mbps": own.air_mbps})
    return bool(own.needed_packets > 1.2 * NETEM_PACKETS and 0.3 * easiest_mbps < own.target_mbps < 0.9 * easiest_mbps)


def _derive(own: StudentValues) -> Mapping[str, Any]:
    packets = own.sent_mbps * 1e6 * own.wait_ms / 1000 / (IPERF_PAYLOAD_BYTES * 8)
    return {"needed_packets": packets}


FIGURES = OwnFigures(
    {
        "sent_mbps": (54.2, 48, 51, 57, 60, 63, 66, 69),
        "wait_ms": (400, 300, 350, 450, 500, 550, 600, 700),
        "target_mbps": (20, 11, 12, 13, 14, 15, 16, 17, 18, 19, 21, 22),
        "air_mbps": (54, 48),
    },
    holds=_holds,
    derive=_derive,
)


def cable(delay_ms: float = 0.0) -> Topology:
    """A cable of 100 Mbit/s on which packets from h1 to h2 are delayed."""
    link = Link(
        "h1",
        "h2",
        rate_mbps=CABLE_MBPS,
        framing="ethernet",
        queue_packets=1000,
        delay_ms=delay_ms,
        reverse={"delay_ms": 0},
    )
    return Topology(hosts=["h1", "h2"], links=[link])


def jittery(jitter_ms: float, *, reorder: bool) -> Topology:
    """A link of 20 Mbit/s with 20 ms each way, whose delay from h1 to h2 varies."""
    link = Link(
        "h1",
        "h2",
        rate_mbps=JITTER_MBPS,
        queue_packets=1000,
        delay_ms=20,
        jitter_ms=jitter_ms,
        reorder=reorder,
        reverse={"jitter_ms": 0, "reorder": False},
    )
    return Topology(hosts=["h1", "h2"], links=[link])


def air(queue_packets: int = 1000, **options: Any) -> Topology:
    """Two stations on one 802.11g medium; `options` are its `medium_options`."""
    link = Link("h1", "h2", medium="802.11g", medium_options=options, queue_packets=queue_packets)
    return Topology(hosts=["h1", "h2"], links=[link])
