"""Paths, pages and own numbers of the chapter on short flows, without answers."""

from collections.abc import Mapping
from typing import Any

from netlab.network.link import Link
from netlab.network.topology import Topology
from netlab.runs.scenario import Scenario
from netlab.traffic import Tcp
from netlab_course.own_numbers import OwnNumbers, StudentValues

RTT_MS = 100
PAGE_BYTES = 100_000
GAP_S = 2
LONG_QUEUE_PACKETS = 1000
PAGES = 60
CROWD_BYTES = 20_000


def _deadline(own: StudentValues) -> Mapping[str, Any]:
    return {"deadline_ms": round(2.8 * own.page_rtt_ms)}


NUMBERS = OwnNumbers(
    {
        "page_kb": (60, 50, 70, 80, 90, 110),
        "page_rtt_ms": (80, 60, 70, 90, 110, 120),
        "rate_mbps": (50, 40, 60, 70, 80, 90),
        "delay_ms": (30, 20, 25, 35, 40),
        "loss_percent": (3, 2, 2.5, 3.5, 4),
    },
    derive=_deadline,
)


def path(
    rate_mbps: float = 10, rtt_ms: float = RTT_MS, queue_packets: int = LONG_QUEUE_PACKETS, loss_rate: float = 0.0
) -> Topology:
    """Return a network of a sender, a router and a receiver behind a slow link, with half of the round-trip time in
    each direction.
    """
    slow = Link("r1", "h2", rate_mbps=rate_mbps, delay_ms=rtt_ms / 2, queue_packets=queue_packets, loss_rate=loss_rate)
    return Topology(["h1", "h2"], ["r1"], links=[Link("h1", "r1"), slow])


def lossy_pages(own: StudentValues) -> Scenario:
    """Return a scenario of sixty pages of 20 kB, one after the other, on a path with this copy's losses."""
    pages = [Tcp("h1", "h2", num_bytes=CROWD_BYTES, start_s=GAP_S * number) for number in range(PAGES)]
    return Scenario(path(loss_rate=own.loss_percent / 100), pages, duration_s=GAP_S * PAGES)
