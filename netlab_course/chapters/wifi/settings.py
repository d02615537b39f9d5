"""The network and common numbers of the chapter "Wi-Fi", without answers."""

from collections.abc import Mapping
from typing import Any

from netlab import theory
from netlab.network.link import Link
from netlab.network.media import Wifi
from netlab.network.topology import Topology
from netlab.runs.scenario import Scenario
from netlab.traffic import Udp
from netlab_course.own_numbers import OwnNumbers, StudentValues
from netlab_course.statements import stated_number

MAX_PAYLOAD_BYTES = 1472
SLOW_MBPS = (6, 9, 12, 18)
WANTED_MBPS = (0.2, 0.18, 0.22)
"""Half widths for the sum of two senders, in Mbit/s; single sums scatter by about 0.22, the goodputs of one by 0.36."""
_STATED_RATIOS = (0.95, 0.965, 1.01, 1.02)
"""The numbers that a statement may have, relative to Bianchi's; two senders get about a hundredth less."""


def bianchi_mbps() -> float:
    """Return the sum of the goodputs in Mbit/s of two stations that always have a datagram of 1472 bytes waiting, by
    Bianchi's model.
    """
    return float(theory.wifi_saturation(2, MAX_PAYLOAD_BYTES).goodput_mbps)


def _derived_numbers(own: StudentValues) -> Mapping[str, float]:
    """Return the numbers that follow from a student's numbers (`own`), by name: the number in Mbit/s of the statement on
    two senders together, `stated_mbps`; the half width in Mbit/s that is wanted for it, `wanted_mbps`; the rate in Mbit/s
    of the slow station, `slow_mbps`, and the duration of its acknowledgements in us, `slow_ack_us`.
    """
    # Copies that were handed out before keep their other numbers, because this one is not drawn.
    slow_mbps = SLOW_MBPS[round(50 * own.target_mbps) % len(SLOW_MBPS)]
    return {
        "stated_mbps": stated_number(own, bianchi_mbps(), _STATED_RATIOS),
        "wanted_mbps": WANTED_MBPS[round(50 * own.target_mbps) // len(SLOW_MBPS) % len(WANTED_MBPS)],
        "slow_mbps": slow_mbps,
        "slow_ack_us": Wifi(rate_mbps=slow_mbps).ack_us,
    }


NUMBERS = OwnNumbers(
    {
        "target_mbps": (20, *(mbps / 50 for mbps in range(550, 1101) if mbps != 1000)),
        "air_mbps": (54, 48),
    },
    # The requested payload must be neither tiny nor the largest.
    holds=lambda own: (
        0.3 < own.target_mbps / theory.wifi_udp_limit_mbps(MAX_PAYLOAD_BYTES, {"rate_mbps": own.air_mbps}) < 0.9
    ),
    derive=_derived_numbers,
)


def air(queue_packets: int = 1000, **options: Any) -> Topology:
    """Return a network of stations h1 and h2 on one 802.11g medium, each with a queue of `queue_packets`; `options` are
    the medium's `medium_options`, such as `rate_mbps`.
    """
    link = Link("h1", "h2", medium="802.11g", medium_options=options, queue_packets=queue_packets)
    return Topology(hosts=["h1", "h2"], links=[link])


def two_senders(payload_bytes: int = MAX_PAYLOAD_BYTES) -> Scenario:
    """Return a scenario of 0.5 s in which the stations h1 and h2 send each other UDP, so that both always have a
    datagram with this payload waiting.
    """
    senders = [Udp(*pair, rate_mbps=36, payload_bytes=payload_bytes) for pair in (("h1", "h2"), ("h2", "h1"))]
    return Scenario(air(queue_packets=20), senders, duration_s=0.5)
