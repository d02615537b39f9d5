"""The chapter's checks: right answers pass, wrong ones get their sentence, hints lead to the answer."""

from __future__ import annotations

import pytest

import netlab as nl
from netlab_course.chapters import multiplexing
from netlab_course.checks import Check, Status
from tests.chapters.checking import failure_text, passes

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
        (chapter.check.water, by_links),
        (chapter.check.water, drop_by_drop),
        (chapter.check.water, nl.theory.max_min_mbps),
        (chapter.check.room, (own.most_ms - 60) * 30 / 12.112),
        (chapter.check.room, int((own.most_ms - 60) * 30 / 12.112)),
    ],
)
def test_right_answers_pass(check: Check, answer: object) -> None:
    passes(check, answer)


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (lambda capacities_mbps, routes: 15.0, "should return a dict of rates by flow, not float"),
        (lambda capacities_mbps, routes: {"a": 15.0}, "['B']}: its dict has no rate for the flow 'long'."),
        (lambda capacities_mbps, routes: capacities_mbps["L9"], "KeyError"),
    ],
)
def test_wrong_water_filling_is_reported_with_the_reason(answer: object, sentence: str) -> None:
    assert sentence in failure_text(chapter.check.water, answer)


def test_labs_own_queue_is_distinguished_from_a_computation() -> None:
    assert "computed with L1's rate, or is the lab's own queue" in failure_text(chapter.check.room, 100)
    another = multiplexing.begin("dora")
    assert another.own.most_ms != 90
    assert "computed with L1's rate. Which" in failure_text(
        another.check.room, (another.own.most_ms - 60) * 40 / 12.112
    )


@pytest.mark.parametrize("returned", [None, ...])
def test_water_filling_that_returns_nothing_is_not_right(returned: object) -> None:
    assert chapter.check.water.judge(lambda capacities_mbps, routes: returned).status is not Status.PASSED


def test_function_that_returns_no_dict_gets_no_message_about_flows() -> None:
    answer = failure_text(chapter.check.water, lambda capacities_mbps, routes: 5)
    assert "'c': ['B']}: it should return a dict of rates by flow, not int." in answer
