"""TCP connections of a flow, over the loopback interface."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from netlab.agent.flows.tcp import TcpFlow
from tests.agent.flows.places import ADDRESS, place, run, stay_here


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch) -> None:
    stay_here(monkeypatch)


def item(**changes: Any) -> Any:
    return {
        "kind": "tcp",
        "label": "h1-h2 tcp",
        "src": "h1",
        "dst": "h2",
        "address": ADDRESS,
        "start_s": 0.0,
        "duration_s": None,
        "num_bytes": None,
        "congestion": None,
        "streams": 1,
        "window_bytes": None,
        "mss_bytes": None,
        **changes,
    }


def test_a_number_of_bytes_is_divided_among_the_streams_to_the_byte(tmp_path: Path) -> None:
    flow = TcpFlow(item(num_bytes=200_002, streams=3), place(tmp_path, duration_s=60))
    run(flow)
    totals = flow.totals()
    assert totals["error"] is None
    assert [row["received_bytes"] for row in totals["streams"]] == [66_668, 66_667, 66_667]
    for row in totals["streams"]:
        assert 0 <= row["first_s"] <= row["last_s"]
        assert row["throughput_bytes"] > row["received_bytes"]


def test_a_flow_without_a_number_of_bytes_ends_at_its_time_and_is_told_once(tmp_path: Path) -> None:
    flow = TcpFlow(item(streams=2), place(tmp_path, duration_s=0.2))
    assert flow.sample(0.0) == []
    run(flow)
    last = flow.sample(0.2)
    assert [(row["flow"], row["stream"], row["t_s"]) for row in last] == [("h1-h2 tcp", 0, 0.2), ("h1-h2 tcp", 1, 0.2)]
    assert flow.sample(0.3) == []
    totals = flow.totals()
    assert [row["received_bytes"] for row in totals["streams"]] == [row["received_bytes"] for row in last]


def test_a_flow_that_never_began_says_how_many_connections_delivered_nothing(tmp_path: Path) -> None:
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


def test_each_connection_takes_a_port(tmp_path: Path) -> None:
    assert TcpFlow.ports(item(streams=7)) == 7
    assert TcpFlow.segment_bytes(item(mss_bytes=536)) == 536
