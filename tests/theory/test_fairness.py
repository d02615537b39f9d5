"""Fair shares: hand-worked values, and the properties that define them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from netlab import theory
from netlab.network import topologies
from tests.theory.flows_and_links import networks

EPFL_LINKS = {"A-N1": 1, "C-N1": 10, "N1-N2": 1.5, "N2-B": 1, "N2-D": 0.5}
EPFL_ROUTES = {"AB": ["A-N1", "N1-N2", "N2-B"], "CD": ["C-N1", "N1-N2", "N2-D"]}


def test_fair_rates_of_the_collapse_network_are_the_published_ones():
    """`epfl` Q23 and Q24: both fairness notions give 1 and 0.5 Mbit/s."""
    expected = {"AB": 1.0, "CD": 0.5}
    assert theory.max_min_mbps(EPFL_LINKS, EPFL_ROUTES) == pytest.approx(expected)
    assert theory.proportional_fair_mbps(EPFL_LINKS, EPFL_ROUTES) == pytest.approx(expected, rel=1e-6)


def test_a_parking_lot_by_hand():
    """A long flow over n links of rate c with n short ones: max-min c/2, proportional c/(n+1)."""
    links = dict.fromkeys(range(3), 6.0)
    routes = {"long": [0, 1, 2], "a": [0], "b": [1], "c": [2]}
    assert theory.max_min_mbps(links, routes) == pytest.approx(dict.fromkeys(routes, 3.0))
    shares = theory.proportional_fair_mbps(links, routes)
    assert shares == pytest.approx({"long": 1.5, "a": 4.5, "b": 4.5, "c": 4.5}, rel=1e-6)


def test_demands_leave_the_rest_to_others():
    shares = theory.max_min_mbps({"r": 10}, {"a": ["r"], "b": ["r"], "c": ["r"]}, {"a": 2})
    assert shares == pytest.approx({"a": 2, "b": 4, "c": 4})


def test_paths_come_from_a_topology():
    net = topologies.portfolio()
    assert [hop.rate_mbps for hop in net.path_hops("h1", "h9") if hop.rate_mbps < math.inf] == [40, 30, 20]
    shares = theory.max_min_mbps(net.capacities_mbps(), net.routes([("h1", "h4"), ("h2", "h5"), ("h3", "h6")]))
    assert shares == pytest.approx({"h1-h4": 10, "h2-h5": 10, "h3-h6": 10})


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


@pytest.mark.slow
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


@given(st.lists(st.just(0.0) | st.floats(1e-6, 1e6), min_size=1, max_size=20).filter(any), st.floats(1e-3, 1e3))
def test_jain_stays_in_its_bounds_and_ignores_the_unit(rates, factor):
    index = theory.jain_index(rates)
    assert 1 / len(rates) - 1e-9 <= index <= 1 + 1e-9
    assert theory.jain_index(np.array(rates) * factor) == pytest.approx(index, rel=1e-6)


CROSSING_LINKS = {"L1": 40, "L2": 30, "L3": 20}
CROSSING = {"all": ["L1", "L2", "L3"], "a": ["L1"], "ab": ["L1", "L2"], "b": ["L2"], "c": ["L3"], "d": ["L3"]}


@pytest.mark.parametrize("alpha", [0.5, 1, 2, 4])
def test_a_parking_lot_by_hand_for_every_alpha(alpha):
    """Long x and short y over n full links: n y**-alpha = x**-alpha, so y = n**(1/alpha) x, and x + y = c."""
    links = dict.fromkeys(range(3), 6.0)
    routes = {"long": [0, 1, 2], "a": [0], "b": [1], "c": [2]}
    long = 6 / (1 + 3 ** (1 / alpha))
    expected = {"long": long, "a": 6 - long, "b": 6 - long, "c": 6 - long}
    assert theory.alpha_fair_mbps(links, routes, alpha) == pytest.approx(expected, rel=1e-5)


def test_a_large_alpha_comes_near_max_min():
    shares = theory.alpha_fair_mbps(CROSSING_LINKS, CROSSING, 8)
    assert shares == pytest.approx(theory.max_min_mbps(CROSSING_LINKS, CROSSING), rel=2e-3)


def test_reno_on_one_link_shares_by_one_over_the_rtt():
    shares = theory.reno_optimum_mbps({"r": 12}, {"a": ["r"], "b": ["r"], "c": ["r"]}, {"a": 20, "b": 40, "c": 60})
    assert shares == pytest.approx({"a": 72 / 11, "b": 36 / 11, "c": 24 / 11}, rel=1e-5)


def test_reno_optimum_has_one_loss_rate_for_each_link():
    """x = sqrt(2/p)/T: losses of flows over one link give the link's own, and those of longer paths are their sums."""
    rtts_ms = {"all": 80, "a": 20, "ab": 60, "b": 40, "c": 20, "d": 20}
    shares = theory.reno_optimum_mbps(CROSSING_LINKS, CROSSING, rtts_ms)
    loss = {flow: 2 / (rate * rtts_ms[flow]) ** 2 for flow, rate in shares.items()}
    assert loss["ab"] == pytest.approx(loss["a"] + loss["b"], rel=1e-3)
    assert loss["all"] == pytest.approx(loss["a"] + loss["b"] + loss["c"], rel=1e-3)


@given(networks(), st.sampled_from([0.5, 1, 2]), st.data())
def test_alpha_fairness_is_optimal(network, alpha, data):
    """At the optimum x no feasible y gains: the sum of w x**-alpha (y - x) is never above zero."""
    from scipy.optimize import linprog

    links, routes = network
    weights = {flow: data.draw(st.floats(0.1, 10)) for flow in routes}
    rates = theory.alpha_fair_mbps(links, routes, alpha, weights)
    load = loads(links, routes, rates)
    assert all(load[link] <= links[link] * (1 + 1e-9) for link in links)
    gain = np.array([weights[flow] * rate ** (1 - alpha) for flow, rate in rates.items()])
    used = [[(link in route) * rates[flow] / links[link] for flow, route in routes.items()] for link in links]
    best = linprog(-gain / gain.sum(), A_ub=used, b_ub=np.ones(len(links)))
    assert -best.fun == pytest.approx(1, rel=2e-3), f"rates {rates}, capacities {links}, weights {weights}"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"alpha": 0}, "alpha"),
        ({"alpha": 1, "weights": {"a": 1}}, "weights"),
        ({"alpha": 1, "weights": dict.fromkeys(CROSSING, 0)}, "weights of all"),
    ],
)
def test_values_without_a_fairness_are_refused(arguments, sentence):
    with pytest.raises(theory.TheoryError, match=sentence):
        theory.alpha_fair_mbps(CROSSING_LINKS, CROSSING, **arguments)


def test_cubics_optimum_over_two_links_by_hand():
    """With equal round-trip times the flow over both links has 2**(-3/4) of what each other has."""
    shares = theory.cubic_optimum_mbps(
        {1: 5, 2: 5}, {"long": [1, 2], "a": [1], "b": [2]}, dict.fromkeys(("long", "a", "b"), 300.0)
    )
    assert shares["long"] / shares["a"] == pytest.approx(2**-0.75, rel=1e-4)
    assert shares["long"] + shares["b"] == pytest.approx(5, rel=1e-6)


@pytest.mark.parametrize(("optimum", "congestion"), [("reno_optimum_mbps", "reno"), ("cubic_optimum_mbps", "cubic")])
def test_on_one_link_the_optimum_is_the_share_by_lot(optimum, congestion):
    rtts_ms = {"a": 300.0, "b": 800.0, "c": 1300.0}
    shares = getattr(theory, optimum)({"r": 5}, {flow: ["r"] for flow in rtts_ms}, rtts_ms)
    exponent = theory.RTT_EXPONENTS[congestion, "random"]
    assert list(shares.values()) == pytest.approx(
        theory.rtt_shares_mbps(5, list(rtts_ms.values()), exponent).tolist(), rel=1e-4
    )


def test_the_published_theory_of_rtt_fairness():
    """`epfl` Q35: 1320 and 3530 kbit/s for 800 and 300 ms, 910 and 3940 for 1300 and 300 ms, of 4850 in all."""
    assert theory.rtt_shares_mbps(4.85, [800, 300], 1) == pytest.approx([1.32, 3.53], abs=0.005)
    assert theory.rtt_shares_mbps(4.85, [1300, 300], 1) == pytest.approx([0.91, 3.94], abs=0.005)


def test_equal_round_trip_times_or_an_exponent_of_0_share_equally():
    assert theory.rtt_shares_mbps(6, [40, 40, 40], 2) == pytest.approx([2, 2, 2])
    assert theory.rtt_shares_mbps(6, [40, 4000, 1], 0) == pytest.approx([2, 2, 2])


@pytest.mark.parametrize("wrong", [{"limit_mbps": 0}, {"rtts_ms": [0, 1]}, {"exponent": -1}])
def test_shares_refuse_values_out_of_range(wrong):
    with pytest.raises(theory.TheoryError):
        theory.rtt_shares_mbps(**{"limit_mbps": 1, "rtts_ms": [1, 2], "exponent": 1, **wrong})
