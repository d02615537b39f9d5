"""Measure how a guest's kernel and its programs use CPUs, and how long they wait for one."""

import time
from pathlib import Path

from netlab_engines.cores import family

KERNEL_SHARE, PROGRAMS_SHARE = 0.1, 0.25
"""The largest and the smallest share of the time that a guest's kernel and its programs use if only programs compute."""


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
