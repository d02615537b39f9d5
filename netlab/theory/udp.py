"""UDP through one queue: goodput, loss, and the shares of several flows."""

import math

import numpy as np
from numpy.typing import ArrayLike

from netlab.base.units import BITS_PER_BYTE, BITS_PER_MEGABIT
from netlab.theory.collapse import acceptance_ratio
from netlab.theory.framing import Framing, udp_goodput_limit_mbps, udp_wire_bytes
from netlab.theory.ranges import Array, Value, check_positive, check_range, to_value

__all__ = ["held_shares_mbps", "udp_goodput_mbps", "udp_loss_rate", "udp_shares_mbps"]


def udp_goodput_mbps(
    offered_mbps: Value, rate_mbps: float, payload_bytes: int = 1000, framing: Framing = "tc"
) -> Value:
    """Return the goodput in Mbit/s of one constant-rate UDP flow over a link, against the payload rate that it offers.
    Raises TheoryError for a parameter out of range.

    Holds for any offered rate once the first datagram has arrived. Misleads for bursty senders: those lose
    datagrams below the limit too, when a burst exceeds the queue.

    Returns: Goodput in Mbit/s, shaped as `offered_mbps`.
    Source: J.-Y. Le Boudec, Rate adaptation, congestion control and fairness: a tutorial, EPFL, 2021.

    Parameters
    ----------
    rate_mbps : float
        The bottleneck's rate in Mbit/s, above 0.

    Examples
    --------
    >>> [round(udp_goodput_mbps(offered, rate_mbps=5), 3) for offered in (1, 4.5, 10)]
    [1.0, 4.5, 4.798]
    """
    check_range("offered_mbps", offered_mbps, 0, math.inf)
    limit = udp_goodput_limit_mbps(rate_mbps, payload_bytes, framing)
    return to_value(np.minimum(offered_mbps, limit))


def udp_loss_rate(
    offered_mbps: Value,
    rate_mbps: float,
    payload_bytes: int = 1000,
    framing: Framing = "tc",
    *,
    queue_packets: int = 0,
    duration_s: float = math.inf,
) -> Value:
    """Return the fraction of one constant-rate UDP flow's datagrams, offered at `offered_mbps` of payload for
    `duration_s`, that its bottleneck with room for `queue_packets` drops; TheoryError if out of range.

    Holds for a run of any length when queue and duration are given: packets in the queue when the sender stops are
    late, not lost. Without them it is the limit of a long run, which misleads for short runs with long queues.

    Returns: Loss rate in [0, 1], shaped as `offered_mbps`.
    Source: J.-Y. Le Boudec, Rate adaptation, congestion control and fairness: a tutorial, EPFL, 2021;
    the queue's term is the conservation of datagrams: sent = served + queued + dropped.

    Parameters
    ----------
    rate_mbps : float
        The bottleneck's rate in Mbit/s, above 0.
    queue_packets : int
        Datagrams that the bottleneck's queue holds, 0 or more.
    duration_s : float
        Time for which the sender sends, in s, above 0.

    Examples
    --------
    >>> round(udp_loss_rate(10, rate_mbps=5), 4)
    0.5202
    >>> round(udp_loss_rate(10, rate_mbps=5, queue_packets=100, duration_s=10), 4)
    0.5122
    """
    check_range("offered_mbps", offered_mbps, 0, math.inf)
    check_range("queue_packets", queue_packets, 0, math.inf)
    check_positive("duration_s", duration_s)
    limit = udp_goodput_limit_mbps(rate_mbps, payload_bytes, framing)
    late = queue_packets * payload_bytes * BITS_PER_BYTE / BITS_PER_MEGABIT / duration_s
    # Offered rates are above 0, and not so small that the quotient overflows.
    offered = np.maximum(offered_mbps, 1e-200)
    return to_value(np.maximum(0.0, 1 - (limit + late) / offered))


def udp_shares_mbps(
    offered_mbps: ArrayLike, rate_mbps: float, payload_bytes: ArrayLike = 1000, framing: Framing = "tc"
) -> Array:
    """Return the goodput in Mbit/s of each UDP flow in a shared FIFO queue: in proportion to the payload rates offered.
    Raises TheoryError for a parameter out of range.

    Holds for many flows or for flows whose sending times are not synchronized, because every datagram then meets the
    same chance of a full queue. Misleads for two or three strictly periodic flows, which may lock into a pattern where
    one always finds the free place, and for queues counted in bytes when datagrams differ in size.

    Returns: Goodput in Mbit/s, one per flow.
    Source: J.-Y. Le Boudec, Rate adaptation, congestion control and fairness: a tutorial, EPFL, 2021.

    Parameters
    ----------
    offered_mbps : array
        Application data sent by each flow, in Mbit/s, 0 or more.
    rate_mbps : float
        The bottleneck's rate in Mbit/s, above 0.
    payload_bytes : int or array
        Application bytes in a datagram, one for all or one per flow.

    Examples
    --------
    >>> udp_shares_mbps([1, 9], rate_mbps=5).round(3)
    array([0.48 , 4.319])
    """
    check_range("offered_mbps", offered_mbps, 0, math.inf)
    check_positive("rate_mbps", rate_mbps)
    check_positive("payload_bytes", payload_bytes)
    offered = np.asarray(offered_mbps, dtype=float)
    payloads = np.broadcast_to(np.asarray(payload_bytes, dtype=int), offered.shape)
    wire = np.array([udp_wire_bytes(int(size), framing) for size in payloads])
    return offered * acceptance_ratio(offered * wire / payloads, rate_mbps)


def held_shares_mbps(
    held_packets: ArrayLike,
    payload_bytes: ArrayLike,
    wire_bytes: ArrayLike,
    rate_mbps: float,
) -> Array:
    """Return the goodput in Mbit/s of flows that each keep `held_packets`, of so many payload and wire bytes, in one
    FIFO queue before a link of `rate_mbps`, without drops. Raises TheoryError for a parameter out of range.

    Each packet waits for all packets before it, so packets leave in proportion to their numbers in the queue
    (Little's law: the packets of a flow are its rate times the common wait). Holds where senders wait for room instead
    of losing packets, such as sockets behind the queue of their own host. Misleads behind a router, where a full queue
    drops, see `udp_shares_mbps`, and where a flow's packets come in bursts and so wait longer or shorter than others'.

    Returns: Goodput of each flow in Mbit/s.
    Source: J. Little, A proof for the queuing formula L = lambda W, Operations Research 9(3), 1961.

    Parameters
    ----------
    held_packets : array
        Packets that each flow keeps in the queue on average, above 0.
    payload_bytes, wire_bytes : array
        Application bytes in a packet of each flow, and what it takes from the rate, above 0.

    Examples
    --------
    >>> held_shares_mbps([88, 44], [1448, 1470], [1538, 1536], rate_mbps=100).round(1)
    array([62.8, 31.9])
    """
    check_positive("held_packets", held_packets)
    check_positive("payload_bytes", payload_bytes)
    check_positive("wire_bytes", wire_bytes)
    check_positive("rate_mbps", rate_mbps)
    packets = np.asarray(held_packets, dtype=float)
    packets_share = packets / np.sum(packets * np.asarray(wire_bytes, dtype=float))
    shares: Array = rate_mbps * packets_share * np.asarray(payload_bytes, dtype=float)
    return shares
