"""Detection of an answer that is netlab's own function, calls one that computes the answer, or passes on what one returns."""

from __future__ import annotations

import contextlib
import inspect
import io
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import PurePath
from types import CodeType, FrameType
from typing import Any

import numpy as np

from netlab.base.values import is_number
from netlab_course.opaque import OpaqueFunction
from netlab_user_code.time_limit import TimeIsUpError, call_within

_HOMES = ("netlab.theory.", "netlab.runs.replications", "netlab_course.chapters.")
"""The beginnings of the names of modules whose functions compute answers."""
_OPAQUE_CALL = OpaqueFunction.__call__.__code__
_SEQUENCES = (tuple, list, np.ndarray)
NOT_COUNTED = "An answer that uses netlab's own function does not count: write yours out, and compare in another cell."
"""The sentence about an answer that is or calls a function of netlab, which a grader withholds."""
MAX_RETURNED = 10_000
"""The number of returned values that are kept of one call; a loop may call netlab's functions without end."""


def is_netlabs_own(
    function: Callable[..., object],
    trials: Iterable[Mapping[str, Any]],
    limit_s: float,
    same_as: Sequence[Callable[..., object]] = (),
) -> bool:
    """Return whether a function is one of netlab or of the course, or in each trial (arguments by name, at least one)
    calls one of `same_as` or gives exactly what a function of `_HOMES` has returned to it, as a lambda around one does, or
    its numbers in a tuple. It is called again for that, for at most `limit_s` seconds a trial, until a trial does neither;
    what it prints is discarded.
    """
    if str(getattr(function, "__module__", "")).partition(".")[0] in {"netlab", "netlab_course"}:
        return True
    # A cache would return the value without a call.
    function = inspect.unwrap(function)
    given = list(trials)
    codes = _codes_of(same_as)
    return bool(given) and all(_relies_on_netlab(function, arguments, limit_s, codes) for arguments in given)


def is_one_of(value: object, same_as: Sequence[Callable[..., object]]) -> bool:
    """Return whether a value is one of these functions, perhaps under another name, or a function of a chapter's checks."""
    code = getattr(value, "__code__", None)
    return isinstance(code, CodeType) and (_is_of_checks(code) or code in _codes_of(same_as))


def _codes_of(functions: Iterable[Callable[..., object]]) -> set[CodeType]:
    """Return the codes of functions, below their decorators."""
    return {inspect.unwrap(each).__code__ for each in functions}


def _is_of_checks(code: CodeType) -> bool:
    """Return whether a code is that of a function in the module of a chapter's checks, which has the answers."""
    parts = PurePath(code.co_filename).parts[-3:]
    return len(parts) == 3 and (parts[0], parts[2]) == ("chapters", "check.py")


def calls_one_of(
    function: Callable[..., object],
    arguments: Mapping[str, Any],
    limit_s: float,
    same_as: Sequence[Callable[..., object]],
) -> bool:
    """Return whether a function, called with these arguments by name, calls one of `same_as`; False if it raises an error
    or takes longer than `limit_s` seconds. What it prints is discarded.
    """
    codes = _codes_of(same_as)
    returned: list[tuple[CodeType, object]] = []
    with contextlib.suppress(Exception, TimeIsUpError), _recorded_silently(returned, codes):
        call_within(limit_s, function, **arguments)
    return any(code in codes for code, _ in returned)


def _relies_on_netlab(
    function: Callable[..., object], arguments: Mapping[str, Any], limit_s: float, codes: Collection[CodeType]
) -> bool:
    """Return whether a function, called with these arguments by name, calls a function that has one of these codes, or
    gives the value of a netlab function that it has called; False if it raises an error or takes longer than `limit_s`
    seconds.
    """
    returned: list[tuple[CodeType, object]] = []
    try:
        with _recorded_silently(returned, codes):
            value = call_within(limit_s, function, **arguments)
    except (Exception, TimeIsUpError):  # noqa: BLE001 (the trial was right before: what happens now is no verdict)
        return False
    return value is not None and any(
        code in codes or _is_of_checks(code) or _same(value, each) for code, each in returned
    )


def _same(value: object, returned: object) -> bool:
    """Return whether two values are the same object or equal numbers, or sequences of such."""
    if isinstance(value, _SEQUENCES) and isinstance(returned, _SEQUENCES):
        return len(value) == len(returned) > 0 and all(map(_same, value, returned))
    return value is returned or (is_number(value) and is_number(returned) and bool(value == returned))


@contextlib.contextmanager
def _recorded_silently(returned: list[tuple[CodeType, object]], codes: Collection[CodeType]) -> Iterator[None]:
    """Append to the list a pair of code and value for each function of netlab that returns while the context lasts, and
    for each that has one of these codes, except those that are called through an opaque function, whose values a student
    is to use. What is printed meanwhile is discarded: the student has seen it in the trials before.
    """
    hidden = 0

    def note(frame: FrameType, event: str, value: object) -> None:
        """Append the value that a function returns; Python calls this at the begin and the end of each function."""
        nonlocal hidden
        if frame.f_code is _OPAQUE_CALL and event in ("call", "return"):
            hidden += 1 if event == "call" else -1
        elif event != "return" or hidden or len(returned) >= MAX_RETURNED:
            return
        elif frame.f_code in codes or _computes_answers(frame):
            returned.append((frame.f_code, value))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            yield
    finally:
        sys.setprofile(before)


def _computes_answers(frame: FrameType) -> bool:
    """Return whether a frame is that of a function of `_HOMES` which its module names."""
    if not str(frame.f_globals.get("__name__")).startswith(_HOMES):
        return False
    named = frame.f_globals.get(frame.f_code.co_name)
    return callable(named) and getattr(inspect.unwrap(named), "__code__", None) is frame.f_code
