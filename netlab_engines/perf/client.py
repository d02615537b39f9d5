"""The client of ``netlab perf``: it runs one test with a server, from HELLO to ACK: BYE."""

import errno
import queue
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from netlab.base.errors import ThroughputError
from netlab_engines.perf import protocol
from netlab_engines.perf.endpoints import PATIENCE_S, Counters
from netlab_engines.perf.protocol import (
    HANDSHAKE_S,
    Message,
    TestRequest,
    boot_id,
    counters_by_index,
    counters_in_order,
)
from netlab_engines.perf.report import combine
from netlab_engines.perf.sampler import Sampler
from netlab_engines.perf.side import Side
from netlab_engines.sockets.datagrams import MAX_STREAM_ID
from netlab_engines.sockets.options import tune_tcp

CONNECT_S = 5.0
_HELLO_TRIES = 15
_HELLO_EVERY_S = 0.2


def run_test(
    host: str, port: int, request: TestRequest, *, on_rows: Callable[[list[Counters]], None] | None = None
) -> dict[str, Any]:
    """Run the test `request` with the ``netlab perf`` server at the name or address `host` and this port to its end,
    and return its report, a dict: "sum" and "streams" (totals of all streams and of each), "intervals" (samples of both
    sides) and "settings". `on_rows` gets the samples of all streams at the end of each interval, in a thread of its own.

    Raises
    ------
    ThroughputError
        If there is no server, the server refuses the test, or the connection breaks.
    """
    request.check()
    return _Test(host, port, request, on_rows).run()


class _Test(Side):
    """The client's side of one test: its control connection and its ends of the streams."""

    at_client = True

    def __init__(
        self, host: str, port: int, request: TestRequest, on_rows: Callable[[list[Counters]], None] | None
    ) -> None:
        """Connect to the ``netlab perf`` server at the name or address `host` and this port, and announce a control
        connection for the test `request`. `on_rows` gets the samples of each interval (None: nothing is called). Raises
        ThroughputError if there is no server.
        """
        self._request = request
        self._on_rows = on_rows
        self._server = f"{host} port {port}"
        sock = connect(host, port)
        self._address = sock.getpeername()
        sock.sendall(protocol.greeting("control"))
        super().__init__(sock, f"The server at {self._server}")

    def run(self) -> dict[str, Any]:
        """Run the whole test with the server and return its report, a dict with "sum", "streams", "intervals" and
        "settings"; all connections are closed at the end. Raises ThroughputError if it fails.
        """
        self._channel.start()
        try:
            ready = self._agree()
            self._open_streams(ready)
            self._next_event("STREAMS", HANDSHAKE_S)
            with Sampler(list(self._endpoints.values()), self._request, self._start(), self._on_rows) as sampler:
                self._wait_for_streams()
            return self._finish_test(ready, sampler.rows)
        finally:
            self._close()

    def _agree(self) -> Message:
        """Ask the server for the test and return its READY message, a dict with the test's token ("token", hexadecimal
        digits) and the number of its first UDP stream ("stream_id"). Raises ThroughputError if it refuses or the
        message lacks one.
        """
        self._channel.send("HELLO", test=self._request.to_message(), boot_id=boot_id())
        ready = self._next_event("READY", HANDSHAKE_S)
        if not isinstance(ready.get("token"), str) or not isinstance(ready.get("stream_id"), int):
            raise ThroughputError(f"{self._peer} answered with a READY that lacks its token.")
        return ready

    def _open_streams(self, ready: Message) -> None:
        """Open this side's end of each stream of the test; `ready` is the server's READY message, which has the test's
        token and the number of its first UDP stream. Raises ThroughputError if one cannot be opened.
        """
        for index in range(self._request.streams):
            if self._request.protocol == "tcp":
                self._open_tcp(index, ready["token"])
            else:
                stream_id = (ready["stream_id"] + 2 * index) & MAX_STREAM_ID
                self._open_udp(index, stream_id, bytes.fromhex(ready["token"]))

    def _open_tcp(self, index: int, token: str) -> None:
        """Connect the TCP stream with this index (from 0), with the window, segment size and congestion control that
        the test asks for, announce it to the server by the test's token (hexadecimal digits), and add this side's end
        of it to the test. Raises ThroughputError if that fails.
        """
        request = self._request
        with self._stream_socket(index, socket.SOCK_STREAM, "connect to") as sock:
            tune_tcp(
                sock,
                congestion=request.congestion, window_bytes=request.window_bytes, mss_bytes=request.mss_bytes,
            )  # fmt: skip
            sock.settimeout(CONNECT_S)
            sock.connect(self._address)
            sock.sendall(protocol.greeting("stream", token, index))
            sock.settimeout(None)
            self._add_end(index, request, sock)

    def _open_udp(self, index: int, stream_id: int, token: bytes) -> None:
        """Open the UDP stream with this index (from 0), whose datagrams have the number `stream_id`: send datagrams
        with the test's token until the server answers, so that packets pass both ways and ARP has finished; then add
        this side's end of it to the test. Raises ThroughputError if the server does not answer or has reported an
        error.
        """
        with self._stream_socket(index, socket.SOCK_DGRAM, "greet") as sock:
            sock.connect(self._address)
            sock.settimeout(_HELLO_EVERY_S)
            for _ in range(_HELLO_TRIES):
                try:
                    sock.send(protocol.hello_datagram(stream_id, token))
                    if protocol.read_hello(sock.recv(256)) == (stream_id, b""):
                        break
                except (TimeoutError, ConnectionRefusedError):
                    self._raise_waiting_error()
            else:
                raise ThroughputError(
                    f"{self._peer} answers over TCP, but not over UDP within {_HELLO_TRIES * _HELLO_EVERY_S:g} s: "
                    "a firewall on the path or at either end may drop UDP."
                )
            sock.settimeout(None)
            self._add_end(index, self._request, sock, stream_id=stream_id)

    @contextmanager
    def _stream_socket(self, index: int, kind: socket.SocketKind, doing: str) -> Iterator[socket.socket]:
        """Return a context manager that yields a new socket of this kind (TCP or UDP) for the stream with the index
        `index` (from 0). If its block fails, the socket is closed and ThroughputError is raised, whose text says what
        the stream could not do: `doing`, such as "connect to".
        """
        sock = socket.socket(self._sock.family, kind)
        try:
            yield sock
        except OSError as error:
            sock.close()
            raise ThroughputError(f"Stream {index + 1} could not {doing} {self._server}: {_reason(error)}.") from None
        except ThroughputError:
            sock.close()
            raise

    def _raise_waiting_error(self) -> None:
        """Raise the error in the next waiting event, if that is an error; if it is none, put the event back at the end
        of the queue. Nothing happens if no event waits.
        """
        try:
            event = self._events.get_nowait()
        except queue.Empty:
            return
        self._events.put(self._as_message(event))

    def _start(self) -> float:
        """Start the client's receivers, let the server start, then start the client's senders; return the test's start
        in s on this side's monotonic clock, which is when the senders, or without any the receivers, were started.
        Raises ThroughputError if the server does not start.
        """
        start_s = time.monotonic()
        self._start_ends(start_s, sends=False)
        self._channel.send("START")
        self._next_event("STARTED", HANDSHAKE_S)
        now_s = time.monotonic()
        if self._start_ends(now_s, sends=True):
            start_s = now_s
        by_themselves = [end for end in self._endpoints.values() if end.sends or self._request.protocol == "tcp"]
        self._when_finished(by_themselves, lambda: self._events.put({"type": "mine done"}))
        return start_s

    def _wait_for_streams(self) -> None:
        """Wait until all data of both sides has arrived; datagrams in flight have some round trips for that. Raises
        ThroughputError if the streams of a test with a duration do not end within 3 PATIENCE_S s of their planned end,
        or the connection breaks.
        """
        missing = {"mine done"} if self._request.direction == "up" else {"mine done", "DONE"}
        deadline_s = None
        if self._request.duration_s is not None:
            deadline_s = time.monotonic() + self._request.omit_s + self._request.duration_s + 3 * PATIENCE_S
        while missing:
            timeout_s = None if deadline_s is None else max(0.0, deadline_s - time.monotonic())
            try:
                event = self._events.get(timeout=timeout_s)
            except queue.Empty:
                raise ThroughputError(
                    f"The streams did not end within {3 * PATIENCE_S:g} s of their planned end; is "
                    f"{self._server} still reachable?"
                ) from None
            missing.discard(self._as_message(event)["type"])
            if event["type"] == "DONE" and self._request.protocol == "udp":
                self._wait_for_datagrams(counters_by_index(event, self._request))

    def _finish_test(self, ready: Message, rows: list[Counters]) -> dict[str, Any]:
        """Exchange counters with the server and return the test's report, a dict: "sum" (totals of all streams),
        "streams" (of each), "intervals" (samples, each with its "side", "client" or "server") and "settings". `ready`
        is the server's READY message, and `rows` are this side's samples. Raises ThroughputError if the server does not
        answer.
        """
        request = self._request
        own = self._counters()
        self._channel.send("BYE", counters=counters_in_order(own))
        answer = self._next_event("ACK: BYE", 2 * PATIENCE_S)
        same_clock = ready.get("boot_id") == boot_id()
        total, streams = combine(request, own, counters_by_index(answer, request), same_clock=same_clock)
        intervals = [{"side": "client", **row} for row in rows]
        server_rows = answer.get("intervals")
        if isinstance(server_rows, list):
            intervals += [{"side": "server", **row} for row in server_rows if isinstance(row, dict)]
        return {
            "sum": total,
            "streams": streams,
            "intervals": intervals,
            "settings": {**request.to_message(), "server": self._server, "same_clock": same_clock},
        }

    def _next_event(self, type_: str, timeout_s: float) -> Message:
        """Return the next event of the control connection, which must be a message of the type `type_`, such as
        "READY". Raises ThroughputError if it is another or an error, or if none comes within `timeout_s` s.
        """
        try:
            return super()._next_event(type_, timeout_s)
        except TimeoutError:
            raise ThroughputError(
                f"{self._peer} did not send {type_} within {timeout_s:g} s; it may hang, or it may not be a netlab perf server."
            ) from None

    def _as_message(self, event: Any) -> Message:
        """Return `event`, an event of the control connection, as a message. Raises ThroughputError if it is an error or
        the server's message REFUSED or ERROR.
        """
        message = super()._as_message(event)
        if message["type"] in ("REFUSED", "ERROR"):
            raise ThroughputError(str(message.get("reason", "The server refused the test without a reason."))[:500])
        return message


def connect(host: str, port: int) -> socket.socket:
    """Return a TCP connection to the ``netlab perf`` server at the name or address `host` and this port. Raises
    ThroughputError, with the reason and a remedy, if none can be made within CONNECT_S s.
    """
    where = f"{host} port {port}"
    try:
        sock = socket.create_connection((host, port), CONNECT_S)
    except (socket.gaierror, UnicodeError):
        raise ThroughputError(f"Unknown host {host!r}; check the name, or use its address.") from None
    except ConnectionRefusedError:
        raise ThroughputError(
            f"No server listens at {where}. Start one there with `netlab perf --server --port {port}`."
        ) from None
    except TimeoutError:
        raise ThroughputError(
            f"{where} did not answer within {CONNECT_S:g} s: the address may be wrong, the host down, or a "
            f"firewall drops the packets. Try `ping {host}`."
        ) from None
    except OSError as error:
        raise ThroughputError(f"Cannot reach {where}: {_reason(error)}. Check the address and the routes.") from None
    sock.settimeout(None)
    return sock


def _reason(error: OSError) -> str:
    """Return the reason of a network error as a few words for the end of a sentence, such as "Network is
    unreachable".
    """
    if error.errno == errno.ETIMEDOUT or isinstance(error, TimeoutError):
        return "no answer in time"
    return error.strerror or str(error)
