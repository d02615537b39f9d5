"""`nl.live`: a network that is built once and then runs one command after the other.

Between commands the kernel waits and its clock stands still: the results do not depend on how long the user thinks. On
the native engine the same commands work in real time: the network goes on between commands, and results are not
repeatable.
"""

from __future__ import annotations

import itertools
import math
import sys
import time
import weakref
from collections.abc import Container, Iterator, Mapping
from contextlib import ExitStack
from types import TracebackType
from typing import Any, cast

import pandas as pd

from netlab import captures, measure
from netlab.base import scratch
from netlab.base.arguments import explain_bad_arguments
from netlab.base.errors import RunError, ScenarioError, one_of
from netlab.base.values import is_number, short_repr
from netlab.base.version import VERSION
from netlab.captures import Capture
from netlab.measure.results import Run
from netlab.network.change import Change
from netlab.network.topology import Topology
from netlab.plan import Counters, Plan, QueueSample, StreamSample
from netlab.runs.scenario import DEFAULT_INTERVAL_S, Scenario, first_addresses, network_of
from netlab.traffic import Command, Tcp, Traffic, Udp
from netlab_engines import selection
from netlab_engines.base import agent_plan, refuse_own
from netlab_engines.lab import flow_ends, magics
from netlab_engines.lab.captures import LiveCapture
from netlab_engines.lab.flows import LiveFlow
from netlab_engines.lab.links import LiveLink
from netlab_engines.lab.nodes import Host
from netlab_engines.lab.session import GuestSession
from netlab_engines.protocol.session import LabEngine, LabSession

WALL_LIMIT_S = 60.0
CAPTURE_BYTES = 64 << 20
STEP_S = 0.5
MAX_ADVANCE_S = 86_400.0


@explain_bad_arguments("nl.live(network)")
def live(
    network: Topology | Scenario | Mapping[str, Any],
    seed: int = 1,
    *,
    interval_s: float = DEFAULT_INTERVAL_S,
    sysctls: Mapping[str, Any] | None = None,
    wall_limit_s: float = WALL_LIMIT_S,
    engine: str | LabEngine | None = None,
) -> Lab:
    """Build a network in an engine and return it as a Lab, which the caller must close; it waits for commands and
    traffic, and its time passes only with them, except on the native engine.

    Parameters
    ----------
    network : Topology, Scenario or dict
        The network; a dict has the form of a topology file. A scenario gives only its network.
    seed : int
        The seed of all random draws, in engines with virtual time.
    interval_s : float
        Length in s of the intervals of the time series, at least 0.001.
    sysctls : mapping, optional
        Kernel settings of every node.
    wall_limit_s : float
        Longest wall-clock time in s that one command may take.
    engine : {"pocket", "native", "library"} or LabEngine, optional
        The engine that runs the network; None uses $NETLAB_ENGINE, or else the pocket kernel. The library kernel starts in a
        fraction of the time and has traffic, changes, tables and captures, but no terminals, and its hosts can run only tc, ip
        and sysctl commands.

    Returns
    -------
    Lab
        Close it with `close()`, or use it in a `with` statement.

    Raises
    ------
    ScenarioError
        If the network has mistakes; it lists all of them.
    EngineError, KernelError
        If this machine lacks something; the message tells what to do.

    Examples
    --------
    >>> import netlab as nl
    >>> with nl.live(nl.topologies.dumbbell(pairs=1), seed=1) as lab:  # doctest: +SKIP
    ...     print(lab["h1"].run("ping -c3 h2"))
    """
    return Lab(network_of(network), seed, interval_s, sysctls, wall_limit_s, engine)


class Lab:
    """A live network, with a node for each name (`lab["h1"]`); see `live`, whose arguments it has.

    Attributes
    ----------
    topology : Topology
        The network as it is now, with the changes by `link(...).change`.
    changes : list of Change
        The changes of links so far, with their times.
    artifacts : Path
        The directory of finished captures.
    """

    def __init__(
        self,
        topology: Topology,
        seed: int,
        interval_s: float,
        sysctls: Mapping[str, Any] | None,
        wall_limit_s: float,
        engine: str | LabEngine | None,
    ) -> None:
        """Build the network of the topology in an engine and let its time begin; the newest lab is also the one of the
        magics `%host`. The arguments are those of `live`: the seed of random draws, the length of intervals in s,
        kernel settings by name, the limit in s of wall-clock time for a command, and the engine (None: this machine's).
        Raises ScenarioError with all mistakes, EngineError or KernelError if this machine lacks something.
        """
        problems = topology.problems()
        # Check the other settings with a scenario whose only traffic is a command that does nothing.
        if not problems:
            probe = Scenario(topology, [Command(topology.nodes[0], "true")], MAX_ADVANCE_S, seed, 1.0, sysctls or {})
            problems = probe.problems()
        if not (is_number(interval_s) and interval_s >= 0.001):
            problems.append(f"interval_s must be a number of at least 0.001, got {short_repr(interval_s)}")
        if not (is_number(wall_limit_s) and wall_limit_s > 0):
            problems.append(f"wall_limit_s must be above 0, got {short_repr(wall_limit_s)}")
        if problems:
            raise ScenarioError(problems)
        self.topology = topology
        self.changes: list[Change] = []
        self._scenario = Scenario(topology, [], MAX_ADVANCE_S, seed, interval_s, sysctls or {})
        self._plan = self._scenario.plan()
        self._items: list[Any] = []
        self._flows: dict[str, LiveFlow] = {}
        self._totals: Any = {"flows": [], "datagrams": []}
        self._streams: list[StreamSample] = []
        self._queues: list[QueueSample] = []
        self._captures: dict[str, LiveCapture] = {}
        # A run's directory: if this process is killed, the next run removes it.
        artifacts = ExitStack()
        self.artifacts = artifacts.enter_context(scratch.run_directory(CAPTURE_BYTES))
        place = selection.choose(engine)
        try:
            guest = place.open(self._plan)
        except BaseException:
            artifacts.close()
            raise
        self.session = GuestSession(guest, float(wall_limit_s))
        self._finalizer = weakref.finalize(self, _close, guest, artifacts)
        try:
            plan = agent_plan(self._plan, guest.clock)
            # Not by the session: its wall limit is for what a person asks.
            began_ns = guest.request().build(plan=plan, programs=True)["origin_ns"]
            guest.request().advance(until_s=0.0, progress_s=None)
        except BaseException:
            self.close()
            raise
        self.origin = captures.Origin(began_ns, captures.nodes_by_address(self._plan))
        magics.note(self)
        if "IPython" in sys.modules:
            # In a notebook the first lab makes `%host` and `%%host` available.
            magics.register()

    # Life cycle -----------------------------------------------------------------------------------------------

    def close(self) -> None:
        """End the network and all its programs, after reading its tables once more, which stay readable; finished
        captures stay until the object is deleted. A second call does nothing.
        """
        if not self.closed and self._flows:
            try:
                self._refresh()
            except (RunError, KeyboardInterrupt):
                pass
        self.session.guest.close()

    @property
    def closed(self) -> bool:
        """True if the network has ended."""
        return self.session.closed

    def __enter__(self) -> Lab:
        """Return this network at the beginning of a `with` block."""
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        """Close the network at the end of a `with` block; an exception in the block is raised on."""
        self.close()

    def __repr__(self) -> str:
        """Return a text with the network's nodes and links, and its network time in s or "closed", for display."""
        state = "closed" if self.closed else f"at {self.now_s:.3f} s"
        return f"Lab({self.topology!r}, {state})"

    # Commands -------------------------------------------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        """Raise AttributeError for an unknown attribute `name`; if it is the name of a node, the message says to write
        `lab[name]`.
        """
        nodes = self.__dict__.get("topology", Topology()).nodes
        if name in nodes:
            raise AttributeError(
                f"for the node {name} write lab[{name!r}], for example lab[{name!r}].run('ip address')"
            )
        raise AttributeError(f"a lab has no attribute {name!r}; lab[...] returns one of its nodes {', '.join(nodes)}")

    def __getitem__(self, name: str) -> Host:
        """Return the node (host, router or switch) with the name `name`. Raises ScenarioError if there is none."""
        if name not in self.topology.nodes:
            raise ScenarioError([f"node: {one_of(name, self.topology.nodes)}"])
        return Host(self.session, name, self.addresses[name])

    def __iter__(self) -> Iterator[str]:
        """Return an iterator over the names of the nodes: hosts, routers and switches."""
        return iter(self.topology.nodes)

    @property
    def now_s(self) -> float:
        """The network time in s since the network was built."""
        if self.session.guest.clock == "real" and not self.closed:
            # The network goes on between requests, so ask for the time.
            self.session.request().advance(until_s=0.0, progress_s=None)
        return self.session.now_s

    def advance(self, duration_s: float, *, pace: float | None = None) -> None:
        """Let `duration_s` s of network time pass, with all traffic and background processes; `pace` is the number of
        seconds of network time per second of wall-clock time (None: as fast as possible). Blocks until it has passed.
        Raises ScenarioError for a wrong argument, also a pace other than 1 in real time, and RunError if the network is
        closed or fails.

        Parameters
        ----------
        duration_s : float
            The network time in s.
        pace : float, optional
            Seconds of network time per second of wall-clock time: 1 is real time, 0.1 ten times slower. None is as fast as
            possible.
        """
        if not (is_number(duration_s) and 0 <= duration_s <= MAX_ADVANCE_S):
            raise ScenarioError([f"duration_s must be from 0 to {MAX_ADVANCE_S:g}, got {short_repr(duration_s)}"])
        if pace is not None and not (is_number(pace) and pace > 0):
            raise ScenarioError(
                [f"pace must be above 0, got {short_repr(pace)}; leave it out to go as fast as possible"]
            )
        if pace not in (None, 1) and self.session.guest.clock == "real":
            raise ScenarioError(
                [f"pace must be 1 or left out, got {short_repr(pace)}: the native engine runs in real time"]
            )
        began_s, wall_s = self.now_s, time.monotonic()
        step_s = STEP_S if pace is None else min(STEP_S, 0.1 * pace)
        steps = max(1, math.ceil(duration_s / step_s - 1e-9))
        for step in range(1, steps + 1):
            until_s = began_s + min(duration_s, step * step_s)
            self.session.request().advance(until_s=until_s, progress_s=None)
            if pace is not None:
                time.sleep(max(0.0, wall_s + (until_s - began_s) / pace - time.monotonic()))

    def advance_until(self, flow: LiveFlow, *, limit_s: float = 60.0) -> float | None:
        """Let network time pass until `flow`, an `nl.Tcp` with `num_bytes` or an `nl.Requests` with `count`, has
        delivered all of its data, at most `limit_s` s of it; return the network time in s at which the last byte
        arrived, or None if it has not. The time is then up to 10 ms later, or more if the flow became faster than ever
        before. Raises ScenarioError for another flow or a wrong limit.
        """
        if not (is_number(limit_s) and 0 <= limit_s <= MAX_ADVANCE_S):
            raise ScenarioError([f"limit_s must be from 0 to {MAX_ADVANCE_S:g}, got {short_repr(limit_s)}"])
        began_s = now_s = self.now_s
        found, fastest_bytes_s = self._progress(flow.label, now_s), 0.0
        while found.end_s is None and now_s < began_s + limit_s - 1e-9:
            look_s = flow_ends.next_look_s(now_s - began_s, now_s, found.rest_bytes, fastest_bytes_s)
            last_progress, before_s = found, now_s
            found = self._progress(flow.label, min(look_s, began_s + limit_s))
            now_s = self.session.now_s
            arrived_bytes = found.received_bytes - last_progress.received_bytes
            fastest_bytes_s = max(fastest_bytes_s, arrived_bytes / max(now_s - before_s, flow_ends.GRID_S))
        return found.end_s

    def start(self, item: Traffic) -> LiveFlow:
        """Start an item of netlab's own traffic, now or `item.start_s` s later, and return the flow; it runs whenever
        network time passes. Its label gets a number, such as "-2", if it is used already.

        Raises
        ------
        ScenarioError
            If the item has mistakes (it lists all of them), is a command or has settings that live networks lack.
        NotHereError
            If the item has a class of the user's own and the engine is not the library engine.
        """
        # Check it with the network as it is now.
        Scenario(self.topology, [item], MAX_ADVANCE_S, self._scenario.seed, 1.0).validate()
        if isinstance(item, Command):
            raise ScenarioError([f"to start a command use lab[{item.host!r}].start({item.command!r})"])
        if isinstance(item, Udp) and item.spacing == "random" and item.duration_s is None:
            raise ScenarioError(["spacing='random' needs a duration_s in a live network"])
        if isinstance(item, Tcp) and item.initial_window_segments is not None:
            raise ScenarioError(["initial_window_segments cannot be set in a live network; use nl.run"])
        label = _unused_label(item.label, self._flows)
        (planned,) = Scenario(self.topology, [item], MAX_ADVANCE_S).plan()["traffic"]
        planned["label"] = label
        if self.session.guest.name != "library":
            refuse_own([planned], self.session.guest.name)
        self.session.request().start(item=planned)
        self._flows[label] = LiveFlow(self, label)
        return self._flows[label]

    def link(self, a: str, b: str, number: int = 1) -> LiveLink:
        """Return the link between the nodes with the names `a` and `b`; `number`, from 1, selects one of several
        parallel links. Raises ScenarioError if there is none.
        """
        return LiveLink(self, (a, b), number)

    def capture(
        self,
        a: str,
        b: str,
        *,
        snap_bytes: int = captures.DEFAULT_SNAP_BYTES,
        filter: str = "",  # noqa: A002 (tcpdump's name)
        name: str = "",
    ) -> LiveCapture:
        """Record the first `snap_bytes` bytes of each packet of the link between the nodes `a` and `b` (the first one
        of several) from now on, and return the running capture. `filter` is an expression as for tcpdump ("": all
        packets), and `name` the name of the file ("": made from the link). Raises ScenarioError for a wrong argument.
        """
        item = Capture(a, b, snap_bytes, filter, name)
        position = self.link(a, b).position
        problems = item.problems("capture")
        if problems:
            raise ScenarioError(problems)
        captures.parse_filter(filter, self.addresses)
        label = _unused_label(item.label, self._captures)
        both = [2 * position, 2 * position + 1]
        self.session.request().capture(name=label, directions=both, snap_bytes=snap_bytes)
        live_capture = LiveCapture(
            self, item, label, [d["interface"] for d in self._plan["directions"][2 * position : 2 * position + 2]]
        )
        self._captures[label] = live_capture
        return live_capture

    @property
    def addresses(self) -> dict[str, str]:
        """The IPv4 address of each node, by the node's name."""
        return first_addresses(self._plan["addresses"])

    # Measurements ---------------------------------------------------------------------------------------------

    @property
    def run(self) -> Run:
        """All tables so far, as a result of `netlab.run` with its settings, read anew from the network unless that is
        closed; flows that have begun count as if they ended now, others are left out. Raises RunError if a request to
        the network fails.
        """
        if not self.closed:
            self._refresh()
        items = []
        for item in self._items:
            stopped_s = self._flows[item["label"]].stopped_s
            items.append(item if stopped_s is None else {**item, "duration_s": stopped_s - item["start_s"]})
        counted = {row["flow"] for row in self._totals["flows"]}
        started = [item for item in items if item["label"] in counted]
        plan = {**self._plan, "traffic": started, "duration_s": self.now_s}
        raw = {**self._totals, "streams": self._streams, "queues": self._queues}
        settings = {
            "scenario": {
                **self._scenario.to_dict(),
                "duration_s": self.now_s,
                "traffic": [{name: word for name, word in item.items() if name != "own"} for item in started],
                **({"changes": [item.to_dict() for item in self.changes]} if self.changes else {}),
            },
            "network_s": self.now_s,
            "engine": self.session.guest.name,
            "clock": self.session.guest.clock,
            "netlab": VERSION,
        }
        return measure.to_run(cast("Counters", raw), cast("Plan", plan), settings)

    @property
    def flows(self) -> pd.DataFrame:
        """A table with a row for each flow that has begun, with its totals as if it ended now, in the form of
        `Run.flows`.
        """
        return self.run.flows

    @property
    def intervals(self) -> pd.DataFrame:
        """A table with a row for each flow and each interval since the start, in the form of `Run.intervals`."""
        return self.run.intervals

    @property
    def queues(self) -> pd.DataFrame:
        """A table with a row for each queue and each interval since the start, in the form of `Run.queues`."""
        return self.run.queues

    def _progress(self, label: str, until_s: float) -> flow_ends.Progress:
        """Let network time pass until `until_s` in s, and return the bytes of the flow with this label that have arrived
        and that have not, and when its last one arrived (s of network time, None before), as the network tells then or
        told before it was closed. Raises ScenarioError if the flow has no last byte.
        """
        if self.closed:
            item = next(each for each in self._items if each["label"] == label)
            totals = next((each for each in self._totals["flows"] if each["flow"] == label), None)
            return flow_ends.progress(item, totals)
        answer = self.session.request().totals(label=label, until_s=until_s)
        return flow_ends.progress(answer["item"], answer["totals"])

    def _refresh(self) -> None:
        """Ask the network for the samples since the last call, which are appended to the lab's tables, and for the
        present items and totals, which replace the earlier ones. Raises RunError if the network has failed.
        """
        found = self.session.request().tables(streams=len(self._streams), queues=len(self._queues))
        self._streams += found["streams"]
        self._queues += found["queues"]
        self._items = found["items"]
        self._totals = found


def _unused_label(label: str, used: Container[str]) -> str:
    """Return `label` if it is not in `used`, or else the label with "-2", "-3" and so on, the first that is not in
    `used`.
    """
    return next(
        name for name in itertools.chain([label], (f"{label}-{k}" for k in itertools.count(2))) if name not in used
    )


def _close(guest: LabSession, artifacts: ExitStack) -> None:
    """Close the session of a guest and its network, then remove the directory of finished captures, which `artifacts`
    closes.
    """
    guest.close()
    artifacts.close()
