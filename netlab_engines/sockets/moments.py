"""The times at which a sender acts: sleep until one with a resolution of a nanosecond, and the root by which random ones
are drawn, with the same bits on every processor.
"""

import ctypes
import math
import time

from netlab.base.units import NS_PER_S
from netlab_engines.libc import libc

_PR_SET_TIMERSLACK = 29
_LN_2 = 0.6931471805599453
_HALF_ROOT = 0.7071067811865476
_LOG_TERMS = tuple(1 / odd for odd in range(21, 0, -2))
_EXP_TERMS = tuple(1 / math.factorial(power) for power in range(14, -1, -1))


def sleep_until_ns(when_ns: int) -> None:
    """Sleep until the time `when_ns`, in ns on the monotonic clock; return at once if it has passed."""
    left_ns = when_ns - time.monotonic_ns()
    if left_ns > 0:
        # Python rounds up to whole nanoseconds; without the half, what a float adds would make one more.
        time.sleep((left_ns - 0.5) / NS_PER_S)


def nth_root(value: float, n: int) -> float:
    """Return ``value ** (1 / n)`` for a `value` from 0 to 1 and a whole number `n` of at least 1, by operations of
    which IEEE 754 determines every bit, so that all processors agree.

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
    """Let all later sleeps of the calling thread end on time; by default the kernel may end each up to 50 µs late."""
    libc.prctl(_PR_SET_TIMERSLACK, ctypes.c_ulong(1), 0, 0, 0)
