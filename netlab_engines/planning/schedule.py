"""The changes of links during a run: from the plan's changes to lines for `ip` and `tc` at each time.

If a direction goes down, its wire device is switched off, which loses the packets in flight and all later ones. The
queue then empties into that device at the highest rate. Interfaces stay up, so addresses, routes and neighbours remain.
"""

import heapq
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, cast

from netlab.base.units import NS_PER_S
from netlab.plan import Item, Plan, PlannedChange, PlannedHop, Shape, TraceSteps
from netlab_engines.netlink.classes import ClassElement
from netlab_engines.netlink.ip_lines import Interfaces, ip_line
from netlab_engines.netlink.qdiscs import AttachedQdisc, Queueing, removal
from netlab_engines.planning import shaping
from netlab_engines.protocol.requests import AgentPlan

# On a machine's own kernel, `tbf` fills its bucket at every change of the rate: a bucket of 10 ms is one per cent of a second. It also
# uses the new rate only after the next frame was due at the old one.
REAL_CLOCK_STEP_S = 1.0
REAL_CLOCK_OUTAGE_MBPS = 0.1


class Step(NamedTuple):
    """A change of one node's kernel: `command` is a line of `ip` without the word "ip", or a part of
    the node's queueing.
    """

    node: str
    command: str | Queueing

    @property
    def line(self) -> str:
        """The step as a command line of `ip` or `tc`, for errors."""
        return f"ip {self.command}" if isinstance(self.command, str) else f"tc {self.command.line}"

    def message(self, interfaces: Interfaces) -> bytes:
        """Return the step as a netlink message; `interfaces` has the numbers of the node's interfaces, and gets a new
        one if the step makes an interface.
        """
        return ip_line(self.command, interfaces) if isinstance(self.command, str) else self.command.message(interfaces)


def transition(
    hop: PlannedHop, old: Shape, new: Shape, was_up: bool, is_up: bool, clock: str, seed: int | None = None
) -> list[Step]:
    """Return the steps for the kernels, in their order, that change the direction `hop` of a link from the shape `old`
    to `new` and from up or down (`was_up`) to `is_up`, by the clock "virtual" or "real". `seed` is the one of a wire
    that begins to draw (None: the kernel's own).

    Queues and wires that stay keep their packets, and a wire that already makes random draws continues with them.
    """
    wire = [Step(hop["dst"], step) for step in _wire_steps(hop["dst_interface"], old, new, was_up, is_up, clock, seed)]
    old_queue, new_queue = (_queue(hop["interface"], *state, clock) for state in ((old, was_up), (new, is_up)))
    if old_queue and new_queue:
        # RED's parameters include the rate, for idle times. With new parameters it would forget its average.
        same_rate = cast("Shape", {**new, "rate_mbps": old["rate_mbps"]})
        if _queue(hop["interface"], same_rate, True, clock)[1] == old_queue[1]:
            new_queue[1] = old_queue[1]
    queue = [Step(hop["src"], step) for step in _replacement_steps(hop["interface"], old_queue, new_queue)]
    # Cut the wire before the queue is drained, so that the drained packets are lost.
    return queue + wire if is_up else wire + queue


def _queue(interface: str, shape: Shape, up: bool, clock: str) -> list[AttachedQdisc | ClassElement]:
    """Return the queueing at the sending interface of a direction with this shape: rate limit, queue and the queue's
    classes and filters, or [] without a rate. If the direction is not `up`, the rate limit is DRAINING_MBPS, so that
    the queue empties. `clock` is "virtual" or "real".
    """
    found = shaping.queue_qdiscs(interface, shape, clock)
    if up or not found:
        return found
    # Drain the queue at a very high rate.
    draining = {**shape, "rate_mbps": shaping.DRAINING_MBPS, "segmentation_offload": shaping.keeps_gso(shape)}
    return [shaping.queue_qdiscs(interface, cast("Shape", draining), clock)[0], *found[1:]]


def _replacement_steps(
    interface: str,
    old_queueing: Sequence[AttachedQdisc | ClassElement],
    new_queueing: Sequence[AttachedQdisc | ClassElement],
) -> list[Queueing]:
    """Return the lines of `tc` that turn the queueing `old_queueing` of the interface with the name `interface` into
    `new_queueing`: changes of what differs (and of a fifo whose rate limit changes) or, if the kinds of queue
    disciplines or the classes differ, the removal of `old_queueing`, if there is one, and all of `new_queueing`.
    """
    if [one.identity for one in old_queueing] != [one.identity for one in new_queueing]:
        return [*([removal(interface)] if old_queueing else []), *new_queueing]
    return [
        replace(new, changed=True)
        for old, new in zip(old_queueing, new_queueing, strict=True)
        # A change of `tbf` also sets the limit of a fifo inside it, so that limit must be set again.
        if new != old or (_is_fifo(new) and old_queueing[0] != new_queueing[0])
    ]


def _is_fifo(queueing: AttachedQdisc | ClassElement) -> bool:
    """Return whether `queueing` is a fifo inside a rate limit, so that a change of the rate limit also sets its
    limit.
    """
    return isinstance(queueing, AttachedQdisc) and queueing.inner and queueing.qdisc.kind in ("pfifo", "bfifo")


def _wire_steps(
    arriving: str, old: Shape, new: Shape, was_up: bool, is_up: bool, clock: str, seed: int | None
) -> list[str | Queueing]:
    """Return the lines of `ip` (as texts without that word) and of `tc` that change the wire in front of the receiving
    interface `arriving` from the shape `old` to `new` and from up or down (`was_up`) to `is_up`; [] if nothing changes.
    A direction that is down has a wire device even if its shape needs none. `clock` is "virtual" or "real", and `seed`
    is the seed of a wire that begins to make random draws (None: the kernel's own).
    """
    device = shaping.wire_device(arriving)
    old_queueing, new_queueing = (
        [shaping.wire_qdisc(device, shape, clock, seed)] if shaping.has_wire(shape) else [] for shape in (old, new)
    )
    switch = f"link set dev {device} {'up' if is_up else 'down'}"
    if not old_queueing and was_up:
        if not new_queueing and is_up:
            return []
        steps: list[str | Queueing] = [
            *([switch] if is_up else []),
            *new_queueing,
            *shaping.redirection(arriving, device),
        ]
        return [f"link add name {device} type ifb", *steps]
    if not new_queueing and is_up:
        return [removal(arriving, arriving=True), f"link del dev {device}"]
    if old_queueing and new_queueing and old_queueing != new_queueing:
        # `netem` keeps options that a change does not mention, so mention all.
        new_queueing = [
            shaping.wire_qdisc(device, new, clock, None if shaping.is_random(old) else seed, every_option=True)
        ]
    changed = _replacement_steps(device, old_queueing, new_queueing)
    if was_up == is_up:
        return [*changed]
    return [*changed, switch] if is_up else [switch, *changed]


class _FutureChange(NamedTuple):
    """A change of a direction that is still to come. These sort by time; steps of traces come before planned changes of
    the same time, which then win.
    """

    moment_ns: int
    is_manual: bool
    """False for a step of a trace; the heap of future changes compares it, after the time."""
    number: int
    change: PlannedChange
    rest: Iterator[tuple[int, float]] | None = None
    """The further steps of a trace: times in ns and rates in Mbit/s."""


class Schedule:
    """The future changes of a network's links, with traces unrolled step by step, and the present shape and state of
    each direction.

    `directions` is updated with each change. `clock` is "virtual" or "real", and the wires' random draws follow from
    `seed`.
    """

    def __init__(self, directions: list[PlannedHop], clock: str, seed: int) -> None:
        """Start without changes and with all directions up. The list `directions` is changed in place at each change;
        `clock` is "virtual" or "real"; the random draws of the wires follow from the run's `seed`.
        """
        self.directions = directions
        self._seeds = shaping.wire_seeds(directions, seed)
        self._clock = clock
        self._up = [True] * len(directions)
        self._future: list[_FutureChange] = []
        self._numbers = itertools.count()
        self._traces: dict[int, Iterator[tuple[int, float]]] = {}

    def add(self, changes: Iterable[PlannedChange], after_ns: int = 0) -> None:
        """Add changes to the future ones; their times count from `after_ns`, which is in ns from the run's start."""
        for item in changes:
            moment_ns = after_ns + round(item["at_s"] * NS_PER_S)
            heapq.heappush(self._future, _FutureChange(moment_ns, True, next(self._numbers), item))

    @property
    def next_ns(self) -> int | None:
        """The time of the next change in ns from the run's start; None if there is none."""
        return self._future[0].moment_ns if self._future else None

    def pop(self) -> list[Step]:
        """Remove all changes at the next time, update the shapes of their directions, and return the steps that make
        the changes in the kernels, in their order. Raises IndexError if there is no change.
        """
        moment_ns = self._future[0].moment_ns
        steps: list[Step] = []
        while self._future and self._future[0].moment_ns == moment_ns:
            steps += self._steps(heapq.heappop(self._future))
        return steps

    def _steps(self, due: _FutureChange) -> list[Step]:
        """Update the shape and state of the direction that the change `due` concerns, and return the steps for the
        kernels. If it is a step of a trace, or a new rate that is one, add the trace's next step to the future changes;
        return [] if a later change has replaced the trace.
        """
        place, fields, up = due.change["direction"], dict(due.change["shape"]), due.change["up"]
        if due.rest is not None:
            if self._traces.get(place) is not due.rest:
                return []
            self._add_trace_step(place, due.rest)
        elif "rate_mbps" in fields:
            self._traces.pop(place, None)
            if isinstance(fields["rate_mbps"], Mapping):
                rest = _trace_steps(cast("TraceSteps", fields["rate_mbps"]), due.moment_ns, self._clock)
                _, fields["rate_mbps"] = next(rest)
                self._traces[place] = rest
                self._add_trace_step(place, rest)
        hop, was_up = self.directions[place], self._up[place]
        old = hop["shape"]
        new = cast("Shape", {**old, **fields})
        self._up[place] = was_up if up is None else up
        self.directions[place] = {**hop, "shape": new}
        return transition(hop, old, new, was_up, self._up[place], self._clock, self._seeds[place])

    def _add_trace_step(self, place: int, rest: Iterator[tuple[int, float]]) -> None:
        """Add the next step of a trace, if there is one, to the future changes of the direction with the number `place`
        (from 0). `rest` yields the trace's further steps: times in ns from the run's start and rates in Mbit/s.
        """
        for moment_ns, mbps in itertools.islice(rest, 1):
            step: PlannedChange = {"at_s": 0.0, "direction": place, "shape": {"rate_mbps": mbps}, "up": None}
            heapq.heappush(self._future, _FutureChange(moment_ns, False, next(self._numbers), step, rest))


def _trace_steps(trace: TraceSteps, start_ns: int, clock: str) -> Iterator[tuple[int, float]]:
    """Yield the time in ns from the run's start and the rate in Mbit/s of each step of a trace that begins at
    `start_ns` and is repeated without end; a trace of one step yields once. On the `clock` "real" the steps are longer
    and their rates never below REAL_CLOCK_OUTAGE_MBPS.
    """
    steps = trace["steps"] if clock == "virtual" else _coarse_steps(trace)
    if len(steps) == 1:
        yield start_ns, steps[0][1]
        return
    for number in itertools.count():
        for at_s, mbps in steps:
            yield start_ns + round((number * trace["duration_s"] + at_s) * NS_PER_S), mbps


def _coarse_steps(trace: TraceSteps) -> list[tuple[float, float]]:
    """Return a trace as equal steps of about REAL_CLOCK_STEP_S s, long enough for a real clock: a list of pairs of a
    step's start in s from the trace's start and its mean rate in Mbit/s, at least REAL_CLOCK_OUTAGE_MBPS. A trace
    shorter than two such steps has one.
    """
    steps, duration_s = trace["steps"], trace["duration_s"]
    count = max(1, int(duration_s / REAL_CLOCK_STEP_S))
    width_s = duration_s / count
    volumes = [0.0] * count
    for (start_s, mbps), (end_s, _) in zip(steps, [*steps[1:], (duration_s, 0.0)], strict=True):
        for place in range(int(start_s / width_s), min(count, int(end_s / width_s) + 1)):
            volumes[place] += mbps * max(0.0, min(end_s, (place + 1) * width_s) - max(start_s, place * width_s))
    return [(place * width_s, max(REAL_CLOCK_OUTAGE_MBPS, volume / width_s)) for place, volume in enumerate(volumes)]


def shaped_directions(plan: Plan) -> list[PlannedHop]:
    """Return the directions of a plan's links that have a rate, and so a queue, at any time of the run; those that
    leave the same node follow each other.
    """
    later = {item["direction"] for item in plan["changes"] if item["shape"].get("rate_mbps") is not None}
    found = [
        hop for place, hop in enumerate(plan["directions"]) if hop["shape"]["rate_mbps"] is not None or place in later
    ]
    nodes = list(dict.fromkeys(hop["src"] for hop in found))
    return sorted(found, key=lambda hop: nodes.index(hop["src"]))


def hosts_needing_gso_off(plan: AgentPlan) -> list[str]:
    """Return the names of those hosts, in the plan's order, whose segmentation offload must be off because some link at
    some time of the run would treat many frames as one packet.
    """
    clock, segment_bytes = plan["clock"], shaping.segment_bytes_by_host(plan["traffic"])
    directions = list(plan["directions"])
    schedule = Schedule(directions, clock, plan["seed"])
    schedule.add(map(_with_first_rate, plan["changes"]))
    found = dict.fromkeys(shaping.hosts_with_unsafe_gso(directions, plan["hosts"], clock, segment_bytes))
    while schedule.next_ns is not None:
        schedule.pop()
        found |= dict.fromkeys(shaping.hosts_with_unsafe_gso(directions, plan["hosts"], clock, segment_bytes))
    return [host for host in plan["hosts"] if host in found]


def _with_first_rate(item: PlannedChange) -> PlannedChange:
    """Return the planned change itself or, if its rate is a trace, a copy with the trace's first rate in Mbit/s in
    place of the trace.
    """
    rate = item["shape"].get("rate_mbps")
    if not isinstance(rate, Mapping):
        return item
    return {**item, "shape": {**item["shape"], "rate_mbps": rate["steps"][0][1]}}


def gso_off_steps(plan: AgentPlan, items: Sequence[Item], done: list[str]) -> list[Step]:
    """Return the steps that switch segmentation offload off on all interfaces of those hosts that need it for the
    plan's links in their present shape and the traffic `items`. Hosts in the list `done` are left out, because their
    offload is off already; the new ones are appended to it.
    """
    small = shaping.segment_bytes_by_host(items)
    hosts = shaping.hosts_with_unsafe_gso(plan["directions"], plan["hosts"], plan["clock"], small)
    fresh = [host for host in hosts if host not in done]
    done += fresh
    return [
        Step(host, f"link set dev {hop['interface']} gso_max_segs 1")
        for host in fresh
        for hop in plan["directions"]
        if hop["src"] == host
    ]
