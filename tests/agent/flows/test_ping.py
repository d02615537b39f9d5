"""Echo requests: times count from the run's begin, and a reply that did not come has none."""

from __future__ import annotations

import socket
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import netlab as nl
from netlab_engines.agent.flows import ping
from netlab_engines.agent.flows.ping import PingFlow
from tests.agent.flows.places import ADDRESS, place, planned_item, stay_here

ITEM = planned_item(nl.Ping("h1", "h2", start_s=2.0, interval_s=0.5, count=3))


class Pinger:
    """Sends three requests, the second of which is lost, and notes what it was asked for."""

    def __init__(self, _raw: object, address: str, **options: Any) -> None:
        self.address, self.options = address, options
        self.sent_s: dict[int, float] = {}
        self.rtt_ms: dict[int, float] = {}
        self.sent: tuple[Any, ...] = ()
        self.stopped = False

    def receive(self) -> None:
        """Nothing to wait for."""

    def send(self, *words: Any) -> None:
        self.sent = words
        self.sent_s = {1: 102.0, 3: 103.0, 2: 102.5}
        self.rtt_ms = {1: 20.25, 3: 20.5}

    def stop(self) -> None:
        self.stopped = True


@pytest.fixture
def flow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PingFlow:
    stay_here(monkeypatch)
    monkeypatch.setattr(ping, "Pinger", Pinger)
    # A raw socket needs root; the stand-in needs none.
    monkeypatch.setattr(ping, "socket", SimpleNamespace(**{**vars(socket), "socket": lambda *_: None}))
    return PingFlow(ITEM, place(tmp_path, number=4))


def test_echoes_are_reported_in_order_with_times_of_the_run(flow: PingFlow) -> None:
    flow.launch(100.0)
    for thread in flow._threads:
        thread.join()
    flow.finish(0.0)
    assert flow.totals() == {
        "flow": "h1-h2 ping",
        "error": None,
        "echoes": [
            {"seq": 1, "t_s": 2.0, "rtt_ms": 20.25},
            {"seq": 2, "t_s": 2.5, "rtt_ms": None},
            {"seq": 3, "t_s": 3.0, "rtt_ms": 20.5},
        ],
    }


def test_the_pinger_gets_the_flows_own_identifier_count_and_times(flow: PingFlow) -> None:
    flow.launch(100.0)
    for thread in flow._threads:
        thread.join()
    flow.finish(0.0)
    pinger: Any = flow.pinger
    assert pinger.address == ADDRESS
    assert pinger.options == {"identifier": 4, "interval_s": 0.5, "payload_bytes": 56}
    assert pinger.sent == (102.0, 3, 110.0)
    assert pinger.stopped
