"""Drops of a full socket, which are not losses of the network, in a real run."""

from __future__ import annotations

import pytest

import netlab as nl


@pytest.mark.library
def test_overflow_of_the_receivers_socket_is_no_network_loss() -> None:
    """156 250 datagrams in 1 ms over a link that loses nothing are more than 64 MiB of socket buffer hold."""
    topology = nl.Topology(["h1", "h2"], links=[nl.Link("h1", "h2")])
    flood = nl.Udp("h1", "h2", rate_mbps=40_000, payload_bytes=32, duration_s=0.001)
    run = nl.run(topology, [flood], duration_s=0.02, interval_s=0.02, engine="library", progress=False)
    flow = run.flows.iloc[0]
    assert flow.sent_datagrams == 156_250
    assert flow.receiver_drops > 10_000
    assert flow.received_datagrams + flow.receiver_drops == flow.sent_datagrams
    assert flow.loss_rate == 0
