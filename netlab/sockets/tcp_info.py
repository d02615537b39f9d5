"""What the kernel knows about a TCP connection (`struct tcp_info`), with units in the names."""

from __future__ import annotations

import math
import socket
import struct
from dataclasses import asdict, dataclass

from netlab.units import rate_mbps

# Order and width of `struct tcp_info` in include/uapi/linux/tcp.h. The kernel only ever appends, and says
# by the length it returns how far it goes; every field happens to be aligned, so no padding is needed.
_LAYOUT: tuple[tuple[str, str], ...] = (
    *(
        (name, "B")
        for name in (
            "state",
            "ca_state",
            "retransmits_now",
            "probes",
            "backoff",
            "options",
            "wscale",
            "app_limited",
        )
    ),
    *(
        (name, "I")
        for name in (
            "rto",
            "ato",
            "snd_mss",
            "rcv_mss",
            "unacked",
            "sacked",
            "lost",
            "retrans",
            "fackets",
            "last_data_sent",
            "last_ack_sent",
            "last_data_recv",
            "last_ack_recv",
            "pmtu",
            "rcv_ssthresh",
            "rtt",
            "rttvar",
            "snd_ssthresh",
            "snd_cwnd",
            "advmss",
            "reordering",
            "rcv_rtt",
            "rcv_space",
            "total_retrans",
        )
    ),
    *((name, "Q") for name in ("pacing_rate", "max_pacing_rate", "bytes_acked", "bytes_received")),
    *(
        (name, "I")
        for name in (
            "segs_out",
            "segs_in",
            "notsent_bytes",
            "min_rtt",
            "data_segs_in",
            "data_segs_out",
        )
    ),
    *((name, "Q") for name in ("delivery_rate", "busy_time", "rwnd_limited", "sndbuf_limited")),
    *((name, "I") for name in ("delivered", "delivered_ce")),
    *((name, "Q") for name in ("bytes_sent", "bytes_retrans")),
    *((name, "I") for name in ("dsack_dups", "reord_seen", "rcv_ooopack", "snd_wnd", "rcv_wnd", "rehash")),
    *((name, "H") for name in ("total_rto", "total_rto_recoveries")),
    ("total_rto_time", "I"),
)
_STRUCT = struct.Struct("=" + "".join(code for _, code in _LAYOUT))
_NAMES = tuple(name for name, _ in _LAYOUT)
_ENDS = tuple(struct.calcsize("=" + "".join(code for _, code in _LAYOUT[: i + 1])) for i in range(len(_LAYOUT)))

_STATES = (
    "unknown",
    "established",
    "syn-sent",
    "syn-received",
    "fin-wait-1",
    "fin-wait-2",
    "time-wait",
    "closed",
    "close-wait",
    "last-ack",
    "listen",
    "closing",
    "new-syn-received",
)
CA_STATES = ("open", "disorder", "cwr", "recovery", "loss")
_INFINITE_SSTHRESH = 0x7FFFFFFF
_UNKNOWN_U32 = 0xFFFFFFFF
_UNLIMITED_U64 = 0xFFFFFFFFFFFFFFFF


@dataclass(frozen=True, slots=True)
class TcpInfo:
    """One reading of `struct tcp_info`.

    A field is None where the running kernel is older than the field, and where the kernel says 'no value
    yet': `ssthresh_segments` before the first loss, `rtt_min_ms` before the first sample,
    `pacing_rate_mbps` without a limit.

    Counters (`retransmits`, `bytes_*`, `segments_*`, ...) run from the start of the connection.
    `retransmits` counts segments sent again; `bytes_received` is what arrived in order, read by the
    application or not; `delivery_rate_mbps` is the kernel's latest own estimate and is not a mean over any
    interval.
    """

    state: str
    ca_state: str
    rto_ms: float | None
    snd_mss_bytes: int | None
    rcv_mss_bytes: int | None
    pmtu_bytes: int | None
    unacked_segments: int | None
    sacked_segments: int | None
    lost_segments: int | None
    reordering_segments: int | None
    last_data_sent_ms: int | None
    last_data_received_ms: int | None
    rtt_ms: float | None
    rttvar_ms: float | None
    rtt_min_ms: float | None
    rcv_rtt_ms: float | None
    cwnd_segments: int | None
    ssthresh_segments: int | None
    rcv_space_bytes: int | None
    retransmits: int | None
    pacing_rate_mbps: float | None
    delivery_rate_mbps: float | None
    delivery_rate_app_limited: bool | None
    bytes_acked: int | None
    bytes_received: int | None
    bytes_sent: int | None
    bytes_retransmitted: int | None
    notsent_bytes: int | None
    segments_out: int | None
    segments_in: int | None
    data_segments_in: int | None
    data_segments_out: int | None
    busy_ms: float | None
    rwnd_limited_ms: float | None
    sndbuf_limited_ms: float | None
    delivered_segments: int | None
    delivered_ce_segments: int | None
    dsack_duplicates: int | None
    reorderings_seen: int | None
    out_of_order_packets: int | None
    send_window_bytes: int | None
    receive_window_bytes: int | None
    timeouts: int | None

    def to_dict(self) -> dict[str, object]:
        """The reading as plain JSON types."""
        return asdict(self)


def read(sock: socket.socket) -> TcpInfo:
    """Read TCP_INFO of a connected (or just closed by the peer) TCP socket; one system call.

    Raises
    ------
    OSError
        When the socket is closed or is no TCP socket.
    """
    return decode(sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _STRUCT.size))


def ca_state_name(number: int) -> str:
    """What congestion control is doing, in the words of `TcpInfo.ca_state`.

    >>> ca_state_name(3), ca_state_name(9)
    ('recovery', 'state 9')
    """
    return CA_STATES[number] if number < len(CA_STATES) else f"state {number}"


def decode(data: bytes) -> TcpInfo:
    """Decode the bytes of a `struct tcp_info` of any kernel since 2.6.

    Parameters
    ----------
    data : bytes
        What `getsockopt(TCP_INFO)` returned; shorter on older kernels.

    Examples
    --------
    >>> info = decode(bytes([1, 0, 0, 0, 0, 0, 0, 0]) + (204_000).to_bytes(4, "little"))
    >>> info.state, info.rto_ms, info.bytes_acked
    ('established', 204.0, None)
    """
    values = _STRUCT.unpack(data[: _STRUCT.size].ljust(_STRUCT.size, b"\0"))
    raw: dict[str, int] = {
        name: value for name, value, end in zip(_NAMES, values, _ENDS, strict=True) if end <= len(data)
    }

    def whole(name: str) -> int | None:
        return raw.get(name)

    def ms(name: str) -> float | None:
        value = raw.get(name)
        return None if value is None else value / 1000

    def mbps(name: str) -> float | None:
        value = raw.get(name)
        # bytes/s in the kernel
        return None if value is None or value == _UNLIMITED_U64 else rate_mbps(value, 1.0)

    state = raw.get("state", 0)
    ca_state = raw.get("ca_state", 0)
    ssthresh = whole("snd_ssthresh")
    rtt_min = whole("min_rtt")
    app_limited = whole("app_limited")
    return TcpInfo(
        state=_STATES[state] if state < len(_STATES) else f"state {state}",
        ca_state=ca_state_name(ca_state),
        rto_ms=ms("rto"),
        snd_mss_bytes=whole("snd_mss"),
        rcv_mss_bytes=whole("rcv_mss"),
        pmtu_bytes=whole("pmtu"),
        unacked_segments=whole("unacked"),
        sacked_segments=whole("sacked"),
        lost_segments=whole("lost"),
        reordering_segments=whole("reordering"),
        last_data_sent_ms=whole("last_data_sent"),
        last_data_received_ms=whole("last_data_recv"),
        rtt_ms=ms("rtt"),
        rttvar_ms=ms("rttvar"),
        rtt_min_ms=None if rtt_min in (None, _UNKNOWN_U32) else rtt_min / 1000,
        rcv_rtt_ms=ms("rcv_rtt"),
        cwnd_segments=whole("snd_cwnd"),
        ssthresh_segments=None if ssthresh is None or ssthresh >= _INFINITE_SSTHRESH else ssthresh,
        rcv_space_bytes=whole("rcv_space"),
        retransmits=whole("total_retrans"),
        pacing_rate_mbps=mbps("pacing_rate"),
        delivery_rate_mbps=mbps("delivery_rate"),
        delivery_rate_app_limited=None if app_limited is None else bool(app_limited & 1),
        bytes_acked=whole("bytes_acked"),
        bytes_received=whole("bytes_received"),
        bytes_sent=whole("bytes_sent"),
        bytes_retransmitted=whole("bytes_retrans"),
        notsent_bytes=whole("notsent_bytes"),
        segments_out=whole("segs_out"),
        segments_in=whole("segs_in"),
        data_segments_in=whole("data_segs_in"),
        data_segments_out=whole("data_segs_out"),
        busy_ms=ms("busy_time"),
        rwnd_limited_ms=ms("rwnd_limited"),
        sndbuf_limited_ms=ms("sndbuf_limited"),
        delivered_segments=whole("delivered"),
        delivered_ce_segments=whole("delivered_ce"),
        dsack_duplicates=whole("dsack_dups"),
        reorderings_seen=whole("reord_seen"),
        out_of_order_packets=whole("rcv_ooopack"),
        send_window_bytes=whole("snd_wnd"),
        receive_window_bytes=whole("rcv_wnd"),
        timeouts=whole("total_rto"),
    )


class RttSummary:
    """Minimum, mean and maximum of the smoothed RTT over the readings given to `add`, in ms.

    The mean is over readings, so it is a mean over time when they are evenly spaced.

    Examples
    --------
    >>> summary = RttSummary()
    >>> summary.add(20.0); summary.add(30.0); summary.add(None)
    >>> summary.min_ms, summary.mean_ms, summary.max_ms
    (20.0, 25.0, 30.0)
    """

    def __init__(self) -> None:
        self._count = 0
        self._sum_ms = 0.0
        self._min_ms = math.inf
        self._max_ms = -math.inf

    def add(self, rtt_ms: float | None) -> None:
        """Take one reading; None and 0 (no sample yet) are left out."""
        if not rtt_ms:
            return
        self._count += 1
        self._sum_ms += rtt_ms
        self._min_ms = min(self._min_ms, rtt_ms)
        self._max_ms = max(self._max_ms, rtt_ms)

    @property
    def min_ms(self) -> float | None:
        """Smallest reading, or None without any."""
        return self._min_ms if self._count else None

    @property
    def mean_ms(self) -> float | None:
        """Mean of the readings, or None without any."""
        return self._sum_ms / self._count if self._count else None

    @property
    def max_ms(self) -> float | None:
        """Largest reading, or None without any."""
        return self._max_ms if self._count else None
