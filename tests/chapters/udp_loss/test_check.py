"""The chapter's checks: right answers pass, wrong ones get their sentence, hints lead to the answer."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from netlab.measure.results import Run
from netlab.network.link import Link
from netlab.network.topology import Topology
from netlab.traffic import Ping, Udp
from netlab_course.chapters import udp_loss
from netlab_course.chapters.opening import judging_checks
from tests.chapters.checking import failure_text, passes

chapter = udp_loss.begin()
own = chapter.own


def limit(rate_mbps: float, payload_bytes: int, framing_bytes: int) -> float:
    return rate_mbps * payload_bytes / (payload_bytes + 28 + framing_bytes)


def burst(probe: Callable[[float, float], float]) -> float:
    return probe(60, 0.01) * 1042 / 1000


def climbing(probe: Callable[[float, float], float]) -> float:
    """Doubles the rate in short probes, then takes what comes out."""
    offered = 3.75
    while probe(offered, 0.01) > 0.99 * offered:
        offered *= 2
    return probe(offered, 0.01) * 1042 / 1000


def run(loss_rate: float = 0.4, traffic: list[Any] | None = None, duration_s: float = 5, **link: Any) -> Run:
    """A run as the exercise asks for it, but for what is given; nothing is measured."""
    shape = {"rate_mbps": own.rate_mbps, "queue_packets": own.queue_packets, **link}
    network = Topology(hosts=["h1", "h2"], links=[Link("h1", "h2", **shape)])
    flows = traffic or [Udp("h1", "h2", rate_mbps=2 * own.rate_mbps, payload_bytes=own.payload_bytes)]
    settings = {
        "scenario": {
            "topology": network.to_dict(),
            "traffic": [flow.to_dict() for flow in flows],
            "duration_s": duration_s,
        }
    }
    empty = pd.DataFrame()
    table = pd.DataFrame([{"loss_rate": loss_rate}])
    return Run(table, empty, empty, empty, empty, empty, empty, settings)


@pytest.mark.parametrize(
    ("key", "answer"),
    [
        ("limit", limit),
        ("counted", own.rate_mbps * own.payload_bytes / limit(own.rate_mbps, own.payload_bytes, 14) * 1.001),
        ("overload", run()),
        ("search", burst),
        ("search", climbing),
    ],
)
def test_right_answers_pass(key: str, answer: object) -> None:
    passes(judging_checks(chapter)[key], answer)


def test_each_copy_counts_the_bytes_of_its_own_payload() -> None:
    payloads = set()
    for token in ("anna", "ben", "chris", "dora"):
        opened = udp_loss.begin(token)
        payloads.add(opened.own.payload_bytes)
        passes(judging_checks(opened)["counted"], opened.own.payload_bytes + 42)
        assert "The framing is in" in failure_text(judging_checks(opened)["counted"], opened.own.payload_bytes + 14)
    assert len(payloads) > 1


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (run(traffic=[Ping("h1", "h2")]), "One UDP flow must go from h1 to h2"),
        (run(traffic=[Udp("h2", "h1", rate_mbps=16, payload_bytes=600)]), "One UDP flow must go from h1 to h2"),
        (run(traffic=[Udp("h1", "h2", rate_mbps=16)]), "Its datagrams must carry 600 bytes. Seen: payload_bytes=1000."),
        (run(rate_mbps=5), "it must be 8 Mbit/s. Seen: 5 Mbit/s."),
        (run(rate_mbps=None, queue_packets=None), "Seen: none has one."),
        (run(queue_packets=100), "Its queue must have room for 50 packets. Seen: queue_packets=100."),
        (run(framing="ethernet"), "its rate counts as `tc` does. Seen: framing=ethernet."),
        (run(duration_s=1), "The flow must send for 5 s or more. Seen: 1 s."),
        (run(loss_rate=0.0), "so that more than 2 % is lost. Seen: 0 % were lost."),
        (run(loss_rate=0.015), "so that more than 2 % is lost. Seen: 1.5 % were lost."),
        (8.0, "expected what nl.run(...) returns, got 8.0"),
    ],
)
def test_incomplete_measurement_is_reported_with_the_missing_part(answer: object, sentence: str) -> None:
    assert sentence in failure_text(judging_checks(chapter)["overload"], answer)


def test_long_fast_probe_is_reported_with_its_cost() -> None:
    assert "datagrams, 50 are allowed" in failure_text(
        judging_checks(chapter)["search"], lambda probe: probe(60, 1) * 1042 / 1000
    )


def test_a_search_in_small_steps_is_stopped() -> None:
    def creeping(probe: Callable[[float, float], float]) -> float:
        offered = 2.0
        while probe(offered, 0.1) > 0.99 * offered:
            offered += 0.5
        return offered

    assert "all 8 probes are used up" in failure_text(judging_checks(chapter)["search"], creeping)


def test_halving_the_range_with_probes_of_a_second_loses_too_much() -> None:
    def bisecting(probe: Callable[[float, float], float]) -> float:
        low, high = 2.0, 60.0
        for _ in range(8):
            middle = (low + high) / 2
            low, high = (middle, high) if probe(middle, 1) > 0.9999 * middle else (low, middle)
        return (low + high) / 2 * 1042 / 1000

    assert "datagrams, 50 are allowed" in failure_text(judging_checks(chapter)["search"], bisecting)


def test_a_search_that_failed_does_not_spoil_the_next() -> None:
    def wasteful(probe: Callable[[float, float], float]) -> float:
        while True:
            probe(2, 0.01)

    failure_text(judging_checks(chapter)["search"], wasteful)
    passes(judging_checks(chapter)["search"], burst)


@pytest.mark.parametrize("peek", [lambda probe: probe.rate_mbps, lambda probe: float(repr(probe).split()[3])])
def test_the_rate_cannot_be_read_from_the_probe(peek: Callable[[Any], float]) -> None:
    failure_text(judging_checks(chapter)["search"], peek)


def test_hidden_path_has_the_delay_of_its_copy() -> None:
    for token in ("", "anna", "ben"):
        own_numbers: SimpleNamespace = udp_loss.begin(token).own
        path = chapter.settings.hidden_path(own_numbers)
        assert path.problems() == []
        assert path.bottleneck_mbps("h1", "h2") == own_numbers.hidden_mbps
