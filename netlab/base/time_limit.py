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


_calls: dict[int, list[float]] = {}
"""The running calls by thread: the limit in s and, after the first look, the time at which it ends."""
_watched: set[int] = set()
"""The process that something looks in; what it forks has no threads."""


def call_often_within(limit_s: float, function: Callable[..., object], *given: Any) -> None:
    """The same for what is called ten thousand times: a thread that looks now and then costs such calls nothing.

    It does not stop a call that sleeps. Where there are no threads, the clock is looked at whenever a loop begins again.

    Raises TimeIsUpError when the time is up.
    """
    if os.getpid() not in _watched and not _begin_to_watch():
        call_within(limit_s, function, *given)
        return
    here = threading.get_ident()
    # The clock is not asked: it costs as much as all else.
    _calls[here] = [limit_s]
    try:
        function(*given)
    finally:
        del _calls[here]


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


def _is_over(call: list[float] | None) -> bool:
    if call is None:
        return False
    if len(call) == 1:
        call.append(time.monotonic() + call[0])
    return time.monotonic() > call[1]


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
