"""Throughput of a shared half-duplex medium: 802.11g, frame by frame."""

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from netlab.base import bisection
from netlab.base.headers import IP_HEADER_BYTES, MSS_BYTES, MTU_BYTES, TCP_HEADER_BYTES, UDP_HEADER_BYTES
from netlab.base.units import BITS_PER_BYTE
from netlab.network import media
from netlab.network.media import MAX_WINDOW, MIN_WINDOW, Wifi
from netlab.theory.ranges import TheoryError, check_range

__all__ = ["Saturation", "wifi_exchange_us", "wifi_saturation", "wifi_tcp_limit_mbps", "wifi_udp_limit_mbps"]

MAX_STATIONS = 200


class Saturation(NamedTuple):
    """The total throughput of the stations of a medium that always have a frame to send.

    Attributes
    ----------
    goodput_mbps : float
        Application data of all stations, in Mbit/s.
    collision_probability : float
        Share of the frames sent that collide.
    """

    goodput_mbps: float
    collision_probability: float


def wifi_exchange_us(packet_bytes: int, options: Mapping[str, Any] | None = None) -> float:
    """Return one IP packet's mean time in us on 802.11g with `options`, sent alone; TheoryError if out of range.

    DIFS, the mean backoff of 7.5 slots, protection, frame, SIFS and acknowledgement. Holds for one sender that always has
    a next frame, none of which is lost. Misleads for a station that sends now and then: it does not wait for its backoff.

    Returns: Time in us.
    Source: IEEE 802.11-2016, clauses 10.3.3, 10.3.4 and 17.4.3; J. Jun, P. Peddabachagari, M. Sichitiu, Theoretical maximum
    throughput of IEEE 802.11 and its applications, IEEE NCA, 2003.
    Raises: If the packet or an option is out of range.

    Parameters
    ----------
    packet_bytes : int
        The IP packet, 20 to 1500 bytes.

    Examples
    --------
    The largest packet: 28 + 67.5 + 254 + 10 + 34.

    >>> wifi_exchange_us(1500)
    393.5
    """
    check_range("packet_bytes", packet_bytes, IP_HEADER_BYTES, MTU_BYTES)
    wifi = _wifi(options)
    return wifi.difs_us + MIN_WINDOW / 2 * wifi.slot_us + wifi.exchange_us(packet_bytes)


def wifi_udp_limit_mbps(payload_bytes: int, options: Mapping[str, Any] | None = None) -> float:
    """Return the largest goodput in Mbit/s of one UDP sender on 802.11g with `options`; TheoryError if out of range.

    Holds for a sender that always has a datagram waiting, alone on the medium. Misleads where others send too (see
    `wifi_saturation`) and where frames are lost on the air.

    Returns: Goodput in Mbit/s.
    Source: Jun et al., 2003: payload over the time of one exchange; with the timing of ERP-OFDM.
    Raises: If the payload or an option is out of range.

    Parameters
    ----------
    payload_bytes : int
        Application bytes in a datagram, 1 to 1472.

    Examples
    --------
    >>> round(wifi_udp_limit_mbps(1472), 2), round(wifi_udp_limit_mbps(100), 2)
    (29.93, 4.13)
    """
    check_range("payload_bytes", payload_bytes, 1, MTU_BYTES - IP_HEADER_BYTES - UDP_HEADER_BYTES)
    packet_bytes = payload_bytes + UDP_HEADER_BYTES + IP_HEADER_BYTES
    return payload_bytes * BITS_PER_BYTE / wifi_exchange_us(packet_bytes, options)


def wifi_tcp_limit_mbps(
    mss_bytes: int = MSS_BYTES,
    options: Mapping[str, Any] | None = None,
    *,
    segments_per_ack: float = 2,
    contention: bool = True,
) -> float:
    """Return the goodput in Mbit/s of one TCP flow over 802.11g with `options` and an ACK on the medium per
    `segments_per_ack`; `contention` False leaves out what both ends do to each other. TheoryError if out of range.

    Without `contention` it is the simple budget: the exchanges of `segments_per_ack` segments and of one acknowledgement,
    each with a backoff of its own. With it, both ends count their backoffs at the same time: the sender always has a segment
    waiting, so every idle slot is one of its own. And both may begin in the same slot, which costs a collision, a DIFS and a
    longer backoff. Holds for a window that keeps the sender's queue filled and for no loss. Misleads where the receiver
    acknowledges more often than assumed, as after a loss: count its frames.

    Returns: Goodput in Mbit/s.
    Source: The simple budget: J. Jun et al., 2003, for TCP. The other: the conservation of idle slots, and `collisions_per_ack`.
    R. Bruno, M. Conti, E. Gregori, Throughput analysis and measurements in IEEE 802.11 WLANs with TCP and UDP traffic flows,
    IEEE Transactions on Mobile Computing 7 (2), 2008, treat more stations.
    Raises: If the segment or an option is out of range.

    Parameters
    ----------
    mss_bytes : int
        Application bytes in a segment, 1 to 1448.
    segments_per_ack : float
        Segments for each acknowledgement, at least 1: 2 with delayed ACKs (RFC 9293, section 3.8.6.3).
    contention : bool
        False leaves out what two ends do to each other.

    Examples
    --------
    >>> round(wifi_tcp_limit_mbps(contention=False), 2), round(wifi_tcp_limit_mbps(), 2)
    (23.92, 24.27)
    """
    check_range("mss_bytes", mss_bytes, 1, MSS_BYTES)
    check_range("segments_per_ack", segments_per_ack, 1, MTU_BYTES)
    headers_bytes = IP_HEADER_BYTES + TCP_HEADER_BYTES
    packet_bytes = mss_bytes + headers_bytes
    if not contention:
        data_us, ack_us = wifi_exchange_us(packet_bytes, options), wifi_exchange_us(headers_bytes, options)
        return segments_per_ack * mss_bytes * BITS_PER_BYTE / (segments_per_ack * data_us + ack_us)
    wifi = _wifi(options)
    collisions = collisions_per_ack()
    slots = segments_per_ack * MIN_WINDOW / 2 + collisions * (2 * MIN_WINDOW + 1) / 2
    took_us = (
        segments_per_ack * wifi.exchange_us(packet_bytes)
        + wifi.exchange_us(headers_bytes)
        + collisions * wifi.collision_us(packet_bytes)
        + (segments_per_ack + 1 + collisions) * wifi.difs_us
        + slots * wifi.slot_us
    )
    return segments_per_ack * mss_bytes * BITS_PER_BYTE / took_us


@cache
def collisions_per_ack() -> float:
    """Return the mean number of collisions of a TCP acknowledgement with data of a sender that is never idle.

    Both draw from 0 to 15 slots. Where the sender's are fewer, it sends, draws anew, and the acknowledgement keeps its rest;
    where they are equal, both draw again from twice the window. Holds for one acknowledgement at a time.

    Returns
    -------
    float
        Collisions for each acknowledgement.

    References
    ----------
    IEEE 802.11-2016, clause 10.3.4.3; solved here as a chain, from the widest window down.

    Examples
    --------
    >>> round(collisions_per_ack(), 3)
    0.115
    """
    sender = MIN_WINDOW + 1
    after_collision = 0.0
    for stage in reversed(range(4)):
        window = sender << stage
        # Expected collisions by the remaining backoff of the acknowledgement when the sender draws again.
        left: list[float] = []
        for slots in range(window):
            fewer = sum(left[slots - drawn] for drawn in range(1, min(slots, sender)))
            equal = (1 + after_collision) * (slots < sender)
            # A draw of 0 changes nothing.
            left.append((fewer + equal) / (sender - (slots > 0)))
        if stage == 0:
            return sum(left) / window
        # Both have just collided, and draw from the same window.
        both = [(1 + after_collision) + sum(left[1 : window - drawn]) for drawn in range(window)]
        after_collision = sum(both) / window**2
    raise AssertionError("stage 0 returns")


def wifi_saturation(stations: int, payload_bytes: int, options: Mapping[str, Any] | None = None) -> Saturation:
    """Return the throughput and collisions of UDP `stations` on one 802.11g medium that always have a datagram waiting.
    Raises TheoryError for a parameter out of range.

    Bianchi's fixed point. Holds for stations that hear each other and for frames lost by collision alone. It lets a
    backoff stand still in a busy slot only on average, and never gives a frame up, so for two stations it says
    2 % too much (measured: 30.2 Mbit/s where it has 30.7).

    Returns: Goodput of all in Mbit/s, and the share of the frames that collide.
    Source: G. Bianchi, Performance analysis of the IEEE 802.11 distributed coordination function, IEEE Journal on Selected Areas in
    Communications 18 (3), 2000: the fixed point of two probabilities, and the throughput that follows.

    Parameters
    ----------
    stations : int
        Senders, 1 to 200.
    payload_bytes : int
        Application bytes in a datagram, 1 to 1472.

    Examples
    --------
    One station alone has the limit of `wifi_udp_limit_mbps`.

    >>> [round(wifi_saturation(n, 1472).goodput_mbps, 2) for n in (1, 2, 10)]
    [29.93, 30.7, 26.96]
    """
    check_range("stations", stations, 1, MAX_STATIONS)
    check_range("payload_bytes", payload_bytes, 1, MTU_BYTES - IP_HEADER_BYTES - UDP_HEADER_BYTES)
    wifi = _wifi(options)
    packet_bytes = payload_bytes + UDP_HEADER_BYTES + IP_HEADER_BYTES
    window = MIN_WINDOW + 1
    doublings = ((MAX_WINDOW + 1) // window).bit_length() - 1

    def attempt_rate(collision: float) -> float:
        """Return the probability that a station sends in a slot, from the probability that a frame collides."""
        # Bianchi's formula with its common factor (1 - 2p) divided out, so that p = 1/2 is not an exception.
        powers = sum((2 * collision) ** k for k in range(doublings))
        return 2 / (1 + window + collision * window * powers)

    # More collisions make stations try less often, which makes fewer collisions: find the probability that reproduces itself.
    collision = (
        bisection.bisect_largest(lambda share: 1 - (1 - attempt_rate(share)) ** (stations - 1) > share, 0.0, 1.0)
        if stations > 1
        else 0.0
    )
    rate = attempt_rate(collision)
    busy = 1 - (1 - rate) ** stations
    success = stations * rate * (1 - rate) ** (stations - 1)
    slot_us = (
        (1 - busy) * wifi.slot_us
        + success * (wifi.difs_us + wifi.exchange_us(packet_bytes))
        + (busy - success) * (wifi.difs_us + wifi.collision_us(packet_bytes))
    )
    return Saturation(success * payload_bytes * BITS_PER_BYTE / slot_us, collision)


def _wifi(options: Mapping[str, Any] | None) -> Wifi:
    """Return the medium 802.11g with these options. Raises TheoryError if one is wrong."""
    wrong = list(media.problems("802.11g", options or {}))
    if wrong:
        raise TheoryError(f"{wrong[0]}.")
    return Wifi(**(options or {}))
