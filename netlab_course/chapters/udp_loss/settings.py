"""Networks, traffic and own numbers of the chapter "UDP loss", without answers."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from netlab import theory
from netlab.engines import lasting
from netlab.network import topologies
from netlab.network.link import Link
from netlab.network.topology import Topology
from netlab.traffic import Udp
from netlab_course.own_numbers import OwnNumbers, StudentValues

RATE_MBPS = 5
QUEUE_PACKETS = 100
PAYLOAD_BYTES = 1000
SEND_S, PAUSE_S = lasting(10, real_s=4), 1
"""Duration in s of each step of a staircase, and of the pause between two, in which a full queue can drain."""

PROBES = 8
LOST_DATAGRAMS = 50
HIDDEN_QUEUE_PACKETS = 100

RIVAL_TOO_FAST = 1.023
"""The factor by which a link with a wire's framing would have to be too fast to carry as much at 1000 bytes."""


def _derived(own: StudentValues) -> Mapping[str, Any]:
    """Return the values derived from a student's numbers: goodput in Mbit/s and bytes by the rival explanation."""
    rival_mbps = RIVAL_TOO_FAST * theory.udp_goodput_limit_mbps(own.rate_mbps, own.payload_bytes, "ethernet")
    return {"rival_mbps": rival_mbps, "rival_bytes": own.rate_mbps * own.payload_bytes / rival_mbps}


NUMBERS = OwnNumbers(
    {
        "rate_mbps": (8, 4, 6, 10, 12, 16),
        "payload_bytes": (600, 300, 400, 500, 800, 1200),
        "queue_packets": (50, 40, 60, 70, 80, 90),
        "hidden_mbps": (23, 17, 19, 29, 31, 37),
    },
    derive=_derived,
)


def three_pcs(framing: theory.Framing) -> Topology:
    """Return the network of the chapter (`epfl` section 1): two senders, a receiver and a slow link
    with this framing.
    """
    return topologies.three_pcs(rate_mbps=RATE_MBPS, queue_packets=QUEUE_PACKETS, framing=framing)


def cable(framing: theory.Framing) -> Topology:
    """Return a network of two hosts and a cable of 100 Mbit/s with this framing (`siit`)."""
    link = Link("h1", "h2", rate_mbps=100, queue_packets=QUEUE_PACKETS, framing=framing)
    return Topology(hosts=["h1", "h2"], links=[link])


def hidden_path(own: StudentValues) -> Topology:
    """Return a network with a path from h1 to h2 over four links, the slowest of which the student must find by
    probing.
    """
    return topologies.chain([90.0, 41.0, own.hidden_mbps, 64.0], [2.0, 5.0, 3.0, 1.0], HIDDEN_QUEUE_PACKETS)


def staircase(rates_mbps: Iterable[float]) -> list[Udp]:
    """Return one UDP flow from h1 to h3 for each rate in Mbit/s, one after the other, each exactly periodic and SEND_S
    long.
    """
    return [
        Udp("h1", "h3", rate_mbps=float(rate), spacing="even", start_s=step * (SEND_S + PAUSE_S), duration_s=SEND_S)
        for step, rate in enumerate(rates_mbps)
    ]


def length_s(steps: Sequence[Udp]) -> float:
    """Return the duration in s of a run of a staircase, with the pause after its last step."""
    return steps[-1].start_s + SEND_S + PAUSE_S


def overload(payloads_bytes: Iterable[int]) -> list[Udp]:
    """Return one UDP flow of 1 s and 6 Mbit/s from h1 to h3 for each payload in bytes, one every 2 s."""
    return [
        Udp("h1", "h3", rate_mbps=6, payload_bytes=int(size), spacing="even", start_s=2 * step, duration_s=1)
        for step, size in enumerate(payloads_bytes)
    ]
