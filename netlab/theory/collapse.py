"""Delivered rates of flows that do not slow down, and congestion collapse."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike

from netlab.theory.fairness import max_min_mbps
from netlab.theory.ranges import Array, Flow, Link, TheoryError, check_flows, check_network, check_positive, check_range

__all__ = ["FifoNetwork", "acceptance_ratio", "fifo_network", "two_router_collapse_mbps", "two_router_fair_queue_mbps"]


class FifoNetwork(NamedTuple):
    """The steady state of unresponsive flows: the rate `delivered_mbps` in Mbit/s by flow, and `acceptance`, the
    fraction of the traffic that a link sends on, by link.
    """

    delivered_mbps: dict[Any, float]
    acceptance: dict[Any, float]


def acceptance_ratio(arriving_mbps: ArrayLike, capacity_mbps: float) -> float:
    """Return the share of traffic at these rates (with headers) that a FIFO link sends on; TheoryError if out of range.

    Holds for unresponsive flows over a long time. Misleads for synchronized flows; see `udp_shares_mbps`.

    Returns: Fraction in (0, 1].
    Source: J.-Y. Le Boudec, Rate adaptation, congestion control and fairness: a tutorial, EPFL, 2021.

    Parameters
    ----------
    arriving_mbps : array
        Rates that arrive, headers included, in Mbit/s, 0 or more.
    capacity_mbps : float
        The link's rate in Mbit/s, above 0.

    Examples
    --------
    >>> round(acceptance_ratio([1, 10], capacity_mbps=1.5), 3)
    0.136
    """
    check_range("arriving_mbps", arriving_mbps, 0, math.inf)
    check_positive("capacity_mbps", capacity_mbps)
    total = float(np.sum(arriving_mbps))
    return min(1.0, capacity_mbps / total) if total > 0 else 1.0


def two_router_collapse_mbps(offered_mbps: ArrayLike, shared_mbps: float, exits_mbps: ArrayLike) -> Array:
    """Return the rates in Mbit/s that unresponsive flows, sending at `offered_mbps`, deliver over one shared link and
    then an exit link each. Raises TheoryError for a parameter out of range.

    Holds for constant-rate senders. It is the smallest picture of congestion collapse: what a narrow exit
    drops has already taken its share of the common link from the others.

    Returns: Delivered rate of each flow, headers included, in Mbit/s.
    Source: J.-Y. Le Boudec, Rate adaptation, congestion control and fairness: a tutorial, EPFL, 2021.

    Parameters
    ----------
    offered_mbps : array
        Rate of each flow as it arrives, headers included, in Mbit/s, 0 or more.

    Examples
    --------
    >>> two_router_collapse_mbps([1, 10], shared_mbps=1.5, exits_mbps=[1, 0.5]).round(3)
    array([0.136, 0.5  ])
    """
    check_range("offered_mbps", offered_mbps, 0, math.inf)
    check_positive("shared_mbps", shared_mbps)
    check_positive("exits_mbps", exits_mbps)
    offered = np.asarray(offered_mbps, dtype=float)
    exits = np.asarray(exits_mbps, dtype=float)
    return cast(Array, np.minimum(offered * acceptance_ratio(offered, shared_mbps), exits))


def two_router_fair_queue_mbps(offered_mbps: ArrayLike, shared_mbps: float, exits_mbps: ArrayLike) -> Array:
    """Return the rates in Mbit/s that unresponsive flows, sending at `offered_mbps`, deliver over one shared link with
    a fair queue and then an exit link each. Raises TheoryError for a parameter out of range.

    Holds for constant-rate senders and a queue that divides the link max-min fairly among flows (DRR,
    `fq_codel`). It protects a modest flow up to its fair share of the common link, and knows nothing of what
    the exits will drop. Misleads where one sender opens several flows: each of them gets a share.

    Returns: Delivered rate of each flow, headers included, in Mbit/s.
    Source: S. Floyd, K. Fall, Promoting the use of end-to-end congestion control, IEEE/ACM ToN 7(4), 1999.

    Parameters
    ----------
    offered_mbps : array
        Rate of each flow as it arrives, headers included, in Mbit/s, above 0.

    Examples
    --------
    >>> two_router_fair_queue_mbps([1, 10], shared_mbps=1.5, exits_mbps=[1, 0.5])
    array([0.75, 0.5 ])
    """
    check_positive("offered_mbps", offered_mbps)
    check_positive("shared_mbps", shared_mbps)
    check_positive("exits_mbps", exits_mbps)
    demands = dict(enumerate(np.asarray(offered_mbps, dtype=float).tolist()))
    shares = max_min_mbps({"shared": shared_mbps}, {flow: ["shared"] for flow in demands}, demands)
    return cast(Array, np.minimum([shares[flow] for flow in demands], np.asarray(exits_mbps, dtype=float)))


def fifo_network(
    capacities_mbps: Mapping[Link, float],
    routes: Mapping[Flow, Sequence[Link]],
    offered_mbps: Mapping[Flow, float],
    *,
    tolerance: float = 1e-12,
) -> FifoNetwork:
    """Return the rates in Mbit/s that unresponsive flows deliver over FIFO links, by flow, and each link's acceptance
    ratio, from the links' and the offered rates. Raises TheoryError for unknown links, or if no steady state is found.

    Holds for constant-rate senders over a long time: each link accepts the same share of every flow that
    reaches it, and the shares are the fixed point of that rule. Misleads for flows that adapt, such as TCP.

    Returns: Delivered rate by flow in Mbit/s and acceptance ratio by link.
    Source: J.-Y. Le Boudec, Rate adaptation, congestion control and fairness: a tutorial, EPFL, 2021
    (the ring, whose delivered rate falls as c**2/x when each source sends x into links of rate c).
    Raises: If a flow or link is unknown, a rate is out of range or no fixed point is found.

    Parameters
    ----------
    routes : mapping of flow to sequence of links
        The links of each flow in the order of travel.
    offered_mbps : mapping of flow to float
        Sending rate of each flow, headers included, in Mbit/s, 0 or more.
    tolerance : float
        Largest relative change of any acceptance ratio in the last round, above 0.

    Examples
    --------
    >>> network = fifo_network({"N1-N2": 1.5, "N2-B": 1, "N2-D": 0.5},
    ...                        {"AB": ["N1-N2", "N2-B"], "CD": ["N1-N2", "N2-D"]}, {"AB": 1, "CD": 10})
    >>> {flow: round(rate, 3) for flow, rate in network.delivered_mbps.items()}
    {'AB': 0.136, 'CD': 0.5}
    """
    check_network(capacities_mbps, routes)
    check_flows("offered_mbps", offered_mbps, routes)
    check_positive("tolerance", tolerance)
    for flow in routes:
        check_range(f"offered_mbps of {flow}", offered_mbps[flow], 0, math.inf)
    acceptance = dict.fromkeys(capacities_mbps, 1.0)
    for _ in range(10_000):
        arriving = dict.fromkeys(capacities_mbps, 0.0)
        delivered: dict[Flow, float] = {}
        for flow, route in routes.items():
            rate = offered_mbps[flow]
            for link in route:
                arriving[link] += rate
                rate *= acceptance[link]
            delivered[flow] = rate
        change = 0.0
        for link, capacity in capacities_mbps.items():
            # Half steps, because whole ones can oscillate for ever.
            step = (acceptance_ratio(arriving[link], capacity) - acceptance[link]) / 2
            acceptance[link] += step
            change = max(change, abs(step) / acceptance[link])
        if change < tolerance:
            return FifoNetwork(delivered, acceptance)
    raise TheoryError(
        f"The acceptance ratios did not settle: they still change by {change:.1e}, allowed is "
        f"{tolerance:.1e}. Give a larger tolerance."
    )
