"""The chapter's checks: right answers pass, wrong ones get their sentence, hints lead to the answer."""

from __future__ import annotations

import pytest

import netlab as nl
from netlab.chapters import congestion_collapse as chapter
from netlab.checks import Check
from tests.chapters.checking import passes, said

OPEN = (None, None)


def goodput_mbps(own_mbps: float, other_mbps: float, middle_mbps: float, exit_mbps: float, payload_bytes: int) -> float:
    share = payload_bytes / (payload_bytes + 42)
    return min(own_mbps * min(1, middle_mbps * share / (own_mbps + other_mbps)), exit_mbps * share)


def clockwork_mbps(gap_ms: float, service_ms: float, offered_mbps: float) -> float:
    return gap_ms / service_ms * offered_mbps


@pytest.mark.parametrize(
    ("check", "answer"),
    [
        (chapter.check.goodput, goodput_mbps),
        (chapter.check.half_rate, 2),
        (chapter.check.fairness, "b"),
        (chapter.check.clockwork, clockwork_mbps),
        (chapter.check.rescue, nl.topologies.two_routers(access_mbps=(None, 0.5))),
        (chapter.check.rescue, nl.topologies.two_routers(access_mbps=(None, 0.52), queue_packets=20)),
    ],
)
def test_right_answers_pass(check: Check, answer: object) -> None:
    passes(check, answer)


@pytest.mark.parametrize(
    ("network", "sentence"),
    [
        (nl.topologies.two_routers(OPEN), "Exactly one link"),
        (nl.topologies.two_routers(OPEN, middle_mbps=10), "none a higher one"),
        (nl.topologies.two_routers((1, 0.5)), "Exactly one link"),
        (nl.topologies.two_routers((None, 0.5), aqm="fq_codel"), "plain one"),
        (nl.topologies.two_routers((None, 2)), "h1 must get at least 0.95"),
        (nl.topologies.two_routers((None, 0.1)), "both together must get at least 1.4"),
        (nl.topologies.three_pcs(), "five links must stay"),
        (nl.topologies.two_routers((None, "0.5")), "This network cannot run"),
    ],
)
def test_a_network_that_does_not_help_is_told_why(network: nl.Topology, sentence: str) -> None:
    assert sentence in said(chapter.check.rescue, network)


def test_the_reasons_about_fairness_are_true() -> None:
    """What the wrong answers are told is what the formulas say."""
    routes = {"h1": ["middle", "exit 1"], "h2": ["middle", "exit 2"]}
    links = {"middle": 1.2, "exit 1": 1, "exit 2": 0.5}
    assert nl.theory.max_min_mbps(links, routes) == pytest.approx({"h1": 0.7, "h2": 0.5})
    assert nl.theory.proportional_fair_mbps(links, routes) == pytest.approx({"h1": 0.7, "h2": 0.5}, abs=1e-6)
    row = {"a": 5, "b": 5}
    crossing = {"long": ["a", "b"], "one": ["a"], "two": ["b"]}
    assert nl.theory.max_min_mbps(row, crossing) == pytest.approx({"long": 2.5, "one": 2.5, "two": 2.5})
    assert nl.theory.proportional_fair_mbps(row, crossing) == pytest.approx(
        {"long": 5 / 3, "one": 10 / 3, "two": 10 / 3}, abs=1e-4
    )
