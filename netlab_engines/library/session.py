"""A lab in the library kernel: the program answers one request at a time, and time stands still between requests."""

import functools
import math
import platform
import shutil
import time
import weakref
from contextlib import ExitStack
from pathlib import Path
from typing import Any, cast

from netlab.base import scratch
from netlab.base.errors import RunError
from netlab.base.units import NS_PER_S
from netlab.plan import CaptureItem, Clock, Item, PlannedChange, Shape, Totals
from netlab_engines.base import run_folder
from netlab_engines.files import CAPTURES
from netlab_engines.kernels.library_kernel import LibraryKernel
from netlab_engines.library import requests as kernel_requests
from netlab_engines.library.answers import Answers
from netlab_engines.library.commands import Commands
from netlab_engines.library.kernel_program import KernelProgram
from netlab_engines.library.missing_programs import programs_needed
from netlab_engines.library.wire_format import FRAME, Answer, Request
from netlab_engines.planning.schedule import gso_off_steps, hosts_needing_gso_off
from netlab_engines.planning.settings import MACHINE_SYSCTLS
from netlab_engines.planning.shaping import shape_network
from netlab_engines.protocol.requests import (
    AgentPlan,
    AllRequests,
    BuildReply,
    CaptureReply,
    ExitReply,
    LabRequests,
    StartReply,
    Tables,
    TimeReply,
    TotalsReply,
    names,
)
from netlab_engines.protocol.session import OnMessage, OnWait, requests_via

MEMORY_MB = 1024
SMALL_MEMORY_MB = 256
SMALL_SYSCTLS = {
    # The kernel derives this value from 1 GB of memory.
    "net.ipv4.udp_mem": "24576 32768 49152",
}
START_S = 1_700_000_000
GRID_S = 0.01
ENDLESS_S = 1e6
PART_S = 0.1
FIRST_PART_NS = 10_000_000


class LibrarySession:
    """A lab in the library kernel, with a method for each request; its hosts have no programs. A
    `protocol.session.LabSession`.
    """

    name = "library"
    clock: Clock = "virtual"

    def __init__(self, program: KernelProgram, kernel: LibraryKernel, memory_mb: int = MEMORY_MB) -> None:
        """Open a lab in `program`, the running program of `kernel`, whose kernel will have `memory_mb` MiB of memory;
        nothing is sent yet: the request `build` boots it and makes the network.
        """
        self._program, self._kernel, self._memory_mb = program, kernel, memory_mb
        self._resources = ExitStack()
        self._end = weakref.finalize(self, _end, program, self._resources)
        self._taps: dict[str, list[int]] = {}
        self._partial_frame = b""
        self._num_awaited = 0
        self._interrupted = False
        self._on_message: OnMessage | None = None
        self._on_wait: OnWait | None = None

    @functools.cached_property
    def folder(self) -> Path:
        """The path of the directory that receives captures; it is created at the first use, and removed with the
        session.
        """
        folder = scratch.kept_directory()
        self._resources.callback(shutil.rmtree, folder, ignore_errors=True)
        return run_folder(folder)

    @property
    def directory(self) -> Path:
        """The path of the lab's directory on this machine, the same as `folder`; it is removed with the session."""
        return self.folder

    @property
    def settings(self) -> dict[str, Any]:
        """The properties of the lab by name: "memory_mb" (MiB of the kernel), "seeded" (True: random draws follow the
        seed), "confined" (whether the program has given up files and system calls), and "machine" (the processor for
        which its kernel is built).
        """
        return {
            "memory_mb": self._memory_mb,
            "seeded": True,
            "confined": self._program.confined,
            "machine": self._kernel.machine,
        }

    @property
    def closed(self) -> bool:
        """True if the lab has ended."""
        return not self._end.alive

    def close(self) -> None:
        """End the lab and its program, and remove its directory; a second call does nothing."""
        self._end()

    def interrupt(self, kill: bool = False) -> None:
        """Let the request that is under way return early: `advance` after its present part. If `kill`, end the lab, its
        program and its directory.
        """
        self._interrupted = True
        if kill:
            self.close()

    def computed_only(self) -> bool:
        """Return False, because this engine runs no programs."""
        return False

    def pause_program(self) -> None:
        """Do nothing, because this engine runs no programs."""

    def request(self, on_message: OnMessage | None = None, on_wait: OnWait | None = None) -> AllRequests:
        """Return the object with a method for each request, which makes it and waits for its answer. Until the answer
        comes, `on_message` gets each message with progress or output, and `on_wait` is called several times a second;
        None omits either.
        """
        return requests_via(functools.partial(self._ask, on_message, on_wait))

    def _ask(self, on_message: OnMessage | None, on_wait: OnWait | None, do: str, **words: Any) -> Any:
        """Make the request with the name `do` and the arguments `words`, and return its answer, whose type is the
        answer of the method with that name; `on_message` gets each message before it, and `on_wait` is called several
        times a second (None omits either). Raises NotHereError for a request that needs programs, RunError if the
        program fails.
        """
        if do not in (*names(LabRequests), "run"):
            raise programs_needed("its hosts have no commands, terminals and files")
        self._on_message, self._on_wait, self._interrupted = on_message, on_wait, False
        return getattr(self, do)(**words)

    # Requests --------------------------------------------------------------------------------------------------

    def build(self, plan: AgentPlan, programs: bool) -> BuildReply:
        """Boot the kernel, build the network of the plan with its traffic and captures, and start its time. Return a
        dict of the run's start, which is now, in ns on the kernel's real-time clock ("origin_ns"), and the present time
        in s from the run's start ("now_s"). With `programs`, later time passes in small parts, so that Ctrl-C works;
        hosts get no programs either way. Raises RunError if the program fails.
        """
        # A live lab advances in small parts so that Ctrl-C works; a run advances in one.
        self._part_ns = FIRST_PART_NS if programs else round(ENDLESS_S * NS_PER_S)
        self._plan: AgentPlan = {**plan, "traffic": [*plan["traffic"]]}
        self._gso_off_hosts = hosts_needing_gso_off(plan)
        ip_lines, self._queueing = shape_network(plan["directions"], plan["clock"], self._gso_off_hosts, plan["seed"])
        small = SMALL_SYSCTLS if self._memory_mb == SMALL_MEMORY_MB else {}
        self._requests = kernel_requests.make_requests(
            plan, ip_lines, self._queueing,
            memory_bytes=self._memory_mb << 20, start_s=START_S, machine_sysctls={**MACHINE_SYSCTLS, **small},
        )  # fmt: skip
        for own in self._requests.own.values():
            self._resources.callback(own.close)
        self._answers = Answers(self._plan, self._requests.queues, self._requests.own)
        self._plan["directions"] = self._requests.schedule.directions
        self._commands = Commands(self._plan)
        self._answers.outputs = self._commands.outputs
        for item in plan["captures"]:
            self._taps[item["name"]] = kernel_requests.add_taps(self._requests, plan, item)
        kernel_requests.add_changes(self._requests, 0)
        self._send(Request.BEGIN, kernel_requests.begin(plan["interval_s"]))
        return {"origin_ns": self._answers.origin_ns, **self._time()}

    def advance(self, until_s: float, progress_s: float | None) -> TimeReply:
        """Let network time pass until `until_s` in s from the run's start, with planned changes and commands at their
        times and progress messages every `progress_s` s of it (None: none), and return the time reached as {"now_s":
        s}; `interrupt` ends it early, and a time that has passed is now. Raises RunError if the program fails or the
        lab is closed.
        """
        self._advance_in_parts(until_s, progress_s)
        return self._time()

    def finish(self, until_s: float) -> TimeReply:
        """Make the commands and changes planned until `until_s`, in s from the run's start, wait until packets in
        flight have arrived, at most until then, end all traffic, write all captures to files, and return the time as
        {"now_s": s}. Raises RunError if the program fails.
        """
        until_ns = round(until_s * NS_PER_S)
        self._run_commands(until_ns, None)
        kernel_requests.add_changes(self._requests, until_ns)
        self._apply_requests()
        self._send(Request.FINISH, kernel_requests.MOMENT.pack(until_ns))
        for name in list(self._taps):
            self.stop_capture(name)
        return self._time()

    def tables(self, streams: int, queues: int) -> Tables:
        """Return all counters of the lab so far as tables by name ("flows", "streams", "datagrams", "queues"), with the
        started traffic ("items"), facts about the kernel and its queues, and the time ("now_s"), as `Tables` names
        them. The first `streams` rows of connections and the first `queues` rows of queues, which the caller has
        already, are left out, and so are the rows of flows that have not begun.
        """
        self._read_totals()
        counters = self._answers.counters()
        now_s = self._answers.now_ns / NS_PER_S
        items = self._plan["traffic"]
        flows = [row for row, item in zip(counters["flows"], items, strict=True) if item["start_s"] < now_s]
        return cast(
            "Tables",
            {
                **counters,
                "flows": flows,
                "streams": counters["streams"][streams:],
                "queues": counters["queues"][queues:],
                "items": items,
                "kernel": self._kernel.release,
                "python": platform.python_version(),
                "hosts_without_offload": self._gso_off_hosts,
                "tc": {node: [each.line for each in own] for node, own in self._queueing.items()},
                "unsaved": {},
                "origin_ns": self._answers.origin_ns,
                "packets_lost": 0,
                **self._time(),
            },
        )

    def totals(self, label: str, until_s: float) -> TotalsReply:
        """Let network time pass as `advance` does, and return a dict of the item of traffic with this label ("item"),
        its totals so far ("totals", None if it has not begun) and the time ("now_s", s from the run's start). Raises
        StopIteration if there is no such item.
        """
        self._advance_in_parts(until_s, None, reads_totals=True)
        items = self._plan["traffic"]
        number = next(number for number, item in enumerate(items) if item["label"] == label)
        has_begun = items[number]["start_s"] < self._answers.now_ns / NS_PER_S
        totals = cast("Totals", self._answers.totals(number)) if has_begun else None
        return {"item": items[number], "totals": totals, **self._time()}

    def _read_totals(self) -> None:
        """Ask the program for the present totals of all flows; they replace those that it sent before."""
        self._answers.forget_totals()
        self._send(Request.TABLES)

    def start(self, item: Item) -> StartReply:
        """Start one more item of traffic, whose `start_s` counts from now, rounded up to GRID_S s; return a dict of its
        start ("start_s") and the time ("now_s"), both in s from the run's start. Segmentation offload is switched off
        where the item requires it. Raises NotHereError if it needs a program.
        """
        now_s = math.ceil(self._answers.now_ns / NS_PER_S / GRID_S) * GRID_S
        item = cast("Item", {**item, "start_s": now_s + item["start_s"]})
        kernel_requests.refuse_traffic([item])
        place = len(self._plan["traffic"])
        self._plan["traffic"].append(item)
        self._commands.add(item)
        kernel_requests.add_steps(self._requests, gso_off_steps(self._plan, self._plan["traffic"], self._gso_off_hosts))
        kernel_requests.add_flow(self._requests, place, item, ENDLESS_S, self._plan["seed"])
        self._apply_requests()
        return {"start_s": item["start_s"], **self._time()}

    def stop(self, label: str) -> TimeReply:
        """End the item of traffic with this label now, and return the time as {"now_s": s from the run's start}. Raises
        ValueError if there is none.
        """
        labels = [item["label"] for item in self._plan["traffic"]]
        self._send(Request.STOP, kernel_requests.NUMBER.pack(labels.index(label)))
        return self._time()

    def change(self, directions: list[int], shape: Shape | None, up: bool | None) -> TimeReply:
        """Change the directions with these numbers (positions in the plan's list, from 0) now: set the fields of
        `shape` (None: none), and switch them on or off as `up` says (None: leave). Segmentation offload is switched off
        where the new shape requires it, and a queue that gets a rate is sampled from now on. Return the time as
        {"now_s": s from the run's start}.
        """
        schedule = self._requests.schedule
        words = cast("dict[str, Any]", {} if shape is None else shape)
        changes: list[PlannedChange] = [
            {"at_s": 0.0, "direction": number, "shape": words, "up": up} for number in directions
        ]
        schedule.add(changes, self._answers.now_ns)
        while schedule.next_ns is not None and schedule.next_ns <= self._answers.now_ns:
            kernel_requests.add_steps(self._requests, schedule.pop())
        for direction in schedule.directions:
            if direction["shape"]["rate_mbps"] is not None and direction["interface"] not in self._requests.queues:
                kernel_requests.add_queue(self._requests, direction)
        kernel_requests.add_steps(self._requests, gso_off_steps(self._plan, self._plan["traffic"], self._gso_off_hosts))
        self._apply_requests()
        return self._time()

    def capture(self, name: str, directions: list[int], snap_bytes: int) -> TimeReply:
        """Record every packet at both ends of the directions with these numbers (positions in the plan's list, from 0)
        from now on, each packet's first `snap_bytes` bytes, under the name `name`; return the time as {"now_s": s from
        the run's start}.
        """
        item: CaptureItem = {"name": name, "directions": directions, "snap_bytes": snap_bytes}
        self._taps[name] = kernel_requests.add_taps(self._requests, self._plan, item)
        self._apply_requests()
        return self._time()

    def stop_capture(self, name: str) -> CaptureReply:
        """End the capture with this name, write its packets to one file for each end of a direction below the lab's
        folder, and return a dict of the number of lost packets ("lost", always 0) and the time ("now_s", s from the
        run's start). Raises KeyError if there is no such capture.
        """
        for tap in self._taps.pop(name):
            self._send(Request.UNTAP, kernel_requests.NUMBER.pack(tap))
            (self.folder / CAPTURES / self._requests.taps[tap]).write_bytes(self._answers.packets.pop(tap, b""))
        return {"lost": 0, **self._time()}

    def run(self, node: str, command: str) -> ExitReply:
        """Run a command of tc, ip or sysctl on the node with the name `node` now, send its output, if any, as the
        message {"text": output}, and return a dict of the exit code ("code", always 0) and the time ("now_s", s from
        the run's start). Raises NotHereError if it needs a program, RunError if the kernel refuses it.
        """
        text, effects = self._commands.run(node, command)
        kernel_requests.add_command(self._requests, node, effects)
        self._apply_requests()
        if text and self._on_message is not None:
            self._on_message({"text": text})
        return {"code": 0, **self._time()}

    # Communication with the program -----------------------------------------------------------------------------

    def _apply_requests(self) -> None:
        """Send the program the requests that were added, and wait until they have taken effect; no network time
        passes.
        """
        self._send(Request.ADVANCE, kernel_requests.advance(self._answers.now_ns, None))

    def _advance_in_parts(self, until_s: float, progress_s: float | None, *, reads_totals: bool = False) -> None:
        """Let network time pass until `until_s` in s from the run's start, or until the end of the part during which
        `interrupt` was called, with planned changes and commands at their times and progress messages every
        `progress_s` s (None: none); with `reads_totals`, the answers have the totals of all flows at that time. Raises
        RunError if the program fails.
        """
        until_ns = max(self._answers.now_ns, round(until_s * NS_PER_S))
        while True:
            wall_s = time.monotonic()
            part_ns = min(until_ns, self._answers.now_ns + self._part_ns)
            self._run_commands(part_ns, progress_s)
            self._advance_to(part_ns, progress_s, reads_totals=reads_totals)
            if part_ns == until_ns or self._interrupted:
                return
            longer = time.monotonic() - wall_s < PART_S
            self._part_ns = self._part_ns * 2 if longer else max(FIRST_PART_NS, self._part_ns // 2)

    def _advance_to(self, until_ns: int, progress_s: float | None, *, reads_totals: bool = False) -> None:
        """Let network time pass until `until_ns` in ns from the run's start, with the planned changes of links at their
        times, and progress messages every `progress_s` s (None: none), and then, with `reads_totals`, get the totals of
        all flows; return when it has passed. Raises RunError if the program fails or has ended.
        """
        kernel_requests.add_changes(self._requests, until_ns)
        moment = kernel_requests.advance(until_ns, progress_s)
        if not reads_totals:
            self._send(Request.ADVANCE, moment)
            return
        # Both in one message: to switch between two processes takes longer than most requests.
        self._requests.add(Request.ADVANCE, moment)
        self._answers.forget_totals()
        self._send(Request.TABLES, num_answers=2)

    def _run_commands(self, until_ns: int, progress_s: float | None) -> None:
        """Run each planned command whose time is at most `until_ns`, in ns from the run's start, at its time: network
        time passes until the last one, whose effects are sent with the next request. Progress messages come every
        `progress_s` s (None: none). Raises RunError if the program fails.
        """
        while (at_ns := self._commands.next_ns) is not None and at_ns <= until_ns:
            self._advance_to(max(at_ns, self._answers.now_ns), progress_s)
            kernel_requests.add_command(self._requests, *self._commands.pop())

    def _time(self) -> TimeReply:
        """Return the network time in s from the run's start, as of the program's last answer."""
        return {"now_s": self._answers.now_ns / NS_PER_S}

    def _send(self, kind: int, payload: bytes = b"", *, num_answers: int = 1) -> None:
        """Send the program the requests that were added and then one of this kind (a number of `enum request`) with the
        bytes `payload`; process its answers until it has done this one. `num_answers` is the number of these requests
        that the program ends with the time. If the program fails or has ended, close the lab and raise RunError, which
        is also raised if the lab is closed.
        """
        if self.closed:
            raise RunError("This lab is closed; open another with netlab.live(...).")
        self._requests.add(kind, payload)
        self._program.send(self._requests.take())
        self._num_awaited = num_answers
        self._program.listen(self._take, self._on_wait)
        if self._answers.failure is not None or self._num_awaited:
            ending = self._program.close()
            self.close()
            if self._answers.failure is None:
                raise RunError(f"The library kernel's program ended without a result: {ending}.")
            raise RunError(self._requests.explain(self._answers.failure))

    def _take(self, data: bytes) -> bool:
        """Process the answers of the program in `data`, which may begin and end within an answer; an incomplete one is
        kept for the next call. Questions to the user's own Python are answered at once, and new progress is sent as the
        message {"progress_s": s}. Return True once the last request is answered.
        """
        if self._partial_frame:
            data = self._partial_frame + data
        told_s, at, end = self._answers.progress_s, 0, len(data)
        while end - at >= FRAME.size:
            kind, length = FRAME.struct.unpack_from(data, at)
            begin = at + FRAME.size
            if end - begin < length:
                break
            at = begin + length
            payload = data[begin:at]
            if kind in (Answer.CONTROL, Answer.PROGRAM):
                self._reply(payload)
                continue
            self._answers.take(kind, payload)
            if kind == Answer.NOW:
                self._num_awaited -= 1
            elif kind == Answer.FAILED:
                self._num_awaited = 0
        self._partial_frame = data[at:]
        if self._on_message is not None and self._answers.progress_s > told_s:
            self._on_message({"progress_s": self._answers.progress_s})
        return not self._num_awaited

    def _reply(self, question: bytes) -> None:
        """Let the user's own Python answer `question`, the bytes of one of the kernel's questions, and send the reply;
        if it raises an exception, close the lab and raise it again.
        """
        try:
            reply = self._requests.reply(question)
        except BaseException:
            # Close the lab, because the kernel would wait for the answer for ever.
            self.close()
            raise
        self._program.send(reply)


def _end(program: KernelProgram, resources: ExitStack) -> None:
    """End the program of the library kernel, then free what the lab has kept, such as its folder, by closing `resources`."""
    program.close()
    resources.close()
