"""The fields of requests."""

from __future__ import annotations

from typing import Any

import pytest

import netlab as nl
from netlab.base.errors import ScenarioError
from netlab.runs.scenario import Scenario


def problems(**fields: Any) -> list[str]:
    return nl.Requests(**{"src": "h1", "dst": "h2", "response_bytes": 1000, **fields}).problems("traffic 1")


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"response_bytes": 0}, "response_bytes must be a whole number of at least 1, got 0"),
        ({"request_bytes": 1.5}, "request_bytes must be a whole number of at least 1, got 1.5"),
        ({"think_s": -1}, "think_s must be a number of at least 0, got -1"),
        ({"interval_s": 0}, "interval_s must be a number above 0, got 0"),
        ({"connections": 2000}, "connections must be a whole number from 1 to 1000, got 2000"),
        ({"connections": 4, "count": 3}, "count must be a whole number of at least 4, got 3"),
        ({"congestion": "cubix"}, "did you mean cubic?"),
    ],
)
def test_wrong_field_is_reported_with_the_allowed_ones(fields: dict[str, Any], sentence: str) -> None:
    (problem,) = problems(**fields)
    assert sentence in problem


def test_a_class_as_congestion_control_is_sent_to_tcp() -> None:
    class Mine:
        def on_ack(self, ack: Any) -> None: ...

    (problem,) = problems(congestion=Mine)
    assert "Mine is a class, which only nl.Tcp takes" in problem


def test_an_unknown_field_names_the_one_that_was_meant() -> None:
    with pytest.raises(ScenarioError, match="response_bytes"):
        nl.Requests("h1", "h2", respond_bytes=5)  # type: ignore[call-arg]


def test_requests_without_pause_on_a_path_without_a_rate_are_refused() -> None:
    network = nl.Topology(hosts=["h1", "h2"], links=[nl.Link("h1", "h2")])
    endless = Scenario(network, [nl.Requests("h1", "h2", response_bytes=1000)], duration_s=1)
    assert "would never pause" in " ".join(endless.problems())
    for pause in ({"count": 5}, {"think_s": 0.1}, {"interval_s": 0.1}):
        item = nl.Requests("h1", "h2", response_bytes=1000, **pause)  # type: ignore[arg-type]
        assert Scenario(network, [item], duration_s=1).problems() == []


def test_a_scenario_file_keeps_requests() -> None:
    network = nl.topologies.dumbbell(pairs=1, rate_mbps=5, delay_ms=10, queue_packets=100)
    item = nl.Requests("h1", "h2", response_bytes=1000, count=4, interval_s=0.5, connections=2)
    scenario = Scenario(network, [item], duration_s=1)
    assert Scenario.from_dict(scenario.to_dict()).traffic == scenario.traffic
