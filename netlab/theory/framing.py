"""Overhead of headers and framing on a link."""

import math
from typing import Literal

from netlab.base.headers import (
    ETHERNET_HEADER_BYTES,
    ETHERNET_WIRE_BYTES,
    IP_HEADER_BYTES,
    MSS_BYTES,
    MTU_BYTES,
    TCP_HEADER_BYTES,
    UDP_HEADER_BYTES,
)
from netlab.theory.ranges import TheoryError, check_positive, check_range

__all__ = [
    "FRAMING_BYTES", "Framing", "tcp_goodput_limit_mbps", "tcp_wire_bytes", "udp_goodput_limit_mbps",
    "udp_wire_bytes",
]  # fmt: skip

Framing = Literal["tc", "ethernet", "ip"]

FRAMING_BYTES: dict[Framing, int] = {"tc": ETHERNET_HEADER_BYTES, "ethernet": ETHERNET_WIRE_BYTES, "ip": 0}
"""The overhead per frame that a link's rate includes besides the IP packet: as in the kernel's queue disciplines, as on a wire, or none."""


def framing_bytes(framing: Framing) -> int:
    """Return the bytes that "tc", "ethernet" or "ip" adds to each IP packet (14, 38, 0); TheoryError for another."""
    if framing not in FRAMING_BYTES:
        raise TheoryError(f"framing must be one of {', '.join(FRAMING_BYTES)}, got {framing!r}.")
    return FRAMING_BYTES[framing]


def udp_wire_bytes(payload_bytes: int, framing: Framing = "tc") -> int:
    """Return the bytes that a datagram with this payload takes from a link's rate, with headers and framing ("tc" adds
    14 bytes per packet, "ethernet" 38, "ip" none). Raises TheoryError for an impossible payload or framing.

    Holds on any link whose rate is counted as `framing` says, and counts the fragments of a datagram that exceeds the
    MTU of 1500 bytes. Misleads below 18 bytes of payload, where a real wire pads the frame and `tc` does not.

    Returns: Bytes per datagram.
    Source: J. Postel, RFC 768, 1980; J. Postel, RFC 791, 1981, section 3.1; IEEE 802.3.
    Raises: If the payload does not fit a datagram or the framing is unknown.

    Parameters
    ----------
    framing : {"tc", "ethernet", "ip"}
        "tc" counts 14 bytes, the Ethernet header; "ethernet" 38, with preamble, check sequence and gap; "ip" none.

    Examples
    --------
    >>> udp_wire_bytes(1000), udp_wire_bytes(1000, "ethernet")
    (1042, 1066)
    """
    check_range("payload_bytes", payload_bytes, 1, 65507)
    fragments = math.ceil((payload_bytes + UDP_HEADER_BYTES) / (MTU_BYTES - IP_HEADER_BYTES))
    return payload_bytes + UDP_HEADER_BYTES + fragments * (IP_HEADER_BYTES + framing_bytes(framing))


def tcp_wire_bytes(mss_bytes: int = MSS_BYTES, framing: Framing = "tc") -> int:
    """Return a segment's bytes on the wire with `mss_bytes` of data, headers and framing; TheoryError if out of range.

    Holds for segments with timestamps and no other option, as Linux sends them. Misleads where a capture
    shows segments above the MTU: those are split before the wire, and each piece carries its own headers.

    Returns: Bytes per segment.
    Source: W. Eddy, RFC 9293, 2022, section 3.1; D. Borman et al., RFC 7323, 2014, section 3.2.
    Raises: If the segment size is out of range or the framing is unknown.

    Parameters
    ----------
    mss_bytes : int
        Application bytes in a segment, 1 to 1448 for an MTU of 1500; up to 8948 for jumbo frames.

    Examples
    --------
    >>> tcp_wire_bytes(), tcp_wire_bytes(framing="ethernet")
    (1514, 1538)
    """
    check_range("mss_bytes", mss_bytes, 1, 65483)
    return mss_bytes + TCP_HEADER_BYTES + IP_HEADER_BYTES + framing_bytes(framing)


def udp_goodput_limit_mbps(rate_mbps: float, payload_bytes: int = 1000, framing: Framing = "tc") -> float:
    """Return the largest rate of UDP data with this payload over a link, in Mbit/s; TheoryError if out of range.

    Holds for a link that is never idle. Misleads for fragmented datagrams (more than 1472 bytes) on an
    overloaded link: one lost fragment loses them whole.

    Returns: Goodput in Mbit/s.
    Source: J. Kurose, K. Ross, Computer Networking: A Top-Down Approach, 8th ed., 2021, sections 1.4.4 and 6.4.

    Examples
    --------
    >>> round(udp_goodput_limit_mbps(5, 1000), 3), round(udp_goodput_limit_mbps(5, 1000, "ethernet"), 3)
    (4.798, 4.69)
    """
    check_positive("rate_mbps", rate_mbps)
    return rate_mbps * payload_bytes / udp_wire_bytes(payload_bytes, framing)


def tcp_goodput_limit_mbps(rate_mbps: float, mss_bytes: int = MSS_BYTES, framing: Framing = "tc") -> float:
    """Return the largest rate of TCP data with this segment size over a link, in Mbit/s; TheoryError if out of range.

    Holds once the connection has filled the link, however many connections share it. Misleads for short transfers (slow
    start), for windows below the bandwidth-delay product and where losses keep the window small.

    Returns: Goodput in Mbit/s.
    Source: J. Kurose, K. Ross, Computer Networking: A Top-Down Approach, 8th ed., 2021, sections 1.4.4 and 3.5.

    Parameters
    ----------
    mss_bytes : int
        Application bytes in a segment; 1448 for an MTU of 1500 with timestamps.

    Examples
    --------
    >>> round(tcp_goodput_limit_mbps(5), 3)
    4.782
    """
    check_positive("rate_mbps", rate_mbps)
    return rate_mbps * mss_bytes / tcp_wire_bytes(mss_bytes, framing)
