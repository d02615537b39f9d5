"""Checks of the chapter "Multiplexing". The answers are below."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from netlab import theory
from netlab.measure.results import Run
from netlab.network import topologies
from netlab.network.link import LinkShape
from netlab_course.answers import with_unit
from netlab_course.chapters.multiplexing.settings import CROSSING, EMPTY_MS, L2_MBPS, longest_ms, transfer_and_ping
from netlab_course.checks import Number
from netlab_course.conditions import Condition, Measurement, link_in_words, traffic_in_words, traffic_items
from netlab_course.function_checks import Function
from netlab_course.misconceptions import Misconception, slips
from netlab_course.own_numbers import StudentValues
from netlab_course.repetition import Repetition
from netlab_course.statements import Statement

_PLAIN_LINK = LinkShape()
MIN_DRAWS, MIN_DRAW_S = 3, 20
MIN_LONG_MBPS = 1.37
"""The double of h1-h9's goodput in Mbit/s with drop-tail queues and hosts that keep time."""
MAX_HOST_DELAY_MS = 10
MIN_JITTER_MS = 2
"""The time in ms of some frames of 1514 bytes, each of which takes 0.3 to 0.6 ms on L1 to L3. With 1 ms, or with jitter at only one end of
each flow, h1-h9 gets less than the double in some runs.
"""

Capacities = Mapping[str, float]
Routes = Mapping[str, Sequence[str]]


class _Shares(Function):
    """A check of a function that returns a dict of rates by flow, each of which is judged separately."""

    def mistakes(self) -> Iterator[tuple[object, str]]:
        """Yield each known mistake as a function of capacities and routes that returns the rates of all flows, with its
        message.
        """
        for trap in self.misconceptions:

            def shares(capacities_mbps: Capacities, routes: Routes, trap: Misconception = trap) -> dict[str, float]:
                """Return the rates in Mbit/s by flow that the misconception `trap` gives in a network with these
                capacities (Mbit/s by link) and routes (links by flow).
                """
                return {flow: _trap_mbps(trap, capacities_mbps, routes, flow) for flow in routes}

            yield shares, trap.sentence

    def arguments(self, case: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments, by name, of the student's function in a trial: capacities and routes of `case`, without
        its `flow`, which is only judged.
        """
        return super().arguments({name: value for name, value in case.items() if name != "flow"})

    def call(self, case: Mapping[str, Any]) -> str:
        """Return the capacities and routes of a trial, those of `case`, as text."""
        return super().words(self.arguments(case))

    def words(self, case: Mapping[str, Any]) -> str:
        """Return the capacities and routes of a trial and the name of the flow that it judges, all from `case`, as
        text.
        """
        return f"{self.call(case)}: the rate of flow {case['flow']!r}"

    def part(self, value: Any, case: Mapping[str, Any]) -> Any:
        """Return the rate of the flow `case["flow"]` from the function's result `value`. Raises TypeError if that is no
        dict, KeyError if it has no such flow.
        """
        if not isinstance(value, Mapping):
            raise TypeError(f"it should return a dict of rates by flow, not {type(value).__name__}")
        if case["flow"] not in value:
            raise KeyError(f"its dict has no rate for the flow {case['flow']!r}")
        return value[case["flow"]]


def _trap_mbps(trap: Misconception, capacities_mbps: Capacities, routes: Routes, flow: str) -> float:
    """Return the wrong rate in Mbit/s of a flow by a misconception, in a network with these capacities (Mbit/s by link)
    and routes (links by flow).
    """
    assert callable(trap.answer)
    return trap.answer(capacities_mbps, routes, flow)


def _max_min_mbps(capacities_mbps: Capacities, routes: Routes, flow: str) -> float:
    """Return the max-min fair rate in Mbit/s of a flow in a network with these capacities (Mbit/s by link) and routes
    (links by flow).
    """
    return theory.max_min_mbps(capacities_mbps, routes)[flow]


def _equal_split_mbps(capacities_mbps: Capacities, routes: Routes, flow: str) -> float:
    """Return the rate in Mbit/s of a flow, from capacities (Mbit/s by link) and routes (links by flow), with the
    mistake that each link is split equally among all its flows.
    """
    return min(capacities_mbps[link] / sum(link in other for other in routes.values()) for link in routes[flow])


def _narrowest_first_mbps(capacities_mbps: Capacities, routes: Routes, flow: str) -> float:
    """Return the rate in Mbit/s of a flow, from capacities (Mbit/s by link) and routes (links by flow), with the
    mistake that water-filling begins with the link of the smallest rate.
    """
    left, rising, shares = dict(capacities_mbps), set(routes), dict.fromkeys(routes, 0.0)
    while rising:
        narrowest = min((link for other in rising for link in routes[other]), key=lambda link: (left[link], link))
        flows = [other for other in rising if narrowest in routes[other]]
        share = left[narrowest] / len(flows)
        for other in flows:
            shares[other] = share
            for link in routes[other]:
                left[link] -= share
        rising -= set(flows)
    return shares[flow]


def _never_subtracted_mbps(capacities_mbps: Capacities, routes: Routes, flow: str) -> float:
    """Return the rate in Mbit/s of a flow, from capacities (Mbit/s by link) and routes (links by flow), with the
    mistake that the rates of stopped flows are not subtracted from their links.
    """
    rising = set(routes)
    while True:
        shares = {
            link: capacities_mbps[link] / sum(link in routes[other] for other in rising)
            for other in rising
            for link in routes[other]
        }
        fullest = min(shares, key=lambda link: (shares[link], link))
        if fullest in routes[flow]:
            return shares[fullest]
        rising -= {other for other in rising if fullest in routes[other]}


_NETWORKS: tuple[tuple[Capacities, Routes], ...] = (
    # The worked example of the exercise comes first.
    ({"A": 12, "B": 6}, {"long": ["A", "B"], "a": ["A"], "b": ["B"], "c": ["B"]}),
    ({"L2": 30}, {"a": ["L2"], "b": ["L2"]}),
    ({"L1": 40, "L2": 30, "L3": 20}, {"a": ["L1", "L2"], "b": ["L3"]}),
    (
        {"L1": 40, "L2": 30, "L3": 20},
        {"a": ["L1", "L2", "L3"], "b": ["L1"], "c": ["L1", "L2"], "d": ["L2"], "e": ["L3"], "f": ["L3"]},
    ),
    # In this network, the narrowest link is not the one that fills first.
    ({"L1": 10, "L2": 12}, {"long": ["L1", "L2"], "b": ["L2"], "c": ["L2"]}),
)


def _queue_packets(wait_ms: float, rate_mbps: float = L2_MBPS) -> float:
    """Return the number of full frames of 1514 bytes, with a fraction, that a link of `rate_mbps` sends in
    `wait_ms`.
    """
    return wait_ms * rate_mbps * 1000 / (theory.tcp_wire_bytes() * 8)


def _long_mbps(run: Run) -> float:
    """Return the mean goodput in Mbit/s of the flows from h1 to h9 of a run."""
    flows = run.flows[(run.flows["src"] == "h1") & (run.flows["dst"] == "h9")]
    return float(flows["goodput_mbps"].mean())


def _draws_of_reno(run: Run) -> bool:
    """Return whether the traffic of a run is `MIN_DRAWS` draws or more of all six Reno flows, each long and without a
    size or a window of its own.
    """
    sent = Counter(f"{item['src']}-{item['dst']}" for item in traffic_items(run))
    return (
        set(sent) == set(CROSSING)
        and all(sent[pair] >= MIN_DRAWS for pair in CROSSING)
        and all(
            item["kind"] == "tcp"
            and item.get("congestion") == "reno"
            and not (item.get("num_bytes") or item.get("window_bytes"))
            and (item.get("duration_s") or run.scenario["duration_s"]) >= MIN_DRAW_S
            for item in traffic_items(run)
        )
    )


def _between_routers(run: Run) -> list[dict[str, Any]]:
    """Return the links between two routers as dicts of the scenario file, in the order of a run's scenario."""
    return [link for link in run.scenario["topology"]["links"] if {link["a"][0], link["b"][0]} == {"r"}]


def _other_host_links(run: Run) -> list[dict[str, Any]]:
    """Return the links of hosts in a run, as dicts of the scenario file, that have a rate, a queue or a loss, or a delay of
    more than 10 ms.
    """
    routers = _between_routers(run)
    allowed = {"a", "b", "delay_ms", "jitter_ms", "reverse"}

    def adds_only_delay(shape: Mapping[str, Any]) -> bool:
        """Return whether one direction of a link, as a dict of its fields, has no other field than a short delay."""
        plain = (
            value is None or name in allowed or value == getattr(_PLAIN_LINK, name, value)
            for name, value in shape.items()
        )
        return all(plain) and (shape.get("delay_ms") or 0) <= MAX_HOST_DELAY_MS

    return [
        link
        for link in run.scenario["topology"]["links"]
        if link not in routers and not all(map(adds_only_delay, (link, link.get("reverse") or {})))
    ]


def _flows_without_jitter(run: Run) -> list[str]:
    """Return the flows of a run, such as "h1-h9", of which an end has no link with a jitter of `MIN_JITTER_MS` or more."""
    hosts = {
        end
        for link in run.scenario["topology"]["links"]
        for end in (link["a"], link["b"])
        if end.startswith("h") and (link.get("jitter_ms") or 0) >= MIN_JITTER_MS
    }
    return [f"{flow['src']}-{flow['dst']}" for flow in traffic_items(run) if not {flow["src"], flow["dst"]} <= hosts]


def _bias() -> Measurement:
    """Return the check of a student's run of the six flows in which packets come at random moments; it is the same for
    all students.
    """
    usual = [link for link in topologies.portfolio().to_dict()["links"] if {link["a"][0], link["b"][0]} == {"r"}]
    of_network = (
        Condition(
            _draws_of_reno,
            f"The six flows must send with Reno, {MIN_DRAWS} times or more, for {MIN_DRAW_S} s or more each time.",
            'contest(my_network, six, congestion="reno", **common) is five draws of 30 s.',
            traffic_in_words,
        ),
        Condition(
            lambda run: _between_routers(run) == usual,
            "The links between the routers and their queues must be as they were.",
            "Copy them from network.links.",
            lambda run: ", ".join(f"{link['a']}-{link['b']}" for link in _between_routers(run) if link not in usual),
        ),
        Condition(
            lambda run: not _other_host_links(run) and not _flows_without_jitter(run),
            f"A link of a host may have only jitter_ms and delay_ms, at most {MAX_HOST_DELAY_MS} ms, and each flow must cross "
            f"two with a jitter_ms of {MIN_JITTER_MS:g} or more, one at each end.",
            "nl.Link(link.a, link.b, delay_ms=..., jitter_ms=...). Delay without jitter is the control run.",
            lambda run: (
                link_in_words(_other_host_links(run)[0])
                if _other_host_links(run)
                else f"{_flows_without_jitter(run)[0]} without so much jitter"
            ),
        ),
    )
    return Measurement(
        name="drop-tail and random moments",
        conditions=[
            *of_network,
            Condition(
                # A flow alone, or on other links, has this goodput without any jitter.
                lambda run: all(each.holds_for(run) for each in of_network) and _long_mbps(run) >= MIN_LONG_MBPS,
                f"With the others, h1-h9 must get {MIN_LONG_MBPS} Mbit/s or more on average.",
                "How far must a packet move to find another place in the queue? A frame takes 0.3 to 0.6 ms on a link.",
                lambda run: with_unit(_long_mbps(run), "Mbit/s", MIN_LONG_MBPS),
                after=of_network,
            ),
        ],
        right="So most of the rest was timing. What does the same delay do without jitter?",
        hints=[
            "Random moments: a link whose jitter_ms is not 0 delays each packet by another time.",
            "Jitter goes both ways, so jitter_ms must not exceed delay_ms. Is it longer than the time of a few frames?",
            (
                "Make a list of links: host links anew with delay_ms and jitter_ms, all others from network.links. "
                "nl.Topology(network.hosts, network.routers, network.switches, my_links)."
            ),
        ],
    )


class Checks:
    """The checks of the chapter "Multiplexing", each an attribute, for one student's numbers."""

    def __init__(self, own: StudentValues) -> None:
        """Make each check of the chapter an attribute, with the student's own numbers."""
        own_network = (
            {"L1": own.wide_mbps, "L2": 30, "L3": own.narrow_mbps},
            {"a": ["L1", "L2"], "b": ["L2", "L3"], "c": ["L3"], "d": ["L1"]},
        )
        self.water = _Shares(
            name="shares by water-filling",
            same_as=(theory.max_min_mbps, theory.alpha_fair_mbps),
            reference=_max_min_mbps,
            cases=[
                {"capacities_mbps": capacities, "routes": routes, "flow": flow}
                for capacities, routes in (*_NETWORKS, own_network)
                for flow in routes
            ],
            unit="Mbit/s",
            tolerance=0.001,
            misconceptions=slips(
                _equal_split_mbps,
                "This splits every link evenly among all its flows. But a flow that is stopped elsewhere leaves some of its "
                "part here, and the others may rise further.",
                _narrowest_first_mbps,
                "This begins with the link of the smallest rate. A wide link with many flows may fill before it: compare the "
                "room per flow.",
                _never_subtracted_mbps,
                "The flows that stopped keep their part: was it subtracted from every link on their routes?",
                lambda capacities_mbps, routes, flow: min(capacities_mbps[link] for link in routes[flow]),
                "This is what the flow gets when it is alone. Who shares its links?",
                lambda capacities_mbps, routes, flow: (
                    _max_min_mbps(capacities_mbps, routes, flow) * theory.tcp_goodput_limit_mbps(1)
                ),
                "This is the data in the fair rate. The exercise asks for the rate on the links, headers included.",
            ),
            right="No flow can get more without taking from one that has less.",
            hints=[
                "Which link fills first when all rates rise together? The one with the least room per flow.",
                "Its flows stop there, with that rate. Subtract it from every link on their routes, then go on with the others.",
                (
                    "Repeat until every flow has a rate: for each link that still has rising flows compute left[link] / their "
                    "number; take the smallest; give it to these flows; subtract it from left[l] for each l on their routes."
                ),
            ],
        )
        self.repeated = Repetition(
            name="the longest ping",
            scenario=lambda: transfer_and_ping(own.room_packets),
            made_by="transfer_and_ping(own.room_packets)",
            values=lambda table: table.loc[table["kind"] == "ping", "rtt_max_ms"],
            expected=lambda _table: longest_ms(own.room_packets),
            unit="ms",
            compared="T_full",
            statement=Statement(own.stated_ms),
            right=(
                "A full queue sets the longest round trip, whatever the call does in between. (A run that lies a millisecond or "
                "more above met a second queue: the one before L1, at the end of slow start.)"
            ),
            hints=[
                'my_table[my_table["kind"] == "ping"] are the rows of the pings; rtt_max_ms is the longest of each run.',
                "Theory: the empty path has 60 ms, and a full queue before L2 takes 8 * 1514 * packets / rate.",
            ],
        )
        self.bias = _bias()
        wait_ms = own.most_ms - EMPTY_MS
        room_packets = math.floor(_queue_packets(wait_ms))
        self.room = Number(
            name="largest queue before L2",
            expected=lambda: room_packets,
            unit="packets",
            # A room that is one packet larger would break the limit.
            tolerance=0.999 / room_packets,
            tolerance_words="less than one packet",
            misconceptions=slips(
                _queue_packets(own.most_ms),
                "This leaves all of the time to the queue. The empty path takes a part of it, there and back.",
                _queue_packets(own.most_ms - EMPTY_MS / 2),
                "The empty path is counted one way. A round trip passes each link twice.",
                _queue_packets(wait_ms, 40),
                "This is computed with L1's rate"
                + ", or is the lab's own queue" * (own.most_ms == 90)
                + ". Which link is the slowest?",
                _queue_packets(wait_ms, 20),
                "This is computed with L3's rate. The way from h1 to h4 does not pass L3.",
                _queue_packets(wait_ms) * theory.tcp_wire_bytes() / theory.MSS_BYTES,
                "This takes 1448 bytes for a packet, which are its data. In the queue it has 1514.",
                _queue_packets(wait_ms) * theory.tcp_wire_bytes(),
                "These are bytes. A queue is counted in packets here, of 1514 bytes.",
            ),
            right="A queue is a promise of how long one may have to wait.",
            hints=[
                "How much of the time is left for the queue, when the empty path has had its part?",
                "A packet of 1514 bytes leaves the queue each 1514 * 8 / 30 000 ms.",
                "How many of these times fit into what is left?",
            ],
        )
