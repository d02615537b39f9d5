"""Senders and receivers over the loopback interface: every datagram is accounted for."""

from __future__ import annotations

import socket
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netlab.base.errors import ThroughputError
from netlab_engines.sockets.batch import UDP_SEGMENT, Train
from netlab_engines.sockets.datagrams import HEADER, HELLO_SEQ
from netlab_engines.sockets.udp_receiver import UdpReceiver
from netlab_engines.sockets.udp_sender import UdpSender, _last_sizes


def run_all(*parts: UdpSender | UdpReceiver) -> list[threading.Thread]:
    threads = [threading.Thread(target=part.run, daemon=True) for part in parts]
    for thread in threads:
        thread.start()
    return threads


def udp_receiver(**options: object) -> UdpReceiver:
    sock = socket.socket(type=socket.SOCK_DGRAM)
    sock.bind(("127.0.0.1", 0))
    return UdpReceiver(sock, **options)


def udp_transfer(receiver: UdpReceiver, **options: object) -> UdpSender:
    sender = UdpSender(socket.socket(type=socket.SOCK_DGRAM), receiver.sock.getsockname(), **options)
    receiving, sending = run_all(receiver, sender)
    sending.join()
    receiver.stop()
    receiving.join()
    return sender


@pytest.mark.parametrize("batch", [False, True], ids=["singly", "in trains"])
@pytest.mark.parametrize("num_bytes", [20, 999, 1000, 1001, 64_000, 200_010])
def test_udp_delivers_exactly_the_bytes_asked_for(num_bytes: int, batch: bool) -> None:
    receiver = udp_receiver(stream_ids=[5], batch=batch)
    sender = udp_transfer(
        receiver, rate_bps=50_000_000, payload_bytes=1000, stream_id=5, num_bytes=num_bytes, batch=batch
    )
    account = receiver.streams[5]
    assert sender.error is None
    assert sender.sent_bytes == account.received_bytes == num_bytes
    assert sender.sent_datagrams == account.received_datagrams
    assert (account.duplicates, account.reordered, receiver.unknown_datagrams) == (0, 0, 0)


@given(st.integers(20, 100_000), st.integers(40, 1500))
def test_the_last_datagrams_add_up_and_can_carry_a_header(num_bytes: int, payload_bytes: int) -> None:
    whole, rest = _last_sizes(num_bytes, payload_bytes)
    assert whole * payload_bytes + sum(rest) == num_bytes
    assert all(20 <= size <= payload_bytes for size in rest)


def test_a_volume_too_small_for_one_header_is_refused() -> None:
    with pytest.raises(ThroughputError, match="at least 20 bytes"):
        UdpSender(socket.socket(type=socket.SOCK_DGRAM), None, rate_bps=0, stream_id=0, num_bytes=19)


def test_streams_of_two_senders_never_mix_and_strangers_are_only_counted() -> None:
    receiver = udp_receiver(stream_ids=[1, 2])
    address = receiver.sock.getsockname()
    senders = [
        UdpSender(
            socket.socket(type=socket.SOCK_DGRAM),
            address,
            rate_bps=20_000_000,
            stream_id=i,
            num_bytes=i * 100_000,
        )
        for i in (1, 2, 3)
    ]
    stray = socket.socket(type=socket.SOCK_DGRAM)
    for length in range(HEADER.size):
        stray.sendto(b"\0" * length, address)
    stray.sendto(HEADER.pack(1, HELLO_SEQ, 0), address)
    receiving, *sending = run_all(receiver, *senders)
    for thread in sending:
        thread.join()
    receiver.stop()
    receiving.join()
    assert {i: account.received_datagrams for i, account in receiver.streams.items()} == {1: 100, 2: 200}
    assert receiver.unknown_datagrams == 300 + HEADER.size
    assert receiver.streams[1].next_seq == 100


@pytest.mark.parametrize("sizes_bytes", [[3, 3, 3, 3], [3, 3, 1], [20, 20, 5], [0], [7]])
def test_each_datagram_of_a_train_that_is_too_short_counts_as_unknown(sizes_bytes: list[int]) -> None:
    receiver = udp_receiver(stream_ids=[1], batch=True)
    stray = socket.socket(type=socket.SOCK_DGRAM)
    if sizes_bytes[0]:
        stray.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, sizes_bytes[0])
    stray.sendto(bytes(sum(sizes_bytes)), receiver.sock.getsockname())
    udp_transfer(receiver, rate_bps=50_000_000, stream_id=1, num_bytes=2000)
    assert receiver.unknown_datagrams == len(sizes_bytes)


def test_intervals_of_arrival_add_up_to_the_whole() -> None:
    receiver = udp_receiver(stream_ids=[1], interval_s=0.01)
    udp_transfer(receiver, rate_bps=8_000_000, stream_id=1, num_bytes=100_000)
    account = receiver.streams[1]
    intervals = account.intervals
    assert sum(interval.datagrams for interval in intervals.values()) == 100
    assert sum(interval.bytes for interval in intervals.values()) == 100_000
    assert len(intervals) >= 5


@given(st.integers(0, 1 << 40), st.integers(1, 64), st.integers(20, 1400), st.integers(0, 1 << 62))
def test_a_train_carries_the_headers_of_single_datagrams(number: int, most: int, size: int, sent_ns: int) -> None:
    train = Train(9, size, most)
    seq = number * train.datagrams
    for again in range(2):
        data = bytes(train.fill(seq + again * train.datagrams, sent_ns + again, train.datagrams))
        for i in range(train.datagrams):
            expected = (9, seq + again * train.datagrams + i, sent_ns + again)
            assert HEADER.unpack_from(data, i * size) == expected


def test_a_sender_that_ends_on_time_sends_less_and_not_longer() -> None:
    """At a rate far beyond any machine: by count it would send 25 million datagrams."""
    with socket.socket(type=socket.SOCK_DGRAM) as target, socket.socket(type=socket.SOCK_DGRAM) as sock:
        target.bind(("127.0.0.1", 0))
        sock.connect(target.getsockname())
        sender = UdpSender(sock, None, rate_bps=10**12, stream_id=1, end_s=time.monotonic() + 0.2, ends_on_time=True)
        sender.run()
    assert sender.error is None and 0 < sender.sent_datagrams < 5_000_000


def test_a_sender_that_ends_on_time_waits_for_its_end_after_its_last_datagram() -> None:
    """iperf3, too, runs for the time that was asked for, at any rate."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", 0))
        sock.connect(sock.getsockname())
        end_s = time.monotonic() + 0.1
        sender = UdpSender(sock, None, rate_bps=100, stream_id=1, end_s=end_s, ends_on_time=True)
        sender.run()
    assert sender.sent_datagrams == 1
    assert sender.ended_s is not None and sender.ended_s >= end_s


def test_a_sender_that_ends_on_time_sends_all_that_is_due_where_it_can() -> None:
    with socket.socket(type=socket.SOCK_DGRAM) as target, socket.socket(type=socket.SOCK_DGRAM) as sock:
        target.bind(("127.0.0.1", 0))
        sock.connect(target.getsockname())
        # Fewer than a look at the clock covers, so that a busy machine sends them all, too.
        started_s = time.monotonic()
        sender = UdpSender(sock, None, rate_bps=8_000_000, stream_id=1, end_s=started_s + 0.1, ends_on_time=True)
        sender.run()
    assert sender.started_s is not None
    due = (started_s + 0.1 - sender.started_s) * 1000
    assert sender.sent_datagrams == pytest.approx(due, abs=1.01)
