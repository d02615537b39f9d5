"""The interface of a user's program to the network, and the record of the data that programs read and deliver."""

from __future__ import annotations

import bisect
import math
import random
import struct
from typing import Any

from netlab.base.errors import NetlabError
from netlab.base.units import MS_PER_S, NS_PER_S
from netlab.base.values import is_integer, is_number, short_repr
from netlab.plan import DatagramInterval
from netlab.traffic.program import ProgramTotals

LENGTH = struct.Struct("<I")
"""The prefix of a datagram in a program's reply: its length in bytes."""
NO_TIMER = 2**64 - 1
MAX_TIME_S = 1e8
"""Three years; a later time is probably one of the computer's clock."""
MAX_DATAGRAM_BYTES = 1472
MAX_BYTES_PER_CALL = 1_000_000
"""The largest reply, below the kernel's limit (MAX_TOLD_BYTES)."""
MAX_QUOTED = 20
LOOK_BACK_BYTES = 1 << 20
LOOK_BACK_DATAGRAMS = 10_000


class ProgramInterface:
    """The interface of a user's program, sender or receiver, to the network; the argument of its `on_start`.

    Attributes
    ----------
    now_s : float
        The network time in s since the run's start.
    """

    __slots__ = ("_log", "_receives", "_timer_ns", "now_s", "outgoing", "outgoing_bytes")

    def __init__(self, log: DeliveryLog, receives: bool) -> None:
        """Begin at 0 s; `log` records the data, and `receives` is True for the receiver's program."""
        self._log, self._receives = log, receives
        self._timer_ns = NO_TIMER
        self.now_s = 0.0
        self.outgoing: list[bytes] = []
        self.outgoing_bytes = 0

    def send(self, data: Any) -> None:
        """Send 1 to 1472 bytes to the other end when the method returns; NetlabError for other or too much data."""
        sent = _bytes("send", data)
        if not 1 <= len(sent) <= MAX_DATAGRAM_BYTES:
            raise NetlabError(
                f"send() takes 1 to {MAX_DATAGRAM_BYTES} bytes, the payload of an Ethernet frame; got {len(sent)}"
            )
        self.outgoing_bytes += len(sent) + LENGTH.size
        if self.outgoing_bytes > MAX_BYTES_PER_CALL:
            raise NetlabError(
                f"send() got more than {MAX_BYTES_PER_CALL} bytes within one call of a method; send the rest in on_timer"
            )
        self.outgoing.append(sent)
        if not self._receives:
            self._log.note_sent(self.now_s, sent)

    def set_timer(self, at_s: float | None) -> None:
        """Move the next `on_timer` to `at_s`, a later network time in s (else NetlabError); None means no call."""
        if at_s is None:
            self._timer_ns = NO_TIMER
        elif is_number(at_s) and self.now_s < at_s < MAX_TIME_S:
            self._timer_ns = round(at_s * NS_PER_S)
        else:
            raise NetlabError(
                f"set_timer() takes a later network time, such as program.now_s + 0.2, or None; got {short_repr(at_s)} at "
                f"{self.now_s:.6g} s"
            )

    def read(self, num_bytes: int) -> bytes:
        """Return the next bytes of the sender's application: up to `num_bytes` (1 or more), b"" after all. Raises
        NetlabError for another number, and in a receiver.
        """
        if self._receives:
            raise NetlabError("read() is for the sender; the receiver's application has no data to send")
        if not (is_integer(num_bytes) and num_bytes >= 1):
            raise NetlabError(f"read() takes a whole number of bytes of at least 1, got {short_repr(num_bytes)}")
        return self._log.read(self.now_s, num_bytes)

    def deliver(self, data: Any) -> None:
        """Pass bytes to the receiver's application. Raises NetlabError in the sender's program and for no bytes."""
        if not self._receives:
            raise NetlabError("deliver() is for the receiver; the sender's application expects no data")
        self._log.deliver(self.now_s, _bytes("deliver", data))

    def wake(self, now_ns: int, is_timer: bool) -> None:
        """Set the network time in ns before a call of one of the program's methods; if it is `on_timer` (`is_timer`),
        turn the timer off.
        """
        self.now_s = now_ns / NS_PER_S
        if is_timer:
            self._timer_ns = NO_TIMER

    def take(self) -> tuple[int, list[bytes]]:
        """Return the time of the timer in ns (NO_TIMER if off), and the datagrams to send; forget these."""
        outgoing, self.outgoing, self.outgoing_bytes = self.outgoing, [], 0
        return self._timer_ns, outgoing


class DeliveryLog:
    """The record of the data that a flow's sender read and its receiver delivered.

    The bytes that `read` returns are random, so each delivered piece can be located among them: it is the next one, one that was
    delivered before, one after a gap, or none of them. If the sender reads nothing, pieces are located in the datagrams sent.

    Parameters
    ----------
    num_bytes : int or None
        The number of bytes that the sender can read, or None for no limit.
    label : str
        The label of the flow.
    """

    def __init__(self, num_bytes: int | None, label: str = "") -> None:
        """Begin an empty record, of a sender that can read `num_bytes` bytes (None: no limit) in the flow `label`."""
        self._label, self._left_bytes = label, num_bytes
        self._source = random.Random(0)  # noqa: S311 (no secret)
        self._data = bytearray()
        self._ends: list[int] = []
        self._read_s: list[float] = []
        self._sent_s: dict[bytes, float] = {}
        self._received: set[bytes] = set()
        self._deliveries: list[tuple[float, float, int]] = []
        self._at = 0
        self.sent_bytes = self.sent_datagrams = self.received_datagrams = 0
        self.duplicates = self.missing_bytes = self.wrong_bytes = self.equal_datagrams = 0

    def read(self, now_s: float, num_bytes: int) -> bytes:
        """Return the sender's next `num_bytes` bytes, fewer at the end, and record their reading at `now_s` (in s)."""
        if self._left_bytes is not None:
            num_bytes = min(num_bytes, self._left_bytes)
            self._left_bytes -= num_bytes
        piece = self._source.randbytes(num_bytes)
        if piece:
            self._data += piece
            self._ends.append(len(self._data))
            self._read_s.append(now_s)
        return piece

    def note_sent(self, now_s: float, data: bytes) -> None:
        """Count a datagram that the sender sends at `now_s` in s; if it has read nothing, note its bytes and time."""
        self.sent_bytes += len(data)
        self.sent_datagrams += 1
        if not self._data:
            self.equal_datagrams += data in self._sent_s
            self._sent_s.setdefault(data, now_s)

    def deliver(self, now_s: float, piece: bytes) -> None:
        """Record a piece that the receiver delivers at `now_s` in s: new bytes with their delay, or count it."""
        if not piece:
            return
        fresh_bytes, since_s = self._locate(piece) if self._data else self._locate_in_datagrams(piece)
        if not fresh_bytes:
            return
        self._deliveries.append((now_s, now_s - since_s, fresh_bytes))

    def _locate(self, piece: bytes) -> tuple[int, float]:
        """Return the number of bytes in a delivered piece that are new, and the time in s at which the sender read the
        first of them; count what is wrong, missing or a duplicate.
        """
        at = self._at
        if not self._data.startswith(piece, at):
            at = self._data.find(piece, at)
            if at < 0:
                at = self._data.rfind(piece, max(0, self._at - LOOK_BACK_BYTES))
            if at < 0:
                self.wrong_bytes += len(piece)
                return 0, 0.0
        end = at + len(piece)
        self.missing_bytes += max(0, at - self._at)
        self.duplicates += at < self._at
        fresh_bytes = max(0, end - max(at, self._at))
        self._at = max(self._at, end)
        return fresh_bytes, self._read_s[bisect.bisect_right(self._ends, at)]

    def _locate_in_datagrams(self, piece: bytes) -> tuple[int, float]:
        """Return the size and the sending time in s of a piece from a sender that reads nothing; if it was delivered
        before or never sent, count it as a duplicate or as wrong bytes and return (0, 0.0).
        """
        for number, (data, since_s) in enumerate(reversed(self._sent_s.items())):
            if piece in data:
                if piece in self._received:
                    break
                self._received.add(piece)
                return len(piece), since_s
            if number == LOOK_BACK_DATAGRAMS:
                break
        if piece in self._received:
            self.duplicates += 1
        else:
            self.wrong_bytes += len(piece)
        return 0, 0.0

    def totals(self) -> ProgramTotals:
        """Return the totals of the flow for the run's results."""
        delays_ms = [MS_PER_S * delay_s for _at_s, delay_s, _bytes in self._deliveries]
        return {
            "flow": self._label,
            "error": None,
            "sent_bytes": self.sent_bytes,
            "sent_datagrams": self.sent_datagrams,
            "received_datagrams": self.received_datagrams,
            "delivered_bytes": sum(size for _at_s, _delay_s, size in self._deliveries),
            "duplicates": self.duplicates,
            "missing_bytes": self.missing_bytes,
            "wrong_bytes": self.wrong_bytes,
            "equal_datagrams": None if self._data else self.equal_datagrams,
            "delay_min_ms": min(delays_ms, default=math.nan),
            "delay_mean_ms": sum(delays_ms) / len(delays_ms) if delays_ms else math.nan,
            "delay_max_ms": max(delays_ms, default=math.nan),
            "first_s": self._deliveries[0][0] if self._deliveries else None,
            "last_s": self._deliveries[-1][0] if self._deliveries else None,
        }

    def rows(self, interval_s: float) -> list[DatagramInterval]:
        """Return a row of bytes and pieces delivered in each interval of `interval_s` seconds (from 0) with any."""
        found: dict[int, DatagramInterval] = {}
        interval_ns = round(interval_s * NS_PER_S)
        for at_s, _delay_s, size in self._deliveries:
            # Use integers: in floating point 0.3 / 0.1 is below 3.
            number = round(at_s * NS_PER_S) // interval_ns
            row = found.setdefault(number, {"flow": self._label, "interval": number, "bytes": 0, "datagrams": 0})
            row["bytes"] += size
            row["datagrams"] += 1
        return list(found.values())


def _bytes(method: str, data: Any) -> bytes:
    """Return the argument of a program's `send` or `deliver` as bytes. Raises NetlabError if it is none."""
    if not isinstance(data, (bytes, bytearray, memoryview)):
        # Do not quote the content of a long value: it would be bytes as text or as numbers.
        got = (
            f"{type(data).__name__} of length {len(data)}"
            if isinstance(data, (str, list)) and len(data) > MAX_QUOTED
            else short_repr(data)
        )
        raise NetlabError(f"{method}() takes bytes, such as b'hello', text.encode() or data[1:]; got {got}")
    return bytes(data)
