"""The chapter's checks: right answers pass, wrong ones get their sentence, hints lead to the answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import netlab as nl
from netlab.measure.results import Run
from netlab_course.chapters import multiplexing
from netlab_course.chapters.opening import judging_checks
from netlab_course.checks import Check, Status
from tests.chapters.checking import failure_text, is_right_but_netlabs, passes

chapter = multiplexing.begin()
own = chapter.own


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
    users = {link: {flow for flow, route in routes.items() if link in route} for link in capacities_mbps}
    while rising:
        for flow in rising:
            shares[flow] += 0.004
        for link, capacity in capacities_mbps.items():
            if sum(shares[flow] for flow in users[link]) > capacity - 0.008:
                rising -= users[link]
    return shares


@pytest.mark.parametrize(
    ("check", "answer"),
    [
        (judging_checks(chapter)["water"], by_links),
        (judging_checks(chapter)["water"], drop_by_drop),
        (judging_checks(chapter)["room"], (own.most_ms - 60) * 30 / 12.112),
        (judging_checks(chapter)["room"], int((own.most_ms - 60) * 30 / 12.112)),
    ],
)
def test_right_answers_pass(check: Check, answer: object) -> None:
    passes(check, answer)


def test_the_librarys_rates_do_not_count() -> None:
    is_right_but_netlabs(judging_checks(chapter)["water"], nl.theory.max_min_mbps)


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (lambda capacities_mbps, routes: 15.0, "should return a dict of rates by flow, not float"),
        (lambda capacities_mbps, routes: {"a": 15.0}, "['B']}: its dict has no rate for the flow 'long'."),
        (lambda capacities_mbps, routes: capacities_mbps["L9"], "KeyError"),
    ],
)
def test_wrong_water_filling_is_reported_with_the_reason(answer: object, sentence: str) -> None:
    assert sentence in failure_text(judging_checks(chapter)["water"], answer)


@pytest.mark.parametrize("token", ["", "anna", "ben", "6", "19"])
def test_packets_of_data_alone_are_named(token: str) -> None:
    copy = multiplexing.begin(token)
    told = failure_text(judging_checks(copy)["room"], (copy.own.most_ms - 60) * 30_000 / 8 / 1448)
    assert "This takes 1448 bytes for a packet" in told


def test_labs_own_queue_is_distinguished_from_a_computation() -> None:
    assert "computed with L1's rate, or is the lab's own queue" in failure_text(judging_checks(chapter)["room"], 100)
    another = multiplexing.begin("dora")
    assert another.own.most_ms != 90
    assert "computed with L1's rate. Which" in failure_text(
        judging_checks(another)["room"], (another.own.most_ms - 60) * 40 / 12.112
    )


@pytest.mark.parametrize("returned", [None, ...])
def test_water_filling_that_returns_nothing_is_not_right(returned: object) -> None:
    assert judging_checks(chapter)["water"].judge(lambda capacities_mbps, routes: returned).status is not Status.PASSED


def test_function_that_returns_no_dict_gets_no_message_about_flows() -> None:
    answer = failure_text(judging_checks(chapter)["water"], lambda capacities_mbps, routes: 5)
    assert "'c': ['B']}: it should return a dict of rates by flow, not int." in answer


def crossed(
    jitter_ms: float,
    delay_ms: float = 2,
    *,
    congestion: str = "reno",
    draws: int = 3,
    hosts: Sequence[str] = ("h",),
    **queues: Any,
) -> Run:
    """A run of the six flows, `draws` times for 20 s, in which the links of hosts, of all or of some, have this jitter and delay."""
    network = nl.topologies.portfolio(**queues)
    links = [
        nl.Link(link.a, link.b, delay_ms=delay_ms, jitter_ms=jitter_ms)
        if any(each in link.a + link.b for each in hosts)
        else link
        for link in network.links
    ]
    starts_s = np.random.default_rng(1).uniform(0, 0.1, (draws, len(chapter.settings.CROSSING)))
    flows = [
        nl.Tcp(*pair.split("-"), start_s=22 * draw + start_s, duration_s=20, congestion=congestion)
        for draw, row in enumerate(starts_s)
        for pair, start_s in zip(chapter.settings.CROSSING, row, strict=True)
    ]
    created = nl.Topology(network.hosts, network.routers, network.switches, links)
    return nl.run(created, flows, duration_s=22 * draws, interval_s=1)


@pytest.mark.library
def test_flows_with_random_moments_have_no_bias() -> None:
    passes(judging_checks(chapter)["bias"], crossed(2))


@pytest.mark.library
@pytest.mark.parametrize(
    ("sentence", "settings_of_runs"),
    [
        ("each flow must cross two with a jitter_ms of 2 or more", {"jitter_ms": 0}),
        ("Seen: h1-h9 without so much jitter", {"jitter_ms": 0, "delay_ms": 4}),
        ("with a jitter_ms of 2 or more", {"jitter_ms": 1, "delay_ms": 1}),
        ("Seen: h1-h9 without so much jitter", {"jitter_ms": 2, "hosts": ("h4", "h5", "h7", "h9")}),
        ("Seen: h1-h9 without so much jitter", {"jitter_ms": 0.001, "delay_ms": 4}),
        ("must send with Reno", {"jitter_ms": 2, "congestion": "cubic"}),
        ("must send with Reno, 3 times or more", {"jitter_ms": 2, "draws": 1}),
        ("must be as they were. Seen: r1-r2", {"jitter_ms": 2, "queue_packets": (200, 100, 33)}),
        ("Seen: h1-s1 with delay_ms=40, jitter_ms=2", {"jitter_ms": 2, "delay_ms": 40}),
    ],
)
def test_other_runs_of_the_six_flows_are_refused(sentence: str, settings_of_runs: dict[str, Any]) -> None:
    """Among them the control run: a delay of 4 ms without jitter gives h1-h9 1.6 Mbit/s, at moments that are as fixed as before.
    A jitter of a microsecond is far below the time of a frame.
    """
    assert sentence in failure_text(judging_checks(chapter)["bias"], crossed(**settings_of_runs))
