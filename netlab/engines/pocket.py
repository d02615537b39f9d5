"""The pocket engine: boot a User-Mode Linux kernel of our own for one run, as an ordinary process without privileges."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from netlab import kernel
from netlab.agent import files, guest
from netlab.agent.settings import MACHINE_SYSCTLS
from netlab.base import scratch
from netlab.base.errors import EngineError, KernelError, RunError
from netlab.engines import launcher, warm
from netlab.engines.base import (
    POLL_S,
    EventTail,
    OnEvent,
    Requirement,
    cancelled,
    follow,
    read_result,
    refuse_lacking,
    refuse_media,
    require,
    run_folder,
    take_artifacts,
)
from netlab.engines.guests import MEMORY_MB, START_NS, NoAnswerError
from netlab.engines.paths import python_path, system_path
from netlab.kernel.installed import MODULES
from netlab.protocol.plan import AgentPlan, Counters, Outcome, Plan

TOOLS = ("ip", "tc")
BOOT_PATIENCE_S = 20.0


class PocketEngine:
    """Runs plans in a pocket kernel.

    Parameters
    ----------
    clock : {"virtual", "real"}
        Virtual time is repeatable and fast; real time is for what needs the machine's own clock.
    """

    name = "pocket"

    def __init__(self, clock: str | None = None) -> None:
        self.kernel = kernel.find()
        can_travel = "virtual_time" in self.kernel.capabilities
        if clock == "virtual" and not can_travel:
            raise EngineError(
                f"The kernel {self.kernel.path} has no virtual time; leave the clock out to run in real time, or unset "
                "NETLAB_KERNEL to use netlab's own build."
            )
        self.clock = clock or ("virtual" if can_travel else "real")

    def requirements(self) -> list[Requirement]:
        """All that it needs on this machine."""
        return machine_requirements()

    def execute(self, plan: Plan, *, on_event: OnEvent, cancel: threading.Event | None = None) -> Outcome:
        """Boot, run the plan, and bring its result back.

        Raises
        ------
        EngineError
            When the machine lacks something.
        RunError
            When the guest ended without a result.
        RunCancelled
            When `cancel` was set.
        """
        require(self.requirements())
        here = self.kernel
        refuse_lacking(plan, here.capabilities | here.modules, f"{here.path} (Linux {here.release})")
        if self.clock != "virtual":
            refuse_media(plan, self.clock, self.name)
        if "gate" in here.capabilities and self.clock == "virtual":
            return self._execute_behind_gate(plan, on_event, cancel)
        with scratch.run_directory() as directory, scratch.cpu_slot() as (cpu, slot):
            folder = run_folder(directory)
            whole: AgentPlan = {**plan, "clock": self.clock, "machine_sysctls": MACHINE_SYSCTLS}
            (folder / files.PLAN).write_text(json.dumps(whole))
            directory_of_modules = self.kernel.modules_path
            modules = {"directory": str(directory_of_modules), "names": MODULES} if directory_of_modules else None
            (folder / files.BOOT).write_text(
                json.dumps({"packages": python_path(), "path": system_path(), "modules": modules})
            )
            log = directory / "console.log"
            tail = EventTail(folder, on_event)
            boot = Boot(
                kernel=self.kernel,
                directory=directory,
                folder=folder,
                clock=self.clock,
                seed=plan["seed"],
                cpu=cpu,
                slot=slot,
            )
            process = boot.start(log)
            try:
                follow(process, tail, cancel, BOOT_PATIENCE_S)
            finally:
                end_group(process)
            tail.poll()
            counters = read_result(folder, tail, log)
            kept = take_artifacts(folder)
        return self._outcome(counters, kept)

    def _execute_behind_gate(self, plan: Plan, on_event: OnEvent, cancel: threading.Event | None) -> Outcome:
        with warm.guest(self.kernel) as guest:
            whole: AgentPlan = {**plan, "clock": self.clock, "machine_sysctls": MACHINE_SYSCTLS}
            (guest.folder / files.PLAN).write_text(json.dumps(whole))
            tail = EventTail(guest.folder, on_event)
            guest.send(do="run", seed=plan["seed"])
            while True:
                try:
                    guest.receive(POLL_S)
                    break
                except NoAnswerError:
                    tail.poll()
                    if cancel is not None and cancel.is_set():
                        raise cancelled() from None
                except RunError:
                    # The guest has ended; what it left says why.
                    break
            tail.poll()
            counters = read_result(guest.folder, tail, guest.log)
            kept = take_artifacts(guest.folder)
        return self._outcome(counters, kept)

    def _outcome(self, counters: Counters, kept: str | None) -> Outcome:
        settings = {
            "engine": self.name,
            "clock": self.clock,
            "memory_mb": MEMORY_MB,
            "seeded": "seeded_random" in self.kernel.capabilities and self.clock == "virtual",
            "confined": launcher.landlock_version() > 0,
        }
        return {**counters, "engine": settings, "artifacts": kept}


@dataclass(frozen=True, kw_only=True)
class Boot:
    """A start of the pocket kernel.

    Attributes
    ----------
    kernel : Kernel
        Which.
    directory : Path
        The run's own: the only place on the host that the guest writes to.
    folder : Path
        The part of it that the guest sees as its own, with `boot.json`.
    clock : {"virtual", "real"}
        Its time.
    seed : int
        Where its random generator starts.
    cpu : int
        The CPU that it is pinned to; -1 for none.
    slot : int or None
        Descriptor of the CPU's lock, which the guest keeps as long as it lives.
    memory_mb : int
        Its memory.
    readable : sequence of str or None
        What it may read of the host besides programs and libraries, as the launcher takes it; None does not limit it.
    """

    kernel: kernel.Kernel
    directory: Path
    folder: Path
    clock: str
    seed: int
    cpu: int = -1
    slot: int | None = None
    memory_mb: int = MEMORY_MB
    readable: Sequence[str] | None = None

    def start(self, log: Path) -> subprocess.Popen[bytes]:
        """Start it; its console goes to `log`. End it with `end_group`."""
        # Links without spaces in their paths, wherever Python and netlab are installed: a kernel's command line splits.
        python, init = self.directory / "python", self.directory / "guest.py"
        python.symlink_to(os.path.realpath(sys.executable))
        shutil.copy(guest.__file__, init)
        options = [
            f"mem={self.memory_mb}M",
            "root=/dev/root rootfstype=hostfs rootflags=/ ro quiet con=null con0=null,fd:1",
            f"uml_dir={self.directory} umid=guest",
            f"init={python}",
        ]
        if "seccomp" in self.kernel.capabilities:
            options.append("seccomp=auto")
        if self.clock == "virtual":
            options.append(f"time-travel=inf-cpu time-travel-start={START_NS}")
        if "seeded_random" in self.kernel.capabilities:
            options.append(f"netlab_seed={self.seed}")
        options.append(f"-- -I -S {init} {self.folder}")
        arguments = [argument for group in options for argument in group.split(" ")]
        readable = () if self.readable is None else (*self.readable, str(self.kernel.path.parent))
        command = [
            sys.executable,
            "-I",
            "-S",
            launcher.__file__,
            str(os.getpid()),
            str(self.cpu),
            str(self.directory),
            ":".join(readable),
            str(self.kernel.path),
            *arguments,
        ]
        with log.open("wb") as out:
            return subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                cwd="/",
                env={
                    "TMPDIR": str(self.directory),
                    "HOME": str(self.directory),
                    "PATH": os.environ.get("PATH", os.defpath),
                },
                start_new_session=True,
                pass_fds=() if self.slot is None else (self.slot,),
            )


def end_group(process: subprocess.Popen[bytes]) -> None:
    """Kill the guest: the kernel and each of its programs is a host process of one group."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def machine_requirements(which: Sequence[str] = TOOLS) -> list[Requirement]:
    """What the pocket engine needs and finds on this machine."""
    found: list[Requirement] = []
    try:
        here = kernel.find()
        found.append(Requirement("pocket kernel", True, f"{here.release} at {here.path}"))
    except KernelError as error:
        found.append(Requirement("pocket kernel", False, "none is built", str(error)))
    for tool in which:
        place = shutil.which(tool, path=":".join(system_path()))
        found.append(
            Requirement(
                tool, place is not None, place or "not found", "Ask your administrator for the package iproute2."
            )
        )
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
            "Guests still run behind an overlay, which keeps accidents from your files; Landlock (Linux 5.13 or later, "
            "switched on) also stops a deliberate escape, and `netlab grade` refuses to run without it.",
            required=False,
        )
    )
    return found
