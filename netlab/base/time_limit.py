"""A student's function that must come back in time: a loop that never ends is told from one that is slow.

In the main thread of a Unix process an alarm stops it. Anywhere else (another thread, Windows, a browser's Python) the
clock is looked at before each line that it runs, which is slower. Neither stops a single call into compiled code, such as
``sum(itertools.count())``; the kernel's own interrupt button does.
"""

from __future__ import annotations

import ctypes
import math
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypeVar

_T = TypeVar("_T")
AGAIN_S = 0.5
LOOK_S = 0.1
LOOPS = 4
"""The number of what looks in loops, among the tools that CPython knows; those below 3, and 5, are for others."""


class TimeIsUpError(BaseException):
    """The function has not come back in time; no `except Exception` of its own may catch it."""


def call_within(limit_s: float, function: Callable[..., _T], *given: Any, **arguments: Any) -> _T:
    """Call a function; one that does not come back in `limit_s` seconds is stopped.

    Raises
    ------
    TimeIsUpError
        When the time is up.
    """
    with _alarm(limit_s) if _can_have_an_alarm() else _watched_lines(limit_s):
        return function(*given, **arguments)


_ends_s: dict[int, float] = {}
"""When the time is up of what runs within a limit, by its thread."""
_watchers: list[threading.Thread] = []
"""The last one looks; a forked process has none that lives."""


def call_often_within(limit_s: float, function: Callable[..., object], *given: Any) -> None:
    """The same for what is called ten thousand times: a thread that looks now and then costs such calls nothing.

    It does not stop a call that sleeps. Where there are no threads, the clock is looked at whenever a loop begins again.

    Raises
    ------
    TimeIsUpError
        When the time is up.
    """
    if not (_watches_loops() or _has_watcher() or _watch_loops()):
        call_within(limit_s, function, *given)
        return
    here = threading.get_ident()
    _ends_s[here] = time.monotonic() + limit_s
    try:
        function(*given)
    finally:
        del _ends_s[here]


def _has_watcher() -> bool:
    if _watchers and _watchers[-1].is_alive():
        return True
    watcher = threading.Thread(target=_watch, name="netlab-time-limit", daemon=True)
    try:
        watcher.start()
    except RuntimeError:
        # A browser's Python has no threads.
        return False
    _watchers.append(watcher)
    return True


def _watch() -> None:
    raise_in = ctypes.pythonapi.PyThreadState_SetAsyncExc
    while True:
        time.sleep(LOOK_S)
        for thread in list(_ends_s):
            # Looked up again: a call that has come back meanwhile must not be stopped. An exception that is on its way cannot be
            # taken back: CPython 3.11, asked to, traces no line in any thread from then on.
            if time.monotonic() > _ends_s.get(thread, math.inf):
                raise_in(ctypes.c_ulong(thread), ctypes.py_object(TimeIsUpError))


def _watches_loops() -> bool:
    return sys.version_info >= (3, 12) and sys.monitoring.get_tool(LOOPS) == __name__


def _watch_loops() -> bool:
    """Look at the clock in loops from now on: tracing lines, on and off at each call, makes a call five times as long."""
    if sys.version_info < (3, 12) or sys.monitoring.get_tool(LOOPS) is not None:
        return False
    sys.monitoring.use_tool_id(LOOPS, __name__)
    sys.monitoring.register_callback(LOOPS, sys.monitoring.events.JUMP, _look)
    sys.monitoring.set_events(LOOPS, sys.monitoring.events.JUMP)
    return True


def _look(*_place: object) -> None:
    if _ends_s and time.monotonic() > _ends_s.get(threading.get_ident(), math.inf):
        raise TimeIsUpError


def _can_have_an_alarm() -> bool:
    return (
        hasattr(signal, "setitimer")
        and threading.current_thread() is threading.main_thread()
        and signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    )


@contextmanager
def _alarm(limit_s: float) -> Iterator[None]:
    def stop(_number: int, _frame: FrameType | None) -> None:
        raise TimeIsUpError

    before = signal.signal(signal.SIGALRM, stop)
    # Again and again: a loop around a bare `except:` swallows the first.
    signal.setitimer(signal.ITIMER_REAL, limit_s, AGAIN_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def _watched_lines(limit_s: float) -> Iterator[None]:
    end_s = time.monotonic() + limit_s

    def look(_frame: FrameType, _event: str, _argument: object) -> Any:
        if time.monotonic() > end_s:
            raise TimeIsUpError
        return look

    before = sys.gettrace()
    sys.settrace(look)
    try:
        yield
    finally:
        sys.settrace(before)
