"""The plans that the library kernel runs in a quarter of its memory; no kernel is needed."""

from __future__ import annotations

from typing import Any

import pytest

import netlab as nl
from netlab_engines.library import engine


@pytest.mark.parametrize(
    ("link", "traffic"),
    [
        ({"rate_mbps": 10_000, "delay_ms": 50, "queue_packets": 100}, [nl.Tcp("h1", "h2")]),
        ({"rate_mbps": 10, "delay_ms": 10, "queue_packets": 10_000}, [nl.Tcp("h1", "h2")]),
        ({"rate_mbps": 10, "delay_ms": 10, "aqm": "fq_codel"}, [nl.Tcp("h1", "h2")]),
        ({"delay_ms": 10}, [nl.Tcp("h1", "h2", window_bytes=100_000)]),
        ({"rate_mbps": 10, "delay_ms": 10, "queue_packets": 50}, [nl.Tcp("h1", "h2", streams=100)]),
        ({"rate_mbps": 10, "delay_ms": 10, "queue_packets": 50}, [nl.Udp("h1", "h2", rate_mbps=1) for _ in range(4)]),
        (
            {"rate_mbps": 100, "delay_ms": 100, "queue_bytes": 100_000},
            [nl.Udp("h1", "h2", rate_mbps=1, payload_bytes=20)],
        ),
    ],
)
def test_run_that_may_queue_much_gets_the_whole_memory(link: dict[str, Any], traffic: list[Any]) -> None:
    scenario = nl.Scenario(nl.Topology(hosts=["h1", "h2"], links=[nl.Link("h1", "h2", **link)]), traffic, duration_s=1)
    assert not engine.is_small(scenario.plan())


@pytest.mark.parametrize(
    ("link", "changed"),
    [
        ({"rate_mbps": 10}, {"rate_mbps": 10_000, "delay_ms": 50}),
        ({"rate_mbps": 10}, {"queue_packets": 10_000}),
        ({"rate_mbps": 10}, {"reverse": {"delay_ms": 9_000}}),
        ({"rate_mbps": nl.Trace([(0, 5), (1, 5_000)]), "delay_ms": 50}, {}),
        ({"rate_mbps": 10}, {"rate_mbps": nl.Trace([(0, 5), (1, 5_000)]), "delay_ms": 50}),
    ],
)
def test_change_to_a_large_queue_gets_the_whole_memory(link: dict[str, Any], changed: dict[str, Any]) -> None:
    topology = nl.Topology(hosts=["h1", "h2"], links=[nl.Link("h1", "h2", **{"queue_packets": 50, **link})])
    changes = [nl.Change(at_s=0.5, link=("h1", "h2"), **changed)] if changed else []
    scenario = nl.Scenario(topology, [nl.Tcp("h1", "h2")], duration_s=1, changes=changes)
    assert not engine.is_small(scenario.plan())


@pytest.mark.parametrize("payload_bytes", [1448, 200])
def test_a_packet_of_the_traffics_own_size_counts(payload_bytes: int) -> None:
    """Few packets of 1448 bytes fit into a queue with a limit in bytes, and many of 200 bytes."""
    link = nl.Link("h1", "h2", rate_mbps=10, delay_ms=10, queue_bytes=500_000)
    traffic = [nl.Udp("h1", "h2", rate_mbps=1, payload_bytes=payload_bytes)]
    scenario = nl.Scenario(nl.Topology(hosts=["h1", "h2"], links=[link]), traffic, duration_s=1)
    assert engine.is_small(scenario.plan()) == (payload_bytes == 1448)
