"""Start agents and exchange messages with them: in a pocket kernel, or on this machine's own kernel.

The channel to the agent is a socket on which both sides send JSON, each message after its length. While a guest waits
for a message, its kernel is blocked, uses no processor, and its clock stands still. A second socket carries single
bytes that interrupt the guest at any time (see `netlab_kernel/recipe/host_channel.c`).
"""

import concurrent.futures
import contextlib
import functools
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from netlab.base import scratch
from netlab.base.errors import RunError
from netlab.plan import Clock
from netlab_engines import cores, files, launcher
from netlab_engines.agent import guest
from netlab_engines.base import run_folder
from netlab_engines.cpu_use import CpuUse
from netlab_engines.kernels.pocket_kernel import PocketKernel
from netlab_engines.paths import python_path, system_path
from netlab_engines.protocol.messages import LENGTH, Message, Request, encode
from netlab_engines.protocol.requests import AllRequests
from netlab_engines.protocol.session import OnMessage, OnWait, requests_via

MEMORY_MB = 1024
BOOT_TIME_NS = 1_700_000_000_000_000_000
"""The time in ns since 1970 that a guest's clock shows when it boots."""
BOOT_PATIENCE_S = 60.0
LOG_LINES = 15

NO_TRACING_TEXT = "ptrace: Operation not permitted"
AMX_PANIC_TEXT = "ptrace set fp regs failed"
WAIT_S = 0.05
PROGRAM = "netlab_engines.agent.lab"


class NoAnswerError(RunError):
    """The guest did not answer in time; it may still do so."""


class AgentProcess:
    """An agent's process on this machine and the channel to it, on which it answers requests one at a time; a
    `protocol.session.LabSession`. Subclasses start the process.

    `free_bytes` is the free space that the run's directory needs.
    """

    clock: Clock = "virtual"
    name = "pocket"
    description = "The pocket kernel"
    settings: dict[str, Any]
    channel: socket.socket
    """The host's end of the channel; grading uses it for its own messages."""
    _urgent: socket.socket
    process: subprocess.Popen[bytes]

    def __init__(self, free_bytes: int = scratch.MIN_FREE_BYTES) -> None:
        """Create the run's directory, which `close` removes, on a file system with at least `free_bytes` bytes of free
        space; no process is started. Raises EngineError if there is no such space.
        """
        self.closed = False
        self._ready = False
        self._resources = ExitStack()
        self._pin = cores.Pin()
        self._resources.callback(self._pin.release)
        try:
            self.directory = self._resources.enter_context(scratch.run_directory(free_bytes))
            self.folder = run_folder(self.directory)
            self.log = self.directory / "console.log"
        except BaseException:
            self.close()
            raise

    def wait_until_ready(self) -> None:
        """Wait until the agent has started, at most BOOT_PATIENCE_S s of wall-clock time; return at once if it has.
        Ends the agent and raises RunError, with the machine's load and the end of the log, if it does not start.
        """
        if self._ready:
            return
        try:
            self.receive(BOOT_PATIENCE_S)
        except NoAnswerError:
            error = self._late_error()
            self.close()
            raise error from None
        except BaseException:
            self.close()
            raise
        self._ready = True

    def send(self, message: Message | Request) -> None:
        """Send a message or a request to the agent and return when it is written; the guest runs from now on until it
        waits for the next one. Raises RunError if the guest has ended.
        """
        # Clear the timeout of the last receive: after a partial send both sides would wait for ever.
        self.channel.settimeout(None)
        try:
            self.channel.sendall(encode(message))
        except OSError:
            raise self._end_error() from None

    def receive(self, patience_s: float | None = None) -> Message:
        """Wait for the agent's next message and return it. `patience_s` is the longest wait in s of wall-clock time for
        its beginning; None waits without limit. Raises NoAnswerError if none arrives in that time, and RunError, with
        the end of the guest's log, if the guest has ended.
        """
        deadline_s = None if patience_s is None else time.monotonic() + patience_s
        (size,) = LENGTH.unpack(self._read(LENGTH.size, deadline_s))
        found: Message = json.loads(self._read(size, None))
        return found

    def _read(self, size: int, deadline_s: float | None) -> bytearray:
        """Read exactly `size` bytes from the agent's channel and return them. Raises NoAnswerError if the first byte
        does not arrive before `deadline_s`, in s on the monotonic clock (None: no limit), and RunError if the agent has
        ended.
        """
        data = bytearray(size)
        left = memoryview(data)
        while left:
            if deadline_s is None or len(left) < size:
                self.channel.settimeout(None)
            else:
                self.channel.settimeout(max(0.001, deadline_s - time.monotonic()))
            try:
                got = self.channel.recv_into(left)
            except TimeoutError:
                raise NoAnswerError("The guest did not answer in time.") from None
            except OSError:
                got = 0
            if not got:
                raise self._end_error()
            left = left[got:]
        return data

    def request(self, on_message: OnMessage | None = None, on_wait: OnWait | None = None) -> AllRequests:
        """Return the object with a method for each request, which sends it and waits for its answer. Until the answer
        comes, `on_message` gets each message of the agent, and `on_wait` is called several times a second, for example
        to cancel by an exception; None omits either.
        """
        return requests_via(functools.partial(self._ask, on_message, on_wait))

    def _ask(self, on_message: OnMessage | None, on_wait: OnWait | None, do: str, **words: Any) -> Any:
        """Send the request with the name `do` and the arguments `words`, and return its answer, a dict. Each message
        before it goes to `on_message`, and `on_wait` is called about every WAIT_S s; None omits either. Raises RunError
        if the request failed or the agent has ended.
        """
        self.send({"do": do, "words": words})
        waited_from_s = time.monotonic()
        while True:
            message: Message = {}
            with contextlib.suppress(NoAnswerError):
                message = self.receive(None if on_wait is None else WAIT_S)
            if "answer" in message:
                return message["answer"]
            if "error" in message:
                raise RunError(message["error"])
            if message and on_message is not None:
                on_message(message)
            # By the clock: a fast guest that reports its progress leaves no pause of WAIT_S.
            if on_wait is not None and time.monotonic() - waited_from_s >= WAIT_S:
                on_wait()
                waited_from_s = time.monotonic()

    def interrupt(self, kill: bool = False) -> None:
        """Interrupt the guest's command in the foreground as Ctrl-C does, or, if `kill`, kill it and the program that
        is computing now; nothing happens if the guest has ended.
        """
        try:
            self._urgent.sendall(b"k" if kill else b"i")
        except OSError:
            return

    def computed_only(self) -> bool:
        """Return False: where network time passes by itself, no program stops it."""
        return False

    def pause_program(self) -> None:
        """Do nothing: no program needs a pause."""

    def close(self) -> None:
        """End the agent and all its programs, and remove the run's directory with all files in it; a second call does
        nothing.
        """
        if self.closed:
            return
        self.closed = True
        process: subprocess.Popen[bytes] | None = getattr(self, "process", None)
        try:
            if process is not None:
                self._end(process)
        finally:
            self._resources.close()

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        """Kill the process group of `process`, the agent, with SIGKILL and wait for the process's end."""
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def _end_error(self) -> RunError:
        """Return, and do not raise, a RunError saying that the agent has ended, with the reason from its crash file or
        its log.
        """
        return RunError(f"{self.description} has ended. {reason_of_end(self.folder, self.log)}")

    def _late_error(self) -> RunError:
        """Return, and do not raise, a RunError saying that the agent has not started in time, with the machine's load,
        advice and the end of the log.
        """
        load = f"a load average of {os.getloadavg()[0]:.1f} on {len(os.sched_getaffinity(0))} CPUs"
        return RunError(
            f"{self.description} has not started within {BOOT_PATIENCE_S:.0f} s. The usual reason is a busy machine; this one "
            f"has {load}. End other programs and runs, and try again; if the load is not above the number of CPUs, "
            f"`netlab doctor` says what else is wrong. {reason_of_end(self.folder, self.log)}"
        )


def reason_of_end(folder: Path, log: Path) -> str:
    """Return sentences with the reason why a guest ended, for an error's text: the crash file in its folder `folder`,
    else a sentence about a known message in its console log `log`, else the last LOG_LINES lines of the log without the
    kernel's call trace.
    """
    crash = folder / files.CRASH
    if crash.exists():
        return crash.read_text()
    text = log.read_text(errors="replace") if log.exists() else ""
    if AMX_PANIC_TEXT in text:
        return (
            "This kernel is too old for this machine's processor, whose registers do not fit into its buffer; build a 7.x with "
            "`netlab kernel build`."
        )
    if NO_TRACING_TEXT in text:
        return (
            "This system, probably a container, forbids both ways in which the pocket kernel runs programs, seccomp and ptrace. "
            "Run the container with a profile that allows one of them, as Docker's and Podman's default does; runs without "
            "commands need neither (engine='library')."
        )
    # Leave out the addresses of the kernel's call trace.
    lines = [line for line in text.splitlines() if "[<" not in line][-LOG_LINES:]
    return "The end of its log:\n" + "\n".join(lines or ["(empty)"])


class Guest(AgentProcess):
    """A guest in a pocket kernel, which boots in the background when it is made, and then answers requests; see
    `wait_until_ready`.

    Parameters
    ----------
    kernel : PocketKernel
        The kernel.
    calls : int
        The number of system calls at one time that take no network time; each further call takes 10 µs. With 0 no call takes
        time, and a program that polls never ends.
    program_start_ns : int
        The network time that the start of a program takes, in ns.
    pin : bool
        Reserve a CPU from the start, if one is free; else `pin()` does.
    program : str
        The module whose `work` the guest runs.
    packages : sequence of str, optional
        The directories of netlab and Mininet; by default those of this Python.
    memory_mb : int
        The memory of the guest in MiB.
    readable : sequence of str, optional
        Directories of the host that the guest may read in addition to programs and libraries, as for the launcher; None does not
        limit it.
    shared : sequence of str
        Directories of the host that the guest may write to in addition to its run's directory: absolute paths without a
        colon, none inside another.
    """

    def __init__(
        self,
        kernel: PocketKernel,
        *,
        calls: int = 0,
        program_start_ns: int = 0,
        pin: bool = False,
        program: str = PROGRAM,
        packages: Sequence[str] | None = None,
        memory_mb: int = MEMORY_MB,
        readable: Sequence[str] | None = None,
        shared: Sequence[str] = (),
    ) -> None:
        """Start to boot the guest in a process of its own. Raises OSError if it cannot be started, EngineError without
        disk space or Mininet.
        """
        self.kernel = kernel
        self.settings = {"memory_mb": memory_mb, "seeded": True, "confined": launcher.landlock_version() > 0}
        super().__init__()
        try:
            boot = {
                "program": program,
                "packages": packages or python_path(),
                "path": system_path(),
                "shared": list(shared),
            }
            (self.folder / files.BOOT).write_text(json.dumps(boot))
            # Keep a prebooted guest on one CPU too (changing CPUs costs a third), but do not reserve the CPU.
            some_cpu = random.choice(sorted(os.sched_getaffinity(0)))  # noqa: S311 (spreads the guests over the CPUs)
            slot = self._pin.take() if pin else None
            cpu = self._pin.cpu if pin else some_cpu
            may_read = "" if readable is None else ":".join([*readable, str(kernel.path.parent)])
            may_write = ":".join([str(self.directory), *shared])
            self._boot([str(os.getpid()), str(cpu), may_write, may_read], calls, program_start_ns, memory_mb, slot)
        except BaseException:
            self.close()
            raise

    def _boot(
        self, launcher_arguments: list[str], calls: int, program_start_ns: int, memory_mb: int, slot: int | None
    ) -> None:
        """Start the kernel's process through netlab's launcher and open the two channels to it, which are closed with
        the guest; its first program and a link to this Python are put into the run's directory. `launcher_arguments`
        are the parent's pid, the CPU, and the writable and readable paths; `calls`, `program_start_ns` (ns) and
        `memory_mb` (MiB) are those of `__init__`. `slot` is the file descriptor of the CPU's lock, which the guest
        inherits, or None.
        """
        # Links whose paths have no spaces, because the kernel splits its command line at spaces.
        python, init = self.directory / "python", self.directory / "guest.py"
        python.symlink_to(os.path.realpath(sys.executable))
        shutil.copy(guest.__file__, init)
        self.channel, channel = socket.socketpair()
        self._urgent, urgent = socket.socketpair()
        self._resources.callback(self.channel.close)
        self._resources.callback(self._urgent.close)
        cpus = cores.program_cpus() if program_start_ns else []
        words = [
            f"mem={memory_mb}M",
            "root=/dev/root rootfstype=hostfs rootflags=/ ro quiet con=null con0=null,fd:1",
            f"uml_dir={self.directory} umid=guest init={python}",
            *(["seccomp=auto"] if "seccomp" in self.kernel.capabilities else []),
            f"time-travel=inf-cpu time-travel-start={BOOT_TIME_NS} netlab_seed=0",
            # No devices of these kinds unless somebody adds them.
            "dummy.numdummies=0 bonding.max_bonds=0",
            f"netlab_channel={channel.fileno()} netlab_urgent={urgent.fileno()}",
            f"netlab_calls={calls} netlab_exec_ns={program_start_ns}",
            *([f"netlab_cpus={','.join(map(str, cpus))}"] if cpus else []),
            f"-- -I -S {init} {self.folder}",
        ]
        command = [sys.executable, "-I", "-S", launcher.__file__, *launcher_arguments, str(self.kernel.path)]
        command += [word for group in words for word in group.split(" ")]
        with channel, urgent, self.log.open("wb") as out:
            inherited_descriptors = (channel.fileno(), urgent.fileno(), *([] if slot is None else [slot]))
            self.process = _starter.submit(
                _start, command, out.fileno(), inherited_descriptors, self.directory
            ).result()
        self._cpu_use = CpuUse(self.process.pid)

    def computed_only(self) -> bool:
        """Return whether, since the last call, programs have computed and the kernel has done nothing; False at the
        first call, if this machine does not measure it, or if the kernel is an older one, which cannot pause programs.
        """
        return "pause" in self.kernel.capabilities and self._cpu_use.is_of_programs()

    def pause_program(self) -> None:
        """Let the program that is computing now sleep for 0.1 s of network time; nothing happens if the guest has
        ended.
        """
        with suppress(OSError):
            self._urgent.sendall(b"p")

    def pin(self) -> None:
        """Reserve a CPU that no other guest has and move the guest's processes to it; if all are reserved, let them run
        on all CPUs.
        """
        self._pin.take()
        cpu = self._pin.cpu
        cores.set_affinity(cores.family(self.process.pid), {cpu} if cpu >= 0 else os.sched_getaffinity(0))


def _start(
    command: list[str], log: int, inherited_descriptors: tuple[int, ...], directory: Path
) -> subprocess.Popen[bytes]:
    """Start a command (its name and arguments) in a session of its own, and return the process. Its output goes to the
    file with the descriptor `log`, it inherits `inherited_descriptors`, and `directory` is its home and its directory
    for temporary files. Raises OSError if it cannot be started.
    """
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=subprocess.STDOUT,
        cwd="/",
        env={"TMPDIR": str(directory), "HOME": str(directory), "PATH": os.environ.get("PATH", os.defpath)},
        start_new_session=True,
        pass_fds=inherited_descriptors,
    )


_starter: concurrent.futures.ThreadPoolExecutor


def _new_starter() -> None:
    """Make the thread pool, of one thread, from which this process starts all guests; called when the module is
    imported and again in a forked process.
    """
    # The kernel kills a guest when the thread that started it ends, so a thread that lives as long as this process starts them all.
    global _starter  # noqa: PLW0603 (a forked process does not have its parent's threads)
    _starter = concurrent.futures.ThreadPoolExecutor(1, thread_name_prefix="netlab-guests")


_new_starter()
os.register_at_fork(after_in_child=_new_starter)
