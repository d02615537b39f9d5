"""Detection of an answer that is netlab's own function, or one that only passes on what netlab's own function returns."""

from __future__ import annotations

import contextlib
import functools
import inspect
import io
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import FrameType, FunctionType
from typing import Any

import numpy as np

from netlab.base.values import is_number
from netlab_course.opaque import OpaqueFunction
from netlab_user_code.time_limit import TimeIsUpError, call_within

_HOMES = ("netlab.theory.", "netlab.runs.replications", "netlab_course.chapters.")
"""The beginnings of the names of modules whose functions compute answers."""
_OPAQUE_CALL = OpaqueFunction.__call__.__code__
_SEQUENCES = (tuple, list, np.ndarray)
MAX_RETURNED = 10_000
"""The number of returned values that are kept of one call; a loop may call netlab's functions without end."""


def is_netlabs_own(function: Callable[..., object], trials: Iterable[Mapping[str, Any]], limit_s: float) -> bool:
    """Return whether a function is one of netlab or of the course, or gives in each trial (arguments by name, at least
    one) exactly what a function of `_HOMES` has returned to it, as a lambda around one does, or its numbers in a tuple. It
    is called again for that, for at most `limit_s` seconds a trial, until a trial gives something else; what it prints
    is discarded.
    """
    if str(getattr(function, "__module__", "")).partition(".")[0] in {"netlab", "netlab_course"}:
        return True
    # Only a function made by the student can be called again: a grader's stand-in has one result for each trial.
    if not isinstance(function, (FunctionType, functools.partial)):
        return False
    given = list(trials)
    return bool(given) and all(_passes_on(function, arguments, limit_s) for arguments in given)


def _passes_on(function: Callable[..., object], arguments: Mapping[str, Any], limit_s: float) -> bool:
    """Return whether a function, called with these arguments by name, gives the value of a netlab function that it has
    called; False if it raises an error or takes longer than `limit_s` seconds.
    """
    returned: list[object] = []
    try:
        with contextlib.redirect_stdout(io.StringIO()), _record_returned(returned):
            value = call_within(limit_s, function, **arguments)
    except (Exception, TimeIsUpError):  # noqa: BLE001 (the trial was right before: what happens now is no verdict)
        return False
    return value is not None and any(_same(value, each) for each in returned)


def _same(value: object, returned: object) -> bool:
    """Return whether two values are the same object or equal numbers, or sequences of such."""
    if isinstance(value, _SEQUENCES) and isinstance(returned, _SEQUENCES):
        return len(value) == len(returned) > 0 and all(map(_same, value, returned))
    return value is returned or (is_number(value) and is_number(returned) and bool(value == returned))


@contextlib.contextmanager
def _record_returned(returned: list[object]) -> Iterator[None]:
    """Append to the list what netlab's functions return while the context lasts, but not those that are called through
    an opaque function, whose values a student is to use.
    """
    hidden = 0

    def note(frame: FrameType, event: str, value: object) -> None:
        """Append the value that a function returns; Python calls this at the begin and the end of each function."""
        nonlocal hidden
        if frame.f_code is _OPAQUE_CALL and event in ("call", "return"):
            hidden += 1 if event == "call" else -1
        elif event == "return" and not hidden and len(returned) < MAX_RETURNED and _computes_answers(frame):
            returned.append(value)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        yield
    finally:
        sys.setprofile(before)


def _computes_answers(frame: FrameType) -> bool:
    """Return whether a frame is that of a function of `_HOMES` which its module names."""
    if not str(frame.f_globals.get("__name__")).startswith(_HOMES):
        return False
    named = frame.f_globals.get(frame.f_code.co_name)
    return callable(named) and getattr(inspect.unwrap(named), "__code__", None) is frame.f_code
