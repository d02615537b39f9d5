"""The server of ``netlab perf``: it serves many clients at once, with TCP and UDP on one port."""

from __future__ import annotations

import contextlib
import errno
import os
import resource
import secrets
import socket
import threading
import time
from collections.abc import Callable
from typing import Any

from netlab.base.errors import ThroughputError
from netlab_engines.perf import protocol
from netlab_engines.perf.endpoints import PATIENCE_S, Counters, Endpoint
from netlab_engines.perf.protocol import HANDSHAKE_S, TestRequest, boot_id, counters_by_index, counters_in_order
from netlab_engines.perf.report import combine, describe
from netlab_engines.perf.sampler import Sampler
from netlab_engines.perf.side import Side
from netlab_engines.sockets.datagrams import MAX_STREAM_ID

MAX_CLIENTS = 64
MAX_TIME_S = 3600.0
MAX_ROWS_SENT = 2000
_MAX_GREETING_AT_ONCE = 256
MIN_PAUSE_S, MAX_PAUSE_S, MAX_FAILURES = 0.001, 1.0, 20
"""The shortest and longest pause in s after an error, and the number of errors in a row after which pauses stop growing."""


class Server:
    """A server of ``netlab perf`` that listens from its creation on and serves tests of many clients at once, each in
    threads of its own, until `close`.

    Parameters
    ----------
    bind : str or None
        The address to listen on, or None for all IPv4 and IPv6 addresses.
    port : int
        The port for TCP and UDP; 0 lets the system choose one (see the attribute `port`).
    max_clients : int
        The largest number of simultaneous tests.
    max_time_s : float
        The longest test that a client may request, in s.
    on_line : callable, optional
        Called with each line of the log.
    on_report : callable, optional
        Called with the peer, the request and the report (`sum` and `streams`) of each finished test.

    Raises
    ------
    ThroughputError
        If it cannot listen there.
    """

    def __init__(
        self,
        bind: str | None,
        port: int,
        *,
        max_clients: int = MAX_CLIENTS,
        max_time_s: float = MAX_TIME_S,
        on_line: Callable[[str], None] | None = None,
        on_report: Callable[[str, TestRequest, Counters], None] | None = None,
    ) -> None:
        """Listen on the address `bind` (None: all) and a port (0: any free one) for TCP and UDP, for up to
        `max_clients` tests at one time of up to `max_time_s` s each, and raise this process's limit of open files.
        `on_line` gets each line of the log, and `on_report` the peer, the test and the report of each finished test
        (None: nothing is called). Raises ThroughputError if it cannot listen.
        """
        self.max_clients = max_clients
        self.max_time_s = max_time_s
        self.on_line = on_line or (lambda _: None)
        self.on_report = on_report or (lambda *_: None)
        self.tests_done = 0
        self.tests_failed = 0
        self.refused = 0
        self.unknown_clients = 0
        self.received_bytes = 0
        self.sent_bytes = 0
        self._lock = threading.Lock()
        self._sessions: dict[str, ServerSession] = {}
        self._greeting = threading.BoundedSemaphore(_MAX_GREETING_AT_ONCE)
        self._closing = False
        _raise_file_limit()
        self._listener, self._udp = _listen(bind, port)
        self.port: int = self._listener.getsockname()[1]

    def serve(self) -> None:
        """Accept clients, each in a thread of its own, and read datagrams in another; blocks until another thread calls
        `close`, or until an exception such as that of Ctrl-C. Clients beyond a number that have not said what they want
        are rejected and counted. Raises OSError if no more connections can be accepted.
        """
        threading.Thread(target=self._read_hellos, name="hellos", daemon=True).start()
        while True:
            try:
                sock, address = self._listener.accept()
            except OSError as error:
                if self._closing:
                    return
                if error.errno in (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM):
                    # Without free descriptors or memory, running tests go on and the next client waits.
                    time.sleep(0.1)
                    continue
                if error.errno in (errno.ECONNABORTED, errno.EPROTO, errno.EINTR):
                    continue
                raise
            if not self._greeting.acquire(blocking=False):
                self._count_unknown_client()
                sock.close()
                continue
            peer = f"{str(address[0]).removeprefix('::ffff:')}:{address[1]}"
            threading.Thread(target=self._greet, args=(sock, peer), name="greeting", daemon=True).start()

    def close(self) -> None:
        """Stop listening, and end the tests that still run with an error; `serve` then returns."""
        self._closing = True
        for sock in (self._listener, self._udp):
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            sock.close()
        with self._lock:
            sessions = list(self._sessions.values())
        for session in sessions:
            session.abort("The server was stopped.")

    def admit(self, session: ServerSession) -> None:
        """Add a session to the running tests. Raises ThroughputError, and counts a refusal, if `max_clients` tests run
        already.
        """
        with self._lock:
            if len(self._sessions) >= self.max_clients:
                self.refused += 1
                raise ThroughputError(
                    f"The server runs as many tests as it may at once ({self.max_clients}); "
                    f"try again later, or start it with a larger --max-clients."
                )
            self._sessions[session.token] = session

    def release(self, session: ServerSession) -> None:
        """Remove the session from the running tests, so that another client may start one; nothing happens if it is
        none of them.
        """
        with self._lock:
            self._sessions.pop(session.token, None)

    def find(self, token: str) -> ServerSession | None:
        """Return the session of the running test with this token (hexadecimal digits); None if there is none."""
        with self._lock:
            return self._sessions.get(token)

    def count(self, *, done: bool, received_bytes: int = 0, sent_bytes: int = 0) -> None:
        """Add one test to the server's totals, as done if `done`, else as failed, with the numbers of bytes that the
        server received and sent in it.
        """
        with self._lock:
            self.tests_done += done
            self.tests_failed += not done
            self.received_bytes += received_bytes
            self.sent_bytes += sent_bytes

    def _count_unknown_client(self) -> None:
        """Count one connection or datagram that belongs to no test."""
        with self._lock:
            self.unknown_clients += 1

    def _greet(self, sock: socket.socket, peer: str) -> None:
        """Read the first line of the new connection `sock` from the client at the address `peer`: run a new test on it,
        or pass it to the running test whose token the line has, as a stream. Close any other connection, count it, and
        tell the log, unless the server closes. Runs in a thread.
        """
        try:
            with contextlib.ExitStack() as greeting:
                greeting.callback(self._greeting.release)
                parts = protocol.read_greeting(sock)
                if parts[0] == "control":
                    ServerSession(self, sock, peer).run(on_agreement=greeting.close)
                    return
            session = self.find(parts[1])
            if session is None or not session.add_stream(int(parts[2]), sock, len(protocol.greeting(*parts))):
                raise ThroughputError("Unknown test token.")
        except (ThroughputError, OSError) as error:
            self._count_unknown_client()
            sock.close()
            if not self._closing:
                self.on_line(f"{peer}: rejected a connection. {error}")

    def _read_hellos(self) -> None:
        """Read datagrams on the server's port until `close`, and pass each to the running test whose token it has;
        count all others. After an error of the socket, tell the log once and go on after a pause, longer after each
        further one. Runs in a thread.
        """
        failures = 0
        while not self._closing:
            try:
                datagram, address = self._udp.recvfrom(256)
            except OSError as error:
                if self._closing:
                    return
                if not failures:
                    self.on_line(f"Cannot read a datagram: {error}. The server goes on.")
                # Some errors are temporary, such as that of a vanished peer; a lasting one must not keep a processor busy.
                time.sleep(min(MAX_PAUSE_S, MIN_PAUSE_S * 2**failures))
                failures = min(failures + 1, MAX_FAILURES)
                continue
            failures = 0
            hello = protocol.read_hello(datagram)
            session = self.find(hello[1].hex()) if hello else None
            if hello is None or session is None or not session.add_path(hello[0], address):
                self._count_unknown_client()


class ServerSession(Side):
    """The server's side of one client's test, in the thread of its control connection; other
    threads add the streams.
    """

    at_client = False

    def __init__(self, server: Server, sock: socket.socket, peer: str) -> None:
        """Prepare a test of `server` for the client at the address `peer`, on its control connection `sock`, with a new
        random token and first stream number; nothing is read before `run`.
        """
        super().__init__(sock, peer)
        self.token = secrets.token_hex(protocol.TOKEN_BYTES)
        self._base_id = secrets.randbelow(MAX_STREAM_ID + 1)
        self._server = server
        self._request: TestRequest | None = None
        self._joining = threading.Lock()
        self._client_boot_id = ""

    def run(self, on_agreement: Callable[[], None]) -> None:
        """Serve the client until the test ends or fails, add it to the server's totals, pass the report of a finished
        test to `on_report`, and close all connections; an error is sent to the client and logged, and not raised.
        `on_agreement` is called once the test is accepted.
        """
        server = self._server
        self._channel.start()
        try:
            request = self._agree()
            on_agreement()
            server.on_line(f"{self._peer}: {describe(request)}")
            self._wait_for_streams(request)
            with Sampler(list(self._endpoints.values()), request, self._start()) as sampler:
                client_counters = self._wait_for_bye(request)
                report = self._finish(request, sampler, client_counters)
            server.count(
                done=True,
                received_bytes=sum(s["received_bytes"] for s in report["streams"] if s["direction"][0] == "c"),
                sent_bytes=sum(s["sent_bytes"] for s in report["streams"] if s["direction"][0] == "s"),
            )
            server.on_report(self._peer, request, report)
        except (ThroughputError, OSError) as error:
            server.count(done=False)
            server.on_line(f"{self._peer}: the test failed. {error}")
            if self._request is not None:
                # If this fails too, the connection's end is the error that was just reported.
                with contextlib.suppress(ThroughputError):
                    self._channel.send("ERROR", reason=str(error))
        finally:
            server.release(self)
            with self._joining:
                self._request = None
            self._close()

    def abort(self, reason: str) -> None:
        """End the test with an error whose text is `reason`; called by another thread."""
        self._events.put(ThroughputError(reason))

    def add_stream(self, index: int, sock: socket.socket, skipped_bytes: int) -> bool:
        """Add the TCP connection `sock`, of which `skipped_bytes` were read, as the stream with the index `index` (from
        0) of the test, and return True. Return False if the test has no such stream or has it already. If the stream
        cannot be set up, the test ends with an error.
        """
        with self._joining:
            request = self._request
            if request is None or request.protocol != "tcp" or index in self._endpoints or index >= request.streams:
                return False
            sock.settimeout(None)
            try:
                self._add_end(index, request, sock, skipped_bytes=skipped_bytes)
            except ThroughputError as error:
                sock.close()
                self.abort(str(error))
                return True
            self._tell_if_complete(request)
            return True

    def add_path(self, stream_id: int, address: Any) -> bool:
        """Open a socket for the UDP stream whose datagrams have the number `stream_id` to `address`, the client's
        address as `recvfrom` returns it, answer the client and return True; if it is open, only answer. If no socket
        can be opened, end the test with an error and return True. Return False if the test has no such stream.
        """
        with self._joining:
            request = self._request
            index, odd = divmod((stream_id - self._base_id) % (MAX_STREAM_ID + 1), 2)
            if request is None or request.protocol != "udp" or odd or index >= request.streams:
                return False
            if index not in self._endpoints:
                try:
                    sock = self._open_udp(address)
                except OSError as error:
                    self.abort(f"The server could not open a socket for stream {index + 1}: {error.strerror}.")
                    return True
                self._add_end(index, request, sock, stream_id=stream_id)
                self._tell_if_complete(request)
            # If this answer is lost, the client sends another greeting.
            with contextlib.suppress(OSError):
                self._endpoints[index].sock.send(protocol.hello_datagram(stream_id))
            return True

    def _tell_if_complete(self, request: TestRequest) -> None:
        """Put the event "all streams" into the session's queue if all streams of the test `request` are open."""
        if len(self._endpoints) == request.streams:
            self._events.put({"type": "all streams"})

    def _open_udp(self, address: Any) -> socket.socket:
        """Return a UDP socket on the server's port that is connected to `address`, a client's address as `recvfrom`
        returns it, so that it receives from there only. Raises OSError if that fails.
        """
        sock = socket.socket(self._sock.family, socket.SOCK_DGRAM)
        try:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            sock.bind(self._sock.getsockname())
            sock.connect(address)
        except OSError:
            sock.close()
            raise
        return sock

    def _agree(self) -> TestRequest:
        """Wait for the client's HELLO, check the test in it, add the session to the running ones, answer READY and
        return the test. If the test is not allowed or too many run, answer REFUSED and raise ThroughputError. Raises
        TimeoutError if no HELLO comes within HANDSHAKE_S s.
        """
        hello = self._next_event("HELLO", HANDSHAKE_S)
        try:
            request = TestRequest.from_message(hello.get("test"))
            self._check_limits(request)
            self._client_boot_id = str(hello.get("boot_id", ""))
            self._server.admit(self)
        except ThroughputError as error:
            self._channel.send("REFUSED", reason=str(error))
            raise
        with self._joining:
            self._request = request
        self._channel.send("READY", token=self.token, stream_id=self._base_id, boot_id=boot_id())
        return request

    def _check_limits(self, request: TestRequest) -> None:
        """Raise ThroughputError if the planned time of the test `request` is longer than the server allows; a test of a
        number of bytes is allowed.
        """
        length_s = request.omit_s + (request.duration_s or 0)
        if length_s > self._server.max_time_s:
            raise ThroughputError(
                f"This server allows tests of up to {self._server.max_time_s:g} s, got {length_s:g} s; ask "
                f"for less, or start it with a larger --max-time."
            )

    def _wait_for_streams(self, request: TestRequest) -> None:
        """Wait until all streams of the test `request` are open, and tell the client. Raises ThroughputError if some
        are missing after HANDSHAKE_S s.
        """
        try:
            self._next_event("all streams", HANDSHAKE_S)
        except TimeoutError:
            raise ThroughputError(
                f"Only {len(self._endpoints)} of {request.streams} streams reached the server within "
                f"{HANDSHAKE_S:g} s; a firewall may drop the others."
            ) from None
        self._channel.send("STREAMS")

    def _start(self) -> float:
        """Wait for the client's START, start the server's receivers and senders, and return the test's start in s on
        this side's monotonic clock. Raises ThroughputError or TimeoutError if no START comes.
        """
        self._next_event("START", HANDSHAKE_S)
        start_s = time.monotonic()
        self._start_ends(start_s, sends=False)
        self._channel.send("STARTED")
        if senders := self._start_ends(start_s, sends=True):
            self._when_finished(senders, lambda: self._send_delivered(senders))
        return start_s

    def _send_delivered(self, senders: list[Endpoint]) -> None:
        """Tell the client that these senders have delivered everything, with their counters; network errors are
        ignored, because another thread reports them.
        """
        # The session's own thread sees and reports the same errors.
        with contextlib.suppress(ThroughputError, OSError):
            self._channel.send("DONE", counters=counters_in_order({end.index: end.counters() for end in senders}))

    def _wait_for_bye(self, request: TestRequest) -> dict[int, Counters]:
        """Wait for the client's BYE, until 4 PATIENCE_S s after the planned end of the test `request` (or after the
        longest time that the server allows), and return the client's counters, dicts by the stream's index (from 0).
        Raises ThroughputError if none comes.
        """
        allowed_s = self._server.max_time_s
        if request.duration_s is not None:
            allowed_s = request.omit_s + request.duration_s
        try:
            bye = self._next_event("BYE", allowed_s + 4 * PATIENCE_S)
        except TimeoutError:
            raise ThroughputError(f"The client did not end its test within {allowed_s + 4 * PATIENCE_S:g} s.") from None
        return counters_by_index(bye, request)

    def _finish(self, request: TestRequest, sampler: Sampler, client_counters: dict[int, Counters]) -> Counters:
        """Wait for data in flight, stop `sampler`, send the client this side's counters and samples (none if there are
        more than MAX_ROWS_SENT), and return the report: "sum" (the record of all streams) and "streams" (a record for
        each). `client_counters` has the client's counters by the stream's index (from 0).
        """
        self._wait_for_datagrams(client_counters)
        for endpoint in self._endpoints.values():
            if request.protocol == "tcp" and not endpoint.sends:
                endpoint.finished.wait(PATIENCE_S)
        sampler.stop()
        own = self._counters()
        rows = sampler.rows if len(sampler.rows) <= MAX_ROWS_SENT else []
        self._channel.send("ACK: BYE", counters=counters_in_order(own), intervals=rows)
        same_clock = self._client_boot_id == boot_id()
        total, streams = combine(request, client_counters, own, same_clock=same_clock)
        return {"sum": total, "streams": streams}


def _listen(bind: str | None, port: int) -> tuple[socket.socket, socket.socket]:
    """Return a listening TCP socket and a UDP socket on the same port (0: any free one) of the address `bind` (None:
    all IPv4 and IPv6 addresses). Raises ThroughputError, with the reason and a remedy, if that fails.
    """
    where = f"{bind or 'all addresses'} port {port}"
    try:
        if bind is None:
            dual = socket.has_dualstack_ipv6()
            family = socket.AF_INET6 if dual else socket.AF_INET
            host = "::" if dual else "0.0.0.0"  # noqa: S104 (a server that others cannot reach measures nothing)
        else:
            family, _, _, _, address = socket.getaddrinfo(bind, port, type=socket.SOCK_STREAM)[0]
            host, dual = str(address[0]), False
        listener = socket.create_server((host, port), family=family, backlog=512, dualstack_ipv6=dual)
    except socket.gaierror:
        raise ThroughputError(f"{bind!r} is not an address of this computer; see `ip address`.") from None
    except OSError as error:
        raise ThroughputError(f"Cannot listen on {where}: {_reason(error)}") from None
    try:
        udp = socket.socket(family, socket.SOCK_DGRAM)
        if dual:
            udp.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        # The sockets of the streams share the port; each of them is connected to one client.
        udp.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        udp.bind((host, listener.getsockname()[1]))
    except OSError as error:
        listener.close()
        raise ThroughputError(f"Cannot listen on {where} (UDP): {_reason(error)}") from None
    return listener, udp


def _reason(error: OSError) -> str:
    """Return the reason of `error`, which the kernel gave when a port was to be used, with a remedy, as the end of a
    sentence.
    """
    if error.errno == errno.EADDRINUSE:
        return "it is in use, maybe by another server; choose another --port, or end that server (see `ss -tulpn`)."
    if error.errno == errno.EACCES:
        return "ports below 1024 need root; choose one from 1024 to 65535."
    if error.errno == errno.EADDRNOTAVAIL:
        return "this computer does not have that address; see `ip address`."
    return f"{error.strerror or os.strerror(error.errno or 0)}."


def _raise_file_limit() -> None:
    """Raise this process's limit of open files to the highest that the system allows it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
