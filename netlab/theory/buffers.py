"""Queue sizes with which many long TCP flows keep a link full."""

import math

import numpy as np

from netlab.base.headers import FRAME_BYTES
from netlab.theory.delay import bdp_bytes
from netlab.theory.ranges import Value, check_positive, check_range, to_value

__all__ = ["many_flows_queue_packets", "many_flows_utilization"]

# A window that swings evenly between 2/3 and 4/3 of its mean deviates by 1 / (3 sqrt(3)) of it.
_SWING = 3 * math.sqrt(3)


def many_flows_queue_packets(rate_mbps: float, rtt_ms: float, flows: int, frame_bytes: int = FRAME_BYTES) -> float:
    """Return the room in packets that keeps a link nearly full for n long TCP flows (`flows`): the BDP over sqrt(n).
    Raises TheoryError for a parameter out of range.

    Windows that halve at different times even out, so that their sum swings less, the more there are. Holds for flows of
    Reno's kind whose losses are independent of each other. Misleads for few flows, which lose together and then need a whole
    bandwidth-delay product, and where a flow's share is under 2 segments, so that timeouts decide.

    Returns: Places in packets.
    Source: G. Appenzeller, I. Keslassy, N. McKeown, Sizing Router Buffers, ACM SIGCOMM 2004.

    Parameters
    ----------
    rtt_ms : float
        Mean round-trip time with an empty queue, in ms, above 0.

    Examples
    --------
    100 Mbit/s and 100 ms are 826 packets: for 100 flows a tenth of that.

    >>> round(many_flows_queue_packets(100, 100, flows=100), 1)
    82.6
    """
    check_positive("rate_mbps", rate_mbps)
    check_positive("rtt_ms", rtt_ms)
    check_range("flows", flows, 1, math.inf)
    check_positive("frame_bytes", frame_bytes)
    return float(bdp_bytes(rate_mbps, rtt_ms) / frame_bytes / math.sqrt(flows))


def many_flows_utilization(queue_packets: Value, bdp_packets: float, flows: int) -> Value:
    """Return the least fraction of a link's rate that n long TCP flows (`flows`) use, from its queue's room in packets.
    Raises TheoryError for a parameter out of range.

    The sum of many independent windows is normally distributed. Its standard deviation is at most (BDP + B) / (3 sqrt(3 n)), and
    the link idles only while it is below the bandwidth-delay product. A lower bound: measured links are busier. Holds and
    misleads as `many_flows_queue_packets`.

    Returns: A fraction, in the shape of `queue_packets`.
    Source: G. Appenzeller, I. Keslassy, N. McKeown, Sizing Router Buffers, ACM SIGCOMM 2004.

    Parameters
    ----------
    queue_packets : float or ndarray
        Room in the queue, B, in packets, 0 or more.
    bdp_packets : float
        The bandwidth-delay product in packets, above 0.

    Examples
    --------
    The paper's example: 10 000 flows and a hundredth of the bandwidth-delay product.

    >>> round(many_flows_utilization(1000.0, 100_000, flows=10_000), 4)
    0.9899
    """
    check_range("queue_packets", queue_packets, 0, math.inf)
    check_positive("bdp_packets", bdp_packets)
    check_range("flows", flows, 1, math.inf)
    places = np.asarray(queue_packets, dtype=float)
    deviations = _SWING / math.sqrt(2) / 2 * places * math.sqrt(flows) / (bdp_packets + places)
    return to_value(np.vectorize(math.erf)(deviations))
