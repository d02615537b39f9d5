"""Paths, pages and own numbers of the chapter on short flows, without answers."""

from collections.abc import Mapping, Sequence
from typing import Any

from netlab.base.headers import MSS_BYTES
from netlab.network.change import Change
from netlab.network.link import Link
from netlab.network.topology import Topology
from netlab.runs.scenario import Scenario
from netlab.traffic import Tcp
from netlab_course.own_numbers import OwnNumbers, StudentValues

RTT_MS = 100
PAGE_BYTES = 100_000
SIZES_BYTES = (1_000, 4_000, 14_000, 15_000, 25_000, 43_000, 44_000, 70_000, 100_000, 102_000, 250_000, 1_000_000)
GAP_S = 2
LONG_QUEUE_PACKETS = 1000
SMALL_PAGE_BYTES = 16 * MSS_BYTES
"""The size in bytes of a page of two rounds: a window of ten segments and six more."""
PAGES = 60
CROWD_BYTES = 20_000
CROWD_GAP_S = 4
CROWD_LOSS_RATE = 0.01


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


def one_by_one(
    sizes_bytes: Sequence[float], initial_window_segments: int | None = None, gap_s: float = GAP_S
) -> list[Tcp]:
    """Return a TCP transfer from h1 to h2 for each size in bytes, started one after the other at intervals of `gap_s`
    seconds.
    """
    return [
        Tcp("h1", "h2", num_bytes=int(size), start_s=gap_s * number, initial_window_segments=initial_window_segments)
        for number, size in enumerate(sizes_bytes)
    ]


def length_s(traffic: Sequence[Tcp], gap_s: float = GAP_S) -> float:
    """Return the duration in s of a run of transfers that start at intervals of `gap_s`, the last of which gets as much
    time.
    """
    return traffic[-1].start_s + gap_s


def crowd() -> list[Tcp]:
    """Return sixty transfers of 20 kB, one after the other."""
    return one_by_one([CROWD_BYTES] * PAGES, gap_s=CROWD_GAP_S)


def lossy_pages(own: StudentValues) -> Scenario:
    """Return a scenario of sixty pages of 20 kB, one after the other, on a path with this copy's losses."""
    pages = one_by_one([CROWD_BYTES] * PAGES)
    return Scenario(path(loss_rate=own.loss_percent / 100), pages, duration_s=length_s(pages))


def lose_between(begin_s: float, end_s: float) -> list[Change]:
    """Return changes of the link to the receiver that lose all packets to it between two moments in s."""
    return [
        Change(at_s=at_s, link=("r1", "h2"), loss_rate=loss_rate, reverse={"loss_rate": 0})
        for at_s, loss_rate in ((begin_s, 1), (end_s, 0))
    ]


LOST: dict[str, list[Change]] = {
    "nothing": [],
    "the SYN": lose_between(0.99, 1.01),
    "a segment of the first burst": lose_between(1.1031, 1.1042),
    "a segment of the last burst": lose_between(1.2019, 1.2025),
    "the last segment": lose_between(1.2065, 1.2080),
}
"""The lost packets of a small page that starts at 1 s over the path of 10 Mbit/s."""
