"""Networks, traffic and own numbers of the chapter "UDP loss", without answers."""

from collections.abc import Mapping
from typing import Any

from netlab import theory
from netlab.network import topologies
from netlab.network.topology import Topology
from netlab_course.own_numbers import OwnNumbers, StudentValues

RATE_MBPS = 5
QUEUE_PACKETS = 100
PAYLOAD_BYTES = 1000

PROBES = 8
LOST_DATAGRAMS = 50
HIDDEN_QUEUE_PACKETS = 100

RIVAL_TOO_FAST = 1.023
"""The factor by which a link with a wire's framing would have to be too fast to carry as much at 1000 bytes."""


def _derived_numbers(own: StudentValues) -> Mapping[str, Any]:
    """Return the numbers that follow from a student's numbers by the rival explanation, by name: the goodput in Mbit/s,
    `rival_mbps`, and the bytes of a datagram that follow from it, `rival_bytes`.
    """
    rival_mbps = RIVAL_TOO_FAST * theory.udp_goodput_limit_mbps(own.rate_mbps, own.payload_bytes, "ethernet")
    return {"rival_mbps": rival_mbps, "rival_bytes": own.rate_mbps * own.payload_bytes / rival_mbps}


NUMBERS = OwnNumbers(
    {
        "rate_mbps": (8, 4, 6, 10, 12, 16),
        "payload_bytes": (600, 300, 400, 500, 800, 1200),
        "queue_packets": (50, 40, 60, 70, 80, 90),
        "hidden_mbps": (23, 17, 19, 29, 31, 37),
    },
    derive=_derived_numbers,
)


def three_pcs(framing: theory.Framing) -> Topology:
    """Return the network of section 1 of the lab `epfl`: senders h1 and h2, and receiver h3 behind a link of 5 Mbit/s
    with this framing.
    """
    return topologies.three_pcs(rate_mbps=RATE_MBPS, queue_packets=QUEUE_PACKETS, framing=framing)


def hidden_path(own: StudentValues) -> Topology:
    """Return a network with a path from h1 to h2 over four links, the slowest of which has the rate `hidden_mbps` of a
    student's numbers, to be found by probing.
    """
    return topologies.chain([90.0, 41.0, own.hidden_mbps, 64.0], [2.0, 5.0, 3.0, 1.0], HIDDEN_QUEUE_PACKETS)
