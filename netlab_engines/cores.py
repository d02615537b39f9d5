"""Pin each guest to a CPU of its own.

A guest's kernel and its programs switch to each other all the time, which takes a third of the time if both are on one
CPU.
"""

import fcntl
import os
import random
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

CPU_LOCKS = Path("/tmp/netlab-cpus")
"""The directory of the CPUs' lock files, the same for all users of a machine."""
KERNEL_SHARE, PROGRAMS_SHARE = 0.1, 0.25
"""The largest and the smallest share of the time that a guest's kernel and its programs use if only programs compute."""


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


class CpuUse:
    """The CPU time that a process and its descendants use between two calls of `is_of_programs`."""

    def __init__(self, pid: int) -> None:
        """Begin to measure the process `pid`, a guest's kernel, and its descendants, the guest's programs."""
        self._pid = pid
        self._before: tuple[float, float | None, float | None] = (0.0, None, None)

    def is_of_programs(self) -> bool:
        """Return whether, since the last call, the descendants have used a CPU for at least PROGRAMS_SHARE of the
        wall-clock time, and the process itself for less than KERNEL_SHARE of it. False at the first call, at the next
        one after the process was busy, and if the system does not measure it.
        """
        before_s, own_before_s, others_before_s = self._before
        now_s, own_s = time.monotonic(), _scheduling_s(self._pid, 0)
        passed_s = now_s - before_s
        others_s = None
        # A guest may have hundreds of programs, so they are not looked at while its kernel works.
        if own_s is not None and own_before_s is not None and own_s - own_before_s < KERNEL_SHARE * passed_s:
            others_s = sum(_scheduling_s(one, 0) or 0.0 for one in family(self._pid)[1:])
        self._before = (now_s, own_s, others_s)
        return (
            others_s is not None
            and others_before_s is not None
            and others_s - others_before_s >= PROGRAMS_SHARE * passed_s
        )


def waited_s(pid: int) -> float:
    """Return the time in s for which the process `pid` and its living descendants together have been ready to run
    without having a CPU, since their starts.
    """
    return sum(_scheduling_s(one, 1) or 0.0 for one in family(pid))


def _scheduling_s(pid: int, field: int) -> float | None:
    """Return the time in s since its start for which the process `pid` has had a CPU (`field` 0) or has been ready to
    run without one (`field` 1); None if it has ended or the system does not measure it.
    """
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[field]) / 1e9
    except (OSError, ValueError, IndexError):
        return None
