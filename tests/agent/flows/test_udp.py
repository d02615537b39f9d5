"""Datagrams of a flow, over the loopback interface."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import pytest

import netlab as nl
from netlab_engines.agent.flows.udp import UdpFlow
from netlab_engines.ip_bytes import udp_ip_bytes
from tests.agent.flows.places import place, planned_item, run, stay_here


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch) -> None:
    stay_here(monkeypatch)


def item(**changes: Any) -> Any:
    usual = {"rate_mbps": 3.2, "duration_s": 0.25, "spacing": "even"}
    return planned_item(nl.Udp("h1", "h2", **{**usual, **changes}))


@pytest.mark.slow
@pytest.mark.parametrize("spacing", ["even", "random"])
def test_every_datagram_is_counted_with_its_headers_and_in_one_interval(tmp_path: Path, spacing: str) -> None:
    """3.2 Mbit/s of 1000 bytes for 0.25 s are 100 datagrams; a busy machine may begin late and send fewer."""
    flow = UdpFlow(item(spacing=spacing), place(tmp_path))
    run(flow)
    for thread in flow._threads:
        thread.join()
    totals = flow.totals()
    assert totals["error"] is None
    number = totals["sent_datagrams"]
    assert 0 < number <= 100
    assert totals["received_datagrams"] == number
    assert totals["received_bytes"] == totals["sent_bytes"] == number * 1000
    assert totals["throughput_bytes"] == number * (1000 + 28)
    assert (totals["duplicates"], totals["reordered"], totals["receiver_drops"]) == (0, 0, 0)
    assert totals["first_s"] is not None and totals["last_s"] is not None
    assert 0 <= totals["first_s"] <= totals["last_s"]
    parts = flow.intervals()
    assert sum(part["datagrams"] for part in parts) == number
    assert sum(part["bytes"] for part in parts) == number * 1000
    assert {part["flow"] for part in parts} == {"h1-h2 udp"}
    flow.source.close()
    flow.sink.close()


def test_a_duplicate_counts_for_throughput_and_not_for_goodput() -> None:
    assert udp_ip_bytes(2000, datagrams=2, duplicates=1, payload_bytes=1000) == 3 * (1000 + 28)


def test_flow_that_never_began_is_reported(tmp_path: Path) -> None:
    flow = UdpFlow(item(), place(tmp_path))
    flow.finish(0.0)
    assert flow.totals() == {"flow": "h1-h2 udp", "error": "the flow did not start"}
    flow.source.close()
    flow.sink.close()


@pytest.mark.slow
def test_a_sender_with_a_buffer_of_its_own_stops_at_its_end(tmp_path: Path) -> None:
    """The kernel's bookkeeping doubles what is asked for, so that it reports what the scenario says."""
    flow = UdpFlow(item(send_buffer_bytes=50_000, rate_mbps=10_000), place(tmp_path))
    assert flow.source.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF) == 50_000
    # At this rate the receiver may drop datagrams, which never arrive.
    run(flow, wait_s=1)
    for thread in flow._threads:
        thread.join(5)
        assert not thread.is_alive()
    assert flow.totals()["error"] is None
    flow.source.close()
    flow.sink.close()
