"""The library engine: it starts the library kernel's program for each lab."""

import math
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import Any, cast

from netlab.base import source_hash
from netlab.base.errors import KernelError
from netlab.base.headers import MSS_BYTES
from netlab.engines import OnProgress, Requirement
from netlab.plan import Clock, Outcome, Plan, Shape
from netlab_engines.base import refuse_media, refuse_missing_parts, run_in
from netlab_engines.fingerprint import fingerprint
from netlab_engines.kernels import library_kernel
from netlab_engines.library.kernel_program import KernelProgram
from netlab_engines.library.missing_programs import programs_needed
from netlab_engines.library.requests import refuse_filters, refuse_traffic
from netlab_engines.library.session import MEMORY_MB, SMALL_MEMORY_MB, LibrarySession

FEW_NODES = 50
FEW_STREAMS = 16
FEW_DATAGRAM_FLOWS = 3
"""Each flow may have 32 MB of unread datagrams."""
FEW_PACKETS = 4000
"""The number of packets in flight; each takes at most 8 kB with the copies of its sender and receiver."""
USUAL_QUEUE_PACKETS = 1000


class LibraryEngine:
    """The engine that runs plans in the library kernel, one program without privileges, files or other processes, in
    virtual time. Raises KernelError when it is made if no kernel is built.
    """

    name = "library"
    clock: Clock = "virtual"

    def __init__(self) -> None:
        """Find the library kernel that this engine will run. Raises KernelError if none is built."""
        self.kernel = library_kernel.find()

    def requirements(self) -> list[Requirement]:
        """Return the only requirement of the engine, that a library kernel is built, met or not, in a list."""
        return [kernel_requirement()]

    def fingerprint(self) -> str:
        """Return a text that differs whenever this engine may give other numbers for the same plan: a hash of the
        kernel's program, a hash of netlab's code, and Mininet's version.
        """
        return fingerprint(source_hash.hash_files([self.kernel.path]))

    def differences(self) -> list[str]:
        """Return one sentence, in a list, about the commands and links that this engine does not have, for a user who
        compares engines.
        """
        sentence = (
            "hosts can run only tc, ip and sysctl commands, and there are no Wi-Fi links. On Linux, engine='native' runs commands, "
            "as root, and the pocket kernel has Wi-Fi links (x86-64)."
        )
        return [sentence]

    def refuse(self, plan: Plan) -> None:
        """Raise NotHereError if the plan needs a feature that this engine or its kernel does not have: a command that
        is a program, another kind of traffic, a field of traffic, a packet filter, Wi-Fi, or a queue or congestion
        control that its kernel lacks (not checked if the kernel's capabilities are unknown).
        """
        refuse_traffic(plan["traffic"])
        refuse_filters(plan)
        refuse_media(plan, self.clock, self.name)
        # The capabilities of a program in $NETLAB_LIBRARY without a build.json are unknown.
        if self.kernel.capabilities:
            refuse_missing_parts(plan, self.kernel.capabilities, f"{self.kernel.path} (Linux {self.kernel.release})")

    def open(self, plan: Plan | None) -> LibrarySession:
        """Start the library kernel's program for a lab of this plan and return its session; the network is built by the
        session's first request. Hosts of the lab have no programs. Raises NotHereError if the plan needs unsupported
        features or is None, which means a script, and KernelError if the program cannot be run.
        """
        if plan is None:
            raise programs_needed("scripts cannot run")
        self.refuse(plan)
        return self._session(MEMORY_MB)

    def execute(
        self, plan: Plan, *, on_progress: OnProgress | None = None, cancel: threading.Event | None = None
    ) -> Outcome:
        """Run a plan in a program of its own to its end, end the program, and return the counters. `on_progress` gets
        the network time in s about fifty times, and the run stops with RunCancelled when the event `cancel` is set;
        None omits either. Raises NotHereError if the plan needs unsupported features.
        """
        self.refuse(plan)
        with closing(self._session(SMALL_MEMORY_MB if is_small(plan) else MEMORY_MB)) as session:
            return run_in(session, plan, on_progress, cancel)

    def _session(self, memory_mb: int) -> LibrarySession:
        """Start the library kernel's program and return a session with it, whose kernel will have `memory_mb` MiB of
        memory.
        """
        return LibrarySession(start_program(self.kernel), self.kernel, memory_mb)


def start_program(kernel: library_kernel.LibraryKernel) -> KernelProgram:
    """Start the program of a library kernel and return it: as a child process, or, if it is WebAssembly, in the
    browser's worker or in wasmtime. Raises KernelError if it is WebAssembly and nothing on this machine can run it,
    OSError if a child process cannot be started.
    """
    if kernel.machine != library_kernel.WASM:
        # The child module needs Linux, and this module is imported on every system.
        from netlab_engines.library.child import ChildProgram

        return ChildProgram(kernel.path)
    if sys.platform == "emscripten":
        from netlab_engines.library.browser import BrowserProgram

        return BrowserProgram(kernel.path)
    try:
        from netlab_engines.library.sandbox import SandboxProgram
    except ImportError as error:
        raise KernelError(f"{kernel.path} needs the package wasmtime ({error}): pip install wasmtime.") from error
    return SandboxProgram(kernel.path)


def kernel_requirement() -> Requirement:
    """Return the requirement that a library kernel is built: met, with its release and path, or not met, with the
    remedy.
    """
    try:
        kernel = library_kernel.find()
    except KernelError as error:
        return Requirement("library kernel", False, "none is built", str(error))
    return Requirement("library kernel", True, f"{kernel.release} at {kernel.path}")


def is_small(plan: Plan) -> bool:
    """Return whether a kernel with SMALL_MEMORY_MB MiB of memory is enough for the plan: at most FEW_NODES nodes,
    FEW_STREAMS connections, FEW_DATAGRAM_FLOWS flows of datagrams, and FEW_PACKETS packets on wires and in queues; such
    a kernel starts in half the time.

    The limits here are far below that memory, because a kernel without free memory would drop packets that no counter
    shows.
    """
    items = cast("list[dict[str, Any]]", plan["traffic"])
    if (
        len(plan["hosts"]) + len(plan["routers"]) + len(plan["switches"]) > FEW_NODES
        or sum(item.get("streams", 1) for item in items) > FEW_STREAMS
        or sum(item["kind"] in ("udp", "program") for item in items) > FEW_DATAGRAM_FLOWS
    ):
        return False
    sizes = [item.get("payload_bytes") or item.get("mss_bytes") or MSS_BYTES for item in items]
    min_bytes = max(1, min([MSS_BYTES, *sizes]))
    packets = 0.0
    for place in range(len(plan["directions"])):
        shapes = list(_shapes(plan, place))
        packets += max(_wire_packets(shape, min_bytes) for shape in shapes)
        packets += max(_queue_packets(shape, min_bytes) for shape in shapes)
    return packets <= FEW_PACKETS


def _shapes(plan: Plan, place: int) -> Iterator[Shape]:
    """Yield the shape that the direction number `place` (from 0) of the plan has at first and after each of its planned
    changes, which add up; a change to a rate that follows a trace is replaced by the trace's highest rate.
    """
    shape = plan["directions"][place]["shape"]
    yield shape
    for item in plan["changes"]:
        if item["direction"] == place:
            shape = cast("Shape", {**shape, **item["shape"]})
            rate: Any = shape["rate_mbps"]
            if isinstance(rate, Mapping):
                shape["rate_mbps"] = max(mbps for _, mbps in rate["steps"])
            yield shape


def _wire_packets(shape: Shape, min_bytes: int) -> float:
    """Return the largest number of packets of `min_bytes` bytes that are on the wire of a direction with this shape
    (rate in Mbit/s, delay in ms) at one time: 0 without a delay, infinite with a delay and no rate.
    """
    if not shape["delay_ms"]:
        return 0.0
    # Without a rate there is no limit but the window.
    rate_mbps = math.inf if shape["rate_mbps"] is None else shape["rate_mbps"]
    return rate_mbps * 1e3 * shape["delay_ms"] / 8 / min_bytes


def _queue_packets(shape: Shape, min_bytes: int) -> float:
    """Return the largest number of packets in the queue of a direction with this shape: 0 without a rate, else its
    limit in packets, or its limit in bytes divided by `min_bytes`, or without a limit USUAL_QUEUE_PACKETS for a FIFO
    and FEW_PACKETS for other disciplines.
    """
    if shape["rate_mbps"] is None:
        return 0.0
    if shape["queue_packets"] is not None:
        return shape["queue_packets"]
    if shape["queue_bytes"] is not None:
        return shape["queue_bytes"] / min_bytes
    # The default limit of other disciplines is up to 10240 packets.
    return USUAL_QUEUE_PACKETS if shape["aqm"] == "fifo" else FEW_PACKETS
