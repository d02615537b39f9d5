"""The receiver's counters of a UDP stream: datagrams that arrived, are missing, or came twice or late."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netlab.base.errors import ThroughputError
from netlab_engines.sockets.datagrams import MIN_PAYLOAD_BYTES, StreamCounters, check_payload_bytes

SIZE = 100


def counters_of(arrivals: list[int]) -> StreamCounters:
    counters = StreamCounters()
    for place, seq in enumerate(arrivals):
        counters.add(seq, seq * 1000, 1_000_000 + place * 1000, SIZE)
    return counters


@given(st.lists(st.integers(0, 60), max_size=200))
def test_counts_distinct_duplicate_and_reordered_datagrams_in_any_order(arrivals: list[int]) -> None:
    counters = counters_of(arrivals)
    distinct = set(arrivals)
    late = sum(
        1
        for place, seq in enumerate(arrivals)
        if seq not in arrivals[:place] and any(earlier > seq for earlier in arrivals[:place])
    )
    assert counters.received_datagrams == len(distinct)
    assert counters.received_bytes == SIZE * len(distinct)
    assert counters.duplicates == len(arrivals) - len(distinct)
    assert counters.reordered == late
    assert counters.next_seq == (max(distinct) + 1 if distinct else 0)


@given(
    st.lists(st.tuples(st.integers(0, 300), st.integers(1, 20)), max_size=40),
    st.integers(1, 50_000),
)
def test_runs_and_trains_give_the_same_counters_as_single_datagrams(
    runs: list[tuple[int, int]], interval_ns: int
) -> None:
    single, in_runs = StreamCounters(interval_ns), StreamCounters(interval_ns)
    clock = 0
    for first, count in runs:
        seqs = range(first, first + count)
        sent = [seq * 700 for seq in seqs]
        arrivals = [clock + 900 * place for place in range(count)]
        clock += 20_000
        in_runs.add_run(first, sent, arrivals, [SIZE] * count)
        for seq, sent_ns, arrival_ns in zip(seqs, sent, arrivals, strict=True):
            single.add(seq, sent_ns, arrival_ns, SIZE)
    assert in_runs.received_datagrams == single.received_datagrams
    assert in_runs.duplicates == single.duplicates
    assert in_runs.reordered == single.reordered
    assert in_runs.jitter_ms == pytest.approx(single.jitter_ms)
    assert in_runs.intervals == single.intervals
    if single.received_datagrams:
        assert in_runs.delay_mean_ms == pytest.approx(single.delay_mean_ms)
        assert in_runs.delay_min_ms == single.delay_min_ms
        assert in_runs.delay_max_ms == single.delay_max_ms


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 64)), min_size=1, max_size=30))
def test_a_train_counts_like_its_datagrams(trains: list[tuple[int, int]]) -> None:
    single, in_trains = StreamCounters(), StreamCounters()
    seq = clock = 0
    for gap, count in trains:
        seq += gap
        clock += 1000 * (gap + 1)
        in_trains.add_train(seq, count, clock - 300 * gap, clock, SIZE * count)
        for offset in range(count):
            single.add(seq + offset, clock - 300 * gap, clock, SIZE)
        seq += count
    assert in_trains.received_datagrams == single.received_datagrams == sum(count for _, count in trains)
    assert in_trains.received_bytes == single.received_bytes
    assert in_trains.next_seq == single.next_seq
    assert in_trains.jitter_ms == pytest.approx(single.jitter_ms)
    assert in_trains.delay_mean_ms == pytest.approx(single.delay_mean_ms)


def test_jitter_follows_rfc_3550_by_hand() -> None:
    counters = StreamCounters()
    # Transit times 10, 26, 10 ms: differences 16 and 16 ms.
    for seq, transit_ms in enumerate((10, 26, 10)):
        counters.add(seq, seq * 20_000_000, seq * 20_000_000 + transit_ms * 1_000_000, SIZE)
    assert counters.jitter_ms == pytest.approx(1 + (16 - 1) / 16)


def test_memory_stays_bounded_when_every_other_datagram_is_lost() -> None:
    counters = StreamCounters()
    for seq in range(0, 300_000, 2):
        counters.add(seq, 0, 0, SIZE)
    assert counters.received_datagrams == 150_000
    assert len(counters._gap_starts) <= 65_536


def test_counters_without_datagrams_have_no_times() -> None:
    counters = StreamCounters()
    assert math.isnan(counters.delay_mean_ms)
    assert counters.first_s is None
    assert counters.jitter_ms == 0


@pytest.mark.parametrize("payload_bytes", [0, MIN_PAYLOAD_BYTES - 1, 65_508])
def test_impossible_payload_is_refused_with_the_range(
    payload_bytes: int,
) -> None:
    with pytest.raises(ThroughputError, match=f"got {payload_bytes}.*20 to 65507"):
        check_payload_bytes(payload_bytes)


def test_a_run_is_timely_up_to_the_end_of_the_time_from_its_first_datagram() -> None:
    """Counted as one run or one by one; a duplicate counts apart, timely or late."""
    arrivals_ns = [100, 110, 119, 120, 130]
    single, in_runs, unlimited = StreamCounters(timely_ns=20), StreamCounters(timely_ns=20), StreamCounters()
    for seq, arrival_ns in enumerate(arrivals_ns):
        single.add(seq, 0, arrival_ns, 1000)
    for counters in (in_runs, unlimited):
        counters.add_run(0, [0] * 5, arrivals_ns, [1000] * 5)
    for counters in (single, in_runs):
        counters.add(1, 0, 119, 1000)
        counters.add(1, 0, 120, 1000)
        assert (counters.timely_datagrams, counters.timely_bytes, counters.timely_duplicates) == (3, 3000, 1)
        assert counters.timely_last_s == 119e-9
        assert (counters.received_datagrams, counters.duplicates) == (5, 2)
    assert (unlimited.timely_datagrams, unlimited.timely_bytes, unlimited.timely_last_s) == (5, 5000, 130e-9)
