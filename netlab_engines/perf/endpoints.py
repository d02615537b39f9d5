"""The part of a test that runs on one side: its ends of the streams, their samples and their counters."""

import queue
import select
import socket
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from statistics import mean
from typing import Any

from netlab.base.errors import ThroughputError
from netlab.base.units import rate_mbps
from netlab_engines.perf.protocol import Channel, Message, TestRequest
from netlab_engines.sockets import tcp_info
from netlab_engines.sockets.options import limit_window, set_congestion
from netlab_engines.sockets.tcp import TcpReceiver, TcpSender
from netlab_engines.sockets.tcp_info import TcpInfo
from netlab_engines.sockets.udp import UdpReceiver, UdpSender

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
            now_acked = tcp_info.read(self.sock).bytes_acked or 0
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
        info = tcp_info.read(self.sock)
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
        self._omitted_retransmits = tcp_info.read(self.sock).retransmits or 0
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
        self._account = self._receiver.streams[stream_id]
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
        seen, moved_s = self._account.received_datagrams, time.monotonic()
        while self._account.received_datagrams < sent_datagrams and time.monotonic() - moved_s < quiet_s:
            time.sleep(0.05)
            self._receiver.read_now()
            if self._account.received_datagrams != seen:
                seen, moved_s = self._account.received_datagrams, time.monotonic()

    def sample(self) -> Counters:
        """Return a dict of the payload bytes and datagrams received and the datagrams lost since the last sample, the
        omitted ones included ("bytes", "datagrams", "lost"), and the present jitter in ms ("jitter_ms"); "lost" is
        negative if late ones arrived.
        """
        self._receiver.read_now()
        both = (self._account, self._omitted)
        grown = self._increases(
            bytes=sum(account.received_bytes for account in both),
            datagrams=sum(account.received_datagrams for account in both),
            expected=sum(account.next_seq for account in both),
        )
        # A late datagram counts as lost in its own interval and reduces the losses of a later one.
        grown["lost"] = grown.pop("expected") - grown["datagrams"]
        return {**grown, "jitter_ms": self._account.jitter_ms}

    def counters(self) -> Counters:
        """Return a dict of the payload bytes and the different datagrams received without the omitted ones
        ("received_bytes", "received_datagrams"), the time in s in which they arrived ("seconds", 0 for less than two),
        the numbers "reordered" and "duplicates", "jitter_ms", the smallest, mean and largest delay ("delay_min_ms",
        ...; None without datagrams), drops in the socket's buffer ("buffer_drops", with the omitted ones) and the text
        of an error ("error", None: none).
        """
        account = self._account
        count = account.received_datagrams
        seconds = 0.0
        if count > 1 and account.first_s is not None and account.last_s is not None:
            # n datagrams span n - 1 gaps; add a gap for the last one.
            seconds = (account.last_s - account.first_s) * count / (count - 1)
        return {
            "received_bytes": account.received_bytes,
            "received_datagrams": count,
            "seconds": seconds,
            "reordered": account.reordered,
            "duplicates": account.duplicates,
            "jitter_ms": account.jitter_ms,
            "delay_min_ms": account.delay_min_ms if count else None,
            "delay_mean_ms": account.delay_mean_ms if count else None,
            "delay_max_ms": account.delay_max_ms if count else None,
            "buffer_drops": self._receiver.buffer_drops,
            "error": _text(self._receiver.error),
        }


class Sampler:
    """A thread that samples all ends of this side at the end of each interval, and once more at `stop` or at the end of
    a `with` block; `rows` has all samples.
    """

    def __init__(
        self,
        endpoints: Sequence[Endpoint],
        request: TestRequest,
        start_s: float,
        on_rows: Callable[[list[Counters]], None] | None = None,
    ) -> None:
        """Prepare to sample these ends of streams during a test that starts at `start_s` in s on the monotonic clock,
        with the intervals of `request`. `on_rows` is called in the sampler's thread with the rows of each interval, one
        for each end that is still connected (None: nothing is called).
        """
        self.rows: list[Counters] = []
        self._endpoints = endpoints
        self._interval_s = request.interval_s
        self._omit_s = request.omit_s
        self._start_s = start_s
        self._sampled_s = start_s
        self._on_rows = on_rows
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sampler", daemon=True)

    def __enter__(self) -> "Sampler":
        """Start the thread that samples, and return this sampler."""
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        """Take the last sample and end the thread; an exception in the block is raised on."""
        self.stop()

    def stop(self) -> None:
        """Take the last sample and end the thread; a second call does nothing."""
        if not self._stopping.is_set():
            self._stopping.set()
            self._thread.join()

    def _run(self) -> None:
        """Sample all ends at the end of each interval, and tell them when the omitted time ends, until `stop`; then
        sample once more unless that follows the last sample at once. Intervals through which the machine slept are
        skipped. Runs in the thread.
        """
        marked = self._omit_s == 0
        number = 1
        while True:
            next_s = self._start_s + number * self._interval_s
            omit_s = self._start_s + self._omit_s
            until_s = next_s if marked else min(next_s, omit_s)
            if self._stopping.wait(max(0.0, until_s - time.monotonic())):
                break
            if not marked and until_s == omit_s:
                for endpoint in self._endpoints:
                    endpoint.mark_omitted()
                marked = True
            if until_s == next_s:
                self._sample()
                # If the machine slept through intervals, skip them.
                number = max(number + 1, int((time.monotonic() - self._start_s) / self._interval_s))
        if time.monotonic() - self._sampled_s > min(0.05, self._interval_s / 10):
            self._sample()

    def _sample(self) -> None:
        """Append a row to `rows` for each end of a stream, for the time since the last sample, and pass the rows to
        `on_rows`; an end whose connection is gone has none. A row has "stream" (from 1), "t_s" (s from the test's
        start), "seconds" (its length), "goodput_mbps", "omitted" (whether it does not count), and the counters of the
        end's `sample`.
        """
        from_s, self._sampled_s = self._sampled_s, time.monotonic()
        length_s = max(self._sampled_s - from_s, 1e-9)
        rows = []
        for endpoint in self._endpoints:
            try:
                counters = endpoint.sample()
            except OSError:
                continue
            rows.append(
                {
                    "stream": endpoint.index + 1,
                    "t_s": self._sampled_s - self._start_s,
                    "seconds": length_s,
                    "goodput_mbps": rate_mbps(counters["bytes"], length_s),
                    "omitted": self._sampled_s - self._start_s <= self._omit_s,
                    **counters,
                }
            )
        self.rows += rows
        if self._on_rows is not None and rows:
            self._on_rows(rows)


class Side:
    """The common part of the client and the server of one test: the control connection and this side's ends of the
    streams, by the stream's index.

    Events are messages from the other side, messages that threads of this side queue, and the error that ends the test.
    """

    at_client: bool

    def __init__(self, sock: socket.socket, peer: str) -> None:
        """Prepare the control connection of a test on an open socket; `peer` names the other side at the beginning of
        errors. Nothing is read before the connection's thread is started.
        """
        self._sock = sock
        self._peer = peer
        self._events: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._channel = Channel(sock, peer, self._events)
        self._endpoints: dict[int, Endpoint] = {}

    def _next(self, type_: str, timeout_s: float) -> Message:
        """Return the next event of the control connection, which must be a message of the type `type_`, such as
        "READY". Raises TimeoutError if none comes within `timeout_s` s, and ThroughputError if it is another or an
        error.
        """
        try:
            message = self._as_message(self._events.get(timeout=timeout_s))
        except queue.Empty:
            raise TimeoutError(f"No {type_} arrived within {timeout_s:g} s.") from None
        if message["type"] != type_:
            raise ThroughputError(f"{self._peer} sent {message['type'][:40]!r} instead of {type_!r}.")
        return message

    def _as_message(self, event: Any) -> Message:
        """Return `event`, an event of the control connection, as a message; if it is a ThroughputError, raise it."""
        if isinstance(event, ThroughputError):
            raise event
        message: Message = event
        return message

    def _add_end(
        self, index: int, request: TestRequest, sock: socket.socket, *, stream_id: int = 0, skipped_bytes: int = 0
    ) -> Endpoint:
        """Make this side's end of the stream with the index `index` (from 0) of a test on an open socket, add it to
        this side and return it; the test's direction decides whether it sends. `stream_id` is the number of a UDP
        stream's datagrams, and `skipped_bytes` were read from a TCP connection before. Raises ThroughputError if the
        kernel does not have the test's congestion control.
        """
        sends = request.client_sends(index) == self.at_client
        endpoint: Endpoint
        if request.protocol == "udp":
            endpoint = (UdpSending if sends else UdpReceiving)(index, request, sock, stream_id)
        else:
            endpoint = TcpSending(index, request, sock) if sends else TcpReceiving(index, request, sock, skipped_bytes)
        self._endpoints[index] = endpoint
        return endpoint

    def _start_ends(self, start_s: float, *, sends: bool) -> list[Endpoint]:
        """Start those ends of this side that send, if `sends`, or else those that receive, and return them; `start_s`
        is the test's start in s on this side's monotonic clock.
        """
        found = [endpoint for endpoint in self._endpoints.values() if endpoint.sends == sends]
        for endpoint in found:
            endpoint.start(start_s)
        return found

    def _when_finished(self, endpoints: list[Endpoint], tell: Callable[[], None]) -> None:
        """Call `tell` in a new thread as soon as all of these ends have finished; return at once."""

        def announce() -> None:
            """Wait until all of the ends have finished, then call `tell`."""
            for endpoint in endpoints:
                endpoint.finished.wait()
            tell()

        threading.Thread(target=announce, name="announcer", daemon=True).start()

    def _wait_for_datagrams(self, sent: Mapping[int, Counters]) -> None:
        """Wait for datagrams in flight until all have arrived or none came for three round trips (at least 0.5 s), then
        stop this side's UDP receivers; `sent` has the counters of the other side by the stream's index (from 0).
        """
        quiet_s = max(0.5, 3 * (tcp_info.read(self._sock).rtt_ms or 0) / 1000)
        for index, endpoint in self._endpoints.items():
            if isinstance(endpoint, UdpReceiving):
                endpoint.wait_for_rest(sent[index].get("datagrams") or 0, quiet_s)
                endpoint.stop()

    def _counters(self) -> dict[int, Counters]:
        """Return the totals of each of this side's ends, a dict as `Endpoint.counters` returns it, by the stream's
        index (from 0).
        """
        return {index: endpoint.counters() for index, endpoint in self._endpoints.items()}

    def _close(self) -> None:
        """Close this side's ends of all streams and the control connection."""
        for endpoint in self._endpoints.values():
            endpoint.close()
        self._channel.close()


def _text(error: OSError | None) -> str | None:
    """Return the text of a network error; None for None."""
    return None if error is None else (error.strerror or str(error))
