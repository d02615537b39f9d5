"""How long TCP takes to fill a long path, and what a transfer of some seconds gets on the way."""

from __future__ import annotations

import math

from netlab.base.headers import MSS_BYTES
from netlab.base.units import BITS_PER_BYTE, BITS_PER_MEGABIT, ms_to_s
from netlab.theory.framing import Framing, tcp_goodput_limit_mbps
from netlab.theory.ranges import positive

INITIAL_WINDOW_SEGMENTS = 10
"""RFC 6928, and Linux."""


def _path_segments(rate_mbps: float, rtt_ms: float, mss_bytes: int, framing: Framing) -> float:
    """Segments that the path takes in one RTT."""
    positive("rate_mbps", rate_mbps)
    positive("rtt_ms", rtt_ms)
    limit_mbps = tcp_goodput_limit_mbps(rate_mbps, mss_bytes, framing)
    return limit_mbps * BITS_PER_MEGABIT * ms_to_s(rtt_ms) / (mss_bytes * BITS_PER_BYTE)


def slow_start_fill_s(rate_mbps: float, rtt_ms: float, mss_bytes: int = MSS_BYTES, framing: Framing = "tc") -> float:
    """Time from the first data until slow start has filled the path.

    The window is 10 segments and doubles each RTT; the path is full in the first round whose window is at least what the link
    carries in one RTT. Holds when nothing is lost before, when neither end limits the window, and when slow start does not
    end early (CUBIC leaves it when the delay grows). Misleads for short RTTs, where queueing is a part of them.

    Parameters
    ----------
    rate_mbps : float
        The link's rate in Mbit/s, above 0.
    rtt_ms : float
        Round-trip time with an empty queue in ms, above 0.
    mss_bytes : int
        Application bytes in a segment.
    framing : {"tc", "ethernet"}
        What counts against the rate; see `tcp_wire_bytes`.

    Returns
    -------
    float
        Time in s, a whole number of RTTs; 0 where the first window fills the path.

    Raises
    ------
    TheoryError
        If a parameter is out of range.

    References
    ----------
    M. Allman, V. Paxson, E. Blanton, RFC 5681, 2009, section 3.1; J. Chu et al., RFC 6928, 2013, section 2.

    Examples
    --------
    100 Mbit/s and 1 s are 8256 segments: 10 rounds.

    >>> slow_start_fill_s(100, 1000)
    10.0
    """
    rounds = math.ceil(math.log2(_path_segments(rate_mbps, rtt_ms, mss_bytes, framing) / INITIAL_WINDOW_SEGMENTS))
    return max(0, rounds) * ms_to_s(rtt_ms)


def slow_start_goodput_mbps(
    rate_mbps: float, rtt_ms: float, active_s: float, mss_bytes: int = MSS_BYTES, framing: Framing = "tc"
) -> float:
    """Mean goodput of a TCP transfer in its first seconds, slow start included.

    Round k (from 0) brings 10 * 2**k segments, or what the link carries in one RTT. Holds and misleads as
    `slow_start_fill_s`.

    Parameters
    ----------
    rate_mbps : float
        The link's rate in Mbit/s, above 0.
    rtt_ms : float
        Round-trip time with an empty queue in ms, above 0.
    active_s : float
        Time in s since the first data arrived, above 0.
    mss_bytes : int
        Application bytes in a segment.
    framing : {"tc", "ethernet"}
        What counts against the rate; see `tcp_wire_bytes`.

    Returns
    -------
    float
        Goodput in Mbit/s.

    Raises
    ------
    TheoryError
        If a parameter is out of range.

    References
    ----------
    As `slow_start_fill_s`.

    Examples
    --------
    Seven rounds of 1 s: 10 * (2**7 - 1) segments.

    >>> round(slow_start_goodput_mbps(100, 1000, 7), 3), round(10 * 127 * 1448 * 8 / 7 / 1e6, 3)
    (2.102, 2.102)
    """
    positive("active_s", active_s)
    most = _path_segments(rate_mbps, rtt_ms, mss_bytes, framing)
    rtt_s = ms_to_s(rtt_ms)
    segments, window, begin_s = 0.0, float(INITIAL_WINDOW_SEGMENTS), 0.0
    while window < most and begin_s < active_s:
        segments += min(window, most * (active_s - begin_s) / rtt_s)
        window *= 2
        begin_s += rtt_s
    segments += most * max(0.0, active_s - begin_s) / rtt_s
    return segments * mss_bytes * BITS_PER_BYTE / BITS_PER_MEGABIT / active_s
