"""Congestion control in Python: the kernel reports events of a connection, and an object sets window, threshold and
pacing.

For events that the object does not handle, netlab does the same as Linux's Reno (RFC 5681; net/ipv4/tcp_cong.c).
"""

import math
from typing import Any, NamedTuple

from netlab.base.errors import NetlabError
from netlab.base.units import BITS_PER_BYTE, NS_PER_S, US_PER_MS, mbps_to_bps, rate_mbps
from netlab.base.values import is_number, short_repr, to_python
from netlab_engines.library import wire_format
from netlab_engines.sockets.tcp_info import INFINITE_SSTHRESH, UNKNOWN_U32
from netlab_user_code.method_calls import caller

START, ACK, LOSS, TIMEOUT, UNDO = range(5)
MAY_GROW, APP_LIMITED, IS_NEW, ACCURATE_ECN = 1, 2, 4, 8
MAX_SEGMENTS = 100_000
MAX_PACING_MBPS = 1e6
MIN_PACING_MBPS = 1e-3
STATE, CONTROL = wire_format.LIBRARY_STATE.struct, wire_format.LIBRARY_CONTROL.struct
"""Positional, because they are used for every acknowledgement."""


class Ack(NamedTuple):
    """An acknowledgement, the argument of `on_ack`."""

    now_s: float
    """The network time."""
    rtt_ms: float | None
    """The sample of the round-trip time, or None without one."""
    rtt_min_ms: float | None
    """The smallest round-trip time so far."""
    delivered_segments: int
    """The number of newly delivered segments."""
    in_flight_segments: int
    marked_segments: int
    """The number of newly delivered segments with a congestion mark (CE)."""
    delivery_rate_mbps: float
    """The latest sample of the delivery rate."""
    app_limited: bool
    """True if the sender had too little data during that sample."""
    may_grow: bool
    """True if Linux's own controls would let the window grow: it is fully used, there is no recovery, data came in order."""


class Loss(NamedTuple):
    """A loss or a timeout, the argument of `on_loss` and `on_timeout`."""

    now_s: float
    """The network time."""
    lost_segments: int
    """The number of segments that are considered lost."""
    in_flight_segments: int
    """The number of segments that are still in flight."""
    is_new: bool
    """False for a repeated timeout."""


class FlowInterface:
    """The connection that a user's congestion control reads and sets: the time `now_s`, `mss_bytes`, and four values
    that can be set at any time (window, threshold, pacing rate and ECN codepoint).
    """

    __slots__ = ("_cwnd", "_ect", "_pacing", "_ssthresh", "has_accurate_ecn", "mss_bytes", "now_s")

    def __init__(self, mss_bytes: int, cwnd_segments: int, has_accurate_ecn: bool = False) -> None:
        """Start a connection with a maximum segment size of `mss_bytes` bytes, a congestion window of `cwnd_segments`
        segments, an infinite slow-start threshold, Linux's pacing and the codepoint ECT(0). `has_accurate_ecn` says
        whether it has negotiated AccECN (RFC 9768).
        """
        self.now_s = 0.0
        self.mss_bytes = mss_bytes
        self._cwnd: float = cwnd_segments
        self._ssthresh = math.inf
        self._pacing: float | None = None
        self._ect = 0
        self.has_accurate_ecn = has_accurate_ecn

    @property
    def cwnd_segments(self) -> float:
        """The congestion window in segments; TCP rounds it down to whole segments. Raises NetlabError if it is set to a
        value that is not allowed.
        """
        return self._cwnd

    @cwnd_segments.setter
    def cwnd_segments(self, value: Any) -> None:
        """Set the congestion window to `value` segments, from 1 to MAX_SEGMENTS. Raises NetlabError for any other
        value.
        """
        self._cwnd = _check_value("cwnd_segments", value, 1, MAX_SEGMENTS, "segments")

    @property
    def ssthresh_segments(self) -> float:
        """The slow-start threshold in segments; infinite at the start. Raises NetlabError if it is set to a value that
        is not allowed.
        """
        return self._ssthresh

    @ssthresh_segments.setter
    def ssthresh_segments(self, value: Any) -> None:
        """Set the slow-start threshold to `value` segments, from 1 to MAX_SEGMENTS, or `math.inf`. Raises NetlabError
        for any other value.
        """
        infinite = isinstance(value, float) and value == math.inf
        self._ssthresh = value if infinite else _check_value("ssthresh_segments", value, 1, MAX_SEGMENTS, "segments")

    @property
    def pacing_mbps(self) -> float | None:
        """The pacing rate in Mbit/s, or None for Linux's own pacing. Raises NetlabError if it is set to a value that is
        not allowed.
        """
        return self._pacing

    @pacing_mbps.setter
    def pacing_mbps(self, value: Any) -> None:
        """Set the pacing rate to `value` Mbit/s, from MIN_PACING_MBPS to MAX_PACING_MBPS, or None for Linux's own pacing.
        Raises NetlabError for any other value.
        """
        self._pacing = (
            None if value is None else _check_value("pacing_mbps", value, MIN_PACING_MBPS, MAX_PACING_MBPS, "Mbit/s")
        )

    @property
    def ect(self) -> int:
        """The ECN codepoint of the segments with data: 1 for ECT(1), by which L4S queues recognize scalable congestion
        controls (RFC 9331), 0 for ECT(0). Without ECN, segments have neither. Raises NetlabError if it is set to another
        value, or to 1 on a connection that has not negotiated AccECN.
        """
        return self._ect

    @ect.setter
    def ect(self, value: Any) -> None:
        """Set the ECN codepoint of segments with data: 0 for ECT(0), or 1 for ECT(1). Raises NetlabError for another
        value, and for 1 on a connection that has not negotiated AccECN.
        """
        number = to_python(value)
        if isinstance(number, bool) or number not in (0, 1):
            raise NetlabError(f"ect must be 0 for ECT(0) or 1 for ECT(1), got {short_repr(number)}")
        if number == 1 and not self.has_accurate_ecn:
            raise NetlabError(
                "ect = 1 needs a connection with accurate ECN, which this one has not negotiated; run with "
                'sysctls={"net.ipv4.tcp_ecn": 3}'
            )
        self._ect = int(number)

    def packed(self) -> bytes:
        """Return the connection's window (whole segments), threshold (whole segments, INFINITE_SSTHRESH for infinite),
        pacing rate (bytes/s, 0 for Linux's own) and ECN codepoint as the bytes of a `struct library_control`.
        """
        threshold, pacing = self._ssthresh, self._pacing
        return CONTROL.pack(
            int(self._cwnd),
            INFINITE_SSTHRESH if threshold == math.inf else int(threshold),
            0 if pacing is None else round(mbps_to_bps(pacing) / BITS_PER_BYTE),
            self._ect,
        )


def _check_value(name: str, value: Any, low: float, high: float, unit: str) -> Any:
    """Return `value`, which a user set, as a plain number if it is a number from `low` to `high`. Raises NetlabError if
    not; `name` is the attribute's name and `unit` its unit in the error's text.
    """
    # Fast path. (bool and NaN fail the comparison.)
    if (type(value) is float or type(value) is int) and low <= value <= high:
        return value
    number = to_python(value)
    if is_number(number) and low <= number <= high:
        return number
    raise NetlabError(f"{name} must be a number of {unit} from {low:g} to {high:g}, got {short_repr(number)}")


class ControlHandler:
    """The congestion control of one connection: it answers the kernel's questions by calls of the user's object; see
    `kernel_program.QuestionHandler`.
    """

    def __init__(self, label: str, own: object) -> None:
        """Prepare calls of the methods of `own`, the user's object for the congestion control of one connection;
        `label` names the flow in errors. Raises RunError if no object of the user's class can be made.
        """
        self._caller = caller(label, own, "control")
        self._acks, self._losses, self._timeouts = map(self._caller.has, ("on_ack", "on_loss", "on_timeout"))
        self._flow: FlowInterface | None = None
        self._counted_segments = 0

    def answer(self, data: bytes) -> bytes:
        """Tell the user's object of the event in the kernel's question `data` (the bytes of a `struct library_state`),
        or do what Reno does if the object has no method for it, and return the window, threshold, pacing rate and ECN
        codepoint after it as the bytes of a `struct library_control`; the kernel's own values until the connection
        starts. Raises RunError if a method of the user's fails.
        """
        (
            now_ns, _port, event, flags, mss_bytes, delivery_rate, window, threshold, in_flight, delivered, marked, lost,
            rtt_us, rtt_min_us,
        ) = STATE.unpack(data)  # fmt: skip
        if self._flow is None:
            if event != START:
                # Linux reports a lost SYN before the connection is established; keep Linux's values until then.
                return CONTROL.pack(window, threshold, 0, 0)
            self._flow = FlowInterface(mss_bytes, window, flags & ACCURATE_ECN != 0)
        flow, now_s = self._flow, now_ns / NS_PER_S
        flow.now_s, flow.mss_bytes = now_s, mss_bytes
        if event == ACK and self._acks:
            rtt_ms = rtt_us / US_PER_MS if rtt_us >= 0 else None
            rtt_min_ms = rtt_min_us / US_PER_MS if rtt_min_us != UNKNOWN_U32 else None
            rate = rate_mbps(delivery_rate, 1.0)
            limited, grow = flags & APP_LIMITED != 0, flags & MAY_GROW != 0
            # Not Ack(...), because the constructor of a NamedTuple is slower.
            values = (now_s, rtt_ms, rtt_min_ms, delivered, in_flight, marked, rate, limited, grow)
            self._caller.call("on_ack", now_ns, tuple.__new__(Ack, values))
        elif event == ACK:
            if flags & MAY_GROW:
                self._grow(flow, delivered)
        elif event in (LOSS, TIMEOUT):
            self._reduce(flow, Loss(now_s, lost, in_flight, bool(flags & IS_NEW)), event == TIMEOUT, now_ns, window)
        elif event == UNDO:
            # Segments that were considered lost arrived late, so undo the reduction.
            flow.cwnd_segments = max(flow.cwnd_segments, window)
            flow.ssthresh_segments = max(
                flow.ssthresh_segments, threshold if threshold < INFINITE_SSTHRESH else math.inf
            )
        elif self._caller.has("on_start"):
            self._caller.call("on_start", now_ns, flow)
        return flow.packed()

    def close(self) -> None:
        """Free the resources of the user's object at the end of the lab."""
        self._caller.close()

    def _reduce(self, flow: FlowInterface, loss: Loss, is_timeout: bool, now_ns: int, window: int) -> None:
        """Call the user's `on_loss` or, if `is_timeout`, `on_timeout` with `loss` at the network time `now_ns` in ns.
        If the user has no such method, do as Reno does: halve the threshold (at least 2) if the loss is new, and set
        the flow's window to the threshold after a loss or, after a timeout, to `window`, the kernel's present window in
        segments.
        """
        if self._timeouts if is_timeout else self._losses:
            self._caller.call("on_timeout" if is_timeout else "on_loss", now_ns, loss)
            return
        self._counted_segments = 0
        if loss.is_new:
            flow.ssthresh_segments = max(int(flow.cwnd_segments) // 2, 2)
        # After a timeout the kernel has set the window to one segment more than are in flight.
        flow.cwnd_segments = window if is_timeout else flow.ssthresh_segments

    def _grow(self, flow: FlowInterface, delivered: int) -> None:
        """Let the congestion window of `flow` grow as Reno's does (slow start, then congestion avoidance) after
        `delivered` newly delivered segments.
        """
        cwnd = int(flow.cwnd_segments)
        if cwnd < flow.ssthresh_segments:
            grown = int(min(cwnd + delivered, flow.ssthresh_segments))
            delivered -= grown - cwnd
            flow.cwnd_segments = cwnd = grown
            if not delivered:
                return
        if self._counted_segments >= cwnd:
            self._counted_segments = 0
            flow.cwnd_segments += 1
        self._counted_segments += delivered
        steps, self._counted_segments = divmod(self._counted_segments, cwnd)
        flow.cwnd_segments += steps
