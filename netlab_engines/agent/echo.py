"""ICMP echo with a resolution of a microsecond: above 100 ms `ping` prints whole milliseconds only."""

import socket
import struct
import threading
import time

from netlab.base.units import NS_PER_MS, NS_PER_S
from netlab_engines.sockets.moments import sleep_until_ns

ECHO_REQUEST = 8
ECHO_REPLY = 0
_HEADER = struct.Struct("!BBHHH")
_STAMP = struct.Struct("!QQ")


class Pinger:
    """A sender of ICMP echo requests at exact intervals that records the replies; `send` and `receive` each run in a
    thread of their own.

    Parameters
    ----------
    sock : socket.socket
        A raw ICMP socket in the sender's namespace.
    dst : str
        The IPv4 address to which requests go.
    identifier : int
        The ICMP identifier, 0 to 65535, which distinguishes the replies to this sender.
    interval_s : float
        The time between two requests in s.
    payload_bytes : int
        The size of each request's payload in bytes, at least 16.

    Attributes
    ----------
    sent_s : dict of int to float
        The monotonic time at which each request was sent in s, by sequence number from 1.
    rtt_ms : dict of int to float
        The round-trip time of each answered request in ms, by sequence number.
    """

    def __init__(
        self, sock: socket.socket, dst: str, *, identifier: int, interval_s: float, payload_bytes: int
    ) -> None:
        """Prepare ICMP echo requests that the raw ICMP socket `sock` sends to the IPv4 address `dst` every `interval_s`
        s. `identifier` (0 to 65535) is their ICMP identifier, and `payload_bytes` the size of each one's payload, at
        least 16. Nothing is sent before `send`.
        """
        self.sent_s: dict[int, float] = {}
        self.rtt_ms: dict[int, float] = {}
        self._socket = sock
        self._dst = (dst, 0)
        self._identifier = identifier
        self._interval_s = interval_s
        self._padding = bytes(payload_bytes - _STAMP.size)
        self._stop = threading.Event()

    def send(self, start_s: float, count: int | None, end_s: float) -> None:
        """Send request number k (from 1) at `start_s` + (k - 1) · interval, and return after the last, or soon after
        `stop`. The last is number `count` (None: no limit) or the last one before `end_s`; `start_s` and `end_s` are in
        s on the monotonic clock. A request that the kernel refuses counts as sent.
        """
        sequence = 0
        due_ns, end_ns, interval_ns = (round(t_s * NS_PER_S) for t_s in (start_s, end_s, self._interval_s))
        while (count is None or sequence < count) and due_ns < end_ns:
            # A wait for the event instead would end a microsecond late.
            sleep_until_ns(due_ns)
            if self._stop.is_set():
                return
            due_ns += interval_ns
            sequence += 1
            now_ns = time.monotonic_ns()
            self.sent_s[sequence] = now_ns / NS_PER_S
            try:
                self._socket.sendto(self._request(sequence, now_ns), self._dst)
            except OSError:
                # No buffer or no route: the request counts as sent and will have no reply.
                continue

    def receive(self) -> None:
        """Record the round-trip time in ms of each reply to this sender in `rtt_ms` by its sequence number (the first,
        if one comes twice) until `stop` is called or the socket fails; to be run in a thread of its own.
        """
        self._socket.settimeout(None)
        while not self._stop.is_set():
            try:
                packet = self._socket.recv(65_536)
            except OSError:
                return
            if not packet:
                return
            now_ns = time.monotonic_ns()
            ip_bytes = (packet[0] & 0xF) * 4
            kind, _code, _sum, identifier, _sequence = _HEADER.unpack_from(packet, ip_bytes)
            if kind != ECHO_REPLY or identifier != self._identifier:
                continue
            sequence, sent_ns = _STAMP.unpack_from(packet, ip_bytes + _HEADER.size)
            self.rtt_ms.setdefault(sequence, (now_ns - sent_ns) / NS_PER_MS)

    def stop(self) -> None:
        """Let `send` and `receive` return in their threads; later replies are not recorded."""
        self._stop.set()
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            # A raw socket has no peer and raises, but the waiting reader wakes all the same.
            pass

    def _request(self, sequence: int, now_ns: int) -> bytes:
        """Return the bytes of an ICMP echo request with this sequence number (its low 16 bits in the header), checksum
        included; the payload begins with the number and `now_ns`, the time of its sending in ns on the monotonic clock.
        """
        body = _STAMP.pack(sequence, now_ns) + self._padding
        head = _HEADER.pack(ECHO_REQUEST, 0, 0, self._identifier, sequence & 0xFFFF)
        checksum = internet_checksum(head + body)
        return _HEADER.pack(ECHO_REQUEST, 0, checksum, self._identifier, sequence & 0xFFFF) + body


def internet_checksum(data: bytes) -> int:
    """Return the 16-bit ones' complement checksum of RFC 1071 of `data`, as a number from 0 to 65535; an odd number of
    bytes is padded with a zero byte.

    >>> hex(internet_checksum(bytes.fromhex("0001f203f4f5f6f7")))
    '0x220d'
    """
    if len(data) % 2:
        data += b"\0"
    total: int = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF
