"""The same scenario and seed give the same run in the pocket kernel and in the library kernel, to the last bit, chance included."""

from __future__ import annotations

from typing import Any

import pytest

import netlab as nl
from netlab.network.congestion import CONGESTION_CONTROLS
from netlab.network.queues import DISCIPLINES
from tests.completion import HANDSHAKE_WITHOUT_LAST_ACK
from tests.engines.parity import differences

pytestmark = [pytest.mark.pocket, pytest.mark.library]


def dumbbell(**words: Any) -> nl.Topology:
    return nl.topologies.dumbbell(**{"pairs": 1, "rate_mbps": 10, "delay_ms": 10, "queue_packets": 50, **words})


def routed(aqm: str, **words: Any) -> nl.Topology:
    bottleneck = nl.Link("r1", "h2", rate_mbps=10, delay_ms=10, queue_packets=100, aqm=aqm, **words)
    return nl.Topology(hosts=["h1", "h2"], routers=["r1"], links=[nl.Link("h1", "r1"), bottleneck])


def switched() -> nl.Topology:
    links = [nl.Link(host, "s1", rate_mbps=10, delay_ms=5, queue_packets=30) for host in ("h1", "h2", "h3")]
    return nl.Topology(hosts=["h1", "h2", "h3"], switches=["s1"], links=links)


def both(topology: nl.Topology, traffic: list[Any], **words: Any) -> tuple[nl.Run, nl.Run]:
    """The run in the pocket kernel and in the library kernel."""
    pocket, library = (
        nl.run(topology, traffic, engine=name, progress=False, **words) for name in ("pocket", "library")
    )
    return pocket, library


TWO = {"pairs": 2}
ECN = {"sysctls": {"net.ipv4.tcp_ecn": 1}}
TWO_TCPS = [nl.Tcp("h1", "h3"), nl.Tcp("h2", "h4")]
TCP_AND_UDP = [nl.Tcp("h1", "h3"), nl.Udp("h2", "h4", rate_mbps=4)]


def crowd(aqm: str) -> nl.Topology:
    """A bottleneck of that discipline for three pairs."""
    return nl.topologies.dumbbell(pairs=3, rate_mbps=10, delay_ms=10, queue_packets=100, aqm=aqm)


CROWD = [
    nl.Tcp("h1", "h4"),
    nl.Tcp("h2", "h5", congestion="reno", streams=3),
    nl.Udp("h3", "h6", rate_mbps=3, spacing="random"),
    nl.Ping("h1", "h4", interval_s=0.1),
]

SCENARIOS: dict[str, tuple[nl.Topology, list[Any], dict[str, Any]]] = {
    **{name: (dumbbell(), [nl.Tcp("h1", "h2", congestion=name)], {}) for name in CONGESTION_CONTROLS},
    **{
        f"two of {name}": (dumbbell(**TWO), [nl.Tcp(src, dst, congestion=name) for src, dst in (("h1", "h3"), ("h2", "h4"))], {})
        for name in CONGESTION_CONTROLS
    },
    **{aqm: (routed(aqm), [nl.Tcp("h1", "h2")], {}) for aqm in DISCIPLINES},
    **{f"crowd at {aqm}": (crowd(aqm), CROWD, {}) for aqm in DISCIPLINES},
    "marks": (routed("codel", aqm_options={"ecn": True}), [nl.Tcp("h1", "h2")], ECN),
    "random marks": (routed("red", aqm_options={"ecn": True}), [nl.Tcp("h1", "h2", congestion="dctcp")], ECN),
    "window": (dumbbell(), [nl.Tcp("h1", "h2", window_bytes=16_000)], {}),
    "bytes": (dumbbell(), [nl.Tcp("h1", "h2", num_bytes=500_000)], {}),
    "one segment": (dumbbell(), [nl.Tcp("h1", "h2", num_bytes=1448)], {}),
    "bytes of several streams": (dumbbell(), [nl.Tcp("h1", "h2", num_bytes=500_001, streams=3)], {}),
    "pages and bulk": (
        dumbbell(**TWO),
        [nl.Tcp("h1", "h3"), *(nl.Tcp("h2", "h4", num_bytes=100_000, start_s=1.03 + 0.25 * k) for k in range(8))],
        {},
    ),
    "many bytes, short and fast": (
        dumbbell(rate_mbps=5000, delay_ms=0.1, queue_packets=1000),
        [nl.Tcp("h1", "h2", num_bytes=50_000_000)],
        {"duration_s": 0.5},
    ),
    "handshake's last ACK lost": (*HANDSHAKE_WITHOUT_LAST_ACK, {}),
    "a handshake that never ends": (dumbbell(delay_ms=700), [nl.Tcp("h1", "h2")], {"duration_s": 2}),
    "requests": (
        dumbbell(**TWO), [nl.Requests("h1", "h3", response_bytes=30_000, think_s=0.05), nl.Tcp("h2", "h4")], {},
    ),
    "requests that lose": (
        dumbbell(loss_rate=0.02),
        [nl.Requests("h1", "h2", response_bytes=40_000, request_bytes=20_000, count=40, connections=3)], {},
    ),
    "requests at fixed moments": (
        dumbbell(**TWO),
        [nl.Requests(client, server, response_bytes=15_000, count=6, interval_s=0.4, congestion="reno")
         for client, server in (("h3", "h1"), ("h4", "h2"))], {},
    ),
    "a response that the end cuts off": (
        dumbbell(rate_mbps=2), [nl.Requests("h1", "h2", response_bytes=3_000_000, duration_s=2.5)], {},
    ),
    "small segments": (dumbbell(), [nl.Tcp("h1", "h2", mss_bytes=500)], {}),
    "streams": (dumbbell(), [nl.Tcp("h1", "h2", streams=4)], {}),
    "fast": (dumbbell(rate_mbps=100, queue_packets=200), [nl.Tcp("h1", "h2")], {}),
    "offload": (dumbbell(rate_mbps=2000, delay_ms=1, queue_packets=1000), [nl.Tcp("h1", "h2")], {"duration_s": 0.5}),
    "super-segments under loss": (
        dumbbell(rate_mbps=10_000, delay_ms=0.02, loss_rate=0.01), [nl.Tcp("h1", "h2", streams=2)], {"duration_s": 0.5},
    ),
    "equal rivals": (dumbbell(**TWO), TWO_TCPS, {}),
    "late rival": (dumbbell(**TWO), [nl.Tcp("h1", "h3"), nl.Tcp("h2", "h4", congestion="reno", start_s=1)], {}),
    "TCP and UDP": (dumbbell(**TWO), TCP_AND_UDP, {}),
    "switch": (switched(), [nl.Tcp("h1", "h2"), nl.Tcp("h3", "h2")], {}),
    "even": (dumbbell(), [nl.Udp("h1", "h2", rate_mbps=9.123, payload_bytes=700)], {}),
    "overload": (dumbbell(), [nl.Udp("h1", "h2", rate_mbps=20)], {}),
    "random moments": (dumbbell(), [nl.Udp("h1", "h2", rate_mbps=9.9, spacing="random")], {}),
    "two senders": (dumbbell(**TWO), [nl.Udp("h1", "h3", rate_mbps=6), nl.Udp("h2", "h4", rate_mbps=6)], {}),
    "loss": (dumbbell(loss_rate=0.01), [nl.Tcp("h1", "h2")], {}),
    "bursts of loss": (
        dumbbell(burst_loss={"enter_rate": 0.002, "leave_rate": 0.3}), [nl.Tcp("h1", "h2"), nl.Ping("h1", "h2")], {},
    ),
    "jitter": (dumbbell(jitter_ms=3), [nl.Tcp("h1", "h2"), nl.Ping("h1", "h2", interval_s=0.05)], {}),
    "reordering": (
        nl.Topology(hosts=["h1", "h2"], links=[nl.Link("h1", "h2", rate_mbps=10, delay_ms=10, jitter_ms=4, reorder=True)]),
        [nl.Tcp("h1", "h2")], {},
    ),
    "duplicates": (dumbbell(duplicate_rate=0.02), [nl.Tcp("h1", "h2"), nl.Udp("h1", "h2", rate_mbps=2)], {}),
    "all of chance": (
        dumbbell(**TWO, loss_rate=0.01, jitter_ms=2, duplicate_rate=0.01), [*TCP_AND_UDP, nl.Ping("h1", "h3")], {"seed": 7},
    ),
    "thirds of a second": (
        dumbbell(**TWO), [*TCP_AND_UDP, nl.Ping("h1", "h3", interval_s=1 / 3)], {"interval_s": 1 / 3},
    ),
    "a capture": (
        dumbbell(loss_rate=0.01), [nl.Tcp("h1", "h2"), nl.Udp("h1", "h2", rate_mbps=1), nl.Ping("h1", "h2")],
        {"captures": [nl.Capture("r1", "r2", snap_bytes=1500)], "duration_s": 2},
    ),
    "a capture on a link that is cut and mended": (
        dumbbell(), [nl.Tcp("h1", "h2"), nl.Ping("h1", "h2")],
        {"captures": [nl.Capture("r1", "r2")],
         "changes": [nl.Change(at_s=1, link=("r1", "r2"), up=False), nl.Change(at_s=1.5, link=("r1", "r2"), up=True)]},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SCENARIOS)
def test_both_kernels_give_the_same_run(name: str) -> None:
    topology, traffic, words = SCENARIOS[name]
    assert differences(*both(topology, traffic, **{"duration_s": 4, **words})) == []


def rivals_with_echoes() -> nl.Scenario:
    """Two pairs over one router: what one sends moves the timers of the other."""
    bottlenecks = [nl.Link("r1", "h2", rate_mbps=30, delay_ms=20, queue_packets=100)]
    bottlenecks += [nl.Link("r1", "h4", rate_mbps=20, delay_ms=10, queue_packets=33)]
    links = [nl.Link("h1", "r1"), nl.Link("h3", "r1"), *bottlenecks]
    network = nl.Topology(hosts=["h1", "h2", "h3", "h4"], routers=["r1"], links=links)
    traffic = [
        nl.Tcp("h1", "h2"),
        nl.Tcp("h3", "h4"),
        nl.Ping("h1", "h2", interval_s=1),
        nl.Ping("h3", "h4", interval_s=1),
    ]
    return nl.Scenario(network, traffic, 6.0, interval_s=0.5)


def tcp_and_datagrams() -> nl.Scenario:
    """Samples fall on the beats of the datagrams."""
    return nl.Scenario(dumbbell(**TWO), [nl.Tcp("h1", "h3"), nl.Udp("h2", "h4", rate_mbps=4)], 10.0)


@pytest.mark.parametrize("scenario", [rivals_with_echoes(), tcp_and_datagrams()], ids=["echoes", "UDP"])
def test_kernels_agree_on_simultaneous_events(scenario: nl.Scenario) -> None:
    assert differences(*(nl.run(scenario, engine=name, progress=False) for name in ("pocket", "library"))) == []


def test_another_seed_draws_otherwise_in_both() -> None:
    runs = [both(dumbbell(loss_rate=0.01), [nl.Tcp("h1", "h2")], duration_s=4, seed=seed) for seed in (1, 2)]
    assert differences(runs[0][0], runs[1][0]) != [] != differences(runs[0][1], runs[1][1])


def test_settings_say_the_same_of_the_network_and_name_the_engine() -> None:
    pocket, library = both(dumbbell(), [nl.Ping("h1", "h2", count=1)], duration_s=1)
    for name in ("scenario", "kernel", "sysctls", "tc", "clock", "python"):
        assert pocket.settings[name] == library.settings[name], name
    own = [(run.settings["engine"], run.settings["memory_mb"]) for run in (pocket, library)]
    assert own == [("pocket", 1024), ("library", 256)]
