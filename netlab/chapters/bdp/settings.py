"""What the chapter "BDP" measures on: its networks and the figures that its parts share. No answers are here."""

from __future__ import annotations

from netlab.network.link import Link
from netlab.network.topology import Topology
from netlab.traffic import Command

RATE_MBPS = 100
DELAY_MS = 8
CEILING_BYTES = 192_000
"""The largest window that the `siit` lab could set."""

# A window takes exactly one round-trip time of a segment when the sender's interface takes one frame at a time, without
# segmentation offload, and the receiver acknowledges each segment at once.
WITHOUT_OFFLOAD = Command("h1", "ip link set dev h1-eth0 gso_max_segs 1")
ACKNOWLEDGE_EACH = Command("h2", "ip route | while read route; do ip route change $route quickack 1; done")


def cable(rate_mbps: float = RATE_MBPS) -> Topology:
    """Two hosts, a router, and a cable of 8 ms each way that counts the bytes that a real wire carries (`siit`)."""
    # The queue is a router's: Linux lets hardly any grow on the sender's own interface.
    slow = Link("r1", "h2", rate_mbps=rate_mbps, delay_ms=DELAY_MS, queue_packets=1000, framing="ethernet")
    return Topology(hosts=["h1", "h2"], routers=["r1"], links=[Link("h1", "r1"), slow])


def three_links(last_queue_packets: int) -> Topology:
    """The links of `simpleperf`'s path h1-h9, with another queue before the last one."""
    links = [(40, 10, 67), (30, 20, 100), (20, 10, last_queue_packets)]
    return Topology(
        hosts=["h1", "h9"],
        routers=["r2", "r3"],
        links=[
            Link(a, b, rate_mbps=rate, delay_ms=delay, queue_packets=room)
            for a, b, (rate, delay, room) in zip(["h1", "r2", "r3"], ["r2", "r3", "h9"], links, strict=True)
        ],
    )
