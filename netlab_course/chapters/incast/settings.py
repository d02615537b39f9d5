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
QUERIES = 20
EVERY_S = 0.5
DURATION_S = 10.5
INITIAL_WINDOW = 10
STEP_PACKETS = 20
MIN_RTO = "net.ipv4.tcp_rto_min_us"
US_PER_MS = 1000
SEEDS = (1, 2, 3, 4, 5)
MAY_BE_LATE = 1
"""The queries of all seeds together that may be late: a lost retransmission doubles the timer."""
LEAST_REST_MS, MOST_REST_MS = 6, 11
"""The least and the greatest time in ms that a late answer takes besides the bound."""
TIMER_TICKS_MS = 2
"""The time in ms that a bound leaves for the ticks of the timer."""
SPARE_MS = 2
"""The time in ms by which the bound of a design may be below the computed one."""
BOUND_BELOW_LIMIT_MS = MOST_REST_MS + TIMER_TICKS_MS + SPARE_MS
"""The time in ms by which the bound of a design may be below the limit."""
SHORT_BOUND_MS = 5
"""The bound in ms of the runs that the notebook shows before the exercise."""
ROOM_BELOW = 5
"""The packets by which a room may be below the computed one if its runs are in time."""
SPARE_PACKETS = 3
"""The packets for which a design may have more room than needed."""
MIN_WINDOW = 2
"""The smallest window of DCTCP, in segments."""
WAY_BACK: Mapping[str, Any] = {"queue_packets": 1000, "aqm": "fifo", "aqm_options": {}}
"""The queue of the client's own interface, which holds requests and acknowledgements."""


def segments(response_bytes: int) -> int:
    """Return the number of TCP segments, of 1448 bytes at most, of a response with this many bytes."""
    return math.ceil(response_bytes / MSS_BYTES)


def largest_block(response_bytes: int, initial_window: int = INITIAL_WINDOW) -> float:
    """Return the packets of one server that wait at once, at most, in a queue that many servers in slow start share,
    before the packets on the path are subtracted; `initial_window` is in segments.

    The initial window arrives at once, and then each packet that leaves brings two others until the response is sent.
    """
    size = segments(response_bytes)
    return float(size) if size <= initial_window else (size + initial_window) / 2


def fitting_servers(queue_packets: int, response_bytes: int) -> float:
    """Return the number of servers, with its fraction, whose responses of this many bytes just fit into a queue of this
    many packets and on the way of 1000 Mbit/s and 0.1 ms.
    """
    on_path = theory.bdp_bytes(RATE_MBPS, RTT_MS) / FRAME_BYTES
    return float((queue_packets + on_path) / largest_block(response_bytes))


def ideal_ms(
    servers: int, response_bytes: int = RESPONSE_BYTES, rate_mbps: float = RATE_MBPS, rtt_ms: float = RTT_MS
) -> float:
    """Return the time in ms in which all servers could answer: the frames of all responses, each of `response_bytes`
    without headers, through one link, and a round trip.
    """
    bits = 8 * servers * response_bytes * FRAME_BYTES / MSS_BYTES
    return bits / (1000 * rate_mbps) + rtt_ms


def least_room(servers: int) -> float:
    """Return the packets for which a queue needs room if all servers send their smallest windows at once, without those
    on the path of 1000 Mbit/s and 0.1 ms.
    """
    return MIN_WINDOW * servers - theory.bdp_bytes(RATE_MBPS, RTT_MS) / FRAME_BYTES


def least_bound_ms(own: StudentValues) -> float:
    """Return the smallest bound of the timer in ms that a design with a student's numbers may have."""
    return float(own.timer_ms - BOUND_BELOW_LIMIT_MS)


_STATED_RATIOS = (0.95, 0.97, 1.06, 1.08)
"""The numbers that a statement may have, relative to the ideal time."""


def _derived_numbers(own: StudentValues) -> dict[str, float]:
    """Return the numbers that follow from a student's numbers, in ms by name: the limits of the two designs, `timer_ms`
    (30 ms more than the ideal time) and `marks_ms` (1.25 times the ideal time), and the number of the copy's statement, `stated_ms`.
    """
    ideal = ideal_ms(own.servers)
    return {
        "timer_ms": round(ideal + 30),
        "marks_ms": round(1.25 * ideal),
        "stated_ms": stated_number(own, ideal, _STATED_RATIOS),
    }


def _fractions_are_clear(own: StudentValues) -> bool:
    """Return whether the smallest number of servers that is too many, with a student's numbers, is too many by more
    than the differences between two queries, and is not reached without the packets on the path.
    """
    fitting = fitting_servers(own.drop_queue, 1000 * own.drop_kb)
    without_path = own.drop_queue / largest_block(1000 * own.drop_kb)
    return 0.1 < fitting % 1 < 0.55 and math.floor(without_path) < math.floor(fitting)


NUMBERS = OwnNumbers(
    {
        "drop_queue": (128, 112, 120, 136, 140, 144, 150, 156),
        "drop_kb": (32, 30, 31, 33, 34, 35, 36),
        "servers": (24, 25, 26, 27, 28),
        "queue_packets": (64, 60, 66, 68, 70, 72),
    },
    holds=_fractions_are_clear,
    derive=_derived_numbers,
)


def rack(servers: int, queue_packets: int = QUEUE_PACKETS, **port: Any) -> Topology:
    """Return a network of servers s1, s2, ... and a client c at one switch, whose port to the client has a queue of
    `queue_packets` and the fields `port`, such as ``aqm="red"``.

    Requests reach the servers with a jitter of 20 us, because no two servers begin at the same moment.
    """
    names = [f"s{number}" for number in range(1, servers + 1)]
    way_in = {"rate_mbps": RATE_MBPS, "delay_ms": RTT_MS / 4}
    links = [Link(name, "sw", **way_in, queue_packets=1000, reverse={"jitter_ms": 0.02}) for name in names]
    links.append(Link("sw", "c", **way_in, queue_packets=queue_packets, **port, reverse=dict(WAY_BACK)))
    return Topology(hosts=["c", *names], switches=["sw"], links=links)


def queries(servers: int, congestion: str = "cubic") -> list[Requests]:
    """Return the requests of the client c to each server s1, s2, ... at the same instants: 20 responses of 32 kB at
    intervals of 0.5 s, over connections that stay open and use this congestion control.
    """
    return [
        Requests(
            "c",
            f"s{number}",
            response_bytes=RESPONSE_BYTES,
            count=QUERIES,
            interval_s=EVERY_S,
            congestion=congestion,
        )
        for number in range(1, servers + 1)
    ]


def step(threshold_packets: int = STEP_PACKETS) -> dict[str, Any]:
    """Return the fields of a link whose queue marks all packets when more than `threshold_packets` wait, and none
    below.
    """
    low, high = threshold_packets, threshold_packets + 1
    options = {"min_packets": low, "max_packets": high, "probability": 1.0, "ecn": True}
    return {"aqm": "red", "aqm_options": options}


def claimed_scenario(own: StudentValues) -> Scenario:
    """Return the scenario of a colleague's claim: DCTCP with a step of marks in the rack of a student's copy."""
    return Scenario(
        rack(own.servers, own.queue_packets, **step()), queries(own.servers, "dctcp"), duration_s=DURATION_S
    )


def __dir__() -> list[str]:
    """Return the names that Tab offers in a notebook: what builds the rack, not the formulas of the exercises."""
    return ["claimed_scenario", "queries", "rack", "step"]
