"""Real traffic over the medium, compared with its ceilings."""

from __future__ import annotations

from typing import Any

import pytest

import netlab as nl
from netlab.base.errors import EngineError
from netlab_engines.native import NativeEngine
from tests.agreement import agrees

pytestmark = pytest.mark.pocket


def air(*, queue_packets: int = 100, reverse: dict[str, Any] | None = None, **options: Any) -> nl.Topology:
    """Two hosts on one medium."""
    how: dict[str, Any] = {"medium_options": options, "queue_packets": queue_packets, "reverse": reverse}
    link = nl.Link("h1", "h2", medium="802.11g", **how)
    return nl.Topology(hosts=["h1", "h2"], links=[link])


@pytest.mark.parametrize(
    ("payload_bytes", "options"),
    [(1472, {}), (200, {}), (1000, {"rate_mbps": 6}), (1472, {"protection": "rts", "protection_rate_mbps": 11})],
)
def test_udp_gets_what_the_mac_leaves(payload_bytes: int, options: dict[str, Any]) -> None:
    """A second has some 1000 to 5000 backoffs of sd 4.6 slots: half a per cent is more than three sigma."""
    limit = nl.theory.wifi_udp_limit_mbps(payload_bytes, options)
    flow = nl.Udp("h1", "h2", rate_mbps=1.2 * limit, payload_bytes=payload_bytes)
    run = nl.run(air(**options), [flow], duration_s=1)
    agrees("goodput (Mbit/s)", run.flows.goodput_mbps[0], limit, relative=0.01)
    assert run.more["stations"].set_index("interface").collisions["h1-eth0"] == 0


def test_udp_below_the_limit_loses_nothing() -> None:
    run = nl.run(air(), [nl.Udp("h1", "h2", rate_mbps=20, payload_bytes=1472)], duration_s=1)
    assert run.flows.loss_rate[0] == 0
    agrees("goodput (Mbit/s)", run.flows.goodput_mbps[0], 20, relative=0.002)


@pytest.mark.parametrize("options", [{}, {"rate_mbps": 24}, {"protection": "cts", "protection_rate_mbps": 11}])
def test_tcp_gets_its_share_of_a_medium_that_its_acknowledgements_use_too(options: dict[str, Any]) -> None:
    """Without a loss, and with as many acknowledgements as the receiver sent."""
    run = nl.run(air(queue_packets=1000, **options), [nl.Tcp("h1", "h2")], duration_s=4)
    assert run.flows.retransmits[0] == 0
    sent: Any = run.queues.pivot_table(index="t_s", columns="interface", values="sent_packets")
    late = sent.loc[4.0] - sent.loc[1.0]
    per_ack = late["h1-eth0"] / late["h2-eth0"]
    limit = nl.theory.wifi_tcp_limit_mbps(options=options, segments_per_ack=per_ack)
    agrees("goodput (Mbit/s)", float(run.goodput_mbps(1).iloc[0]), limit, relative=0.01)
    stations = run.more["stations"].set_index("interface")
    agrees(
        "collisions per acknowledgement",
        stations.collisions["h1-eth0"] / stations.frames["h2-eth0"],
        0.1155,
        relative=0.15,
    )


def test_two_saturated_senders_share_bianchis_throughput() -> None:
    flows = [nl.Udp(*ends, rate_mbps=20, payload_bytes=1472) for ends in (("h1", "h2"), ("h2", "h1"))]
    run = nl.run(air(), flows, duration_s=2)
    expected = nl.theory.wifi_saturation(2, 1472)
    agrees("goodput of both (Mbit/s)", run.flows.goodput_mbps.sum(), expected.goodput_mbps, relative=0.03)
    stations = run.more["stations"]
    collided = stations.collisions.sum() / (stations.collisions.sum() + stations.frames.sum())
    agrees("collision probability", collided, expected.collision_probability, relative=0.2)


def test_a_slow_station_slows_down_the_other_one() -> None:
    """54 and 6 Mbit/s: both get what Heusse's formula leaves, 4.1 Mbit/s, and as many frames."""
    flows = [nl.Udp(*ends, rate_mbps=20, payload_bytes=1472) for ends in (("h1", "h2"), ("h2", "h1"))]
    run = nl.run(air(queue_packets=20, reverse={"medium_options": {"rate_mbps": 6}}), flows, duration_s=4)
    agrees("goodput of both (Mbit/s)", run.flows.goodput_mbps.sum(), 2 * 4.13, relative=0.03)
    agrees("share of the fast one", run.flows.goodput_mbps[0] / run.flows.goodput_mbps.sum(), 0.5, absolute=0.03)


def test_a_ping_takes_two_frames_an_acknowledgement_and_one_backoff() -> None:
    """84 bytes: 46 us a frame. The request goes at once, the reply after DIFS and 0 to 15 slots."""
    run = nl.run(air(), [nl.Ping("h1", "h2", interval_s=0.01, count=100)], duration_s=2)
    slots = (run.pings.rtt_ms - (2 * 46 + 10 + 34 + 28) / 1000) / 0.009
    assert slots.round().between(0, 15).all()
    assert (slots - slots.round()).abs().max() < 0.01
    assert run.flows.loss_rate[0] == 0


def test_a_medium_behind_a_switch_and_a_router_carries_tcp() -> None:
    network = nl.Topology(
        hosts=["h1", "h2"],
        routers=["r1"],
        switches=["s1"],
        links=[nl.Link("h1", "s1", medium="802.11g"), nl.Link("s1", "r1"), nl.Link("r1", "h2", rate_mbps=10)],
    )
    run = nl.run(network, [nl.Tcp("h1", "h2"), nl.Ping("h1", "h2", count=3)], duration_s=3)
    agrees("goodput (Mbit/s)", float(run.goodput_mbps(1).iloc[0]), nl.theory.tcp_goodput_limit_mbps(10), relative=0.01)
    assert {"h1-eth0", "s1-eth1", "r1-eth1"} <= set(run.queues.interface)


def test_equal_seeds_give_equal_numbers_and_others_other_ones() -> None:
    def figures(seed: int) -> dict[str, Any]:
        run = nl.run(air(error_rate=0.1), [nl.Tcp("h1", "h2")], duration_s=1, seed=seed)
        stations: Any = run.more["stations"].to_dict()
        return stations | {"bytes": int(run.flows.received_bytes[0])}

    assert figures(1) == figures(1)
    assert figures(1) != figures(2)


def test_engines_without_virtual_time_of_processes_refuse_it() -> None:
    with pytest.raises(EngineError, match="virtual time"):
        NativeEngine().refuse(nl.Scenario(air(), [nl.Ping("h1", "h2")]).plan())
