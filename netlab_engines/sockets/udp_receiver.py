"""The receiver of several streams of datagrams; see `netlab_engines.sockets` for what it has in common with TCP's."""

import select
import socket
import struct
import threading
import time
from collections.abc import Iterable

from netlab.base.units import NS_PER_S
from netlab_engines.sockets.batch import (
    SO_TIMESTAMPNS,
    BatchReader,
    TrainReader,
)
from netlab_engines.sockets.constants import UDP_RECEIVE_BUFFER_BYTES
from netlab_engines.sockets.datagrams import (
    HEADER,
    HELLO_SEQ,
    MIN_PAYLOAD_BYTES,
    StreamCounters,
)
from netlab_engines.sockets.options import set_buffer
from netlab_engines.sockets.stopper import Stopper

_MAX_NAP_S = 0.1
_BUFFER_SHARE = 0.25
_SO_MEMINFO = 55
_MEMINFO = struct.Struct("@9I")


class UdpReceiver:
    """A receiver of the measurement datagrams of any number of streams on one socket, in large batches and with the
    kernel's times of arrival.

    It reads when a share of the socket's buffer may have filled, at least every 0.1 s, and sleeps in between; the
    kernel stamps each datagram on arrival, so reading late costs no precision. While nothing comes it sleeps without
    end.

    `streams` has the counters by stream id; datagrams of others, or too short ones, only count in `unknown_datagrams`, so
    garbage takes no memory. With `interval_s` they have intervals, counted from `origin_s`. With `batch` the kernel
    hands over trains of datagrams (UDP_GRO). Datagrams within `timely_s` of a stream's first one are counted separately;
    see `StreamCounters`.
    """

    def __init__(
        self,
        sock: socket.socket,
        *,
        stream_ids: Iterable[int] = (),
        interval_s: float | None = None,
        origin_s: float | None = None,
        batch: bool = False,
        timely_s: float | None = None,
    ) -> None:
        """Prepare a UDP socket to receive the streams with these ids, with counters of each: switch the kernel's times
        of arrival on and set a large receive buffer. Intervals of `interval_s` s (None: none) begin at `origin_s` in s
        on the monotonic clock (None: now). `batch` lets the kernel join datagrams. Datagrams within `timely_s` s of
        a stream's first one (None: all) count as timely. Raises OSError if the kernel refuses.
        """
        self.sock = sock
        self.streams: dict[int, StreamCounters] = {}
        self.unknown_datagrams = 0
        self.error: OSError | None = None
        origin_s = time.monotonic() if origin_s is None else origin_s
        interval_ns = None if interval_s is None else round(interval_s * NS_PER_S)
        timely_ns = None if timely_s is None else round(timely_s * NS_PER_S)
        # Set before anything can arrive, so that every datagram carries the time of its arrival.
        sock.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        set_buffer(sock, socket.SO_RCVBUF, UDP_RECEIVE_BUFFER_BYTES)
        self._trains = TrainReader(sock) if batch else None
        self._singles = BatchReader(sock)
        self._stopper = Stopper()
        self._reading = threading.Lock()
        for stream_id in stream_ids:
            self.streams[stream_id] = StreamCounters(interval_ns, round(origin_s * NS_PER_S), timely_ns)

    @property
    def buffer_drops(self) -> int:
        """The number of datagrams that reached this socket when its buffer was full; they were lost here and not in the
        network.
        """
        return self._meminfo()[8]

    def run(self) -> None:
        """Receive and count datagrams until `stop` is called; blocks. A network error ends it and is kept in `error`,
        and nothing is raised.
        """
        waiting = select.poll()
        waiting.register(self.sock.fileno(), select.POLLIN)
        waiting.register(self._stopper.fd, select.POLLIN)
        napping = select.poll()
        napping.register(self._stopper.fd, select.POLLIN)
        nap_s = 0.001
        drained_s = time.monotonic()
        try:
            while not self._stopper.is_set:
                waiting.poll()
                filled = self._meminfo()
                now_s = time.monotonic()
                share = filled[0] / max(1, filled[1])
                allowed_s = (now_s - drained_s) * _BUFFER_SHARE / share if share else _MAX_NAP_S
                nap_s = min(_MAX_NAP_S, allowed_s, 2 * max(nap_s, 0.001))
                drained_s = now_s
                self.read_now()
                if nap_s >= 0.001:
                    napping.poll(int(nap_s * 1000))
            self.read_now()
        except OSError as error:
            self.error = error

    def read_now(self) -> None:
        """Count all datagrams that have arrived until now, so that the counters are current while `run` goes on; any
        thread may call this, one at a time. Raises OSError if the network fails.
        """
        with self._reading:
            # The two clocks may drift apart by what NTP corrects, so the difference is taken anew each time.
            to_monotonic_ns = time.monotonic_ns() - time.time_ns()
            if self._trains is None:
                self._read_singles(to_monotonic_ns)
            else:
                self._read_trains(self._trains, to_monotonic_ns)

    def stop(self) -> None:
        """Let `run` count the datagrams that wait and then return; called by another thread than that of `run`."""
        self._stopper.set()

    def _meminfo(self) -> tuple[int, ...]:
        """Return the nine memory counters of the socket (SO_MEMINFO): at index 0 the used bytes of its receive buffer,
        at 1 that buffer's size in bytes, and at 8 the number of dropped datagrams.
        """
        return _MEMINFO.unpack(self.sock.getsockopt(socket.SOL_SOCKET, _SO_MEMINFO, _MEMINFO.size))

    def _read_singles(self, to_monotonic_ns: int) -> None:
        """Read and count all datagrams that wait, in batches; `to_monotonic_ns` is the number of ns to add to a time of
        CLOCK_REALTIME for one of the monotonic clock. Raises OSError if the network fails.
        """
        reader = self._singles
        while True:
            heads, sizes, arrivals = reader.read()
            count = len(heads)
            if not count:
                return
            ids, seqs, stamps = zip(*heads, strict=True)
            first = seqs[0]
            counters = self.streams.get(ids[0])
            arrivals = [arrival + to_monotonic_ns for arrival in arrivals]
            sent = [stamp + to_monotonic_ns for stamp in stamps]
            if (
                counters is not None
                and ids.count(ids[0]) == count
                and seqs[-1] == first + count - 1
                and seqs == tuple(range(first, first + count))
                and min(sizes) >= MIN_PAYLOAD_BYTES
                and first != HELLO_SEQ
            ):
                counters.add_run(first, sent, arrivals, sizes)
            else:
                for stream_id, seq, sent_ns, arrival_ns, size in zip(ids, seqs, sent, arrivals, sizes, strict=True):
                    self._count_datagram(stream_id, seq, sent_ns, arrival_ns, size)
            if count < reader.slots:
                return

    def _read_trains(self, reader: TrainReader, to_monotonic_ns: int) -> None:
        """Read and count all trains of datagrams that wait. If a train has a datagram that is too short for a header
        (all of them, or only the last), all its datagrams count as unknown.
        `to_monotonic_ns` is the number of ns to add to a time of CLOCK_REALTIME for one of the monotonic clock. Raises
        OSError if the network fails.
        """
        buffer = reader.buffer
        # A train has at most 128 datagrams (UDP_MAX_SEGMENTS), or more where a driver merged small ones.
        low_bytes = bytes(range(256)) * 16
        while True:
            train = reader.read()
            if train is None:
                return
            total, each, arrival_ns = train
            arrival_ns += to_monotonic_ns
            count = max(1, -(-total // max(1, each)))
            last_at = (count - 1) * each
            if min(each, total - last_at) < MIN_PAYLOAD_BYTES:
                self.unknown_datagrams += count
                continue
            stream_id, first, sent_ns = HEADER.unpack_from(buffer, 0)
            last_id, last, last_sent_ns = HEADER.unpack_from(buffer, last_at)
            counters = self.streams.get(stream_id)
            low = first & 0xFF
            if (
                counters is not None
                and first != HELLO_SEQ
                and last_id == stream_id
                and last == first + count - 1
                and last_sent_ns == sent_ns
                and buffer[11:total:each] == low_bytes[low : low + count]
            ):
                counters.add_train(first, count, sent_ns + to_monotonic_ns, arrival_ns, total)
                continue
            for at in range(0, total, each):
                stream_id, seq, sent_ns = HEADER.unpack_from(buffer, at)
                self._count_datagram(stream_id, seq, sent_ns + to_monotonic_ns, arrival_ns, min(each, total - at))

    def _count_datagram(self, stream_id: int, seq: int, sent_ns: int, arrival_ns: int, size: int) -> None:
        """Count the datagram with the sequence number `seq` and a payload of `size` bytes in its stream, or in
        `unknown_datagrams` if it is of another stream or too short. `sent_ns` and `arrival_ns` are in ns on the
        monotonic clock; greetings are not counted.
        """
        counters = self.streams.get(stream_id)
        if counters is None or size < MIN_PAYLOAD_BYTES:
            self.unknown_datagrams += 1
        elif seq != HELLO_SEQ:
            counters.add(seq, sent_ns, arrival_ns, size)
