"""The chapter's checks: right answers pass, wrong ones get their sentence, hints lead to the answer."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from netlab.chapters import bdp as chapter
from netlab.checks import Check
from netlab.network.link import Link
from netlab.network.topology import Topology
from tests.chapters.checking import passes, said

HALF_RTT_MS = 192_000 * 8 / (0.5 * 100 * 1448 / 1514 * 1000)


def path_rtt_ms(rates_mbps: Sequence[float], delays_ms: Sequence[float], payload_bytes: int) -> float:
    bits = (payload_bytes + 42) * 8
    return 2 * sum(delay + bits / rate / 1000 for rate, delay in zip(rates_mbps, delays_ms, strict=True))


def goodput_mbps(window_bytes: int, rate_mbps: float, rtt_ms: float) -> float:
    return min(window_bytes * 8 / rtt_ms / 1000, rate_mbps * 1448 / 1538)


def path(delay_ms: float = HALF_RTT_MS / 2, rate_mbps: float | None = 100, **shape: object) -> Topology:
    slow = Link("r1", "h2", delay_ms=delay_ms, rate_mbps=rate_mbps, **shape)
    return Topology(hosts=["h1", "h2"], routers=["r1"], links=[Link("h1", "r1"), slow])


@pytest.mark.parametrize(
    ("check", "answer"),
    [
        (chapter.check.path_rtt, path_rtt_ms),
        (chapter.check.goodput, goodput_mbps),
        (chapter.check.half_path, path()),
        (chapter.check.half_path, path(16)),
        (chapter.check.half_path, path(16, reverse={"delay_ms": 16.1})),
        (chapter.check.half_path, path(HALF_RTT_MS, rate_mbps=50, queue_packets=100)),
        (chapter.check.lossless_window, 26_000 / 578 * 512),
        (chapter.check.lossless_window, 44 * 512),
        (chapter.check.lossless_window, 48 * 512),
        (chapter.check.stall, "b"),
    ],
)
def test_right_answers_pass(check: Check, answer: object) -> None:
    passes(check, answer)


def test_a_window_that_overflows_the_queue_by_one_segment_fails() -> None:
    assert "too large" in said(chapter.check.lossless_window, 49 * 512)


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (path(8), "It reaches too much: the way must be longer, or the link faster."),
        (path(40), "It reaches too little: the way must be shorter, or the link slower."),
        (path(rate_mbps=1000), "The slowest link from h1 to h2 must have 20 to 200 Mbit/s."),
        (path(rate_mbps=None), "The slowest link from h1 to h2 must have 20 to 200 Mbit/s."),
        (path(queue_packets=50), "A queue must have room for at least 100 packets."),
        (path(loss_rate=0.01), "The links must be plain"),
        (path(framing="ethernet"), "The links must be plain"),
        (Topology(hosts=["h1", "h2"], links=[Link("h1", "h2", rate_mbps=100, delay_ms=16)]), "passes r1"),
        (Topology(hosts=["a", "b"], links=[Link("a", "b")]), "There must be a way from h1 to h2 that passes r1."),
        (100, "expected a Topology, got 100."),
    ],
)
def test_a_path_of_another_length_hears_what_to_change(answer: object, sentence: str) -> None:
    assert sentence in said(chapter.check.half_path, answer)


def test_without_a_way_or_a_rate_only_that_is_said() -> None:
    for answer in (Topology(hosts=["h1", "h2"], links=[Link("h1", "h2")]), path(rate_mbps=None)):
        assert "1 of 6 conditions" in said(chapter.check.half_path, answer)
