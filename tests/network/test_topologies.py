"""The named topologies: sound whatever they are asked for, or a sentence says why not."""

from __future__ import annotations

import inspect
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import netlab as nl
from netlab.base.errors import ScenarioError
from netlab.network.link import LinkShape


@given(pairs=st.integers(1, 12), rate_mbps=st.none() | st.floats(0.01, 1000), delay_ms=st.sampled_from([0, 10, 0.5]))
def test_each_pair_of_a_dumbbell_shares_the_bottleneck(pairs: int, rate_mbps: float | None, delay_ms: float) -> None:
    network = nl.topologies.dumbbell(pairs, rate_mbps, delay_ms)
    assert network.problems() == []
    for number in range(1, pairs + 1):
        src, dst = f"h{number}", f"h{number + pairs}"
        assert network.path(src, dst) == [src, "r1", "r2", dst]
        assert network.bottleneck_mbps(src, dst) == network.bottleneck_mbps(dst, src) == (rate_mbps or float("inf"))


def test_the_default_queue_gives_way() -> None:
    """To room in bytes and to a link without a rate; what was asked for itself is never dropped."""

    def queue(**fields: Any) -> LinkShape:
        return nl.topologies.dumbbell(1, **fields).links[-1].forward

    assert (queue().queue_packets, queue().queue_bytes) == (100, None)
    assert queue(queue_bytes=9000) == LinkShape(rate_mbps=5, delay_ms=10, queue_bytes=9000)
    assert queue(rate_mbps=None) == LinkShape(delay_ms=10)
    with pytest.raises(ScenarioError, match=r"link r1-r2: give queue_packets or queue_bytes, not both \(got 50 and"):
        nl.topologies.dumbbell(1, queue_packets=50, queue_bytes=9000)
    assert nl.topologies.three_pcs(queue_bytes=9000).problems() == []


@pytest.mark.parametrize("pairs", [0, -1, 1.5, "2", True, None, 10**6])
def test_a_wrong_number_of_pairs_is_a_sentence(pairs: Any) -> None:
    with pytest.raises(ScenarioError) as caught:
        nl.topologies.dumbbell(pairs)
    assert caught.value.problems == [f"pairs must be a whole number from 1 to 1000, got {pairs!r}"]


def test_numbers_of_numpy_are_numbers() -> None:
    assert nl.topologies.dumbbell(np.int64(2), rate_mbps=np.int64(5)) == nl.topologies.dumbbell(2)


def test_three_pcs_limit_one_direction_of_one_link() -> None:
    """h1 and h2 meet only at r1-eth1, which alone has a rate."""
    network = nl.topologies.three_pcs(rate_mbps=5)
    assert network.problems() == []
    assert [way.interface for way in network.hops() if way.shape.rate_mbps is not None] == ["r1-eth1"]
    assert network.path("h1", "h3") == ["h1", "s1", "r1", "h3"]
    assert network.path("h1", "h2") == ["h1", "s1", "h2"]
    assert network.bottleneck_mbps("h3", "h1") == float("inf")


def test_the_links_of_a_portfolio_may_differ() -> None:
    """In rate, in room, or in all else; a link without a rate keeps its delay only."""
    network = nl.topologies.portfolio((40, 30, None), (34, 50, 16), aqm="fq_codel")
    assert network.problems() == []
    row = [link.forward for link in network.links if {link.a, link.b} <= set(network.routers)]
    assert [(way.rate_mbps, way.queue_packets, way.delay_ms, way.aqm) for way in row] == [
        (40, 34, 10, "fq_codel"),
        (30, 50, 20, "fq_codel"),
        (None, None, 10, "fifo"),
    ]
    with pytest.raises(ScenarioError, match="rates_mbps needs 3 values, one each for L1 and L2 and L3, got "):
        nl.topologies.portfolio((40, 30))
    with pytest.raises(ScenarioError, match="queue_packets needs 3 values, one each for L1 and L2 and L3, got 50"):
        nl.topologies.portfolio(queue_packets=50)
    with pytest.raises(ScenarioError, match="access_mbps needs 2 values, one each for h1 and h2, got 0.5"):
        nl.topologies.two_routers(access_mbps=0.5)


@pytest.mark.parametrize(
    ("src", "dst", "delay_ms", "rate_mbps"),
    [
        ("h1", "h4", 30, 30),
        ("h7", "h9", 30, 20),
        ("h1", "h7", 10, 40),
        ("h8", "h9", 10, 20),
        ("h1", "h2", 0, float("inf")),
    ],
)
def test_portfolio_has_the_published_rates_and_delays(src: str, dst: str, delay_ms: float, rate_mbps: float) -> None:
    network = nl.topologies.portfolio()
    assert network.problems() == []
    assert (len(network.hosts), len(network.routers)) == (9, 4)
    assert sum(way.shape.delay_ms for way in network.path_hops(src, dst)) == delay_ms
    assert network.bottleneck_mbps(src, dst) == rate_mbps


@given(
    links=st.lists(st.tuples(st.none() | st.floats(0.01, 1000), st.sampled_from([0, 1, 99.5])), min_size=1, max_size=8)
)
def test_a_chain_is_as_fast_as_its_slowest_link(links: list[tuple[float | None, float]]) -> None:
    rates, delays = zip(*links, strict=True)
    network = nl.topologies.chain(rates, delays)
    assert network.problems() == []
    assert len(network.path("h1", "h2")) == len(links) + 1
    assert network.bottleneck_mbps("h1", "h2") == min(
        (rate for rate in rates if rate is not None), default=float("inf")
    )
    assert sum(way.shape.delay_ms for way in network.path_hops("h2", "h1")) == sum(delays)


@pytest.mark.parametrize(("rates", "delays"), [([], []), ([5], []), ([5, 5], [1])])
def test_a_chain_needs_a_delay_for_each_rate(rates: list[float], delays: list[float]) -> None:
    with pytest.raises(ScenarioError, match="as many rates as delays and at least one"):
        nl.topologies.chain(rates, delays)


def test_more_fields_of_a_chain_are_those_of_its_links_with_a_rate() -> None:
    access, slow = nl.topologies.chain([None, 5], [0, 8], framing="ethernet", queue_bytes=9000).links
    assert (access.forward.framing, slow.forward.framing) == (nl.Link("h1", "r1").forward.framing, "ethernet")
    assert (slow.forward.queue_bytes, slow.forward.queue_packets) == (9000, None)
    with pytest.raises(ScenarioError, match="chain: unknown field: got 'rate_mbps'"):
        nl.topologies.chain([None, 5], [0, 8], rate_mbps=5)


def test_an_unknown_field_is_named() -> None:
    with pytest.raises(ScenarioError, match="dumbbell: unknown field: got 'bw'; allowed: pairs, rate_mbps, delay_ms"):
        nl.topologies.dumbbell(1, bw=5)
    assert nl.topologies.dumbbell(1, loss_rate=0.01, reverse={"loss_rate": 0}).links[-1].backward.loss_rate == 0


PAIRS = [("h1", "h4"), ("h2", "h3")]


def test_two_routers_has_the_five_links_of_the_published_figure() -> None:
    network = nl.topologies.two_routers()
    rates = network.capacities_mbps()
    assert not network.problems()
    assert [rates[link] for link in network.routes(PAIRS)["h1-h4"]] == [1, 1.5, 1]
    assert [rates[link] for link in network.routes(PAIRS)["h2-h3"]] == [10, 1.5, 0.5]


def test_slow_middle_is_the_network_of_the_published_lab() -> None:
    """Both ways 40 ms: 10, 20 and 10; only the link in the middle is slow, and has the room that was asked for."""
    network = nl.topologies.slow_middle(queue_bytes=9000)
    assert not network.problems()
    for src, dst in (("h1", "h2"), ("h2", "h1")):
        ways = [way.shape for way in network.path_hops(src, dst)]
        assert [(way.rate_mbps, way.delay_ms, way.queue_bytes) for way in ways] == [
            (5, 10, None),
            (1, 20, 9000),
            (5, 10, None),
        ]


def test_two_routers_may_leave_access_open_and_queue_fairly() -> None:
    network = nl.topologies.two_routers(access_mbps=(None, None), aqm="fq_codel", aqm_options={"target_ms": 15})
    assert not network.problems()
    assert math.isinf(network.capacities_mbps()["h2-eth0"])
    assert [way.shape.aqm for way in network.hops() if (way.src, way.dst) == ("r1", "r2")] == ["fq_codel"]


def test_every_public_function_is_named_as_one() -> None:
    public = [
        name
        for name, value in vars(nl.topologies).items()
        if inspect.isfunction(value) and value.__module__ == nl.topologies.__name__ and not name.startswith("_")
    ]
    assert sorted(public) == sorted(nl.topologies.__all__)


def test_a_name_that_is_nearly_right_is_answered_with_the_right_one():
    for home, wrong, right in (
        (nl, "Tpc", "Tcp"),
        (nl.topologies, "dumbell", "dumbbell"),
        (nl.theory, "bdp_byte", "bdp_bytes"),
    ):
        with pytest.raises(AttributeError, match=f"did you mean {right}"):
            getattr(home, wrong)
    assert not hasattr(nl.plots, "nothing_like_this")
