"""The link and own numbers of the chapter "Why is 95 % too much?", without answers."""

import numpy as np

from netlab import engines, theory
from netlab.base.units import BITS_PER_BYTE, BITS_PER_MEGABIT, MS_PER_S
from netlab.engines import run_length_s
from netlab.network import topologies
from netlab.network.topology import Topology
from netlab.runs.scenario import Scenario
from netlab.traffic import Udp
from netlab_course.own_numbers import OwnNumbers, StudentValues
from netlab_course.statements import stated_number

RATE_MBPS = 5
PAYLOAD_BYTES = 1000
SERVICE_MS = theory.transmission_delay_ms(theory.udp_wire_bytes(PAYLOAD_BYTES), RATE_MBPS)
ROOM_PACKETS = 10_000

MIXED_RATE_MBPS = 1.5
MIXED_FRAMES = np.arange(89, 1514, 237)
MIXED_SHARES = 0.5 ** np.arange(1, len(MIXED_FRAMES) + 1) / (1 - 0.5 ** len(MIXED_FRAMES))
MIXED_BYTES = float(MIXED_SHARES @ MIXED_FRAMES)
MIXED_VARIATION = float(MIXED_SHARES @ (MIXED_FRAMES - MIXED_BYTES) ** 2) / MIXED_BYTES**2
MIXED_SERVICE_MS = theory.transmission_delay_ms(MIXED_BYTES, MIXED_RATE_MBPS)
"""Seven frame sizes, each half as frequent as the previous: nearly exponentially distributed, within Ethernet's limits."""

MIN_RUN_S = run_length_s(10, real_s=2)
ACCURACY = 0.03 if engines.clock() == "virtual" else 0.3
"""The half width of the interval relative to the mean in exercise 2: a student should not wait ten minutes of real time."""
CALL_PACKETS_PER_S = 50
LATE_SHARE = 0.01

_STATED_RATIOS = (0.88, 1.13, 0.85, 1.16)
"""The numbers that a statement may have, relative to theory."""


def _derived_numbers(own: StudentValues) -> dict[str, float]:
    """Return the numbers that follow from a student's numbers, by name: the offered rate of the worked example in
    Mbit/s, `worked_mbps`, and the number of the copy's statement on the mean delay in ms, `stated_ms`.
    """
    limit_mbps = theory.udp_goodput_limit_mbps(own.worked_rate_mbps, own.worked_payload_bytes)
    service_ms = theory.transmission_delay_ms(theory.udp_wire_bytes(PAYLOAD_BYTES), own.busy_rate_mbps)
    delay_ms = float(theory.mean_wait_ms(0.9, service_ms)) + service_ms
    return {
        "worked_mbps": round(own.worked_percent / 100 * limit_mbps, 3),
        "stated_ms": stated_number(own, delay_ms, _STATED_RATIOS),
    }


NUMBERS = OwnNumbers(
    {
        "worked_rate_mbps": (10, 8, 12, 16, 20, 25),
        "worked_payload_bytes": (500, 400, 600, 700, 800, 900),
        # At 50 % the load is as large as what it leaves, and wrong formulas are right.
        "worked_percent": (60, 65, 70, 75),
        "busy_rate_mbps": (5, 8, 6, 10),
        "line_rate_mbps": (2, 0.8, 0.9, 1, 1.1, 1.2, 1.3, 1.5, 1.6, 1.8, 2.2, 2.4),
        "call_bytes": (172, 92, 132, 212, 252),
        # A limit of a few packets' times: there the exponential law for loads near 1 is far from the exact share.
        "late_ms": (5, 6, 4),
    },
    derive=_derived_numbers,
)


def network(rate_mbps: float = RATE_MBPS) -> Topology:
    """Return a network of sender h1, a router and receiver h2; only the link to h2 has a rate, `rate_mbps`, and its
    queue has room for 10 000 packets, so that it never overflows.
    """
    return topologies.chain([None, rate_mbps], [0, 0], ROOM_PACKETS)


def offered_mbps(load: float, rate_mbps: float = RATE_MBPS, payload_bytes: int = PAYLOAD_BYTES) -> float:
    """Return the rate of data in Mbit/s, in datagrams with this payload, that keeps a link busy for the share `load` (0
    to 1) of the time.
    """
    return load * theory.udp_goodput_limit_mbps(rate_mbps, payload_bytes)


def one_size(load: float, duration_s: float, rate_mbps: float = RATE_MBPS) -> Scenario:
    """Return a scenario of datagrams of 1000 bytes at random moments that keep a link of `rate_mbps` busy for the share
    `load` (0 to 1) of the time, for `duration_s` seconds.
    """
    flow = Udp("h1", "h2", rate_mbps=offered_mbps(load, rate_mbps), payload_bytes=PAYLOAD_BYTES, spacing="random")
    return Scenario(network(rate_mbps), [flow], duration_s=duration_s, interval_s=1)


def mixed_sizes(load: float, duration_s: float) -> Scenario:
    """Return a scenario of datagrams of seven sizes at random moments that keep a link of 1.5 Mbit/s busy for the share
    `load` (0 to 1) of the time, for `duration_s` seconds; their mean time on the link is about as in `one_size`.
    """
    packets_per_s = load / MIXED_SERVICE_MS * MS_PER_S
    flows = [
        Udp(
            "h1",
            "h2",
            rate_mbps=float(packets_per_s * share * payload * BITS_PER_BYTE / BITS_PER_MEGABIT),
            payload_bytes=payload,
            spacing="random",
        )
        for share, payload in zip(MIXED_SHARES, (int(frame) - 42 for frame in MIXED_FRAMES), strict=True)
    ]
    return Scenario(network(MIXED_RATE_MBPS), flows, duration_s=duration_s, interval_s=1)


def busy(own: StudentValues, duration_s: float = MIN_RUN_S) -> Scenario:
    """Return a scenario of `duration_s` seconds in which the link of a student's copy is busy for 90 % of the time."""
    return one_size(0.9, duration_s, own.busy_rate_mbps)


def call_service_ms(own: StudentValues) -> float:
    """Return the time in ms that a datagram of a call takes on the line of a student's copy."""
    return theory.transmission_delay_ms(theory.udp_wire_bytes(own.call_bytes), own.line_rate_mbps)
