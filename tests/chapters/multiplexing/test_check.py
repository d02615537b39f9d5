"""The chapter's checks: right answers pass, wrong ones get their sentence, hints lead to the answer."""

from __future__ import annotations

import pytest

import netlab as nl
from netlab.chapters import multiplexing as chapter
from netlab.checks import Check, Status
from tests.chapters.checking import passes, said


def by_links(capacities_mbps: dict[str, float], routes: dict[str, list[str]]) -> dict[str, float]:
    """Water-filling as the chapter does it; it uses up what it is given."""
    shares: dict[str, float] = {}
    while routes:
        level, full = min(
            (left / sum(link in route for route in routes.values()), link)
            for link, left in capacities_mbps.items()
            if any(link in route for route in routes.values())
        )
        for flow in [flow for flow, route in routes.items() if full in route]:
            shares[flow] = level
            for link in routes.pop(flow):
                capacities_mbps[link] -= level
    return shares


def drop_by_drop(capacities_mbps: dict[str, float], routes: dict[str, list[str]]) -> dict[str, float]:
    """All rates rise in small steps; a flow stops when one of its links is full."""
    shares = dict.fromkeys(routes, 0.0)
    rising = set(routes)
    while rising:
        for flow in rising:
            shares[flow] += 0.001
        for link, capacity in capacities_mbps.items():
            users = {flow for flow, route in routes.items() if link in route}
            if sum(shares[flow] for flow in users) > capacity - 0.002:
                rising -= users
    return shares


def full_rtt_ms(links: list[tuple[float, float, float]]) -> float:
    rate, _, room = sorted(links)[0]
    return sum(2 * delay for _, delay, _ in links) + room * 1514 * 8 / rate / 1000


@pytest.mark.parametrize(
    ("check", "answer"),
    [
        (chapter.check.water_filling, by_links),
        (chapter.check.water_filling, drop_by_drop),
        (chapter.check.water_filling, nl.theory.max_min_mbps),
        (chapter.check.full_rtt, full_rtt_ms),
        (chapter.check.rooms, nl.topologies.portfolio(queue_packets=(34, 50, 16))),
        (chapter.check.rooms, nl.topologies.portfolio(queue_packets=(33, 51, 17))),
        (chapter.check.suspects, "c"),
        (chapter.check.window, 6555),
        (chapter.check.window, 12 * 512),
        (chapter.check.window, 13 * 512),
    ],
)
def test_right_answers_pass(check: Check, answer: object) -> None:
    passes(check, answer)


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (lambda capacities_mbps, routes: 15.0, "should return a dict of rates by flow, not float"),
        (lambda capacities_mbps, routes: {"a": 15.0}, "no rate for the flow 'b'"),
        ({"a": 15.0}, "expected a function"),
        (lambda capacities_mbps, routes: capacities_mbps["L9"], "KeyError"),
    ],
)
def test_water_filling_says_what_is_wrong_with_what_it_got(answer: object, sentence: str) -> None:
    assert sentence in said(chapter.check.water_filling, answer)


@pytest.mark.parametrize("returned", [None, ...])
def test_water_filling_that_returns_nothing_is_not_right(returned: object) -> None:
    assert chapter.check.water_filling.judge(lambda capacities_mbps, routes: returned).status is not Status.PASSED


@pytest.mark.parametrize(
    ("network", "sentence"),
    [
        (nl.topologies.portfolio(), "room before L1 is not right"),
        (nl.topologies.portfolio(queue_packets=(34, 99, 16)), "room before L2"),
        (nl.topologies.portfolio(queue_packets=(34, 50, 33)), "1 of 5 conditions"),
        (nl.topologies.portfolio(queue_packets=(33.97, 50, 16)), "whole packets"),
        (nl.topologies.portfolio((40, 30, 30), (34, 50, 16)), "Rates and delays must stay"),
        (nl.topologies.three_pcs(), "Rates and delays must stay"),
        ((34, 50, 16), "expected a Topology"),
    ],
)
def test_a_network_with_other_queues_is_told_why(network: object, sentence: str) -> None:
    assert sentence in said(chapter.check.rooms, network)
