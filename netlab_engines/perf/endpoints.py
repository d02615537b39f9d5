"""The ends of a test's streams on one side: threads that send or receive, and their counters."""

import select
import socket
import threading
import time
from statistics import mean
from typing import Any

from netlab_engines.perf.protocol import TestRequest
from netlab_engines.sockets import tcp_info
from netlab_engines.sockets.options import limit_window, set_congestion
from netlab_engines.sockets.tcp import TcpReceiver, TcpSender
from netlab_engines.sockets.tcp_info import TcpInfo
from netlab_engines.sockets.udp_receiver import UdpReceiver
from netlab_engines.sockets.udp_sender import UdpSender

PATIENCE_S = 15.0
"""The longest time in s without progress, after which a stream is given up."""

Counters = dict[str, Any]


class Endpoint:
    """An end of one stream of a test, on one side, with a thread that sends or receives; subclasses do
    that over TCP or UDP.
    """

    sends: bool
    """True if this end sends."""

    def __init__(self, index: int, request: TestRequest, sock: socket.socket) -> None:
        """Prepare this side's end of the stream with the index `index` (from 0) of the test `request` on an open
        socket; nothing is sent or received before `start`.
        """
        self.index = index
        self.request = request
        self.sock = sock
        self.finished = threading.Event()
        self._last_counters: dict[str, float] = {}
        self._thread = threading.Thread(target=self._run, name=f"stream {index}", daemon=True)

    def start(self, start_s: float) -> None:
        """Start the thread that sends or receives; `start_s` is the start of the test in s on this side's monotonic
        clock.
        """
        self.start_s = start_s
        self._thread.start()

    def stop(self) -> None:
        """End the stream at once, by closing both directions of its connection; nothing happens if it is closed."""
        try:
            self.sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def sample(self) -> Counters:
        """Return what this end sent or received since the last sample ("bytes" and, by protocol, "datagrams" or
        "retransmits") and its present state, by the column's name in the interval table. Raises OSError if the
        connection is gone.
        """
        raise NotImplementedError

    def mark_omitted(self) -> None:
        """Leave what was counted so far out of the results of `counters`. Here nothing happens, as is right for UDP,
        whose omitted datagrams are a stream of their own.
        """

    def counters(self) -> Counters:
        """Return this end's totals without the omitted part at the test's start, by their names in the JSON report;
        "error" is None or the text of a network error.
        """
        raise NotImplementedError

    def close(self) -> None:
        """Stop the stream, wait for the end of its thread and close its socket."""
        self.stop()
        if self._thread.is_alive():
            self._thread.join()
        self.sock.close()

    def _run(self) -> None:
        """Do the work of the thread (`_work`), and set the event `finished` at its end, also after an exception."""
        try:
            self._work()
        finally:
            self.finished.set()

    def _work(self) -> None:
        """Send or receive until the stream's end; runs in the thread. Each subclass defines it."""
        raise NotImplementedError

    def _increases(self, **now: float) -> dict[str, float]:
        """Return the increase of each of the given counters since the last call, or since 0 at the first; `now` has
        their present values by name.
        """
        grown = {name: value - self._last_counters.get(name, 0) for name, value in now.items()}
        self._last_counters.update(now)
        return grown

    def _end_s(self) -> float | None:
        """Return the planned end of the stream in s on the monotonic clock, the omitted time included; None if a number
        of bytes ends it.
        """
        if self.request.duration_s is None:
            return None
        return self.start_s + self.request.omit_s + self.request.duration_s


class TcpSending(Endpoint):
    """The sending end of a TCP stream, which also waits until the peer has received everything."""

    sends = True

    def __init__(self, index: int, request: TestRequest, sock: socket.socket) -> None:
        """Prepare the sending end of the stream with the index `index` (from 0) of the test `request` on a connected
        socket, with the test's congestion control. Raises ThroughputError if the kernel does not have it.
        """
        super().__init__(index, request, sock)
        if request.congestion is not None:
            set_congestion(sock, request.congestion)
        self._rtts_ms: list[float] = []
        self._omitted_bytes = 0
        self._omitted_retransmits = 0
        self._cwnd_max = 0
        self._sender: TcpSender | None = None

    def _work(self) -> None:
        """Send until the stream's end, then wait until the peer has read everything; runs in the thread."""
        self._sender = TcpSender(self.sock, end_s=self._end_s(), num_bytes=self.request.num_bytes)
        self._sender.run()
        self._wait_until_delivered()

    def _wait_until_delivered(self) -> None:
        """Wait until the peer has read everything and closes its direction, or until nothing new was acknowledged for
        PATIENCE_S s. Raises OSError if the connection is gone.
        """
        closing = select.poll()
        closing.register(self.sock.fileno(), select.POLLIN)
        acked, moved_s = -1, time.monotonic()
        while not closing.poll(1000) and time.monotonic() - moved_s < PATIENCE_S:
            now_acked = tcp_info.read_tcp_info(self.sock).bytes_acked or 0
            if now_acked != acked:
                acked, moved_s = now_acked, time.monotonic()

    def stop(self) -> None:
        """End the sending at once, and close both directions of the connection."""
        if self._sender is not None:
            self._sender.stop()
        super().stop()

    def _read(self) -> TcpInfo:
        """Return the kernel's present state of the connection, and keep its round-trip time and its largest congestion
        window for the totals. Raises OSError if the connection is gone.
        """
        info = tcp_info.read_tcp_info(self.sock)
        self._rtts_ms += [info.rtt_ms] if info.rtt_ms else []
        self._cwnd_max = max(self._cwnd_max, info.cwnd_segments or 0)
        return info

    def sample(self) -> Counters:
        """Return the bytes acknowledged and the segments retransmitted since the last sample ("bytes", "retransmits"),
        and the present "cwnd_segments", "ssthresh_segments", "rtt_ms" and "delivery_rate_mbps", None if not known.
        Raises OSError if the connection is gone.
        """
        info = self._read()
        grown = self._increases(bytes=max(0, info.bytes_acked or 0), retransmits=info.retransmits or 0)
        return {
            **grown,
            "cwnd_segments": info.cwnd_segments,
            "ssthresh_segments": info.ssthresh_segments,
            "rtt_ms": info.rtt_ms,
            "delivery_rate_mbps": info.delivery_rate_mbps,
        }

    def mark_omitted(self) -> None:
        """Leave the bytes sent, the retransmissions, round-trip times and windows so far out of the results of
        `counters`. Raises OSError if the connection is gone.
        """
        if self._sender is not None:
            self._omitted_bytes = self._sender.sent_bytes
        self._omitted_retransmits = tcp_info.read_tcp_info(self.sock).retransmits or 0
        self._rtts_ms.clear()
        self._cwnd_max = 0

    def counters(self) -> Counters:
        """Return the totals without the omitted part by name: "sent_bytes", "retransmits", "rtt_min_ms", "rtt_mean_ms"
        and "rtt_max_ms" (None without a sample), and "cwnd_max_segments"; and the present "cwnd_segments", "mss_bytes",
        "congestion" (its name) and "error" (a text, None: none). Raises OSError if the connection is gone.
        """
        info, sender, rtts_ms = self._read(), self._sender, self._rtts_ms
        return {
            "sent_bytes": 0 if sender is None else sender.sent_bytes - self._omitted_bytes,
            "retransmits": None if info.retransmits is None else info.retransmits - self._omitted_retransmits,
            "rtt_min_ms": min(rtts_ms, default=None),
            "rtt_mean_ms": mean(rtts_ms) if rtts_ms else None,
            "rtt_max_ms": max(rtts_ms, default=None),
            "cwnd_segments": info.cwnd_segments,
            "cwnd_max_segments": self._cwnd_max,
            "mss_bytes": info.snd_mss_bytes,
            "congestion": self.sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).split(b"\0")[0].decode(),
            "error": _text(sender.error if sender else None),
        }


class TcpReceiving(Endpoint):
    """The receiving end of a TCP stream; at the peer's end it closes its own direction to confirm that it has
    everything.
    """

    sends = False

    def __init__(self, index: int, request: TestRequest, sock: socket.socket, skipped_bytes: int) -> None:
        """Prepare the receiving end of the stream with the index `index` (from 0) of the test `request` on a connected
        socket, with the test's window; `skipped_bytes` were read from the connection before and do not count. Raises
        ThroughputError if the window is not allowed.
        """
        super().__init__(index, request, sock)
        if request.window_bytes is not None:
            limit_window(sock, request.window_bytes)
        self._receiver = TcpReceiver(sock, skipped_bytes=skipped_bytes, window_bytes=request.window_bytes)
        self._omitted_bytes = 0
        self._omitted_until_s: float | None = None

    def _work(self) -> None:
        """Receive until the peer closes its direction, then close this one, which tells the peer that everything has
        arrived; runs in the thread.
        """
        self._receiver.run()
        try:
            self.sock.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def sample(self) -> Counters:
        """Return the number of bytes received since the last sample, under the name "bytes"."""
        return self._increases(bytes=self._receiver.received_bytes)

    def mark_omitted(self) -> None:
        """Leave the bytes received so far, and the time until now, out of the results of `counters`."""
        self._omitted_bytes = self._receiver.received_bytes
        self._omitted_until_s = time.monotonic()

    def counters(self) -> Counters:
        """Return a dict of the bytes received ("received_bytes"), the time in s in which they arrived ("seconds"), both
        without the omitted part, and the text of an error ("error", None: none).
        """
        receiver = self._receiver
        first_s = receiver.first_s if self._omitted_until_s is None else self._omitted_until_s
        seconds = 0.0
        if first_s is not None:
            seconds = max(0.0, (receiver.last_s or time.monotonic()) - first_s)
        return {
            "received_bytes": receiver.received_bytes - self._omitted_bytes,
            "seconds": seconds,
            "error": _text(receiver.error),
        }


class UdpSending(Endpoint):
    """The sending end of a UDP stream; the datagrams in the omitted time are a separate stream before the one that
    counts.
    """

    sends = True

    def __init__(self, index: int, request: TestRequest, sock: socket.socket, stream_id: int) -> None:
        """Prepare the sending end of the stream with the index `index` (from 0) of the test `request` on a connected
        socket; datagrams that count have the number `stream_id`, omitted ones `stream_id` + 1.
        """
        super().__init__(index, request, sock)
        self._stream_id = stream_id
        self._stopped = False
        self._senders: list[UdpSender] = []

    def _work(self) -> None:
        """Send the omitted datagrams, if there are any, then those that count; runs in the thread."""
        omit_s = self.request.omit_s
        if omit_s:
            self._send(self._stream_id + 1, self.start_s + omit_s)
        self._send(self._stream_id, self._end_s())

    def _send(self, stream_id: int, end_s: float | None) -> None:
        """Send datagrams with the number `stream_id` until `end_s` in s on the monotonic clock (None: until the test's
        number of bytes is sent); send none if `stop` was called.
        """
        request = self.request
        sender = UdpSender(
            self.sock,
            None,
            rate_bps=request.rate_bps or 0,
            payload_bytes=request.payload_bytes,
            stream_id=stream_id,
            end_s=end_s,
            num_bytes=request.num_bytes,
            batch=request.batch,
            ends_on_time=True,
        )
        self._senders.append(sender)
        if not self._stopped:
            sender.run()

    def stop(self) -> None:
        """End the sending at once; the socket stays open."""
        self._stopped = True
        for sender in list(self._senders):
            sender.stop()

    def sample(self) -> Counters:
        """Return the payload bytes and the datagrams sent since the last sample, the omitted ones included, as "bytes"
        and "datagrams".
        """
        return self._increases(
            bytes=sum(sender.sent_bytes for sender in self._senders),
            datagrams=sum(sender.sent_datagrams for sender in self._senders),
        )

    def counters(self) -> Counters:
        """Return a dict of the payload bytes and the datagrams sent, without the omitted ones ("sent_bytes",
        "datagrams"), the time in s that sending them took ("sending_seconds", missing before the start), and the text
        of an error ("error", None: none).
        """
        if not self._senders:
            return {"sent_bytes": 0, "datagrams": 0, "error": None}
        sender = self._senders[-1]
        return {
            "sent_bytes": sender.sent_bytes,
            "datagrams": sender.sent_datagrams,
            "sending_seconds": (sender.ended_s or time.monotonic()) - (sender.started_s or self.start_s),
            "error": _text(sender.error),
        }


class UdpReceiving(Endpoint):
    """The receiving end of a UDP stream, which receives until `stop`; the omitted datagrams have a stream id of their
    own.
    """

    sends = False

    def __init__(self, index: int, request: TestRequest, sock: socket.socket, stream_id: int) -> None:
        """Prepare the receiving end of the stream with the index `index` (from 0) of the test `request` on a connected
        socket; datagrams that count have the number `stream_id`, omitted ones `stream_id` + 1.
        """
        super().__init__(index, request, sock)
        self._receiver = UdpReceiver(sock, stream_ids=[stream_id, stream_id + 1], batch=request.batch)
        self._counters = self._receiver.streams[stream_id]
        self._omitted = self._receiver.streams[stream_id + 1]

    def _work(self) -> None:
        """Receive datagrams until `stop` is called; runs in the thread."""
        self._receiver.run()

    def stop(self) -> None:
        """End the receiving, after the datagrams that wait in the socket are counted; the socket stays open."""
        self._receiver.stop()

    def wait_for_rest(self, sent_datagrams: int, quiet_s: float) -> None:
        """Wait until `sent_datagrams` datagrams (the number that the sender has sent, without the omitted ones) have
        arrived, or none has arrived for `quiet_s` s; they are counted meanwhile.
        """
        self._receiver.read_now()
        seen, moved_s = self._counters.received_datagrams, time.monotonic()
        while self._counters.received_datagrams < sent_datagrams and time.monotonic() - moved_s < quiet_s:
            time.sleep(0.05)
            self._receiver.read_now()
            if self._counters.received_datagrams != seen:
                seen, moved_s = self._counters.received_datagrams, time.monotonic()

    def sample(self) -> Counters:
        """Return a dict of the payload bytes and datagrams received and the datagrams lost since the last sample, the
        omitted ones included ("bytes", "datagrams", "lost"), and the present jitter in ms ("jitter_ms"); "lost" is
        negative if late ones arrived.
        """
        self._receiver.read_now()
        both = (self._counters, self._omitted)
        grown = self._increases(
            bytes=sum(counters.received_bytes for counters in both),
            datagrams=sum(counters.received_datagrams for counters in both),
            expected=sum(counters.next_seq for counters in both),
        )
        # A late datagram counts as lost in its own interval and reduces the losses of a later one.
        grown["lost"] = grown.pop("expected") - grown["datagrams"]
        return {**grown, "jitter_ms": self._counters.jitter_ms}

    def counters(self) -> Counters:
        """Return a dict of the payload bytes and the different datagrams received without the omitted ones
        ("received_bytes", "received_datagrams"), the time in s in which they arrived ("seconds", 0 for less than two),
        the numbers "reordered" and "duplicates", "jitter_ms", the smallest, mean and largest delay ("delay_min_ms",
        ...; None without datagrams), drops in the socket's buffer ("buffer_drops", with the omitted ones) and the text
        of an error ("error", None: none).
        """
        counters = self._counters
        count = counters.received_datagrams
        seconds = 0.0
        if count > 1 and counters.first_s is not None and counters.last_s is not None:
            # n datagrams span n - 1 gaps; add a gap for the last one.
            seconds = (counters.last_s - counters.first_s) * count / (count - 1)
        return {
            "received_bytes": counters.received_bytes,
            "received_datagrams": count,
            "seconds": seconds,
            "reordered": counters.reordered,
            "duplicates": counters.duplicates,
            "jitter_ms": counters.jitter_ms,
            "delay_min_ms": counters.delay_min_ms if count else None,
            "delay_mean_ms": counters.delay_mean_ms if count else None,
            "delay_max_ms": counters.delay_max_ms if count else None,
            "buffer_drops": self._receiver.buffer_drops,
            "error": _text(self._receiver.error),
        }


def _text(error: OSError | None) -> str | None:
    """Return the text of a network error; None for None."""
    return None if error is None else (error.strerror or str(error))
