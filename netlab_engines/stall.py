"""A watchdog that ends a run whose network time stands still, for example because a program computes without end."""

import os
import time
from collections.abc import Callable

from netlab.base.errors import EngineError, RunError

VARIABLE = "NETLAB_STALL_S"
DEFAULT_LIMIT_S = 60.0
REPORT_INTERVAL_S = 0.1
"""The longest network time in s between two reports of a guest's clock."""
GRACE_S = 1.0


def limit_s() -> float | None:
    """Return the longest wall-clock time in s that network time may stand still: the number in `$NETLAB_STALL_S`, or
    else DEFAULT_LIMIT_S; None, for no limit, if the variable is 0. Raises EngineError if it is not a number of at least
    0.
    """
    text = os.environ.get(VARIABLE, "")
    try:
        found = float(text or DEFAULT_LIMIT_S)
    except ValueError:
        found = -1.0
    if not 0 <= found < float("inf"):
        raise EngineError(
            f"{VARIABLE} must be a number of seconds of at least 0, where 0 means no limit; got {text!r}."
        )
    return found or None


class Watchdog:
    """Measures for how much wall-clock time a guest's clock has stood still, and raises an error if that is longer than
    a limit.

    Time in which the guest was ready to run and waited for a CPU does not count, because another process used the CPU.

    Parameters
    ----------
    limit_s : float
        The longest wall-clock time in s without progress.
    waited_s : callable
        Returns how long the guest has waited for a CPU since its start, in s.
    """

    def __init__(self, limit_s: float, waited_s: Callable[[], float]) -> None:
        """Start to measure the wall-clock time for which a guest's clock stands still; `check` fails after `limit_s` s
        of it. Time in which the guest is ready and waits for a CPU does not count (except in the first second or so);
        `waited_s` returns the sum of that in s since the guest's start.
        """
        self._limit_s, self._waited_s = limit_s, waited_s
        self._now_s = 0.0
        self._restart()

    def _restart(self) -> None:
        """Start the measurement again from now, because the guest's clock has moved."""
        self._since_s = time.monotonic()
        self._waited_before_s: float | None = None

    def advance(self, now_s: float) -> None:
        """Note that the guest's clock has reached `now_s`, in s of network time, and start to measure its standstill
        again from now.
        """
        self._now_s = now_s
        self._restart()

    def check(self) -> None:
        """Raise RunError if the guest's clock has stood still for longer than the limit; to be called at least about
        every second.
        """
        passed_s = time.monotonic() - self._since_s
        if self._waited_before_s is None:
            # Not at once: a guest that works reports several times a second.
            if passed_s > min(GRACE_S, self._limit_s / 2):
                self._waited_before_s = self._waited_s()
            return
        if passed_s <= self._limit_s or passed_s - (self._waited_s() - self._waited_before_s) <= self._limit_s:
            return
        raise RunError(
            f"Network time has stood still at about {self._now_s:.3g} s for {self._limit_s:g} s, so the run was stopped. A program "
            "in a host computes or polls without end, and no network time passes while a program computes. Let it sleep between "
            f"two polls, or end it. If it only needs more time, set {VARIABLE} to more seconds (0: no limit)."
        )
