"""What the textbooks predict: formulas for goodput, loss, delay and fairness.

Rates are in Mbit/s (10**6 bit/s), times in ms unless the name ends in `_s`, sizes in bytes, loss rates are
fractions. Every formula says when it holds and when it misleads; a measurement beside it shows which of the
two it was.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netlab.errors import NetlabError
from netlab.units import BITS_PER_BYTE, BITS_PER_MEGABIT, MS_PER_S

Framing = Literal["tc", "ethernet"]
Array = NDArray[np.float64]
Value = TypeVar("Value", float, Array)
Link = TypeVar("Link", bound=Hashable)
Flow = TypeVar("Flow", bound=Hashable)

FRAMING_BYTES: dict[Framing, int] = {
    "tc": 14,  # what the kernel's qdiscs count: the Ethernet header
    "ethernet": 38,  # what a wire carries: preamble 8, header 14, frame check sequence 4, gap 12
}
IP_HEADER_BYTES = 20
UDP_HEADER_BYTES = 8
ICMP_HEADER_BYTES = 8
TCP_HEADER_BYTES = 32  # 20, and 12 for the timestamps that Linux sends by default
MTU_BYTES = 1500
MSS_BYTES = MTU_BYTES - IP_HEADER_BYTES - TCP_HEADER_BYTES
MATHIS_C = math.sqrt(3 / 2)


class TheoryError(NetlabError, ValueError):
    """A formula was asked about a number or a network for which it says nothing."""


class AnyHop(Protocol):
    """What the formulas read of a link of a path: a `Hop`, or one of those that `Topology.path_hops` returns."""

    @property
    def rate_mbps(self) -> float:
        """Rate in Mbit/s, infinite where there is none."""

    @property
    def delay_ms(self) -> float:
        """Propagation delay in ms."""


class Hop(NamedTuple):
    """One link of a path, in the direction of travel: its rate in Mbit/s and its propagation delay in ms."""

    rate_mbps: float = math.inf
    delay_ms: float = 0.0


class FifoNetwork(NamedTuple):
    """Where unresponsive flows end up: `delivered_mbps` by flow, `acceptance` (a fraction) by link."""

    delivered_mbps: dict[Any, float]
    acceptance: dict[Any, float]


# Framing ----------------------------------------------------------------------------------------------------


def udp_wire_bytes(payload_bytes: int, framing: Framing = "tc") -> int:
    """Bytes that one UDP datagram takes from a link's rate.

    Holds on any link whose rate is counted as `framing` says, and counts the fragments of a datagram that
    exceeds the MTU of 1500 bytes. Misleads below 18 bytes of payload, where a real wire pads the frame and
    `tc` does not.

    Parameters
    ----------
    payload_bytes : int
        Application bytes in a datagram, 1 to 65507.
    framing : {"tc", "ethernet"}
        "tc" counts 14 bytes, the Ethernet header; "ethernet" 38, with preamble, check sequence and gap.

    Returns
    -------
    int
        Bytes per datagram.

    Raises
    ------
    TheoryError
        If the payload does not fit a datagram or the framing is unknown.

    References
    ----------
    J. Postel, RFC 768, 1980; J. Postel, RFC 791, 1981, section 3.1; IEEE 802.3-2022, clauses 3.1 and 4.4.

    Examples
    --------
    >>> udp_wire_bytes(1000), udp_wire_bytes(1000, "ethernet")
    (1042, 1066)
    """
    _within("payload_bytes", payload_bytes, 1, 65507)
    fragments = math.ceil((payload_bytes + UDP_HEADER_BYTES) / (MTU_BYTES - IP_HEADER_BYTES))
    return payload_bytes + UDP_HEADER_BYTES + fragments * (IP_HEADER_BYTES + _framing_bytes(framing))


def tcp_wire_bytes(mss_bytes: int = MSS_BYTES, framing: Framing = "tc") -> int:
    """Bytes that one full TCP segment takes from a link's rate.

    Holds for segments with timestamps and no other option, as Linux sends them. Misleads where a capture
    shows segments above the MTU: those are split before the wire, and each piece carries its own headers.

    Parameters
    ----------
    mss_bytes : int
        Application bytes in a segment, 1 to 1448 for an MTU of 1500; up to 8948 for jumbo frames.
    framing : {"tc", "ethernet"}
        As in `udp_wire_bytes`.

    Returns
    -------
    int
        Bytes per segment.

    Raises
    ------
    TheoryError
        If the segment size is out of range or the framing is unknown.

    References
    ----------
    W. Eddy, RFC 9293, 2022, section 3.1; D. Borman et al., RFC 7323, 2014, section 3.2.

    Examples
    --------
    >>> tcp_wire_bytes(), tcp_wire_bytes(framing="ethernet")
    (1514, 1538)
    """
    _within("mss_bytes", mss_bytes, 1, 65483)
    return mss_bytes + TCP_HEADER_BYTES + IP_HEADER_BYTES + _framing_bytes(framing)


def udp_goodput_limit_mbps(rate_mbps: float, payload_bytes: int = 1000, framing: Framing = "tc") -> float:
    """The most application data that UDP gets through a link.

    Holds for a link that is never idle. Misleads for fragmented datagrams (more than 1472 bytes) on an
    overloaded link: one lost fragment loses them whole.

    Parameters
    ----------
    rate_mbps : float
        The link's rate in Mbit/s, above 0.
    payload_bytes : int
        Application bytes in a datagram, 1 to 65507.
    framing : {"tc", "ethernet"}
        What counts against the rate; see `udp_wire_bytes`.

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
    J. Kurose, K. Ross, Computer Networking: A Top-Down Approach, 8th ed., Pearson, 2021, sections 1.4.4 and
    6.4.

    Examples
    --------
    >>> round(udp_goodput_limit_mbps(5, 1000), 3), round(udp_goodput_limit_mbps(5, 1000, "ethernet"), 3)
    (4.798, 4.69)
    """
    _positive("rate_mbps", rate_mbps)
    return rate_mbps * payload_bytes / udp_wire_bytes(payload_bytes, framing)


def tcp_goodput_limit_mbps(rate_mbps: float, mss_bytes: int = MSS_BYTES, framing: Framing = "tc") -> float:
    """The most application data that TCP gets through a link.

    Holds once the connection has filled the link, however many connections share it. Misleads for short
    transfers (slow start), for windows below the bandwidth-delay product and where losses keep the window
    small.

    Parameters
    ----------
    rate_mbps : float
        The link's rate in Mbit/s, above 0.
    mss_bytes : int
        Application bytes in a segment; 1448 for an MTU of 1500 with timestamps.
    framing : {"tc", "ethernet"}
        What counts against the rate; see `udp_wire_bytes`.

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
    J. Kurose, K. Ross, Computer Networking: A Top-Down Approach, 8th ed., Pearson, 2021, sections 1.4.4 and
    3.5.

    Examples
    --------
    >>> round(tcp_goodput_limit_mbps(5), 3)
    4.782
    """
    _positive("rate_mbps", rate_mbps)
    return rate_mbps * mss_bytes / tcp_wire_bytes(mss_bytes, framing)


# UDP through one queue --------------------------------------------------------------------------------------


def udp_goodput_mbps(
    offered_mbps: Value, rate_mbps: float, payload_bytes: int = 1000, framing: Framing = "tc"
) -> Value:
    """Goodput of one constant-rate UDP flow against the rate that it offers.

    Holds for any offered rate once the first datagram has arrived. Misleads for bursty senders: those lose
    datagrams below the limit too, when a burst exceeds the queue.

    Parameters
    ----------
    offered_mbps : float or array
        Application data sent, in Mbit/s, 0 or more.
    rate_mbps : float
        The bottleneck's rate in Mbit/s, above 0.
    payload_bytes : int
        Application bytes in a datagram, 1 to 65507.
    framing : {"tc", "ethernet"}
        What counts against the rate; see `udp_wire_bytes`.

    Returns
    -------
    float or array
        Goodput in Mbit/s, shaped as `offered_mbps`.

    Raises
    ------
    TheoryError
        If a parameter is out of range.

    References
    ----------
    J.-Y. Le Boudec, Rate adaptation, congestion control and fairness: a tutorial, EPFL, 2021, section 1.1.

    Examples
    --------
    >>> [round(udp_goodput_mbps(offered, rate_mbps=5), 3) for offered in (1, 4.5, 10)]
    [1.0, 4.5, 4.798]
    """
    _within("offered_mbps", offered_mbps, 0, math.inf)
    limit = udp_goodput_limit_mbps(rate_mbps, payload_bytes, framing)
    return _like(np.minimum(offered_mbps, limit))


def udp_loss_rate(
    offered_mbps: Value,
    rate_mbps: float,
    payload_bytes: int = 1000,
    framing: Framing = "tc",
    *,
    queue_packets: int = 0,
    duration_s: float = math.inf,
) -> Value:
    """Share of one constant-rate UDP flow's datagrams that its bottleneck drops.

    Holds for a run of any length when queue and duration are given: what stands in the queue when the sender
    stops is late, not lost. Without them it is the limit of a long run, which misleads for short runs with
    long queues.

    Parameters
    ----------
    offered_mbps : float or array
        Application data sent, in Mbit/s, 0 or more.
    rate_mbps : float
        The bottleneck's rate in Mbit/s, above 0.
    payload_bytes : int
        Application bytes in a datagram, 1 to 65507.
    framing : {"tc", "ethernet"}
        What counts against the rate; see `udp_wire_bytes`.
    queue_packets : int
        Datagrams that the bottleneck's queue holds, 0 or more.
    duration_s : float
        How long the sender sends, in s, above 0.

    Returns
    -------
    float or array
        Loss rate in [0, 1], shaped as `offered_mbps`.

    Raises
    ------
    TheoryError
        If a parameter is out of range.

    References
    ----------
    J.-Y. Le Boudec, Rate adaptation, congestion control and fairness: a tutorial, EPFL, 2021, section 1.1;
    the queue's term is the conservation of datagrams: sent = served + queued + dropped.

    Examples
    --------
    >>> round(udp_loss_rate(10, rate_mbps=5), 4)
    0.5202
    >>> round(udp_loss_rate(10, rate_mbps=5, queue_packets=100, duration_s=10), 4)
    0.5122
    """
    _within("offered_mbps", offered_mbps, 0, math.inf)
    _within("queue_packets", queue_packets, 0, math.inf)
    _positive("duration_s", duration_s)
    limit = udp_goodput_limit_mbps(rate_mbps, payload_bytes, framing)
    late = queue_packets * payload_bytes * BITS_PER_BYTE / BITS_PER_MEGABIT / duration_s
    offered = np.maximum(offered_mbps, np.finfo(float).tiny)
    return _like(np.maximum(0.0, 1 - (limit + late) / offered))


def udp_shares_mbps(
    offered_mbps: ArrayLike, rate_mbps: float, payload_bytes: ArrayLike = 1000, framing: Framing = "tc"
) -> Array:
    """Goodput of each UDP flow when several share one FIFO queue: in proportion to what they offer.

    Holds for many flows or for flows whose sending times are not in step, because every datagram then meets
    the same chance of a full queue. Misleads for two or three strictly periodic flows, which may lock into a
    pattern where one always finds the free place, and for queues counted in bytes when datagrams differ in
    size.

    Parameters
    ----------
    offered_mbps : array
        Application data sent by each flow, in Mbit/s, 0 or more.
    rate_mbps : float
        The bottleneck's rate in Mbit/s, above 0.
    payload_bytes : int or array
        Application bytes in a datagram, one for all or one per flow.
    framing : {"tc", "ethernet"}
        What counts against the rate; see `udp_wire_bytes`.

    Returns
    -------
    array
        Goodput in Mbit/s, one per flow.

    Raises
    ------
    TheoryError
        If a parameter is out of range.

    References
    ----------
    J.-Y. Le Boudec, Rate adaptation, congestion control and fairness: a tutorial, EPFL, 2021, section 1.1.

    Examples
    --------
    >>> udp_shares_mbps([1, 9], rate_mbps=5).round(3)
    array([0.48 , 4.319])
    """
    offered = np.asarray(offered_mbps, dtype=float)
    payloads = np.broadcast_to(np.asarray(payload_bytes, dtype=int), offered.shape)
    wire = np.array([udp_wire_bytes(int(size), framing) for size in payloads])
    return offered * acceptance_ratio(offered * wire / payloads, rate_mbps)


# Paths and delays -------------------------------------------------------------------------------------------


def bottleneck(path: Sequence[AnyHop]) -> int:
    """Index of a path's slowest link, the first of them where several are equal.

    Holds for one flow alone. Misleads when others share the path: a fast link with many flows can leave each
    of them less than a slow link with one; see `max_min_mbps`.

    Parameters
    ----------
    path : sequence of Hop
        At least one link.

    Returns
    -------
    int
        Index into `path`.

    Raises
    ------
    TheoryError
        If the path is empty.

    References
    ----------
    J. Kurose, K. Ross, Computer Networking: A Top-Down Approach, 8th ed., Pearson, 2021, section 1.4.4.

    Examples
    --------
    >>> bottleneck([Hop(40, 10), Hop(30, 20), Hop(40, 10)])
    1
    """
    if not path:
        raise TheoryError("A path needs at least one link to have a bottleneck, and this one has none.")
    return int(np.argmin([hop.rate_mbps for hop in path]))


def bdp_bytes(rate_mbps: float, rtt_ms: float) -> float:
    """Bandwidth-delay product: the bytes that must be under way to keep a link busy for a round-trip time.

    Holds with the round-trip time of the empty path. Misleads with a round-trip time measured under load,
    which has the queue in it and grows with the window.

    Parameters
    ----------
    rate_mbps : float
        The bottleneck's rate in Mbit/s, above 0.
    rtt_ms : float
        Round-trip time without queueing, in ms, 0 or more.

    Returns
    -------
    float
        Bytes.

    Raises
    ------
    TheoryError
        If a parameter is out of range.

    References
    ----------
    D. Borman et al., RFC 7323, 2014, section 1.1.

    Examples
    --------
    >>> bdp_bytes(100, 16)
    200000.0
    """
    _positive("rate_mbps", rate_mbps)
    _within("rtt_ms", rtt_ms, 0, math.inf)
    return rate_mbps * BITS_PER_MEGABIT * rtt_ms / MS_PER_S / BITS_PER_BYTE


def window_limit_mbps(window_bytes: Value, rtt_ms: float) -> Value:
    """The most that a transfer with at most `window_bytes` under way can reach: a window per round-trip time.

    Holds while the link is faster than this. Misleads above the link's own limit, and where the buffer that
    was asked for is not the window: Linux doubles `SO_RCVBUF` and keeps a part of it for its own bookkeeping.

    Parameters
    ----------
    window_bytes : float or array
        Bytes that may be sent ahead of their acknowledgement, above 0.
    rtt_ms : float
        Round-trip time in ms, above 0.

    Returns
    -------
    float or array
        Goodput in Mbit/s, shaped as `window_bytes`.

    Raises
    ------
    TheoryError
        If a parameter is out of range.

    References
    ----------
    D. Borman et al., RFC 7323, 2014, section 1.1.

    Examples
    --------
    >>> window_limit_mbps(126_000, rtt_ms=16)
    63.0
    """
    _positive("window_bytes", window_bytes)
    _positive("rtt_ms", rtt_ms)
    return _like(np.asarray(window_bytes) * BITS_PER_BYTE * MS_PER_S / BITS_PER_MEGABIT / rtt_ms)


def windowed_goodput_mbps(
    window_bytes: Value, rate_mbps: float, rtt_ms: float, mss_bytes: int = MSS_BYTES, framing: Framing = "tc"
) -> Value:
    """Goodput of one TCP transfer against its window: the window's limit, then the link's.

    Holds for long transfers without loss. Misleads near the knee, where a window that is no whole number of
    segments and the acknowledgements' own time cost a few per cent.

    Parameters
    ----------
    window_bytes : float or array
        Bytes that may be sent ahead of their acknowledgement, above 0.
    rate_mbps : float
        The bottleneck's rate in Mbit/s, above 0.
    rtt_ms : float
        Round-trip time without queueing, in ms, above 0.
    mss_bytes : int
        Application bytes in a segment.
    framing : {"tc", "ethernet"}
        What counts against the rate; see `udp_wire_bytes`.

    Returns
    -------
    float or array
        Goodput in Mbit/s, shaped as `window_bytes`.

    Raises
    ------
    TheoryError
        If a parameter is out of range.

    References
    ----------
    J. Kurose, K. Ross, Computer Networking: A Top-Down Approach, 8th ed., Pearson, 2021, section 3.4.2.

    Examples
    --------
    >>> windowed_goodput_mbps(np.array([150e3, 400e3]), rate_mbps=100, rtt_ms=16).round(2)
    array([75.  , 95.64])
    """
    limit = tcp_goodput_limit_mbps(rate_mbps, mss_bytes, framing)
    return _like(np.minimum(window_limit_mbps(window_bytes, rtt_ms), limit))


def transmission_delay_ms(packet_bytes: float, rate_mbps: float) -> float:
    """Time to push a packet's bits onto a link.

    Holds for every packet of a busy link. Misleads for a packet that finds a token bucket full: the bucket
    lets it pass at once, and only the next one waits.

    Parameters
    ----------
    packet_bytes : float
        Bytes of the frame as the link counts them, 0 or more.
    rate_mbps : float
        The link's rate in Mbit/s, above 0.

    Returns
    -------
    float
        Milliseconds.

    Raises
    ------
    TheoryError
        If a parameter is out of range.

    References
    ----------
    J. Kurose, K. Ross, Computer Networking: A Top-Down Approach, 8th ed., Pearson, 2021, section 1.4.1.

    Examples
    --------
    >>> round(transmission_delay_ms(1514, rate_mbps=5), 4)
    2.4224
    """
    _within("packet_bytes", packet_bytes, 0, math.inf)
    _positive("rate_mbps", rate_mbps)
    return packet_bytes * BITS_PER_BYTE * MS_PER_S / BITS_PER_MEGABIT / rate_mbps


def propagation_delay_ms(distance_km: float, speed_km_per_s: float = 200_000.0) -> float:
    """Time that a signal needs for a distance.

    Holds for a straight cable; in fibre and copper light is about a third slower than in vacuum. Misleads as
    a guess for the Internet, where the cables' way is often twice the map's.

    Parameters
    ----------
    distance_km : float
        Kilometres, 0 or more.
    speed_km_per_s : float
        Signal speed, above 0; 200 000 in fibre.

    Returns
    -------
    float
        Milliseconds.

    Raises
    ------
    TheoryError
        If a parameter is out of range.

    References
    ----------
    J. Kurose, K. Ross, Computer Networking: A Top-Down Approach, 8th ed., Pearson, 2021, section 1.4.1.

    Examples
    --------
    >>> propagation_delay_ms(2000)
    10.0
    """
    _within("distance_km", distance_km, 0, math.inf)
    _positive("speed_km_per_s", speed_km_per_s)
    return distance_km / speed_km_per_s * MS_PER_S


def queueing_delay_ms(backlog_bytes: float, rate_mbps: float) -> float:
    """Time that a packet waits behind the bytes that stand in the queue before it.

    Holds for a FIFO queue. Misleads for fair queues, where only the packet's own flow stands before it.

    Parameters
    ----------
    backlog_bytes : float
        Bytes in the queue, as the link counts them, 0 or more.
    rate_mbps : float
        The link's rate in Mbit/s, above 0.

    Returns
    -------
    float
        Milliseconds.

    Raises
    ------
    TheoryError
        If a parameter is out of range.

    References
    ----------
    J. Kurose, K. Ross, Computer Networking: A Top-Down Approach, 8th ed., Pearson, 2021, section 1.4.2.

    Examples
    --------
    >>> round(queueing_delay_ms(100 * 1042, rate_mbps=5), 2)
    166.72
    """
    _within("backlog_bytes", backlog_bytes, 0, math.inf)
    return transmission_delay_ms(backlog_bytes, rate_mbps)


def nodal_delay_ms(
    packet_bytes: float, hop: AnyHop, *, backlog_bytes: float = 0.0, processing_ms: float = 0.0
) -> float:
    """Delay from one node to the next: processing, queueing, transmission and propagation, added up.

    Holds for a FIFO queue on a wired link. Misleads on links that share their medium, such as Wi-Fi, where
    waiting for the medium is a fifth part.

    Parameters
    ----------
    packet_bytes : float
        Bytes of the frame as the link counts them, 0 or more.
    hop : Hop
        The link.
    backlog_bytes : float
        Bytes that stand in the queue before the packet, 0 or more.
    processing_ms : float
        What the node itself takes, in ms, 0 or more; microseconds in practice.

    Returns
    -------
    float
        Milliseconds.

    Raises
    ------
    TheoryError
        If a parameter is out of range.

    References
    ----------
    J. Kurose, K. Ross, Computer Networking: A Top-Down Approach, 8th ed., Pearson, 2021, section 1.4.1.

    Examples
    --------
    >>> round(nodal_delay_ms(1514, Hop(rate_mbps=5, delay_ms=10), backlog_bytes=1514), 4)
    14.8448
    """
    _within("processing_ms", processing_ms, 0, math.inf)
    _within("delay_ms", hop.delay_ms, 0, math.inf)
    waiting = queueing_delay_ms(backlog_bytes, hop.rate_mbps)
    return processing_ms + waiting + transmission_delay_ms(packet_bytes, hop.rate_mbps) + hop.delay_ms


def path_delay_ms(path: Sequence[AnyHop], packet_bytes: float) -> float:
    """One-way delay of one packet over an idle path of store-and-forward nodes.

    Holds when every node takes in the whole packet before it sends it on. Misleads under load (queues) and
    for cut-through switches.

    Parameters
    ----------
    path : sequence of Hop
        The links in the order of travel.
    packet_bytes : float
        Bytes of the frame as the links count them, 0 or more.

    Returns
    -------
    float
        Milliseconds.

    Raises
    ------
    TheoryError
        If a parameter is out of range.

    References
    ----------
    J. Kurose, K. Ross, Computer Networking: A Top-Down Approach, 8th ed., Pearson, 2021, equation 1.1 and
    section 1.4.3.

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
    """Round-trip time of one echo over an idle path: there and back, store and forward.

    Holds for a path without other traffic whose addresses are resolved. Misleads for the first echo of a real
    network, which also waits for ARP.

    Parameters
    ----------
    path : sequence of Hop
        The links on the way there.
    payload_bytes : int
        Echo data, 0 to 65507; 56 is what `ping` sends.
    back : sequence of Hop, optional
        The links on the way back; the same ones when left out.
    framing : {"tc", "ethernet"}
        What counts against the rates; see `udp_wire_bytes`.

    Returns
    -------
    float
        Milliseconds.

    Raises
    ------
    TheoryError
        If a parameter is out of range.

    References
    ----------
    J. Postel, RFC 792, 1981 (echo); J. Kurose, K. Ross, Computer Networking, 8th ed., Pearson, 2021, section
    1.4.

    Examples
    --------
    >>> round(ping_rtt_ms([Hop(40, 10), Hop(30, 20), Hop(20, 10)]), 3)
    80.17
    """
    _within("payload_bytes", payload_bytes, 0, 65507)
    frame = payload_bytes + ICMP_HEADER_BYTES + IP_HEADER_BYTES + _framing_bytes(framing)
    return path_delay_ms(path, frame) + path_delay_ms(path if back is None else back, frame)


def segment_rtt_ms(
    path: Sequence[AnyHop], mss_bytes: int = MSS_BYTES, back: Sequence[AnyHop] | None = None, framing: Framing = "tc"
) -> float:
    """Round-trip time of one full TCP segment over an idle path: the segment there, its acknowledgement back.

    Holds when each segment leaves alone and is acknowledged at once. Misleads a little as the cycle of a real
    transfer: Linux sends several segments together, which wait for each other, and acknowledges every second.

    Parameters
    ----------
    path : sequence of Hop
        The links on the way there.
    mss_bytes : int
        Application bytes in a segment.
    back : sequence of Hop, optional
        The links on the way back; the same ones when left out.
    framing : {"tc", "ethernet"}
        What counts against the rates; see `udp_wire_bytes`.

    Returns
    -------
    float
        Milliseconds.

    Raises
    ------
    TheoryError
        If a parameter is out of range.

    References
    ----------
    J. Kurose, K. Ross, Computer Networking: A Top-Down Approach, 8th ed., Pearson, 2021, sections 1.4 and 3.4.2.

    Examples
    --------
    >>> round(segment_rtt_ms([Hop(100, 8)], framing="ethernet"), 3)
    16.13
    """
    acknowledgement = TCP_HEADER_BYTES + IP_HEADER_BYTES + _framing_bytes(framing)
    there = path_delay_ms(path, tcp_wire_bytes(mss_bytes, framing))
    return there + path_delay_ms(path if back is None else back, acknowledgement)


# TCP under loss ---------------------------------------------------------------------------------------------


def mathis_mbps(mss_bytes: int, rtt_ms: float, loss_rate: Value, c: float = MATHIS_C) -> Value:
    """Rate of a TCP flow under light loss: c segments per round-trip time over the square root of the loss
    rate.

    Holds for Reno in congestion avoidance, with losses spread thinly (below about 2 %) and neither the window
    nor the link in the way. Misleads under heavier loss, where timeouts rule (see `pftk_mbps`), on fast long
    paths for CUBIC and at any loss for BBR, which do not halve their window at a loss.

    Parameters
    ----------
    mss_bytes : int
        Application bytes in a segment, above 0.
    rtt_ms : float
        Round-trip time under load, in ms, above 0.
    loss_rate : float or array
        Chance that a segment is lost, in (0, 1].
    c : float
        sqrt(3/2) when each segment is acknowledged, sqrt(3/4) with delayed acknowledgements (periodic loss).

    Returns
    -------
    float or array
        Rate in Mbit/s, shaped as `loss_rate`.

    Raises
    ------
    TheoryError
        If a parameter is out of range.

    References
    ----------
    M. Mathis, J. Semke, J. Mahdavi, T. Ott, The macroscopic behavior of the TCP congestion avoidance
    algorithm, ACM Computer Communication Review 27(3), 1997, equation 3 and table 1.

    Examples
    --------
    >>> round(mathis_mbps(1448, rtt_ms=20, loss_rate=0.01), 3)
    7.094
    """
    _positive("mss_bytes", mss_bytes)
    _positive("rtt_ms", rtt_ms)
    _positive("c", c)
    _loss("loss_rate", loss_rate)
    return _like(_segments_mbps(c / np.sqrt(loss_rate) / (rtt_ms / MS_PER_S), mss_bytes))


def pftk_mbps(
    mss_bytes: int,
    rtt_ms: float,
    loss_rate: Value,
    *,
    rto_ms: float | None = None,
    window_segments: float = math.inf,
    acked_segments: int = 2,
) -> Value:
    """Sending rate of a TCP Reno flow from loss rate, timeout and window: the full model of Padhye and
    others.

    Holds from light loss up to some ten per cent, timeouts and a limited window included. Misleads for TCP
    with selective acknowledgements under random loss (the model loses the rest of a round after a loss, so it
    predicts too little), and where the lost share of what is sent matters: it counts segments sent, not
    delivered.

    Parameters
    ----------
    mss_bytes : int
        Application bytes in a segment, above 0.
    rtt_ms : float
        Round-trip time under load, in ms, above 0.
    loss_rate : float or array
        Chance that a segment is the first lost one of its round, in (0, 1).
    rto_ms : float, optional
        First retransmission timeout in ms, above 0; Linux's least, 200 ms above the round-trip time, when
        left out.
    window_segments : float
        The receiver's window in segments, 1 or more.
    acked_segments : int
        Segments that one acknowledgement covers: 2 with delayed acknowledgements, else 1.

    Returns
    -------
    float or array
        Rate in Mbit/s, shaped as `loss_rate`.

    Raises
    ------
    TheoryError
        If a parameter is out of range.

    References
    ----------
    J. Padhye, V. Firoiu, D. Towsley, J. Kurose, Modeling TCP throughput: a simple model and its empirical
    validation, ACM SIGCOMM 1998, equation 31.

    Examples
    --------
    >>> round(pftk_mbps(1448, rtt_ms=20, loss_rate=0.01), 2)
    3.96
    """
    _positive("mss_bytes", mss_bytes)
    _positive("rtt_ms", rtt_ms)
    _loss("loss_rate", loss_rate, below_one=True)
    rto = (rtt_ms + 200 if rto_ms is None else rto_ms) / MS_PER_S
    _positive("rto_ms", rto)
    _within("window_segments", window_segments, 1, math.inf)
    _within("acked_segments", acked_segments, 1, math.inf)
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
    return _like(_segments_mbps(sent / took, mss_bytes))


def parallel_streams_mbps(
    streams: Value, mss_bytes: int, rtt_ms: float, loss_rate: float, rate_mbps: float = math.inf
) -> Value:
    """Rate of K parallel TCP streams under random loss: K times one stream, up to what the link gives.

    Holds while the losses come from elsewhere than the streams themselves. Misleads once they fill the link:
    then they cause the losses, and the sum stays at the link's limit.

    Parameters
    ----------
    streams : float or array
        Number of streams K, 1 or more.
    mss_bytes : int
        Application bytes in a segment, above 0.
    rtt_ms : float
        Round-trip time in ms, above 0.
    loss_rate : float
        Chance that a segment is lost, in (0, 1].
    rate_mbps : float
        The most that the link gives, as goodput in Mbit/s, above 0.

    Returns
    -------
    float or array
        Sum over the streams in Mbit/s, shaped as `streams`.

    Raises
    ------
    TheoryError
        If a parameter is out of range.

    References
    ----------
    T. Hacker, B. Athey, B. Noble, The end-to-end performance effects of parallel TCP sockets on a lossy
    wide-area network, IPDPS 2002, section 3 (the sum over the streams of each one's bound by Mathis).

    Examples
    --------
    >>> parallel_streams_mbps(np.array([1.0, 8.0]), 1448, rtt_ms=20, loss_rate=0.01, rate_mbps=50).round(2)
    array([ 7.09, 50.  ])
    """
    _within("streams", streams, 1, math.inf)
    _positive("rate_mbps", rate_mbps)
    return _like(np.minimum(np.asarray(streams) * mathis_mbps(mss_bytes, rtt_ms, loss_rate), rate_mbps))


# Flows that do not slow down --------------------------------------------------------------------------------


def acceptance_ratio(arriving_mbps: ArrayLike, capacity_mbps: float) -> float:
    """Share of the arriving traffic that a FIFO link sends on.

    Holds for unresponsive flows over a long time. Misleads for flows in step with each other; see
    `udp_shares_mbps`.

    Parameters
    ----------
    arriving_mbps : array
        Rates that arrive, headers included, in Mbit/s, 0 or more.
    capacity_mbps : float
        The link's rate in Mbit/s, above 0.

    Returns
    -------
    float
        Fraction in (0, 1].

    Raises
    ------
    TheoryError
        If a parameter is out of range.

    References
    ----------
    J.-Y. Le Boudec, Rate adaptation, congestion control and fairness: a tutorial, EPFL, 2021, section 1.1.

    Examples
    --------
    >>> round(acceptance_ratio([1, 10], capacity_mbps=1.5), 3)
    0.136
    """
    _within("arriving_mbps", arriving_mbps, 0, math.inf)
    _positive("capacity_mbps", capacity_mbps)
    total = float(np.sum(arriving_mbps))
    return min(1.0, capacity_mbps / total) if total > 0 else 1.0


def two_router_collapse_mbps(offered_mbps: ArrayLike, shared_mbps: float, exits_mbps: ArrayLike) -> Array:
    """What unresponsive flows deliver when they share one link and then leave by links of their own.

    Holds for constant-rate senders. It is the smallest picture of congestion collapse: what a narrow exit
    drops has already taken its share of the common link from the others.

    Parameters
    ----------
    offered_mbps : array
        Rate of each flow as it arrives, headers included, in Mbit/s, 0 or more.
    shared_mbps : float
        Rate of the common link in Mbit/s, above 0.
    exits_mbps : array
        Rate of each flow's own last link in Mbit/s, above 0.

    Returns
    -------
    array
        Delivered rate of each flow, headers included, in Mbit/s.

    Raises
    ------
    TheoryError
        If a parameter is out of range.

    References
    ----------
    J.-Y. Le Boudec, Rate adaptation, congestion control and fairness: a tutorial, EPFL, 2021, section 1.1,
    figure 1.

    Examples
    --------
    >>> two_router_collapse_mbps([1, 10], shared_mbps=1.5, exits_mbps=[1, 0.5]).round(3)
    array([0.136, 0.5  ])
    """
    _positive("exits_mbps", exits_mbps)
    offered = np.asarray(offered_mbps, dtype=float)
    exits = np.asarray(exits_mbps, dtype=float)
    return cast(Array, np.minimum(offered * acceptance_ratio(offered, shared_mbps), exits))


def two_router_fair_queue_mbps(offered_mbps: ArrayLike, shared_mbps: float, exits_mbps: ArrayLike) -> Array:
    """What unresponsive flows deliver when the common link of `two_router_collapse_mbps` has a fair queue.

    Holds for constant-rate senders and a queue that divides the link max-min fairly among flows (DRR,
    `fq_codel`). It protects a modest flow up to its fair share of the common link, and knows nothing of what
    the exits will drop. Misleads where one sender opens several flows: each of them gets a share.

    Parameters
    ----------
    offered_mbps : array
        Rate of each flow as it arrives, headers included, in Mbit/s, above 0.
    shared_mbps : float
        Rate of the common link in Mbit/s, above 0.
    exits_mbps : array
        Rate of each flow's own last link in Mbit/s, above 0.

    Returns
    -------
    array
        Delivered rate of each flow, headers included, in Mbit/s.

    Raises
    ------
    TheoryError
        If a parameter is out of range.

    References
    ----------
    S. Floyd, K. Fall, Promoting the use of end-to-end congestion control in the Internet, IEEE/ACM
    Transactions on Networking 7(4), 1999, section II.

    Examples
    --------
    >>> two_router_fair_queue_mbps([1, 10], shared_mbps=1.5, exits_mbps=[1, 0.5])
    array([0.75, 0.5 ])
    """
    _positive("exits_mbps", exits_mbps)
    demands = dict(enumerate(np.asarray(offered_mbps, dtype=float).tolist()))
    shares = max_min_mbps({"shared": shared_mbps}, {flow: ["shared"] for flow in demands}, demands)
    return cast(Array, np.minimum([shares[flow] for flow in demands], np.asarray(exits_mbps, dtype=float)))


def fifo_network(
    capacities_mbps: Mapping[Link, float],
    routes: Mapping[Flow, Sequence[Link]],
    offered_mbps: Mapping[Flow, float],
    *,
    tolerance: float = 1e-12,
) -> FifoNetwork:
    """What unresponsive flows deliver over any network of FIFO links.

    Holds for constant-rate senders over a long time: each link accepts the same share of every flow that
    reaches it, and the shares are the fixed point of that rule. Misleads for flows that adapt, such as TCP.

    Parameters
    ----------
    capacities_mbps : mapping of link to float
        Rate of each link in Mbit/s, above 0; infinite is allowed.
    routes : mapping of flow to sequence of links
        The links of each flow in the order of travel.
    offered_mbps : mapping of flow to float
        What each flow sends, headers included, in Mbit/s, 0 or more.
    tolerance : float
        Largest relative change of any acceptance ratio in the last round, above 0.

    Returns
    -------
    FifoNetwork
        Delivered rate by flow in Mbit/s and acceptance ratio by link.

    Raises
    ------
    TheoryError
        If a flow or link is unknown, a rate is out of range or no fixed point is found.

    References
    ----------
    J.-Y. Le Boudec, Rate adaptation, congestion control and fairness: a tutorial, EPFL, 2021, section 1.1
    (the ring, whose delivered rate falls as c**2/x when each source sends x into links of rate c).

    Examples
    --------
    >>> network = fifo_network({"N1-N2": 1.5, "N2-B": 1, "N2-D": 0.5},
    ...                        {"AB": ["N1-N2", "N2-B"], "CD": ["N1-N2", "N2-D"]}, {"AB": 1, "CD": 10})
    >>> {flow: round(rate, 3) for flow, rate in network.delivered_mbps.items()}
    {'AB': 0.136, 'CD': 0.5}
    """
    _check_network(capacities_mbps, routes)
    _check_flows("offered_mbps", offered_mbps, routes)
    for flow in routes:
        _within(f"offered_mbps of {flow}", offered_mbps[flow], 0, math.inf)
    acceptance = dict.fromkeys(capacities_mbps, 1.0)
    for _ in range(10_000):
        arriving = dict.fromkeys(capacities_mbps, 0.0)
        delivered: dict[Flow, float] = {}
        for flow, route in routes.items():
            rate = offered_mbps[flow]
            for link in route:
                arriving[link] += rate
                rate *= acceptance[link]
            delivered[flow] = rate
        change = 0.0
        for link, capacity in capacities_mbps.items():
            # Half steps, because whole ones can oscillate for ever.
            step = (acceptance_ratio(arriving[link], capacity) - acceptance[link]) / 2
            acceptance[link] += step
            change = max(change, abs(step) / acceptance[link])
        if change < tolerance:
            return FifoNetwork(delivered, acceptance)
    raise TheoryError(
        f"The acceptance ratios did not settle: they still change by {change:.1e}, allowed is "
        f"{tolerance:.1e}. Give a larger tolerance."
    )


# Fairness ---------------------------------------------------------------------------------------------------


def max_min_mbps(
    capacities_mbps: Mapping[Link, float],
    routes: Mapping[Flow, Sequence[Link]],
    demands_mbps: Mapping[Flow, float] | None = None,
) -> dict[Flow, float]:
    """The max-min fair allocation, by water-filling: nobody can get more without taking from someone who has
    less.

    Holds as what fair queueing at every link tends to. Misleads as a forecast for TCP, which gives less to
    flows with long round-trip times and many bottlenecks.

    Parameters
    ----------
    capacities_mbps : mapping of link to float
        Rate of each link in Mbit/s, above 0; infinite is allowed.
    routes : mapping of flow to sequence of links
        The links of each flow.
    demands_mbps : mapping of flow to float, optional
        What a flow wants at most, in Mbit/s, above 0; flows left out want all they can get.

    Returns
    -------
    dict of flow to float
        Rate of each flow in Mbit/s, headers included.

    Raises
    ------
    TheoryError
        If a flow or link is unknown, a rate is out of range, or nothing limits a flow.

    References
    ----------
    D. Bertsekas, R. Gallager, Data Networks, 2nd ed., Prentice Hall, 1992, section 6.5.2.

    Examples
    --------
    >>> max_min_mbps({"r1-r2": 5, "r2-r3": 8}, {"long": ["r1-r2", "r2-r3"], "a": ["r1-r2"], "b": ["r2-r3"]})
    {'long': 2.5, 'a': 2.5, 'b': 5.5}
    """
    limits, users = _limits(capacities_mbps, routes, demands_mbps)
    rates = dict.fromkeys(routes, 0.0)
    rising = set(routes)
    while rising:
        room = {
            limit: (limits[limit] - math.fsum(rates[flow] for flow in users[limit])) / len(users[limit] & rising)
            for limit in limits
            if users[limit] & rising
        }
        step = min(room.values())
        full = [limit for limit, left in room.items() if left <= step * (1 + 1e-12) + 1e-15]
        for flow in rising:
            rates[flow] += step
        rising -= set().union(*(users[limit] for limit in full))
    return rates


def proportional_fair_mbps(
    capacities_mbps: Mapping[Link, float],
    routes: Mapping[Flow, Sequence[Link]],
    demands_mbps: Mapping[Flow, float] | None = None,
) -> dict[Flow, float]:
    """The proportionally fair allocation: the one with the largest sum of logarithms of the rates.

    Holds as a sketch of what many loss-based flows share out among themselves: long paths get less than under
    max-min fairness, but not nothing. Misleads for flows with very different round-trip times.

    Parameters
    ----------
    capacities_mbps : mapping of link to float
        Rate of each link in Mbit/s, above 0; infinite is allowed.
    routes : mapping of flow to sequence of links
        The links of each flow.
    demands_mbps : mapping of flow to float, optional
        What a flow wants at most, in Mbit/s, above 0; flows left out want all they can get.

    Returns
    -------
    dict of flow to float
        Rate of each flow in Mbit/s, headers included.

    Raises
    ------
    TheoryError
        If a flow or link is unknown, a rate is out of range, nothing limits a flow or the solver gives up.

    References
    ----------
    F. Kelly, A. Maulloo, D. Tan, Rate control for communication networks: shadow prices, proportional
    fairness and stability, Journal of the Operational Research Society 49(3), 1998, section 2.

    Examples
    --------
    >>> shares = proportional_fair_mbps({"r1-r2": 3, "r2-r3": 3},
    ...                                 {"long": ["r1-r2", "r2-r3"], "a": ["r1-r2"], "b": ["r2-r3"]})
    >>> {flow: round(rate, 4) for flow, rate in shares.items()}
    {'long': 1.0, 'a': 2.0, 'b': 2.0}
    """
    from scipy.optimize import LinearConstraint, minimize  # 0.2 s that only this formula needs

    start = max_min_mbps(capacities_mbps, routes, demands_mbps)
    limits, users = _limits(capacities_mbps, routes, demands_mbps)
    # In units of the max-min rates every variable is near 1, whatever the links' rates are.
    scale = np.array([start[flow] for flow in routes])
    used = np.array([[flow in users[limit] for flow in routes] for limit in limits]) * scale
    room = np.array(list(limits.values()))
    used, room = used / room[:, None], np.ones_like(room)
    found = minimize(
        lambda x: -np.sum(np.log(x)),
        np.full(len(scale), 0.9),
        jac=lambda x: -1 / x,
        bounds=[(1e-9, None)] * len(scale),
        constraints=LinearConstraint(used, ub=room),
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    if not found.success:
        raise TheoryError(f"The proportionally fair allocation was not found: {found.message}.")
    feasible = found.x / max(1.0, float(np.max(used @ found.x)))
    return {flow: float(rate) for flow, rate in zip(routes, feasible * scale, strict=True)}


def jain_index(rates: ArrayLike) -> float:
    """Jain's fairness index: 1 when all rates are equal, 1/n when one of n flows has everything.

    Holds for flows that deserve the same. Misleads for flows with different bottlenecks or demands: an
    allocation can be max-min fair and still score below 1.

    Parameters
    ----------
    rates : array
        Rate of each flow in any one unit, 0 or more, not all 0.

    Returns
    -------
    float
        Index in [1/n, 1].

    Raises
    ------
    TheoryError
        If there is no rate, a negative one, or only zeros.

    References
    ----------
    R. Jain, D. Chiu, W. Hawe, A quantitative measure of fairness and discrimination for resource allocation
    in shared computer systems, DEC Research Report TR-301, 1984, equation 1.

    Examples
    --------
    >>> jain_index([1, 1]), jain_index([1, 0]), round(jain_index([1, 3]), 6)
    (1.0, 0.5, 0.8)
    """
    _within("rates", rates, 0, math.inf)
    values = np.asarray(rates, dtype=float)
    if not np.any(values > 0):
        raise TheoryError("Jain's index needs at least one rate above 0, and there is none.")
    shares = values / np.max(values)  # squares of very small or large rates would leave the floats' range
    return float(np.sum(shares) ** 2 / (shares.size * np.sum(shares**2)))


# Helpers ----------------------------------------------------------------------------------------------------


def _segments_mbps(segments_per_s: Array, mss_bytes: int) -> Array:
    return segments_per_s * mss_bytes * BITS_PER_BYTE / BITS_PER_MEGABIT


def _timeout_chance(p: Array, window: Array) -> Array:
    """Chance that a loss ends in a timeout rather than in three duplicate acknowledgements (Padhye)."""
    # 1 - (1-p)**k cancels for small p; expm1 and log1p keep its digits.
    keep = np.log1p(-p)
    tail = -np.expm1(np.maximum(window - 3, 0) * keep)
    chance = -np.expm1(3 * keep) * (1 + (1 - p) ** 3 * tail) / -np.expm1(window * keep)
    return cast(Array, np.minimum(1.0, chance))


def _limits(
    capacities_mbps: Mapping[Link, float],
    routes: Mapping[Flow, Sequence[Link]],
    demands_mbps: Mapping[Flow, float] | None,
) -> tuple[dict[Hashable, float], dict[Hashable, set[Flow]]]:
    """Every finite constraint (a used link, a flow's demand) with its rate and the flows under it."""
    _check_network(capacities_mbps, routes)
    limits: dict[Hashable, float] = {}
    users: dict[Hashable, set[Flow]] = {}
    for link, capacity in capacities_mbps.items():
        flows = {flow for flow, route in routes.items() if link in route}
        if flows and math.isfinite(capacity):
            limits["link", link], users["link", link] = float(capacity), flows
    for flow, demand in (demands_mbps or {}).items():
        if flow not in routes:
            raise TheoryError(f"demands_mbps names the flow {flow!r}, which has no route; give it one.")
        _positive(f"demands_mbps of {flow}", demand)
        if math.isfinite(demand):
            limits["demand", flow], users["demand", flow] = float(demand), {flow}
    free = set(routes) - set().union(*users.values())
    if free:
        flow_name = min(map(str, free))
        raise TheoryError(f"Nothing limits the flow {flow_name}: give one of its links a rate, or a demand.")
    return limits, users


def _check_network(capacities_mbps: Mapping[Link, float], routes: Mapping[Flow, Sequence[Link]]) -> None:
    for link, capacity in capacities_mbps.items():
        _positive(f"capacities_mbps of {link}", capacity)
    for flow, route in routes.items():
        unknown = [link for link in route if link not in capacities_mbps]
        if unknown:
            raise TheoryError(f"Flow {flow} uses link {unknown[0]!r}, which has no capacity; give it one.")


def _check_flows(name: str, values: Mapping[Flow, float], routes: Mapping[Flow, Sequence[Link]]) -> None:
    odd = set(values) ^ set(routes)
    if odd:
        only = min(map(str, odd))
        raise TheoryError(f"{name} and routes must name the same flows; {only} is in one of them only.")


def _framing_bytes(framing: Framing) -> int:
    if framing not in FRAMING_BYTES:
        raise TheoryError(f"framing must be one of {', '.join(FRAMING_BYTES)}, got {framing!r}.")
    return FRAMING_BYTES[framing]


def _like(result: ArrayLike) -> Value:  # type: ignore[type-var]
    """A plain float for numbers, an array for arrays."""
    array = np.asarray(result, dtype=float)
    return cast(Value, float(array) if array.ndim == 0 else array)


def _positive(name: str, value: ArrayLike) -> None:
    if not np.all(np.asarray(value) > 0):
        raise TheoryError(f"{name} must be above 0, got {value!r}.")


def _within(name: str, value: ArrayLike, low: float, high: float) -> None:
    array = np.asarray(value)
    if not np.all((array >= low) & (array <= high)):
        allowed = f"{low:g} or more" if high == math.inf else f"between {low:g} and {high:g}"
        raise TheoryError(f"{name} must be {allowed}, got {value!r}.")


def _loss(name: str, value: ArrayLike, below_one: bool = False) -> None:
    array = np.asarray(value)
    if np.all((array > 0) & ((array < 1) | ((array == 1) & (not below_one)))):
        return
    allowed = "(0, 1)" if below_one else "(0, 1]"
    hint = f"; for {float(array):g} % write {float(array) / 100:g}" if array.ndim == 0 and array > 1 else ""
    raise TheoryError(f"{name} must be in {allowed}, got {value!r}{hint}.")
