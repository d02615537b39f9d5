"""The chapter's checks: right answers pass, wrong ones get their sentence, whatever the numbers of the copy are."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import netlab as nl
from netlab.measure.results import Run
from netlab.runs.replications import table_of
from netlab_course.chapters import parallel_streams as chapter
from netlab_course.chapters.opening import judging_checks
from netlab_course.chapters.parallel_streams import settings
from netlab_course.checks import Check
from tests.chapters.checking import failure_text, passes


@pytest.mark.parametrize("token", ["", "anna", "ben", "5cc414c577"])
def test_right_answers_pass(token: str) -> None:
    notebook = chapter.begin(token)
    own = notebook.own
    one_mbps = 1.3098 * 1448 * 8 / (own.big_rtt_ms * 1000 * math.sqrt(own.big_loss_rate))
    connections = own.big_mbps * 1448 / 1514 / one_mbps
    passes(judging_checks(notebook)["needed"], math.ceil(connections))
    # The text says 1.31.
    passes(judging_checks(notebook)["needed"], math.ceil(connections * 1.3098 / 1.31))
    assert "left over: round up" in failure_text(
        judging_checks(notebook)["needed"], math.floor(connections * 1.3098 / 1.31)
    )
    failure_text(judging_checks(notebook)["needed"], math.ceil(connections) + 1)
    for periodic in (1.22, math.sqrt(1.5)):
        told = failure_text(judging_checks(notebook)["needed"], math.ceil(connections * 1.3098 / periodic))
        assert "the constant 1.22 for periodic losses" in told
    slow_mbps = 1.3098 * 1448 * 8 / (20_000 * math.sqrt(own.free_loss_rate))
    assert own.most_free == int(50 * 1448 / 1514 / slow_mbps) - own.neighbours


NEEDED_BYTES = math.ceil(1000 * 1448 / 1514 * 25_000 / 8)


def measured_run(goodput_mbps: float = 950.0, **changes: Any) -> Any:
    """A run as the check sees one, its goodput made up."""
    words = {"window_bytes": NEEDED_BYTES, "streams": 1, "duration_s": 3, "delay_ms": 25, "rate_mbps": 1000, **changes}
    flow = nl.Tcp("h1", "h2", window_bytes=words["window_bytes"], streams=words["streams"])
    there = {"rate_mbps": words["rate_mbps"], "delay_ms": words["delay_ms"], "queue_bytes": 15_000_000}
    link = nl.Link("h1", "h2", **there, reverse={"delay_ms": 0, "loss_rate": 0})
    network = nl.Topology(hosts=["h1", "h2"], links=[link])
    traffic = [flow, *words.get("more", [])]
    scenario = nl.Scenario(network, traffic, duration_s=words["duration_s"], interval_s=1)
    rows = [("a", float(second), goodput_mbps) for second in (1, 2, 3)]
    nothing = pd.DataFrame()
    return Run(
        nothing, pd.DataFrame(rows, columns=["flow", "t_s", "goodput_mbps"]), *[nothing] * 5,
        settings={"scenario": scenario.to_dict()},
    )  # fmt: skip


CHECK: Check = judging_checks(chapter.begin())["my_run"]


@pytest.mark.parametrize("window_bytes", [NEEDED_BYTES, int(1.09 * NEEDED_BYTES)])
def test_a_connection_that_fills_the_link_passes(window_bytes: int) -> None:
    passes(CHECK, measured_run(window_bytes=window_bytes))


@pytest.mark.parametrize(
    ("run", "sentence"),
    [
        (measured_run(rate_mbps=900), "There must be one link, of 1000 Mbit/s"),
        (measured_run(delay_ms=50), "a round trip of 25 ms"),
        (measured_run(streams=2), "It must be a single connection. Seen: streams=2."),
        (
            measured_run(window_bytes=1_000_000),
            "its window must allow what the link allows. Seen: window_bytes=1000000, which allows ",
        ),
        (measured_run(window_bytes=None), "no more than a tenth larger"),
        (measured_run(window_bytes=2 * NEEDED_BYTES), "no more than a tenth larger"),
        (measured_run(duration_s=1), "the link must be full. Seen: 1 s, less than 3 s."),
        (measured_run(goodput_mbps=500.0), "the link must be full. Seen: 3 s; 500 of 956.4 Mbit/s."),
        (
            measured_run(more=[nl.Udp("h1", "h2", rate_mbps=1)]),
            f"Seen: tcp h1 to h2 with cubic window_bytes={NEEDED_BYTES}, udp h1 to h2 at 1 Mbit/s with 1000 bytes.",
        ),
        (NEEDED_BYTES, "expected what nl.run(...) returns"),
    ],
)
def test_different_run_fails_with_the_reason(run: object, sentence: str) -> None:
    assert sentence in failure_text(CHECK, run)


def beside(own: Any, streams: int, mean_mbps: float) -> pd.DataFrame:
    """A table of twelve runs with so many connections of h1, whose goodputs of h2 have this mean."""
    runs = {
        seed: SimpleNamespace(flows=pd.DataFrame({"flow": ["a", "b"], "src": ["h1", "h2"], "goodput_mbps": [30.0, mbps], "error": None}))
        for seed, mbps in enumerate(mean_mbps + 0.05 * np.array([-1, 1] * 6), start=1)
    }  # fmt: skip
    scenario = settings.shared_path(streams, own.neighbours, own.free_loss_rate)
    return table_of(scenario.to_dict(), runs)  # type: ignore[arg-type]


TOKENS = ["", "anna", "ben", "carla", "t1", "t2", "t3", "t4", "t5", "t6", "t7", "t8"]


@pytest.mark.parametrize("token", TOKENS)
def test_the_most_connections_pass_with_the_rules_number_and_two_tables(token: str) -> None:
    """The rule's number is computed here from the chapter's text: equal parts of 47.82 Mbit/s."""
    book = chapter.begin(token)
    own, check = book.own, judging_checks(book)["most"]
    rule = int(own.neighbours * 47.82 / own.kept_mbps - own.neighbours)
    for most in (rule, rule - 1):
        tables = [beside(own, most, own.kept_mbps + 0.4), beside(own, most + 1, own.kept_mbps - 0.3)]
        passes(check, [rule, most, *tables])
        for wrong, words in (
            (rule + 1, "round down"),
            (rule + own.neighbours, "h2 has some of them"),
            (own.most_free, "h2 loses nothing by the rule"),
        ):
            told = failure_text(check, [wrong, most, *tables])
            assert words in told and "1 of 5 conditions" in told


def test_copies_differ_in_the_number_and_in_whether_the_rule_gives_it() -> None:
    """The measured number of a copy is the smaller of two whose means of h2 lie on both sides of what it must keep."""
    found = set()
    for token in TOKENS:
        book = chapter.begin(token)
        own = book.own
        rule = judging_checks(book)["most"].rule()
        # The means of test_measured, 3 to 7 % below the rule's.
        means = {k: (1.026 - 0.0088 * k) * own.neighbours * 47.82 / (own.neighbours + k) for k in range(1, 16)}
        most = max(k for k, mean in means.items() if mean >= own.kept_mbps)
        found.add((most, most == rule))
    assert len({most for most, _ in found}) >= 3
    assert {same for _, same in found} == {True, False}
