"""Checks of the chapter "Multiplexing". Whoever reads on finds the answers."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from netlab import theory
from netlab.course.checks import Function, Number, Trap
from netlab.course.conditions import Condition, Measurement, duration, sending, sent
from netlab.course.own_figures import Own
from netlab.measure.results import Run

Capacities = Mapping[str, float]
Routes = Mapping[str, Sequence[str]]

EMPTY_MS, L2_MBPS = 60, 30
SHORTEST_S, FEWEST_PINGS = 20, 80


class _Shares(Function):
    """A function that returns a dict of rates by flow, judged flow by flow."""

    def mistakes(self) -> Iterator[tuple[object, str]]:
        """Yield what a student would pass: functions that return all flows' rates."""
        for trap in self.traps:

            def shares(capacities_mbps: Capacities, routes: Routes, trap: Trap = trap) -> dict[str, float]:
                return {flow: _trap_mbps(trap, capacities_mbps, routes, flow) for flow in routes}

            yield shares, trap.sentence

    def arguments(self, case: Mapping[str, Any]) -> dict[str, Any]:
        """The network, not the flow that is looked at; a copy, because a solution may well use up what it is given."""
        return {name: copy.deepcopy(value) for name, value in case.items() if name != "flow"}

    def words(self, case: Mapping[str, Any]) -> str:
        """The network, and the flow whose rate is looked at."""
        return f"{super().words(self.arguments(case))}: the rate of flow {case['flow']!r}"

    def part(self, value: Any, case: Mapping[str, Any]) -> Any:
        """The rate of the trial's flow."""
        if not isinstance(value, Mapping):
            raise TypeError(f"it should return a dict of rates by flow, not {type(value).__name__}")
        if case["flow"] not in value:
            raise KeyError(f"its dict has no rate for the flow {case['flow']!r}")
        return value[case["flow"]]


def _trap_mbps(trap: Trap, capacities_mbps: Capacities, routes: Routes, flow: str) -> float:
    assert callable(trap.answer)
    return trap.answer(capacities_mbps, routes, flow)


def _max_min_mbps(capacities_mbps: Capacities, routes: Routes, flow: str) -> float:
    return theory.max_min_mbps(capacities_mbps, routes)[flow]


def _equal_split_mbps(capacities_mbps: Capacities, routes: Routes, flow: str) -> float:
    return min(capacities_mbps[link] / sum(link in other for other in routes.values()) for link in routes[flow])


def _narrowest_first_mbps(capacities_mbps: Capacities, routes: Routes, flow: str) -> float:
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


_NETWORKS: tuple[tuple[Capacities, Routes], ...] = (
    # The exercise's worked number comes first.
    ({"A": 12, "B": 6}, {"long": ["A", "B"], "a": ["A"], "b": ["B"], "c": ["B"]}),
    ({"L2": 30}, {"a": ["L2"], "b": ["L2"]}),
    ({"L1": 40, "L2": 30, "L3": 20}, {"a": ["L1", "L2"], "b": ["L3"]}),
    (
        {"L1": 40, "L2": 30, "L3": 20},
        {"a": ["L1", "L2", "L3"], "b": ["L1"], "c": ["L1", "L2"], "d": ["L2"], "e": ["L3"], "f": ["L3"]},
    ),
    # The narrowest link is not the one that fills first.
    ({"L1": 10, "L2": 12}, {"long": ["L1", "L2"], "b": ["L2"], "c": ["L2"]}),
)


def _full_ms(room_packets: float) -> float:
    return EMPTY_MS + theory.queueing_delay_ms(room_packets * theory.tcp_wire_bytes(), L2_MBPS)


def _queue_packets(wait_ms: float, rate_mbps: float = L2_MBPS) -> float:
    return wait_ms * rate_mbps * 1000 / (theory.tcp_wire_bytes() * 8)


def _ways(run: Run) -> list[tuple[str, str]]:
    return [(item["src"], item["dst"]) for item in sent(run)]


def _links(run: Run) -> dict[tuple[str, str], Any]:
    return {(link["a"], link["b"]): link for link in run.scenario["topology"]["links"]}


def _shape(run: Run, *fields: str) -> list[list[Any]]:
    """Rate, delay or queue of L1, L2 and L3."""
    links = _links(run)
    return [[links[f"r{number}", f"r{number + 1}"].get(field) for field in fields] for number in (1, 2, 3)]


class Checks:
    """The checks of the chapter, for one student's figures."""

    def __init__(self, own: Own) -> None:
        own_network = (
            {"L1": own.wide_mbps, "L2": 30, "L3": own.narrow_mbps},
            {"a": ["L1", "L2"], "b": ["L2", "L3"], "c": ["L3"], "d": ["L1"]},
        )
        self.water = _Shares(
            name="shares by water-filling",
            reference=_max_min_mbps,
            cases=[
                {"capacities_mbps": capacities, "routes": routes, "flow": flow}
                for capacities, routes in (*_NETWORKS, own_network)
                for flow in routes
            ],
            unit="Mbit/s",
            tolerance=0.001,
            traps=[
                Trap(
                    _equal_split_mbps,
                    "This splits every link evenly among all its flows. But a flow that is stopped elsewhere leaves some of its "
                    "part here, and the others may rise further.",
                ),
                Trap(
                    _narrowest_first_mbps,
                    "This begins with the link of the smallest rate. A wide link with many flows may fill before it: compare the "
                    "room per flow.",
                ),
                Trap(
                    lambda capacities_mbps, routes, flow: min(capacities_mbps[link] for link in routes[flow]),
                    "This is what the flow gets when it is alone. Who shares its links?",
                ),
                Trap(
                    lambda capacities_mbps, routes, flow: (
                        _max_min_mbps(capacities_mbps, routes, flow) * theory.tcp_goodput_limit_mbps(1)
                    ),
                    "This is the data in the fair rate. Asked is the rate on the links, headers included.",
                ),
            ],
            right="Nobody can get more without taking from one who has less.",
            hints=[
                "Which link fills first when all rates rise together? The one with the least room per flow.",
                "Its flows stop there, with that rate. Subtract it from every link on their routes, then go on with the others.",
                (
                    "Repeat until every flow has a rate: for each link that still has rising flows compute left[link] / their "
                    "number; take the smallest; give it to these flows; subtract it from left[l] for each l on their routes."
                ),
            ],
        )
        self.waits = Measurement(
            name="a transfer and a ping",
            conditions=[
                Condition(
                    lambda run: len(sent(run, kind="tcp")) == len(sent(run, kind="ping")) == 1,
                    "One TCP transfer and one ping must be sent, and nothing beside them.",
                    "The list of traffic has two items, nl.Tcp(...) and nl.Ping(...).",
                    sending,
                ),
                Condition(
                    lambda run: set(_ways(run)) == {("h1", "h4")},
                    "Both must go from h1 to h4.",
                    "Both take the sender first and the receiver second.",
                    sending,
                ),
                Condition(
                    lambda run: _shape(run, "rate_mbps", "delay_ms") == [[40, 10], [30, 20], [20, 10]],
                    "Rates and delays must stay as they are.",
                    "Only `queue_packets` of `nl.topologies.portfolio` is asked for.",
                    lambda run: f"rate and delay {_shape(run, 'rate_mbps', 'delay_ms')}",
                ),
                Condition(
                    lambda run: _shape(run, "queue_packets")[1] == [own.room_packets],
                    "The queue before L2 must be the one that the text asks for.",
                    "It is the second of the three: queue_packets=(67, ..., 33).",
                    lambda run: f"{_shape(run, 'queue_packets')[1][0]} packets",
                ),
                Condition(
                    lambda run: run.scenario["duration_s"] >= SHORTEST_S,
                    f"The run must last {SHORTEST_S} s or more.",
                    "duration_s=... of nl.run; TCP needs some seconds to fill a queue.",
                    duration,
                ),
                Condition(
                    lambda run: int(run.pings["rtt_ms"].notna().sum()) >= FEWEST_PINGS,
                    f"At least {FEWEST_PINGS} pings must come back.",
                    "interval_s=0.2 or shorter, for as long as the transfer lasts.",
                    lambda run: int(run.pings["rtt_ms"].notna().sum()),
                ),
                Condition(
                    lambda run: run.pings["rtt_ms"].max() >= 0.95 * _full_ms(own.room_packets),
                    "The pings must meet a full queue.",
                    "Do they go on while the transfer sends? Is its window left to TCP?",
                    lambda run: f"{run.pings['rtt_ms'].max():.4g} ms at most",
                ),
            ],
            right="The longest ping is what the next cell compares with theory.",
            hints=[
                "The network is nl.topologies.portfolio(queue_packets=(..., ..., ...)): the rooms before L1, L2 and L3.",
                'The traffic is [nl.Tcp("h1", "h4"), nl.Ping("h1", "h4", interval_s=...)].',
                "nl.run(network, traffic, duration_s=25), with your queue in the middle of the three.",
            ],
        )
        wait_ms = own.most_ms - EMPTY_MS
        room_packets = math.floor(_queue_packets(wait_ms))
        self.room = Number(
            name="largest queue before L2",
            expected=lambda: room_packets,
            unit="packets",
            # One packet more would break the promise.
            tolerance=0.999 / room_packets,
            traps=[
                Trap(
                    _queue_packets(own.most_ms),
                    "This leaves all of the time to the queue. The empty path takes a part of it, there and back.",
                ),
                Trap(
                    _queue_packets(own.most_ms - EMPTY_MS / 2),
                    "The empty path is counted one way. A round trip passes each link twice.",
                ),
                Trap(
                    _queue_packets(wait_ms, 40),
                    "This is computed with L1's rate. Which link is the slowest on the way?",
                ),
                Trap(
                    _queue_packets(wait_ms, 20),
                    "This is computed with L3's rate. The way from h1 to h4 does not pass L3.",
                ),
                Trap(
                    _queue_packets(wait_ms) * theory.tcp_wire_bytes(),
                    "These are bytes. A queue is counted in packets here, of 1514 bytes.",
                ),
            ],
            right="A queue is a promise of how long one may have to wait.",
            hints=[
                "How much of the time is left for the queue, when the empty path has had its part?",
                "A packet of 1514 bytes leaves the queue each 1514 * 8 / 30 000 ms.",
                "(longest round trip - 60 ms) * 30 000 bit/ms / (1514 * 8 bits).",
            ],
        )
