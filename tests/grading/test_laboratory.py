"""Experiments that student code may request: descriptions of networks, never access to other data."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from netlab.base.errors import ScenarioError
from netlab.network import topologies
from netlab.runs.scenario import Scenario
from netlab.traffic import Command, Udp
from netlab_classroom.grading import laboratory
from netlab_classroom.grading.laboratory import Laboratory, RefusedError, is_plain


@pytest.mark.parametrize(
    "line",
    [
        "tc qdisc add dev h1-eth0 root netem delay 300ms limit 2000",
        "tc  qdisc replace dev h1-eth0 root netem delay 20ms 10ms loss 1.5%",
        "tc -s qdisc show dev h1-eth0",
        "ip -4 route show",
        "ping -c 3 -i 0.2 10.0.0.2",
        "ss -tin",
    ],
)
def test_commands_that_shape_or_inspect_the_network_run(line: str) -> None:
    assert is_plain(Command("h1", line))


@pytest.mark.parametrize(
    "line",
    [
        "cat /etc/passwd",
        "tc -b key",
        "tc -batch /home/me/key",
        "tc qdisc show; cat key",
        "tc qdisc show && cat key",
        "tc qdisc show | sh",
        "tc qdisc show $(cat key)",
        "tc qdisc show\ncat key",
        "tc qdisc show `cat key`",
        "tc qdisc show > flows",
        "tc filter add dev h1-eth0 bpf object-file prog",
        "tc exec bpf import name",
        "ip netns exec x sh",
        "ip route add default via 10.0.0.1",
        "ip route restore",
        "ip -b key",
        "ping -f 10.0.0.2",
        "ss -F key",
        "ss --filter=key",
        "sysctl -p key",
        "python3 -c pass",
        "",
    ],
)
def test_commands_with_other_effects_are_refused(line: str) -> None:
    assert not is_plain(Command("h1", line))


def test_refusal_names_allowed_commands() -> None:
    network = topologies.dumbbell(pairs=1).to_dict()
    traffic = [Command("h1", "cat /etc/passwd").to_dict()]
    scenario = {"topology": network, "traffic": traffic, "duration_s": 1}
    with pytest.raises(RefusedError, match=r"'cat /etc/passwd': it takes tc qdisc"):
        Laboratory("seed").measure(scenario, graded=True)
    saving = [{**Command("h1", "tc qdisc show").to_dict(), "saves": ["flows"]}]
    with pytest.raises(RefusedError):
        Laboratory("seed").measure({**scenario, "traffic": saving}, graded=True)


def scenario(*traffic: Any, duration_s: float = 1) -> dict[str, Any]:
    network = topologies.dumbbell(pairs=1).to_dict()
    return {"topology": network, "traffic": [item.to_dict() for item in traffic], "duration_s": duration_s}


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Experiments that take no time."""
    run = SimpleNamespace(flows=pd.DataFrame({"kind": ["tcp"], "sent_bytes": [1e6]}))
    monkeypatch.setattr("netlab_classroom.grading.laboratory.measure_scenario", lambda _scenario, _most_s: run)


@pytest.mark.usefixtures("at_once")
def test_a_submission_makes_so_many_runs_at_most() -> None:
    there = Laboratory("seed")
    for _ in range(120):
        there.measure(scenario(Udp("h1", "h2", rate_mbps=1)), graded=True)
    with pytest.raises(RefusedError, match="120 runs"):
        there.measure(scenario(Udp("h1", "h2", rate_mbps=1)), graded=True)


@pytest.mark.usefixtures("at_once")
def test_a_submission_sends_so_many_packets_at_most() -> None:
    flood = [Udp("h1", "h2", rate_mbps=1000, payload_bytes=64) for _ in range(20)]
    there = Laboratory("seed")
    there.measure(scenario(*flood, duration_s=0.4), graded=True)
    with pytest.raises(RefusedError, match="20 million packets"):
        there.measure(scenario(*flood, duration_s=0.4), graded=True)


@pytest.mark.usefixtures("at_once")
def test_scenario_is_validated_once_and_one_with_mistakes_does_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    validated: list[Scenario] = []
    problems = Scenario._problems
    monkeypatch.setattr(
        Scenario, "_problems", lambda self, *args, **words: validated.append(self) or problems(self, *args, **words)
    )
    there = Laboratory("seed")
    there.measure(scenario(Udp("h1", "h2", rate_mbps=1)), graded=True)
    assert len(validated) == 1
    with pytest.raises(ScenarioError, match="duration_s"):
        there.measure(scenario(Udp("h1", "h2", rate_mbps=1), duration_s=-1), graded=True)
    assert there._runs == 1


def test_each_packet_of_a_submission_counts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    # 1000 Mbit/s in datagrams of 1448 bytes: 0.863 million in 10 s for each flow, of 20 million allowed.
    flood = [Udp("h1", "h2", rate_mbps=1000, payload_bytes=1448) for _ in range(10)]
    rows = {"kind": ["udp"] * 10 + ["tcp"], "sent_bytes": [1.25e9] * 10 + [1448e6]}
    run = SimpleNamespace(flows=pd.DataFrame(rows))
    monkeypatch.setattr(laboratory, "measure_scenario", lambda _scenario, _most_s: run)
    there = Laboratory("seed")
    there.measure(scenario(*flood, duration_s=10), graded=True)
    there.measure(scenario(*flood, duration_s=10), graded=True)
    assert there._packets == pytest.approx(2 * 10 * 1.25e9 / 1448 + 2e6)
    with pytest.raises(RefusedError, match="20 million packets"):
        there.measure(scenario(*flood, duration_s=10), graded=True)


def test_all_runs_of_a_submission_share_a_wall_clock_time(monkeypatch: pytest.MonkeyPatch) -> None:
    allowed_s: list[float] = []
    clock_s = iter(range(0, 10_000, 100))

    def measured(_scenario: object, max_s: float) -> object:
        allowed_s.append(max_s)
        return SimpleNamespace(flows=pd.DataFrame({"kind": ["udp"], "sent_bytes": [0.0]}))

    monkeypatch.setattr(laboratory, "measure_scenario", measured)
    monkeypatch.setattr(time, "monotonic", lambda: float(next(clock_s)))
    there = Laboratory("seed")
    for _ in range(3):
        there.measure(scenario(Udp("h1", "h2", rate_mbps=1)), graded=True)
    assert allowed_s == [240.0, 140.0, 40.0]


def test_class_is_substituted_and_invalid_scenarios_are_left_alone() -> None:
    own: Any = {(1, "congestion"): "stand-in"}
    described = {"traffic": [{"kind": "ping"}, {"kind": "tcp", "congestion": "file"}], "seed": 1}
    created = laboratory._insert_proxies(described, own)
    assert created == {"traffic": [{"kind": "ping"}, {"kind": "tcp", "congestion": "stand-in"}], "seed": 1}
    assert described["traffic"][1]["congestion"] == "file"
    for odd in ({"traffic": "tcp"}, {"traffic": [1, 2]}, {"traffic": None}, {}):
        assert laboratory._insert_proxies(odd, own) == odd
    assert laboratory._insert_proxies(described, {}) == described


def test_a_run_is_cancelled_when_its_time_is_over_and_not_when_it_is_over() -> None:
    run, over = threading.Event(), threading.Event()
    laboratory._cancel(run, over, until_s=0.0)
    assert run.is_set()
    run.clear()
    over.set()
    laboratory._cancel(run, over, until_s=0.0)
    assert not run.is_set()
