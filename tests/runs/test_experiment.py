"""`run` with different engines."""

from __future__ import annotations

import json
import threading

import pytest

import netlab as nl
from netlab.base.errors import RunCancelled, ScenarioError
from netlab.base.version import VERSION
from tests.stand_ins import FakeEngine

PAIR = nl.Topology(["h1", "h2"], links=[nl.Link("h1", "h2", rate_mbps=5)])


def test_a_run_keeps_its_scenario_and_its_engine(capsys: pytest.CaptureFixture[str]) -> None:
    fake = FakeEngine()
    run = nl.run(PAIR, [nl.Ping("h1", "h2", count=1)], duration_s=2, seed=9, engine=fake)
    assert fake.plan["seed"] == 9
    assert run.flows.rtt_ms[0] == 20
    words = {key: run.settings[key] for key in ("engine", "clock", "kernel", "netlab", "network_s", "tc")}
    assert words == {
        "engine": "fake",
        "clock": "virtual",
        "kernel": "7.0",
        "netlab": VERSION,
        "network_s": 2.0,
        "tc": {"h1": ["qdisc ..."]},
    }
    assert nl.Scenario.from_dict(json.loads(json.dumps(run.scenario))).seed == 9
    assert {"wall_s", "date", "sysctls", "python"} <= set(run.settings)
    assert capsys.readouterr() == ("", ""), "no bar where nobody looks"


def test_a_run_of_a_file_is_the_run_of_its_words() -> None:
    scenario = nl.Scenario(PAIR, [nl.Ping("h1", "h2")], duration_s=3, seed=4, interval_s=0.5)
    one, other = FakeEngine(), FakeEngine()
    nl.run(scenario, engine=one)
    nl.run(json.loads(json.dumps(scenario.to_dict())), engine=other)
    assert one.plan == other.plan == scenario.plan()


def test_progress_is_reported_in_network_time() -> None:
    messages: list[tuple[float, float]] = []
    nl.run(
        PAIR,
        [nl.Ping("h1", "h2")],
        duration_s=4,
        engine=FakeEngine(),
        progress=lambda done, whole: messages.append((done, whole)),
    )
    assert messages == [(2.0, 4), (4.0, 4)]


def test_a_cancelled_run_is_no_run() -> None:
    cancel = threading.Event()
    messages: list[float] = []

    def half_way(done_s: float, _: float) -> None:
        messages.append(done_s)
        cancel.set()

    with pytest.raises(RunCancelled, match="stopped before its end; its results were discarded"):
        nl.run(PAIR, [nl.Ping("h1", "h2")], duration_s=4, engine=FakeEngine(), progress=half_way, cancel=cancel)
    assert messages == [2.0]


def test_an_unsound_scenario_reaches_no_engine() -> None:
    fake = FakeEngine()
    with pytest.raises(ScenarioError):
        nl.run(PAIR, [nl.Ping("h1", "h9")], engine=fake)
    assert fake.plan == {}
