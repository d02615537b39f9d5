"""The same plan in the pocket kernel and in the library kernel gives the same run.

Measured on Linux 7.3.4: where nothing but wires (netem, which has a seed) draws at random, every count, every interval and
every sample of a queue is equal, in competition too. What differs are moments, by a microsecond at most: the pocket kernel's
timers come 1 ns late and half a microsecond after they were set at the least, and its programs begin as much later. Where
flows of several beats meet, such a moment can decide; with these moments in the library kernel, both are the same again.
What else is drawn at random (RED, PIE, DualPI2, BBR's probes) is another draw in each kernel, because programs of the guest
draw too; there several seeds agree in the mean.
"""

from __future__ import annotations

import math
import statistics
from typing import Any

import pytest

import netlab as nl
from tests.completion import HANDSHAKE_WITHOUT_LAST_ACK
from tests.engines.parity import AsInPocket, differences, lateness

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
SCENARIOS: dict[str, tuple[nl.Topology, list[Any], dict[str, Any]]] = {
    **{
        congestion: (dumbbell(), [nl.Tcp("h1", "h2", congestion=congestion)], {})
        for congestion in ("cubic", "reno", "vegas", "dctcp", "westwood", "htcp", "tahoe")
    },
    **{aqm: (routed(aqm), [nl.Tcp("h1", "h2")], {}) for aqm in ("codel", "fq_codel", "cake", "fq", "sfq")},
    "marks": (
        routed("codel", aqm_options={"ecn": True}),
        [nl.Tcp("h1", "h2")],
        {"sysctls": {"net.ipv4.tcp_ecn": 1}},
    ),
    "window": (dumbbell(), [nl.Tcp("h1", "h2", window_bytes=16_000)], {}),
    "bytes": (dumbbell(), [nl.Tcp("h1", "h2", num_bytes=500_000)], {}),
    "one segment": (dumbbell(), [nl.Tcp("h1", "h2", num_bytes=1448)], {}),
    "bytes of several streams": (dumbbell(), [nl.Tcp("h1", "h2", num_bytes=500_001, streams=3)], {}),
    "pages beside bulk": (
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
    "small segments": (dumbbell(), [nl.Tcp("h1", "h2", mss_bytes=500)], {}),
    "streams": (dumbbell(), [nl.Tcp("h1", "h2", streams=4)], {}),
    "fast": (dumbbell(rate_mbps=100, queue_packets=200), [nl.Tcp("h1", "h2")], {}),
    "offload": (dumbbell(rate_mbps=2000, delay_ms=1, queue_packets=1000), [nl.Tcp("h1", "h2")], {"duration_s": 0.5}),
    "equal rivals": (dumbbell(**TWO), [nl.Tcp("h1", "h3"), nl.Tcp("h2", "h4")], {}),
    "late rival": (dumbbell(**TWO), [nl.Tcp("h1", "h3"), nl.Tcp("h2", "h4", congestion="reno", start_s=1)], {}),
    "TCP beside UDP": (dumbbell(**TWO), [nl.Tcp("h1", "h3"), nl.Udp("h2", "h4", rate_mbps=4)], {}),
    # With samples each 0.1 s, one falls on the moment of a packet, which the pocket kernel has 1 ns later.
    "switch": (switched(), [nl.Tcp("h1", "h2"), nl.Tcp("h3", "h2")], {"interval_s": 0.097}),
    "even": (dumbbell(), [nl.Udp("h1", "h2", rate_mbps=9.123, payload_bytes=700)], {}),
    "overload": (dumbbell(), [nl.Udp("h1", "h2", rate_mbps=20)], {}),
    "random moments": (dumbbell(), [nl.Udp("h1", "h2", rate_mbps=9.9, spacing="random")], {}),
    "two senders": (dumbbell(**TWO), [nl.Udp("h1", "h3", rate_mbps=6), nl.Udp("h2", "h4", rate_mbps=6)], {}),
    "losses": (dumbbell(loss_rate=0.01), [nl.Tcp("h1", "h2")], {}),
    "jitter": (dumbbell(jitter_ms=3), [nl.Tcp("h1", "h2")], {}),
    "all of a wire's chance": (
        dumbbell(duplicate_rate=0.02, loss_rate=0.02, jitter_ms=1),
        [nl.Udp("h1", "h2", rate_mbps=5)],
        {},
    ),
}


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


def datagrams_beside() -> nl.Scenario:
    """Samples fall on the beats of the datagrams."""
    return nl.Scenario(dumbbell(**TWO), [nl.Tcp("h1", "h3"), nl.Udp("h2", "h4", rate_mbps=4)], 10.0)


@pytest.mark.parametrize("scenario", [rivals_with_echoes(), datagrams_beside()], ids=["echoes", "UDP"])
def test_what_differs_is_due_to_the_pocket_kernels_timers_and_its_programs_moments(scenario: nl.Scenario) -> None:
    pocket, library = (nl.run(scenario, engine=name, progress=False) for name in ("pocket", "library"))
    assert differences(pocket, library) != [], "nothing to explain: choose another scenario"
    late_s = lateness(pocket, library) if len(library.pings) else {}
    assert max(late_s.values(), default=0.0) < 1e-5
    alike = nl.run(scenario, engine=AsInPocket(late_s), progress=False)
    assert differences(pocket, alike) == []


def test_echoes_agree_to_the_timers_grain() -> None:
    pocket, library = both(dumbbell(), [nl.Ping("h1", "h2", count=10)], duration_s=4)
    assert list(pocket.pings.rtt_ms) == [pytest.approx(rtt_ms, abs=1e-3) for rtt_ms in library.pings.rtt_ms]
    assert list(pocket.pings.t_s) == [pytest.approx(at_s, abs=1e-5) for at_s in library.pings.t_s]


def test_bbr_delivers_the_same_and_draws_its_probes_otherwise() -> None:
    pocket, library = both(dumbbell(), [nl.Tcp("h1", "h2", congestion="bbr")], duration_s=5)
    assert pocket.flows.received_bytes[0] == library.flows.received_bytes[0]
    assert pocket.flows.rtt_ms[0] == pytest.approx(library.flows.rtt_ms[0], rel=0.02)


@pytest.mark.parametrize(
    ("topology", "flow"),
    [
        *((routed(aqm), nl.Tcp("h1", "h2")) for aqm in ("red", "pie", "fq_pie", "dualpi2")),
    ],
    ids=["red", "pie", "fq_pie", "dualpi2"],
)
def test_with_chance_several_seeds_agree_in_the_mean(topology: nl.Topology, flow: nl.Tcp) -> None:
    """Means of goodput within three standard errors, or within a part in a hundred where draws hardly matter."""
    goodputs: dict[str, list[float]] = {"pocket": [], "library": []}
    for seed in range(1, 5):
        for run in both(topology, [flow], duration_s=5, seed=seed):
            goodputs[run.settings["engine"]].append(float(run.flows.goodput_mbps[0]))
    means = [statistics.mean(values) for values in goodputs.values()]
    spread = math.hypot(*(statistics.stdev(values) / 2 for values in goodputs.values()))
    assert abs(means[0] - means[1]) <= max(3 * spread, 0.01 * means[0]), goodputs


def test_settings_say_the_same_of_the_network_and_name_the_engine() -> None:
    pocket, library = both(dumbbell(), [nl.Ping("h1", "h2", count=1)], duration_s=1)
    for name in ("scenario", "kernel", "sysctls", "tc", "clock", "python"):
        assert pocket.settings[name] == library.settings[name], name
    own = [(run.settings["engine"], run.settings["memory_mb"]) for run in (pocket, library)]
    assert own == [("pocket", 1024), ("library", 256)]
