"""Echo: requests on an exact grid, replies told apart, checksums as RFC 1071 has them."""

from __future__ import annotations

import socket
import struct
import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netlab_engines.agent import echo
from netlab_engines.agent.echo import Pinger, internet_checksum

IP_HEADER = bytes([0x45, *[0] * 19])
IP_HEADER_WITH_OPTIONS = bytes([0x46, *[0] * 23])


class Clock:
    """Time that passes only while somebody waits."""

    def __init__(self) -> None:
        self.now_ns = 100 * 10**9

    def monotonic_ns(self) -> int:
        return self.now_ns

    def sleep_until_ns(self, when_ns: int) -> None:
        self.now_ns = max(self.now_ns, when_ns)


class Wire:
    """A raw socket: keeps what is sent, hands out what was put in, then ends."""

    def __init__(self, *packets: bytes, fails: int = 0) -> None:
        self.sent: list[bytes] = []
        self.packets = list(packets)
        self.fails = fails

    def settimeout(self, value: float | None) -> None:
        pass

    def sendto(self, packet: bytes, address: Any) -> None:
        if self.fails:
            self.fails -= 1
            raise OSError("No buffer space available")
        self.sent.append(packet)

    def recv(self, size: int) -> bytes:
        return self.packets.pop(0) if self.packets else b""


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(echo, "time", clock)
    monkeypatch.setattr(echo, "sleep_until_ns", clock.sleep_until_ns)
    return clock


def pinger(wire: Wire, **changes: Any) -> Pinger:
    """A pinger on that wire."""
    settings: dict[str, Any] = {"identifier": 7, "interval_s": 0.2, "payload_bytes": 56, **changes}
    return Pinger(wire, "10.0.0.2", **settings)


def reply(request: bytes, kind: int = echo.ECHO_REPLY, header: bytes = IP_HEADER) -> bytes:
    """Return the other end's answer to a request."""
    return header + bytes([kind]) + request[1:]


@pytest.mark.parametrize(("count", "end_s", "requests"), [(5, 200, 5), (None, 101, 5), (50, 100.5, 3), (None, 100, 0)])
def test_requests_leave_on_the_grid_until_their_number_or_the_end(
    clock: Clock, count: int | None, end_s: float, requests: int
) -> None:
    wire = Wire()
    created = pinger(wire)
    created.send(100.0, count, end_s)
    assert len(wire.sent) == requests
    assert list(created.sent_s.values()) == pytest.approx([100 + 0.2 * k for k in range(requests)])
    assert list(created.sent_s) == list(range(1, requests + 1))


@pytest.mark.parametrize("payload_bytes", [16, 17, 56, 1472])
def test_a_request_is_a_sound_icmp_message(clock: Clock, payload_bytes: int) -> None:
    """Type 8, our identifier, the sequence, the payload asked for, and a checksum that sums to zero."""
    wire = Wire()
    pinger(wire, payload_bytes=payload_bytes).send(100.0, 2, 200.0)
    for number, packet in enumerate(wire.sent, start=1):
        assert struct.unpack_from("!BBxxHH", packet) == (8, 0, 7, number)
        assert len(packet) == 8 + payload_bytes
        assert internet_checksum(packet) == 0


def test_sequences_beyond_16_bits_are_distinguished(clock: Clock) -> None:
    created = pinger(Wire())
    request = created._request(65_537, 100 * 10**9)
    clock.now_ns = 100_020_000_000
    created._socket = Wire(reply(request))  # type: ignore[assignment]
    created.receive()
    assert created.rtt_ms == {65_537: 20.0}


def test_replies_count_once_and_others_do_not(clock: Clock) -> None:
    ours, other = pinger(Wire()), pinger(Wire(), identifier=8)
    request, stranger = ours._request(1, 100 * 10**9), other._request(2, 100 * 10**9)
    clock.now_ns = 100_012_345_600
    packets = [reply(stranger), reply(request, kind=8), reply(request, header=IP_HEADER_WITH_OPTIONS), reply(request)]
    ours._socket = Wire(*packets)  # type: ignore[assignment]
    ours.receive()
    assert ours.rtt_ms == {1: 12.3456}


def test_a_request_that_could_not_leave_counts_as_sent(clock: Clock) -> None:
    """Its reply will be missing: that is a loss, not an error."""
    created = pinger(Wire(fails=1))
    created.send(100.0, 3, 200.0)
    assert list(created.sent_s) == [1, 2, 3]


def test_stop_wakes_the_reader() -> None:
    here, there = socket.socketpair()
    created = Pinger(here, "10.0.0.2", identifier=1, interval_s=1, payload_bytes=56)
    reading = threading.Thread(target=created.receive, daemon=True)
    reading.start()
    created.stop()
    reading.join(10)
    assert not reading.is_alive()
    there.close()


@given(st.binary(max_size=64).filter(lambda data: len(data) % 2 == 0))
def test_a_message_with_its_checksum_sums_to_zero(data: bytes) -> None:
    assert internet_checksum(data + internet_checksum(data).to_bytes(2, "big")) == 0


@given(st.binary(min_size=2, max_size=64), st.data())
def test_a_flipped_bit_is_seen(data: bytes, draw: st.DataObject) -> None:
    place = draw.draw(st.integers(0, len(data) * 8 - 1))
    flipped = bytearray(data)
    flipped[place // 8] ^= 1 << place % 8
    assert internet_checksum(bytes(flipped)) != internet_checksum(data)
