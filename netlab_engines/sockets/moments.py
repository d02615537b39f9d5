"""Moments to the nanosecond, how a wait for them ends, and a root that every processor computes alike."""

import ctypes
import math
import os
import time

from netlab.base.libc import libc
from netlab.base.units import NS_PER_S

_PR_SET_TIMERSLACK = 29
_LN_2 = 0.6931471805599453
_HALF_ROOT = 0.7071067811865476
_LOG_TERMS = tuple(1 / odd for odd in range(21, 0, -2))
_EXP_TERMS = tuple(1 / math.factorial(power) for power in range(14, -1, -1))


def sleep_until_ns(when_ns: int) -> None:
    """Sleep to a moment of the monotonic clock; not at all when it is past."""
    left_ns = when_ns - time.monotonic_ns()
    if left_ns > 0:
        # Python rounds up to whole nanoseconds; without the half, what a float adds would make one more.
        time.sleep((left_ns - 0.5) / NS_PER_S)


def nth_root(value: float, n: int) -> float:
    """``value ** (1 / n)`` for a value from 0 up to 1, by operations whose every bit IEEE 754 fixes.

    `math.pow` is the C library's and differs by processor; `recipe/library/host/random.c` has the same steps.

    >>> nth_root(0.25, 2), nth_root(0.0, 3), abs(nth_root(0.3, 1000) - 0.3 ** 0.001) < 1e-15
    (0.5, 0.0, True)
    """
    if value == 0:
        return 0.0
    fraction, exponent = math.frexp(value)
    if fraction < _HALF_ROOT:
        fraction, exponent = 2 * fraction, exponent - 1
    # log(x) = 2 artanh((x - 1) / (x + 1))
    t = (fraction - 1) / (fraction + 1)
    series = 0.0
    for term in _LOG_TERMS:
        series = series * (t * t) + term
    power = (exponent * _LN_2 + 2 * t * series) / n
    doublings = int(power / _LN_2 - 0.5)
    rest = power - doublings * _LN_2
    series = 0.0
    for term in _EXP_TERMS:
        series = series * rest + term
    return math.ldexp(series, doublings)


def forbid_timer_slack() -> None:
    """Let this thread's sleeps end on time; the default lets the kernel add 50 us to each."""
    libc.prctl(_PR_SET_TIMERSLACK, ctypes.c_ulong(1), 0, 0, 0)


class Stopper:
    """A flag that other threads set and that wakes a `poll`."""

    def __init__(self) -> None:
        self.fd = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        self.is_set = False

    def set(self) -> None:
        """Set it, for good."""
        self.is_set = True
        os.eventfd_write(self.fd, 1)

    def __del__(self) -> None:
        os.close(self.fd)
