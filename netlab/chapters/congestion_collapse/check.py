"""Checks of the chapter "Congestion collapse". Whoever reads on finds the answers."""

from __future__ import annotations

from netlab import theory
from netlab.chapters.congestion_collapse.settings import AGGRESSOR_MBPS, MODEST_MBPS, SEND_PAIRS
from netlab.chapters.congestion_collapse.settings import network as given_network
from netlab.checks import Build, Choice, Condition, Function, Number, Trap
from netlab.network.link import LinkShape
from netlab.network.topology import Topology

_OFFERED_MBPS = {"h1-h4": MODEST_MBPS, "h2-h3": AGGRESSOR_MBPS}
_LEAST_H1_MBPS = 0.95
_LEAST_TOTAL_MBPS = 1.4
_PAYLOAD_SHARE = 1000 / theory.udp_wire_bytes(1000)


def _goodput_mbps(
    own_mbps: float, other_mbps: float, middle_mbps: float, exit_mbps: float, payload_bytes: int = 1000
) -> float:
    middle = theory.udp_goodput_limit_mbps(middle_mbps, payload_bytes)
    last = theory.udp_goodput_limit_mbps(exit_mbps, payload_bytes)
    return min(own_mbps * min(1.0, middle / (own_mbps + other_mbps)), last)


goodput = Function(
    name="goodput behind two routers",
    reference=_goodput_mbps,
    cases=[
        {"own_mbps": 2, "other_mbps": 6, "middle_mbps": 4, "exit_mbps": 2, "payload_bytes": 500},
        {"own_mbps": 1, "other_mbps": 10, "middle_mbps": 1.5, "exit_mbps": 1, "payload_bytes": 1000},
        {"own_mbps": 10, "other_mbps": 1, "middle_mbps": 1.5, "exit_mbps": 0.5, "payload_bytes": 1000},
        {"own_mbps": 0.2, "other_mbps": 0.3, "middle_mbps": 1.5, "exit_mbps": 1, "payload_bytes": 1000},
    ],
    unit="Mbit/s",
    tolerance=0.001,
    traps=[
        Trap(
            lambda own_mbps, other_mbps, middle_mbps, exit_mbps, payload_bytes: min(
                own_mbps
                * min(1.0, theory.udp_goodput_limit_mbps(middle_mbps, payload_bytes) / (own_mbps + other_mbps)),
                exit_mbps,
            ),
            "The exit carries headers, too: of its rate only payload / (payload + 42) are data.",
        ),
        Trap(
            lambda own_mbps, other_mbps, middle_mbps, exit_mbps, payload_bytes: min(
                own_mbps * min(1.0, middle_mbps / (own_mbps + other_mbps)), exit_mbps
            ),
            "No header has been paid for: a link of rate R carries R * payload / (payload + 42) of data.",
        ),
        Trap(
            lambda own_mbps, other_mbps, middle_mbps, exit_mbps, payload_bytes: (
                own_mbps * min(1.0, theory.udp_goodput_limit_mbps(middle_mbps, payload_bytes) / (own_mbps + other_mbps))
            ),
            "This is what leaves the shared link. The flow's own exit comes behind it and may be narrower.",
        ),
        Trap(
            lambda own_mbps, other_mbps, middle_mbps, exit_mbps, payload_bytes: min(
                own_mbps * theory.udp_goodput_limit_mbps(middle_mbps, payload_bytes) / (own_mbps + other_mbps),
                theory.udp_goodput_limit_mbps(exit_mbps, payload_bytes),
            ),
            "No flow gets more than it sends: where both fit into the shared link, it accepts everything.",
        ),
        Trap(
            lambda own_mbps, other_mbps, middle_mbps, exit_mbps, payload_bytes: min(
                own_mbps
                * min(
                    1.0,
                    theory.udp_goodput_limit_mbps(middle_mbps, payload_bytes, "ethernet") / (own_mbps + other_mbps),
                ),
                theory.udp_goodput_limit_mbps(exit_mbps, payload_bytes, "ethernet"),
            ),
            "This counts the framing of a real wire (38 bytes); these links count 14, so 42 with IP and UDP.",
        ),
        Trap(
            lambda own_mbps, other_mbps, middle_mbps, exit_mbps, payload_bytes: _goodput_mbps(
                own_mbps,
                other_mbps,
                middle_mbps * (payload_bytes + 42) / (payload_bytes + 28),
                exit_mbps * (payload_bytes + 42) / (payload_bytes + 28),
                payload_bytes,
            ),
            "This counts 28 bytes of IP and UDP. These links count 14 bytes of Ethernet as well.",
        ),
        Trap(
            lambda own_mbps, other_mbps, middle_mbps, exit_mbps, payload_bytes: (
                min(own_mbps * min(1.0, middle_mbps / (own_mbps + other_mbps)), exit_mbps)
                * payload_bytes
                / (payload_bytes + 42)
            ),
            "What a flow sends is data already. Only the links' rates have headers in them: where everything fits, "
            "everything arrives.",
        ),
        Trap(
            lambda own_mbps, other_mbps, middle_mbps, exit_mbps, payload_bytes: (
                _goodput_mbps(own_mbps, other_mbps, middle_mbps, exit_mbps, payload_bytes)
                * payload_bytes
                / (payload_bytes + 42)
            ),
            "The headers are paid for twice.",
        ),
        Trap(
            lambda own_mbps, other_mbps, middle_mbps, exit_mbps, payload_bytes: _goodput_mbps(
                own_mbps, other_mbps, middle_mbps, exit_mbps, 1000
            ),
            "The share of data depends on `payload_bytes`. This takes 1000 / 1042 for every payload.",
        ),
        Trap(
            lambda own_mbps, other_mbps, middle_mbps, exit_mbps, payload_bytes: min(
                own_mbps,
                theory.udp_goodput_limit_mbps(middle_mbps, payload_bytes) / 2,
                theory.udp_goodput_limit_mbps(exit_mbps, payload_bytes),
            ),
            "A plain queue does not split the link in halves. It accepts the same fraction of what each flow sends.",
        ),
    ],
    hints=[
        "Follow the flow: which share of it does the shared link accept, and what does its own exit let through?",
        "Accepted: min(1, limit of the middle / (own + other)), both in Mbit/s of data. Then the smaller of that and the exit.",
        "With u = payload_bytes / (payload_bytes + 42): min(own * min(1, middle * u / (own + other)), exit * u).",
    ],
)

half_rate = Number(
    name="rate that halves h1",
    expected=2.0,
    unit="Mbit/s",
    tolerance=0.01,
    traps=[
        Trap(
            1.5 * _PAYLOAD_SHARE / 0.5 - 1,
            "There h1 gets half of what it sends. Asked is half of what it gets alone, and that is less than 1 Mbit/s.",
        ),
        Trap(0.5, "There h1 still gets all that its exit lets through. Only above this rate does it lose."),
        Trap(
            1.5 / (0.5 * _PAYLOAD_SHARE) - 1,
            "The shared link pays for headers as well as the exit: it carries 1.5 u of data.",
        ),
        Trap(2.0 / _PAYLOAD_SHARE, "Both links carry the same headers: u stands on both sides and cancels out."),
        Trap(3.0, "This is what both send together. How much of it is h2's?"),
        Trap(1.0, "There each has half of the shared link. But alone h1 cannot use all of it: its exit is narrower."),
    ],
    right="Twice h1's own rate is enough. Nothing of the extra 1.5 Mbit/s arrives anywhere.",
    hints=[
        "What does h1 get alone? Its exit decides. Half of that is the figure to reach.",
        "h1 gets 1 * 1.5 * u / (1 + x) with u = 1000 / 1042. Alone it gets 1 * u.",
        "1.5 * u / (1 + x) = u / 2. The u cancels out.",
    ],
)

fairness = Choice(
    name="why the two fairnesses agree",
    answer="b",
    reasons={
        "a": "Make the shared link 1.2 Mbit/s wide: 1 + 0.5 no longer fit, and the two allocations still agree "
        "(0.7 and 0.5). So this is not the reason.",
        "b": "On one shared link a bit for one is a bit less for the other, whoever gives it: equal shares have the largest "
        "product. A difference needs a flow that takes from others on several links at once.",
        "c": "Three flows over two links of 5 Mbit/s get 2.5 each by one rule and 1.67, 3.33, 3.33 by the other.",
        "d": "Neither allocation looks at what a sender tries to send, as long as it is at least what it is given.",
    },
    hints=[
        "Change the network in your mind until the two rules disagree. What did you have to add?",
        "`nl.theory.max_min_mbps` and `nl.theory.proportional_fair_mbps` take any network: try a narrower shared link.",
    ],
)


clockwork = Function(
    name="share of a clockwork flow",
    reference=lambda gap_ms, service_ms, offered_mbps: offered_mbps * min(1.0, gap_ms / service_ms),
    cases=[
        {"gap_ms": 0.5, "service_ms": 5, "offered_mbps": 2},
        {"gap_ms": 0.8, "service_ms": 5.557, "offered_mbps": 1},
        {"gap_ms": 0.2, "service_ms": 5.557, "offered_mbps": 1},
    ],
    unit="Mbit/s",
    tolerance=0.001,
    traps=[
        Trap(
            lambda gap_ms, service_ms, offered_mbps: offered_mbps * (1 - gap_ms / service_ms),
            "This is the chance that the place became free at another time: then h2 has taken it.",
        ),
        Trap(
            lambda gap_ms, service_ms, offered_mbps: gap_ms / service_ms,
            "This is the share of h1's datagrams. Asked is the goodput: multiply by what h1 offers.",
        ),
        Trap(
            lambda gap_ms, service_ms, offered_mbps: offered_mbps / service_ms,
            "Where is the gap? Twice the gap, twice the chance that the place becomes free in it.",
        ),
        Trap(
            lambda gap_ms, service_ms, offered_mbps: offered_mbps * gap_ms / 8,
            "8 ms lie between h1's datagrams. But places become free every service_ms.",
        ),
    ],
    hints=[
        "One place becomes free in each service_ms. When must that happen for h1's datagram to find it still free?",
        "In the gap_ms before it, after h2's latest datagram. What part of all moments is that?",
        "offered_mbps * gap_ms / service_ms, and never more than offered_mbps.",
    ],
)


def _rates(network: Topology) -> dict[frozenset[str], LinkShape]:
    # Of parallel links the first carries the traffic, so it is the one that stays.
    hops = [hop for hop in reversed(network.hops()) if (hop.src, hop.dst) in _FORWARD]
    return {frozenset((hop.src, hop.dst)): hop.shape for hop in hops}


_FORWARD = {("h1", "r1"), ("h2", "r1"), ("r1", "r2"), ("r2", "h4"), ("r2", "h3")}
_GIVEN = _rates(given_network())


def _forecast_mbps(network: Topology) -> dict[str, float]:
    """Goodput of h1 at 1 and h2 at 10 Mbit/s over a network of FIFO links, by the fixed point; nothing over another network."""
    if set(_rates(network)) != set(_GIVEN):
        return dict.fromkeys(_OFFERED_MBPS, 0.0)
    offered = {flow: rate / _PAYLOAD_SHARE for flow, rate in _OFFERED_MBPS.items()}
    found = theory.fifo_network(network.capacities_mbps(), network.routes(SEND_PAIRS), offered)
    return {flow: rate * _PAYLOAD_SHARE for flow, rate in found.delivered_mbps.items()}


def _limit(shape: LinkShape) -> float:
    return float("inf") if shape.rate_mbps is None else shape.rate_mbps


rescue = Build(
    name="a network without collapse",
    kind=Topology,
    conditions=[
        Condition(
            lambda network: not network.problems(),
            "This network cannot run.",
            "`rescued.problems()` says why; write numbers without quotes.",
        ),
        Condition(
            lambda network: set(_rates(network)) == set(_GIVEN),
            "The five links must stay: h1-r1, h2-r1, r1-r2, r2-h4, r2-h3.",
            "Copy the network from above and change a rate.",
        ),
        Condition(
            lambda network: (
                sum(_limit(shape) != _limit(_GIVEN[link]) for link, shape in _rates(network).items()) == 1
                and all(_limit(shape) <= _limit(_GIVEN[link]) for link, shape in _rates(network).items())
            ),
            "Exactly one link may have another rate, and none a higher one.",
            "Look at `rate_mbps` of your links; an open link may get a rate.",
        ),
        Condition(
            lambda network: all(shape.aqm == "fifo" for shape in _rates(network).values()),
            "Every queue must be a plain one.",
            "Leave `aqm` out: this exercise is about rates.",
        ),
        Condition(
            lambda network: _forecast_mbps(network)["h1-h4"] >= _LEAST_H1_MBPS,
            f"By theory h1 must get at least {_LEAST_H1_MBPS:g} Mbit/s while h2 offers 10.",
            "Where do h2's useless datagrams meet h1's? They must be gone before that.",
        ),
        Condition(
            lambda network: sum(_forecast_mbps(network).values()) >= _LEAST_TOTAL_MBPS,
            f"By theory both together must get at least {_LEAST_TOTAL_MBPS:g} Mbit/s.",
            "h2's exit carries 0.5 Mbit/s. Do not take that from it.",
        ),
    ],
    right="h2 loses as many datagrams as before, but now it loses them where they are in nobody's way.",
    hints=[
        "A datagram that will die anyway should die early. Which link does h2 have for itself before r1?",
        "h2's exit takes 0.5 Mbit/s. If no more than that ever reaches r1, nothing is wasted.",
        "Give h2-r1 a rate of 0.5 Mbit/s and leave the rest as it is.",
    ],
)
