"""Bulk data over TCP, of the traffic kind "tcp"."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from netlab_engines.agent.flows.base import FlowContext, sleep_until
from netlab_engines.agent.flows.connections import ConnectionsFlow, TcpConnection, Tuning
from netlab_engines.sockets import tcp_info
from netlab_engines.sockets.tcp import TcpReceiver, TcpSender

if TYPE_CHECKING:
    from netlab.traffic.tcp import TcpItem


def _shares(item: TcpItem) -> list[int | None]:
    """Return the number of bytes that each of an item's connections sends, in the order of their numbers: the item's
    bytes divided equally, the first connections with one more if there is a rest. None for each means to send until the
    flow's end.
    """
    streams, num_bytes = item["streams"], item["num_bytes"]
    if num_bytes is None:
        return [None] * streams
    share, rest = divmod(num_bytes, streams)
    return [share + (number < rest) for number in range(streams)]


class TcpStream(TcpConnection):
    """A TCP connection whose connecting host sends; the connection is made by `send`.

    `num_bytes` is the number of bytes to send, or None to send until the flow's end; the other parameters are those of
    `TcpConnection`.
    """

    def __init__(
        self, src_pid: int, dst_pid: int, address: str, port: int, tuning: Tuning, num_bytes: int | None
    ) -> None:
        """Open the sender's socket in the namespace of the process or thread `src_pid` and the receiver's listening one
        at the IPv4 address `address` and the port `port` in that of `dst_pid`, with the settings `tuning`. `num_bytes`
        are to be sent; None: until the flow's end. Raises OSError or ThroughputError if that fails.
        """
        super().__init__(src_pid, dst_pid, address, port, tuning)
        self.num_bytes = num_bytes
        self._window_bytes = tuning.window_bytes
        self.source = self.connecting
        self.sender: TcpSender | None = None
        self.receiver: TcpReceiver | None = None
        self.receiving = threading.Thread(target=self.receive, daemon=True)

    @property
    def first_s(self) -> float | None:
        """The time in s on the monotonic clock at which the first data arrived at the receiver; None if none did."""
        return None if self.receiver is None else self.receiver.first_s

    @property
    def last_s(self) -> float | None:
        """The time in s on the monotonic clock at which the last data arrived at the receiver; None if more may
        come.
        """
        return None if self.receiver is None else self.receiver.last_s

    @property
    def has_started(self) -> bool:
        """True once the connection is made and its sender exists."""
        return self.sender is not None

    def send(self, end_s: float) -> None:
        """Connect and send until `end_s`, in s on the monotonic clock, or until all bytes of the connection are sent;
        blocks. `receive` must run in another thread. Raises OSError if it cannot connect; a later error is kept in the
        sender.
        """
        self.connect()
        self.sender = TcpSender(self.connecting, end_s=end_s, num_bytes=self.num_bytes)
        self.sender.run()

    def receive(self) -> None:
        """Accept the connection and read its data until the sender closes it; blocks. Returns at once if the flow ended
        before the connection was made.
        """
        sink = self.accept()
        if sink is None:
            return
        self.receiver = TcpReceiver(sink, window_bytes=self._window_bytes, num_bytes=self.num_bytes)
        self.sink = sink
        if self.is_closed:
            sink.close()
            return
        self.receiver.run()

    def stop(self) -> None:
        """Stop the sender; the sockets stay open. Nothing happens if the connection is not made yet."""
        if self.sender is not None:
            self.sender.stop()

    def _received_bytes(self, info: tcp_info.TcpInfo) -> int | None:
        """Return the number of bytes of data that have arrived at the receiver: those that the receiver has read if it
        has finished, and else the count in `info`, the kernel's counters of the receiving socket (None if it has none).
        """
        # The receiver's count costs another system call; it is needed only at the end, when the kernel's count includes the FIN.
        if self.receiver is not None and self.receiver.finished:
            return self.receiver.received_bytes
        return info.bytes_received


class TcpFlow(ConnectionsFlow["TcpItem"]):
    """A group of TCP connections between the same two hosts that start together, as an item of traffic."""

    def __init__(self, item: TcpItem, place: FlowContext) -> None:
        """Open the sockets of all connections of the item, each on a port of its own from the first port of `place` on;
        nothing is connected yet. `place` has the plan and the running network too. Raises OSError or ThroughputError if
        that fails.
        """
        super().__init__(item, place)
        src, dst, address = place.pid(item["src"]), place.pid(item["dst"]), item["address"]
        tuning = Tuning(item["congestion"], item["window_bytes"], item["mss_bytes"])
        self.streams: list[TcpStream] = [
            TcpStream(src, dst, address, place.port + k, tuning, share) for k, share in enumerate(_shares(item))
        ]
        self.ports = len(self.streams)

    def launch(self, origin_s: float) -> None:
        """Start the threads of all connections and return at once. `origin_s` is the run's start in s on the monotonic
        clock; the connections are made at `origin_s` + `start_s`.
        """
        self._origin_s = origin_s
        for number, stream in enumerate(self.streams):
            stream.receiving = self._thread(stream.receive)
            stream.receiving.start()
            self._start(self._run, number, stream)

    def _run(self, number: int, stream: TcpStream) -> None:
        """Run the connection with this number (from 0) in a thread: connect at the flow's start and send until its end
        or, if the connection has a number of bytes, until these have arrived or the flow's end; then note its counters
        and close it. Raises OSError if it cannot connect.
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
        self._finished_streams.setdefault(number, self._end_of(stream))
        stream.close()
