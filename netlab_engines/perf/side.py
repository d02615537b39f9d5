"""The common part of client and server: the control connection of a test and one side's ends of its streams."""

import queue
import socket
import threading
from collections.abc import Callable, Mapping
from typing import Any

from netlab.base.errors import ThroughputError
from netlab_engines.perf.endpoints import (
    Counters,
    Endpoint,
    TcpReceiving,
    TcpSending,
    UdpReceiving,
    UdpSending,
)
from netlab_engines.perf.protocol import Channel, Message, TestRequest
from netlab_engines.sockets import tcp_info


class Side:
    """The common part of the client and the server of one test: the control connection and this side's ends of the
    streams, by the stream's index.

    Events are messages from the other side, messages that threads of this side queue, and the error that ends the test.
    """

    at_client: bool

    def __init__(self, sock: socket.socket, peer: str) -> None:
        """Prepare the control connection of a test on an open socket; `peer` names the other side at the beginning of
        errors. Nothing is read before the connection's thread is started.
        """
        self._sock = sock
        self._peer = peer
        self._events: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._channel = Channel(sock, peer, self._events)
        self._endpoints: dict[int, Endpoint] = {}

    def _next_event(self, type_: str, timeout_s: float) -> Message:
        """Return the next event of the control connection, which must be a message of the type `type_`, such as
        "READY". Raises TimeoutError if none comes within `timeout_s` s, and ThroughputError if it is another or an
        error.
        """
        try:
            message = self._as_message(self._events.get(timeout=timeout_s))
        except queue.Empty:
            raise TimeoutError(f"No {type_} arrived within {timeout_s:g} s.") from None
        if message["type"] != type_:
            raise ThroughputError(f"{self._peer} sent {message['type'][:40]!r} instead of {type_!r}.")
        return message

    def _as_message(self, event: Any) -> Message:
        """Return `event`, an event of the control connection, as a message; if it is a ThroughputError, raise it."""
        if isinstance(event, ThroughputError):
            raise event
        message: Message = event
        return message

    def _add_end(
        self, index: int, request: TestRequest, sock: socket.socket, *, stream_id: int = 0, skipped_bytes: int = 0
    ) -> Endpoint:
        """Make this side's end of the stream with the index `index` (from 0) of a test on an open socket, add it to
        this side and return it; the test's direction decides whether it sends. `stream_id` is the number of a UDP
        stream's datagrams, and `skipped_bytes` were read from a TCP connection before. Raises ThroughputError if the
        kernel does not have the test's congestion control.
        """
        sends = request.client_sends(index) == self.at_client
        endpoint: Endpoint
        if request.protocol == "udp":
            endpoint = (UdpSending if sends else UdpReceiving)(index, request, sock, stream_id)
        else:
            endpoint = TcpSending(index, request, sock) if sends else TcpReceiving(index, request, sock, skipped_bytes)
        self._endpoints[index] = endpoint
        return endpoint

    def _start_ends(self, start_s: float, *, sends: bool) -> list[Endpoint]:
        """Start those ends of this side that send, if `sends`, or else those that receive, and return them; `start_s`
        is the test's start in s on this side's monotonic clock.
        """
        found = [endpoint for endpoint in self._endpoints.values() if endpoint.sends == sends]
        for endpoint in found:
            endpoint.start(start_s)
        return found

    def _when_finished(self, endpoints: list[Endpoint], on_finish: Callable[[], None]) -> None:
        """Call `on_finish` in a new thread as soon as all of these ends have finished; return at once."""

        def announce() -> None:
            """Wait until all of the ends have finished, then call `on_finish`."""
            for endpoint in endpoints:
                endpoint.finished.wait()
            on_finish()

        threading.Thread(target=announce, name="announcer", daemon=True).start()

    def _wait_for_datagrams(self, sent: Mapping[int, Counters]) -> None:
        """Wait for datagrams in flight until all have arrived or none came for three round trips (at least 0.5 s), then
        stop this side's UDP receivers; `sent` has the counters of the other side by the stream's index (from 0).
        """
        quiet_s = max(0.5, 3 * (tcp_info.read_tcp_info(self._sock).rtt_ms or 0) / 1000)
        for index, endpoint in self._endpoints.items():
            if isinstance(endpoint, UdpReceiving):
                endpoint.wait_for_rest(sent[index].get("datagrams") or 0, quiet_s)
                endpoint.stop()

    def _counters(self) -> dict[int, Counters]:
        """Return the totals of each of this side's ends, a dict as `Endpoint.counters` returns it, by the stream's
        index (from 0).
        """
        return {index: endpoint.counters() for index, endpoint in self._endpoints.items()}

    def _close(self) -> None:
        """Close this side's ends of all streams and the control connection."""
        for endpoint in self._endpoints.values():
            endpoint.close()
        self._channel.close()
