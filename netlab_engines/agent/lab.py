"""The agent of a lab: it builds a network, sends traffic, samples and captures on request.

It has a method for each request of `netlab_engines.protocol`. Network time passes while a request is answered. Between two
requests a guest's clock stands still; on this machine's own kernel time goes on.
"""

from __future__ import annotations

import math
import os
import platform
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from netlab.base.errors import RunError
from netlab.base.units import NS_PER_S
from netlab.plan import FIRST_PORT, Item, QueueSample, Shape, StreamSample, Totals
from netlab_engines import files
from netlab_engines.agent.artifacts import ArtifactStore
from netlab_engines.agent.capture import PacketCapture
from netlab_engines.agent.changer import LinkChanger
from netlab_engines.agent.failures import Failures
from netlab_engines.agent.flows import RunningFlow, make_flows
from netlab_engines.agent.flows.base import sleep_until
from netlab_engines.agent.host_channel import HostChannel, serve
from netlab_engines.agent.medium import Medium
from netlab_engines.agent.netlink_socket import NetlinkSocket
from netlab_engines.agent.network import Network
from netlab_engines.agent.sampling import QueueReader, queue_readers
from netlab_engines.netlink import links
from netlab_engines.planning.schedule import gso_off_steps, hosts_needing_gso_off, shaped_directions
from netlab_engines.planning.shaping import capture_ends, shape_network
from netlab_engines.protocol.requests import (
    AgentPlan,
    AllRequests,
    BuildReply,
    CaptureReply,
    LabRequests,
    Scripts,
    StartReply,
    Tables,
    TimeReply,
    TotalsReply,
    names,
)
from netlab_engines.sockets.constants import SETTLE_NS, TRAFFIC_AT_NS
from netlab_engines.sockets.moments import forbid_timer_slack, sleep_until_ns

if TYPE_CHECKING:
    from netlab_engines.agent.programs import Programs
    from netlab_engines.agent.script import Script

MAX_SEED = 2**64 - 1
ENDLESS_S = 1e6
GRID_S = {"virtual": TRAFFIC_AT_NS / NS_PER_S, "real": 0.01}
REPORT_AT = 0.371
"""The fraction of a step at which progress is reported: no other event of the agent has the same time."""
START_GRID_S = 0.01
"""Traffic that is added to a running network starts at a multiple of this time in s."""


class LabAgent:
    """The agent of one lab: a network with its traffic, samples and captures, and a method for each request of the
    host.

    Parameters
    ----------
    channel : HostChannel
        The channel to the host.
    folder : Path
        The host's folder, which receives captures and saved files.
    packages : list of str
        The directories of netlab and Mininet, for other Python processes of the guest.
    work : Path
        The folder in which commands that save files have their working directories.
    """

    def __init__(self, channel: HostChannel, folder: Path, packages: list[str], work: Path) -> None:
        """Prepare a lab without a network, which the request `build` makes; from now on exceptions in threads of this
        process are recorded.
        """
        self._channel = channel
        self._folder = folder
        self._packages = packages
        self._artifacts = ArtifactStore(folder / files.ARTIFACTS, work=work)
        self._programs: Programs | None = None
        self._script: Script | None = None
        self._lock = threading.Lock()
        self._failures = Failures()
        self._failures.watch_threads()
        self._items: list[Item] = []
        self._flows: dict[str, RunningFlow[Any]] = {}
        self._port = FIRST_PORT
        self._captures: dict[str, list[PacketCapture]] = {}
        self._lost = 0
        self._has_finished = False
        self._in_advance = False
        self._steps = 0
        self._streams: list[StreamSample] = []
        self._queues: list[QueueSample] = []

    def request(self, name: str) -> Callable[..., Any]:
        """Return the function that answers the request with this name, a method of this lab, its programs or its
        script, which is prepared at the first request for scripts. Raises RunError if there is none, or if the lab was
        built without programs and the request needs them.
        """
        if name in names(Scripts) and self._script is None:
            # Imported here, so that runs without scripts do not wait for it.
            from netlab_engines.agent import orphans
            from netlab_engines.agent.script import Script

            orphans.collect_from_now_on()
            self._script = Script(self._channel, self._folder, self._packages)
        if name in names(AllRequests):
            for part in (self, self._programs, self._script):
                if part is not None and hasattr(part, name):
                    return cast("Callable[..., Any]", getattr(part, name))
        raise RunError(f"This lab cannot answer the request {name!r}; a lab built with programs answers more requests.")

    # The network ----------------------------------------------------------------------------------------------

    def build(self, plan: AgentPlan, programs: bool) -> BuildReply:
        """Build the network of the plan, begin its captures, and start its traffic at a round time. Return a dict of
        that time, the run's start ("origin_ns", ns on the real-time clock, possibly in the future), and the present
        time ("now_s", s from the run's start, then negative). With `programs`, the nodes can also run a user's
        commands, and samples are taken by a thread. Raises RunError if a part cannot be set up.
        """
        if programs:
            from netlab_engines.agent import orphans

            orphans.collect_from_now_on()
        self._channel.new_seed(plan["seed"])
        # Threads inherit this setting: every flow then starts on time, not up to 50 us later.
        forbid_timer_slack()
        self._plan = plan
        self._network = Network(plan)
        self._gso_off_hosts = hosts_needing_gso_off(plan)
        ip_lines, self._queueing = shape_network(plan["directions"], plan["clock"], self._gso_off_hosts, plan["seed"])
        self._network.configure(ip_lines, self._queueing)
        if programs or any(item["kind"] == "command" for item in plan["traffic"]):
            self._network.write_names()
        if programs:
            from netlab_engines.agent.programs import Programs

            self._programs = Programs(self._channel, plan, self._network, self._packages, self._moment)
        # Set a new seed: traffic must not depend on the number of draws while the network was built.
        self._channel.new_seed(~plan["seed"] & MAX_SEED)
        flows = self._set_up(plan["traffic"], plan["duration_s"])
        self._readers = self._make_readers()
        self._changer = LinkChanger(self._network, plan["directions"], plan["clock"], plan["seed"])
        self._changer.schedule.add(plan["changes"])
        for item in plan["captures"]:
            self._begin_capture(item["name"], item["directions"], item["snap_bytes"])
        # Start at a round time: the time to build depends on the version of Python.
        grid_s = GRID_S[plan["clock"]]
        self._origin_s = math.ceil((time.monotonic() + SETTLE_NS / NS_PER_S) / grid_s) * grid_s
        self._changer.apply_due(0)
        for flow in flows:
            self._launch(flow)
        self._changer.start(self._origin_s)
        if programs:
            # Sample in a thread: time passes also while the lab waits for a program.
            threading.Thread(target=self._sample_for_ever, name="Sampling", daemon=True).start()
        return {"origin_ns": self._origin_ns(), **self._moment()}

    def _origin_ns(self) -> int:
        """Return the start of the run in ns since 1970 on the guest's real-time clock."""
        return time.clock_gettime_ns(time.CLOCK_REALTIME) - round((time.monotonic() - self._origin_s) * 1e9)

    def _moment(self) -> TimeReply:
        """Return the present time of the network as {"now_s": s since the start of the run}; negative before it."""
        return {"now_s": time.monotonic() - self._origin_s}

    def _make_readers(self) -> list[Medium | QueueReader]:
        """Return new readers of the queues of all links: one for each shared medium, and one for each node that sends
        into links with a rate at any time of the run.
        """
        return [*self._network.media, *queue_readers(self._network.pid, shaped_directions(self._plan))]

    def change(self, directions: list[int], shape: Shape | None, up: bool | None) -> TimeReply:
        """Change the directions with these numbers (positions in the plan's list, from 0) from now on: set the fields
        of `shape` (None: none), and switch them on or off as `up` says (None: leave). Segmentation offload is switched
        off where the new shape requires it, and new queues are sampled. Return the time as {"now_s": s from the run's
        start}. Raises RunError if the kernel refuses.
        """
        fields = cast("dict[str, Any]", {} if shape is None else shape)
        now_ns = round((time.monotonic() - self._origin_s) * NS_PER_S)
        with self._lock:
            self._changer.apply_now(
                [{"at_s": 0.0, "direction": number, "shape": fields, "up": up} for number in directions], now_ns
            )
            self._changer.apply(gso_off_steps(self._plan, self._items, self._gso_off_hosts))
            self._readers = self._make_readers()
        return self._moment()

    # Time -----------------------------------------------------------------------------------------------------

    def advance(self, until_s: float, progress_s: float | None) -> TimeReply:
        """Let network time pass until `until_s` in s from the run's start, take a sample at the end of each interval,
        and send the host a progress message about every `progress_s` s of network time (None: none; on a real clock at
        ends of intervals only). Return the time as {"now_s": s from the run's start}. Raises RunError if a thread of
        the agent has failed.
        """
        self._in_advance = True
        try:
            if progress_s is not None and self._plan["interval_s"] > progress_s and self._plan["clock"] == "virtual":
                threading.Thread(target=self._report, args=(until_s, progress_s), name="Progress", daemon=True).start()
            self._sample_until(until_s, progress_s)
            sleep_until(self._origin_s + until_s)
        finally:
            self._in_advance = False
        self._failures.check()
        return self._moment()

    def _report(self, until_s: float, every_s: float) -> None:
        """Send the host a progress message every `every_s` s of network time until `until_s` in s from the run's start
        or the end of `advance`; runs in a thread, for intervals of samples that are longer than `every_s`.

        The thread that samples cannot report: if two threads sleep until the same time, the one that slept first wakes
        first. A second sleep in that thread would change the order of a sample and a packet.
        """
        moment_s = REPORT_AT * every_s
        while moment_s < until_s:
            sleep_until(self._origin_s + moment_s)
            if not self._in_advance:
                return
            self._channel.put(progress_s=moment_s)
            moment_s += every_s

    def _sample_for_ever(self) -> None:
        """Take a sample of all connections and queues at the end of each interval as long as the process runs; the
        exception of a sample that fails is recorded, and sampling goes on. Runs in a thread.
        """
        while True:
            try:
                self._sample_until(math.inf, None)
            except Exception as error:  # noqa: BLE001 (the host reports every error)
                self._failures.note("Sampling", error)

    def _sample_until(self, until_s: float, progress_s: float | None) -> None:
        """Take a sample of all connections and queues at the end of each interval up to `until_s` in s from the run's
        start, and send the host a progress message at the ends of intervals, at least `progress_s` s apart (None:
        none); blocks. Raises RunError if `until_s` is finite and a thread of the agent has failed.
        """
        told_s = 0.0
        while (t_s := round((self._steps + 1) * self._plan["interval_s"], 9)) <= until_s:
            sleep_until_ns(
                round(self._origin_s * NS_PER_S) + (self._steps + 1) * round(self._plan["interval_s"] * NS_PER_S)
            )
            with self._lock:
                # The background thread may already have taken this sample.
                if round((self._steps + 1) * self._plan["interval_s"], 9) == t_s:
                    self._steps += 1
                    self._sample(t_s)
            if progress_s is not None and t_s - told_s >= progress_s * (1 - 1e-9):
                told_s = t_s
                self._channel.put(progress_s=t_s)
            if until_s < math.inf:
                # Stop a run as soon as a part of it has failed.
                self._failures.check()

    def _sample(self, t_s: float) -> None:
        """Append one row for each TCP connection and each queue, with its present counters and the time `t_s` in s from
        the run's start, to the tables of samples; the caller holds the lock.
        """
        for flow in self._flows.values():
            self._streams.extend(flow.sample(t_s))
        for reader in self._readers:
            self._queues.extend(queue.sample(interface, t_s) for interface, queue in reader.read().items())

    # Traffic --------------------------------------------------------------------------------------------------

    def start(self, item: Item) -> StartReply:
        """Start one more item of traffic in the running network; its `start_s` counts from now, rounded up to
        START_GRID_S, and is changed in `item` to count from the run's start. Return a dict of that start ("start_s")
        and the present time ("now_s"), in s from the run's start. Segmentation offload is switched off where the item
        requires it. Raises RunError if the item cannot be set up.
        """
        with self._lock:
            self._changer.apply(gso_off_steps(self._plan, [item], self._gso_off_hosts))
        now_s = math.ceil((time.monotonic() - self._origin_s) / START_GRID_S) * START_GRID_S
        item["start_s"] += now_s
        (flow,) = self._set_up([item], ENDLESS_S)
        self._launch(flow)
        return {"start_s": item["start_s"], **self._moment()}

    def _set_up(self, items: list[Item], duration_s: float) -> list[RunningFlow[Any]]:
        """Open the sockets of these items of traffic and return their flows, not started, in the same order. The items
        end `duration_s` s after the run's start at the latest. They are appended to the lab's items, and their ports
        are used up. Raises RunError if an item cannot be set up.
        """
        plan: AgentPlan = {**self._plan, "traffic": items, "duration_s": duration_s}
        flows = make_flows(plan, self._network, self._artifacts, len(self._items) + 1, self._port)
        self._port += sum(flow.ports for flow in flows)
        self._items += items
        return flows

    def _launch(self, flow: RunningFlow[Any]) -> None:
        """Start the threads of a flow that was set up, and add it to the running ones by its label."""
        flow.launch(self._origin_s)
        with self._lock:
            self._flows[flow.label] = flow

    def stop(self, label: str) -> TimeReply:
        """End the running item of traffic with this label now, and return the time as {"now_s": s from the run's
        start}. Raises KeyError if there is none.
        """
        with self._lock:
            self._flows[label].stop()
        return self._moment()

    def finish(self, until_s: float) -> TimeReply:
        """Wait until packets in flight have arrived, for each flow at most until `until_s` in s from the run's start,
        then end all traffic and captures, and return the time as {"now_s": s from the run's start}. Raises RunError if
        a planned change of a link or a thread of the agent has failed.
        """
        for flow in self._flows.values():
            flow.finish(self._origin_s + until_s)
        self._changer.check()
        self._failures.check()
        for name in list(self._captures):
            self.stop_capture(name)
        self._has_finished = True
        return self._moment()

    def tables(self, streams: int, queues: int) -> Tables:
        """Return all counters of the run so far in tables (lists of rows) by name: "flows" (totals of flows that have
        begun), "streams", "queues" (samples), "datagrams" and "stations" (ends of shared media); with the started
        traffic ("items") and facts about the kernel, its queues, captures and saved files. The first `streams` rows of
        connections and the first `queues` rows of queues, which the host has already, are left out. Raises RunError if
        a thread of the agent has failed.
        """
        self._failures.check()
        with self._lock:
            now_s = time.monotonic()
            started_flows = [flow for flow in self._flows.values() if self._origin_s + flow.start_s < now_s]
            return {
                "items": self._items,
                "flows": [self._totals(flow) for flow in started_flows],
                "streams": self._streams[streams:],
                "datagrams": [row for flow in started_flows for row in flow.intervals()],
                "queues": self._queues[queues:],
                "kernel": platform.release(),
                "python": platform.python_version(),
                "hosts_without_offload": self._gso_off_hosts,
                "tc": {node: [each.line for each in own] for node, own in self._queueing.items()},
                "origin_ns": self._origin_ns(),
                "packets_lost": self._lost,
                "unsaved": self._artifacts.unsaved,
                "stations": [row for medium in self._network.media for row in medium.totals()],
                **self._moment(),
            }

    def totals(self, label: str, until_s: float) -> TotalsReply:
        """Let network time pass as `advance` does, and return a dict of the item of traffic with this label ("item"),
        its totals so far ("totals", None if it has not begun) and the time ("now_s", s from the run's start). Raises
        RunError if a thread of the agent has failed, KeyError if there is no such item.
        """
        self.advance(until_s, None)
        with self._lock:
            flow = self._flows[label]
            has_begun = self._origin_s + flow.start_s < time.monotonic()
            return {
                "item": next(item for item in self._items if item["label"] == label),
                "totals": self._totals(flow) if has_begun else None,
                **self._moment(),
            }

    def _totals(self, flow: RunningFlow[Any]) -> Totals:
        """Return the totals of a flow that has begun, a dict whose keys depend on its kind: the final ones after
        `finish`, before it those that it would have if it ended now.
        """
        return flow.totals() if self._has_finished else flow.totals_so_far()

    # Captures -------------------------------------------------------------------------------------------------

    def capture(self, name: str, directions: list[int], snap_bytes: int) -> TimeReply:
        """Record every packet at both ends of the directions with these numbers (positions in the plan's list, from 0)
        from now on, each packet's first `snap_bytes` bytes, in files whose names begin with `name`; return the time as
        {"now_s": s from the run's start}. Raises OSError if the kernel refuses.
        """
        self._begin_capture(name, directions, snap_bytes)
        return self._moment()

    def _begin_capture(self, name: str, directions: list[int], snap_bytes: int) -> None:
        """Begin a capture at both ends of each direction with one of these numbers (positions in the plan's list, from
        0), of each packet's first `snap_bytes` bytes, in files of the lab's folder whose names begin with `name`.
        Raises OSError if the kernel refuses.
        """
        prefix = str(self._folder / files.CAPTURES / name)
        self._captures[name] = [
            PacketCapture(self._network.pid(node), device, leaves, f"{prefix}.{end}", snap_bytes)
            for number in directions
            for node, device, leaves, end in capture_ends(self._plan["directions"][number])
        ]

    def stop_capture(self, name: str) -> CaptureReply:
        """End the capture with this name and its files, and return a dict of the number of packets that were lost
        because its buffers were full ("lost", also added to the lab's sum), and the time ("now_s", s from the run's
        start). Raises KeyError if there is no such capture.
        """
        lost = sum(capture.stop() for capture in self._captures.pop(name))
        self._lost += lost
        return {"lost": lost, **self._moment()}


def work(channel: HostChannel, folder: str, packages: list[str], work_folder: str = "/tmp") -> None:
    """Switch the loopback device on, then answer the host's requests on `channel` with one lab; does not return (the
    channel ends this guest when the host is gone). The lab's files go to `folder`, commands that save files work in
    `work_folder`, and `packages` are the directories of netlab and Mininet for the programs that the lab starts.

    Any steps before the first request must be the same in every guest: a guest that was booted long ago gives the same
    results as a new one, because its clock shows the same time.
    """
    # A controller and its switches talk over the loopback address.
    routing = NetlinkSocket(os.getpid())
    routing.send([("ip link set dev lo up", links.bring_up(routing.interfaces("lo")))])
    routing.close()
    serve(channel, LabAgent(channel, Path(folder), packages, Path(work_folder)).request)


if TYPE_CHECKING:
    _answers: type[LabRequests] = LabAgent
