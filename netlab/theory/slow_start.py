"""Slow start: the time to fill a long path, the goodput of a transfer of some seconds, the duration of a short one."""

import math

from netlab.base.headers import MSS_BYTES
from netlab.base.units import BITS_PER_BYTE, BITS_PER_MEGABIT, ms_to_s
from netlab.theory.delay import bdp_bytes, transmission_delay_ms
from netlab.theory.framing import Framing, tcp_goodput_limit_mbps, tcp_wire_bytes
from netlab.theory.ranges import check_positive, check_range

__all__ = ["short_flow_ms", "slow_start_fill_s", "slow_start_goodput_mbps", "slow_start_rounds"]

INITIAL_WINDOW_SEGMENTS = 10
"""The initial window of RFC 6928, and of Linux."""


def _path_segments(rate_mbps: float, rtt_ms: float, mss_bytes: int, framing: Framing) -> float:
    """Return the number of segments (a float) that the path carries in one RTT; TheoryError if out of range."""
    check_positive("rate_mbps", rate_mbps)
    check_positive("rtt_ms", rtt_ms)
    limit_mbps = tcp_goodput_limit_mbps(rate_mbps, mss_bytes, framing)
    return bdp_bytes(limit_mbps, rtt_ms) / mss_bytes


def slow_start_fill_s(rate_mbps: float, rtt_ms: float, mss_bytes: int = MSS_BYTES, framing: Framing = "tc") -> float:
    """Return the time in s from the first data until slow start has filled the path; TheoryError if out of range.

    The window is 10 segments and doubles each RTT; the path is full in the first round whose window is at least what the link
    carries in one RTT. Holds when nothing is lost before, when neither end limits the window, and when slow start does not
    end early (CUBIC leaves it when the delay grows). Misleads for short RTTs, where queueing is a part of them.

    Returns: Time in s, a whole number of RTTs; 0 where the first window fills the path.
    Source: M. Allman, V. Paxson, E. Blanton, RFC 5681, 2009, section 3.1; J. Chu et al., RFC 6928, 2013, section 2.

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
    """Return a TCP transfer's mean goodput in Mbit/s in its first `active_s` seconds; TheoryError if out of range.

    Round k (from 0) brings 10 * 2**k segments, or what the link carries in one RTT. Holds as `slow_start_fill_s`.

    Returns: Goodput in Mbit/s.
    Source: As `slow_start_fill_s`.

    Parameters
    ----------
    active_s : float
        Time in s since the first data arrived, above 0.

    Examples
    --------
    Seven rounds of 1 s: 10 * (2**7 - 1) segments.

    >>> round(slow_start_goodput_mbps(100, 1000, 7), 3), round(10 * 127 * 1448 * 8 / 7 / 1e6, 3)
    (2.102, 2.102)
    """
    check_positive("active_s", active_s)
    most = _path_segments(rate_mbps, rtt_ms, mss_bytes, framing)
    rtt_s = ms_to_s(rtt_ms)
    segments, window, begin_s = 0.0, float(INITIAL_WINDOW_SEGMENTS), 0.0
    while window < most and begin_s < active_s:
        segments += min(window, most * (active_s - begin_s) / rtt_s)
        window *= 2
        begin_s += rtt_s
    segments += most * max(0.0, active_s - begin_s) / rtt_s
    return segments * mss_bytes * BITS_PER_BYTE / BITS_PER_MEGABIT / active_s


def slow_start_rounds(
    size_bytes: float, initial_window_segments: int = INITIAL_WINDOW_SEGMENTS, mss_bytes: int = MSS_BYTES
) -> int:
    """Return the round trips in which slow start sends `size_bytes` without a loss; TheoryError if out of range.

    Round k (from 0) sends 2**k initial windows, so k rounds send 2**k - 1 of them: the smallest k with
    (2**k - 1) * initial_window * mss >= size. Holds while each acknowledgement lets two segments go, as Linux's receiver makes
    it at a connection's start. Misleads once the window fills the path: then the rate limits, not the rounds; and within a few segments
    of a stair's edge, where an acknowledgement that is delayed can cost a round.

    Returns: Rounds, 1 or more.
    Source: M. Allman, V. Paxson, E. Blanton, RFC 5681, 2009, section 3.1; J. Chu et al., RFC 6928, 2013, section 2.

    Parameters
    ----------
    initial_window_segments : int
        Segments that go before the first acknowledgement, 1 or more.

    Examples
    --------
    Ten segments, twenty, forty: three rounds for 100 kB, which are 70 segments.

    >>> slow_start_rounds(100_000), slow_start_rounds(100_000, initial_window_segments=3)
    (3, 5)
    """
    check_positive("size_bytes", size_bytes)
    check_range("initial_window_segments", initial_window_segments, 1, math.inf)
    check_positive("mss_bytes", mss_bytes)
    windows = math.ceil(size_bytes / (initial_window_segments * mss_bytes))
    return windows.bit_length()


def short_flow_ms(
    size_bytes: float,
    rate_mbps: float,
    rtt_ms: float,
    initial_window_segments: int = INITIAL_WINDOW_SEGMENTS,
    mss_bytes: int = MSS_BYTES,
    framing: Framing = "tc",
) -> float:
    """Return the time in ms from the call of connect until the last of `size_bytes` of a short TCP transfer arrived.
    Raises TheoryError for a parameter out of range.

    One round trip for the handshake, then rounds of slow start, of which the last ends with the arrival, half a round trip after
    it began. A round lasts a round trip, or as long as the link needs for its window: from then on the link is busy to the end. On a
    fast link this is ``rtt_ms * (rounds + 1/2)``, a staircase in the size. Holds when nothing is lost, on an empty path, and when
    slow start does not end early. A page that the client has to ask for takes half a round trip more.

    Returns: Time in ms.
    Source: J. Kurose, K. Ross, Computer Networking, 3rd ed., 2004 (delay modeling; with a request, a window of 1).

    Parameters
    ----------
    rate_mbps : float
        The slowest link's rate in Mbit/s, above 0.
    rtt_ms : float
        Round-trip time of an empty path in ms, above 0, without transmission.
    initial_window_segments, mss_bytes
        As for `slow_start_rounds`.

    Examples
    --------
    Three and a half round trips of 100 ms. A hundred times the rate of 10 Mbit/s saves an eighth of the time.

    >>> round(short_flow_ms(100_000, 1000, 100)), round(short_flow_ms(100_000, 10, 100))
    (350, 400)
    """
    check_positive("rate_mbps", rate_mbps)
    check_positive("rtt_ms", rtt_ms)
    segment_ms = transmission_delay_ms(tcp_wire_bytes(mss_bytes, framing), rate_mbps)
    window, rounds = float(initial_window_segments), slow_start_rounds(size_bytes, initial_window_segments, mss_bytes)
    left, begun_ms = size_bytes / mss_bytes, rtt_ms
    for _ in range(rounds - 1):
        # The first segment's acknowledgement begins the next round: a round trip after that segment has left.
        round_ms = rtt_ms + segment_ms
        if window * segment_ms >= round_ms:
            break
        left, begun_ms, window = left - window, begun_ms + round_ms, 2 * window
    return begun_ms + left * segment_ms + rtt_ms / 2
