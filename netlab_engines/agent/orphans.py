"""Collect the exit statuses of processes that outlive their parents, as the first process of a system must; until
then, such a process is still listed, and programs that wait for its end, such as `killall -w`, do not return.
"""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any


class _Children:
    """The processes that this process has started by `subprocess.Popen`, by their pids, and whether it starts one
    now.
    """

    started: dict[int, subprocess.Popen[Any]] = {}  # noqa: RUF012 (one for the process)
    is_starting = False


def collect_from_now_on() -> None:
    """Collect the status of each child that this process has not started itself as soon as it ends, from now on; a
    further call changes nothing. To be called in the main thread before this process starts others. Nothing happens
    unless this process is the first of its system, the parent of all orphans.
    """
    if os.getpid() != 1 or signal.getsignal(signal.SIGCHLD) is _on_child_end:
        return
    plain_init = subprocess.Popen.__init__

    def init(self: Any, *words: Any, **more: Any) -> None:
        """Start a program with the arguments of `subprocess.Popen`, whose status is then left to this object."""
        _Children.is_starting = True
        try:
            plain_init(self, *words, **more)
            _Children.started[self.pid] = self
        finally:
            _Children.is_starting = False
        _collect()

    subprocess.Popen.__init__ = init  # type: ignore[method-assign]
    signal.signal(signal.SIGCHLD, _on_child_end)


def _on_child_end(_number: int, _frame: Any) -> None:
    """Collect the statuses of orphans that have ended; Python calls this as the handler of SIGCHLD. While a child is
    being started, its pid is not known yet, so nothing is collected before that is done.
    """
    if not _Children.is_starting:
        _collect()


def _collect() -> None:
    """Collect the status of each child that has ended and is not one of `_Children.started`."""
    with suppress(ChildProcessError):
        ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if ended is None:
            return
        # The kernel names one that has ended, which hides the others until its status is collected.
        pids = [ended.si_pid, *(int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdecimal())]
        for pid in pids:
            own = _Children.started.get(pid)
            if own is not None and own.returncode is None:
                continue
            _Children.started.pop(pid, None)
            with suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
