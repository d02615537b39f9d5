"""Networks and own numbers of the chapter "Queues that speak up", without answers."""

from collections.abc import Mapping
from typing import Any

from netlab import engines, theory
from netlab.base.headers import FRAME_BYTES
from netlab.network.link import Link
from netlab.network.topology import Topology, topology_from_links
from netlab.runs.scenario import Scenario
from netlab.traffic import Tcp, Udp
from netlab_course.own_numbers import OwnNumbers, StudentValues
from netlab_course.statements import stated_number

RATE_MBPS = 20
BASE_RTT_MS = 20
LONG_QUEUE_PACKETS = 1000
FULL = 0.999 if engines.clock() == "virtual" else 0.99
"""The share of the link's limit that exercise 4 asks for; in real time a transfer has pauses that no queue makes."""
UNLIMITED: Mapping[str, Any] = {"rate_mbps": None, "queue_packets": None, "aqm": "fifo", "aqm_options": {}}


def bdp_frames(rate_mbps: float, base_rtt_ms: float) -> float:
    """Return the bandwidth-delay product of a path in full frames of 1514 bytes, with its fraction."""
    return theory.bdp_bytes(rate_mbps, base_rtt_ms) / FRAME_BYTES


_MEAN_FILLED_PART = 0.73
"""The part of the longest wait that a call has on average, because CUBIC gives up three tenths of its window."""
_STATED_RATIOS = (0.78, 0.82, 1.17, 1.21)
"""The numbers that a statement may have, relative to this part."""


def _derived_numbers(own: StudentValues) -> dict[str, float]:
    """Return the numbers that follow from a student's numbers, by name: the BDP in frames, `bdp_frames`, and the
    number of the copy's statement on the delay of a call in ms, `stated_ms`.
    """
    frame_ms = theory.transmission_delay_ms(FRAME_BYTES, own.rate_mbps)
    return {
        "bdp_frames": bdp_frames(own.rate_mbps, own.base_rtt_ms),
        "stated_ms": stated_number(own, _MEAN_FILLED_PART * own.queue_packets * frame_ms, _STATED_RATIOS),
    }


NUMBERS = OwnNumbers(
    {
        "rate_mbps": (20, 16, 18, 22, 25, 28, 30),
        "base_rtt_ms": (30, 24, 26, 28, 32, 34, 36, 38, 40),
        "queue_packets": (400, *(packets for packets in range(300, 1001, 25) if packets != 400)),
    },
    derive=_derived_numbers,
)


def one_link(rate_mbps: float = RATE_MBPS, base_rtt_ms: float = BASE_RTT_MS, **queue: Any) -> Topology:
    """Return a network of senders h1 and h2 and receiver h3 behind one link of `rate_mbps`, whose queue has the fields
    `queue`, such as ``aqm="codel"`` (by default room for 1000 packets); the whole delay, `base_rtt_ms`, is on the way
    back.
    """
    room = {} if "queue_packets" in queue or "queue_bytes" in queue else {"queue_packets": LONG_QUEUE_PACKETS}
    return topology_from_links(
        Link("h1", "r1"),
        Link("h2", "r1"),
        Link("r1", "h3", rate_mbps=rate_mbps, **room, **queue, reverse={**UNLIMITED, "delay_ms": base_rtt_ms}),
    )


def call_beside_download(own: StudentValues) -> Scenario:
    """Return a scenario of 30 s with a download of h1 and a call of h2 (UDP, datagrams at random moments) behind one
    long drop-tail queue, with the rate, RTT and queue of a student's copy.
    """
    network = one_link(own.rate_mbps, own.base_rtt_ms, queue_packets=own.queue_packets)
    call = Udp("h2", "h3", rate_mbps=1, payload_bytes=500, spacing="random")
    return Scenario(network, [Tcp("h1", "h3"), call], duration_s=30)
