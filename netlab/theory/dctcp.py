"""DCTCP over a queue that marks: the threshold that keeps the link full, and the range of the queue's length."""

import math

from netlab.base.headers import FRAME_BYTES
from netlab.theory.delay import bdp_bytes
from netlab.theory.ranges import check_positive, check_range

__all__ = ["dctcp_queue_packets", "dctcp_threshold_packets"]


def dctcp_threshold_packets(rate_mbps: float, rtt_ms: float, frame_bytes: int = FRAME_BYTES) -> float:
    """Return a threshold in packets that keeps a DCTCP link full, a seventh of the BDP; TheoryError if out of range.

    A marked DCTCP sender gives up only as much of its window as its packets were marked, so that its window swings
    by the root of what is in flight, and a short queue bridges the swing. Holds for a few flows that are
    synchronized and a queue that marks by its length at this moment; less may do. Misleads where senders send in
    bursts that are longer, and says nothing about senders that halve.

    Returns: Threshold in packets.
    Source: M. Alizadeh et al., Data Center TCP (DCTCP), ACM SIGCOMM 2010, section 3.4; RFC 8257, section 3.1.

    Examples
    --------
    >>> round(dctcp_threshold_packets(10_000, rtt_ms=0.1), 1)
    11.8
    """
    check_positive("rate_mbps", rate_mbps)
    check_positive("rtt_ms", rtt_ms)
    check_positive("frame_bytes", frame_bytes)
    return float(bdp_bytes(rate_mbps, rtt_ms) / frame_bytes / 7)


def dctcp_queue_packets(
    rate_mbps: float, rtt_ms: float, threshold_packets: float, flows: int = 1, frame_bytes: int = FRAME_BYTES
) -> tuple[float, float]:
    """Return the lowest and the highest length, in packets, of the queue of `flows` DCTCP flows behind a threshold K.
    Raises TheoryError for a parameter out of range.

    It rises to K + N, one segment for each of the N flows in the round-trip time until marks are heard of, and falls by
    sqrt(2 N (BDP + K)) / 2. Holds for synchronized flows with the same round-trip time; a lower end below 0 says that
    the link runs empty. Misleads for few packets, where bursts decide, and when senders start.

    Returns: Lower and upper end in packets.
    Source: M. Alizadeh et al., Data Center TCP (DCTCP), ACM SIGCOMM 2010.

    Parameters
    ----------
    threshold_packets : float
        K, 0 or more.
    flows : int
        N, 1 or more.

    Examples
    --------
    >>> low, high = dctcp_queue_packets(20, rtt_ms=20, threshold_packets=8)
    >>> round(low, 1), high
    (4.5, 9.0)
    """
    check_positive("rate_mbps", rate_mbps)
    check_positive("rtt_ms", rtt_ms)
    check_positive("frame_bytes", frame_bytes)
    check_range("threshold_packets", threshold_packets, 0, math.inf)
    check_range("flows", flows, 1, math.inf)
    under_way = bdp_bytes(rate_mbps, rtt_ms) / frame_bytes + threshold_packets
    highest = threshold_packets + flows
    return float(highest - math.sqrt(2 * flows * under_way) / 2), float(highest)
