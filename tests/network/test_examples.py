"""The named topologies have the rates that they promise."""

from __future__ import annotations

import math

import netlab as nl

PAIRS = [("h1", "h4"), ("h2", "h3")]


def test_two_routers_has_the_five_links_of_the_published_figure() -> None:
    network = nl.topologies.two_routers()
    rates = network.capacities_mbps()
    assert not network.problems()
    assert [rates[link] for link in network.routes(PAIRS)["h1-h4"]] == [1, 1.5, 1]
    assert [rates[link] for link in network.routes(PAIRS)["h2-h3"]] == [10, 1.5, 0.5]


def test_two_routers_may_leave_access_open_and_queue_fairly() -> None:
    network = nl.topologies.two_routers(access_mbps=(None, None), aqm="fq_codel", aqm_options={"target_ms": 15})
    assert not network.problems()
    assert math.isinf(network.capacities_mbps()["h2-eth0"])
    assert [way.shape.aqm for way in network.hops() if (way.src, way.dst) == ("r1", "r2")] == ["fq_codel"]
