"""The network of "Start here", without answers."""

from netlab.network.link import Link
from netlab.network.topology import Topology, topology_from_links

DELAYS_MS = {"h1": 5, "h2": 10, "h3": 20}
RATE_MBPS = 10
QUEUE_PACKETS = 100


def three_hosts() -> Topology:
    """Return a network of hosts h1, h2 and h3 around a router, with delays of 5, 10 and 20 ms (one way); only the link
    to h3 has a rate, 10 Mbit/s.
    """
    return topology_from_links(
        Link("h1", "r1", delay_ms=DELAYS_MS["h1"]),
        Link("r1", "h2", delay_ms=DELAYS_MS["h2"]),
        Link("r1", "h3", delay_ms=DELAYS_MS["h3"], rate_mbps=RATE_MBPS, queue_packets=QUEUE_PACKETS),
    )
