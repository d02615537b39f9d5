"""The chapter's checks: right answers pass, wrong ones get their sentence, hints lead to the answer."""

from __future__ import annotations

import pytest

from netlab.chapters import parallel_streams as chapter
from netlab.checks import Check
from netlab.traffic import Tcp
from tests.chapters.checking import passes, said


def windows(streams: int, window_bytes: float, rtt_ms: float, limit_mbps: float) -> float:
    return min(streams * window_bytes * 8 / (rtt_ms * 1000), limit_mbps)


def price(connections: float, mss_bytes: float, rtt_ms: float, limit_mbps: float) -> float:
    return 1.5 * (connections * mss_bytes * 8 / (rtt_ms / 1000 * limit_mbps * 1e6)) ** 2


@pytest.mark.parametrize(
    ("check", "answer"),
    [
        (chapter.check.windows, windows),
        (chapter.check.single, Tcp("h1", "h2", window_bytes=24_000_000)),
        (chapter.check.single, Tcp("h1", "h2", window_bytes=9564 * 20_000 // 8)),
        (chapter.check.single, Tcp("h1", "h2", window_bytes=25_000_000, congestion="reno")),
        (chapter.check.rtt, 20 * 7.094 / 7590),
        (chapter.check.free, 4),
        (chapter.check.price, price),
    ],
)
def test_right_answers_pass(check: Check, answer: object) -> None:
    passes(check, answer)


@pytest.mark.parametrize(
    ("flow", "sentence"),
    [
        (Tcp("h1", "h2", streams=3, window_bytes=8_000_000), "It must be a single connection."),
        (Tcp("h1", "h2", window_bytes=8 * 2**20), "By theory its window must allow what the link allows."),
        (Tcp("h1", "h2", window_bytes=60_000_000), "no more than a tenth larger"),
        (Tcp("h1", "h2"), "no more than a tenth larger"),
        (Tcp("h2", "h1", window_bytes=24_000_000), "It must be a TCP flow from h1 to h2"),
        (Tcp("h1", "h2", window_bytes=23.95e6 + 0.5), "a whole number of bytes"),
    ],
)
def test_a_connection_that_does_not_fill_the_link_hears_why(flow: Tcp, sentence: str) -> None:
    assert sentence in said(chapter.check.single, flow)
