"""A network in which the last packet of a handshake is lost, without chance."""

from __future__ import annotations

import netlab as nl

_LINKS = [
    nl.Link("h1", "r1"),
    nl.Link("h3", "r1"),
    nl.Link("r1", "h2", rate_mbps=10, delay_ms=50, queue_packets=10),
]
HANDSHAKE_WITHOUT_LAST_ACK = (
    nl.Topology(hosts=["h1", "h2", "h3"], routers=["r1"], links=_LINKS),
    # The queue is full for 20 ms when the ACK comes, after one RTT.
    [nl.Tcp("h1", "h2", num_bytes=1448), nl.Udp("h3", "h2", rate_mbps=200, start_s=0.09, duration_s=0.02)],
)
