"""Congestion collapse: the published values, closed forms, and what no network can deliver."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netlab import theory
from tests.theory.flows_and_links import networks


def test_congestion_collapse_is_the_published_one():
    """`epfl` Q21 and Q22: 13.6 % accepted, goodputs of 0.128 and 0.469 Mbit/s, losses of 87.2 and 95.3 %."""
    assert theory.acceptance_ratio([1, 10], 1.5) == pytest.approx(0.136, abs=5e-4)
    rates = theory.two_router_collapse_mbps([1, 10], 1.5, [1, 0.5])
    payload_share = 1000 / theory.udp_wire_bytes(1000, "ethernet")
    assert rates * payload_share == pytest.approx([0.128, 0.469], abs=5e-4)
    assert 1 - rates * payload_share / [1, 10] == pytest.approx([0.872, 0.953], abs=5e-4)


@given(st.floats(0.01, 100), st.floats(0.01, 100))
def test_the_fixed_point_is_the_closed_form_of_two_routers(first, second):
    network = theory.fifo_network(
        {"shared": 1.5, "B": 1, "D": 0.5},
        {"AB": ["shared", "B"], "CD": ["shared", "D"]},
        {"AB": first, "CD": second},
    )
    closed = theory.two_router_collapse_mbps([first, second], 1.5, [1, 0.5])
    assert list(network.delivered_mbps.values()) == pytest.approx(closed, rel=1e-9)


@pytest.mark.parametrize("offered", [0.3, 1.0, 5.0, 100.0])
def test_the_fixed_point_of_a_ring_is_le_boudecs(offered):
    """Each source sends x over two links of rate 1; above 1/2 each delivers 1 - x/2 (sqrt(1 + 4/x) - 1)."""
    links = dict.fromkeys(range(5), 1.0)
    routes = {i: [i, (i + 1) % 5] for i in range(5)}
    network = theory.fifo_network(links, routes, dict.fromkeys(routes, offered))
    first = offered / 2 * (math.sqrt(1 + 4 / offered) - 1)
    expected = offered if offered <= 0.5 else 1 - first
    assert list(network.delivered_mbps.values()) == pytest.approx([expected] * 5, rel=1e-9)


@given(networks(), st.floats(0.01, 1000))
def test_a_fifo_network_never_delivers_more_than_links_carry_or_sources_send(network, offered):
    links, routes = network
    result = theory.fifo_network(links, routes, dict.fromkeys(routes, offered), tolerance=1e-10)
    last = dict.fromkeys(links, 0.0)
    for flow, route in routes.items():
        assert result.delivered_mbps[flow] <= offered * (1 + 1e-6)
        last[route[-1]] += result.delivered_mbps[flow]
    assert all(last[link] <= links[link] * (1 + 1e-6) for link in links)
    assert all(0 < ratio <= 1 for ratio in result.acceptance.values())
