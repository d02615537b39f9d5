"""Scenarios: the words of their files, every mistake at once, and the plan for the agent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import netlab as nl
from netlab.base.errors import ScenarioError
from netlab.runs.scenario import Scenario, network_of, read_scenario
from tests.examples import examples
from tests.networks import networks
from tests.runs.scenarios import CONTRACT, TCP, TOPOLOGY, sound


def test_the_contract_is_read_word_for_word() -> None:
    scenario = Scenario.from_dict(json.loads(CONTRACT))
    link = scenario.topology.links[1]
    assert (link.forward.rate_mbps, link.forward.delay_ms, link.forward.queue_packets) == (5, 10, 100)
    assert (link.backward.rate_mbps, link.backward.queue_packets, link.backward.aqm) == (5, 100, "fifo")
    tcp, udp, ping = scenario.traffic
    assert tcp == nl.Tcp("h1", "h2", duration_s=60)
    assert udp == nl.Udp("h1", "h2", rate_mbps=1)
    assert ping == nl.Ping("h1", "h2", count=25)
    assert (scenario.duration_s, scenario.seed, scenario.interval_s) == (60, 1, 0.1)


def test_a_file_of_the_contract_and_python_make_the_same_plan(tmp_path: Path) -> None:
    file = tmp_path / "scenario.json"
    file.write_text(CONTRACT)
    in_python = nl.Scenario(
        nl.Topology(
            ["h1", "h2"],
            ["r1"],
            links=[
                nl.Link("h1", "r1"),
                nl.Link(
                    "r1", "h2", rate_mbps=5, delay_ms=10, queue_packets=100, reverse={"rate_mbps": 5, "delay_ms": 10}
                ),
            ],
        ),
        [nl.Tcp("h1", "h2", duration_s=60), nl.Udp("h1", "h2", rate_mbps=1), nl.Ping("h1", "h2", count=25)],
        duration_s=60,
    )
    assert read_scenario(file).plan() == in_python.plan()


TRAFFIC = st.one_of(
    st.builds(
        nl.Tcp,
        st.just("h1"),
        st.just("h2"),
        start_s=st.sampled_from([0, 1.5]),
        duration_s=st.none() | st.floats(0.1, 9),
        num_bytes=st.none() | st.integers(16, 10**12),
        congestion=st.sampled_from(["reno", "cubic", "tahoe"]),
        streams=st.integers(1, 16),
        window_bytes=st.none() | st.integers(2896, 10**6),
        mss_bytes=st.none() | st.integers(76, 1448),
    ),
    st.builds(
        nl.Udp,
        st.just("h2"),
        st.just("h1"),
        rate_mbps=st.floats(1e-3, 1e4),
        payload_bytes=st.integers(32, 1472),
        spacing=st.sampled_from(["auto", "even", "random"]),
    ),
    st.builds(
        nl.Ping, st.just("h1"), st.just("r1"), interval_s=st.floats(0.001, 5), count=st.none() | st.integers(1, 99)
    ),
    st.builds(nl.Command, st.sampled_from(["h1", "r1", "s1"]), st.just("ip route")),
)


@examples(100)
@given(items=st.lists(TRAFFIC, min_size=1, max_size=6), seed=st.integers(0, 2**64 - 1))
def test_scenario_and_words_are_each_others_inverse(items: list[Any], seed: int) -> None:
    scenario = Scenario(TOPOLOGY, items, duration_s=10, seed=seed, sysctls={"net.ipv4.tcp_sack": 0})
    words = json.loads(json.dumps(scenario.to_dict(), allow_nan=False))
    again = Scenario.from_dict(words)
    assert again == scenario
    assert again.to_dict() == words
    plan = json.loads(json.dumps(scenario.plan(), allow_nan=False))
    labels = [item["label"] for item in plan["traffic"]]
    assert len(set(labels)) == len(labels), f"flows share a name: {labels}"


@examples(40)
@given(topology=networks())
def test_any_network_has_a_plan_in_plain_data(topology: nl.Topology) -> None:
    plan = Scenario(topology, [nl.Ping(topology.hosts[0], topology.hosts[1])], duration_s=1).plan()
    assert json.loads(json.dumps(plan, allow_nan=False)) == plan
    assert len(plan["directions"]) == 2 * len(topology.links)
    assert plan["drain_s"] >= 0.1


def test_the_plan_waits_for_the_last_packet() -> None:
    """A full queue of 100 frames at 5 Mbit/s takes 242 ms, a ping comes back as well, TCP ends by itself."""
    frame_s = 1514 * 8 / 5e6
    link = nl.Link("h1", "h2", rate_mbps=5, delay_ms=10, jitter_ms=4, queue_packets=100, reverse={"queue_packets": 10})
    topology = nl.Topology(["h1", "h2"], links=[link])
    drains = [
        Scenario(topology, [item], duration_s=1).plan()["drain_s"]
        for item in (nl.Udp("h1", "h2", rate_mbps=1), nl.Ping("h1", "h2"), TCP)
    ]
    assert drains == pytest.approx([0.1 + 0.018 + 102 * frame_s, 0.1 + 0.036 + 114 * frame_s, 0.1])


def test_the_plan_waits_for_frames_of_the_other_station_too() -> None:
    """21 turns: DIFS, 7.5 slots, the frame, SIFS and ACK, of 54 Mbit/s (393.5 us) and of 6 (28 + 67.5 + 2078 + 10 + 50)."""
    ends: dict[str, Any] = {"queue_packets": 20, "reverse": {"medium_options": {"rate_mbps": 6}}}
    topology = nl.Topology(["h1", "h2"], links=[nl.Link("h1", "h2", medium="802.11g", **ends)])
    flows = [nl.Udp("h1", "h2", rate_mbps=1), nl.Udp("h2", "h1", rate_mbps=1)]
    drains = [Scenario(topology, [flow], duration_s=1).plan()["drain_s"] for flow in flows]
    assert drains == pytest.approx([0.1 + 21 * (393.5 + 2233.5) / 1e6] * 2)


def test_only_a_udp_flow_that_is_alone_is_spaced_evenly() -> None:
    def spacings(*items: Any) -> list[str]:
        planned: list[Any] = list(Scenario(TOPOLOGY, items).plan()["traffic"])
        return [item["spacing"] for item in planned if item["kind"] == "udp"]

    one, other = nl.Udp("h1", "h2", rate_mbps=1), nl.Udp("h2", "h1", rate_mbps=1, spacing="even")
    assert spacings(one, TCP) == ["even"]
    assert spacings(one, other) == ["random", "even"]


def test_own_sysctls_join_netlabs() -> None:
    plan = Scenario(TOPOLOGY, [TCP], sysctls={"net.ipv4.tcp_sack": 0, "net.ipv4.tcp_rmem": "1 2 3"}).plan()
    assert plan["sysctls"]["net.ipv4.tcp_sack"] == "0"
    assert plan["sysctls"]["net.ipv4.tcp_rmem"] == "1 2 3"
    assert "net.ipv4.tcp_wmem" in plan["sysctls"]


def test_a_network_may_be_a_topology_the_dict_of_one_or_in_a_scenario() -> None:
    whole = Scenario.from_dict(sound())
    for network in (TOPOLOGY, TOPOLOGY.to_dict(), whole, sound(), {"topology": TOPOLOGY}):
        assert network_of(network) == TOPOLOGY
    for network in (TOPOLOGY, TOPOLOGY.to_dict()):
        assert Scenario.from_arguments(network, [TCP], 20).to_dict() == {**whole.to_dict(), "duration_s": 20}
    for network in (whole, sound()):
        assert Scenario.from_arguments(network).to_dict() == whole.to_dict()
    with pytest.raises(ScenarioError, match="topology must be a netlab.Topology, got 'dumbbell'"):
        network_of("dumbbell")


def test_numbers_of_numpy_are_numbers() -> None:
    items = [
        nl.Udp("h1", "h2", rate_mbps=np.int64(1), payload_bytes=np.int32(500)),
        nl.Tcp("h1", "h2", streams=np.uint8(2)),
    ]
    scenario = Scenario(TOPOLOGY, items, duration_s=np.float32(2), seed=np.int64(3))
    assert scenario.problems() == []
    assert json.loads(json.dumps(scenario.plan())) == scenario.plan()
