"""TCP limited by its window or by losses."""

import math
from typing import cast

import numpy as np

from netlab.base.headers import MSS_BYTES
from netlab.base.units import BITS_PER_BYTE, BITS_PER_MEGABIT, MS_PER_S
from netlab.theory.framing import Framing, tcp_goodput_limit_mbps
from netlab.theory.ranges import Array, Value, check_loss_rate, check_positive, check_range, to_value

__all__ = [
    "MATHIS_C", "MATHIS_RANDOM_C", "aimd_cost_segments", "backoff_mbps", "cubic_mbps", "mathis_mbps",
    "parallel_streams_mbps", "pftk_mbps", "window_limit_mbps", "windowed_goodput_mbps",
]  # fmt: skip

MATHIS_C = math.sqrt(3 / 2)
"""The constant of `mathis_mbps` for periodic loss: 1.2247."""

MATHIS_RANDOM_C = math.sqrt(2 / math.pi) * math.prod((1 - 4.0 ** -(k + 1)) / (1 - 4.0 ** -(k + 0.5)) for k in range(30))
"""The constant of `mathis_mbps` for loss that strikes each segment at random: 1.3098, higher because some windows are spared for long.

With V = W**2 / 2 counted in segments sent, V rises by 1 a segment and a loss divides it by 4, so that at a loss it is a
sum of exponential times over 1, 4, 16, ...; the constant is sqrt(2) over the mean of V**-0.5, by Ramanujan's integral.
"""


CUBIC_C = 0.4
"""The coefficient of CUBIC's window function, in segments/s**3 (RFC 9438, section 5.1)."""

CUBIC_BETA = 0.7
"""The fraction of CUBIC's window that is left after a loss (RFC 9438, section 4.6)."""

MAX_RTO_MS = 120_000.0
"""The largest retransmission timeout of Linux (TCP_RTO_MAX)."""


def _segments_mbps(segments_per_s: Array, mss_bytes: int) -> Array:
    """Return rates of segments per second, each with `mss_bytes` of data, in Mbit/s."""
    return segments_per_s * mss_bytes * BITS_PER_BYTE / BITS_PER_MEGABIT


def window_limit_mbps(window_bytes: Value, rtt_ms: float) -> Value:
    """Return the most goodput in Mbit/s with `window_bytes` in flight, a window per RTT; TheoryError if out of range.

    Holds while the link is faster than this. Misleads above the link's own limit, and where the buffer that
    was asked for is not the window: Linux doubles `SO_RCVBUF` and keeps a part of it for its own bookkeeping.

    Returns: Goodput in Mbit/s, shaped as `window_bytes`.
    Source: D. Borman et al., RFC 7323, 2014, section 1.1.

    Parameters
    ----------
    rtt_ms : float
        Round-trip time in ms, above 0.

    Examples
    --------
    >>> window_limit_mbps(126_000, rtt_ms=16)
    63.0
    """
    check_positive("window_bytes", window_bytes)
    check_positive("rtt_ms", rtt_ms)
    return to_value(np.asarray(window_bytes) * BITS_PER_BYTE * MS_PER_S / BITS_PER_MEGABIT / rtt_ms)


def windowed_goodput_mbps(
    window_bytes: Value, rate_mbps: float, rtt_ms: float, mss_bytes: int = MSS_BYTES, framing: Framing = "tc"
) -> Value:
    """Return a TCP transfer's goodput in Mbit/s, limited by the window or the link; TheoryError if out of range.

    Holds for long transfers without loss. Misleads near the knee, where a window that is not a whole number of
    segments and the acknowledgements' own time cost a few per cent.

    Returns: Goodput in Mbit/s, shaped as `window_bytes`.
    Source: J. Kurose, K. Ross, Computer Networking: A Top-Down Approach, 8th ed., Pearson, 2021, section 3.4.2.

    Parameters
    ----------
    rate_mbps : float
        The bottleneck's rate in Mbit/s, above 0.

    Examples
    --------
    >>> windowed_goodput_mbps(np.array([150e3, 400e3]), rate_mbps=100, rtt_ms=16).round(2)
    array([75.  , 95.64])
    """
    limit = tcp_goodput_limit_mbps(rate_mbps, mss_bytes, framing)
    return to_value(np.minimum(window_limit_mbps(window_bytes, rtt_ms), limit))


def mathis_mbps(mss_bytes: int, rtt_ms: float, loss_rate: Value, c: float = MATHIS_C) -> Value:
    """Return the rate in Mbit/s of a TCP flow under light loss (a fraction): c segments per RTT over the root of it.
    Raises TheoryError for a parameter out of range.

    Holds for Reno in congestion avoidance, with losses spread thinly (below about 2 %) and neither the window
    nor the link in the way. Misleads under heavier loss, where timeouts rule (see `pftk_mbps`), on fast long
    paths for CUBIC and at any loss for BBR (version 1, which Linux has), which do not halve their window at a loss.

    Returns: Rate in Mbit/s, shaped as `loss_rate`.
    Source: M. Mathis, J. Semke, J. Mahdavi, T. Ott, The macroscopic behavior of the TCP congestion avoidance
    algorithm, ACM Computer Communication Review 27(3), 1997.

    Parameters
    ----------
    rtt_ms : float
        Round-trip time under load, in ms, above 0.
    loss_rate : float or array
        Chance that a segment is lost, in (0, 1].
    c : float
        For periodic loss sqrt(3/2) = `MATHIS_C`, for random loss `MATHIS_RANDOM_C`. Both for a sender that counts the
        segments acknowledged, as Linux does (RFC 3465); one that counts delayed ACKs has 1/sqrt(2) of it.

    Examples
    --------
    >>> round(mathis_mbps(1448, rtt_ms=20, loss_rate=0.01), 3)
    7.094
    """
    check_positive("mss_bytes", mss_bytes)
    check_positive("rtt_ms", rtt_ms)
    check_positive("c", c)
    check_loss_rate("loss_rate", loss_rate)
    return to_value(_segments_mbps(c / np.sqrt(loss_rate) / (rtt_ms / MS_PER_S), mss_bytes))


def cubic_mbps(mss_bytes: int, rtt_ms: Value, loss_rate: Value) -> Value:
    """Return the rate in Mbit/s of a CUBIC flow under light loss (a fraction): the larger of its cubic's and Reno's.
    Raises TheoryError for a parameter out of range.

    The cubic grows by the clock, so that its window goes with (T/p)**(3/4) and its rate with T**(-1/4): it costs a
    far flow little to be far. On short paths Reno's window is larger, and CUBIC takes that (the Reno-friendly
    region). Holds for losses at equal distances, in packets, with neither window nor link in the way; for
    random losses the constant is larger, the exponents are the same. Misleads where timeouts rule.

    Returns: Rate in Mbit/s, shaped as `rtt_ms` and `loss_rate` together.
    Source: L. Xu et al., RFC 9438, 2023, section 5, and its table 1 for values.

    Parameters
    ----------
    rtt_ms : float or array
        Round-trip time under load, in ms, above 0.
    loss_rate : float or array
        Chance that a segment is lost, in (0, 1].

    Examples
    --------
    >>> round(cubic_mbps(1448, rtt_ms=100, loss_rate=1e-4), 2)
    21.71
    """
    check_positive("mss_bytes", mss_bytes)
    check_positive("rtt_ms", rtt_ms)
    check_loss_rate("loss_rate", loss_rate)
    rtt_s, p = np.asarray(rtt_ms, dtype=float) / MS_PER_S, np.asarray(loss_rate, dtype=float)
    constant = (CUBIC_C * (3 + CUBIC_BETA) / (4 * (1 - CUBIC_BETA))) ** 0.25
    window = np.maximum(constant * (rtt_s / p) ** 0.75, MATHIS_C / np.sqrt(p))
    return to_value(_segments_mbps(window / rtt_s, mss_bytes))


def aimd_cost_segments(window_segments: Value, decrease: float = 0.5) -> Value:
    """Return the segments that Reno does not send while its window recovers, from its size at a loss, which leaves
    `decrease` times that. Raises TheoryError for a parameter out of range.

    The window falls to `decrease` times its size and grows by one segment in each round-trip time. Holds where the
    window is the limit: no queue keeps the link busy meanwhile, and the round-trip time stays the same. Misleads with a
    queue of one BDP, which makes the loss free, and for CUBIC on long paths, whose climb goes by the clock.

    Returns: Segments, shaped as `window_segments`.
    Source: The area of a tooth, as M. Mathis, J. Semke, J. Mahdavi and T. Ott count it in The macroscopic behavior of the TCP
    congestion avoidance algorithm, ACM Computer Communication Review 27(3), 1997.

    Parameters
    ----------
    window_segments : float or array
        Window at the loss, in segments, above 0.
    decrease : float
        Part of the window that remains after the loss, from 0 to 1.

    Examples
    --------
    >>> aimd_cost_segments(40.0)
    200.0
    """
    check_positive("window_segments", window_segments)
    check_range("decrease", decrease, 0, 1)
    return to_value((np.asarray(window_segments) * (1 - decrease)) ** 2 / 2)


def pftk_mbps(
    mss_bytes: int,
    rtt_ms: float,
    loss_rate: Value,
    *,
    rto_ms: float | None = None,
    window_segments: float = math.inf,
    acked_segments: int = 1,
) -> Value:
    """Return the sending rate in Mbit/s of a Reno flow from loss rate (a fraction), first timeout (None: RTT + 200 ms),
    receiver's window, and segments that let the window grow by one: Padhye's model. TheoryError if out of range.

    Holds for light loss, timeouts and a limited window included. Misleads under heavier loss: over 40 ms Linux's Reno
    with selective acknowledgements gets a few per cent more at 0.002, an eighth at 0.01, a third at 0.03 and 1.8 times
    as much at 0.1, since a loss does not cost it the rest of its round, as the model has it; there `mathis_mbps` is
    nearer. It counts segments sent, not delivered.

    Returns: Rate in Mbit/s, shaped as `loss_rate`.
    Source: J. Padhye, V. Firoiu, D. Towsley, J. Kurose, Modeling TCP throughput: a simple model and its empirical
    validation, ACM SIGCOMM 1998: the approximate full model.

    Parameters
    ----------
    rtt_ms : float
        Round-trip time under load, in ms, above 0.
    loss_rate : float or array
        Chance that a segment is the first lost one of its round, in (0, 1).
    window_segments : float
        The receiver's window in segments, 1 or more.
    acked_segments : int
        Segments that let the window grow as one does, 1 or more: 1 for Linux, which counts what is
        acknowledged (RFC 3465), however many segments an acknowledgement covers; 2 for a sender that counts
        delayed acknowledgements, as in the paper.

    Examples
    --------
    >>> round(pftk_mbps(1448, rtt_ms=20, loss_rate=0.01), 2)
    5.62
    """
    check_positive("mss_bytes", mss_bytes)
    check_positive("rtt_ms", rtt_ms)
    check_loss_rate("loss_rate", loss_rate, below_one=True)
    rto = (rtt_ms + 200 if rto_ms is None else rto_ms) / MS_PER_S
    check_positive("rto_ms", rto)
    check_range("window_segments", window_segments, 1, math.inf)
    check_range("acked_segments", acked_segments, 1, math.inf)
    rtt = rtt_ms / MS_PER_S
    p = np.asarray(loss_rate, dtype=float)
    b = acked_segments

    start = (2 + b) / (3 * b)
    unlimited = start + np.sqrt(8 * (1 - p) / (3 * b * p) + start**2)
    window = np.minimum(unlimited, window_segments)
    rounds = np.where(unlimited < window_segments, b / 2 * unlimited + 1, b / 8 * window + (1 - p) / (p * window) + 2)
    timeout_chance = _timeout_chance(p, window)
    backoff = 1 + p + 2 * p**2 + 4 * p**3 + 8 * p**4 + 16 * p**5 + 32 * p**6
    sent = (1 - p) / p + window + timeout_chance / (1 - p)
    took = rtt * rounds + timeout_chance * rto * backoff / (1 - p)
    return to_value(_segments_mbps(sent / took, mss_bytes))


def backoff_mbps(
    mss_bytes: int,
    rtt_ms: float,
    loss_rate: Value,
    *,
    rto_ms: float | None = None,
    max_rto_ms: float = MAX_RTO_MS,
) -> Value:
    """Return the rate in Mbit/s of a TCP flow with a window of one segment: each loss (a chance) waits for a timer,
    which doubles from `rto_ms` (None: RTT + 200 ms) to `max_rto_ms`. Raises TheoryError for a parameter out of range.

    A segment that is lost k times waits for timers of 1, 2, 4, ... times the first one; the k-th wait comes with
    the chance p**k. Without a longest timer the mean would be endless from p = 1/2 on: rto * p / (1 - 2p).
    Too low by a factor of about two at 0.5 and of 1.6 at 0.6 (Linux's Reno on a path of 60 ms, eight times 2000 s
    and eight times 4000 s; the intervals are a sixth and a third of the means). Misleads below: a window of two or
    three segments often repairs a loss without the timer, so that the flow is twice as fast at 0.4 and three times
    at 0.3. Holds for means over many minutes only, for single waits may take two.

    Returns: Rate in Mbit/s, shaped as `loss_rate`.
    Source: V. Paxson, M. Allman, J. Chu, M. Sargent, RFC 6298, 2011, rules 2.5 and 5.5; the mean is a geometric series.

    Parameters
    ----------
    rtt_ms : float
        Round-trip time under load, in ms, above 0.
    loss_rate : float or array
        Chance that a segment is lost, in (0, 1).
    max_rto_ms : float
        Longest timer, at which doubling stops, in ms, `rto_ms` or more; 120 s in Linux, from 60 s in the RFC; may be infinite.

    Examples
    --------
    >>> round(1000 * backoff_mbps(1448, rtt_ms=60, loss_rate=0.5), 1)
    7.9
    """
    check_positive("mss_bytes", mss_bytes)
    check_positive("rtt_ms", rtt_ms)
    check_loss_rate("loss_rate", loss_rate, below_one=True)
    first = rtt_ms + 200 if rto_ms is None else rto_ms
    check_positive("rto_ms", first)
    check_range("max_rto_ms", max_rto_ms, first, math.inf)
    p = np.asarray(loss_rate, dtype=float)
    if math.isinf(max_rto_ms):
        with np.errstate(divide="ignore"):
            waits_ms = np.where(p < 0.5, first * p / np.maximum(1 - 2 * p, 0), np.inf)
    else:
        growing = 1 + math.ceil(math.log2(max_rto_ms / first))
        timers_ms = np.minimum(first * 2.0 ** np.arange(growing), max_rto_ms)
        # From then on all timers are the longest.
        waits_ms = np.power.outer(p, np.arange(1, growing + 1)) @ timers_ms
        waits_ms = waits_ms + max_rto_ms * p ** (growing + 1) / (1 - p)
    return to_value(_segments_mbps(MS_PER_S / (rtt_ms + waits_ms), mss_bytes))


def _timeout_chance(p: Array, window: Array) -> Array:
    """Return the chance that a loss ends in a timeout (Padhye), from the loss rate p and the window in segments."""
    # 1 - (1-p)**k cancels for small p; expm1 and log1p keep its digits.
    keep = np.log1p(-p)
    tail = -np.expm1(np.maximum(window - 3, 0) * keep)
    chance = -np.expm1(3 * keep) * (1 + (1 - p) ** 3 * tail) / -np.expm1(window * keep)
    return cast(Array, np.minimum(1.0, chance))


def parallel_streams_mbps(
    streams: Value,
    mss_bytes: int,
    rtt_ms: float,
    loss_rate: float,
    rate_mbps: float = math.inf,
    c: float = MATHIS_C,
) -> Value:
    """Return the rate in Mbit/s of parallel TCP streams under random loss (a fraction): K times that of one by
    `mathis_mbps`, at most `rate_mbps`. Raises TheoryError for a parameter out of range.

    Holds while the losses come from elsewhere than the streams themselves. Misleads once they fill the link:
    then they cause the losses, and the sum stays at the link's limit.

    Returns: Sum over the streams in Mbit/s, shaped as `streams`.
    Source: T. Hacker, B. Athey, B. Noble, The end-to-end performance effects of parallel TCP sockets on a lossy
    wide-area network, IPDPS 2002 (the sum over the streams of each one's bound by Mathis).

    Parameters
    ----------
    streams : float or array
        Number of streams K, 1 or more.
    rtt_ms : float
        Round-trip time in ms, above 0.
    loss_rate : float
        Chance that a segment is lost, in (0, 1].
    rate_mbps : float
        The most that the link gives, as goodput in Mbit/s, above 0.
    c : float
        The constant of `mathis_mbps`: `MATHIS_RANDOM_C` is the one for random loss, `MATHIS_C` that of the paper.

    Examples
    --------
    >>> parallel_streams_mbps(np.array([1.0, 8.0]), 1448, rtt_ms=20, loss_rate=0.01, rate_mbps=50).round(2)
    array([ 7.09, 50.  ])
    """
    check_range("streams", streams, 1, math.inf)
    check_positive("rate_mbps", rate_mbps)
    return to_value(np.minimum(np.asarray(streams) * mathis_mbps(mss_bytes, rtt_ms, loss_rate, c), rate_mbps))
