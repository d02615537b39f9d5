"""Networks, scenarios and own numbers of the chapter "BDP", without answers."""

from collections.abc import Sequence
from typing import Any

from netlab.base.units import BITS_PER_BYTE
from netlab.engines import lasting
from netlab.measure.results import Run
from netlab.network import topologies
from netlab.network.link import Link
from netlab.network.topology import Topology, of_links
from netlab.runs.scenario import Scenario
from netlab.traffic import Command, Ping, Tcp, Traffic, Udp
from netlab_course.own_numbers import OwnNumbers, StudentValues

RATE_MBPS = 100
DELAY_MS = 8

TRANSFERS = 3
MIN_WINDOW_BYTES, MAX_WINDOW_BYTES = 10_000, 1_000_000
HIDDEN_DELAY_MS = 11
MIN_WAITING_KB = 45

PAIRS = [("r1", "r2"), ("r2", "r3"), ("r3", "r4"), ("h1", "h4"), ("h1", "h9"), ("h7", "h9")]
"""Links and paths that `simpleperf` measured separately."""

PING_S, TRANSFER_S, GAP_S = 1.2, lasting(25, real_s=8), 2

# A window takes exactly one round-trip time of a segment if the sender's interface gets single frames, without
# segmentation offload, and the receiver acknowledges each segment at once.
WITHOUT_OFFLOAD = Command("h1", "ip link set dev h1-eth0 gso_max_segs 1")
ACKNOWLEDGE_EACH = Command("h2", "ip route | while read route; do ip route change $route quickack 1; done")


def _bdp_kb(own: StudentValues) -> float:
    """Return the bandwidth-delay product in kB of a student's path."""
    return float(own.rate_mbps * 2 * own.delay_ms / BITS_PER_BYTE)


NUMBERS = OwnNumbers(
    {
        "rate_mbps": (50, 30, 40, 60, 70, 80),
        "delay_ms": (12, 9, 10, 15, 18, 20),
        "filling": (2.5, 1.5, 1.6, 2.4, 2.8, 3),
        "hidden_mbps": (45, 35, 55, 65, 75, 85),
    },
    # The window must exceed the BDP by some 30 frames: one or two of them make runs differ from theory.
    holds=lambda own: own.window_kb - _bdp_kb(own) >= MIN_WAITING_KB,
    derive=lambda own: {
        "window_kb": int(round(own.filling * _bdp_kb(own), -1)),
        "half_kb": int(round(_bdp_kb(own) / 2, -1)),
    },
)


def cable(rate_mbps: float = RATE_MBPS, delay_ms: float = DELAY_MS) -> Topology:
    """Return a network of two hosts, a router and a cable with this rate in Mbit/s and one-way delay in ms, whose rate
    counts all bytes of a real wire (`siit`).
    """
    # The queue is in a router: Linux keeps almost no queue in the sender's own interface.
    slow = Link("r1", "h2", rate_mbps=rate_mbps, delay_ms=delay_ms, queue_packets=1000, framing="ethernet")
    return Topology(hosts=["h1", "h2"], routers=["r1"], links=[Link("h1", "r1"), slow])


def transfer(window_bytes: int | None, network: Topology, before: Sequence[Command] = ()) -> Scenario:
    """Return a scenario of commands that prepare the hosts, then 5 s of TCP from h1 to h2 with this window in bytes;
    None leaves it to Linux.
    """
    flow = Tcp("h1", "h2", congestion="reno", window_bytes=window_bytes, start_s=0.5, duration_s=5)
    return Scenario(network, [*before, flow], duration_s=5.5, interval_s=0.5)


def beside_somebody(own: StudentValues) -> Scenario:
    """Return a scenario of a transfer from h1 to h2 with a window of half the BDP, and a UDP flow of 30 % of the rate
    with datagrams at random moments.
    """
    flows: list[Traffic] = [
        Tcp("h1", "h2", window_bytes=1000 * own.half_kb),
        Udp("h1", "h2", rate_mbps=0.3 * own.rate_mbps, spacing="random"),
    ]
    return Scenario(topologies.chain([None, own.rate_mbps], [0, own.delay_ms], 1000), flows, duration_s=10)


def settled_mbps(run: Run) -> float:
    """Return the goodput in Mbit/s of a run of `transfer` without its first 1.5 s, in which TCP adapts."""
    return float(run.goodput_mbps(after_s=2).dropna().iloc[0])


def settled_rtt_ms(run: Run) -> float:
    """Return the mean round-trip time in ms that the sender measured after the first 1.5 s of a run of `transfer`."""
    return float(run.intervals.loc[run.intervals["t_s"] > 2, "rtt_ms"].mean())


def one_after_the_other() -> list[Traffic]:
    """Return five pings for each of `PAIRS`, one pair after the other, and then a TCP transfer of TRANSFER_S seconds
    for each.
    """
    pings = [Ping(src, dst, count=5, start_s=PING_S * place) for place, (src, dst) in enumerate(PAIRS)]
    transfers = [
        Tcp(src, dst, start_s=start_s, duration_s=TRANSFER_S)
        for (src, dst), start_s in zip(PAIRS, transfer_starts_s(), strict=True)
    ]
    return [*pings, *transfers]


def transfer_starts_s() -> list[float]:
    """Return the start in s of each transfer of `one_after_the_other`."""
    first_s = 8.0
    return [first_s + (TRANSFER_S + GAP_S) * place for place in range(len(PAIRS))]


def three_links(last_queue_packets: int) -> Topology:
    """Return the links of `simpleperf`'s path h1-h9, with this room in packets in the queue before the last one."""
    return of_links(
        Link("h1", "r2", rate_mbps=40, delay_ms=10, queue_packets=67),
        Link("r2", "r3", rate_mbps=30, delay_ms=20, queue_packets=100),
        Link("r3", "h9", rate_mbps=20, delay_ms=10, queue_packets=last_queue_packets),
    )


def hidden_path(own: StudentValues) -> Topology:
    """Return a path from h1 to h2 with a student's hidden rate, whose queue has room for every allowed window."""
    return topologies.chain([None, own.hidden_mbps], [0, HIDDEN_DELAY_MS], 1000)


def star() -> Topology:
    """Return a network with only propagation to h2, h3 and h4 (1, 5 and 25 ms), only a slow link (1 Mbit/s) to h5, and
    ideal return paths.
    """

    def one_way(a: str, b: str, **shape: Any) -> Link:
        """Return a link with these properties from a to b only."""
        return Link(a, b, **shape, reverse={"rate_mbps": None, "queue_packets": None, "delay_ms": 0})

    return of_links(
        *(Link("h1", "r1"), Link("r1", "r2"), Link("r2", "r3")),
        one_way("r1", "h2", delay_ms=1),
        one_way("r2", "h3", delay_ms=5),
        one_way("r3", "h4", delay_ms=25),
        one_way("r3", "h5", rate_mbps=1, queue_packets=100),
    )
