"""Times and rates in the units of the kernel's packet scheduler."""

from netlab.base.units import BITS_PER_BYTE

TICKS_PER_US = 15.625
"""A tick of the kernel's packet scheduler is 64 ns."""
U32 = 0xFFFFFFFF


def whole_bytes_per_s(rate_bps: int) -> int:
    """Return a rate in bit/s as whole bytes/s, rounded down."""
    return rate_bps // BITS_PER_BYTE


def ticks(us: float) -> int:
    """Return a time in µs as whole ticks of the kernel's packet scheduler, which take 64 ns each, rounded down."""
    return int(us * TICKS_PER_US)


def xmit_ticks(rate: int, size: int) -> int:
    """Return the number of ticks of 64 ns in which `size` bytes leave at `rate` bytes/s (at most 2**32 - 1); the time
    is first rounded down to whole microseconds, as in iproute2.
    """
    return ticks(int(1e6 * (size / min(rate, U32))))
