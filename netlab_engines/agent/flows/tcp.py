"""TCP connections with both ends in this process."""

from __future__ import annotations

import socket
import struct
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple, cast

from netlab.base.headers import TCP_TIMESTAMPS_BYTES, tcp_ip_bytes
from netlab.protocol.plan import StreamSample, StreamState
from netlab_engines.agent.flows.base import FlowContext, RunningFlow, sleep_until
from netlab_engines.agent.namespaces import enter_namespace
from netlab_engines.sockets import options, tcp_info
from netlab_engines.sockets.constants import CONNECT_PATIENCE_S
from netlab_engines.sockets.tcp import TcpReceiver, TcpSender

if TYPE_CHECKING:
    from netlab.traffic.tcp import StreamTotals, TcpItem, TcpTotals

RESET_ON_CLOSE = struct.pack("ii", 1, 0)


def _tune(end: socket.socket, item: TcpItem) -> None:
    """Set the congestion control, window and segment size that the item asks for on a TCP socket. Raises OSError or
    ThroughputError if the kernel refuses.
    """
    mss_bytes = item["mss_bytes"]
    options.tune_tcp(
        end,
        congestion=item["congestion"],
        window_bytes=item["window_bytes"],
        mss_bytes=None if mss_bytes is None else mss_bytes + TCP_TIMESTAMPS_BYTES,
    )


def _shares(item: TcpItem) -> list[int | None]:
    """Return the number of bytes that each of a flow's connections sends, in their order; None means until the flow's
    end.
    """
    streams, num_bytes = item["streams"], item["num_bytes"]
    if num_bytes is None:
        return [None] * streams
    share, rest = divmod(num_bytes, streams)
    return [share + (number < rest) for number in range(streams)]


class TcpStream:
    """A TCP connection whose sender and receiver are both in this process, each with its socket in its host's
    namespace; the connection is made by `send`.

    Parameters
    ----------
    src_pid, dst_pid : int
        A process or thread in the namespace of the sender and of the receiver.
    address : str
        The receiver's IPv4 address.
    port : int
        The receiver's port.
    item : TcpItem
        The flow's settings.
    num_bytes : int or None
        The number of bytes to send, or None to send until the flow's end.
    """

    def __init__(
        self, src_pid: int, dst_pid: int, address: str, port: int, item: TcpItem, num_bytes: int | None
    ) -> None:
        """Open a listening socket at `address` and `port` in the namespace of the process `dst_pid`, and the sender's
        socket in that of `src_pid`, both tuned as the item asks; `num_bytes` are to be sent (None: until the flow's
        end). Raises OSError or ThroughputError if that fails.
        """
        self.address = (address, port)
        self.num_bytes = num_bytes
        self._window_bytes = item["window_bytes"]
        with enter_namespace(dst_pid):
            self.listener = socket.socket()
        _tune(self.listener, item)
        self.listener.bind(self.address)
        self.listener.listen(1)
        with enter_namespace(src_pid):
            self.source = socket.socket()
        _tune(self.source, item)
        self.sink: socket.socket | None = None
        self.sender: TcpSender | None = None
        self.receiver: TcpReceiver | None = None
        self.receiving = threading.Thread(target=self.receive, daemon=True)
        self.connect_s = 0.0
        self.last_info: StreamState = {}
        self._is_closed = False

    def send(self, end_s: float) -> None:
        """Connect and send until `end_s`, in s on the monotonic clock, or until all of its bytes are sent; blocks
        meanwhile. `receive` must run in a thread of its own. Raises OSError if it cannot connect.
        """
        self.source.settimeout(CONNECT_PATIENCE_S)
        self.connect_s = time.monotonic()
        self.source.connect(self.address)
        self.sender = TcpSender(self.source, end_s=end_s, num_bytes=self.num_bytes)
        self.sender.run()

    def receive(self) -> None:
        """Accept the connection and read until its end; blocks, and returns at once if the flow ends before it was
        connected.
        """
        try:
            sink, _ = self.listener.accept()
        except OSError:
            # The flow ended before it was connected.
            return
        self.listener.close()
        self.receiver = TcpReceiver(sink, window_bytes=self._window_bytes, num_bytes=self.num_bytes)
        self.sink = sink
        if self._is_closed:
            sink.close()
            return
        self.receiver.run()

    def read(self) -> StreamState | None:
        """Return the cumulative counters and the present state of both ends, and keep them in `last_info`; None if
        there is no connection, or it is closed.
        """
        if self.sink is None or self.receiver is None:
            return None
        try:
            ours, theirs = tcp_info.read(self.source), tcp_info.read(self.sink)
        except OSError:
            return None
        self.last_info = {
            # The receiver's count costs another system call; it is needed only at the end, when the kernel's count includes the FIN.
            "received_bytes": self.receiver.received_bytes if self.receiver.finished else theirs.bytes_received,
            "cwnd_segments": ours.cwnd_segments,
            "ssthresh_segments": ours.ssthresh_segments,
            "rtt_ms": ours.rtt_ms,
            "rtt_min_ms": ours.rtt_min_ms,
            "retransmits": ours.retransmits,
            "delivery_rate_mbps": ours.delivery_rate_mbps,
            "sent_bytes": ours.bytes_sent,
            "segments_out": ours.data_segments_out,
            "segments_in": theirs.data_segments_in,
            "marks": ours.delivered_ce_segments,
            "timeouts": ours.timeouts,
            "ca_state": ours.ca_state,
        }
        return self.last_info

    def close(self) -> None:
        """Close both ends with a reset, which discards unsent data, so that no packets follow after the flow's end."""
        self._is_closed = True
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


class TcpFlow(RunningFlow["TcpItem"]):
    """A group of TCP connections between the same two hosts that start together, as an item of traffic."""

    def __init__(self, item: TcpItem, place: FlowContext) -> None:
        """Open the sockets of all connections of the item, each on a port of its own; `place` has the plan, the network
        and the first port. Raises OSError or ThroughputError if that fails.
        """
        super().__init__(item, place)
        src, dst, address = place.pid(item["src"]), place.pid(item["dst"]), item["address"]
        self.streams = [
            TcpStream(src, dst, address, place.port + k, item, share) for k, share in enumerate(_shares(item))
        ]
        self.ports = len(self.streams)
        self._finished: dict[int, _FinishedStream] = {}
        self._reported_end: set[int] = set()

    def launch(self, origin_s: float) -> None:
        """Start the threads of all connections, which connect at `origin_s` + `start_s` in s on the monotonic clock."""
        self._origin_s = origin_s
        for number, stream in enumerate(self.streams):
            stream.receiving = self._thread(stream.receive)
            stream.receiving.start()
            self._start(self._run, number, stream)

    def _run(self, number: int, stream: TcpStream) -> None:
        """Run the connection of this number: connect and send from the flow's start to its end, or until its bytes have
        arrived, note its counters and close it.
        """
        sleep_until(self._origin_s + self.start_s)
        end_s = self._origin_s + self.end_s
        try:
            stream.send(end_s)
        except OSError:
            stream.close()
            raise
        if stream.num_bytes is not None:
            stream.receiving.join(max(0.0, end_s - time.monotonic()))
        else:
            sleep_until(end_s)
        self._finished.setdefault(number, self._end_of(stream))
        stream.close()

    def sample(self, at_s: float) -> list[StreamSample]:
        """Return one row of cumulative counters for each open connection, with the time `at_s` in s from the run's
        start; one that has ended since the last call has its last row.
        """
        found: list[StreamSample] = []
        for number, stream in enumerate(self.streams):
            # A stream that has just ended returns its totals once, and no rows after that.
            ended = self._finished.get(number)
            reading = stream.read() if ended is None else ended.state
            if number in self._reported_end:
                continue
            if ended is not None:
                self._reported_end.add(number)
            if reading:
                found.append(cast("StreamSample", {"flow": self.label, "stream": number, "t_s": at_s, **reading}))
        return found

    def finish(self, until_s: float) -> None:
        """Wait for the ends of all connections, each at most until `until_s` in s on the monotonic clock."""
        for thread in self._threads:
            thread.join(max(0.1, until_s - time.monotonic()))

    def totals(self) -> TcpTotals:
        """Return the totals with a row for each connection that delivered data, in the order of their numbers; it is an
        error if others did not.
        """
        rows = [
            self._row(number, ended, ended.first_s)
            for number, ended in sorted(self._finished.items())
            if ended.first_s is not None
        ]
        missing = len(self.streams) - len(rows)
        if missing and not self.errors:
            self.errors.append(f"{missing} of {len(self.streams)} connections delivered nothing before the flow's end")
        return {**super().totals(), "streams": rows}

    def totals_so_far(self) -> TcpTotals:
        """Return the totals that the flow would have if its open connections ended now; they go on."""
        kept, errors = dict(self._finished), list(self.errors)
        try:
            self._finished.update(self._open_streams())
            return {**self.totals(), "error": "; ".join(errors) or None}
        finally:
            self._finished, self.errors = kept, errors

    def stop(self) -> None:
        """Note the counters of the connections that are open, stop their senders and close them."""
        ended = self._open_streams()
        self._finished.update(ended)
        for number in ended:
            sender = self.streams[number].sender
            if sender is not None:
                sender.stop()
            self.streams[number].close()

    def _open_streams(self) -> dict[int, _FinishedStream]:
        """Return the present counters of the connections that are open, by their numbers."""
        return {
            number: self._end_of(stream)
            for number, stream in enumerate(self.streams)
            if number not in self._finished and stream.sender is not None
        }

    @staticmethod
    def _end_of(stream: TcpStream) -> _FinishedStream:
        """Return the counters and times of a connection as if it ended now, or with the time of its last data if the
        receiver has all.
        """
        receiver = stream.receiver
        first_s, last_s = (None, None) if receiver is None else (receiver.first_s, receiver.last_s)
        return _FinishedStream(
            stream.read() or stream.last_info, stream.connect_s, first_s, time.monotonic() if last_s is None else last_s
        )

    def _row(self, number: int, ended: _FinishedStream, first_s: float) -> StreamTotals:
        """Return the row of totals of the connection of this number; its times are in s from the run's start, and
        `first_s` is the arrival of its first bytes on the monotonic clock.
        """
        state = ended.state
        return {
            **state,
            "stream": number,
            # Round: a difference of floats has more digits than the clock.
            "connect_s": round(ended.connect_s - self._origin_s, 9),
            "first_s": round(first_s - self._origin_s, 9),
            "last_s": round(ended.last_s - self._origin_s, 9),
            "throughput_bytes": tcp_ip_bytes(
                state.get("segments_in"), state.get("sent_bytes"), state.get("segments_out")
            ),
        }
