"""Scenarios as dictionaries, right and wrong."""

from __future__ import annotations

from typing import Any

import pytest

import netlab as nl
from netlab.base.errors import ScenarioError
from netlab.runs.scenario import Scenario

CONTRACT = """
{"topology": {"hosts": ["h1", "h2"], "routers": ["r1"], "switches": [],
              "links": [{"a": "h1", "b": "r1"},
                        {"a": "r1", "b": "h2", "rate_mbps": 5, "delay_ms": 10, "queue_packets": 100, "loss_rate": 0.0,
                         "aqm": "fifo", "reverse": {"rate_mbps": 5, "delay_ms": 10}}]},
 "traffic": [{"kind": "tcp", "src": "h1", "dst": "h2", "start_s": 0, "duration_s": 60, "congestion": "cubic", "streams": 1,
              "window_bytes": null, "mss_bytes": null},
             {"kind": "udp", "src": "h1", "dst": "h2", "rate_mbps": 1, "payload_bytes": 1000},
             {"kind": "ping", "src": "h1", "dst": "h2", "interval_s": 0.2, "count": 25}],
 "duration_s": 60, "seed": 1}
"""


TOPOLOGY = nl.Topology(
    ["h1", "h2"], ["r1"], ["s1"], [nl.Link("h1", "r1"), nl.Link("r1", "h2", rate_mbps=5, delay_ms=10)]
)


TCP = nl.Tcp("h1", "h2")


def mistakes(words: Any) -> list[str]:
    """Return the mistakes that `from_dict` reports."""
    with pytest.raises(ScenarioError) as caught:
        Scenario.from_dict(words)
    return caught.value.problems


def sound(**changes: Any) -> dict[str, Any]:
    """The words of a sound scenario, with changes."""
    return {"topology": TOPOLOGY.to_dict(), "traffic": [TCP.to_dict()], "duration_s": 10, **changes}
