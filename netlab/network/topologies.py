"""The named topologies of the chapters."""

from collections.abc import Mapping, Sequence
from typing import Any

from netlab.base.arguments import explain_bad_arguments
from netlab.base.errors import ScenarioError, unknown_name
from netlab.base.values import is_integer, short_repr, to_python
from netlab.network.link import Link, LinkShape, takes_link_fields
from netlab.network.topology import Topology, topology_from_links

__all__ = ["chain", "dumbbell", "portfolio", "slow_middle", "three_pcs", "two_routers"]

DEFAULT_QUEUE_PACKETS = 100
MAX_PAIRS = 1000
QUEUE_FIELDS = ("rate_mbps", "queue_packets", "queue_bytes", "aqm", "aqm_options")
PORTFOLIO_DELAYS_MS = (10, 20, 10)


@takes_link_fields
def dumbbell(
    pairs: int = 2,
    rate_mbps: float | None = 5,
    delay_ms: float = 10,
    queue_packets: int | None = DEFAULT_QUEUE_PACKETS,
    **bottleneck: Any,
) -> Topology:
    """Return a topology of `pairs` senders h1 … hN at r1 and receivers hN+1 … h2N at r2 (h1's partner is hN+1), and a
    bottleneck r1-r2 of `rate_mbps` Mbit/s, `delay_ms` ms (one way) and room for `queue_packets`, both ways alike.
    Access links are unlimited and without delay. Raises ScenarioError for a wrong number of `pairs`.

    Parameters
    ----------
    pairs : int
        Number of sender-receiver pairs, at least 1.
    rate_mbps, delay_ms, queue_packets
        Properties of the bottleneck in both directions; further fields of `netlab.Link` may follow.
    """
    pairs = to_python(pairs)
    if not (is_integer(pairs) and 1 <= pairs <= MAX_PAIRS):
        raise ScenarioError([f"pairs must be a whole number from 1 to {MAX_PAIRS}, got {short_repr(pairs)}"])
    left = [f"h{i}" for i in range(1, pairs + 1)]
    right = [f"h{i}" for i in range(pairs + 1, 2 * pairs + 1)]
    queue = _queue(rate_mbps, queue_packets, bottleneck)
    middle = Link("r1", "r2", rate_mbps=rate_mbps, delay_ms=delay_ms, queue_packets=queue, **bottleneck)
    access = [Link(name, "r1") for name in left] + [Link("r2", name) for name in right]
    return Topology(hosts=[*left, *right], routers=["r1", "r2"], links=[*access, middle])


@takes_link_fields
def three_pcs(
    rate_mbps: float | None = 5, queue_packets: int | None = DEFAULT_QUEUE_PACKETS, **bottleneck: Any
) -> Topology:
    """Return a topology of hosts h1 and h2 behind a switch at router r1, and h3 behind r1's interface r1-eth1, limited
    to `rate_mbps` Mbit/s with room for `queue_packets` (`epfl` figure 1); further fields of that link may follow.
    """
    unlimited = {name: getattr(LinkShape(), name) for name in QUEUE_FIELDS}
    queue = _queue(rate_mbps, queue_packets, bottleneck)
    return topology_from_links(
        Link("h1", "s1"),
        Link("h2", "s1"),
        Link("s1", "r1"),
        Link("r1", "h3", rate_mbps=rate_mbps, queue_packets=queue, reverse=unlimited, **bottleneck),
    )


@takes_link_fields
def two_routers(
    access_mbps: tuple[float | None, float | None] = (1, 10),
    middle_mbps: float = 1.5,
    exit_mbps: tuple[float, float] = (1, 0.5),
    queue_packets: int | None = 50,
    **middle: Any,
) -> Topology:
    """Return a topology whose flows h1-h4 and h2-h3 share r1-r2 (`epfl` figure 2: congestion collapse), with rates in
    Mbit/s of the links of h1 and h2 (None: unlimited), r1-r2, h4 and h3, and `queue_packets` of room at each.

    Parameters
    ----------
    access_mbps : pair of float or None
        Rates of the links of h1 and h2 in Mbit/s; None is unlimited, so that only the sender limits the flow.
    middle_mbps : float
        Rate of the link that both flows share, in Mbit/s.
    exit_mbps : pair of float
        Rates of the links to h4 (the destination of h1) and to h3 (that of h2), in Mbit/s.
    queue_packets : int or None
        Room before each link that has a rate, in packets.
    middle
        More fields of the shared link, such as ``aqm="fq_codel"``.
    """
    _require_one_each(("h1", "h2"), access_mbps=access_mbps)
    _require_one_each(("h4", "h3"), exit_mbps=exit_mbps)

    def link(a: str, b: str, rate_mbps: float | None, **more: Any) -> Link:
        """Return a link with this rate in Mbit/s, and a queue unless the rate is None."""
        return Link(a, b, rate_mbps=rate_mbps, queue_packets=None if rate_mbps is None else queue_packets, **more)

    return topology_from_links(
        link("h1", "r1", access_mbps[0]),
        link("h2", "r1", access_mbps[1]),
        link("r1", "r2", middle_mbps, **middle),
        link("r2", "h4", exit_mbps[0]),
        link("r2", "h3", exit_mbps[1]),
    )


@takes_link_fields
def portfolio(
    rates_mbps: Sequence[float | None] = (40, 30, 20), queue_packets: Sequence[int | None] = (67, 100, 33), **links: Any
) -> Topology:
    """Return nine hosts at routers in a row over L1 (r1-r2, 10 ms), L2 (r2-r3, 20 ms), L3 (r3-r4, 10 ms), with a rate
    in Mbit/s (None: no limit) and room in packets each: h1 to h3 at r1, h7 at r2, h4 to h6 and h8 at r3, h9 at r4.

    Parameters
    ----------
    rates_mbps : three floats or None
        Rates of L1, L2 and L3 in Mbit/s; None is unlimited and without a queue.
    queue_packets : three ints or None
        Room before L1, L2 and L3, in packets.
    links
        More fields of the links that have a rate, such as ``aqm="fq_codel"``.
    """
    _require_one_each(("L1", "L2", "L3"), rates_mbps=rates_mbps, queue_packets=queue_packets)
    row = [
        Link(f"r{number}", f"r{number + 1}", delay_ms=delay_ms)
        if rate_mbps is None
        else Link(f"r{number}", f"r{number + 1}", rate_mbps=rate_mbps, delay_ms=delay_ms, queue_packets=room, **links)
        for number, (rate_mbps, delay_ms, room) in enumerate(
            zip(rates_mbps, PORTFOLIO_DELAYS_MS, queue_packets, strict=True), start=1
        )
    ]
    return topology_from_links(
        *(Link(f"h{i}", "s1") for i in (1, 2, 3)),
        Link("s1", "r1"),
        row[0],
        Link("h7", "r2"),
        row[1],
        *(Link(f"h{i}", "s2") for i in (4, 5, 6)),
        Link("s2", "r3"),
        Link("h8", "r3"),
        row[2],
        Link("h9", "r4"),
    )


@takes_link_fields
def chain(
    rates_mbps: Sequence[float | None], delays_ms: Sequence[float], queue_packets: int | None = 100, **links: Any
) -> Topology:
    """Return a topology of hosts h1 and h2 at the ends of a chain of links with these rates (Mbit/s; None is unlimited)
    and one-way delays (ms), and room for `queue_packets` before each link that has a rate; further fields of
    `netlab.Link` for the links that have a rate may follow. Raises ScenarioError for another number of delays.
    """
    if len(rates_mbps) != len(delays_ms) or not rates_mbps:
        raise ScenarioError(
            [
                f"a chain needs as many rates as delays and at least one of each, got {len(rates_mbps)} and {len(delays_ms)}"
            ]
        )
    routers = [f"r{i}" for i in range(1, len(rates_mbps))]
    nodes = ["h1", *routers, "h2"]
    row = [
        Link(a, b, delay_ms=delay)
        if rate is None
        else Link(a, b, rate_mbps=rate, delay_ms=delay, queue_packets=_queue(rate, queue_packets, links), **links)
        for a, b, rate, delay in zip(nodes, nodes[1:], rates_mbps, delays_ms, strict=False)
    ]
    return Topology(hosts=["h1", "h2"], routers=routers, links=row)


@explain_bad_arguments("nl.topologies.slow_middle(queue_bytes=64_000)")
def slow_middle(queue_bytes: int = 64_000) -> Topology:
    """Return a topology of h1 and h2 behind links of 5 Mbit/s, 10 ms; between them 1 Mbit/s, 20 ms, with room for
    `queue_bytes` bytes (`ece6110`).

    Parameters
    ----------
    queue_bytes : int
        Room before the slow link, in bytes.
    """
    return topology_from_links(
        Link("h1", "r1", rate_mbps=5, delay_ms=10),
        Link("r1", "r2", rate_mbps=1, delay_ms=20, queue_bytes=queue_bytes),
        Link("r2", "h2", rate_mbps=5, delay_ms=10),
    )


def _queue(rate_mbps: float | None, queue_packets: int | None, more: Mapping[str, Any]) -> int | None:
    """Return the room in packets for a link with the further fields `more`; None in place of the default if these give
    room in bytes, or if the link has no rate and thus no queue.
    """
    if queue_packets == DEFAULT_QUEUE_PACKETS and (rate_mbps is None or more.get("queue_bytes") is not None):
        return None
    return queue_packets


def _require_one_each(places: Sequence[str], **values: Any) -> None:
    """Raise ScenarioError unless each argument in `values` has one value for each of `places`."""
    problems = [
        f"{name} needs {len(places)} values, one each for {' and '.join(places)}, got {short_repr(value)}"
        for name, value in values.items()
        if isinstance(value, str) or not hasattr(value, "__len__") or len(value) != len(places)
    ]
    if problems:
        raise ScenarioError(problems)


def __dir__() -> list[str]:
    """Return the names of the topologies, for completion."""
    return __all__


def __getattr__(name: str) -> Any:
    """Raise AttributeError for an unknown name, with the nearest topology's name."""
    raise unknown_name("netlab.topologies", name, __all__)
