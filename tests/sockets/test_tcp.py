"""Senders and receivers over the loopback interface: every byte is accounted for."""

from __future__ import annotations

import socket
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netlab_engines.sockets.tcp import TcpReceiver, TcpSender
from tests.examples import examples
from tests.waiting import wait_for


def run_all(*parts: TcpSender | TcpReceiver) -> list[threading.Thread]:
    threads = [threading.Thread(target=part.run, daemon=True) for part in parts]
    for thread in threads:
        thread.start()
    return threads


def tcp_pair() -> tuple[socket.socket, socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        near = socket.create_connection(listener.getsockname())
        far, _ = listener.accept()
    return near, far


@examples(15)
@given(st.integers(0, 3_000_000))
def test_tcp_delivers_exactly_the_bytes_asked_for(num_bytes: int) -> None:
    near, far = tcp_pair()
    with near, far:
        sender, receiver = TcpSender(near, num_bytes=num_bytes), TcpReceiver(far)
        for thread in run_all(receiver, sender):
            thread.join()
        assert sender.sent_bytes == receiver.received_bytes == num_bytes
        assert sender.error is None
        assert receiver.error is None


@pytest.mark.parametrize(("window_bytes", "rarely"), [(None, True), (1 << 20, False)])
def test_a_fast_short_path_is_read_rarely_unless_its_window_is_requested(
    window_bytes: int | None, rarely: bool
) -> None:
    near, far = tcp_pair()
    with near, far:
        sender = TcpSender(near, num_bytes=150_000_001)
        receiver = TcpReceiver(far, window_bytes=window_bytes)
        for thread in run_all(receiver, sender):
            thread.join()
        assert receiver.received_bytes == 150_000_001
        watermark_bytes = far.getsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT)
        assert (watermark_bytes > 1448) == rarely, f"the kernel wakes the reader for {watermark_bytes} bytes"


@pytest.mark.parametrize("num_bytes", [1, 1448, 3_000_000, 150_000_001])
def test_last_requested_byte_is_reported_before_the_stream_ends(num_bytes: int) -> None:
    near, far = tcp_pair()
    with near, far:
        receiver = TcpReceiver(far, num_bytes=num_bytes)
        (thread,) = run_all(receiver)
        near.sendall(bytes(num_bytes))
        assert wait_for(lambda: receiver.last_s is not None)
        last_s = receiver.last_s
        assert not receiver.finished
        near.close()
        thread.join()
        assert (receiver.last_s, receiver.received_bytes) == (last_s, num_bytes)


def test_bytes_read_before_the_receiver_got_the_connection_do_not_count() -> None:
    near, far = tcp_pair()
    with near, far:
        near.sendall(b"greeting")
        assert far.recv(8, socket.MSG_WAITALL) == b"greeting"
        receiver = TcpReceiver(far, skipped_bytes=8)
        near.sendall(b"x" * 100)
        (thread,) = run_all(receiver)
        assert wait_for(lambda: receiver.first_s is not None)
        assert receiver.received_bytes == 100
        near.close()
        thread.join()
        assert receiver.received_bytes == 100


def test_reset_ends_the_receiver_and_is_reported() -> None:
    near, far = tcp_pair()
    with far:
        receiver = TcpReceiver(far)
        (thread,) = run_all(receiver)
        near.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
        near.close()
        thread.join(5)
        assert isinstance(receiver.error, ConnectionResetError)


def test_stop_ends_a_sender_whose_receiver_does_not_read() -> None:
    near, far = tcp_pair()
    with near, far:
        sender = TcpSender(near)
        (thread,) = run_all(sender)
        sender.stop()
        thread.join(5)
        assert not thread.is_alive()
