"""A congestion control in Python: the kernel tells what TCP sees, an object sets window, threshold and pace.

What the object does not define, netlab does as Linux's Reno does (RFC 5681; net/ipv4/tcp_cong.c).
"""

import math
import struct
from typing import Any, NamedTuple

from netlab.base.errors import NetlabError
from netlab.base.units import BITS_PER_BYTE, NS_PER_S, US_PER_MS, mbps_to_bps, rate_mbps
from netlab.base.values import is_number, plain, shown
from netlab.traffic.own_calls import caller
from netlab_engines.sockets.tcp_info import INFINITE_SSTHRESH, UNKNOWN_U32

START, ACK, LOSS, TIMEOUT, UNDO = range(5)
MAY_GROW, APP_LIMITED, IS_NEW = 1, 2, 4
MOST_SEGMENTS = 100_000
FASTEST_MBPS = 1e6
SLOWEST_MBPS = 1e-3
STATE = struct.Struct("<QIIIIQIIIIIIiI")
CONTROL = struct.Struct("<IIQ")
STRUCTS = (STATE, CONTROL)


class Ack(NamedTuple):
    """The acknowledgement that `on_ack` gets.

    `rtt_ms` is None without a sample; `delivered_segments` and `marked_segments` are those newly delivered and newly marked;
    `delivery_rate_mbps` is the latest sample, `app_limited` says that it is of a time in which there was too little to send.
    `may_grow` says whether Linux's own controls would let the window grow: it is used fully, no recovery is under way, and data
    came in order.
    """

    now_s: float
    rtt_ms: float | None
    rtt_min_ms: float | None
    delivered_segments: int
    in_flight_segments: int
    marked_segments: int
    delivery_rate_mbps: float
    app_limited: bool
    may_grow: bool


class Loss(NamedTuple):
    """The state at a loss or a timeout: the segments that are considered lost, and those still in flight.

    `is_new` is False where a timeout repeats one.
    """

    now_s: float
    lost_segments: int
    in_flight_segments: int
    is_new: bool


class Flow:
    """A connection, as a congestion control gets it: times and sizes to read, three values to set at any time."""

    __slots__ = ("_cwnd", "_pacing", "_ssthresh", "mss_bytes", "now_s")

    def __init__(self, mss_bytes: int, cwnd_segments: int) -> None:
        self.now_s = 0.0
        self.mss_bytes = mss_bytes
        self._cwnd: float = cwnd_segments
        self._ssthresh = math.inf
        self._pacing: float | None = None

    @property
    def cwnd_segments(self) -> float:
        """The congestion window; TCP takes the whole segments of it."""
        return self._cwnd

    @cwnd_segments.setter
    def cwnd_segments(self, given: Any) -> None:
        self._cwnd = _checked("cwnd_segments", given, 1, MOST_SEGMENTS, "segments")

    @property
    def ssthresh_segments(self) -> float:
        """The window at which slow start ends; infinite at the start."""
        return self._ssthresh

    @ssthresh_segments.setter
    def ssthresh_segments(self, given: Any) -> None:
        infinite = isinstance(given, float) and given == math.inf
        self._ssthresh = given if infinite else _checked("ssthresh_segments", given, 1, MOST_SEGMENTS, "segments")

    @property
    def pacing_mbps(self) -> float | None:
        """The rate at which segments leave, or None: as Linux paces."""
        return self._pacing

    @pacing_mbps.setter
    def pacing_mbps(self, given: Any) -> None:
        self._pacing = None if given is None else _checked("pacing_mbps", given, SLOWEST_MBPS, FASTEST_MBPS, "Mbit/s")

    def packed(self) -> bytes:
        """The three values as the kernel takes them."""
        threshold, pacing = self._ssthresh, self._pacing
        return CONTROL.pack(
            int(self._cwnd),
            INFINITE_SSTHRESH if threshold == math.inf else int(threshold),
            0 if pacing is None else round(mbps_to_bps(pacing) / BITS_PER_BYTE),
        )


def _checked(name: str, given: Any, low: float, high: float, unit: str) -> Any:
    # Fast path. (bool and NaN fail the comparison.)
    if (type(given) is float or type(given) is int) and low <= given <= high:
        return given
    value = plain(given)
    if is_number(value) and low <= value <= high:
        return value
    raise NetlabError(f"{name} must be a number of {unit} from {low:g} to {high:g}, got {shown(value)}")


class Control:
    """Answers for a connection; see `own.Answering`."""

    def __init__(self, label: str, own: object) -> None:
        self._caller = caller(label, own, "control")
        self._acks, self._losses, self._timeouts = map(self._caller.has, ("on_ack", "on_loss", "on_timeout"))
        self._flow: Flow | None = None
        self._counted = 0

    def answer(self, data: bytes) -> bytes:
        (
            now_ns, _port, event, flags, mss_bytes, delivery_rate, window, threshold, in_flight, delivered, marked, lost,
            rtt_us, rtt_min_us,
        ) = STATE.unpack(data)  # fmt: skip
        if self._flow is None:
            if event != START:
                # Linux reports a lost SYN before the connection is established; keep Linux's values until then.
                return CONTROL.pack(window, threshold, 0)
            self._flow = Flow(mss_bytes, window)
        flow, now_s = self._flow, now_ns / NS_PER_S
        flow.now_s, flow.mss_bytes = now_s, mss_bytes
        if event == ACK and self._acks:
            rtt_ms = rtt_us / US_PER_MS if rtt_us >= 0 else None
            rtt_min_ms = rtt_min_us / US_PER_MS if rtt_min_us != UNKNOWN_U32 else None
            rate = rate_mbps(delivery_rate, 1.0)
            limited, grow = flags & APP_LIMITED != 0, flags & MAY_GROW != 0
            # Not Ack(...): a NamedTuple's own way to make one is Python.
            seen = (now_s, rtt_ms, rtt_min_ms, delivered, in_flight, marked, rate, limited, grow)
            self._caller.call("on_ack", now_ns, tuple.__new__(Ack, seen))
        elif event == ACK:
            if flags & MAY_GROW:
                self._grow(flow, delivered)
        elif event in (LOSS, TIMEOUT):
            self._reduce(flow, Loss(now_s, lost, in_flight, bool(flags & IS_NEW)), event == TIMEOUT, now_ns, window)
        elif event == UNDO:
            # Segments that were considered lost arrived late.
            flow.cwnd_segments = max(flow.cwnd_segments, window)
            flow.ssthresh_segments = max(
                flow.ssthresh_segments, threshold if threshold < INFINITE_SSTHRESH else math.inf
            )
        elif self._caller.has("on_start"):
            self._caller.call("on_start", now_ns, flow)
        return flow.packed()

    def close(self) -> None:
        self._caller.close()

    def _reduce(self, flow: Flow, loss: Loss, is_timeout: bool, now_ns: int, window: int) -> None:
        if self._timeouts if is_timeout else self._losses:
            self._caller.call("on_timeout" if is_timeout else "on_loss", now_ns, loss)
            return
        self._counted = 0
        if loss.is_new:
            flow.ssthresh_segments = max(int(flow.cwnd_segments) // 2, 2)
        # After a timeout the kernel has set one segment more than are in flight.
        flow.cwnd_segments = window if is_timeout else flow.ssthresh_segments

    def _grow(self, flow: Flow, delivered: int) -> None:
        cwnd = int(flow.cwnd_segments)
        if cwnd < flow.ssthresh_segments:
            grown = int(min(cwnd + delivered, flow.ssthresh_segments))
            delivered -= grown - cwnd
            flow.cwnd_segments = cwnd = grown
            if not delivered:
                return
        if self._counted >= cwnd:
            self._counted = 0
            flow.cwnd_segments += 1
        self._counted += delivered
        steps, self._counted = divmod(self._counted, cwnd)
        flow.cwnd_segments += steps
