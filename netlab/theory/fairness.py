"""Fair allocations: max-min, proportional and other fairness, the utilities of Reno and CUBIC, Jain's index."""

import math
from collections.abc import Hashable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from netlab.theory.ranges import Array, Flow, Link, TheoryError, check_flows, check_network, check_positive, check_range

__all__ = [
    "RTT_EXPONENTS", "alpha_fair_mbps", "cubic_optimum_mbps", "jain_index", "max_min_mbps",
    "proportional_fair_mbps", "reno_optimum_mbps", "rtt_shares_mbps",
]  # fmt: skip


def max_min_mbps(
    capacities_mbps: Mapping[Link, float],
    routes: Mapping[Flow, Sequence[Link]],
    demands_mbps: Mapping[Flow, float] | None = None,
) -> dict[Flow, float]:
    """Return the max-min fair rate of each flow in Mbit/s, from the links' rates, each flow's links and what flows want
    at most (None: all they can get): more for one would be less for a flow that has less; TheoryError if out of range.

    Holds as what fair queueing at every link tends to. Misleads as a forecast for TCP, which gives less to
    flows with long round-trip times and many bottlenecks.

    Returns: Rate of each flow in Mbit/s, headers included.
    Source: D. Bertsekas, R. Gallager, Data Networks, 2nd ed., Prentice Hall, 1992, section 6.5.2.
    Raises: If a flow or link is unknown, a rate is out of range, or nothing limits a flow.

    Examples
    --------
    >>> max_min_mbps({"r1-r2": 5, "r2-r3": 8}, {"long": ["r1-r2", "r2-r3"], "a": ["r1-r2"], "b": ["r2-r3"]})
    {'long': 2.5, 'a': 2.5, 'b': 5.5}
    """
    limits, users = _rate_limits(capacities_mbps, routes, demands_mbps)
    rates = dict.fromkeys(routes, 0.0)
    rising = set(routes)
    while rising:
        slack = {
            limit: (limits[limit] - math.fsum(rates[flow] for flow in users[limit])) / len(users[limit] & rising)
            for limit in limits
            if users[limit] & rising
        }
        step = min(slack.values())
        full = [limit for limit, left in slack.items() if left <= step * (1 + 1e-12) + 1e-15]
        for flow in rising:
            rates[flow] += step
        rising -= set().union(*(users[limit] for limit in full))
    return rates


def proportional_fair_mbps(
    capacities_mbps: Mapping[Link, float],
    routes: Mapping[Flow, Sequence[Link]],
    demands_mbps: Mapping[Flow, float] | None = None,
) -> dict[Flow, float]:
    """Return each flow's proportionally fair rate in Mbit/s, from the links' rates, each flow's links and what flows
    want at most (None: all they can get): the largest sum of logarithms. TheoryError if nothing limits a flow.

    It weighs the many links that a long flow takes against what others could have done with them: long paths
    get less than under max-min fairness, but not nothing. Misleads for Reno: see `reno_optimum_mbps`.

    Returns: Rate of each flow in Mbit/s, headers included.
    Source: F. Kelly, A. Maulloo, D. Tan, Rate control for communication networks: shadow prices, proportional
    fairness and stability, Journal of the Operational Research Society 49(3), 1998.
    Raises: If a flow or link is unknown, a rate is out of range or nothing limits a flow.

    Examples
    --------
    >>> shares = proportional_fair_mbps({"r1-r2": 3, "r2-r3": 3},
    ...                                 {"long": ["r1-r2", "r2-r3"], "a": ["r1-r2"], "b": ["r2-r3"]})
    >>> {flow: round(rate, 4) for flow, rate in shares.items()}
    {'long': 1.0, 'a': 2.0, 'b': 2.0}
    """
    return alpha_fair_mbps(capacities_mbps, routes, 1, demands_mbps=demands_mbps)


def alpha_fair_mbps(
    capacities_mbps: Mapping[Link, float],
    routes: Mapping[Flow, Sequence[Link]],
    alpha: float,
    weights: Mapping[Flow, float] | None = None,
    demands_mbps: Mapping[Flow, float] | None = None,
) -> dict[Flow, float]:
    """Return the rate of each flow in Mbit/s (at most its demand) with the largest sum of w x**(1 - alpha) / (1 -
    alpha), with weights w (None: 1): one family from throughput to equality. TheoryError if out of range.

    Alpha 1 is proportional fairness (w log x), 2 the shortest total time of equal transfers, towards infinity
    max-min fairness; the smaller alpha, the more a flow over many links gives way.

    Returns: Rate of each flow in Mbit/s, headers included.
    Source: J. Mo, J. Walrand, Fair end-to-end window-based congestion control, IEEE/ACM ToN 8(5), 2000.
    Raises: If a flow or link is unknown, a number is out of range or nothing limits a flow.

    Parameters
    ----------
    alpha : float
        Aversion to inequality, 0.25 to 8.
    weights : mapping of flow to float, optional
        Weight of each flow, above 0, in any one unit; all the same when left out.

    Examples
    --------
    >>> shares = alpha_fair_mbps({"r1-r2": 3, "r2-r3": 3},
    ...                          {"long": ["r1-r2", "r2-r3"], "a": ["r1-r2"], "b": ["r2-r3"]}, alpha=2)
    >>> {flow: round(rate, 4) for flow, rate in shares.items()}
    {'long': 1.2426, 'a': 1.7574, 'b': 1.7574}
    """
    check_range("alpha", alpha, 0.25, 8)
    weights = dict.fromkeys(routes, 1.0) if weights is None else weights
    check_flows("weights", weights, routes)
    for flow, weight in weights.items():
        check_positive(f"weights of {flow}", weight)
    start = max_min_mbps(capacities_mbps, routes, demands_mbps)
    limits, users = _rate_limits(capacities_mbps, routes, demands_mbps)
    # In units of the max-min rates every variable is near 1, whatever the links' rates are.
    scale = np.array([start[flow] for flow in routes])
    used = np.array([[flow in users[limit] for flow in routes] for limit in limits]) * scale
    used /= np.array(list(limits.values()))[:, None]
    gain = np.array([weights[flow] for flow in routes]) * scale ** (1 - alpha)
    gain /= gain.max()
    shares = _largest_gain(gain, alpha, used)
    feasible = shares / np.max(used @ shares)
    return {flow: float(rate) for flow, rate in zip(routes, feasible * scale, strict=True)}


def reno_optimum_mbps(
    capacities_mbps: Mapping[Link, float], routes: Mapping[Flow, Sequence[Link]], rtts_ms: Mapping[Flow, float]
) -> dict[Flow, float]:
    """Return the rates x in Mbit/s that Reno strives for: the smallest sum of 1 / (T**2 x), with round-trip times T.
    Raises TheoryError for a parameter out of range.

    In balance Reno adds 1/T**2 a second to its rate as often as losses p x take x/2 away, so that its rate is
    sqrt(2/p)/T: the optimum of alpha 2 with weights 1/T**2, where p is the sum of the links' loss rates.
    Holds where each link drops every flow's packets at the same small rate. Misleads with drop-tail queues,
    which drop from bursts and from those that arrive at the wrong moment, and for CUBIC on long paths.

    Returns: Rate of each flow in Mbit/s, headers included.
    Source: F. Kelly, Mathematical modelling of the Internet, in: Mathematics Unlimited, Springer, 2001.
    S. Low, F. Paganini, J. Doyle, Internet congestion control, IEEE Control Systems Magazine 22(1), 2002.
    Raises: If a flow or link is unknown, a number is out of range or nothing limits a flow.

    Examples
    --------
    >>> shares = reno_optimum_mbps({"r1-r2": 3}, {"near": ["r1-r2"], "far": ["r1-r2"]}, {"near": 20, "far": 40})
    >>> {flow: round(rate, 4) for flow, rate in shares.items()}
    {'near': 2.0, 'far': 1.0}
    """
    check_flows("rtts_ms", rtts_ms, routes)
    for flow, rtt_ms in rtts_ms.items():
        check_positive(f"rtts_ms of {flow}", rtt_ms)
    weights = {flow: rtt_ms**-2.0 for flow, rtt_ms in rtts_ms.items()}
    return alpha_fair_mbps(capacities_mbps, routes, 2, weights)


def cubic_optimum_mbps(
    capacities_mbps: Mapping[Link, float], routes: Mapping[Flow, Sequence[Link]], rtts_ms: Mapping[Flow, float]
) -> dict[Flow, float]:
    """Return the rates in Mbit/s that CUBIC strives for when it is not like Reno: those of `alpha_fair_mbps` with alpha
    4/3 and weights T**(-1/3), with round-trip times T. Raises TheoryError for a parameter out of range.

    Its rate at a loss rate p goes with p**(-3/4) T**(-1/4) (RFC 9438, section 5), and p is the sum over the
    links of the flow: the optimum for which that is the condition. Holds where each link drops every flow's
    packets at the same small rate. Misleads with drop-tail queues, as `reno_optimum_mbps` does, and on short
    paths, where CUBIC is as Reno is.

    Returns: Rate of each flow in Mbit/s, headers included.
    Source: L. Xu et al., RFC 9438, 2023, section 5, put into the family of J. Mo, J. Walrand, Fair end-to-end
    window-based congestion control, IEEE/ACM Transactions on Networking 8(5), 2000.
    Raises: If a flow or link is unknown, a number is out of range or nothing limits a flow.

    Examples
    --------
    >>> shares = cubic_optimum_mbps({"r1-r2": 3}, {"near": ["r1-r2"], "far": ["r1-r2"]}, {"near": 100, "far": 1600})
    >>> {flow: round(rate, 4) for flow, rate in shares.items()}
    {'near': 2.0, 'far': 1.0}
    """
    check_flows("rtts_ms", rtts_ms, routes)
    for flow, rtt_ms in rtts_ms.items():
        check_positive(f"rtts_ms of {flow}", rtt_ms)
    shortest_ms = min(rtts_ms.values(), default=1.0)
    weights = {flow: (rtt_ms / shortest_ms) ** (-1 / 3) for flow, rtt_ms in rtts_ms.items()}
    return alpha_fair_mbps(capacities_mbps, routes, 4 / 3, weights)


RTT_EXPONENTS: Mapping[tuple[str, str], float] = {
    ("reno", "random"): 1.0,
    ("reno", "synchronized"): 2.0,
    ("cubic", "random"): 0.25,
    ("cubic", "synchronized"): 1.0,
}
"""The exponent with which a long round-trip time reduces the share, by congestion control and kind of losses; see `rtt_shares_mbps`."""


def rtt_shares_mbps(limit_mbps: float, rtts_ms: ArrayLike, exponent: float) -> Array:
    """Return flows' rates in Mbit/s that share `limit_mbps` as T**(-exponent) of RTTs T; TheoryError if out of range.

    Between two losses Reno adds 1/T a second to its window, and a loss takes half; CUBIC's window climbs back by
    the clock. From this balance follow the exponents (`RTT_EXPONENTS`). With *random losses* each packet is lost with the
    same chance, so a flow that sends more loses more often: 1 for Reno, 1/4 for CUBIC. With *synchronized losses* all flows lose at
    the same moments: 2 for Reno, 1 for CUBIC. Real queues lie between. Misleads where the link is not full all the time
    (then the ratio may hold, not the sum), and for CUBIC on short paths, where it is as Reno is.

    Returns: Share of each flow in Mbit/s.
    Source: T. Lakshman, U. Madhow, The performance of TCP/IP for networks with high bandwidth-delay products and
    random loss, IEEE/ACM Transactions on Networking 5(3), 1997 (Reno: between 1 and 2). L. Xu et al., RFC 9438,
    2023, section 3.3 (1 for CUBIC) and section 5 (its rate at a given loss rate, from which 1/4 follows).

    Parameters
    ----------
    limit_mbps : float
        Sum of the flows' rates, in Mbit/s, above 0.
    rtts_ms : array
        Round-trip times under load, queueing included, in ms, above 0.
    exponent : float
        0 (equal shares) to 4.

    Examples
    --------
    >>> rtt_shares_mbps(4.0, [300, 900], exponent=1).round(3)
    array([3., 1.])
    >>> rtt_shares_mbps(4.0, [300, 900], exponent=2).round(3)
    array([3.6, 0.4])
    """
    check_positive("limit_mbps", limit_mbps)
    check_positive("rtts_ms", rtts_ms)
    check_range("exponent", exponent, 0, 4)
    times = np.atleast_1d(np.asarray(rtts_ms, dtype=float))
    parts = (times / times.min()) ** -exponent
    shares: Array = limit_mbps * parts / parts.sum()
    return shares


def jain_index(rates: ArrayLike) -> float:
    """Return Jain's index of fairness: 1 if all rates are equal, 1/n if one of n has all; TheoryError if out of range.

    Holds for flows that deserve the same. Misleads for flows with different bottlenecks or demands: an
    allocation can be max-min fair and still score below 1.

    Returns: Index in [1/n, 1].
    Source: R. Jain, D. Chiu, W. Hawe, A quantitative measure of fairness and discrimination for resource allocation
    in shared computer systems, DEC Research Report TR-301, 1984.
    Raises: If there is no rate, a negative one, or only zeros.

    Parameters
    ----------
    rates : array
        Rate of each flow in any one unit, 0 or more, not all 0.

    Examples
    --------
    >>> jain_index([1, 1]), jain_index([1, 0]), round(jain_index([1, 3]), 6)
    (1.0, 0.5, 0.8)
    """
    check_range("rates", rates, 0, math.inf)
    values = np.asarray(rates, dtype=float)
    if not np.any(values > 0):
        raise TheoryError("Jain's index needs at least one rate above 0, and there is none.")
    shares = values / np.max(values)  # squares of very small or large rates would leave the floats' range
    return float(np.sum(shares) ** 2 / (shares.size * np.sum(shares**2)))


def _largest_gain(gain: Array, alpha: float, used: Array) -> Array:
    """Return the shares x, one for each flow, with the largest sum of gain x**(1 - alpha) / (1 - alpha) such that no
    element of `used` @ x exceeds 1; `used` has a row for each limit.

    The barrier method: Newton steps maximize the sum plus a term that keeps x away from the limits, with a weight that decreases.
    S. Boyd, L. Vandenberghe, Convex Optimization, 2004, sections 9.5 and 11.3.
    """
    prices = used @ gain

    def worth(x: Array, barrier: float) -> float:
        """Return the barrier method's target for the shares x: gains, and `barrier` times the logarithms of the limits'
        room; minus infinity unless all are above 0.
        """
        slack = 1 - used @ x
        if min(x.min(), slack.min()) <= 0:
            return -math.inf
        gained = np.log(x) if alpha == 1 else x ** (1 - alpha) / (1 - alpha)
        return float(np.sum(gain * gained) + barrier * np.sum(prices * np.log(slack)))

    x = np.full(len(gain), 0.9)
    for barrier in 0.1 ** np.arange(0, 11, 2):
        for _ in range(100):
            slack = 1 - used @ x
            slope = gain * x**-alpha - barrier * used.T @ (prices / slack)
            bend = np.diag(alpha * gain * x ** (-alpha - 1)) + barrier * (used.T * prices / slack**2) @ used
            unit = np.sqrt(np.diag(bend))
            step = np.linalg.solve(bend / np.outer(unit, unit) + 1e-14 * np.eye(len(x)), slope / unit) / unit
            length, rise = 1.0, float(slope @ step)
            least = worth(x, barrier)
            while length > 1e-9 and worth(x + length * step, barrier) <= least + 0.1 * length * rise:
                length /= 2
            x = x + length * step
            if length <= 1e-9 or np.max(np.abs(step) / x) < 1e-9:
                break
    return x


def _rate_limits(
    capacities_mbps: Mapping[Link, float],
    routes: Mapping[Flow, Sequence[Link]],
    demands_mbps: Mapping[Flow, float] | None,
) -> tuple[dict[Hashable, float], dict[Hashable, set[Flow]]]:
    """Return the rate in Mbit/s of every finite limit (a used link, a flow's demand), and the flows that it limits,
    both by limit. Raises TheoryError if nothing limits a flow, or if a name or a number is wrong.
    """
    check_network(capacities_mbps, routes)
    limits: dict[Hashable, float] = {}
    users: dict[Hashable, set[Flow]] = {}
    for link, capacity in capacities_mbps.items():
        flows = {flow for flow, route in routes.items() if link in route}
        if flows and math.isfinite(capacity):
            limits["link", link], users["link", link] = float(capacity), flows
    for flow, demand in (demands_mbps or {}).items():
        if flow not in routes:
            raise TheoryError(f"demands_mbps names the flow {flow!r}, which has no route; give it one.")
        check_positive(f"demands_mbps of {flow}", demand)
        if math.isfinite(demand):
            limits["demand", flow], users["demand", flow] = float(demand), {flow}
    free = set(routes) - set().union(*users.values())
    if free:
        flow_name = min(map(str, free))
        raise TheoryError(f"Nothing limits the flow {flow_name}: give one of its links a rate, or a demand.")
    return limits, users
