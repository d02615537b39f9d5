"""A student's function that must come back in time: a loop that never ends is told from one that is slow.

In the main thread of a Unix process an alarm stops it. Anywhere else (another thread, Windows, a browser's Python) the
clock is looked at before each line that it runs, which is slower. Neither stops a single call into compiled code, such as
``sum(itertools.count())``; the kernel's own interrupt button does.
"""

import ctypes
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any, TypeVar

from netlab.base.location import PACKAGE

_T = TypeVar("_T")
_NETLAB = f"{PACKAGE}{os.sep}"
AGAIN_S = 0.5
LOOK_S = 0.1
LOOPS = 4
"""The number of what looks in loops, among the tools that CPython knows; those below 3, and 5, are for others."""


class TimeIsUpError(BaseException):
    """The function has not come back in time; no `except Exception` of its own may catch it."""


def call_within(limit_s: float, function: Callable[..., _T], *given: Any, **arguments: Any) -> _T:
    """Call a function; one that does not come back in `limit_s` seconds is stopped.

    Raises TimeIsUpError when the time is up.
    """
    with _alarm(limit_s) if _can_have_an_alarm() else _watched_lines(limit_s):
        return function(*given, **arguments)


class _LimitedCall:
    """A call that runs within a limit."""

    __slots__ = ("end_s", "limit_s", "outer")

    def __init__(self, limit_s: float, outer: "_LimitedCall | None") -> None:
        self.limit_s = limit_s
        self.end_s: float | None = None
        """When its time is up; known from the first check on, because the clock costs as much as the rest of a call."""
        self.outer = outer
        """The limited call of the same thread that this one was made in."""


_calls: dict[int, _LimitedCall] = {}
"""The innermost limited call of each thread."""
_watched: set[int] = set()
"""The process that something looks in; what it forks has no threads."""


def call_often_within(limit_s: float, function: Callable[..., object], *given: Any) -> None:
    """The same for what is called ten thousand times: a thread that looks now and then costs such calls nothing.

    It does not stop a call that sleeps. Where there are no threads, the clock is looked at whenever a loop begins again.
    A limited call may make others, whose time counts for it too.

    Raises TimeIsUpError when the time is up.
    """
    if os.getpid() not in _watched and not _begin_to_watch():
        call_within(limit_s, function, *given)
        return
    here = threading.get_ident()
    outer = _calls.get(here)
    _calls[here] = _LimitedCall(limit_s, outer)
    try:
        function(*given)
    finally:
        if outer is None:
            del _calls[here]
        else:
            _calls[here] = outer


def _begin_to_watch() -> bool:
    try:
        threading.Thread(target=_watch, name="netlab-time-limit", daemon=True).start()
    except RuntimeError:
        # A browser's Python has no threads.
        if not _watch_loops():
            return False
    _watched.clear()
    _watched.add(os.getpid())
    return True


def _is_over(call: _LimitedCall | None) -> bool:
    """Return True when the time of a call, or of one that it was made in, is up."""
    now_s = time.monotonic()
    over = False
    while call is not None:
        if call.end_s is None:
            call.end_s = now_s + call.limit_s
        over = over or now_s > call.end_s
        call = call.outer
    return over


def _watch() -> None:
    raise_in = ctypes.pythonapi.PyThreadState_SetAsyncExc
    while True:
        time.sleep(LOOK_S)
        for thread in list(_calls):
            # Looked up again: a call that has come back meanwhile must not be stopped. An exception that is on its way cannot be
            # taken back: CPython 3.11, asked to, traces no line in any thread from then on.
            if _is_over(_calls.get(thread)):
                raise_in(ctypes.c_ulong(thread), ctypes.py_object(TimeIsUpError))


def _watch_loops() -> bool:
    """Look at the clock in loops from now on: tracing lines, on and off at each call, makes a call five times as long."""
    if sys.version_info < (3, 12) or sys.monitoring.get_tool(LOOPS) is not None:
        return False
    sys.monitoring.use_tool_id(LOOPS, __name__)
    sys.monitoring.register_callback(LOOPS, sys.monitoring.events.JUMP, _look)
    sys.monitoring.set_events(LOOPS, sys.monitoring.events.JUMP)
    return True


def _look(code: CodeType, *_place: object) -> object:
    if _calls and _is_over(_calls.get(threading.get_ident())):
        raise TimeIsUpError
    if sys.version_info >= (3, 12) and code.co_filename.startswith(_NETLAB):
        # Netlab's own loops come to an end.
        return sys.monitoring.DISABLE
    return None


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
