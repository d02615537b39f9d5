"""Checks of the chapter "Multiplexing". Whoever reads on finds the answers."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence

from netlab import theory
from netlab.chapters.multiplexing.settings import LIMIT_PACKETS
from netlab.checks import Build, Choice, Condition, Function, Number, Result, Trap
from netlab.network import topologies
from netlab.network.link import LinkShape
from netlab.network.topology import Topology

Capacities = Mapping[str, float]
Routes = Mapping[str, Sequence[str]]
Links = Sequence[tuple[float, float, float]]

_FRAME_BYTES = theory.tcp_wire_bytes()


class _Shares(Function):
    """A function that returns a dict of rates by flow, judged flow by flow."""

    def mistakes(self) -> Iterator[tuple[object, str]]:
        """Yield what a student would pass: functions that return all flows' rates."""
        for trap in self.traps:

            def shares(capacities_mbps: Capacities, routes: Routes, trap: Trap = trap) -> dict[str, float]:
                return {flow: _trap_mbps(trap, capacities_mbps, routes, flow) for flow in routes}

            yield shares, trap.sentence

    def _judge(self, answer: object) -> Result:
        if not callable(answer):
            return super()._judge(answer)

        def share(capacities_mbps: Capacities, routes: Routes, flow: str) -> object:
            # A copy, because a solution may well use up what it is given.
            shares = answer(copy.deepcopy(capacities_mbps), copy.deepcopy(routes))
            if shares is None or shares is ...:
                return shares
            if not isinstance(shares, Mapping):
                raise TypeError(f"it should return a dict of rates by flow, not {type(shares).__name__}")
            if flow not in shares:
                raise KeyError(f"its dict has no rate for the flow {flow!r}")
            return shares[flow]

        return super()._judge(share)


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
    ({"L2": 30}, {"a": ["L2"], "b": ["L2"]}),
    ({"L1": 40, "L2": 30, "L3": 20}, {"a": ["L1", "L2"], "b": ["L3"]}),
    ({"L1": 12, "L2": 6}, {"long": ["L1", "L2"], "a": ["L1"], "b": ["L2"], "c": ["L2"]}),
    (
        {"L1": 40, "L2": 30, "L3": 20},
        {"a": ["L1", "L2", "L3"], "b": ["L1"], "c": ["L1", "L2"], "d": ["L2"], "e": ["L3"], "f": ["L3"]},
    ),
    # The narrowest link is not the one that fills first.
    ({"L1": 10, "L2": 12}, {"long": ["L1", "L2"], "b": ["L2"], "c": ["L2"]}),
)

water_filling = _Shares(
    name="shares by water-filling",
    reference=_max_min_mbps,
    cases=[
        {"capacities_mbps": capacities, "routes": routes, "flow": flow}
        for capacities, routes in _NETWORKS
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


def _full_rtt_ms(links: Links, queue: Callable[[Links], float] | None = None) -> float:
    waiting = queue(links) if queue else _queue_ms(*min(links))
    return 2 * sum(delay_ms for _, delay_ms, _ in links) + waiting


def _queue_ms(rate_mbps: float, _delay_ms: float, queue_packets: float) -> float:
    return theory.queueing_delay_ms(queue_packets * _FRAME_BYTES, rate_mbps)


full_rtt = Function(
    name="RTT with a full queue",
    reference=_full_rtt_ms,
    cases=[
        {"links": [(10, 5, 20), (5, 15, 50)]},
        {"links": [(5, 15, 50), (10, 5, 20)]},
        {"links": [(40, 10, 67), (30, 20, 100)]},
        {"links": [(20, 10, 33)]},
        {"links": [(30, 20, 100), (20, 10, 33)]},
    ],
    unit="ms",
    tolerance=0.005,
    traps=[
        Trap(
            lambda links: _full_rtt_ms(links, lambda rows: sum(_queue_ms(*row) for row in rows)),
            "All queues are full here. But behind a fast link a slower one fills; what comes in slower than it goes out "
            "does not wait.",
        ),
        Trap(
            lambda links: _queue_ms(*min(links)),
            "This is the time in the queue. The way there and back comes on top.",
        ),
        Trap(
            lambda links: sum(delay_ms for _, delay_ms, _ in links) + _queue_ms(*min(links)),
            "The delays are counted one way. A round trip passes each link twice.",
        ),
        Trap(
            lambda links: _full_rtt_ms(links, lambda rows: max(_queue_ms(*row) for row in rows)),
            "This takes the queue that needs the most time when full. The one that fills is the slowest link's.",
        ),
        *(
            Trap(
                lambda links, place=place: _full_rtt_ms(links, lambda rows: _queue_ms(*rows[place])),
                f"This is the queue before the {where} link. The slowest link's fills, wherever it stands on the way.",
            )
            for place, where in ((0, "first"), (-1, "last"))
        ),
        Trap(
            lambda links: 2 * (sum(delay_ms for _, delay_ms, _ in links) + _queue_ms(*min(links))),
            "The queue is counted twice. Only the data fill it; the way back is nearly idle.",
        ),
        Trap(
            lambda links: 2 * sum(delay_ms for _, delay_ms, _ in links) + _queue_ms(*min(links)) / 8,
            "Bytes where bits are meant: a packet of 1514 bytes has 1514 * 8 bits.",
        ),
        Trap(
            lambda links: 2 * sum(delay_ms for _, delay_ms, _ in links) + _queue_ms(*min(links)) * 1500 / _FRAME_BYTES,
            "This counts 1500 bytes for a packet. These links count its Ethernet header, too: 1514.",
        ),
        Trap(
            lambda links: 2 * sum(delay_ms for _, delay_ms, _ in links) + _queue_ms(*min(links)) * 1000,
            "Bits divided by Mbit/s are microseconds. Divide by 1000 for milliseconds.",
        ),
        Trap(
            lambda links: 2 * sum(delay_ms for _, delay_ms, _ in links) + _queue_ms(*min(links)) / 1000,
            "This is hardly more than the empty path. Is the wait in the queue still in seconds?",
        ),
    ],
    hints=[
        "Two parts: the empty path there and back, and the wait in the one queue that fills. Which one fills?",
        "The queue before the slowest link. It holds queue_packets * 1514 * 8 bits and empties at rate_mbps.",
        (
            "2 * (sum of the delays) + queue_packets * 1514 * 8 / (rate_mbps * 1000), the latter of the slowest link; "
            "min(links) is the tuple with the smallest rate."
        ),
    ],
)


def _row(network: Topology) -> list[LinkShape]:
    """L1, L2 and L3 in the direction of the data."""
    # Of parallel links the first carries the traffic, so it is the one that stays.
    shapes = {(hop.src, hop.dst): hop.shape for hop in reversed(network.hops())}
    return [shapes[f"r{number}", f"r{number + 1}"] for number in (1, 2, 3)]


def _room_packets(shape: LinkShape, limit: int) -> float:
    return limit - float(shape.rate_mbps or 0) * 1e3 * shape.delay_ms / (_FRAME_BYTES * 8)


def _has_room(number: int) -> Callable[[Topology], bool]:
    def holds(network: Topology) -> bool:
        given = _row(topologies.portfolio())[number]
        expected = _room_packets(given, LIMIT_PACKETS[number])
        return abs((_row(network)[number].queue_packets or 0) - expected) <= 1

    return holds


rooms = Build(
    name="the lab's queues",
    kind=Topology,
    conditions=[
        Condition(
            lambda network: not network.problems(),
            "This network cannot run.",
            "`lab.problems()` says why; a queue has room for whole packets, at least one.",
        ),
        Condition(
            lambda network: (
                [(way.rate_mbps, way.delay_ms) for way in _row(network)]
                == [(way.rate_mbps, way.delay_ms) for way in _row(topologies.portfolio())]
            ),
            "Rates and delays must stay as they are.",
            "Only `queue_packets` of `nl.topologies.portfolio` is asked for.",
        ),
        *(
            Condition(
                _has_room(number),
                f"The room before L{number + 1} is not right.",
                f"Of its limit of {limit} packets subtract those on the wire: rate times one-way delay, in packets of "
                "1514 bytes.",
            )
            for number, limit in enumerate(LIMIT_PACKETS)
        ),
    ],
    right="Half of each limit was taken by packets that did not wait at all.",
    hints=[
        "How many packets are on the wire of L2, one way, when it is busy? It sends 30 Mbit/s and is 20 ms long.",
        "30e6 * 0.020 / (1514 * 8) = 49.5 packets are under way. The limit of 100 leaves room for the rest.",
        "nl.topologies.portfolio(queue_packets=(34, 50, 16)): each limit less rate * delay / (1514 * 8).",
    ],
)

suspects = Choice(
    name="who favours h1-h4",
    answer="c",
    reasons={
        "a": "Where L3 had no limit at all, h7-h9 got less than anywhere else. So a faster link would not have helped it.",
        "b": "Add up the delays: 10 + 20 ms one way for h1-h4, 20 + 10 ms for h7-h9. Both round trips are 60 ms.",
        "c": "Of the four it is the only one that moves the shares the way they were published. This makes it possible, "
        "not certain.",
        "d": "Look at the rows in which both start together. From their means the published 18.00 is more than two standard "
        "deviations away with full rooms, and more than five with the lab's.",
    },
    hints=[
        "Each suspect makes a forecast for one row of the table. Which forecast fails?",
        "`a`: the row without a limit on L3. `b`: add up the delays. `c`: the rows with a head start. `d`: mean and spread.",
    ],
)

_FLOWS, _MSS_BYTES = 10, 512
_ROOM_BYTES = 64_000 + theory.bdp_bytes(1, 80)
_PAYLOAD_SHARE = _MSS_BYTES / theory.tcp_wire_bytes(_MSS_BYTES)

window = Number(
    name="largest window without a loss",
    expected=_ROOM_BYTES / _FLOWS * _PAYLOAD_SHARE,
    unit="bytes",
    tolerance=0.07,  # rounding to whole segments is right as well
    traps=[
        Trap(
            _ROOM_BYTES / _FLOWS,
            "This is a tenth of the room, in bytes on the link. A window counts data only: 512 of every 578 bytes.",
        ),
        Trap(
            64_000 / _FLOWS * _PAYLOAD_SHARE,
            "This fills the queue alone. The wire holds something, too: 1 Mbit/s times 80 ms.",
        ),
        Trap(
            _ROOM_BYTES * _PAYLOAD_SHARE,
            "This is what all ten windows may be together.",
        ),
        Trap(64_000, "This is the whole queue for one flow. Ten flows share it."),
        *(
            Trap(size, "This counts segments. Asked is the window in bytes of data: 512 for each segment.")
            for size in (12, 13, _ROOM_BYTES / _FLOWS * _PAYLOAD_SHARE / _MSS_BYTES)
        ),
        Trap(
            theory.bdp_bytes(1, 80) / _FLOWS * _PAYLOAD_SHARE,
            "This leaves the queue empty. It may be full; it must not overflow.",
        ),
    ],
    right="It is (64,000 + 10,000) / 10 * 512 / 578. With it, nobody ever has to learn the fair share from a loss.",
    hints=[
        "Where can bytes be? On the wire and in the queue. How many fit there, all together?",
        "The wire holds 1 Mbit/s * 80 ms = 10,000 bytes, the queue 64,000. Ten flows share that.",
        "74,000 / 10 bytes on the link for each flow, and 512 of 578 of them are data.",
    ],
)
