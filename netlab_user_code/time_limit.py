"""Time limits for calls of a student's function, so that an endless loop is reported and not waited for.

In the main thread of a Unix process an alarm stops the call. Anywhere else (another thread, Windows, a browser's
Python) the clock is read before each line, which is slower. Neither stops a single call into compiled code, such as
``sum(itertools.count())``; the notebook's interrupt button does.
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

from netlab.base.location import is_own_file

_T = TypeVar("_T")
ALARM_INTERVAL_S = 0.5
CHECK_INTERVAL_S = 0.1
LOOP_TOOL_ID = 4
"""The id of the loop monitor among CPython's monitoring tools; 0, 1, 2 and 5 are reserved for debuggers, coverage,
profilers and optimizers.
"""


class TimeIsUpError(BaseException):
    """A call exceeded its time limit. As a BaseException it passes `except Exception` in the called function."""


def call_within(limit_s: float, function: Callable[..., _T], *values: Any, **arguments: Any) -> _T:
    """Return `function(*values, **arguments)`; raise TimeIsUpError in it after `limit_s` seconds of wall-clock time."""
    with _alarm(limit_s) if _can_have_an_alarm() else _check_each_line(limit_s):
        return function(*values, **arguments)


class _LimitedCall:
    """A running call with a time limit of `limit_s` seconds."""

    __slots__ = ("end_s", "limit_s", "outer")

    def __init__(self, limit_s: float, outer: "_LimitedCall | None") -> None:
        """Begin a limit of `limit_s` seconds; `outer` is the limited call of the same thread around it, or None."""
        self.limit_s = limit_s
        self.end_s: float | None = None
        """The end of the limit on the monotonic clock, set by the first check: reading the clock at the start would
        double the cost of a short call.
        """
        self.outer = outer
        """The limited call of the same thread that made this one."""


_calls: dict[int, _LimitedCall] = {}
"""The innermost limited call of each thread."""
_watched_processes: set[int] = set()
"""The id of this process once it has a watcher. (A forked child inherits the set, but not the thread.)"""


def call_often_within(limit_s: float, function: Callable[..., object], *values: Any) -> None:
    """Call `function(*values)`, discard its result, and stop it after `limit_s` seconds, for functions that are called
    thousands of times: a watcher thread adds almost no cost per call. Raises TimeIsUpError when the limit is exceeded.

    It does not stop a call that sleeps. Without threads, the clock is read at each backward jump of a loop.
    Limited calls nest: the time of an inner call counts for the outer one too.
    """
    if os.getpid() not in _watched_processes and not _begin_to_watch():
        call_within(limit_s, function, *values)
        return
    thread_id = threading.get_ident()
    outer = _calls.get(thread_id)
    _calls[thread_id] = _LimitedCall(limit_s, outer)
    try:
        function(*values)
    finally:
        if outer is None:
            del _calls[thread_id]
        else:
            _calls[thread_id] = outer


def _begin_to_watch() -> bool:
    """Start the watcher thread, or the loop monitor where there are no threads; return False if neither is possible."""
    try:
        threading.Thread(target=_watch, name="netlab-time-limit", daemon=True).start()
    except RuntimeError:
        # A browser's Python has no threads.
        if not _watch_loops():
            return False
    _watched_processes.clear()
    _watched_processes.add(os.getpid())
    return True


def _is_over(call: _LimitedCall | None) -> bool:
    """Return whether a call or one around it (False for None) exceeds its limit, which the first check begins."""
    now_s = time.monotonic()
    over = False
    while call is not None:
        if call.end_s is None:
            call.end_s = now_s + call.limit_s
        over = over or now_s > call.end_s
        call = call.outer
    return over


def _watch() -> None:
    """Check all running calls every 0.1 s, for ever, and raise TimeIsUpError in each thread that exceeds its limit."""
    raise_in = ctypes.pythonapi.PyThreadState_SetAsyncExc
    while True:
        time.sleep(CHECK_INTERVAL_S)
        for thread in list(_calls):
            # Look up the thread again: a call that has returned meanwhile must not be stopped. An exception that is
            # already scheduled cannot be cancelled: if asked to, CPython 3.11 traces no line in any thread from then
            # on.
            if _is_over(_calls.get(thread)):
                raise_in(ctypes.c_ulong(thread), ctypes.py_object(TimeIsUpError))


def _watch_loops() -> bool:
    """Read the clock at each backward jump of a loop from now on; return False if this Python cannot do that."""
    if sys.version_info < (3, 12) or sys.monitoring.get_tool(LOOP_TOOL_ID) is not None:
        return False
    sys.monitoring.use_tool_id(LOOP_TOOL_ID, __name__)
    sys.monitoring.register_callback(LOOP_TOOL_ID, sys.monitoring.events.JUMP, _check_jump)
    sys.monitoring.set_events(LOOP_TOOL_ID, sys.monitoring.events.JUMP)
    return True


def _check_jump(code: CodeType, *_place: object) -> object:
    """Raise TimeIsUpError if a limit of this thread is exceeded; `sys.monitoring` calls this at each jump in `code`.
    Return DISABLE for netlab's own code, where this jump is then no longer monitored.
    """
    if _calls and _is_over(_calls.get(threading.get_ident())):
        raise TimeIsUpError
    if sys.version_info >= (3, 12) and is_own_file(code.co_filename):
        # Netlab's own loops come to an end.
        return sys.monitoring.DISABLE
    return None


def _can_have_an_alarm() -> bool:
    """Return whether a timer signal can stop a call: in a Unix process's main thread, if no other timer runs."""
    return (
        hasattr(signal, "setitimer")
        and threading.current_thread() is threading.main_thread()
        and signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    )


@contextmanager
def _alarm(limit_s: float) -> Iterator[None]:
    """Raise TimeIsUpError in the main thread `limit_s` seconds after a `with` block began, and then every 0.5 s."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        """Raise TimeIsUpError; the alarm calls this in the main thread."""
        raise TimeIsUpError

    old_handler = signal.signal(signal.SIGALRM, stop)
    # Repeat the alarm: a bare `except:` inside a loop swallows the first one.
    signal.setitimer(signal.ITIMER_REAL, limit_s, ALARM_INTERVAL_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old_handler)


@contextmanager
def _check_each_line(limit_s: float) -> Iterator[None]:
    """Read the clock before each line of Python in a `with` block, and raise TimeIsUpError after `limit_s` seconds."""
    end_s = time.monotonic() + limit_s

    def check_line(_frame: FrameType, _event: str, _argument: object) -> Any:
        """Raise TimeIsUpError after the limit, else return itself; Python calls this before each line."""
        if time.monotonic() > end_s:
            raise TimeIsUpError
        return check_line

    old_trace = sys.gettrace()
    sys.settrace(check_line)
    try:
        yield
    finally:
        sys.settrace(old_trace)
