"""Paths, pages and own numbers of the chapter on short flows, without answers."""

from collections.abc import Mapping
from typing import Any

from netlab.network.link import Link
from netlab.network.topology import Topology
from netlab.runs.scenario import Scenario
from netlab.traffic import Tcp
from netlab_course.own_numbers import OwnNumbers, StudentValues
from netlab_course.statements import stated_number

RTT_MS = 100
PAGE_BYTES = 100_000
LONG_QUEUE_PACKETS = 1000
PAGES, PAGE_EVERY_S, PAGES_S = 200, 0.5, 120
CROWD_BYTES = 20_000


_STATED_RATIOS = (0.12, 0.18, 1.8, 2)
"""The numbers that a statement may have, relative to theory; chance is large among so few late pages."""


def failing_percent(own: StudentValues) -> float:
    """Return the chance in % that a handshake fails at once, because its SYN or its SYN-ACK is lost, at the loss rate
    of a student's copy.
    """
    return float(100 * (1 - (1 - own.loss_percent / 100) ** 2))


def _derived_numbers(own: StudentValues) -> Mapping[str, Any]:
    """Return the numbers that follow from a student's numbers, by name: the deadline of a page in ms, `deadline_ms`,
    and the number of the copy's statement on late pages in %, `stated_percent`.
    """
    return {
        "deadline_ms": round(2.8 * own.page_rtt_ms),
        "stated_percent": stated_number(own, failing_percent(own), _STATED_RATIOS),
    }


NUMBERS = OwnNumbers(
    {
        "page_kb": (60, 50, 70, 80, 90, 110),
        "page_rtt_ms": (80, 60, 70, 90, 110, 120),
        "rate_mbps": (50, 40, 60, 70, 80, 90),
        "delay_ms": (30, 20, 25, 35, 40),
        "loss_percent": (3, 2.5, 3.5, 4, 4.5),
    },
    derive=_derived_numbers,
)


def path(
    rate_mbps: float = 10, rtt_ms: float = RTT_MS, queue_packets: int = LONG_QUEUE_PACKETS, loss_rate: float = 0.0
) -> Topology:
    """Return a network of sender h1, a router and receiver h2 behind a link with this rate, queue and random loss (0 to
    1) in each direction, and half of the round-trip time as its delay.
    """
    slow = Link("r1", "h2", rate_mbps=rate_mbps, delay_ms=rtt_ms / 2, queue_packets=queue_packets, loss_rate=loss_rate)
    return Topology(["h1", "h2"], ["r1"], links=[Link("h1", "r1"), slow])


def lossy_pages(own: StudentValues) -> Scenario:
    """Return a scenario of 120 s with 200 pages of 20 kB, one every half second, over a path of 10 Mbit/s and 100 ms
    with the losses of a student's copy.
    """
    pages = [Tcp("h1", "h2", num_bytes=CROWD_BYTES, start_s=PAGE_EVERY_S * number) for number in range(PAGES)]
    return Scenario(path(loss_rate=own.loss_percent / 100), pages, duration_s=PAGES_S)
