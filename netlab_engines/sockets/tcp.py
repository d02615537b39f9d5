"""Sender and receiver of one TCP connection; see `netlab_engines.sockets` for what they have in common with UDP's."""

import mmap
import os
import random
import select
import socket
import time
from functools import cache

from netlab.base.errors import ThroughputError
from netlab.base.units import NS_PER_MS, NS_PER_S
from netlab_engines.sockets import tcp_info
from netlab_engines.sockets.constants import (
    MAX_UNREAD_BYTES,
    PAYLOAD_PERIOD_BYTES,
    READ_EVERY_NS,
    RECEIVE_CHUNK_BYTES,
    SEND_CHUNK_BYTES,
    SHORT_RTT_US,
)
from netlab_engines.sockets.moments import forbid_timer_slack, sleep_until_ns
from netlab_engines.sockets.options import TCP_WINDOW_CLAMP
from netlab_engines.sockets.stopper import Stopper


@cache
def _payload_fd() -> int:
    """Return the file descriptor, the same at each call, of a file in memory with SEND_CHUNK_BYTES random bytes, which
    no link can compress and which `sendfile` sends without a copy.
    """
    fd = os.memfd_create("netlab-payload", os.MFD_CLOEXEC)
    os.write(fd, random.Random(0).randbytes(PAYLOAD_PERIOD_BYTES) * (SEND_CHUNK_BYTES // PAYLOAD_PERIOD_BYTES))  # noqa: S311 (no secret)
    return fd


class TcpSender:
    """A sender that fills a connected TCP socket as fast as TCP allows, until a time or for a number of bytes, and then
    closes its direction.

    `end_s` is when to stop writing; what the kernel has buffered by then is still delivered. `num_bytes` are sent
    exactly. With both, whichever comes first; with neither, until `stop`. The socket stays open for the caller to
    close.
    """

    def __init__(self, sock: socket.socket, *, end_s: float | None = None, num_bytes: int | None = None) -> None:
        """Prepare to send on a connected TCP socket until the time `end_s`, in s on the monotonic clock, or until
        `num_bytes` bytes are sent, whichever is first (None: no such limit). Raises ThroughputError if `num_bytes` is
        negative.
        """
        if num_bytes is not None and num_bytes < 0:
            raise ThroughputError(f"num_bytes must be 0 or more, got {num_bytes}.")
        self.sock = sock
        self.end_s = end_s
        self.num_bytes = num_bytes
        self.sent_bytes = 0
        self.ended_s: float | None = None
        self.error: OSError | None = None
        self._stopper = Stopper()

    def run(self) -> None:
        """Send until the end, keep its time in `ended_s` (s on the monotonic clock), then shut down the sending
        direction, so that the receiver reads the end of the stream; blocks, and switches the timer slack of this thread
        off. A network error ends it and is kept in `error`, and nothing is raised.
        """
        forbid_timer_slack()
        try:
            self.send()
        except OSError as error:
            self.error = error
        self.ended_s = time.monotonic()
        try:
            self.sock.shutdown(socket.SHUT_WR)
        except OSError as error:
            self.error = self.error or error

    def stop(self) -> None:
        """End the sending now; called by another thread than that of `run` or `send`, which then returns."""
        self._stopper.set()

    def send(self) -> None:
        """Send until the time `end_s`, until `num_bytes` are sent or until `stop` is called, count the bytes in
        `sent_bytes`, and leave the connection open and non-blocking; blocks meanwhile. Raises OSError if the connection
        fails.
        """
        out, payload = self.sock.fileno(), _payload_fd()
        self.sock.setblocking(False)
        # The kernel reports room only when a third of the send buffer is free, so a wake-up serves many
        # packets.
        poller = select.poll()
        poller.register(out, select.POLLOUT)
        poller.register(self._stopper.fd, select.POLLIN)
        count = SEND_CHUNK_BYTES
        end_ns = None if self.end_s is None else round(self.end_s * NS_PER_S)
        while not self._stopper.is_set:
            if self.num_bytes is not None:
                count = min(SEND_CHUNK_BYTES, self.num_bytes - self.sent_bytes)
                if count == 0:
                    return
            left_ns = None if end_ns is None else end_ns - time.monotonic_ns()
            if left_ns is not None and left_ns <= 0:
                return
            try:
                self.sent_bytes += os.sendfile(out, payload, 0, count)
            except BlockingIOError:
                if end_ns is None or left_ns is None:
                    poller.poll()
                elif left_ns >= NS_PER_MS:
                    poller.poll(left_ns // NS_PER_MS)
                else:
                    sleep_until_ns(end_ns)


class TcpReceiver:
    """A receiver that reads and discards the bytes of a TCP connection until the peer closes it, without copying them
    and without a wake-up per packet.

    `skipped_bytes` were read from the connection before and do not count. `window_bytes` is what `options.tune_tcp`
    was given. Where `num_bytes`, how many will come, is known, the arrival of the last one, `last_s`, is exact; else
    it is to the kernel's tick where the end of the stream came later. `finished` is True once the peer has closed (or
    reset, see `error`) or the socket was shut down.
    """

    def __init__(
        self,
        sock: socket.socket,
        *,
        skipped_bytes: int = 0,
        window_bytes: int | None = None,
        num_bytes: int | None = None,
    ) -> None:
        """Prepare to read a connected TCP socket. `skipped_bytes` were read from it before and do not count;
        `window_bytes` is the limit in bytes that was set for its window (None: none); `num_bytes` is the number of
        bytes that will come (None: unknown).
        """
        self.sock = sock
        self._window_bytes = window_bytes
        self._num_bytes = num_bytes
        self.first_s: float | None = None
        self.last_s: float | None = None
        self.finished = False
        self.error: OSError | None = None
        self._skipped_bytes = skipped_bytes
        self._read_bytes = 0

    @property
    def received_bytes(self) -> int:
        """The number of payload bytes that have arrived in order so far, read or not, without the skipped ones; of a
        finished receiver, or if the kernel does not tell, the bytes that it has read. Any thread may read it.
        """
        if not self.finished:
            try:
                arrived = tcp_info.read_tcp_info(self.sock).bytes_received
            except OSError:
                arrived = None
            # The kernel counts the closing FIN as one byte; `run` sees it at the same moment and takes over.
            if arrived is not None and not self.finished:
                return arrived - self._skipped_bytes
        return self._read_bytes

    def run(self) -> None:
        """Read and discard data until the end of the stream; blocks. The times of the first and the last arrival (s on
        the monotonic clock, None if nothing came) are kept in `first_s` and `last_s`, and `finished` is set at the end.
        A network error ends it and is kept in `error`, and nothing is raised.
        """
        self.sock.settimeout(None)
        # Anonymous memory that MSG_TRUNC never touches: it costs addresses, not pages.
        nowhere = mmap.mmap(-1, RECEIVE_CHUNK_BYTES)
        receive = self.sock.recv_into
        try:
            # The first read returns with the first bytes and tells when they came; the others wait for much.
            count = receive(nowhere, self._chunk_bytes(), socket.MSG_TRUNC)
            if count:
                self.first_s = time.monotonic()
                if self._window_bytes is not None:
                    # The first full segment made the kernel (6.6 and later) derive the clamp from the buffer anew.
                    self.sock.setsockopt(socket.IPPROTO_TCP, TCP_WINDOW_CLAMP, self._window_bytes)
            read_ns = time.monotonic_ns()
            while count:
                self._read_bytes += count
                if self._read_bytes == self._num_bytes:
                    self.last_s = read_ns / NS_PER_S
                count = receive(nowhere, self._chunk_bytes(), socket.MSG_TRUNC | socket.MSG_WAITALL)
                before_ns, read_ns = read_ns, time.monotonic_ns()
                if count == RECEIVE_CHUNK_BYTES and read_ns > before_ns:
                    self._wake_rarely(count * READ_EVERY_NS // (read_ns - before_ns))
        except OSError as error:
            self.error = error
        if self.first_s is not None and self.last_s is None:
            self.last_s = max(self.first_s, self._last_arrival_s())
        self.finished = True

    def _chunk_bytes(self) -> int:
        """Return the number of bytes for which the next read is to wait: those that are left of `num_bytes`, at most
        RECEIVE_CHUNK_BYTES, or RECEIVE_CHUNK_BYTES if that number is not known.
        """
        # Read no more than the remaining bytes: the read then ends with the last byte and does not wait for the end of the stream.
        left = 0 if self._num_bytes is None else self._num_bytes - self._read_bytes
        return min(left, RECEIVE_CHUNK_BYTES) if left > 0 else RECEIVE_CHUNK_BYTES

    def _wake_rarely(self, unread_bytes: int) -> None:
        """Let the kernel wake the reader only when about `unread_bytes` bytes, at most MAX_UNREAD_BYTES, wait to be
        read; nothing is changed if the window is limited, the number of bytes is known, or the RTT is not below
        SHORT_RTT_US µs.
        """
        # A wake-up per segment takes longer than the segment. Unread bytes narrow the window, which does no harm while
        # the path holds far less than the buffer: not on a long path, nor where the window is what is asked about. The
        # last bytes of a transfer, fewer than such a mark, would not wake the reader when they come.
        if self._window_bytes is not None or self._num_bytes is not None:
            return
        rtt_ms = tcp_info.read_tcp_info(self.sock).rtt_min_ms
        if rtt_ms is not None and rtt_ms * 1000 < SHORT_RTT_US:
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, min(MAX_UNREAD_BYTES, unread_bytes))

    def _last_arrival_s(self) -> float:
        """Return the time in s on the monotonic clock at which the kernel received the last data, with an error of up
        to 10 ms (its tick); the present time if it is not known or was at most 10 ms ago.
        """
        now_s = time.monotonic()
        try:
            ago_ms = tcp_info.read_tcp_info(self.sock).last_data_received_ms or 0
        except OSError:
            return now_s
        # The kernel's tick is 1 to 10 ms: below that, now is nearer to the truth.
        return now_s - ago_ms / 1000 if ago_ms > 10 else now_s
