"""What a client and a server of ``netlab perf`` say to each other.

Everything goes to one port. A TCP connection begins with a line that says what it is::

    netlab-perf/1 control                 then JSON messages, one a line, both ways
    netlab-perf/1 stream TOKEN INDEX      then nothing but the bytes that are measured

The messages of a control connection, in their order (C the client, S the server)::

    C  HELLO      what to test (`TestRequest`)
    S  READY      token and first stream id, or REFUSED with a sentence
    .             the client opens its streams (TCP), or greets with a datagram for each until it is answered (UDP)
    S  STREAMS    all streams are there
    C  START      the client's receivers run
    S  STARTED    the server's receivers run, its senders begin; the client's senders begin on hearing it
    S  DONE       the server's senders have delivered everything (only when the server sends)
    C  BYE        with the client's counters
    S  ACK: BYE   with the server's counters

At any time the server may say ERROR with a sentence. The side that sees the control connection end before
that ends the test.
"""

from __future__ import annotations

import json
import queue
import socket
import threading
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, BinaryIO

from netlab.base.errors import ThroughputError
from netlab.base.rules import Choice, Flag, Range, Rule, broken
from netlab.base.values import shown
from netlab.sockets.datagrams import HEADER, HELLO_SEQ, MAX_STREAM_ID, check_payload_bytes

DEFAULT_PORT = 5301
GREETING = b"netlab-perf/1"
MAX_GREETING_BYTES = 128
MAX_MESSAGE_BYTES = 1 << 20
MAX_STREAMS = 128
HANDSHAKE_S = 10.0
TOKEN_BYTES = 16

LONGEST_CONGESTION_NAME = 16
"""In bytes, with the zero behind it (TCP_CA_NAME_MAX)."""
OF_TCP = Range(1, 1 << 30, whole=True, optional=True)
RULES: dict[str, Rule] = {
    "protocol": Choice(("tcp", "udp")),
    "direction": Choice(("up", "down", "both")),
    "parallel": Range(1, MAX_STREAMS, whole=True),
    "duration_s": Range(0.01, 1e6, optional=True),
    "num_bytes": Range(1, 1 << 60, whole=True, optional=True),
    "omit_s": Range(0, 1e5),
    "interval_s": Range(0.001, 1e6),
    "batch": Flag(),
    "window_bytes": OF_TCP,
    "mss_bytes": OF_TCP,
}
UDP_RULES = {"rate_bps": Range(0, 10**12, whole=True), "payload_bytes": Range(0, 1 << 31, whole=True)}

Message = dict[str, Any]


@dataclass(frozen=True)
class TestRequest:
    """What a client asks a server for; exactly one of `duration_s` and `num_bytes` (bytes per stream) is
    given.

    `direction` is "up" (the client sends), "down" or "both"; with both, there are `parallel` streams each
    way.
    """

    __test__ = False  # not a test case, whatever pytest makes of the name

    protocol: str = "tcp"
    direction: str = "up"
    parallel: int = 1
    duration_s: float | None = None
    num_bytes: int | None = None
    omit_s: float = 0.0
    interval_s: float = 1.0
    rate_bps: int | None = None
    payload_bytes: int = 1000
    batch: bool = False
    congestion: str | None = None
    window_bytes: int | None = None
    mss_bytes: int | None = None

    @classmethod
    def from_message(cls, message: object) -> TestRequest:
        """Read a request that came over the network; raises ThroughputError, never anything else."""
        if not isinstance(message, dict):
            raise ThroughputError("The test asked for is no JSON object.")
        known = {field.name for field in fields(cls)}
        unknown = sorted(str(key)[:40] for key in message if key not in known)
        if unknown:
            raise ThroughputError(f"Unknown setting: {', '.join(unknown[:5])}. Use the same netlab on both ends.")
        request = cls(**message)
        request.check()
        return request

    def check(self) -> None:
        """Raise ThroughputError with a sentence for the first value that cannot be tested."""
        for problem in broken(RULES | (UDP_RULES if self.protocol == "udp" else {}), self):
            raise ThroughputError(f"{problem}.")
        if (self.duration_s is None) == (self.num_bytes is None):
            raise ThroughputError("A test needs either a duration or a number of bytes, and not both.")
        if self.num_bytes is not None and self.omit_s:
            raise ThroughputError(f"omit goes with a time, not with a number of bytes; got {self.omit_s} s.")
        if self.protocol == "udp":
            check_payload_bytes(self.payload_bytes)
        name = self.congestion
        if name is not None and not (isinstance(name, str) and name.isascii() and len(name) < LONGEST_CONGESTION_NAME):
            raise ThroughputError(f"congestion must be a short name such as cubic; got {shown(name)}.")

    def to_message(self) -> Message:
        """The request as JSON types."""
        return asdict(self)

    @property
    def streams(self) -> int:
        """Number of streams, both directions together."""
        return self.parallel * (2 if self.direction == "both" else 1)

    def client_sends(self, index: int) -> bool:
        """Whether stream `index` (from 0) goes from the client to the server."""
        return self.direction == "up" or (self.direction == "both" and index < self.parallel)


def messages(file: BinaryIO, limit_bytes: int = MAX_MESSAGE_BYTES) -> Iterator[Message]:
    """The JSON messages of a byte stream up to its end, whatever pieces it comes in; ThroughputError on anything else.

    >>> import io
    >>> list(messages(io.BytesIO(b'{"type": "BYE"}\\n{"type": "DONE"}\\n{"ty')))
    [{'type': 'BYE'}, {'type': 'DONE'}]
    """
    while line := file.readline(limit_bytes + 1):
        if line.endswith(b"\n"):
            yield _decode(line)
        elif len(line) > limit_bytes:
            raise ThroughputError(f"The other side sent more than {limit_bytes} bytes without a message.")


class Channel:
    """A control connection: `send` writes a message, and a thread puts what arrives into `events`.

    An event is a message, or a ThroughputError that says how the connection ended (always the last one).
    """

    def __init__(self, sock: socket.socket, peer: str, events: queue.SimpleQueue[Any]) -> None:
        self._sock = sock
        self._peer = peer
        self._events = events
        self._sending = threading.Lock()
        _notice_death(sock)
        sock.settimeout(None)
        self._thread = threading.Thread(target=self._read, name=f"control {peer}", daemon=True)

    def start(self) -> None:
        """Begin to read."""
        self._thread.start()

    def send(self, type_: str, **content: Any) -> None:
        """Send a message; raises ThroughputError when the other side is gone."""
        data = json.dumps({"type": type_, **content}).encode() + b"\n"
        try:
            with self._sending:
                self._sock.sendall(data)
        except OSError as error:
            raise ThroughputError(f"{self._peer} is gone: {error.strerror or error}.") from None

    def close(self) -> None:
        """Close the connection and let its thread end."""
        try:
            self._sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        if self._thread.is_alive():
            self._thread.join()
        self._sock.close()

    def _read(self) -> None:
        try:
            with self._sock.makefile("rb") as file:
                for message in messages(file):
                    self._events.put(message)
            end = self._closed()
        except ConnectionResetError:
            # A process that dies with unread data resets its connections instead of closing them.
            end = self._closed()
        except OSError as error:
            end = ThroughputError(f"{self._peer}: the control connection broke: {error.strerror or error}.")
        except ThroughputError as error:
            end = ThroughputError(f"{self._peer} does not speak our protocol: {error}")
        self._events.put(end)

    def _closed(self) -> ThroughputError:
        return ThroughputError(f"{self._peer} closed the control connection before the test was over.")


def counters_by_index(message: Message, request: TestRequest) -> dict[int, dict[str, Any]]:
    """The other side's counters of a BYE, ACK: BYE or DONE, by stream; ThroughputError when they are none."""
    try:
        counters = {entry["index"]: entry for entry in message["counters"]}
        usable = all(
            isinstance(index, int) and 0 <= index < request.streams and _plain(entry)
            for index, entry in counters.items()
        )
    except (KeyError, TypeError):
        usable = False
    if not usable:
        raise ThroughputError(f"The {message['type']} of the other side carries no usable counters.")
    return {
        index: {name: value for name, value in counters.get(index, {}).items() if name != "index"}
        for index in range(request.streams)
    }


def counters_in_order(counters: Mapping[int, dict[str, Any]]) -> list[dict[str, Any]]:
    """Counters by stream as a message has them, which `counters_by_index` reads."""
    return [{"index": index, **own} for index, own in counters.items()]


def greeting(*parts: object) -> bytes:
    """The first line of a connection."""
    return b" ".join([GREETING, *(str(part).encode() for part in parts)]) + b"\n"


def read_greeting(sock: socket.socket, timeout_s: float = HANDSHAKE_S) -> list[str]:
    """Read a connection's first line and not a byte more; returns its parts after the protocol's name.

    Raises ThroughputError for anything that is not our greeting, OSError when the connection breaks.
    """
    sock.settimeout(timeout_s)
    line = bytearray()
    while not line.endswith(b"\n"):
        byte = sock.recv(1)
        line += byte
        if not byte or not (GREETING + b" ").startswith(line[: len(GREETING) + 1]) or len(line) > MAX_GREETING_BYTES:
            raise ThroughputError(f"Not the greeting of a netlab perf client: {bytes(line)!r}.")
    try:
        parts = line.decode("ascii").split()[1:]
    except UnicodeDecodeError:
        parts = []
    if parts == ["control"] or (len(parts) == 3 and parts[0] == "stream" and parts[2].isdecimal()):
        return parts
    raise ThroughputError(f"Not the greeting of a netlab perf client: {bytes(line)!r}.")


def hello_datagram(stream_id: int, token: bytes = b"") -> bytes:
    """A datagram that opens the way for a stream and is never counted; the client's carries the token."""
    return HEADER.pack(stream_id & MAX_STREAM_ID, HELLO_SEQ, 0) + token


def read_hello(datagram: bytes) -> tuple[int, bytes] | None:
    """Stream id and token of a greeting datagram, or None for any other bytes."""
    if len(datagram) < HEADER.size:
        return None
    stream_id, seq, _ = HEADER.unpack_from(datagram)
    return (stream_id, datagram[HEADER.size :]) if seq == HELLO_SEQ else None


def boot_id() -> str:
    """Tells whether two processes run under one kernel, and so read one clock."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


def _notice_death(sock: socket.socket) -> None:
    """Let the kernel notice within about half a minute that the other machine is gone without a FIN."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in (
        (socket.TCP_KEEPIDLE, 10),
        (socket.TCP_KEEPINTVL, 5),
        (socket.TCP_KEEPCNT, 4),
        (socket.TCP_USER_TIMEOUT, 30_000),
        (socket.TCP_NODELAY, 1),
    ):
        sock.setsockopt(socket.IPPROTO_TCP, option, value)


def _plain(entry: dict[str, object]) -> bool:
    return all(
        value is None
        or (isinstance(value, str) and len(value) < 200)
        or (isinstance(value, (int, float)) and abs(value) < 1e30)
        for value in entry.values()
    )


def _decode(line: bytes) -> Message:
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        raise ThroughputError(f"not a message: {line[:60]!r}") from None
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise ThroughputError(f"not a message: {line[:60]!r}")
    return message
