"""Congestion collapse behind two routers (`epfl` section 2): measurement against theory, with stated tolerances.

Which of two irregular flows finds the free place is luck: of the 10 800 places that the middle link frees in 60 s about
980 go to h1, give or take 30. This is the 3 % behind the wider tolerances; the seed fixes the luck.
"""

from __future__ import annotations

import numpy as np
import pytest

import netlab as nl
from netlab_course.chapters.congestion_collapse import settings
from tests.agreement import agrees, tcp_limit_mbps, udp_limit_mbps

pytestmark = pytest.mark.pocket


WIRE = 1.042


def goodputs_mbps(network: nl.Topology, *traffic: nl.Tcp | nl.Udp, duration_s: float = 60) -> list[float]:
    run = nl.run(network, list(traffic), duration_s=duration_s, interval_s=1)
    return run.goodput_mbps(after_s=10).tolist()


@pytest.mark.parametrize("aggressor_mbps", [1, 2, 5, 10])
def test_the_modest_flow_pays_for_datagrams_that_die_at_the_second_router(aggressor_mbps: float) -> None:
    """h2's goodput within 0.5 %, h1's within 8 % of the closed form (its share of the places is luck)."""
    traffic = [nl.Udp("h1", "h4", rate_mbps=1), nl.Udp("h2", "h3", rate_mbps=aggressor_mbps)]
    h1, h2 = goodputs_mbps(settings.network(), *traffic)
    expected = nl.theory.two_router_collapse_mbps(np.array([1, aggressor_mbps]) * WIRE, 1.5, [1, 0.5]) / WIRE
    agrees("h2 (Mbit/s)", h2, expected[1], relative=0.005)
    agrees("h1 (Mbit/s)", h1, expected[0], relative=0.08)


@pytest.mark.parametrize(("aggressor_mbps", "share"), [(2, 1 / 3), (7, 0.54)])
def test_a_third_to_a_half_of_what_crosses_the_shared_link_dies_behind_it(aggressor_mbps: float, share: float) -> None:
    """The least and the most that a copy asks for, 30 s: within 0.02 of the closed form, less the queue's room."""
    traffic = [nl.Udp("h1", "h4", rate_mbps=1), nl.Udp("h2", "h3", rate_mbps=aggressor_mbps)]
    last = nl.run(settings.network(), traffic, duration_s=30, interval_s=1).queues.groupby("interface").last()
    agrees("share", last.loc["r2-eth2", "drops"] / last.loc["r1-eth2", "sent_packets"], share, absolute=0.02)


def test_nothing_is_lost_at_the_fair_rates_with_headers_paid_for() -> None:
    """0.95 and 0.475 Mbit/s of data, 99 % of every link: both arrive whole, within 1 %."""
    traffic = [nl.Udp("h1", "h4", rate_mbps=0.95), nl.Udp("h2", "h3", rate_mbps=0.475)]
    h1, h2 = goodputs_mbps(settings.network(), *traffic)
    agrees("h1 (Mbit/s)", h1, 0.95, relative=0.01)
    agrees("h2 (Mbit/s)", h2, 0.475, relative=0.01)


@pytest.mark.parametrize("aggressor_mbps", [1, 10])
def test_a_fair_queue_protects_half_of_the_middle_link(aggressor_mbps: float) -> None:
    """h1 gets half of the middle link within 1.5 %, whatever h2 sends; the rest of the collapse stays."""
    traffic = [nl.Udp("h1", "h4", rate_mbps=1), nl.Udp("h2", "h3", rate_mbps=aggressor_mbps)]
    h1, h2 = goodputs_mbps(settings.network(**settings.FAIR_QUEUE), *traffic)
    agrees("h1 (Mbit/s)", h1, udp_limit_mbps(0.75), relative=0.015)
    agrees("h2 (Mbit/s)", h2, udp_limit_mbps(0.5), relative=0.005)


def test_the_access_link_can_drop_early_and_nothing_is_wasted() -> None:
    """h2's access at 0.5 Mbit/s: together within 2 % of the fixed point, h1 within 2 %."""
    network = settings.network((None, 0.5))
    h1, h2 = goodputs_mbps(network, nl.Udp("h1", "h4", rate_mbps=1), nl.Udp("h2", "h3", rate_mbps=10))
    forecast = nl.theory.fifo_network(
        network.capacities_mbps(), network.routes(settings.SEND_PAIRS), {"h1-h4": WIRE, "h2-h3": 10 * WIRE}
    ).delivered_mbps
    agrees("h1 (Mbit/s)", h1, forecast["h1-h4"] / WIRE, relative=0.02)
    agrees("together (Mbit/s)", h1 + h2, sum(forecast.values()) / WIRE, relative=0.02)


@pytest.mark.parametrize("gap_ms", [0.1, 0.3, 0.5, 0.7])
def test_a_clockwork_flow_wins_the_places_that_become_free_just_before_it(gap_ms: float) -> None:
    """Even spacing: h1 gets the gap's share of the service time, within 3 %; at 0.8 ms that is epfl's 145 kbit/s."""
    service_ms = 1042 * 8 / 1.5e3
    traffic = [
        nl.Udp("h1", "h4", rate_mbps=1, start_s=1 + gap_ms / 1e3, spacing="even"),
        nl.Udp("h2", "h3", rate_mbps=10, spacing="even"),
    ]
    h1, _ = goodputs_mbps(settings.network(), *traffic, duration_s=30)
    agrees("h1 (Mbit/s)", h1, gap_ms / service_ms, relative=0.03, absolute=0.003)


def test_two_tcp_flows_get_the_fair_rates() -> None:
    """Within 2 % of 1 and 0.5 Mbit/s less headers; epfl measured 946 and 476 kbit/s."""
    h1, h2 = goodputs_mbps(settings.network(), nl.Tcp("h1", "h4"), nl.Tcp("h2", "h3"))
    agrees("h1 (Mbit/s)", h1, tcp_limit_mbps(1), relative=0.02)
    agrees("h2 (Mbit/s)", h2, tcp_limit_mbps(0.5), relative=0.02)


@pytest.mark.parametrize(("aggressor_mbps", "left_mbps"), [(1, 1.5 - WIRE), (3, 0)])
def test_tcp_gets_what_udp_leaves(aggressor_mbps: float, left_mbps: float) -> None:
    """h1 with TCP, h2 with UDP: the rest of the middle link within 0.03 Mbit/s."""
    traffic = [nl.Tcp("h1", "h4"), nl.Udp("h2", "h3", rate_mbps=aggressor_mbps)]
    h1, _ = goodputs_mbps(settings.network(), *traffic)
    agrees("h1 (Mbit/s)", h1, left_mbps * tcp_limit_mbps(1), absolute=0.03)
