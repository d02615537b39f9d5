"""TCP connections of a flow, over the loopback interface."""

from __future__ import annotations

import socket
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import netlab as nl
from netlab_engines.agent.flows.tcp import TcpFlow
from tests.agent.flows.places import PATIENCE_S, place, planned_item, run, stay_here
from tests.waiting import wait_for


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch) -> None:
    stay_here(monkeypatch)


def item(**changes: Any) -> Any:
    # The congestion control is this machine's own.
    return planned_item(nl.Tcp("h1", "h2", **changes), label="h1-h2 tcp", congestion=None)


def test_a_number_of_bytes_is_divided_among_the_streams_to_the_byte(tmp_path: Path) -> None:
    flow = TcpFlow(item(num_bytes=200_002, streams=3), place(tmp_path, duration_s=60))
    run(flow)
    totals = flow.totals()
    assert totals["error"] is None
    assert [row["received_bytes"] for row in totals["streams"]] == [66_668, 66_667, 66_667]
    for row in totals["streams"]:
        assert 0 <= row["connect_s"] <= row["first_s"] <= row["last_s"]
        assert row["throughput_bytes"] > row["received_bytes"]


@pytest.mark.slow
def test_flow_without_a_number_of_bytes_ends_at_its_time_and_is_reported_once(tmp_path: Path) -> None:
    flow = TcpFlow(item(streams=2), place(tmp_path, duration_s=0.2))
    assert flow.sample(0.0) == []
    run(flow)
    last = flow.sample(0.2)
    assert [(row["flow"], row["stream"], row["t_s"]) for row in last] == [("h1-h2 tcp", 0, 0.2), ("h1-h2 tcp", 1, 0.2)]
    assert flow.sample(0.3) == []
    totals = flow.totals()
    assert [row["received_bytes"] for row in totals["streams"]] == [row["received_bytes"] for row in last]


def test_flow_that_never_began_reports_connections_without_delivery(tmp_path: Path) -> None:
    flow = TcpFlow(item(streams=2), place(tmp_path))
    totals = flow.totals()
    assert totals["streams"] == []
    assert totals["error"] == "2 of 2 connections delivered nothing before the flow's end"
    for stream in flow.streams:
        stream.close()


def test_a_connection_that_is_refused_is_the_flows_error(tmp_path: Path) -> None:
    flow = TcpFlow(item(), place(tmp_path))
    flow.streams[0].listener.close()
    run(flow)
    assert "refused" in str(flow.totals()["error"])


class LateListener:
    """A listener whose connections are accepted only when `may_accept` is set, though the kernel has made them."""

    def __init__(self, listener: socket.socket) -> None:
        self.listener = listener
        self.may_accept = threading.Event()

    def accept(self) -> tuple[socket.socket, Any]:
        self.may_accept.wait(PATIENCE_S)
        return self.listener.accept()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.listener, name)


def test_the_sender_sends_before_the_receiver_accepts(tmp_path: Path) -> None:
    flow = TcpFlow(item(num_bytes=1448), place(tmp_path, duration_s=60))
    (stream,) = flow.streams
    listener = LateListener(stream.listener)
    stream.listener = listener  # type: ignore[assignment]
    flow.launch(time.monotonic())
    assert wait_for(lambda: stream.sender is not None and stream.sender.sent_bytes == 1448)
    assert stream.sink is None
    assert flow.sample(0.1) == []
    listener.may_accept.set()
    flow.finish(time.monotonic() + PATIENCE_S)
    totals = flow.totals()
    assert totals["error"] is None
    assert [row["received_bytes"] for row in totals["streams"]] == [1448]


@pytest.mark.slow
def test_unaccepted_connection_delivers_nothing(tmp_path: Path) -> None:
    flow = TcpFlow(item(), place(tmp_path, duration_s=0.2))
    (stream,) = flow.streams
    listener = LateListener(stream.listener)
    stream.listener = listener  # type: ignore[assignment]
    run(flow)
    totals = flow.totals()
    assert totals["streams"] == []
    assert totals["error"] == "1 of 1 connections delivered nothing before the flow's end"
    listener.may_accept.set()
    assert wait_for(lambda: not stream.receiving.is_alive())


def test_a_receiver_without_a_connection_ends_with_the_flow(tmp_path: Path) -> None:
    flow = TcpFlow(item(), place(tmp_path))
    (stream,) = flow.streams
    stream.receiving.start()
    stream.close()
    assert wait_for(lambda: not stream.receiving.is_alive())


def test_stop_ends_a_connection_that_is_not_accepted_yet(tmp_path: Path) -> None:
    flow = TcpFlow(item(), place(tmp_path, duration_s=60))
    (stream,) = flow.streams
    listener = LateListener(stream.listener)
    stream.listener = listener  # type: ignore[assignment]
    flow.launch(time.monotonic())
    assert wait_for(lambda: stream.sender is not None and stream.sender.sent_bytes > 0)
    flow.stop()
    assert wait_for(lambda: stream.sender is not None and stream.sender.ended_s is not None)
    listener.may_accept.set()
    assert wait_for(lambda: not stream.receiving.is_alive())
    assert "delivered nothing" in str(flow.totals()["error"])


def test_each_connection_takes_a_port(tmp_path: Path) -> None:
    flow = TcpFlow(item(streams=7), place(tmp_path))
    assert flow.ports == 7
    assert len({stream.address for stream in flow.streams}) == 7
    for stream in flow.streams:
        stream.close()
