"""Host and guest have the same requests, and a run makes a few of them."""

from __future__ import annotations

import inspect
from typing import Any, ClassVar

import pytest

import netlab as nl
from netlab.base.errors import RunError
from netlab_engines.agent.lab import LabAgent
from netlab_engines.base import run_in
from netlab_engines.protocol import requests
from netlab_engines.protocol.session import requests_via


def arguments(answerer: Any) -> list[str]:
    return [name for name in inspect.signature(answerer).parameters if name != "self"]


@pytest.mark.parametrize(("requested", "answering"), [(requests.LabRequests, LabAgent)])
def test_each_request_has_an_answerer_with_its_arguments(requested: type, answering: type) -> None:
    for name in requests.names(requested):
        assert arguments(getattr(requested, name)) == arguments(getattr(answering, name)), name


def test_invalid_request_is_refused_on_both_sides(tmp_path: Any) -> None:
    channel: Any = None
    for name in ("request", "nothing", "_launch", "run"):
        with pytest.raises(RunError, match=f"cannot answer the request '{name}'"):
            LabAgent(channel, tmp_path, [], tmp_path).request(name)
    with pytest.raises(AttributeError):
        requests_via(print).nothing  # type: ignore[attr-defined] # noqa: B018


def test_a_run_builds_lets_time_pass_ends_the_traffic_and_reads_the_tables() -> None:
    """Time passes to the end of the last interval, which need not be that of the run."""
    calls: list[tuple[str, dict[str, Any]]] = []

    class Session:
        name, clock = "stand-in", "virtual"
        settings: ClassVar[dict[str, Any]] = {}

        def request(self, on_message: Any, _on_wait: Any) -> Any:
            def ask(name: str, **words: Any) -> dict[str, Any]:
                calls.append((name, words))
                on_message({"progress_s": float(len(calls))})
                return {"now_s": 0.0}

            return requests_via(ask)

    plan: Any = nl.Scenario(nl.topologies.dumbbell(), [nl.Ping("h1", "h2")], 2, interval_s=0.3).plan()
    session: Any = Session()
    heard: list[float] = []
    engine = {"engine": "stand-in", "clock": "virtual"}
    assert run_in(session, plan, heard.append, None) == {"now_s": 0.0, "engine": engine, "artifacts": None}
    assert [name for name, _ in calls] == ["build", "advance", "finish", "tables"]
    assert calls[1][1] == {"until_s": 2.1, "progress_s": 0.04}
    assert calls[2][1] == {"until_s": 2 + plan["drain_s"]}
    assert heard == [1, 2, 3, 4]


@pytest.mark.pocket
def test_a_run_and_a_live_network_measure_the_same() -> None:
    network = nl.topologies.dumbbell(pairs=1, rate_mbps=10, delay_ms=10, queue_packets=50)
    with nl.live(network, seed=3) as lab:
        lab.start(nl.Tcp("h1", "h2"))
        lab.advance(4)
        live = lab.run
    (start_s,) = live.flows.start_s
    run = nl.run(network, [nl.Tcp("h1", "h2", start_s=start_s)], duration_s=4, seed=3, engine="pocket", progress=False)
    assert live.queues.equals(run.queues)
    assert live.intervals.equals(run.intervals)
