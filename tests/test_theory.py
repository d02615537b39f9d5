"""The formulas give the published and the hand-worked values, their limiting cases and their invariants."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from netlab import theory
from netlab.errors import NetlabError

# Published and hand-worked values ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("payload", "framing", "expected"),
    [(1000, "tc", 1042), (1000, "ethernet", 1066), (1472, "tc", 1514), (1473, "tc", 1473 + 8 + 2 * 34)],
)
def test_udp_wire_bytes_count_headers_and_fragments(payload, framing, expected):
    assert theory.udp_wire_bytes(payload, framing) == expected


def test_framing_limits_explain_the_published_goodputs():
    """`epfl` measured 4798 and 4782 kbit/s against its own 4690 and 4850: tc's framing, 1448-byte segments."""
    assert theory.udp_goodput_limit_mbps(5, 1000) == pytest.approx(4.798, abs=5e-4)
    assert theory.tcp_goodput_limit_mbps(5, 1448) == pytest.approx(4.782, abs=5e-4)
    assert theory.udp_goodput_limit_mbps(5, 1000, "ethernet") == pytest.approx(4.690, abs=5e-4)
    assert theory.tcp_goodput_limit_mbps(5, 2896, "ethernet") == pytest.approx(4.850, abs=1e-3)


def test_udp_loss_is_the_published_one():
    """`epfl` Q7: 5 and 10 Mbit/s into 5 Mbit/s lose 4.03 and 52.03 %.

    Its 76.43 % at 20 Mbit/s contradicts its own goodput of 4.798 Mbit/s, which makes 76.01 %.
    """
    loss = theory.udp_loss_rate(np.array([5.0, 10.0, 20.0]), 5)
    assert loss * 100 == pytest.approx([4.03, 52.03, 76.01], abs=0.02)


def test_udp_loss_counts_the_queue_as_late_not_lost():
    """10 s of 10 Mbit/s are 12500 datagrams; 5997.6 are served in time, 100 more stand in the queue."""
    expected = 1 - (5e6 * 10 / (8 * 1042) + 100) / 12_500
    assert theory.udp_loss_rate(10, 5, queue_packets=100, duration_s=10) == pytest.approx(expected, rel=1e-12)


def test_udp_loss_is_zero_while_the_queue_can_hold_the_excess():
    assert theory.udp_loss_rate(5, 5, queue_packets=1000, duration_s=1) == 0


def test_udp_shares_are_the_published_ones():
    """`epfl` A2 and A3 by its own framing: 0.938 and 3.752, 0.469 and 4.221 Mbit/s."""
    assert theory.udp_shares_mbps([1, 0.5], 5) == pytest.approx([1, 0.5])
    assert theory.udp_shares_mbps([1, 4], 5, framing="ethernet") == pytest.approx([0.938, 3.752], abs=5e-4)
    assert theory.udp_shares_mbps([1, 9], 5, framing="ethernet") == pytest.approx([0.469, 4.221], abs=5e-4)


def test_udp_shares_count_each_flows_own_headers():
    """2 Mbit/s in datagrams of 100 and of 1000 bytes take 2.84 and 2.084 Mbit/s of the wire."""
    shares = theory.udp_shares_mbps([2, 2], 4, payload_bytes=[100, 1000])
    assert shares == pytest.approx([2 * 4 / 4.924] * 2)


def test_window_and_bdp_are_the_published_ones():
    """`siit` task 5: a BDP of 200 kB, and windows of 126 to 192 kB that allow 63 to 96 Mbit/s."""
    assert theory.bdp_bytes(100, 16) == 200_000
    windows = np.array([126e3, 150e3, 187.5e3, 192e3])
    assert theory.window_limit_mbps(windows, 16) == pytest.approx([63, 75, 93.75, 96])
    assert theory.windowed_goodput_mbps(1e9, 100, 16) == theory.tcp_goodput_limit_mbps(100)


def test_delays_add_up_hop_by_hop():
    """`simpleperf` path h1-h9: 80 ms of propagation, and 98 bytes pass 40, 30 and 20 Mbit/s twice."""
    path = [theory.Hop(), theory.Hop(40, 10), theory.Hop(30, 20), theory.Hop(20, 10), theory.Hop()]
    serialisation = 2 * 98 * 8 / 1000 * (1 / 40 + 1 / 30 + 1 / 20)
    assert theory.ping_rtt_ms(path) == pytest.approx(80 + serialisation)
    assert theory.bottleneck(path) == 3
    one_way = theory.ping_rtt_ms(path, back=[])
    assert one_way == pytest.approx(40 + serialisation / 2)


def test_a_segment_carries_its_size_there_and_its_acknowledgement_back():
    path = [theory.Hop(5, 10), theory.Hop(1, 20), theory.Hop(5, 10)]
    frames_ms = sum((512 + 66 + 66) * 8 / rate / 1e3 for rate in (5, 1, 5))
    assert theory.segment_rtt_ms(path, 512) == pytest.approx(80 + frames_ms)
    assert theory.segment_rtt_ms(path, 512, back=[]) == pytest.approx(40 + (512 + 66) * 8 * 1.4 / 1e3)


def test_nodal_delay_is_the_sum_of_its_four_parts():
    parts = (0.01, theory.queueing_delay_ms(3028, 5), theory.transmission_delay_ms(1514, 5), 10)
    whole = theory.nodal_delay_ms(1514, theory.Hop(5, 10), backlog_bytes=3028, processing_ms=0.01)
    assert whole == pytest.approx(sum(parts))
    assert theory.transmission_delay_ms(1500, 10) == pytest.approx(1.2)
    assert theory.propagation_delay_ms(2500, 250_000) == 10


@pytest.mark.parametrize(("rtt_ms", "loss_rate", "expected"), [(60, 0.22, 1.004), (54, 0.52, 0.726)])
def test_mathis_is_the_published_one(rtt_ms, loss_rate, expected):
    """`epfl` Q20, with its own c = 1.22 and segments of 2896 bytes."""
    assert theory.mathis_mbps(2896, rtt_ms, loss_rate, c=1.22) == pytest.approx(expected, rel=1e-3)


def test_pftk_by_hand():
    """p = 0.01, b = 2: W = 12.175, Q = 0.2799, 111.458 segments in 0.32634 s."""
    assert theory.pftk_mbps(1448, 20, 0.01) == pytest.approx(111.458 / 0.32634 * 1448 * 8e-6, rel=1e-4)


def test_pftk_with_a_window_by_hand():
    """The window-limited branch of the equation, written out once more for b = 2 and a window of 6 segments."""
    p, window = 0.01, 6
    q = (1 - 0.99**3) * (1 + 0.99**3 * (1 - 0.99 ** (window - 3))) / (1 - 0.99**window)
    backoff = 1 + p + 2 * p**2 + 4 * p**3 + 8 * p**4 + 16 * p**5 + 32 * p**6
    expected = (99 + window + q / 0.99) / (0.02 * (window / 4 + 99 / window + 2) + q * 0.22 * backoff / 0.99)
    got = theory.pftk_mbps(1448, 20, p, window_segments=window)
    assert got == pytest.approx(expected * 1448 * 8e-6, rel=1e-12)


def test_pftk_tends_to_mathis_for_light_loss():
    """For p towards 0 the full model is sqrt(3 / (2 b p)) segments per round-trip time."""
    mathis = theory.mathis_mbps(1448, 100, 1e-9, c=math.sqrt(3 / 4))
    assert theory.pftk_mbps(1448, 100, 1e-9) == pytest.approx(mathis, rel=2e-3)


def test_pftk_tends_to_the_window_limit_for_vanishing_loss():
    got = theory.pftk_mbps(1448, 100, 1e-12, window_segments=20)
    assert got == pytest.approx(theory.window_limit_mbps(20 * 1448, 100), rel=1e-6)


def test_pftk_is_close_to_its_own_approximation():
    """RFC 5348, section 3.1, is the paper's shorter equation, near the full one for light loss."""
    p, rtt, rto, b = 0.02, 0.1, 0.4, 2
    short = 1 / (rtt * math.sqrt(2 * b * p / 3) + rto * min(1, 3 * math.sqrt(3 * b * p / 8)) * p * (1 + 32 * p**2))
    assert theory.pftk_mbps(1460, rtt * 1e3, p, rto_ms=rto * 1e3) == pytest.approx(short * 1460 * 8e-6, rel=0.15)


def test_parallel_streams_add_up_to_the_link():
    one = theory.mathis_mbps(1448, 20, 0.01)
    assert theory.parallel_streams_mbps(8, 1448, 20, 0.01) == pytest.approx(8 * one)
    assert theory.parallel_streams_mbps(8, 1448, 20, 0.01, rate_mbps=20) == 20


EPFL_LINKS = {"A-N1": 1, "C-N1": 10, "N1-N2": 1.5, "N2-B": 1, "N2-D": 0.5}
EPFL_ROUTES = {"AB": ["A-N1", "N1-N2", "N2-B"], "CD": ["C-N1", "N1-N2", "N2-D"]}


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


def test_fair_rates_of_the_collapse_network_are_the_published_ones():
    """`epfl` Q23 and Q24: both fairness notions give 1 and 0.5 Mbit/s."""
    expected = {"AB": 1.0, "CD": 0.5}
    assert theory.max_min_mbps(EPFL_LINKS, EPFL_ROUTES) == pytest.approx(expected)
    assert theory.proportional_fair_mbps(EPFL_LINKS, EPFL_ROUTES) == pytest.approx(expected, rel=1e-6)


def test_a_parking_lot_by_hand():
    """One long flow over n links of rate c beside n short ones: max-min c/2, proportional c/(n+1)."""
    links = {i: 6.0 for i in range(3)}
    routes = {"long": [0, 1, 2], "a": [0], "b": [1], "c": [2]}
    assert theory.max_min_mbps(links, routes) == pytest.approx(dict.fromkeys(routes, 3.0))
    shares = theory.proportional_fair_mbps(links, routes)
    assert shares == pytest.approx({"long": 1.5, "a": 4.5, "b": 4.5, "c": 4.5}, rel=1e-6)


def test_demands_leave_the_rest_to_others():
    shares = theory.max_min_mbps({"r": 10}, {"a": ["r"], "b": ["r"], "c": ["r"]}, {"a": 2})
    assert shares == pytest.approx({"a": 2, "b": 4, "c": 4})


def test_paths_come_from_a_topology():
    from netlab.network import topologies

    net = topologies.portfolio()
    assert [hop.rate_mbps for hop in net.path_hops("h1", "h9") if hop.rate_mbps < math.inf] == [40, 30, 20]
    shares = theory.max_min_mbps(net.capacities_mbps(), net.routes([("h1", "h4"), ("h2", "h5"), ("h3", "h6")]))
    assert shares == pytest.approx({"h1-h4": 10, "h2-h5": 10, "h3-h6": 10})


# Invariants -------------------------------------------------------------------------------------------------


@st.composite
def networks(draw):
    """A handful of links, a handful of flows, each over some of the links."""
    links = {f"l{i}": draw(st.floats(0.1, 1000)) for i in range(draw(st.integers(1, 5)))}
    one_route = st.lists(st.sampled_from(sorted(links)), min_size=1, unique=True)
    routes = {f"f{i}": draw(one_route) for i in range(draw(st.integers(1, 6)))}
    return links, routes


def loads(links, routes, rates):
    return {link: sum(rates[flow] for flow in routes if link in routes[flow]) for link in links}


@given(networks())
def test_max_min_is_feasible_and_every_flow_has_a_bottleneck(network):
    """An allocation is max-min fair if and only if each flow has a full link on which nobody gets more than it."""
    links, routes = network
    rates = theory.max_min_mbps(links, routes)
    load = loads(links, routes, rates)
    assert all(load[link] <= links[link] * (1 + 1e-9) for link in links)
    for flow, route in routes.items():
        assert any(
            load[link] >= links[link] * (1 - 1e-9)
            and rates[flow] >= max(rates[other] for other in routes if link in routes[other]) * (1 - 1e-9)
            for link in route
        ), f"{flow} has no bottleneck: rates {rates}, loads {load}, capacities {links}"


@given(networks())
def test_proportional_fairness_is_optimal(network):
    """At the optimum x no feasible y gains in sum: the largest sum of y/x is the number of flows."""
    from scipy.optimize import linprog

    links, routes = network
    rates = theory.proportional_fair_mbps(links, routes)
    load = loads(links, routes, rates)
    assert all(load[link] <= links[link] * (1 + 1e-9) for link in links)
    used = [[(link in route) * rates[flow] / links[link] for flow, route in routes.items()] for link in links]
    best = linprog(-np.ones(len(routes)), A_ub=used, b_ub=np.ones(len(links)))
    assert -best.fun == pytest.approx(len(routes), rel=1e-3), f"rates {rates}, capacities {links}"


@given(networks(), st.floats(0.01, 1000))
def test_a_fifo_network_never_delivers_more_than_links_carry_or_sources_send(network, offered):
    links, routes = network
    result = theory.fifo_network(links, routes, dict.fromkeys(routes, offered), tolerance=1e-10)
    last = {link: 0.0 for link in links}
    for flow, route in routes.items():
        assert result.delivered_mbps[flow] <= offered * (1 + 1e-6)
        last[route[-1]] += result.delivered_mbps[flow]
    assert all(last[link] <= links[link] * (1 + 1e-6) for link in links)
    assert all(0 < ratio <= 1 for ratio in result.acceptance.values())


@given(st.lists(st.just(0.0) | st.floats(1e-6, 1e6), min_size=1, max_size=20).filter(any), st.floats(1e-3, 1e3))
def test_jain_stays_in_its_bounds_and_ignores_the_unit(rates, factor):
    index = theory.jain_index(rates)
    assert 1 / len(rates) - 1e-9 <= index <= 1 + 1e-9
    assert theory.jain_index(np.array(rates) * factor) == pytest.approx(index, rel=1e-6)


@given(st.floats(0.01, 1e4), st.floats(0.01, 1e4), st.integers(32, 1472), st.sampled_from(["tc", "ethernet"]))
def test_udp_goodput_and_loss_account_for_every_datagram(offered, rate, payload, framing):
    goodput = theory.udp_goodput_mbps(offered, rate, payload, framing)
    assert goodput + offered * theory.udp_loss_rate(offered, rate, payload, framing) == pytest.approx(offered)
    assert theory.udp_shares_mbps([offered], rate, payload, framing) == pytest.approx([goodput])


@given(st.floats(1e-6, 0.5), st.floats(1e-6, 0.5))
def test_more_loss_never_speeds_tcp_up(one, other):
    low, high = sorted((one, other))
    for formula in (theory.mathis_mbps, theory.pftk_mbps):
        slow, fast = formula(1448, 50, high), formula(1448, 50, low)
        assert slow <= fast * (1 + 1e-9)


# Mistakes ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: theory.mathis_mbps(1448, 20, 2.0), "for 2 % write 0.02"),
        (lambda: theory.mathis_mbps(1448, 20, 0.0), r"in \(0, 1\]"),
        (lambda: theory.pftk_mbps(1448, 20, 1.0), r"in \(0, 1\)"),
        (lambda: theory.udp_goodput_limit_mbps(-5), "above 0, got -5"),
        (lambda: theory.udp_goodput_limit_mbps(math.nan), "above 0, got nan"),
        (lambda: theory.udp_wire_bytes(0), "between 1 and 65507"),
        (lambda: theory.tcp_wire_bytes(1448, "wifi"), "one of tc, ethernet"),
        (lambda: theory.bottleneck([]), "at least one link"),
        (lambda: theory.jain_index([0, 0]), "at least one rate above 0"),
        (lambda: theory.max_min_mbps({}, {"a": ["x"]}), "has no capacity"),
        (lambda: theory.max_min_mbps({"x": math.inf}, {"a": ["x"]}), "Nothing limits the flow a"),
        (lambda: theory.max_min_mbps({"x": 1}, {"a": ["x"]}, {"b": 1}), "has no route"),
        (lambda: theory.fifo_network({"x": 1}, {"a": ["x"]}, {}), "same flows"),
    ],
)
def test_mistakes_are_sentences(call, words):
    with pytest.raises(ValueError, match=words) as caught:
        call()
    assert isinstance(caught.value, NetlabError)
    assert str(caught.value).endswith(".")


def test_numbers_stay_numbers_and_arrays_keep_their_shape():
    assert type(theory.udp_goodput_mbps(1, 5)) is float
    grid = np.ones((2, 3))
    for result in (
        theory.udp_goodput_mbps(grid, 5),
        theory.udp_loss_rate(grid, 5),
        theory.window_limit_mbps(grid, 10),
        theory.mathis_mbps(1448, 20, grid / 10),
        theory.pftk_mbps(1448, 20, grid / 10),
    ):
        assert result.shape == grid.shape
