"""Requests and responses over the loopback interface."""

from __future__ import annotations

import itertools
import time
from pathlib import Path
from typing import Any

import pytest

import netlab as nl
from netlab_engines.agent.flows.requests import RequestsFlow
from tests.agent.flows.places import place, planned_item, run, stay_here
from tests.waiting import wait_for


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch) -> None:
    stay_here(monkeypatch)


def item(**changes: Any) -> Any:
    # The congestion control is this machine's own.
    return planned_item(nl.Requests("h1", "h2", **{"response_bytes": 10_000, **changes}), congestion=None)


@pytest.mark.slow
def test_all_requests_are_answered_in_turn_by_the_connections(tmp_path: Path) -> None:
    flow = RequestsFlow(item(count=7, connections=3), place(tmp_path, duration_s=1))
    run(flow)
    totals = flow.totals()
    assert totals["error"] is None
    assert [(row["number"], row["stream"]) for row in totals["responses"]] == [
        (0, 0), (1, 1), (2, 2), (3, 0), (4, 1), (5, 2), (6, 0),
    ]  # fmt: skip
    assert [row["received_bytes"] for row in totals["streams"]] == [30_000, 20_000, 20_000]
    for row in totals["responses"]:
        assert row["end_s"] is not None and 0 <= row["start_s"] < row["end_s"]
    own = [row for row in totals["responses"] if row["stream"] == 0]
    assert all(later["start_s"] >= earlier["end_s"] for earlier, later in itertools.pairwise(own))


@pytest.mark.slow
def test_pauses_and_intervals_are_kept(tmp_path: Path) -> None:
    flow = RequestsFlow(item(count=3, think_s=0.1, interval_s=0.2), place(tmp_path, duration_s=1))
    run(flow)
    starts_s = [row["start_s"] for row in flow.totals()["responses"]]
    assert starts_s[1] >= 0.2 and starts_s[2] >= 0.4
    flow = RequestsFlow(item(count=3, think_s=0.1), place(tmp_path, duration_s=1))
    run(flow)
    rows = flow.totals()["responses"]
    for earlier, later in itertools.pairwise(rows):
        assert earlier["end_s"] is not None and later["start_s"] >= earlier["end_s"] + 0.1


@pytest.mark.slow
def test_a_flow_ends_at_its_time_and_wakes_its_threads(tmp_path: Path) -> None:
    flow = RequestsFlow(item(response_bytes=10**12), place(tmp_path, duration_s=0.3))
    run(flow)
    totals = flow.totals()
    assert [row["end_s"] for row in totals["responses"]] == [None]
    assert totals["streams"] == []
    assert totals["error"] == "1 of 1 connections delivered nothing before the flow's end"
    wait_for(lambda: not any(thread.is_alive() for thread in flow._threads))


def test_stopped_flow_keeps_arrived_bytes(tmp_path: Path) -> None:
    flow = RequestsFlow(item(think_s=0.01), place(tmp_path, duration_s=3600))
    flow.launch(time.monotonic())
    wait_for(lambda: flow.streams[0].last_s is not None)
    so_far = flow.totals_so_far()
    assert so_far["error"] is None and so_far["responses"]
    flow.stop()
    totals = flow.totals()
    assert totals["error"] is None
    assert totals["streams"][0]["received_bytes"] >= 10_000
    wait_for(lambda: not flow._threads[0].is_alive())


@pytest.mark.slow
def test_a_missing_server_is_an_error(tmp_path: Path) -> None:
    flow = RequestsFlow(item(count=1), place(tmp_path, duration_s=0.2))
    flow.streams[0].listener.close()
    run(flow)
    assert "refused" in (flow.totals()["error"] or "")
