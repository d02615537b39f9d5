"""The rule for many flows compared with the kernel's Reno: what it promises, and that less is not enough."""

from __future__ import annotations

import pytest

import netlab as nl
from netlab_replication.measurement import utilization

pytestmark = [pytest.mark.pocket, pytest.mark.library]

RATE_MBPS, RTT_MS, HOSTS, FLOWS = 10, 100, 4, 16


def measured_utilization(queue_packets: int) -> float:
    """Return the utilization of a link by sixteen Reno flows whose RTTs lie around the mean."""
    near = [f"h{number}" for number in range(1, HOSTS + 1)]
    links = [nl.Link("r1", "sink", rate_mbps=RATE_MBPS, queue_packets=queue_packets)]
    for place, host in enumerate(near):
        links.append(nl.Link(host, "r1", delay_ms=RTT_MS / 2 * (0.5 + (place + 0.5) / HOSTS)))
    traffic = [
        nl.Tcp(host, "sink", congestion="reno", streams=FLOWS // HOSTS, start_s=place / 2)
        for place, host in enumerate(near)
    ]
    network = nl.Topology(hosts=[*near, "sink"], routers=["r1"], links=links)
    return utilization("r1-eth0", RATE_MBPS)(nl.run(network, traffic, duration_s=40, interval_s=1, engine="library"))


def test_with_the_rules_queue_a_link_is_nearly_full_and_with_half_of_it_it_is_not() -> None:
    places = nl.theory.many_flows_queue_packets(RATE_MBPS, RTT_MS, FLOWS)
    bdp_packets = places * FLOWS**0.5
    for times, low, high in ((1.0, 0.98, 1.0), (0.5, 0.90, 0.96)):
        room = round(times * places)
        used = measured_utilization(room)
        assert low < used <= high
        assert used > nl.theory.many_flows_utilization(room, bdp_packets, FLOWS)
