"""The network and own numbers of the sample chapter."""

from __future__ import annotations

from netlab.network import topologies
from netlab.network.topology import Topology
from netlab_course.own_numbers import OwnNumbers

NUMBERS = OwnNumbers(
    {"rate_mbps": (5, 4, 6, 8, 10), "payload_bytes": (1000, 700, 850, 1200, 1400), "queue_packets": (20, 30, 40, 50)},
    holds=lambda own: own.rate_mbps > 2,
    derive=lambda own: {"worked_mbps": 2 * own.rate_mbps * own.payload_bytes / (own.payload_bytes + 42)},
)
MAX_PROBES = 30


def network(rate_mbps: float, queue_packets: int) -> Topology:
    """Return one sender, one receiver and one slow link."""
    return topologies.dumbbell(pairs=1, rate_mbps=rate_mbps, delay_ms=1, queue_packets=queue_packets)
