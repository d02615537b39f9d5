"""The protocol between a client and a server of ``netlab perf``.

All packets go to one port. A TCP connection begins with a line that says what it is::

    netlab-perf/1 control                 then JSON messages in both directions, one per line
    netlab-perf/1 stream TOKEN INDEX      then only the bytes of the measurement

The messages of a control connection, in their order (C the client, S the server)::

    C  HELLO      the test (`TestRequest`)
    S  READY      token and first stream id, or REFUSED with a reason
    .             the client opens its streams (TCP), or sends a greeting datagram for each until it is answered (UDP)
    S  STREAMS    all streams are open
    C  START      the client's receivers run
    S  STARTED    the server's receivers run and its senders start; the client's senders start when it arrives
    S  DONE       the server's senders have delivered everything (only when the server sends)
    C  BYE        with the client's counters
    S  ACK: BYE   with the server's counters

At any time the server may send ERROR with a reason. If the control connection closes before the end, the other side
ends the test.
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
from netlab.base.rules import Choice, Flag, Range, Rule, violations
from netlab.base.values import short_repr
from netlab_engines.sockets.datagrams import HEADER, HELLO_SEQ, MAX_STREAM_ID, check_payload_bytes

DEFAULT_PORT = 5301
GREETING = b"netlab-perf/1"
MAX_GREETING_BYTES = 128
MAX_MESSAGE_BYTES = 1 << 20
MAX_STREAMS = 128
HANDSHAKE_S = 10.0
TOKEN_BYTES = 16

MAX_CONGESTION_NAME = 16
"""In bytes, with the zero at its end (TCP_CA_NAME_MAX)."""
OPTIONAL_BYTES = Range(1, 1 << 30, whole=True, optional=True)
RULES: dict[str, Rule] = {
    "protocol": Choice(("tcp", "udp")),
    "direction": Choice(("up", "down", "both")),
    "parallel": Range(1, MAX_STREAMS, whole=True),
    "duration_s": Range(0.01, 1e6, optional=True),
    "num_bytes": Range(1, 1 << 60, whole=True, optional=True),
    "omit_s": Range(0, 1e5),
    "interval_s": Range(0.001, 1e6),
    "batch": Flag(),
    "window_bytes": OPTIONAL_BYTES,
    "mss_bytes": OPTIONAL_BYTES,
}
UDP_RULES = {"rate_bps": Range(0, 10**12, whole=True), "payload_bytes": Range(0, 1 << 31, whole=True)}

Message = dict[str, Any]


@dataclass(frozen=True)
class TestRequest:
    """The settings of a test that a client requests from a server; exactly one of `duration_s` and `num_bytes` is set.
    Units are in the names; `omit_s` is the time at the start that does not count.
    """

    __test__ = False  # pytest must not collect this class, whose name begins with Test

    protocol: str = "tcp"
    direction: str = "up"
    """"up" (the client sends), "down" (the server sends) or "both"."""
    parallel: int = 1
    """The number of streams in each direction."""
    duration_s: float | None = None
    num_bytes: int | None = None
    """The number of bytes that each stream sends."""
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
        """Return the test in `message`, a JSON value that came from the network; settings that it lacks have their
        defaults. Raises ThroughputError for any mistake in it.
        """
        if not isinstance(message, dict):
            raise ThroughputError("The requested test must be a JSON object.")
        names = {field.name for field in fields(cls)}
        unknown = sorted(str(key)[:40] for key in message if key not in names)
        if unknown:
            raise ThroughputError(f"Unknown setting: {', '.join(unknown[:5])}. Use the same netlab on both ends.")
        request = cls(**message)
        request.check()
        return request

    def check(self) -> None:
        """Raise ThroughputError, with the rule, for the first setting that is not allowed or that contradicts another;
        return if there is none.
        """
        for problem in violations(RULES | (UDP_RULES if self.protocol == "udp" else {}), self):
            raise ThroughputError(f"{problem}.")
        if (self.duration_s is None) == (self.num_bytes is None):
            raise ThroughputError("A test needs either a duration or a number of bytes, not both.")
        if self.num_bytes is not None and self.omit_s:
            raise ThroughputError(f"omit needs a duration instead of a number of bytes; got {self.omit_s} s.")
        if self.protocol == "udp":
            check_payload_bytes(self.payload_bytes)
        name = self.congestion
        if name is not None and not (isinstance(name, str) and name.isascii() and len(name) < MAX_CONGESTION_NAME):
            raise ThroughputError(f"congestion must be a short name such as cubic; got {short_repr(name)}.")

    def to_message(self) -> Message:
        """Return the settings by name as a JSON object, which `from_message` reads."""
        return asdict(self)

    @property
    def streams(self) -> int:
        """The number of streams in both directions together."""
        return self.parallel * (2 if self.direction == "both" else 1)

    def client_sends(self, index: int) -> bool:
        """Return whether the stream `index` (from 0) goes from the client to the server."""
        return self.direction == "up" or (self.direction == "both" and index < self.parallel)


def messages(file: BinaryIO, limit_bytes: int = MAX_MESSAGE_BYTES) -> Iterator[Message]:
    """Yield the JSON messages, one for each line, in `file`, a stream of bytes, up to its end; a part of a line at the
    end is left out. Raises ThroughputError for other data or a line of more than `limit_bytes` bytes.

    >>> import io
    >>> list(messages(io.BytesIO(b'{"type": "BYE"}\\n{"type": "DONE"}\\n{"ty')))
    [{'type': 'BYE'}, {'type': 'DONE'}]
    """
    while line := file.readline(limit_bytes + 1):
        if line.endswith(b"\n"):
            yield _decode(line)
        elif len(line) > limit_bytes:
            raise ThroughputError(f"The other side sent a line of more than {limit_bytes} bytes.")


class Channel:
    """An end of a control connection: `send` writes a message, and a thread puts those that arrive into the
    queue `events`.

    An event is a message, or a ThroughputError that tells how the connection ended, which is always the last event.
    """

    def __init__(self, sock: socket.socket, peer: str, events: queue.SimpleQueue[Any]) -> None:
        """Prepare the control connection on an open socket; messages that arrive go to the queue `events`, and `peer`
        names the other side at the beginning of errors. Nothing is read before `start`.
        """
        self._sock = sock
        self._peer = peer
        self._events = events
        self._sending = threading.Lock()
        _notice_death(sock)
        sock.settimeout(None)
        self._thread = threading.Thread(target=self._read, name=f"control {peer}", daemon=True)

    def start(self) -> None:
        """Start the thread that puts the messages which arrive into the queue of events."""
        self._thread.start()

    def send(self, type_: str, **content: Any) -> None:
        """Send a message of the type `type_`, such as "START", whose further fields are `content`; any thread may call
        this. Raises ThroughputError if the connection is broken.
        """
        data = json.dumps({"type": type_, **content}).encode() + b"\n"
        try:
            with self._sending:
                self._sock.sendall(data)
        except OSError as error:
            raise ThroughputError(f"The connection to {self._peer} broke: {error.strerror or error}.") from None

    def close(self) -> None:
        """Close the control connection and wait for the end of the thread that reads it."""
        try:
            self._sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        if self._thread.is_alive():
            self._thread.join()
        self._sock.close()

    def _read(self) -> None:
        """Put all messages that arrive into the queue of events, and at last the ThroughputError that says how the
        connection ended; runs in the thread.
        """
        try:
            with self._sock.makefile("rb") as file:
                for message in messages(file):
                    self._events.put(message)
            end = self._closed_error()
        except ConnectionResetError:
            # The kernel resets a connection instead of closing it if its process dies with unread data.
            end = self._closed_error()
        except OSError as error:
            end = ThroughputError(f"{self._peer}: the control connection broke: {error.strerror or error}.")
        except ThroughputError as error:
            end = ThroughputError(f"{self._peer} does not use netlab perf's protocol: {error}")
        self._events.put(end)

    def _closed_error(self) -> ThroughputError:
        """Return, and do not raise, a ThroughputError saying that the other side closed the control connection before
        the test was over.
        """
        return ThroughputError(f"{self._peer} closed the control connection before the test was over.")


def counters_by_index(message: Message, request: TestRequest) -> dict[int, dict[str, Any]]:
    """Return the counters in a message BYE, ACK: BYE or DONE, by name (without "index"), for each stream of the test by
    its index (from 0); a stream without counters has {}. Raises ThroughputError if they are not valid.
    """
    try:
        counters = {entry["index"]: entry for entry in message["counters"]}
        usable = all(
            isinstance(index, int) and 0 <= index < request.streams and _has_plain_values(entry)
            for index, entry in counters.items()
        )
    except (KeyError, TypeError):
        usable = False
    if not usable:
        raise ThroughputError(f"The other side sent a {message['type']} without valid counters.")
    return {
        index: {name: value for name, value in counters.get(index, {}).items() if name != "index"}
        for index in range(request.streams)
    }


def counters_in_order(counters: Mapping[int, dict[str, Any]]) -> list[dict[str, Any]]:
    """Return `counters`, given by the stream's index (from 0), as the list of a message: a dict for each stream in the
    order of the mapping, its counters with the further entry `index`.
    """
    return [{"index": index, **own} for index, own in counters.items()]


def greeting(*parts: object) -> bytes:
    """Return the first line of a connection as bytes: the protocol's name and `parts`, which are "control", or
    "stream", the test's token and the stream's index.
    """
    return b" ".join([GREETING, *(str(part).encode() for part in parts)]) + b"\n"


def read_greeting(sock: socket.socket, timeout_s: float = HANDSHAKE_S) -> list[str]:
    """Read the first line of a new connection, and not a byte more, and return its parts after the protocol's name:
    "control", or "stream", a token and an index. Each byte may take `timeout_s` s. Raises ThroughputError if it is not
    a greeting of netlab perf, and OSError if the connection breaks.
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
    """Return the bytes of a greeting datagram of the UDP stream with the number `stream_id`, which receivers do not
    count; the client's has the test's token, the server's none.
    """
    return HEADER.pack(stream_id & MAX_STREAM_ID, HELLO_SEQ, 0) + token


def read_hello(datagram: bytes) -> tuple[int, bytes] | None:
    """Return the stream's number and the token (b"" if it has none) of a greeting datagram; None if the bytes are
    another datagram.
    """
    if len(datagram) < HEADER.size:
        return None
    stream_id, seq, _ = HEADER.unpack_from(datagram)
    return (stream_id, datagram[HEADER.size :]) if seq == HELLO_SEQ else None


def boot_id() -> str:
    """Return the kernel's boot id as text, which is equal for processes with the same monotonic clock; "" if there is
    none.
    """
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


def _notice_death(sock: socket.socket) -> None:
    """Set TCP options of the socket so that the kernel detects within about half a minute that the other machine
    vanished without closing, and sends small messages at once.
    """
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in (
        (socket.TCP_KEEPIDLE, 10),
        (socket.TCP_KEEPINTVL, 5),
        (socket.TCP_KEEPCNT, 4),
        (socket.TCP_USER_TIMEOUT, 30_000),
        (socket.TCP_NODELAY, 1),
    ):
        sock.setsockopt(socket.IPPROTO_TCP, option, value)


def _has_plain_values(entry: dict[str, object]) -> bool:
    """Return whether all values of `entry`, an object in a message, are None, texts of less than 200 characters or
    numbers between -1e30 and 1e30.
    """
    return all(
        value is None
        or (isinstance(value, str) and len(value) < 200)
        or (isinstance(value, (int, float)) and abs(value) < 1e30)
        for value in entry.values()
    )


def _decode(line: bytes) -> Message:
    """Return the message in `line`, a line of JSON with an object that has a type. Raises ThroughputError if it is
    none.
    """
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        raise ThroughputError(f"not a message: {line[:60]!r}") from None
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise ThroughputError(f"not a message: {line[:60]!r}")
    return message
