"""A client for iperf3 servers (control protocol of iperf 3.x), to compare the tools on one server.

What the server counts is the server's; what we count is ours. The protocol: a cookie on every connection,
one byte for each change of state, and JSON behind a length of four bytes for the settings and the results.
"""

from __future__ import annotations

import contextlib
import json
import math
import queue
import secrets
import select
import socket
import string
import struct
import threading
import time
from collections.abc import Callable
from typing import Any

from netlab.errors import ThroughputError
from netlab.perf.client import CONNECT_S, connect
from netlab.perf.endpoints import Endpoint, Figures, Sampler, TcpReceiving, TcpSending, UdpSending, tune_as_asked
from netlab.perf.protocol import TestRequest
from netlab.perf.report import combine
from netlab.sockets import tcp_info
from netlab.sockets.streams import UdpSender

DEFAULT_PORT = 5201

_COOKIE_CHARACTERS = 36
_TEST_START, _TEST_RUNNING, _TEST_END = 1, 2, 4
_PARAM_EXCHANGE, _CREATE_STREAMS = 9, 10
_SERVER_TERMINATE, _EXCHANGE_RESULTS, _DISPLAY_RESULTS, _DONE = 11, 13, 14, 16
_ACCESS_DENIED, _SERVER_ERROR = -1, -2
_STATE = struct.Struct("!b")
_LENGTH = struct.Struct("!I")
_ERROR = struct.Struct("!ii")
_UDP_HEADER = struct.Struct("!III")
_UDP_HELLO = struct.pack("@I", 0x36373839)
_MAX_RESULTS_BYTES = 1 << 20
_ANSWER_S = 10.0


def run_test(
    host: str, port: int, request: TestRequest, *, on_rows: Callable[[list[Figures]], None] | None = None
) -> dict[str, Any]:
    """Test against an iperf3 server; the report is that of `client.run_test`.

    TCP in both directions, UDP from here to the server.

    Raises
    ------
    ThroughputError
        When there is no server, it is busy with another test (it serves one), or what is asked for has no
        counterpart.
    """
    request.check()
    if request.direction == "both":
        raise ThroughputError("With --iperf3 test one direction at a time: leave --bidir out, or add --reverse.")
    if request.protocol == "udp" and (request.direction == "down" or request.batch or request.omit_s):
        raise ThroughputError("With --iperf3, UDP goes from here to the server, without --batch and --omit.")
    return _Test(host, port, request, on_rows).run()


class _Test:
    def __init__(
        self, host: str, port: int, request: TestRequest, on_rows: Callable[[list[Figures]], None] | None
    ) -> None:
        self._where = f"{host} port {port}"
        self._request = request
        self._on_rows = on_rows
        self._cookie = "".join(secrets.choice(string.ascii_lowercase) for _ in range(_COOKIE_CHARACTERS))
        self._control = connect(host, port)
        self._control.settimeout(_ANSWER_S)
        self._endpoints: list[Endpoint] = []

    def run(self) -> dict[str, Any]:
        sampler: Sampler | None = None
        try:
            self._control.sendall(self._cookie.encode() + b"\0")
            self._expect(_PARAM_EXCHANGE)
            self._send_json(self._settings())
            self._expect(_CREATE_STREAMS)
            for index in range(self._request.parallel):
                self._endpoints.append(self._open(index))
            self._expect(_TEST_START)
            self._expect(_TEST_RUNNING)
            start_s = time.monotonic()
            sampler = Sampler(self._endpoints, self._request, start_s, self._on_rows)
            for endpoint in self._endpoints:
                endpoint.start(start_s)
            sampler.start()
            self._wait(start_s)
            sampler.stop()
            self._control.sendall(_STATE.pack(_TEST_END))
            self._expect(_EXCHANGE_RESULTS)
            for endpoint in self._endpoints:
                if not endpoint.sends:
                    endpoint.stop()
                    endpoint.finished.wait(_ANSWER_S)
            own = {endpoint.index: endpoint.figures() for endpoint in self._endpoints}
            self._send_json(self._results(own, time.monotonic() - start_s))
            theirs = self._their_figures(self._receive_json())
            self._expect(_DISPLAY_RESULTS)
            self._control.sendall(_STATE.pack(_DONE))
            total, streams = combine(self._request, own, theirs)
            return {
                "sum": total,
                "streams": streams,
                "intervals": [{"side": "client", **row} for row in sampler.rows],
                "settings": {**self._request.to_message(), "server": f"iperf3 at {self._where}"},
            }
        except OSError as error:
            raise ThroughputError(
                f"The iperf3 server at {self._where} is gone: {error.strerror or 'no answer in time'}."
            ) from None
        finally:
            if sampler is not None:
                sampler.stop()
            for endpoint in self._endpoints:
                endpoint.close()
            self._control.close()

    def _settings(self) -> dict[str, Any]:
        request = self._request
        settings: dict[str, Any] = {
            request.protocol: True,
            "omit": math.ceil(request.omit_s),
            # iperf3 counts whole seconds and, for its server's own limit, only needs to know at least ours.
            "time": math.ceil(request.duration_s or 0),
            "num": (request.num_bytes or 0) * request.parallel,
            "blockcount": 0,
            "parallel": request.parallel,
            "len": request.payload_bytes if request.protocol == "udp" else 131_072,
            "pacing_timer": 1000,
            "client_version": "3.12",
        }
        if request.direction == "down":
            settings["reverse"] = True
        if request.protocol == "udp":
            settings["bandwidth"] = request.rate_bps
        optional = {"window": request.window_bytes, "MSS": request.mss_bytes, "congestion": request.congestion}
        settings.update({name: value for name, value in optional.items() if value is not None})
        return settings

    def _open(self, index: int) -> Endpoint:
        request = self._request
        peer = self._control.getpeername()
        if request.protocol == "udp":
            sock = socket.socket(self._control.family, socket.SOCK_DGRAM)
            sock.connect(peer)
            sock.settimeout(_ANSWER_S)
            sock.send(_UDP_HELLO)
            sock.recv(16)
            return _UdpSending(index, request, sock)
        sock = socket.socket(self._control.family)
        tune_as_asked(sock, request)
        sock.settimeout(CONNECT_S)
        sock.connect(peer)
        sock.sendall(self._cookie.encode() + b"\0")
        sock.settimeout(None)
        return _TcpSending(index, request, sock) if request.direction == "up" else TcpReceiving(index, request, sock, 0)

    def _wait(self, start_s: float) -> None:
        """Until the senders are done or the time is over; a message from the server before that is bad news."""
        request = self._request
        if request.direction == "up":
            done: queue.SimpleQueue[None] = queue.SimpleQueue()
            threading.Thread(target=self._announce, args=(done,), daemon=True).start()
            limit_s = math.inf
        else:
            done = queue.SimpleQueue()
            limit_s = start_s + request.omit_s + (request.duration_s or math.inf)
        listening = select.poll()
        listening.register(self._control.fileno(), select.POLLIN)
        while time.monotonic() < limit_s:
            with contextlib.suppress(queue.Empty):
                done.get(timeout=min(0.1, max(0.0, limit_s - time.monotonic())))
                return
            if request.num_bytes is not None and request.direction == "down":
                got = sum(endpoint.figures()["received_bytes"] for endpoint in self._endpoints)
                if got >= request.num_bytes * request.parallel:
                    return
            if listening.poll(0):
                self._expect(_TEST_END)

    def _announce(self, done: queue.SimpleQueue[None]) -> None:
        for endpoint in self._endpoints:
            endpoint.finished.wait()
        done.put(None)

    def _results(self, own: dict[int, Figures], seconds: float) -> dict[str, Any]:
        streams = [
            {
                "id": _stream_id(index),
                "bytes": figures.get("sent_bytes", figures.get("received_bytes", 0)),
                "retransmits": figures.get("retransmits") or 0,
                "jitter": 0,
                "errors": 0,
                "packets": figures.get("datagrams", 0),
                "start_time": 0,
                "end_time": seconds,
            }
            for index, figures in own.items()
        ]
        return {
            "cpu_util_total": 0,
            "cpu_util_user": 0,
            "cpu_util_system": 0,
            "sender_has_retransmits": 1 if self._request.direction == "up" else -1,
            "streams": streams,
        }

    def _their_figures(self, results: Any) -> dict[int, Figures]:
        try:
            by_id = {stream["id"]: stream for stream in results["streams"]}
            return {i: self._their_stream(by_id[_stream_id(i)]) for i in range(self._request.parallel)}
        except (KeyError, TypeError):
            raise ThroughputError(f"The iperf3 server at {self._where} sent results we cannot read.") from None

    def _their_stream(self, stream: dict[str, Any]) -> Figures:
        if self._request.direction == "down":
            return {"sent_bytes": stream["bytes"], "retransmits": stream.get("retransmits")}
        figures: Figures = {
            "received_bytes": stream["bytes"],
            "seconds": stream.get("end_time", 0) - stream.get("start_time", 0),
        }
        if self._request.protocol == "udp":
            # iperf3 counts all numbers up to the highest it saw as packets, and as errors those it missed.
            figures["received_datagrams"] = stream["packets"] - stream["errors"]
            figures["jitter_ms"] = stream["jitter"] * 1000
        return figures

    def _expect(self, state: int) -> None:
        (got,) = _STATE.unpack(self._read(1))
        if got == state:
            return
        if got == _ACCESS_DENIED:
            raise ThroughputError(
                f"The iperf3 server at {self._where} is busy with another test; it serves one at a time."
            )
        if got == _SERVER_ERROR:
            number, cause = _ERROR.unpack(self._read(_ERROR.size))
            raise ThroughputError(f"The iperf3 server at {self._where} reports its error {number} (errno {cause}).")
        if got == _SERVER_TERMINATE:
            raise ThroughputError(f"The iperf3 server at {self._where} was stopped.")
        raise ThroughputError(f"The iperf3 server at {self._where} went to state {got} where {state} was due.")

    def _read(self, count: int) -> bytes:
        data = bytearray()
        while len(data) < count:
            piece = self._control.recv(count - len(data))
            if not piece:
                raise ThroughputError(f"{self._where} closed the connection; is it an iperf3 server?")
            data += piece
        return bytes(data)

    def _send_json(self, content: dict[str, Any]) -> None:
        data = json.dumps(content).encode()
        self._control.sendall(_LENGTH.pack(len(data)) + data)

    def _receive_json(self) -> Any:
        (length,) = _LENGTH.unpack(self._read(_LENGTH.size))
        if length > _MAX_RESULTS_BYTES:
            raise ThroughputError(f"{self._where} announced {length} bytes of results; it is no iperf3 server.")
        try:
            return json.loads(self._read(length))
        except ValueError:
            raise ThroughputError(f"The iperf3 server at {self._where} sent results we cannot read.") from None


class _TcpSending(TcpSending):
    def _wait_until_delivered(self) -> None:
        """An iperf3 server does not close its direction, so wait for the last acknowledgement."""
        moved_s, before = time.monotonic(), -1
        while time.monotonic() - moved_s < _ANSWER_S:
            info = tcp_info.read(self.sock)
            if not info.unacked_segments and not info.notsent_bytes:
                return
            if info.bytes_acked != before:
                moved_s, before = time.monotonic(), info.bytes_acked or 0
            time.sleep(0.005)


class _Datagrams(UdpSender):
    """Datagrams with iperf3's header: seconds, microseconds, number from 1."""

    def _send_singly(self, datagram: bytearray, due: int) -> None:
        for seq in range(self.sent_datagrams, due):
            seconds, ns = divmod(time.time_ns(), 1_000_000_000)
            _UDP_HEADER.pack_into(datagram, 0, seconds, ns // 1000, (seq + 1) & 0xFFFFFFFF)
            self.sock.send(datagram)
            self.sent_datagrams = seq + 1
            self.sent_bytes += len(datagram)


class _UdpSending(UdpSending):
    sender_class = _Datagrams

    def __init__(self, index: int, request: TestRequest, sock: socket.socket) -> None:
        super().__init__(index, request, sock, stream_id=0)


def _stream_id(index: int) -> int:
    """iperf3 numbers its streams 1, 3, 4, 5, ..."""
    return 1 if index == 0 else index + 2
