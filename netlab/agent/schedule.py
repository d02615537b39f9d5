"""What becomes of links while the network runs: from the plan's changes to lines for `ip` and `tc`, moment by moment.

A direction that goes down loses what is in flight with its wire device, which is switched off and takes nothing more; its
queue empties into that at the highest rate. Interfaces stay up, so addresses, routes and neighbours stay as they are.
"""

import heapq
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, cast

from netlab.agent import shaping
from netlab.base.units import NS_PER_S
from netlab.netlink.classes import Part
from netlab.netlink.ip_lines import Interfaces, ip_line
from netlab.netlink.qdiscs import Attached, Queueing, removed
from netlab.protocol.plan import AgentPlan, Change, Hop, Item, Plan, Shape, TraceSteps

# A machine's own `tbf` fills its bucket at every change of its rate: in a second, a bucket of 10 ms is one per cent. And it looks at the
# new rate only when the frame that waits was due at the old one.
REAL_CLOCK_STEP_S = 1.0
REAL_CLOCK_OUTAGE_MBPS = 0.1


class Step(NamedTuple):
    """What a node is told: a line of `ip`, or a part of its queueing."""

    node: str
    what: str | Queueing

    @property
    def line(self) -> str:
        """The line of `ip` or `tc` that does it."""
        return f"ip {self.what}" if isinstance(self.what, str) else f"tc {self.what.line}"

    def message(self, interfaces: Interfaces) -> bytes:
        """The netlink message that does it."""
        return ip_line(self.what, interfaces) if isinstance(self.what, str) else self.what.message(interfaces)


def transition(
    hop: Hop, old: Shape, new: Shape, was_up: bool, is_up: bool, clock: str, seed: int | None = None
) -> list[Step]:
    """What leads from one state of a direction to another; queues and wires that go on keep what they hold.

    What a wire draws follows from `seed`; one that draws already goes on with that.
    """
    wire = [Step(hop["dst"], step) for step in _wire_steps(hop["dst_interface"], old, new, was_up, is_up, clock, seed)]
    before, after = (_queue(hop["interface"], *state, clock) for state in ((old, was_up), (new, is_up)))
    if before and after:
        # RED is told its rate too, for the time in which nothing is sent. Told anew, it would forget its average.
        same_rate = cast("Shape", {**new, "rate_mbps": old["rate_mbps"]})
        if _queue(hop["interface"], same_rate, True, clock)[1] == before[1]:
            after[1] = before[1]
    queue = [Step(hop["src"], step) for step in _replaced(hop["interface"], before, after)]
    # What a queue lets go when its link is cut must find the wire cut.
    return queue + wire if is_up else wire + queue


def _queue(interface: str, shape: Shape, up: bool, clock: str) -> list[Attached | Part]:
    found = shaping.queue_qdiscs(interface, shape, clock)
    if up or not found:
        return found
    # What it holds goes at once.
    draining = {**shape, "rate_mbps": shaping.DRAINING_MBPS, "segmentation_offload": shaping.offloads(shape)}
    return [shaping.queue_qdiscs(interface, cast("Shape", draining), clock)[0], *found[1:]]


def _replaced(interface: str, before: Sequence[Attached | Part], after: Sequence[Attached | Part]) -> list[Queueing]:
    if [one.identity for one in before] != [one.identity for one in after]:
        return [*([removed(interface)] if before else []), *after]
    return [
        replace(new, changed=True)
        for old, new in zip(before, after, strict=True)
        # A `tbf` that changes sets the limit of a fifo inside it, too.
        if new != old or (_is_fifo(new) and before[0] != after[0])
    ]


def _is_fifo(queueing: Attached | Part) -> bool:
    return isinstance(queueing, Attached) and queueing.inner and queueing.qdisc.kind in ("pfifo", "bfifo")


def _wire_steps(
    arriving: str, old: Shape, new: Shape, was_up: bool, is_up: bool, clock: str, seed: int | None
) -> list[str | Queueing]:
    device = shaping.wire_device(arriving)
    before, after = (
        [shaping.wire_qdisc(device, shape, clock, seed)] if shaping.has_wire(shape) else [] for shape in (old, new)
    )
    switch = f"link set dev {device} {'up' if is_up else 'down'}"
    if not before and was_up:
        if not after and is_up:
            return []
        made: list[str | Queueing] = [*([switch] if is_up else []), *after, *shaping.redirection(arriving, device)]
        return [f"link add name {device} type ifb", *made]
    if not after and is_up:
        return [removed(arriving, arriving=True), f"link del dev {device}"]
    if before and after and before != after:
        # What a `netem` is not told stays as it was.
        after = [shaping.wire_qdisc(device, new, clock, None if shaping.draws(old) else seed, every_option=True)]
    changed = _replaced(device, before, after)
    if was_up == is_up:
        return [*changed]
    return [*changed, switch] if is_up else [switch, *changed]


class _Waiting(NamedTuple):
    """A change that will come; of a trace, `rest` are its further steps. At one moment traces come first, so that a change wins."""

    moment_ns: int
    by_hand: bool
    number: int
    change: Change
    rest: Iterator[tuple[int, float]] | None = None


class Schedule:
    """What is still to change in a network, and what each direction is by now: the list `directions` is brought up to
    date.
    """

    def __init__(self, directions: list[Hop], clock: str, seed: int) -> None:
        self.directions = directions
        self._seeds = shaping.wire_seeds(directions, seed)
        self._clock = clock
        self._up = [True] * len(directions)
        self._waiting: list[_Waiting] = []
        self._numbers = itertools.count()
        self._traces: dict[int, Iterator[tuple[int, float]]] = {}

    def add(self, changes: Iterable[Change], after_ns: int = 0) -> None:
        """Take changes; their times count from `after_ns`."""
        for item in changes:
            moment_ns = after_ns + round(item["at_s"] * NS_PER_S)
            heapq.heappush(self._waiting, _Waiting(moment_ns, True, next(self._numbers), item))

    @property
    def next_ns(self) -> int | None:
        """The moment of the next change, in ns after the run's start; None when nothing will change any more."""
        return self._waiting[0].moment_ns if self._waiting else None

    def pop(self) -> list[Step]:
        """All that is to be done at the next moment."""
        moment_ns = self._waiting[0].moment_ns
        steps: list[Step] = []
        while self._waiting and self._waiting[0].moment_ns == moment_ns:
            steps += self._steps(heapq.heappop(self._waiting))
        return steps

    def _steps(self, due: _Waiting) -> list[Step]:
        place, fields, up = due.change["direction"], dict(due.change["shape"]), due.change["up"]
        if due.rest is not None:
            if self._traces.get(place) is not due.rest:
                return []
            self._await_step(place, due.rest)
        elif "rate_mbps" in fields:
            self._traces.pop(place, None)
            if isinstance(fields["rate_mbps"], Mapping):
                rest = _steps_of(cast("TraceSteps", fields["rate_mbps"]), due.moment_ns, self._clock)
                _, fields["rate_mbps"] = next(rest)
                self._traces[place] = rest
                self._await_step(place, rest)
        hop, was_up = self.directions[place], self._up[place]
        old = hop["shape"]
        new = cast("Shape", {**old, **fields})
        self._up[place] = was_up if up is None else up
        self.directions[place] = {**hop, "shape": new}
        return transition(hop, old, new, was_up, self._up[place], self._clock, self._seeds[place])

    def _await_step(self, place: int, rest: Iterator[tuple[int, float]]) -> None:
        for moment_ns, mbps in itertools.islice(rest, 1):
            step: Change = {"at_s": 0.0, "direction": place, "shape": {"rate_mbps": mbps}, "up": None}
            heapq.heappush(self._waiting, _Waiting(moment_ns, False, next(self._numbers), step, rest))


def _steps_of(trace: TraceSteps, start_ns: int, clock: str) -> Iterator[tuple[int, float]]:
    """Moments and rates without end."""
    steps = trace["steps"] if clock == "virtual" else _coarse(trace)
    if len(steps) == 1:
        yield start_ns, steps[0][1]
        return
    for number in itertools.count():
        for at_s, mbps in steps:
            yield start_ns + round((number * trace["duration_s"] + at_s) * NS_PER_S), mbps


def _coarse(trace: TraceSteps) -> list[tuple[float, float]]:
    """The mean rates of a trace in steps that a real clock can follow."""
    steps, duration_s = trace["steps"], trace["duration_s"]
    count = max(1, int(duration_s / REAL_CLOCK_STEP_S))
    width_s = duration_s / count
    volumes = [0.0] * count
    for (start_s, mbps), (end_s, _) in zip(steps, [*steps[1:], (duration_s, 0.0)], strict=True):
        for place in range(int(start_s / width_s), min(count, int(end_s / width_s) + 1)):
            volumes[place] += mbps * max(0.0, min(end_s, (place + 1) * width_s) - max(start_s, place * width_s))
    return [(place * width_s, max(REAL_CLOCK_OUTAGE_MBPS, volume / width_s)) for place, volume in enumerate(volumes)]


def shaped_directions(plan: Plan) -> list[Hop]:
    """The directions that have a rate, and so a queue, at any time of a run; those of a node together, as they are sampled."""
    later = {item["direction"] for item in plan["changes"] if item["shape"].get("rate_mbps") is not None}
    found = [
        hop for place, hop in enumerate(plan["directions"]) if hop["shape"]["rate_mbps"] is not None or place in later
    ]
    nodes = list(dict.fromkeys(hop["src"] for hop in found))
    return sorted(found, key=lambda hop: nodes.index(hop["src"]))


def hosts_ever_without_offload(plan: AgentPlan) -> list[str]:
    """Hosts whose segmentation offload must be off because of what some link is or becomes."""
    clock, segment_bytes = plan["clock"], shaping.segment_bytes_by_host(plan["traffic"])
    directions = list(plan["directions"])
    schedule = Schedule(directions, clock, plan["seed"])
    schedule.add(map(_begun, plan["changes"]))
    found = dict.fromkeys(shaping.hosts_without_offload(directions, plan["hosts"], clock, segment_bytes))
    while schedule.next_ns is not None:
        schedule.pop()
        found |= dict.fromkeys(shaping.hosts_without_offload(directions, plan["hosts"], clock, segment_bytes))
    return [host for host in plan["hosts"] if host in found]


def _begun(item: Change) -> Change:
    """The change with the first rate of its trace in place of the trace."""
    rate = item["shape"].get("rate_mbps")
    if not isinstance(rate, Mapping):
        return item
    return {**item, "shape": {**item["shape"], "rate_mbps": rate["steps"][0][1]}}


def without_offload_now(plan: AgentPlan, items: Sequence[Item], known: list[str]) -> list[Step]:
    """What switches offload off where the links as they are, or what these items of traffic send, ask for it.

    `known` are the hosts whose offload is off; those that come to them are noted.
    """
    small = shaping.segment_bytes_by_host(items)
    asked = shaping.hosts_without_offload(plan["directions"], plan["hosts"], plan["clock"], small)
    fresh = [host for host in asked if host not in known]
    known += fresh
    return [
        Step(host, f"link set dev {hop['interface']} gso_max_segs 1")
        for host in fresh
        for hop in plan["directions"]
        if hop["src"] == host
    ]
