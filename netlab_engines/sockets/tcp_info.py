"""The state of a TCP connection in the kernel (`struct tcp_info`), with units in the names."""

import socket
import struct
from dataclasses import dataclass

from netlab.base.units import US_PER_MS, rate_mbps

CA_STATES = ("open", "disorder", "cwr", "recovery", "loss")
_SIZE = 248
INFINITE_SSTHRESH = 0x7FFFFFFF
UNKNOWN_U32 = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class TcpInfo:
    """A snapshot of the state of a TCP connection: the fields of the kernel's `struct tcp_info` that netlab uses, with
    units in their names.

    A field is None where the running kernel is older than the field, and where the kernel says 'no value
    yet': `ssthresh_segments` before the first loss, `rtt_min_ms` before the first sample.

    Counters (`retransmits`, `bytes_*`, `data_segments_*`, ...) run from the start of the connection.
    `retransmits` counts segments sent again; `bytes_received` is what arrived in order, read by the
    application or not; `delivery_rate_mbps` is the kernel's latest own estimate and is not a mean over any
    interval.
    """

    ca_state: str
    snd_mss_bytes: int | None
    last_data_received_ms: int | None
    rtt_ms: float | None
    rtt_min_ms: float | None
    cwnd_segments: int | None
    ssthresh_segments: int | None
    retransmits: int | None
    delivery_rate_mbps: float | None
    bytes_acked: int | None
    bytes_received: int | None
    bytes_sent: int | None
    data_segments_in: int | None
    data_segments_out: int | None
    delivered_ce_segments: int | None
    send_window_bytes: int | None
    timeouts: int | None


def read_tcp_info(sock: socket.socket) -> TcpInfo:
    """Return the kernel's present state of a TCP socket that is connected or was just closed by the peer, by one system
    call. Raises OSError when the socket is closed or is not a TCP socket.
    """
    return decode(sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _SIZE))


def ca_state_name(number: int) -> str:
    """Return the name of the kernel's congestion state with this number (from 0), such as "open" or "recovery"; "state
    N" for an unknown number N.

    >>> ca_state_name(3), ca_state_name(9)
    ('recovery', 'state 9')
    """
    return CA_STATES[number] if number < len(CA_STATES) else f"state {number}"


def decode(data: bytes) -> TcpInfo:
    """Return the state of a TCP connection from the bytes of the kernel's `struct tcp_info`; fields that an older
    kernel's structure lacks are None, and so are an infinite slow-start threshold and a smallest RTT without a sample.

    Examples
    --------
    >>> info = decode(bytes([1, 3]) + bytes(66) + (204_000).to_bytes(4, "little"))
    >>> info.ca_state, info.rtt_ms, info.bytes_acked
    ('recovery', 204.0, None)
    """

    def field(code: str, offset: int) -> int | None:
        """Return the number of the type `code` (as Python's `struct` writes it) at the byte `offset` of the structure;
        None if this kernel's structure is shorter.
        """
        if offset + struct.calcsize(code) > len(data):
            return None
        return int(struct.unpack_from(code, data, offset)[0])

    ssthresh = field("=I", 76)
    rtt_us, rtt_min_us = field("=I", 68), field("=I", 148)
    delivery_bytes_per_s = field("=Q", 160)
    return TcpInfo(
        ca_state=ca_state_name(field("=B", 1) or 0),
        snd_mss_bytes=field("=I", 16),
        last_data_received_ms=field("=I", 52),
        rtt_ms=None if rtt_us is None else rtt_us / US_PER_MS,
        rtt_min_ms=None if rtt_min_us in (None, UNKNOWN_U32) else rtt_min_us / US_PER_MS,
        cwnd_segments=field("=I", 80),
        ssthresh_segments=None if ssthresh is None or ssthresh >= INFINITE_SSTHRESH else ssthresh,
        retransmits=field("=I", 100),
        delivery_rate_mbps=None if delivery_bytes_per_s is None else rate_mbps(delivery_bytes_per_s, 1.0),
        bytes_acked=field("=Q", 120),
        bytes_received=field("=Q", 128),
        bytes_sent=field("=Q", 200),
        data_segments_in=field("=I", 152),
        data_segments_out=field("=I", 156),
        delivered_ce_segments=field("=I", 196),
        send_window_bytes=field("=I", 228),
        timeouts=field("=H", 240),
    )
