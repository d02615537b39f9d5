"""The system calls of each kind of traffic, which the library kernel's program makes too, in the same order.

A difference between the two gives two answers to one run. So a failure here means: make the same change in
`netlab_kernel/recipe/library/host/traffic.c`, then change the list below.
"""

from __future__ import annotations

import os
import re
import socket
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import netlab as nl
from netlab_engines.agent.flows import ping, requests, tcp, udp
from netlab_engines.sockets import batch
from netlab_kernel.edit import RECIPE
from tests.agent.flows.places import place, planned_item, run, stay_here

TRAFFIC_C = RECIPE / "library" / "host" / "traffic.c"
OPTIONS = {
    (socket.IPPROTO_TCP, 13): "TCP_CONGESTION",
    (socket.IPPROTO_TCP, 10): "TCP_WINDOW_CLAMP",
    (socket.IPPROTO_TCP, 2): "TCP_MAXSEG",
    (socket.IPPROTO_TCP, 11): "TCP_INFO",
    (socket.SOL_SOCKET, 13): "SO_LINGER",
    (socket.SOL_SOCKET, 18): "SO_RCVLOWAT",
    (socket.SOL_SOCKET, 32): "SO_SNDBUFFORCE",
    (socket.SOL_SOCKET, 33): "SO_RCVBUFFORCE",
    (socket.SOL_SOCKET, 35): "SO_TIMESTAMPNS",
    (socket.SOL_SOCKET, 55): "SO_MEMINFO",
}
PLAIN = {32: socket.SO_SNDBUF, 33: socket.SO_RCVBUF}
"""The option that an ordinary user may set, instead of the one for root."""


class Recorder:
    """The calls on each socket that a flow makes, in the order in which the sockets were made."""

    def __init__(self) -> None:
        self.calls: list[list[str]] = []
        self._lock = threading.Lock()
        self._by_descriptor: dict[int, list[str]] = {}

    def add(self, descriptor: int) -> list[str]:
        """Begin the list of calls on a new socket."""
        with self._lock:
            self.calls.append([])
            self._by_descriptor[descriptor] = self.calls[-1]
            return self.calls[-1]

    def note(self, descriptor: int, call: str) -> None:
        """Note a call that is not made through the socket object."""
        self._by_descriptor[descriptor].append(call)

    def once(self) -> list[list[str]]:
        """Return the calls on each socket, without repetitions of a call or of two calls in turn."""
        return [_without_repetitions(calls) for calls in self.calls]


class RecordingSocket(socket.socket):
    """A socket that notes what is called."""

    recorder: Recorder

    def __init__(self, *words: Any, **named: Any) -> None:
        if socket.SOCK_RAW in words:
            # Only root may open one, and what is noted is the same.
            words = (socket.AF_INET, socket.SOCK_DGRAM)
        super().__init__(*words, **named)
        self._calls = self.recorder.add(self.fileno())

    def _note(self, call: str) -> None:
        """Note a call, unless the socket is closed."""
        if self.fileno() >= 0:
            self._calls.append(call)

    def setsockopt(self, level: int, option: int, *value: Any) -> None:  # type: ignore[override]
        self._note(f"setsockopt {OPTIONS[level, option]}")
        if level == socket.SOL_SOCKET and option in PLAIN:
            option = PLAIN[option]
        super().setsockopt(level, option, *value)

    def getsockopt(self, level: int, option: int, *size: Any) -> Any:
        self._note(f"getsockopt {OPTIONS[level, option]}")
        return super().getsockopt(level, option, *size)

    def bind(self, address: Any) -> None:
        self._note("bind")
        super().bind(address)

    def listen(self, *length: Any) -> None:
        self._note(f"listen {length[0]}")
        super().listen(*length)

    def accept(self) -> Any:
        self._note("accept")
        return super().accept()

    def connect(self, address: Any) -> None:
        self._note("connect")
        super().connect(address)

    def recv_into(self, buffer: Any, size: int = 0, flags: int = 0) -> int:
        names = [name for name in ("MSG_TRUNC", "MSG_WAITALL") if flags & getattr(socket, name)]
        self._note(" ".join(["recv", *names]))
        return super().recv_into(buffer, size, flags)

    def recv(self, *words: Any) -> bytes:
        self._note("recv")
        return super().recv(*words)

    def send(self, *words: Any) -> int:
        self._note("send")
        return super().send(*words)

    def sendto(self, data: Any, *_words: Any) -> int:  # type: ignore[override]
        self._note("sendto")
        return len(data)

    def shutdown(self, how: int) -> None:
        self._note("shutdown")
        super().shutdown(how)

    def close(self) -> None:
        self._note("close")
        super().close()


@pytest.fixture
def recorder(monkeypatch: pytest.MonkeyPatch) -> Recorder:
    stay_here(monkeypatch)
    recorder = Recorder()
    monkeypatch.setattr(RecordingSocket, "recorder", recorder, raising=False)
    monkeypatch.setattr(socket, "socket", RecordingSocket)
    send_file, read = os.sendfile, batch.BatchReader.read

    def sendfile(out: int, *words: Any) -> int:
        recorder.note(out, "sendfile")
        return send_file(out, *words)

    def recvmmsg(reader: batch.BatchReader) -> Any:
        recorder.note(reader._fd, "recvmmsg")
        return read(reader)

    monkeypatch.setattr(os, "sendfile", sendfile)
    monkeypatch.setattr(batch.BatchReader, "read", recvmmsg)
    return recorder


def _without_repetitions(calls: list[str]) -> list[str]:
    kept: list[str] = []
    for call in calls:
        if call in kept[-2:]:
            continue
        kept.append(call)
    return kept


def test_a_tcp_flow_of_a_number_of_bytes(tmp_path: Path, recorder: Recorder) -> None:
    requested = nl.Tcp(
        "h1", "h2", congestion="reno", window_bytes=100_000, mss_bytes=1000, num_bytes=300_000, duration_s=0.2
    )
    run(tcp.TcpFlow(planned_item(requested), place(tmp_path)))
    tuned = [f"setsockopt {name}" for name in ("TCP_CONGESTION", "SO_RCVBUFFORCE", "TCP_WINDOW_CLAMP", "TCP_MAXSEG")]
    listener, source, sink = recorder.once()
    assert listener == [*tuned, "bind", "listen 1", "accept", "close"]
    assert source == [*tuned, "connect", "sendfile", "shutdown", "getsockopt TCP_INFO", "setsockopt SO_LINGER", "close"]
    assert sink == [
        "recv MSG_TRUNC",
        "setsockopt TCP_WINDOW_CLAMP",
        "recv MSG_TRUNC MSG_WAITALL",
        "getsockopt TCP_INFO",
        "setsockopt SO_LINGER",
        "close",
    ]


def test_a_udp_flow(tmp_path: Path, recorder: Recorder) -> None:
    flow = udp.UdpFlow(planned_item(nl.Udp("h1", "h2", rate_mbps=1.0, duration_s=0.2)), place(tmp_path))
    run(flow)
    for thread in flow._threads:
        thread.join()
    flow.totals()
    sink, source = recorder.once()
    assert sink == [
        "bind",
        "setsockopt SO_TIMESTAMPNS",
        "setsockopt SO_RCVBUFFORCE",
        "getsockopt SO_MEMINFO",
        "recvmmsg",
    ]
    assert source == ["setsockopt SO_SNDBUFFORCE", "connect", "send"]


def test_requests(tmp_path: Path, recorder: Recorder) -> None:
    requested = nl.Requests("h1", "h2", response_bytes=50_000, count=2, congestion="reno", duration_s=0.2)
    flow = requests.RequestsFlow(planned_item(requested), place(tmp_path))
    run(flow)
    listener = recorder.once()[0]
    assert listener == ["setsockopt TCP_CONGESTION", "bind", "listen 1", "accept", "close"]
    # The client's thread reads the counters of both ends whenever it asks.
    kept = [[call for call in calls if call != "getsockopt TCP_INFO"] for calls in recorder.calls]
    sink, source = map(_without_repetitions, kept[1:])
    closed = ["shutdown", "setsockopt SO_LINGER", "close"]
    assert sink == ["setsockopt TCP_CONGESTION", "connect", "sendfile", "recv MSG_TRUNC MSG_WAITALL", *closed]
    assert [call for call in source if call not in closed] == ["recv MSG_TRUNC", "sendfile"]


def test_a_ping(tmp_path: Path, recorder: Recorder) -> None:
    flow = ping.PingFlow(planned_item(nl.Ping("h1", "h2", interval_s=0.05, count=3)), place(tmp_path))
    flow.launch(time.monotonic())
    flow._threads[-1].join()
    flow.stop()
    (source,) = recorder.once()
    assert sorted(source) == ["recv", "sendto", "shutdown"]


@pytest.mark.parametrize(
    ("function", "calls"),
    [
        ("open_tcp", ["socket", "bind", "listen", "socket"]),
        ("tune_tcp", ["setsockopt"]),
        ("receive_tcp", ["accept4", "close", "recvfrom", "recvfrom"]),
        ("send_bytes", ["fcntl", "sendfile", "ppoll"]),
        ("send_tcp", ["shutdown"]),
        ("connect_tcp", ["setsockopt", "connect", "setsockopt"]),
        ("serve_requests", ["accept4", "close", "fcntl", "recvfrom", "ppoll"]),
        ("exchange", ["fcntl", "recvfrom"]),
        ("end_requests", ["shutdown", "shutdown"]),
        ("close_tcp", ["shutdown", "setsockopt", "close"]),
        ("open_udp", ["socket", "bind", "socket"]),
        ("send_until", ["sendto", "sendto"]),
        ("read_datagrams", ["recvmsg"]),
        ("send_echo", ["sendto"]),
        ("receive_echoes", ["recvfrom"]),
    ],
)
def test_the_program_makes_these_calls(function: str, calls: list[str]) -> None:
    """A change of the program points back to Python's senders and receivers."""
    assert re.findall(r"\bcall\((\w+)", _body(function)) == calls


@pytest.mark.parametrize(
    ("function", "options"),
    [
        ("tune_tcp", ["SO_RCVBUFFORCE", "TCP_OPTION_WINDOW_CLAMP", "TCP_OPTION_MAXSEG"]),
        ("open_udp", ["STAMP_OPTION", "SO_RCVBUFFORCE", "SO_SNDBUFFORCE"]),
        ("open_tcp", []),
        ("open_ping", []),
    ],
)
def test_the_program_sets_these_options(function: str, options: list[str]) -> None:
    assert re.findall(r"\bset\([^,]+, \w+, (\w+)", _body(function)) == options


def _body(function: str) -> str:
    """Return the text of a function of the program."""
    found = re.search(rf"^static \w+ {function}\(.*?^}}", TRAFFIC_C.read_text(), re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[0]
