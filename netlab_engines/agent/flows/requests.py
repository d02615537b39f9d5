"""Requests and responses over persistent TCP connections, of the traffic kind "requests"."""

from __future__ import annotations

import functools
import itertools
import mmap
import select
import socket
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from netlab.base.units import NS_PER_S
from netlab_engines.agent.flows.base import FlowContext, sleep_until
from netlab_engines.agent.flows.connections import ConnectionsFlow, TcpConnection, Tuning
from netlab_engines.sockets import tcp_info
from netlab_engines.sockets.constants import RECEIVE_CHUNK_BYTES
from netlab_engines.sockets.moments import forbid_timer_slack, sleep_until_ns
from netlab_engines.sockets.tcp import TcpSender

if TYPE_CHECKING:
    from netlab.traffic.requests import ConnectionEnd, RequestsItem, RequestsTotals, Response


@functools.cache
def _discard_buffer() -> mmap.mmap:
    """Return a buffer of RECEIVE_CHUNK_BYTES bytes, the same at each call, for `recv_into` with MSG_TRUNC, which
    discards the data and never writes to the buffer, so that it takes no memory.
    """
    return mmap.mmap(-1, RECEIVE_CHUNK_BYTES)


class _Exchange:
    """A request and its response: its number, the times in ns on the monotonic clock, and the losses of the server's
    connection before.
    """

    def __init__(self, number: int, source: socket.socket | None) -> None:
        """Note that the request with this number (from 0, in the flow) is sent now, and the retransmissions and
        timeouts of the server's socket `source` so far; with None, the server has not accepted yet, and both are 0.
        """
        self.number = number
        self.start_ns = time.monotonic_ns()
        self.end_ns: int | None = None
        self.retransmits, self.timeouts = 0, 0
        # The server may have no socket yet when the first request is sent.
        if source is not None:
            with suppress(OSError):
                info = tcp_info.read_tcp_info(source)
                self.retransmits, self.timeouts = info.retransmits or 0, info.timeouts or 0


class RequestConnection(TcpConnection):
    """A connection whose connecting host, the client, asks, and whose other host, the server, answers.

    `request_bytes` and `response_bytes` are the sizes; the other parameters are those of `TcpConnection`.
    """

    def __init__(
        self,
        src_pid: int,
        dst_pid: int,
        address: str,
        port: int,
        tuning: Tuning,
        *,
        request_bytes: int,
        response_bytes: int,
    ) -> None:
        """Open the client's socket in the namespace of the process or thread `src_pid` and the server's listening one
        at the IPv4 address `address` and the port `port` in that of `dst_pid`, with the settings `tuning`. Each request
        has `request_bytes` bytes and each response `response_bytes`. Raises OSError or ThroughputError if that fails.
        """
        super().__init__(src_pid, dst_pid, address, port, tuning)
        self.sink = self.connecting
        self.exchanges: list[_Exchange] = []
        self._request_bytes, self._response_bytes = request_bytes, response_bytes
        self._senders: dict[str, TcpSender] = {}

    @property
    def first_s(self) -> float | None:
        """The time in s on the monotonic clock at which the first complete response had arrived at the client; None if
        none has.
        """
        ends = (exchange.end_ns for exchange in self.exchanges if exchange.end_ns is not None)
        first_ns = next(ends, None)
        return None if first_ns is None else first_ns / NS_PER_S

    @property
    def last_s(self) -> float | None:
        """The time in s on the monotonic clock at which the latest complete response had arrived at the client; None if
        none has.
        """
        ends = (exchange.end_ns for exchange in reversed(self.exchanges) if exchange.end_ns is not None)
        last_ns = next(ends, None)
        return None if last_ns is None else last_ns / NS_PER_S

    @property
    def has_started(self) -> bool:
        """Always True: a connection of requests can be stopped, and has totals, from the beginning."""
        return True

    def serve(self, end_s: float) -> None:
        """Run the server: accept the connection and answer each complete request with a response, until the client
        closes, the flow ends or a response is not sent by `end_s`, in s on the monotonic clock; blocks. Raises OSError
        if the connection fails.
        """
        forbid_timer_slack()
        source = self.accept()
        if source is None:
            return
        self.source = source
        if self.is_closed:
            source.close()
            return
        source.setblocking(False)
        waiting = select.poll()
        waiting.register(source, select.POLLIN | select.POLLRDHUP)
        read_bytes = 0
        while not self.is_closed:
            try:
                left_bytes = min(self._request_bytes - read_bytes, RECEIVE_CHUNK_BYTES)
                count = source.recv_into(_discard_buffer(), left_bytes, socket.MSG_TRUNC)
            except BlockingIOError:
                waiting.poll()
                continue
            except OSError:
                if self.is_closed:
                    return
                raise
            if count == 0:
                return
            read_bytes += count
            if read_bytes < self._request_bytes:
                continue
            read_bytes = 0
            if not self._send("server", source, self._response_bytes, end_s):
                return

    def ask(self, number: int, end_s: float) -> bool:
        """Send the request with this number (from 0, in the flow), record it and wait for the whole response; blocks.
        Return True if it came, False if the flow or the connection ended before, or the request was not sent by `end_s`
        in s on the monotonic clock. Raises OSError if the connection fails.
        """
        exchange = _Exchange(number, self.source)
        self.exchanges.append(exchange)
        client = self.connecting
        if not self._send("client", client, self._request_bytes, end_s):
            return False
        left_bytes = self._response_bytes
        try:
            client.settimeout(None)
            while left_bytes:
                chunk_bytes = min(left_bytes, RECEIVE_CHUNK_BYTES)
                count = client.recv_into(_discard_buffer(), chunk_bytes, socket.MSG_TRUNC | socket.MSG_WAITALL)
                if self.is_closed or count == 0:
                    return False
                left_bytes -= count
        except OSError:
            if self.is_closed:
                return False
            raise
        exchange.end_ns = time.monotonic_ns()
        return True

    def stop(self) -> None:
        """Stop the sending of the request or response that is under way; the sockets stay open."""
        for sender in list(self._senders.values()):
            sender.stop()

    def close(self) -> None:
        """Close both ends of the connection with a reset, and let the threads that wait for its data return."""
        self.is_closed = True
        for end in (self.sink, self.source):
            if end is not None:
                with suppress(OSError):
                    end.shutdown(socket.SHUT_RD)
        super().close()

    def _send(self, role: str, end: socket.socket, num_bytes: int, end_s: float) -> bool:
        """Send `num_bytes` bytes from the socket `end`, whose `role` is "client" or "server", until `end_s` in s on the
        monotonic clock at most; blocks. Return whether all were sent, False also if the flow has ended. Raises OSError
        if the connection fails.
        """
        sender = TcpSender(end, end_s=end_s, num_bytes=num_bytes)
        self._senders[role] = sender
        if self.is_closed:
            return False
        try:
            sender.send()
        except (OSError, ValueError):
            # A closed socket has no descriptor, which poll refuses with a ValueError.
            if self.is_closed:
                return False
            raise
        return sender.sent_bytes == num_bytes


class RequestsFlow(ConnectionsFlow["RequestsItem"]):
    """A group of connections between a client and a server that start together, as an item of traffic."""

    def __init__(self, item: RequestsItem, place: FlowContext) -> None:
        """Open the sockets of all connections of the item, each on a port of its own from the first port of `place` on;
        nothing is connected yet. `place` has the plan and the running network too. Raises OSError or ThroughputError if
        that fails.
        """
        super().__init__(item, place)
        src, dst, address = place.pid(item["src"]), place.pid(item["dst"]), item["address"]
        self.streams: list[RequestConnection] = [
            RequestConnection(
                src, dst, address, place.port + number, Tuning(item["congestion"]),
                request_bytes=item["request_bytes"], response_bytes=item["response_bytes"],
            )
            for number in range(item["connections"])
        ]  # fmt: skip
        self.ports = len(self.streams)

    def launch(self, origin_s: float) -> None:
        """Start the threads of all connections and return at once. `origin_s` is the run's start in s on the monotonic
        clock; the connections are made at `origin_s` + `start_s`.
        """
        self._origin_s = origin_s
        for number, stream in enumerate(self.streams):
            self._thread(stream.serve, origin_s + self.end_s).start()
            self._start(self._ask, number, stream)
            self._start(self._end, number, stream)

    def totals(self) -> RequestsTotals:
        """Return the flow's totals, a dict: those of `ConnectionsFlow.totals`; "responses", a row for each request that
        was sent, in the order of their numbers ("number", "stream", "start_s" and "end_s" in s from the run's start,
        None without a whole response, and the "retransmits" and "timeouts" before it); and "ends", a row for each
        connection that has ended ("stream", "received_bytes", "retransmits", "timeouts").
        """
        origin_ns = round(self._origin_s * NS_PER_S)
        responses: list[Response] = [
            {
                "number": exchange.number,
                "stream": number,
                "start_s": (exchange.start_ns - origin_ns) / NS_PER_S,
                "end_s": None if exchange.end_ns is None else (exchange.end_ns - origin_ns) / NS_PER_S,
                "retransmits": exchange.retransmits,
                "timeouts": exchange.timeouts,
            }
            for number, stream in enumerate(self.streams)
            for exchange in stream.exchanges
        ]
        ends: list[ConnectionEnd] = [
            {
                "stream": number,
                "received_bytes": ended.state.get("received_bytes") or 0,
                "retransmits": ended.state.get("retransmits") or 0,
                "timeouts": ended.state.get("timeouts") or 0,
            }
            for number, ended in sorted(self._finished_streams.items())
        ]
        return {**super().totals(), "responses": sorted(responses, key=lambda row: row["number"]), "ends": ends}

    def _ask(self, number: int, stream: RequestConnection) -> None:
        """Run the client of the connection with this number (from 0): connect at the flow's start and send every
        request of the connection when it is due, after the response to the one before. Close the connection after the
        last response; if requests are left at the flow's end, it stays open. Runs in a thread; raises OSError if the
        connection fails.
        """
        forbid_timer_slack()
        item, start_ns = self.item, round((self._origin_s + self.start_s) * NS_PER_S)
        end_s = self._origin_s + self.end_s
        end_ns = round(end_s * NS_PER_S)
        think_ns = round(item["think_s"] * NS_PER_S)
        interval_ns = round((item["interval_s"] or 0.0) * NS_PER_S)
        sleep_until(self._origin_s + self.start_s)
        if stream.is_closed:
            return
        try:
            stream.connect()
        except OSError:
            if stream.is_closed:
                return
            stream.close()
            raise
        next_ns = 0
        for request in itertools.count(number, item["connections"]):
            if item["count"] is not None and request >= item["count"]:
                break
            due_ns = max(next_ns, start_ns + request * interval_ns)
            if due_ns >= end_ns:
                # The connection stays open until the end.
                return
            sleep_until_ns(due_ns)
            if stream.is_closed or not stream.ask(request, end_s):
                return
            next_ns = time.monotonic_ns() + think_ns
        self._conclude(number, stream)

    def _end(self, number: int, stream: RequestConnection) -> None:
        """Wait until the flow's end, then note the counters of the connection with this number (from 0), stop its
        senders and close it, unless that was done; runs in a thread.
        """
        sleep_until(self._origin_s + self.end_s)
        self._conclude(number, stream)

    def _conclude(self, number: int, stream: RequestConnection) -> None:
        """Note the counters of the connection with this number (from 0) for `totals`, stop its senders and close it; do
        nothing if its counters are noted already.
        """
        ended = self._end_of(stream)
        if self._finished_streams.setdefault(number, ended) is ended:
            stream.stop()
            stream.close()
