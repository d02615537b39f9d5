"""Conversion factors and functions for units. (Formulas in exercises write their factors out.)"""

BITS_PER_BYTE = 8
BITS_PER_MEGABIT = 1_000_000
MS_PER_S = 1000.0
US_PER_MS = 1000.0
US_PER_S = 1_000_000.0
NS_PER_US = 1000
NS_PER_MS = 1_000_000
NS_PER_S = 1_000_000_000


def mbps_to_bps(rate_mbps: float) -> int:
    """Return a rate in whole bit/s from Mbit/s (10**6 bit/s).

    >>> mbps_to_bps(4.798)
    4798000
    """
    return round(rate_mbps * BITS_PER_MEGABIT)


def rate_mbps(volume_bytes: float, duration_s: float) -> float:
    """Return the mean rate in Mbit/s of a volume in bytes over a duration in seconds (NaN over no time).

    >>> rate_mbps(625_000, 1.0)
    5.0
    """
    if duration_s <= 0:
        return float("nan")
    return volume_bytes * BITS_PER_BYTE / BITS_PER_MEGABIT / duration_s


def ms_to_s(time_ms: float) -> float:
    """Return a time in seconds from milliseconds."""
    return time_ms / MS_PER_S


def ms_to_us(time_ms: float) -> int:
    """Return a time in microseconds from milliseconds, rounded to a whole number."""
    return round(time_ms * US_PER_MS)
