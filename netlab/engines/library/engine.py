"""Start the library kernel's program, tell it the plan, and collect what it measured."""

from __future__ import annotations

import math
import platform
import struct
import threading
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, cast

from netlab.agent.schedule import hosts_ever_without_offload
from netlab.agent.settings import MACHINE_SYSCTLS
from netlab.agent.shaping import segment_bytes_by_host, shape_network
from netlab.base import scratch
from netlab.base.errors import KernelError, NotHereError, RunError
from netlab.base.headers import MSS_BYTES
from netlab.engines.base import OnEvent, Requirement, refuse_lacking, refuse_media
from netlab.engines.library.answers import DONE, FAILED, Answers
from netlab.engines.library.program import OnAnswers, Program
from netlab.engines.library.requests import (
    Requests,
    add_run,
    make_requests,
    refuse_programs,
)
from netlab.engines.library.session import LibrarySession
from netlab.kernel import library
from netlab.netlink.qdiscs import Queueing
from netlab.protocol.plan import Outcome, Plan, Shape
from netlab.protocol.session import Clock

MEMORY_MB = 1024
SMALL_MEMORY_MB = 256
FEW_NODES = 50
FEW_STREAMS = 16
FEW_DATAGRAM_FLOWS = 3
"""Each may have 32 MB of datagrams unread."""
FEW_PACKETS = 4000
"""Under way: with what their senders and receivers keep of each, 8 kB at most."""
USUAL_QUEUE_PACKETS = 1000
SMALL_SYSCTLS = {
    # What the kernel derives from 1 GB.
    "net.ipv4.udp_mem": "24576 32768 49152",
}
START_S = 1_700_000_000
CONFINED_FILES = 1
CONFINED_CALLS = 2
_FRAME = struct.Struct("<II")


class LibraryEngine:
    """Runs plans in the library kernel, without a privilege, a file or a process beside its own."""

    name = "library"
    clock: Clock = "virtual"

    def __init__(self) -> None:
        self.kernel = library.find()

    def requirements(self) -> list[Requirement]:
        """All that it needs on this machine."""
        return [kernel_requirement()]

    def refuse(self, plan: Plan) -> None:
        """Raise EngineError when the plan asks for what it cannot do, such as a command."""
        refuse_programs(plan)
        refuse_media(plan, self.clock, self.name)
        # A program that stands alone, named by $NETLAB_LIBRARY, does not tell what it has.
        if self.kernel.capabilities:
            refuse_lacking(plan, self.kernel.capabilities, f"{self.kernel.path} (Linux {self.kernel.release})")

    def open(self, plan: Plan | None) -> LibrarySession:
        """A lab for a person's requests, without programs.

        Raises
        ------
        EngineError
            When the plan asks for what it cannot do; NotHereError for a script, which needs programs.
        """
        if plan is None:
            raise NotHereError(
                "The library engine has no programs, so it runs no scripts. Use engine='pocket' for them."
            )
        self.refuse(plan)
        return LibrarySession(self._start, lambda given: self._requests(given, MEMORY_MB)[0], explain)

    def _start(self) -> Program:
        # It needs what only Linux has, and this module is imported on every system.
        from netlab.engines.library.child import ChildProgram

        return ChildProgram(self.kernel.path)

    def _requests(self, plan: Plan, memory_mb: int | None = None) -> tuple[Requests, _Made]:
        """What makes the plan's network, and how."""
        without_offload = hosts_ever_without_offload(plan, self.clock, segment_bytes_by_host(plan["traffic"]))
        ip_lines, queueing = shape_network(plan["directions"], self.clock, without_offload, plan["seed"])
        if memory_mb is None:
            memory_mb = SMALL_MEMORY_MB if is_small(plan) else MEMORY_MB
        sysctls = {**MACHINE_SYSCTLS, **(SMALL_SYSCTLS if memory_mb == SMALL_MEMORY_MB else {})}
        requests = make_requests(
            plan, ip_lines, queueing,
            memory_bytes=memory_mb << 20, start_s=START_S, machine_sysctls=sysctls,
        )  # fmt: skip
        return requests, _Made(memory_mb, without_offload, queueing)

    def execute(self, plan: Plan, *, on_event: OnEvent, cancel: threading.Event | None = None) -> Outcome:
        """Run the plan and bring its counters back.

        Raises
        ------
        EngineError
            When the plan asks for what it cannot do.
        RunError
            When the program ended without a result.
        RunCancelled
            When `cancel` was set.
        """
        self.refuse(plan)
        requests, made = self._requests(plan)
        add_run(requests, plan)
        answers = Answers(plan, requests.queues)
        on_event({"event": "agent"})
        running = self._start()
        try:
            running.send(requests.take())
            running.listen(_reader(answers, on_event), cancel)
        finally:
            ending = running.close()
        if answers.failure is not None:
            raise RunError(explain(answers.failure, requests))
        if not answers.done:
            raise RunError(f"The library kernel's program ended without a result: {ending}.")
        confined = answers.done["confined"]
        outcome = {
            **answers.counters(),
            "kernel": answers.done["kernel"],
            "python": platform.python_version(),
            "hosts_without_offload": made.without_offload,
            "tc": {node: [each.line for each in own] for node, own in made.queueing.items()},
            "origin_ns": answers.done["origin_ns"],
            "packets_lost": 0,
            "unsaved": {},
            "artifacts": _keep_packets(requests.taps, answers.packets),
            "engine": {
                "engine": self.name,
                "clock": self.clock,
                "memory_mb": made.memory_mb,
                "seeded": True,
                "confined": confined == CONFINED_FILES | CONFINED_CALLS,
                "machine": self.kernel.machine,
            },
        }
        return cast("Outcome", outcome)


class _Made(NamedTuple):
    """How a plan's network was made."""

    memory_mb: int
    without_offload: list[str]
    queueing: dict[str, list[Queueing]]


def kernel_requirement() -> Requirement:
    """Whether there is a library kernel."""
    try:
        here = library.find()
    except KernelError as error:
        return Requirement("library kernel", False, "none is built", str(error))
    return Requirement("library kernel", True, f"{here.release} at {here.path}")


def is_small(plan: Plan) -> bool:
    """Whether a quarter of the memory serves the plan: a kernel that has less to look after starts in half the time.

    By far more than such plans use, for a kernel without memory would drop packets that no counter shows.
    """
    items = cast("list[dict[str, Any]]", plan["traffic"])
    if (
        len(plan["hosts"]) + len(plan["routers"]) + len(plan["switches"]) > FEW_NODES
        or sum(item.get("streams", 1) for item in items) > FEW_STREAMS
        or sum(item["kind"] == "udp" for item in items) > FEW_DATAGRAM_FLOWS
    ):
        return False
    sizes = [item.get("payload_bytes") or item.get("mss_bytes") or MSS_BYTES for item in items]
    smallest_bytes = max(1, min([MSS_BYTES, *sizes]))
    packets = 0.0
    for place in range(len(plan["directions"])):
        shapes = list(_shapes(plan, place))
        packets += max(_wire_packets(shape, smallest_bytes) for shape in shapes)
        packets += max(_queue_packets(shape, smallest_bytes) for shape in shapes)
    return packets <= FEW_PACKETS


def _shapes(plan: Plan, place: int) -> Iterator[Shape]:
    """All that a direction is during a run; of a trace with its highest rate."""
    shape = plan["directions"][place]["shape"]
    yield shape
    for item in plan["changes"]:
        if item["direction"] == place:
            shape = cast("Shape", {**shape, **item["shape"]})
            rate: Any = shape["rate_mbps"]
            if isinstance(rate, Mapping):
                shape["rate_mbps"] = max(mbps for _, mbps in rate["steps"])
            yield shape


def _wire_packets(shape: Shape, smallest_bytes: int) -> float:
    """The most that is on a direction's wire."""
    if not shape["delay_ms"]:
        return 0.0
    # Without a rate as much as a window holds.
    rate_mbps = math.inf if shape["rate_mbps"] is None else shape["rate_mbps"]
    return rate_mbps * 1e3 * shape["delay_ms"] / 8 / smallest_bytes


def _queue_packets(shape: Shape, smallest_bytes: int) -> float:
    """The most that is in a direction's queue."""
    if shape["rate_mbps"] is None:
        return 0.0
    if shape["queue_packets"] is not None:
        return shape["queue_packets"]
    if shape["queue_bytes"] is not None:
        return shape["queue_bytes"] / smallest_bytes
    # A discipline's own limit: up to 10240 packets.
    return USUAL_QUEUE_PACKETS if shape["aqm"] == "fifo" else FEW_PACKETS


def _keep_packets(taps: list[str], packets: dict[int, bytearray]) -> str | None:
    """A directory with a file for each tap, as the agent leaves them; None where nothing was captured."""
    if not taps:
        return None
    folder = scratch.kept_directory()
    for number, name in enumerate(taps):
        (folder / name).write_bytes(packets.get(number, b""))
    return str(folder)


def _reader(answers: Answers, on_event: OnEvent) -> OnAnswers:
    """What cuts a stream of answers into frames and books them."""
    waiting = bytearray()
    told_s = 0.0

    def take(data: bytes) -> bool:
        nonlocal told_s
        waiting.extend(data)
        at = 0
        while len(waiting) - at >= _FRAME.size:
            kind, length = _FRAME.unpack_from(waiting, at)
            if len(waiting) - at < _FRAME.size + length:
                break
            at += _FRAME.size
            answers.take(kind, bytes(waiting[at : at + length]))
            at += length
            if kind in (DONE, FAILED):
                return True
        del waiting[:at]
        if answers.progress_s > told_s:
            told_s = answers.progress_s
            on_event({"event": "progress", "t_s": told_s})
        return False

    return take


def explain(failure: str, requests: Requests) -> str:
    """The program's sentence, with the line or the setting that it is about in our words."""
    words = failure.split(" ", 3)
    if words[0] == "netlink" and len(words) == 4:
        node, place = int(words[1]), int(words[2])
        lines = [batch[place] for batch in requests.batches.get(node, []) if place < len(batch)]
        return f"The kernel refused a line in {requests.nodes[node]} ({words[3]}). It is one of: " + "; ".join(lines)
    if words[0] == "setting" and len(words) == 4:
        where = requests.nodes[int(words[1])] if int(words[1]) >= 0 else "the whole kernel"
        return f"The setting {words[2].replace('/', '.')} was refused in {where}: {words[3]}."
    return failure
