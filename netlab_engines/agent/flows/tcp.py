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
    """Return the number of bytes that each of a flow's connections sends, in their order; None means until the flow's
    end.
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
        """Open the sockets; see `TcpConnection`."""
        super().__init__(src_pid, dst_pid, address, port, tuning)
        self.num_bytes = num_bytes
        self._window_bytes = tuning.window_bytes
        self.source = self.connecting
        self.sender: TcpSender | None = None
        self.receiver: TcpReceiver | None = None
        self.receiving = threading.Thread(target=self.receive, daemon=True)

    @property
    def first_s(self) -> float | None:
        return None if self.receiver is None else self.receiver.first_s

    @property
    def last_s(self) -> float | None:
        return None if self.receiver is None else self.receiver.last_s

    @property
    def has_started(self) -> bool:
        return self.sender is not None

    def send(self, end_s: float) -> None:
        """Connect and send until `end_s`, in s on the monotonic clock, or until all of its bytes are sent; blocks
        meanwhile. `receive` must run in a thread of its own. Raises OSError if it cannot connect.
        """
        self.connect()
        self.sender = TcpSender(self.connecting, end_s=end_s, num_bytes=self.num_bytes)
        self.sender.run()

    def receive(self) -> None:
        """Accept the connection and read until its end; blocks, and returns at once if the flow ends before it was
        connected.
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
        """End what it sends now."""
        if self.sender is not None:
            self.sender.stop()

    def _received_bytes(self, info: tcp_info.TcpInfo) -> int | None:
        """Return the number of bytes that have arrived at the receiver, whose counters are `info`."""
        # The receiver's count costs another system call; it is needed only at the end, when the kernel's count includes the FIN.
        if self.receiver is not None and self.receiver.finished:
            return self.receiver.received_bytes
        return info.bytes_received


class TcpFlow(ConnectionsFlow["TcpItem"]):
    """A group of TCP connections between the same two hosts that start together, as an item of traffic."""

    def __init__(self, item: TcpItem, place: FlowContext) -> None:
        """Open the sockets of all connections of the item, each on a port of its own; `place` has the plan, the network
        and the first port. Raises OSError or ThroughputError if that fails.
        """
        super().__init__(item, place)
        src, dst, address = place.pid(item["src"]), place.pid(item["dst"]), item["address"]
        tuning = Tuning(item["congestion"], item["window_bytes"], item["mss_bytes"])
        self.streams: list[TcpStream] = [
            TcpStream(src, dst, address, place.port + k, tuning, share) for k, share in enumerate(_shares(item))
        ]
        self.ports = len(self.streams)

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
