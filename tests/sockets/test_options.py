"""Socket options: what the kernel makes of them, or a sentence."""

from __future__ import annotations

import socket

import pytest

from netlab.base.errors import ThroughputError
from netlab_engines.sockets import tcp_info
from netlab_engines.sockets.options import available_congestion_controls, tune_tcp


def test_options_that_the_kernel_refuses_are_explained() -> None:
    with socket.socket() as sock:
        with pytest.raises(ThroughputError, match="no congestion control 'nosuch'.*available: .*(cubic|reno)"):
            tune_tcp(sock, congestion="nosuch")
        with pytest.raises(ThroughputError, match="window_bytes must be from 2000"):
            tune_tcp(sock, window_bytes=100)
        with pytest.raises(ThroughputError, match="mss_bytes must be from 88"):
            tune_tcp(sock, mss_bytes=10)
        tune_tcp(sock, congestion=available_congestion_controls()[0], window_bytes=65_536, mss_bytes=1000)


def test_the_receive_window_is_clamped_to_the_requested_size() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        tune_tcp(listener, window_bytes=20_000)
        near = socket.create_connection(listener.getsockname())
        far, _ = listener.accept()
    with near, far:
        # A window is scaled from the first segment after the handshake on.
        far.sendall(b"x")
        assert near.recv(1) == b"x"
        window = tcp_info.read_tcp_info(near).send_window_bytes
        assert window is not None and 10_000 < window <= 20_480, f"expected at most 20000 (scaled), got {window}"
