"""What the chapter "Congestion collapse" measures on: its network and the figures that its parts share. No answers are here."""

from __future__ import annotations

from typing import Any

from netlab.network import topologies
from netlab.network.topology import Topology

MIDDLE_MBPS = 1.5
EXITS_MBPS = (1, 0.5)
"""Of r2 towards h4 and towards h3."""
QUEUE_PACKETS = 50
MODEST_MBPS = 1
AGGRESSOR_MBPS = 10
FAIR_QUEUE = {"aqm": "fq_codel", "aqm_options": {"target_ms": 15}}
SEND_PAIRS = (("h1", "h4"), ("h2", "h3"))


def network(access_mbps: tuple[float | None, float | None] = (None, None), **middle: Any) -> Topology:
    """The network of `epfl` section 2; its access links are open unless they get a rate, `middle` shapes r1-r2."""
    return topologies.two_routers(access_mbps, MIDDLE_MBPS, EXITS_MBPS, **{"queue_packets": QUEUE_PACKETS, **middle})
