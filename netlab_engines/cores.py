"""Pin each guest to a CPU of its own, and offer it a second one for its programs.

A guest's kernel and its programs wait for each other at each system call, and waking a process on another CPU takes
long. So both are on one CPU. A guest that runs programs moves them to a second CPU while that is free, because there
neither side sleeps (`netlab_kernel/recipe/two_cpus.c`).
"""

import fcntl
import os
import random
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

CPU_LOCKS = Path("/tmp/netlab-cpus")
"""The directory of the CPUs' lock files, the same for all users of a machine."""
MAX_PROGRAM_CPUS = 16


class Pin:
    """The reservation of a CPU for one guest, by a lock that all processes on this machine share; `cpu` is the CPU's
    number, or -1 while the guest may run on all CPUs.
    """

    def __init__(self) -> None:
        """Start without a reserved CPU; `take` reserves one."""
        self.cpu = -1
        self._lock: int | None = None
        self._resources = ExitStack()

    def take(self) -> int | None:
        """Release the present CPU, reserve one that this process may use, set `cpu` to its number, and return the file
        descriptor of its lock. If none is free, return None and set the attribute `cpu` to -1. The guest is not moved.
        """
        self.release()
        self.cpu, self._lock = self._resources.enter_context(cpu_slot())
        return self._lock

    def release(self) -> None:
        """Release the reserved CPU for other guests, even if the guest still has the lock's descriptor, and set `cpu`
        to -1; the guest is not moved.
        """
        if self._lock is not None:
            fcntl.flock(self._lock, fcntl.LOCK_UN)
            self._lock = None
        self._resources.close()
        self.cpu = -1


@contextmanager
def cpu_slot() -> Iterator[tuple[int, int | None]]:
    """Return a context manager that reserves a CPU to which no other run on this machine is pinned, until its block
    ends: it yields the number of the CPU and the file descriptor of its lock, or (-1, None) if all are taken.

    The CPUs are tried in random order, so that users in containers, who do not see each other's locks, do not all take
    the same one.
    """
    cpus = list(os.sched_getaffinity(0))
    random.shuffle(cpus)
    for cpu in cpus:
        handle = _cpu_lock(cpu)
        if handle is None:
            continue
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(handle)
            continue
        try:
            yield cpu, handle
        finally:
            os.close(handle)
        return
    yield -1, None


def program_cpus() -> list[int]:
    """Return the numbers of the CPUs on one of which a guest's programs may run while its kernel is on another, in
    random order and at most MAX_PROGRAM_CPUS; none if this process may use only one CPU. They are not reserved: the
    guest's kernel gives its second CPU up if others use it.
    """
    cpus = list(os.sched_getaffinity(0))
    return random.sample(cpus, min(len(cpus), MAX_PROGRAM_CPUS)) if len(cpus) > 1 else []


def _cpu_lock(cpu: int) -> int | None:
    """Open the lock file of the CPU with this number, the same for all users, and create it if it is missing; return
    its file descriptor, not locked yet, or None if it cannot be opened.
    """
    path = CPU_LOCKS / f"{cpu}"
    try:
        CPU_LOCKS.mkdir(mode=0o1777)
        # Undo the umask: other users need write access.
        CPU_LOCKS.chmod(0o1777)
    except OSError:
        pass
    try:
        # In a directory that everybody may write to, Linux refuses O_CREAT on another user's file (fs.protected_regular).
        return os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        pass
    except OSError:
        return None
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
        os.fchmod(handle, 0o644)
    except OSError:
        # Another process created it first, or we may not write here.
        return None
    return handle


def set_affinity(pids: list[int], cpus: set[int]) -> None:
    """Let the processes `pids` run only on the CPUs with the numbers `cpus`; processes that have ended are ignored."""
    for pid in pids:
        try:
            os.sched_setaffinity(pid, cpus)
        except OSError:
            continue


def family(pid: int) -> list[int]:
    """Return the pids of the process `pid` and all its living descendants in a list, the process itself first (even if
    it has ended); children of a process's other threads are left out.
    """
    found, ahead = [], [pid]
    while ahead:
        one = ahead.pop()
        found.append(one)
        try:
            children = Path(f"/proc/{one}/task/{one}/children").read_text().split()
        except OSError:
            continue
        ahead += [int(child) for child in children]
    return found
