"""The sender of one stream of datagrams; see `netlab_engines.sockets` for what it has in common with TCP's."""

import random
import socket
import threading
import time
from collections.abc import Callable
from functools import partial

from netlab.base.errors import ThroughputError
from netlab.base.units import NS_PER_S
from netlab_engines.sockets.batch import (
    MAX_TRAIN_DATAGRAMS,
    UDP_SEGMENT,
    Train,
)
from netlab_engines.sockets.constants import UDP_BURST_NS
from netlab_engines.sockets.datagrams import (
    HEADER,
    MAX_STREAM_ID,
    MIN_PAYLOAD_BYTES,
    check_payload_bytes,
)
from netlab_engines.sockets.moments import forbid_timer_slack, nth_root, sleep_until_ns

CHUNK_DATAGRAMS = 256
"""Datagrams between two looks at the clock, for a sender that ends on time."""


class UdpSender:
    """A sender of one stream of measurement datagrams of one size at an exact rate: the n-th one n intervals after the
    first, without drift.

    The schedule is absolute: a late wake-up (there are none in virtual time) is made good by sending what is due at
    once, but never more than `UDP_BURST_NS` worth of datagrams; what is still missing then follows at up to twice the
    rate.

    Parameters
    ----------
    dst : tuple | None
        Address of the receiver; None where the socket is connected to it.
    rate_bps : int
        Payload bits per second; 0 means as fast as the kernel takes them (never in virtual time).
    end_s : float | None
        Monotonic time before which the last datagram is due.
    num_bytes : int | None
        Payload bytes to send exactly; the last datagram is short.
    batch : bool
        Send trains of up to 64 datagrams a system call (UDP_SEGMENT); they leave back to back.
    spread_seed : int | None
        Send the datagrams at random moments, uniform over the whole time up to `end_s`, instead of evenly. Their number is as exact;
        flows with commensurate rates no longer lock in phase, which would let one of them take all losses [1]_.
    ends_on_time : bool
        End at `end_s`, whatever is still due then: a machine that is slower than the rate sends less, not longer, and the time
        after the last datagram of a low rate is part of the stream.

    References
    ----------
    .. [1] S. Floyd and V. Jacobson, On Traffic Phase Effects in Packet-Switched Gateways, 1992.
    """

    def __init__(
        self,
        sock: socket.socket,
        dst: tuple[str, int] | tuple[str, int, int, int] | None,
        *,
        rate_bps: int,
        payload_bytes: int = 1000,
        stream_id: int,
        end_s: float | None = None,
        num_bytes: int | None = None,
        batch: bool = False,
        spread_seed: int | None = None,
        ends_on_time: bool = False,
    ) -> None:
        """Prepare to send datagrams of `payload_bytes` bytes of the stream `stream_id` from a UDP socket to the address
        `dst` (None: it is connected) at `rate_bps` bit/s of payload (0: unlimited), until `end_s` in s on the monotonic
        clock or for `num_bytes` bytes of payload (None: no such limit). `batch` sends trains, `spread_seed` seeds
        random times (None: even), and with `ends_on_time` a sender that is late ends at `end_s` with fewer datagrams, and
        one that has sent all of them waits for `end_s`. Raises ThroughputError for a wrong value.
        """
        check_payload_bytes(payload_bytes)
        if rate_bps < 0:
            raise ThroughputError(f"rate_bps must be 0 (as fast as possible) or more, got {rate_bps}.")
        if not 0 <= stream_id <= MAX_STREAM_ID:
            raise ThroughputError(f"stream_id must be from 0 to {MAX_STREAM_ID}, got {stream_id}.")
        self.sock = sock
        self.rate_bps = rate_bps
        self.payload_bytes = payload_bytes
        self.stream_id = stream_id
        self.end_s = end_s
        self.sent_datagrams = 0
        self.sent_bytes = 0
        self.started_s: float | None = None
        self.ended_s: float | None = None
        self.error: OSError | None = None
        self._dst = dst
        self._batch = batch
        self._ends_on_time = ends_on_time
        self._spread = None if spread_seed is None else random.Random(spread_seed)  # noqa: S311 (no secret)
        self._tail = None if num_bytes is None else _last_sizes(num_bytes, payload_bytes)
        self._stop = threading.Event()

    def run(self) -> None:
        """Send all datagrams, the first one now (or at a random time), until the end, and keep the times of both in
        `started_s` and `ended_s` (s on the monotonic clock); blocks. A network error ends it and is kept in `error`,
        and nothing is raised.
        """
        forbid_timer_slack()
        self.sock.setblocking(True)
        try:
            if self._dst is not None:
                self.sock.connect(self._dst)
            self._send()
        except OSError as error:
            self.error = error
        self.ended_s = time.monotonic()

    def stop(self) -> None:
        """End the sending soon, within about 50 ms; called by another thread than that of `run`."""
        self._stop.set()

    def _send(self) -> None:
        """Send all datagrams as the parameters say: at random times (if there is an end), or at an even rate, or as
        fast as possible; then, unless they are at random times or not all were sent, the shorter last ones. Blocks.
        Raises OSError if the network fails.
        """
        start_ns = time.monotonic_ns()
        self.started_s = start_ns / NS_PER_S
        end_ns = None if self.end_s is None else round(self.end_s * NS_PER_S)
        full_datagrams = None if self._tail is None else self._tail[0]
        total = full_datagrams
        if end_ns is not None and self.rate_bps:
            in_time = self._due_before(end_ns - start_ns)
            total = in_time if total is None else min(total, in_time)
        if self._spread is not None and total is not None and end_ns is not None:
            self._send_spread(bytearray(self.payload_bytes), self._spread, total, start_ns, end_ns - start_ns)
            return
        unit, send_until = self._unit()
        if self.rate_bps:
            self._send_paced(unit, send_until, start_ns, total, end_ns if self._ends_on_time else None)
        else:
            self._send_unpaced(unit, send_until, end_ns, total)
        if self._tail is not None:
            if total == full_datagrams and not self._stop.is_set():
                self._send_tail(start_ns)
        elif self._ends_on_time and end_ns is not None:
            self._sleep_until(end_ns)

    def _unit(self) -> tuple[int, Callable[[int], None]]:
        """Return the number of datagrams that one system call sends (1, or those of a train), and the function that
        sends all datagrams from the present sequence number up to another (excluded), which it takes. For trains,
        UDP_SEGMENT is set on the socket.
        """
        if not self._batch:
            return 1, partial(self._send_singly, bytearray(self.payload_bytes))
        most = self._datagrams_in(UDP_BURST_NS) if self.rate_bps else MAX_TRAIN_DATAGRAMS
        train = Train(self.stream_id, self.payload_bytes, max(1, most))
        self.sock.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, self.payload_bytes)
        return train.datagrams, partial(self._send_trains, train)

    def _send_paced(
        self, unit: int, send_until: Callable[[int], None], start_ns: int, total: int | None, stop_ns: int | None
    ) -> None:
        """Send datagrams at the rate, counted from `start_ns`, in multiples of `unit` and never more than the datagrams
        of UDP_BURST_NS at once, until `total` are sent (None: no limit), `stop_ns` has passed (None: no limit; the last
        few are still sent) or `stop` is called. `send_until` sends all up to a sequence number (excluded); times are in
        ns on the monotonic clock.
        """
        interval_bits_ns = self.payload_bytes * 8 * NS_PER_S
        burst = self._datagrams_in(UDP_BURST_NS)
        # Whole trains only, so that every train starts at a multiple of its size.
        burst = max(unit, burst - burst % unit)
        chunk = max(unit, CHUNK_DATAGRAMS - CHUNK_DATAGRAMS % unit)
        while not self._stop.is_set() and (total is None or self.sent_datagrams < total):
            if stop_ns is not None and time.monotonic_ns() >= stop_ns:
                # The last datagrams of a sender that is on time may wake a moment too late.
                if total is not None and total - self.sent_datagrams <= chunk:
                    send_until(total)
                return
            due = self._due_before(time.monotonic_ns() - start_ns + 1)
            due += -due % unit
            if total is not None:
                due = min(due, total)
            late = due - self.sent_datagrams > burst
            goal = min(due, self.sent_datagrams + burst)
            if stop_ns is None:
                send_until(goal)
            else:
                self._send_in_chunks(send_until, goal, chunk, stop_ns)
            if total is not None and self.sent_datagrams >= total:
                return
            if late:
                self._sleep_until(time.monotonic_ns() + burst * interval_bits_ns // self.rate_bps // 2)
            else:
                self._sleep_until(start_ns + -(-self.sent_datagrams * interval_bits_ns // self.rate_bps))

    def _send_in_chunks(self, send_until: Callable[[int], None], goal: int, chunk: int, stop_ns: int) -> None:
        """Send the datagrams up to the sequence number `goal` (excluded), `chunk` of them per call of `send_until`, and
        stop early at `stop_ns`, in ns on the monotonic clock, or when `stop` is called.
        """
        while self.sent_datagrams < goal and not self._stop.is_set() and time.monotonic_ns() < stop_ns:
            send_until(min(goal, self.sent_datagrams + chunk))

    def _send_unpaced(
        self, unit: int, send_until: Callable[[int], None], end_ns: int | None, total: int | None
    ) -> None:
        """Send datagrams as fast as the kernel takes them, 64 times `unit` per call of `send_until`, until `end_ns` in
        ns on the monotonic clock (None: no limit), until `total` are sent (None: no limit), or until `stop` is called.
        """
        while not self._stop.is_set() and (end_ns is None or time.monotonic_ns() < end_ns):
            due = self.sent_datagrams + 64 * unit
            if total is not None:
                due = min(due, total)
                if self.sent_datagrams >= total:
                    return
            send_until(due)

    def _send_spread(
        self, datagram: bytearray, chance: random.Random, total: int, start_ns: int, duration_ns: int
    ) -> None:
        """Send `total` datagrams at random times, uniform over the `duration_ns` ns from `start_ns` (ns on the
        monotonic clock) on, or until `stop` is called; `chance` draws the times, and `datagram` is the buffer of the
        payload. Raises OSError if the network fails.
        """
        # Uniform moments in order, one by one: the smallest of n uniform numbers in (x, 1) is 1 - (1 - x) U^(1/n).
        left_share = 1.0
        for left in range(total, 0, -1):
            left_share *= nth_root(chance.random(), left)
            self._sleep_until(start_ns + int((1 - left_share) * duration_ns))
            if self._stop.is_set():
                return
            self._send_singly(datagram, self.sent_datagrams + 1)

    def _datagrams_in(self, length_ns: int) -> int:
        """Return the number of whole datagrams whose payload the rate allows in `length_ns` ns; 0 for the rate 0,
        although that means no limit.
        """
        return self.rate_bps * length_ns // (self.payload_bytes * 8 * NS_PER_S)

    def _due_before(self, elapsed_ns: int) -> int:
        """Return the number of datagrams that are due in the first `elapsed_ns` ns after the start, those at its very
        end excluded.
        """
        return max(0, -(-elapsed_ns * self.rate_bps // (self.payload_bytes * 8 * NS_PER_S)))

    def _send_singly(self, datagram: bytearray, due: int) -> None:
        """Send the datagrams from the present sequence number up to `due` (excluded), each by a system call, and count
        them; `datagram` is the buffer of the payload, whose length is their size. A refusal by the peer is ignored once
        for each. Raises OSError if the network fails.
        """
        pack_into, send, now, stream = HEADER.pack_into, self.sock.send, time.time_ns, self.stream_id
        first = done = self.sent_datagrams
        try:
            for seq in range(first, due):
                pack_into(datagram, 0, stream, seq, now())
                try:
                    send(datagram)
                except ConnectionRefusedError:
                    # The kernel reports an earlier datagram's 'port unreachable' instead of sending this one.
                    send(datagram)
                done = seq + 1
        finally:
            self.sent_datagrams = done
            self.sent_bytes += (done - first) * len(datagram)

    def _send_trains(self, train: Train, due: int) -> None:
        """Send the datagrams from the present sequence number up to `due` (excluded) in trains, for which `train` is
        the buffer, and count them and their bytes. A refusal by the peer is ignored once for each train. Raises OSError
        if the network fails.
        """
        while self.sent_datagrams < due:
            count = min(train.datagrams, due - self.sent_datagrams)
            data = train.fill(self.sent_datagrams, time.time_ns(), count)
            try:
                self.sock.send(data)
            except ConnectionRefusedError:
                self.sock.send(data)
            self.sent_datagrams += count
            self.sent_bytes += len(data)

    def _send_tail(self, start_ns: int) -> None:
        """Send the last datagrams of `num_bytes`, which are shorter than the others, each at its time by the rate,
        which counts from `start_ns` in ns on the monotonic clock. Raises OSError if the network fails.
        """
        assert self._tail is not None
        for size in self._tail[1]:
            if self.rate_bps:
                bits_ns = self.sent_bytes * 8 * NS_PER_S
                self._sleep_until(start_ns + -(-bits_ns // self.rate_bps))
            self._send_singly(bytearray(size), self.sent_datagrams + 1)

    def _sleep_until(self, when_ns: int) -> None:
        """Sleep until `when_ns` in ns on the monotonic clock; `stop` ends a sleep of more than 50 ms early."""
        while not self._stop.is_set():
            left_ns = when_ns - time.monotonic_ns()
            if left_ns <= 0:
                return
            if left_ns > 50_000_000:
                # An event wakes for `stop`, but is not exact: it sleeps only the greater part.
                self._stop.wait((left_ns - 20_000_000) / NS_PER_S)
            else:
                sleep_until_ns(when_ns)


def _last_sizes(num_bytes: int, payload_bytes: int) -> tuple[int, list[int]]:
    """Return the number of datagrams with `payload_bytes` bytes of payload at the beginning of a transfer of
    `num_bytes` bytes, and a list with the sizes in bytes of the shorter ones after them. Raises ThroughputError if the
    transfer is too small for a header.

    >>> _last_sizes(2500, 1000), _last_sizes(2010, 1000), _last_sizes(2000, 1000)
    ((2, [500]), (1, [990, 20]), (2, []))
    """
    count, rest = divmod(num_bytes, payload_bytes)
    if rest == 0 and num_bytes > 0:
        return count, []
    if rest >= MIN_PAYLOAD_BYTES:
        return count, [rest]
    # Too little for a header of its own: the datagram before gives some of its bytes.
    first = payload_bytes + rest - MIN_PAYLOAD_BYTES
    if count == 0 or first < MIN_PAYLOAD_BYTES:
        raise ThroughputError(
            f"{num_bytes} bytes cannot be sent in datagrams of {MIN_PAYLOAD_BYTES} to {payload_bytes} "
            f"bytes; send at least {MIN_PAYLOAD_BYTES} bytes, or choose another payload size."
        )
    return count - 1, [first, MIN_PAYLOAD_BYTES]
