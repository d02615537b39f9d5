"""Paths: their slowest link, their delays, and the data in flight on them."""

import math
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from netlab.base.headers import ICMP_HEADER_BYTES, IP_HEADER_BYTES, MSS_BYTES, TCP_HEADER_BYTES
from netlab.base.units import BITS_PER_BYTE, BITS_PER_MEGABIT, MS_PER_S
from netlab.theory.framing import Framing, framing_bytes, tcp_wire_bytes
from netlab.theory.ranges import TheoryError, check_positive, check_range

__all__ = [
    "AnyHop", "Hop", "bdp_bytes", "bottleneck", "nodal_delay_ms", "path_delay_ms", "ping_rtt_ms",
    "propagation_delay_ms", "queueing_delay_ms", "segment_rtt_ms", "transmission_delay_ms",
]  # fmt: skip


class AnyHop(Protocol):
    """The interface of a link of a path, in the direction of travel: a `Hop`, or an item of `Topology.path_hops`."""

    @property
    def rate_mbps(self) -> float:
        """The rate in Mbit/s, infinite where there is none."""

    @property
    def delay_ms(self) -> float:
        """The one-way propagation delay in ms."""


class Hop(NamedTuple):
    """A link of a path, in the direction of travel: its rate in Mbit/s and its propagation delay in ms."""

    rate_mbps: float = math.inf
    delay_ms: float = 0.0


def bottleneck(path: Sequence[AnyHop]) -> int:
    """Return the index (from 0) of a path's slowest link, the first of equal ones; TheoryError for an empty path.

    Holds for one flow alone. Misleads when others share the path: a fast link with many flows can leave each
    of them less than a slow link with one; see `max_min_mbps`.

    Returns: Index into `path`.
    Source: J. Kurose, K. Ross, Computer Networking: A Top-Down Approach, 8th ed., Pearson, 2021, section 1.4.4.
    Raises: If the path is empty.

    Parameters
    ----------
    path : sequence of Hop
        At least one link.

    Examples
    --------
    >>> bottleneck([Hop(40, 10), Hop(30, 20), Hop(40, 10)])
    1
    """
    if not path:
        raise TheoryError("A path needs at least one link to have a bottleneck, and this one has none.")
    return int(np.argmin([hop.rate_mbps for hop in path]))


def bdp_bytes(rate_mbps: float, rtt_ms: float) -> float:
    """Return the bandwidth-delay product, the bytes in flight that fill a link for an RTT; TheoryError if out of range.

    Holds with the round-trip time of the empty path. Misleads with a round-trip time measured under load,
    which has the queue in it and grows with the window.

    Returns: Bytes.
    Source: D. Borman et al., RFC 7323, 2014, section 1.1.

    Parameters
    ----------
    rate_mbps : float
        The bottleneck's rate in Mbit/s, above 0.
    rtt_ms : float
        Round-trip time without queueing, in ms, 0 or more.

    Examples
    --------
    >>> bdp_bytes(100, 16)
    200000.0
    """
    check_positive("rate_mbps", rate_mbps)
    check_range("rtt_ms", rtt_ms, 0, math.inf)
    return rate_mbps * BITS_PER_MEGABIT * rtt_ms / MS_PER_S / BITS_PER_BYTE


def transmission_delay_ms(packet_bytes: float, rate_mbps: float) -> float:
    """Return the time in ms to push a packet's bits onto a link. Raises TheoryError for a parameter out of range.

    Holds for every packet of a busy link. Misleads for a packet that finds a token bucket full: the bucket
    lets it pass at once, and only the next one waits.

    Returns: Milliseconds.
    Source: J. Kurose, K. Ross, Computer Networking: A Top-Down Approach, 8th ed., Pearson, 2021, section 1.4.1.

    Examples
    --------
    >>> round(transmission_delay_ms(1514, rate_mbps=5), 4)
    2.4224
    """
    check_range("packet_bytes", packet_bytes, 0, math.inf)
    check_positive("rate_mbps", rate_mbps)
    return packet_bytes * BITS_PER_BYTE * MS_PER_S / BITS_PER_MEGABIT / rate_mbps


def propagation_delay_ms(distance_km: float, speed_km_per_s: float = 200_000.0) -> float:
    """Return a signal's time in ms over `distance_km` at this speed (default: fibre); TheoryError if out of range.

    Holds for a straight cable; in fibre and copper light is about a third slower than in vacuum. Misleads as
    a guess for the Internet, where the cables' way is often twice the map's.

    Returns: Milliseconds.
    Source: J. Kurose, K. Ross, Computer Networking: A Top-Down Approach, 8th ed., Pearson, 2021, section 1.4.1.

    Parameters
    ----------
    distance_km : float
        Kilometres, 0 or more.
    speed_km_per_s : float
        Signal speed, above 0; 200 000 in fibre.

    Examples
    --------
    >>> propagation_delay_ms(2000)
    10.0
    """
    check_range("distance_km", distance_km, 0, math.inf)
    check_positive("speed_km_per_s", speed_km_per_s)
    return distance_km / speed_km_per_s * MS_PER_S


def queueing_delay_ms(backlog_bytes: float, rate_mbps: float) -> float:
    """Return the time in ms that a packet waits behind the bytes in a queue; TheoryError if they are out of range.

    Holds for a FIFO queue. Misleads for fair queues, where only the packet's own flow stands before it.

    Returns: Milliseconds.
    Source: J. Kurose, K. Ross, Computer Networking: A Top-Down Approach, 8th ed., Pearson, 2021, section 1.4.2.

    Parameters
    ----------
    backlog_bytes : float
        Bytes in the queue, as the link counts them, 0 or more.

    Examples
    --------
    >>> round(queueing_delay_ms(100 * 1042, rate_mbps=5), 2)
    166.72
    """
    check_range("backlog_bytes", backlog_bytes, 0, math.inf)
    return transmission_delay_ms(backlog_bytes, rate_mbps)


def nodal_delay_ms(
    packet_bytes: float, hop: AnyHop, *, backlog_bytes: float = 0.0, processing_ms: float = 0.0
) -> float:
    """Return a hop's delay in ms: processing, queueing, transmission and propagation; TheoryError if out of range.

    Holds for a FIFO queue on a wired link. Misleads on shared media such as Wi-Fi: waiting for them is a fifth part.

    Returns: Milliseconds.
    Source: J. Kurose, K. Ross, Computer Networking: A Top-Down Approach, 8th ed., Pearson, 2021, section 1.4.1.

    Parameters
    ----------
    hop : Hop
        The link.
    backlog_bytes : float
        Bytes in the queue before the packet, 0 or more.
    processing_ms : float
        Processing time of a packet in the node, in ms, 0 or more; microseconds in practice.

    Examples
    --------
    >>> round(nodal_delay_ms(1514, Hop(rate_mbps=5, delay_ms=10), backlog_bytes=1514), 4)
    14.8448
    """
    check_range("processing_ms", processing_ms, 0, math.inf)
    check_range("delay_ms", hop.delay_ms, 0, math.inf)
    waiting = queueing_delay_ms(backlog_bytes, hop.rate_mbps)
    return processing_ms + waiting + transmission_delay_ms(packet_bytes, hop.rate_mbps) + hop.delay_ms


def path_delay_ms(path: Sequence[AnyHop], packet_bytes: float) -> float:
    """Return the one-way delay in ms of a packet (bytes with framing) over an idle path of store-and-forward nodes.
    Raises TheoryError for a parameter out of range.

    Holds when each node takes in the whole packet before it sends on. Misleads under load and for cut-through switches.

    Returns: Milliseconds.
    Source: J. Kurose, K. Ross, Computer Networking: A Top-Down Approach, 8th ed., Pearson, 2021, section 1.4.3.

    Parameters
    ----------
    path : sequence of Hop
        The links in the order of travel.

    Examples
    --------
    >>> round(path_delay_ms([Hop(40, 10), Hop(30, 20)], packet_bytes=1500), 3)
    30.7
    """
    return math.fsum(nodal_delay_ms(packet_bytes, hop) for hop in path)


def ping_rtt_ms(
    path: Sequence[AnyHop],
    payload_bytes: int = 56,
    back: Sequence[AnyHop] | None = None,
    framing: Framing = "tc",
) -> float:
    """Return the round-trip time in ms of an echo over an idle path and `back` (None: the same), store and forward.
    Raises TheoryError for a parameter out of range.

    Holds for a path without other traffic whose addresses are resolved. Misleads for a first echo, which waits for ARP.

    Returns: Milliseconds.
    Source: J. Postel, RFC 792, 1981 (echo); J. Kurose, K. Ross, Computer Networking, 8th ed., 2021, section 1.4.

    Parameters
    ----------
    payload_bytes : int
        Echo data, 0 to 65507; 56 is what `ping` sends.

    Examples
    --------
    >>> round(ping_rtt_ms([Hop(40, 10), Hop(30, 20), Hop(20, 10)]), 3)
    80.17
    """
    check_range("payload_bytes", payload_bytes, 0, 65507)
    frame = payload_bytes + ICMP_HEADER_BYTES + IP_HEADER_BYTES + framing_bytes(framing)
    return path_delay_ms(path, frame) + path_delay_ms(path if back is None else back, frame)


def segment_rtt_ms(
    path: Sequence[AnyHop], mss_bytes: int = MSS_BYTES, back: Sequence[AnyHop] | None = None, framing: Framing = "tc"
) -> float:
    """Return the round-trip time in ms of a full TCP segment over an idle path and its ACK `back` (None: the same).
    Raises TheoryError for a parameter out of range.

    Holds when each segment leaves alone and is acknowledged at once. Misleads a little as the cycle of a real
    transfer: Linux sends several segments together, which wait for each other, and acknowledges every second.

    Returns: Milliseconds.
    Source: J. Kurose, K. Ross, Computer Networking: A Top-Down Approach, 8th ed., Pearson, 2021, sections 1.4 and 3.4.2.

    Examples
    --------
    >>> round(segment_rtt_ms([Hop(100, 8)], framing="ethernet"), 3)
    16.13
    """
    acknowledgement = TCP_HEADER_BYTES + IP_HEADER_BYTES + framing_bytes(framing)
    forward_ms = path_delay_ms(path, tcp_wire_bytes(mss_bytes, framing))
    return forward_ms + path_delay_ms(path if back is None else back, acknowledgement)
