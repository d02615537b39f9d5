"""The kernel's data about a connection, in the layout of any kernel version."""

from __future__ import annotations

import socket

from netlab_engines.sockets import tcp_info


def tcp_pair() -> tuple[socket.socket, socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        near = socket.create_connection(listener.getsockname())
        far, _ = listener.accept()
    return near, far


def test_tcp_info_of_an_older_kernel_reports_later_fields_as_missing() -> None:
    near, far = tcp_pair()
    with near, far:
        near.sendall(b"x" * 1000)
        whole = near.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 512)
        now = tcp_info.decode(whole)
        assert now.ca_state == "open"
        assert now.rtt_ms is not None and now.rtt_min_ms is not None and now.timeouts == 0
        mss_bytes = near.getsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG)
        assert (now.bytes_sent, now.data_segments_out, now.snd_mss_bytes) == (1000, 1, mss_bytes)
        assert now.cwnd_segments is not None and now.cwnd_segments > 0
        assert now.ssthresh_segments is None  # no loss yet
        old = tcp_info.decode(whole[:104])  # Linux 2.6: up to total_retrans
        assert (old.retransmits, old.bytes_acked, old.delivery_rate_mbps) == (0, None, None)
