"""TCP connections with both ends in this process, and the flows that have several of them."""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple, TypeVar, cast

from netlab.base.headers import TCP_TIMESTAMPS_BYTES
from netlab.plan import FlowItem, StreamSample, StreamState
from netlab_engines.agent.flows.base import FlowContext, RunningFlow
from netlab_engines.agent.namespaces import enter_namespace
from netlab_engines.ip_bytes import tcp_ip_bytes
from netlab_engines.sockets import options, tcp_info
from netlab_engines.sockets.constants import CONNECT_TIMEOUT_S

if TYPE_CHECKING:
    from netlab.traffic.tcp import StreamTotals, TcpTotals

RESET_ON_CLOSE = struct.pack("ii", 1, 0)


class Tuning(NamedTuple):
    """The congestion control of a connection, its largest window and its largest segment in bytes; None leaves one to
    the kernel.
    """

    congestion: str
    window_bytes: int | None = None
    mss_bytes: int | None = None

    def tune(self, end: socket.socket) -> None:
        """Set the congestion control, the window and the segment size on the TCP socket `end`, before it is connected.
        Raises OSError or ThroughputError if the kernel refuses one.
        """
        options.tune_tcp(
            end,
            congestion=self.congestion,
            window_bytes=self.window_bytes,
            mss_bytes=None if self.mss_bytes is None else self.mss_bytes + TCP_TIMESTAMPS_BYTES,
        )


class TcpConnection:
    """A TCP connection whose ends are both in this process, each with its socket in its host's namespace; subclasses
    connect the sockets and send.

    Parameters
    ----------
    src_pid, dst_pid : int
        A process or thread in the namespace of the connecting and of the accepting host.
    address : str
        The IPv4 address of the accepting host.
    port : int
        Its port.
    tuning : Tuning
        The settings of both sockets.

    Attributes
    ----------
    source, sink : socket or None
        The ends that send and receive the data; None until the connection is accepted.
    connect_s : float
        The time of the call of connect in s on the monotonic clock.
    last_info : StreamState
        The last counters that were read.
    is_closed : bool
        True once the flow has ended.
    """

    def __init__(self, src_pid: int, dst_pid: int, address: str, port: int, tuning: Tuning) -> None:
        """Open a listening socket at the IPv4 address `address` and the port `port` in the namespace of the process or
        thread `dst_pid`, and the socket that will connect to it in that of `src_pid`, both with the settings `tuning`.
        Nothing is connected yet. Raises OSError or ThroughputError if that fails.
        """
        self.address = (address, port)
        with enter_namespace(dst_pid):
            self.listener = socket.socket()
        tuning.tune(self.listener)
        self.listener.bind(self.address)
        self.listener.listen(1)
        with enter_namespace(src_pid):
            self.connecting = socket.socket()
        tuning.tune(self.connecting)
        self.source: socket.socket | None = None
        self.sink: socket.socket | None = None
        self.connect_s = 0.0
        self.last_info: StreamState = {}
        self.is_closed = False

    @property
    def first_s(self) -> float | None:
        """The time in s on the monotonic clock at which the connection's first data arrived at the receiver; None if
        none did. Each subclass defines it.
        """
        raise NotImplementedError

    @property
    def last_s(self) -> float | None:
        """The time in s on the monotonic clock at which the connection's last data arrived at the receiver; None if
        more may come. Each subclass defines it.
        """
        raise NotImplementedError

    @property
    def has_started(self) -> bool:
        """True from the moment at which the connection has counters to note and can be stopped. Each subclass defines
        it.
        """
        raise NotImplementedError

    def connect(self) -> None:
        """Connect the sending host's socket to the listening one, and set `connect_s` to the time of the call in s on
        the monotonic clock; blocks. Raises OSError if there is no connection within CONNECT_TIMEOUT_S s.
        """
        self.connecting.settimeout(CONNECT_TIMEOUT_S)
        self.connect_s = time.monotonic()
        self.connecting.connect(self.address)

    def accept(self) -> socket.socket | None:
        """Wait for the connection, close the listening socket and return the accepted one; return None if the flow
        ended or the listening socket was closed before.
        """
        try:
            end, _ = self.listener.accept()
        except OSError:
            # The flow ended before it was connected.
            return None
        self.listener.close()
        return end

    def read(self) -> StreamState | None:
        """Return the counters since the start and the present state of both ends, a dict ("received_bytes",
        "cwnd_segments", "rtt_ms", "retransmits", ...; a value that the kernel lacks is None), and keep it in
        `last_info`; None if the connection is not accepted yet, or closed.
        """
        if self.source is None or self.sink is None:
            return None
        try:
            source_info, sink_info = tcp_info.read_tcp_info(self.source), tcp_info.read_tcp_info(self.sink)
        except OSError:
            return None
        self.last_info = {
            "received_bytes": self._received_bytes(sink_info),
            "cwnd_segments": source_info.cwnd_segments,
            "ssthresh_segments": source_info.ssthresh_segments,
            "rtt_ms": source_info.rtt_ms,
            "rtt_min_ms": source_info.rtt_min_ms,
            "retransmits": source_info.retransmits,
            "delivery_rate_mbps": source_info.delivery_rate_mbps,
            "sent_bytes": source_info.bytes_sent,
            "segments_out": source_info.data_segments_out,
            "segments_in": sink_info.data_segments_in,
            "marks": source_info.delivered_ce_segments,
            "timeouts": source_info.timeouts,
            "ca_state": source_info.ca_state,
        }
        return self.last_info

    def stop(self) -> None:
        """Stop the sending of data that is going on now; the sockets stay open. Each subclass defines it."""
        raise NotImplementedError

    def close(self) -> None:
        """Close both ends of the connection with a reset, which discards unsent data, so that no packets follow after
        the flow's end; an accept that waits returns.
        """
        self.is_closed = True
        with suppress(OSError):
            # A mere close would leave the thread that accepts waiting.
            self.listener.shutdown(socket.SHUT_RDWR)
        for end in (self.source, self.sink, self.listener):
            if end is not None:
                try:
                    end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
                    end.close()
                except OSError:
                    continue

    def _received_bytes(self, info: tcp_info.TcpInfo) -> int | None:
        """Return the number of bytes of data that have arrived at the receiver, from `info`, the kernel's counters of
        the receiving socket; None if the kernel does not count them.
        """
        return info.bytes_received


class _FinishedStream(NamedTuple):
    """The counters and times of one connection after its end; times are in s on the monotonic clock."""

    state: StreamState
    """The last counters."""
    connect_s: float
    """The time of the call of connect."""
    first_s: float | None
    """The time at which the first bytes arrived, or None if none did."""
    last_s: float
    """The end."""


ConnectionsItem = TypeVar("ConnectionsItem", bound=FlowItem)


class ConnectionsFlow(RunningFlow[ConnectionsItem]):
    """A group of TCP connections between the same two hosts that start together, as an item of traffic; subclasses open
    and run them.
    """

    streams: Sequence[TcpConnection]

    def __init__(self, item: ConnectionsItem, place: FlowContext) -> None:
        """Prepare a flow without connections for one item of the plan's traffic; `place` has the plan, the running
        network and the first port. Subclasses open the connections in `streams`.
        """
        super().__init__(item, place)
        self._finished_streams: dict[int, _FinishedStream] = {}
        self._reported_end: set[int] = set()

    def sample(self, at_s: float) -> list[StreamSample]:
        """Return one row (a dict) for each connection that is open, with the label ("flow"), its number ("stream", from
        0), `at_s`, the present time in s from the run's start ("t_s"), and its counters since its start, read now, as
        `TcpConnection.read` names them. A connection that has ended since the last call has one more row, its last;
        later none.
        """
        found: list[StreamSample] = []
        for number, stream in enumerate(self.streams):
            # A stream that has just ended returns its totals once, and no rows after that.
            ended = self._finished_streams.get(number)
            reading = stream.read() if ended is None else ended.state
            if number in self._reported_end:
                continue
            if ended is not None:
                self._reported_end.add(number)
            if reading:
                found.append(cast("StreamSample", {"flow": self.label, "stream": number, "t_s": at_s, **reading}))
        return found

    def finish(self, until_s: float) -> None:
        """Wait for the ends of the flow's threads, each until `until_s` in s on the monotonic clock, and at least 0.1
        s; connections that are still open are not closed.
        """
        for thread in self._threads:
            thread.join(max(0.1, until_s - time.monotonic()))

    def totals(self) -> TcpTotals:
        """Return the flow's totals, a dict: the label ("flow"), "error", and "streams", one row for each connection
        that has ended and delivered data, in the order of the connections' numbers. If other connections delivered
        nothing and there is no other error, a sentence with their number becomes an error.
        """
        rows = [
            self._row(number, ended, ended.first_s)
            for number, ended in sorted(self._finished_streams.items())
            if ended.first_s is not None
        ]
        missing = len(self.streams) - len(rows)
        if missing and not self.errors:
            self.errors.append(f"{missing} of {len(self.streams)} connections delivered nothing before the flow's end")
        return {**super().totals(), "streams": rows}

    def totals_so_far(self) -> TcpTotals:
        """Return the totals, in the form of `totals`, that the flow would have if its open connections ended now; the
        connections go on, and one that has delivered nothing yet is not an error.
        """
        finished, errors = dict(self._finished_streams), list(self.errors)
        try:
            self._finished_streams.update(self._open_streams())
            return {**self.totals(), "error": "; ".join(errors) or None}
        finally:
            self._finished_streams, self.errors = finished, errors

    def stop(self) -> None:
        """End all connections that are open: note their counters for `totals`, stop their senders and close them with a
        reset.
        """
        ended = self._open_streams()
        self._finished_streams.update(ended)
        for number in ended:
            self.streams[number].stop()
            self.streams[number].close()

    def _open_streams(self) -> dict[int, _FinishedStream]:
        """Return the present counters and times of each connection that has started and not ended, by its number (from
        0).
        """
        return {
            number: self._end_of(stream)
            for number, stream in enumerate(self.streams)
            if number not in self._finished_streams and stream.has_started
        }

    @staticmethod
    def _end_of(stream: TcpConnection) -> _FinishedStream:
        """Return the counters and times of a connection as at its end: the end is the arrival of the last data if the
        receiver has all of them, and else the present time.
        """
        first_s, last_s = stream.first_s, stream.last_s
        return _FinishedStream(
            stream.read() or stream.last_info, stream.connect_s, first_s, time.monotonic() if last_s is None else last_s
        )

    def _row(self, number: int, finished: _FinishedStream, first_s: float) -> StreamTotals:
        """Return the row of totals of the connection with this number (from 0), a dict: "stream", "connect_s",
        "first_s" and "last_s" (in s from the run's start), "throughput_bytes" (with headers) and the counters of
        `finished`, its last counters and times; `first_s` is the arrival of its first bytes, in s on the monotonic
        clock.
        """
        state = finished.state
        return {
            **state,
            "stream": number,
            # Round: a difference of floats has more digits than the clock.
            "connect_s": round(finished.connect_s - self._origin_s, 9),
            "first_s": round(first_s - self._origin_s, 9),
            "last_s": round(finished.last_s - self._origin_s, 9),
            "throughput_bytes": tcp_ip_bytes(
                state.get("segments_in"), state.get("sent_bytes"), state.get("segments_out")
            ),
        }
