"""Network, requests and own numbers of the chapter "Incast", without answers."""

import math
from collections.abc import Mapping
from typing import Any

from netlab import theory
from netlab.base.headers import FRAME_BYTES, MSS_BYTES
from netlab.network.link import Link
from netlab.network.topology import Topology
from netlab.runs.scenario import Scenario
from netlab.traffic import Requests
from netlab_course.own_numbers import OwnNumbers, StudentValues
from netlab_course.statements import stated_number

RATE_MBPS = 1000
RTT_MS = 0.1
QUEUE_PACKETS = 32
RESPONSE_BYTES = 32_000
ASKS = 20
EVERY_S = 0.5
DURATION_S = 10.5
INITIAL_WINDOW = 10
STEP_PACKETS = 20
MIN_RTO = "net.ipv4.tcp_rto_min_us"
WAY_BACK: Mapping[str, Any] = {"queue_packets": 1000, "aqm": "fifo", "aqm_options": {}}
"""The queue of the client's own interface, which holds requests and acknowledgements."""


def segments(response_bytes: int) -> int:
    """Return the number of TCP segments of a response."""
    return math.ceil(response_bytes / MSS_BYTES)


def largest_block(response_bytes: int, initial_window: int = INITIAL_WINDOW) -> float:
    """Return the packets of one server that wait at once, at most, in the queue of many servers in slow start, before
    the packets on the path are subtracted.

    The initial window arrives at once, and then each packet that leaves brings two others until the response is sent.
    """
    size = segments(response_bytes)
    return float(size) if size <= initial_window else (size + initial_window) / 2


def fitting_servers(queue_packets: int, response_bytes: int) -> float:
    """Return the number of servers, with its fraction, whose responses just fit into the queue and the path."""
    on_path = theory.bdp_bytes(RATE_MBPS, RTT_MS) / FRAME_BYTES
    return float((queue_packets + on_path) / largest_block(response_bytes))


def ideal_ms(
    servers: int, response_bytes: int = RESPONSE_BYTES, rate_mbps: float = RATE_MBPS, rtt_ms: float = RTT_MS
) -> float:
    """Return the time in ms in which all servers could answer: the frames of all responses through one link, and a
    round trip.
    """
    bits = 8 * servers * response_bytes * FRAME_BYTES / MSS_BYTES
    return bits / (1000 * rate_mbps) + rtt_ms


_STATED_RATIOS = (0.95, 0.97, 1.06, 1.08)
"""The numbers that a statement may have, relative to the ideal time."""


def _derived(own: StudentValues) -> dict[str, float]:
    """Return the limits of a student's two designs in ms, about three times and about one and a half times the ideal
    time, and the number of this copy's statement in ms.
    """
    ideal = ideal_ms(own.servers)
    return {
        "timer_ms": round(3.4 * ideal),
        "marks_ms": round(1.5 * ideal),
        "stated_ms": stated_number(own, ideal, _STATED_RATIOS),
    }


def _fractions_are_clear(own: StudentValues) -> bool:
    """Return whether the first server too many is too many by more than the differences between two asks, and differs
    from the answers of the usual mistakes.
    """
    fitting = fitting_servers(own.drop_queue, 1000 * own.drop_kb)
    return 0.1 < fitting % 1 < 0.55


NUMBERS = OwnNumbers(
    {
        "drop_queue": (128, 112, 120, 136, 140, 144, 150, 156),
        "drop_kb": (32, 30, 31, 33, 34, 35, 36),
        "servers": (24, 25, 26, 27, 28),
        "queue_packets": (64, 60, 66, 68, 70, 72),
    },
    holds=_fractions_are_clear,
    derive=_derived,
)


def rack(servers: int, queue_packets: int = QUEUE_PACKETS, **port: Any) -> Topology:
    """Return a network of servers s1, s2, ... and a client c at one switch.

    `port` has more fields of the switch's link to the client, such as ``aqm="red"``. Requests reach the servers with
    a jitter of 20 us, because no two servers begin at the same moment.
    """
    names = [f"s{number}" for number in range(1, servers + 1)]
    way_in = {"rate_mbps": RATE_MBPS, "delay_ms": RTT_MS / 4}
    links = [Link(name, "sw", **way_in, queue_packets=1000, reverse={"jitter_ms": 0.02}) for name in names]
    links.append(Link("sw", "c", **way_in, queue_packets=queue_packets, **port, reverse=dict(WAY_BACK)))
    return Topology(hosts=["c", *names], switches=["sw"], links=links)


def asks(servers: int, congestion: str = "cubic") -> list[Requests]:
    """Return requests of the client to all servers at the same instants, over connections that stay open."""
    return [
        Requests(
            "c",
            f"s{number}",
            response_bytes=RESPONSE_BYTES,
            count=ASKS,
            interval_s=EVERY_S,
            congestion=congestion,
        )
        for number in range(1, servers + 1)
    ]


def step(threshold_packets: int = STEP_PACKETS) -> dict[str, Any]:
    """Return the fields of a link whose queue marks all packets above a threshold, and none below."""
    low, high = threshold_packets, threshold_packets + 1
    options = {"min_packets": low, "max_packets": high, "probability": 1.0, "ecn": True}
    return {"aqm": "red", "aqm_options": options}


def claimed_scenario(own: StudentValues) -> Scenario:
    """Return the scenario of a colleague's claim: DCTCP in this copy's rack."""
    return Scenario(rack(own.servers, own.queue_packets, **step()), asks(own.servers, "dctcp"), duration_s=DURATION_S)
