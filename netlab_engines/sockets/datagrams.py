"""The content of measurement datagrams, and the counters of their receiver."""

import math
import struct
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from operator import sub

from netlab.base.errors import ThroughputError
from netlab.base.units import NS_PER_MS, NS_PER_S

HEADER = struct.Struct("!IQQ")
"""Stream id, sequence number (from 0), time of sending (CLOCK_REALTIME, ns); network byte order."""

MIN_PAYLOAD_BYTES = HEADER.size
MAX_PAYLOAD_BYTES = 65_507
MAX_STREAM_ID = 0xFFFFFFFF
HELLO_SEQ = 0xFFFFFFFFFFFFFFFF
"""Sequence number of a datagram that only opens the way; it is never counted."""

_MAX_GAPS = 65_536


def check_payload_bytes(payload_bytes: int) -> None:
    """Raise ThroughputError unless `payload_bytes` is from MIN_PAYLOAD_BYTES (the header of a measurement) to
    MAX_PAYLOAD_BYTES (the most that a UDP datagram carries over IPv4).
    """
    if payload_bytes < MIN_PAYLOAD_BYTES:
        raise ThroughputError(
            f"A measuring datagram needs at least {MIN_PAYLOAD_BYTES} bytes of payload for its stream id, "
            f"sequence number and time of sending; got {payload_bytes}. Ask for {MIN_PAYLOAD_BYTES} to "
            f"{MAX_PAYLOAD_BYTES}."
        )
    if payload_bytes > MAX_PAYLOAD_BYTES:
        raise ThroughputError(
            f"A UDP datagram carries at most {MAX_PAYLOAD_BYTES} bytes over IPv4; got {payload_bytes}. Ask "
            f"for {MIN_PAYLOAD_BYTES} to {MAX_PAYLOAD_BYTES}; above 1472 a datagram is fragmented on Ethernet."
        )


@dataclass(slots=True)
class DatagramInterval:
    """The number of distinct datagrams that arrived in one interval, and their payload's bytes."""

    datagrams: int = 0
    bytes: int = 0


class StreamCounters:
    """The counters of one UDP stream at its receiver: distinct datagrams, duplicates, reordering, jitter and delays,
    from sequence numbers and times of sending and arrival.

    `received_datagrams` and their payload's `received_bytes` are distinct ones; `duplicates` (of a number received
    before) are counted apart, so that their sum is what the kernel delivered. `reordered` have a number below
    `next_seq`, one more than the highest seen [2]_. `jitter_ms` is the smoothed mean deviation of the transit time
    [1]_. One-way delays mean something only where sender and receiver read the same clock. `timely_...` are of what
    arrived less than `timely_ns` after the first datagram; all of it, where that is None. Times are of the process's
    monotonic clock. `intervals` are by number since the receiver's `origin_s`, when it keeps some.

    References
    ----------
    .. [1] H. Schulzrinne et al., RTP, RFC 3550, 2003, section 6.4.1 and appendix A.8.
    .. [2] A. Morton et al., Packet Reordering Metrics, RFC 4737, 2006, section 3.

    Examples
    --------
    >>> counters = StreamCounters()
    >>> for seq, sent_ns, arrival_ns in [(0, 0, 10), (2, 20, 30), (1, 10, 40), (1, 10, 41)]:
    ...     counters.add(seq, sent_ns, arrival_ns, 1000)
    >>> counters.received_datagrams, counters.reordered, counters.duplicates, counters.next_seq
    (3, 1, 1, 3)
    """

    def __init__(self, interval_ns: int | None = None, origin_ns: int = 0, timely_ns: int | None = None) -> None:
        """Start with no datagrams. Arrivals are also counted in intervals of `interval_ns` ns (None: not), which begin
        at `origin_ns` on the monotonic clock; those less than `timely_ns` ns after the first arrival (None: all) count
        as timely.
        """
        self.received_datagrams = 0
        self.received_bytes = 0
        self.duplicates = 0
        self.reordered = 0
        self.next_seq = 0
        self.intervals: dict[int, DatagramInterval] = {}
        self.timely_datagrams = 0
        self.timely_bytes = 0
        self.timely_duplicates = 0
        self._interval_ns = interval_ns
        self._origin_ns = origin_ns
        self._timely_ns = timely_ns
        self._timely_last_ns: int | None = None
        self._jitter_ns = 0.0
        self._last_transit_ns: int | None = None
        self._delay_min_ns: float = math.inf
        self._delay_max_ns: float = -math.inf
        self._delay_sum_ns = 0
        self._first_ns: int | None = None
        self._last_ns: int | None = None
        # Gaps that are still open, as parallel sorted lists of first and last-plus-one sequence numbers.
        self._gap_starts: list[int] = []
        self._gap_ends: list[int] = []

    @property
    def jitter_ms(self) -> float:
        """The smoothed jitter of RFC 3550 in ms; 0 before the second datagram."""
        return self._jitter_ns / NS_PER_MS

    @property
    def delay_min_ms(self) -> float:
        """The smallest one-way delay of a datagram in ms, from sending to arrival; NaN before the first datagram."""
        return self._delay_min_ns / NS_PER_MS if self.received_datagrams else math.nan

    @property
    def delay_max_ms(self) -> float:
        """The largest one-way delay of a datagram in ms, from sending to arrival; NaN before the first datagram."""
        return self._delay_max_ns / NS_PER_MS if self.received_datagrams else math.nan

    @property
    def delay_mean_ms(self) -> float:
        """The mean one-way delay of the datagrams in ms, from sending to arrival; NaN before the first datagram."""
        return self._delay_sum_ns / self.received_datagrams / NS_PER_MS if self.received_datagrams else math.nan

    @property
    def first_s(self) -> float | None:
        """The time of the first arrival in s on the monotonic clock; None before it."""
        return None if self._first_ns is None else self._first_ns / NS_PER_S

    @property
    def last_s(self) -> float | None:
        """The time of the last arrival so far in s on the monotonic clock; None before the first."""
        return None if self._last_ns is None else self._last_ns / NS_PER_S

    @property
    def timely_last_s(self) -> float | None:
        """The time in s on the monotonic clock of the last arrival that was less than `timely_ns` after the first one;
        None before the first.
        """
        return None if self._timely_last_ns is None else self._timely_last_ns / NS_PER_S

    def add(self, seq: int, sent_ns: int, arrival_ns: int, size: int) -> None:
        """Count the datagram with the sequence number `seq` (from 0) and a payload of `size` bytes; a number that has
        come before counts only as a duplicate. `arrival_ns` is in ns on the monotonic clock, and `sent_ns`, too, if the
        one-way delay is to have a meaning.
        """
        if seq >= self.next_seq:
            if seq > self.next_seq:
                self._open_gap(self.next_seq, seq)
            self.next_seq = seq + 1
        elif self._close_gap(seq):
            self.reordered += 1
        else:
            self.duplicates += 1
            if self._first_ns is not None and arrival_ns < self._timely_end_ns(self._first_ns):
                self.timely_duplicates += 1
            return
        self._count_datagrams((arrival_ns - sent_ns,), (arrival_ns,), 1, size)

    def add_run(self, first_seq: int, sent_ns: Sequence[int], arrival_ns: Sequence[int], sizes: Sequence[int]) -> None:
        """Count datagrams of consecutive sequence numbers from `first_seq` on; `sent_ns`, `arrival_ns` (ns on the
        monotonic clock, in order) and `sizes` (payload in bytes) have an entry for each. If all numbers are above every
        earlier one, this takes hardly longer than one datagram; else each is counted by `add`.
        """
        count = len(sizes)
        if first_seq < self.next_seq:
            for offset in range(count):
                self.add(first_seq + offset, sent_ns[offset], arrival_ns[offset], sizes[offset])
            return
        if first_seq > self.next_seq:
            self._open_gap(self.next_seq, first_seq)
        self.next_seq = first_seq + count
        self._count_datagrams(tuple(map(sub, arrival_ns, sent_ns)), arrival_ns, count, sum(sizes))

    def add_train(self, first_seq: int, count: int, sent_ns: int, arrival_ns: int, total_bytes: int) -> None:
        """Count `count` datagrams of consecutive sequence numbers from `first_seq` on, with `total_bytes` bytes of
        payload in total, which were sent at one time and arrived at one time, in ns on the monotonic clock.
        """
        if first_seq < self.next_seq:
            size, rest = divmod(total_bytes, count)
            for offset in range(count):
                self.add(first_seq + offset, sent_ns, arrival_ns, size + (rest if offset == count - 1 else 0))
            return
        if first_seq > self.next_seq:
            self._open_gap(self.next_seq, first_seq)
        self.next_seq = first_seq + count
        self._count_datagrams((arrival_ns - sent_ns,), (arrival_ns,), count, total_bytes)
        # The others follow at a difference of 0: J += (0 - J) / 16 each.
        self._jitter_ns *= (15 / 16) ** (count - 1)

    def _count_datagrams(self, transits_ns: Sequence[int], arrivals_ns: Sequence[int], count: int, size: int) -> None:
        """Add `count` new datagrams with `size` bytes of payload in total to the delays, the jitter, the totals, the
        timely ones and, if they are kept, the intervals. Their transit times and arrivals in ns (on the monotonic
        clock) have an entry for each datagram, or one for all.
        """
        weight = count // len(transits_ns)
        self._delay_sum_ns += sum(transits_ns) * weight
        self._delay_min_ns = min(self._delay_min_ns, *transits_ns)
        self._delay_max_ns = max(self._delay_max_ns, *transits_ns)
        previous = self._last_transit_ns
        jitter = self._jitter_ns
        if previous is None:
            previous = transits_ns[0]
        for transit in transits_ns:
            jitter += (abs(transit - previous) - jitter) / 16
            previous = transit
        self._jitter_ns = jitter
        self._last_transit_ns = previous
        first, last = arrivals_ns[0], arrivals_ns[-1]
        if self._first_ns is None:
            self._first_ns = first
        self._last_ns = last
        self.received_datagrams += count
        self.received_bytes += size
        self._count_timely(arrivals_ns, count, size, self._timely_end_ns(self._first_ns))
        if self._interval_ns is None:
            return
        number = (first - self._origin_ns) // self._interval_ns
        if number == (last - self._origin_ns) // self._interval_ns:
            self._count_in_interval(number, count, size)
        else:
            # Only runs of equal-sized datagrams come here, but for the last one of a transfer, which may be shorter.
            each, rest = divmod(size, count)
            for arrival_ns in arrivals_ns:
                self._count_in_interval((arrival_ns - self._origin_ns) // self._interval_ns, 1, each)
            self._count_in_interval((last - self._origin_ns) // self._interval_ns, 0, rest)

    def _timely_end_ns(self, first_ns: int) -> float:
        """Return the time in ns before which a datagram must arrive to be timely, if the first one arrived at
        `first_ns`, both on the monotonic clock; infinite without a limit.
        """
        return math.inf if self._timely_ns is None else first_ns + self._timely_ns

    def _count_timely(self, arrivals_ns: Sequence[int], count: int, size: int, end_ns: float) -> None:
        """Add those of `count` new datagrams, with `size` bytes of payload in total, that arrived before `end_ns` to
        the timely ones, and keep the last one's arrival; if only some did, their bytes are estimated as equal shares.
        `arrivals_ns` has the arrivals in order, one for each or one for all, and all times are in ns on the monotonic
        clock.
        """
        if arrivals_ns[-1] >= end_ns:
            # A train arrives at one instant; only of a run can the first part be timely and the rest late.
            arrivals_ns = arrivals_ns[: bisect_left(arrivals_ns, end_ns)]
            if not arrivals_ns:
                return
            size = size // count * len(arrivals_ns)
            count = len(arrivals_ns)
        self.timely_datagrams += count
        self.timely_bytes += size
        self._timely_last_ns = arrivals_ns[-1]

    def _count_in_interval(self, number: int, count: int, size: int) -> None:
        """Add `count` datagrams with `size` bytes of payload in total to the interval with this number (from 0)."""
        interval = self.intervals.get(number)
        if interval is None:
            interval = self.intervals[number] = DatagramInterval()
        interval.datagrams += count
        interval.bytes += size

    def _open_gap(self, start: int, end: int) -> None:
        """Note that the sequence numbers from `start` to `end` - 1 are missing. If there are already _MAX_GAPS gaps,
        the oldest half is given up as lost, and its datagrams would count as duplicates.
        """
        if len(self._gap_starts) >= _MAX_GAPS:
            # Bounded memory: what is missing for longest is given up as lost; were it to come, it would
            # count as a duplicate.
            del self._gap_starts[: _MAX_GAPS // 2], self._gap_ends[: _MAX_GAPS // 2]
        self._gap_starts.append(start)
        self._gap_ends.append(end)

    def _close_gap(self, seq: int) -> bool:
        """Return True if the sequence number `seq` was missing, and note that it has arrived; return False if it had
        arrived before, was never missing, or was given up as lost.
        """
        i = bisect_right(self._gap_starts, seq) - 1
        if i < 0 or seq >= self._gap_ends[i]:
            return False
        start, end = self._gap_starts[i], self._gap_ends[i]
        pieces = [(a, b) for a, b in ((start, seq), (seq + 1, end)) if a < b]
        self._gap_starts[i : i + 1] = [a for a, _ in pieces]
        self._gap_ends[i : i + 1] = [b for _, b in pieces]
        return True
