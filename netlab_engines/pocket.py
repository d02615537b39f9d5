"""The pocket engine: it boots netlab's own User-Mode Linux kernel as an ordinary process without privileges."""

import threading
from collections.abc import Sequence
from dataclasses import replace

from netlab.base import scratch, source_hash
from netlab.base.errors import EngineError, KernelError
from netlab.engines import OnProgress, Requirement, require
from netlab.plan import Clock, Outcome, Plan
from netlab_engines import cpu_use, launcher, preboot, stall
from netlab_engines.base import refuse_missing_parts, refuse_own, run_in
from netlab_engines.distributions import packages_of
from netlab_engines.fingerprint import fingerprint
from netlab_engines.guests import Guest
from netlab_engines.kernels import pocket_kernel
from netlab_engines.kernels.builds import REBUILD_HINT
from netlab_engines.paths import tool

SCRIPT_PROGRAMS = ("ip", "tc")
"""The programs that Mininet's own classes call, so that every script needs them."""
HOST_PROGRAMS = ("bash", *SCRIPT_PROGRAMS, "ping", "iperf", "iperf3", "iptables")
"""The programs of this machine that hosts use most; runs and live networks need none of them but `bash`, for commands."""
CALLS_PER_INSTANT = 3000
"""A number of system calls that only polling programs exceed, such as iperf3."""


PROGRAM_START_NS = 1_000_000
"""The network time that the start of a program takes, in ns, as on a real machine: a server that opens its socket again has done
so before the next client connects."""


class PocketEngine:
    """The engine that runs labs in a pocket kernel, a process without privileges, in virtual time. Raises KernelError
    when it is made if no kernel is built.
    """

    name = "pocket"
    clock: Clock = "virtual"

    def __init__(self) -> None:
        """Find the pocket kernel that this engine will run. Raises KernelError if none is built."""
        self.kernel = pocket_kernel.find()

    def requirements(self) -> list[Requirement]:
        """Return the requirements of the engine on this machine (a kernel, a scratch directory and, optionally,
        Landlock), met or not.
        """
        return machine_requirements()

    def fingerprint(self) -> str:
        """Return a text that differs whenever this engine may give other numbers for the same plan: a hash of the
        kernel's program, a hash of netlab's code, and Mininet's version.
        """
        return fingerprint(source_hash.hash_files([self.kernel.path]))

    def differences(self) -> list[str]:
        """Return a sentence, in a list, that numbers may differ if another version of netlab built the kernel; else
        [].
        """
        if not pocket_kernel.by_another_version(self.kernel):
            return []
        sentence = (
            "the pocket kernel was built by another version of netlab; numbers may differ slightly, and new features may be "
            f"missing. {REBUILD_HINT}"
        )
        return [sentence]

    def refuse(self, plan: Plan) -> None:
        """Raise NotHereError if the plan needs a queue discipline, congestion control or other part that this kernel
        does not have, or uses classes of the user's own, which only the library engine supports.
        """
        refuse_own(plan["traffic"], self.name)
        refuse_missing_parts(plan, self.kernel.capabilities, f"{self.kernel.path} (Linux {self.kernel.release})")

    def open(self, plan: Plan | None, shared: Sequence[str] = ()) -> Guest:
        """Boot a guest for a lab and return it, ready for requests; the request `build` builds the plan, which is only
        checked here, and None is for a script. The guest may also write to the directories `shared` of this machine
        (absolute paths). Raises EngineError if a requirement is not met, and NotHereError if the plan is not supported.
        """
        require(self.requirements())
        if plan is None:
            require(script_requirements())
        else:
            self.refuse(plan)
        guest = Guest(self.kernel, calls=CALLS_PER_INSTANT, program_start_ns=PROGRAM_START_NS, pin=True, shared=shared)
        guest.wait_until_ready()
        return guest

    def execute(
        self, plan: Plan, *, on_progress: OnProgress | None = None, cancel: threading.Event | None = None
    ) -> Outcome:
        """Run a plan in a guest of its own to its end, end the guest, and return the counters. `on_progress` gets the
        network time in s about fifty times, and the run stops with RunCancelled when the event `cancel` is set; None
        omits either. If its network time stands still for `stall.limit_s()` s, RunError is raised. Raises EngineError
        if a requirement is not met, and NotHereError if the plan is not supported.
        """
        require(self.requirements())
        self.refuse(plan)
        limit_s = stall.limit_s()
        with preboot.guest(self.kernel) as guest:
            pid = guest.process.pid
            watchdog = None if limit_s is None else stall.Watchdog(limit_s, lambda: cpu_use.waited_s(pid))
            return run_in(guest, plan, on_progress, cancel, watchdog)


def machine_requirements() -> list[Requirement]:
    """Return the requirements of the pocket engine on this machine, met or not: a built kernel, a scratch directory
    and, optionally, Landlock.
    """
    found: list[Requirement] = []
    try:
        kernel = pocket_kernel.find()
        found.append(_channel_requirement(kernel))
    except KernelError as error:
        found.append(Requirement("pocket kernel", False, "none is built", str(error)))
    try:
        found.append(Requirement("scratch directory", True, str(scratch.base())))
    except EngineError as error:
        found.append(Requirement("scratch directory", False, "none is usable", str(error)))
    version = launcher.landlock_version()
    found.append(
        Requirement(
            "Landlock",
            version > 0,
            f"version {version}" if version else "this host has none",
            "An overlay still protects your files from accidents of guests; Landlock (Linux 5.13 or later, switched on) also "
            "stops deliberate attempts, and `netlab grade` does not run without it.",
            required=False,
        )
    )
    return found


def _channel_requirement(kernel: pocket_kernel.PocketKernel) -> Requirement:
    """Return the requirement that a built pocket kernel has this version's channel to guests; it is not met by kernels
    of early versions of netlab.
    """
    if pocket_kernel.has_host_channel(kernel):
        return Requirement("pocket kernel", True, f"{kernel.release} at {kernel.path}")
    seen = f"an early version of netlab, with another channel to guests, built {kernel.path}"
    return Requirement("pocket kernel", False, seen, REBUILD_HINT)


def script_requirements() -> list[Requirement]:
    """Return the programs that every Mininet script needs, each as a requirement that is met if the program is
    installed.
    """
    return [tool(name, f"Mininet scripts need it; its package is {packages_of(name)}.") for name in SCRIPT_PROGRAMS]


def host_programs() -> list[Requirement]:
    """Return the programs that commands in hosts use most, each as an optional requirement that is met if the program
    is installed.
    """
    return [replace(tool(name, f"Its package is {packages_of(name)}."), required=False) for name in HOST_PROGRAMS]
