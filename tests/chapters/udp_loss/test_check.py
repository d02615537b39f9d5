"""The chapter's checks: right answers pass, wrong ones get their sentence, hints lead to the answer."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from netlab.chapters import udp_loss as chapter
from netlab.checks import Check
from tests.chapters.checking import passes, said


def limit(rate_mbps: float, payload_bytes: int, framing_bytes: int) -> float:
    return rate_mbps * payload_bytes / (payload_bytes + 28 + framing_bytes)


def first_loss_s(offered_mbps: float, limit_mbps: float, queue_packets: int, payload_bytes: int) -> float:
    return queue_packets * payload_bytes * 8 / 1e6 / (offered_mbps - limit_mbps)


def share_mbps(own_mbps: float, other_mbps: float, rate_mbps: float, payload_bytes: int) -> float:
    most = limit(rate_mbps, payload_bytes, 14)
    return own_mbps * min(1.0, most / (own_mbps + other_mbps))


def doubling(probe: Callable[[float], float]) -> float:
    offered = 1.0
    while probe(offered) > 0.99 * offered:
        offered *= 2
    return probe(offered) * 1042 / 1000


def bisecting(probe: Callable[[float], float]) -> float:
    low, high = 0.1, 1000.0
    for _ in range(20):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if probe(middle) > 0.9999 * middle else (low, middle)
    return low * 1042 / 1000


@pytest.mark.parametrize(
    ("check", "answer"),
    [
        (chapter.check.goodput_limit, limit),
        (chapter.check.counted_bytes, 5 * 1000 / 4.7985),
        (chapter.check.first_loss, first_loss_s),
        (chapter.check.share, share_mbps),
        (chapter.check.search, doubling),
        (chapter.check.search, bisecting),
        (chapter.check.mystery, 23.05),
    ],
)
def test_right_answers_pass(check: Check, answer: object) -> None:
    passes(check, answer)


def test_bytes_for_bits_are_told_from_a_forgotten_outflow() -> None:
    def in_bytes(offered_mbps: float, limit_mbps: float, queue_packets: int, payload_bytes: int) -> float:
        return first_loss_s(offered_mbps, limit_mbps, queue_packets, payload_bytes) / 8

    assert "a byte has 8 bits" in said(chapter.check.first_loss, in_bytes)


def test_a_search_that_never_ends_is_stopped() -> None:
    def creeping(probe: Callable[[float], float]) -> float:
        offered = 0.1
        while probe(offered) > 0.99 * offered:
            offered += 0.1
        return offered

    assert "all 40 probes are used up" in said(chapter.check.search, creeping)


def test_the_mystery_is_where_its_check_says() -> None:
    path = chapter.check.mystery_path()
    rates = [link.forward.rate_mbps for link in path.links]
    assert not path.problems()
    assert min(rate for rate in rates if rate is not None) == chapter.check.mystery.expected
