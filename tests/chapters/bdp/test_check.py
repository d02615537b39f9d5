"""The chapter's checks: right answers pass, wrong ones get their sentence, hints lead to the answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd
import pytest

from netlab import theory
from netlab.measure.results import Run
from netlab.network.link import Link
from netlab.network.topology import Topology
from netlab.traffic import Ping, Tcp
from netlab_course import cell_history
from netlab_course.chapters import bdp
from netlab_course.chapters.opening import judging_checks
from tests.chapters.checking import failure_text, is_right_but_netlabs, passes

chapter = bdp.begin()
own = chapter.own

Transfer = Callable[[float], tuple[float, float]]


def path_rtt_ms(rates_mbps: Sequence[float], delays_ms: Sequence[float], payload_bytes: int) -> float:
    bits = (payload_bytes + 42) * 8
    return 2 * sum(delay + bits / rate / 1000 for rate, delay in zip(rates_mbps, delays_ms, strict=True))


def from_both_ends(transfer: Transfer) -> float:
    limit_mbps, _ = transfer(1_000_000)
    _, rtt_ms = transfer(10_000)
    return limit_mbps * 1e6 / 8 * rtt_ms / 1000


def from_one_large_window(transfer: Transfer) -> float:
    """Takes the empty path's time from a window so small that its goodput tells it."""
    limit_mbps, _ = transfer(900_000)
    small_mbps, _ = transfer(15_000)
    return 15_000 * limit_mbps / small_mbps


def halving(transfer: Transfer) -> float:
    low, high = 10_000.0, 1_000_000.0
    limit_mbps, _ = transfer(high)
    while high - low > 1000:
        middle = (low + high) / 2
        low, high = (low, middle) if transfer(middle)[0] >= limit_mbps else (middle, high)
    return high


def run(goodput: float | None = None, traffic: list[Any] | None = None, duration_s: float = 5, **link: Any) -> Run:
    """A run as the exercise asks for it, but for what is given; nothing is measured."""
    shape = {"rate_mbps": own.rate_mbps, "delay_ms": own.delay_ms, "queue_packets": 1000, **link}
    network = Topology(hosts=["h1", "h2"], routers=["r1"], links=[Link("h1", "r1"), Link("r1", "h2", **shape)])
    flows = traffic or [Tcp("h1", "h2", window_bytes=1000 * own.window_kb)]
    settings = {
        "scenario": {
            "topology": network.to_dict(),
            "traffic": [flow.to_dict() for flow in flows],
            "duration_s": duration_s,
        }
    }
    empty = pd.DataFrame()
    table = pd.DataFrame([{"goodput_mbps": 0.95 * own.rate_mbps if goodput is None else goodput}])
    return Run(table, empty, empty, empty, empty, empty, empty, settings)


@pytest.mark.parametrize(
    ("key", "answer"),
    [
        ("rtt", path_rtt_ms),
        ("overfull", run()),
        ("waiting", 38.9),
        ("window", from_both_ends),
        ("window", from_one_large_window),
    ],
)
def test_right_answers_pass(key: str, answer: object) -> None:
    passes(judging_checks(chapter)[key], answer)


def test_each_copy_waits_for_the_excess_of_its_window() -> None:
    windows = set()
    for token in ("anna", "ben", "chris", "dora"):
        opened = bdp.begin(token)
        figures = opened.own
        windows.add(figures.window_kb)
        on_the_link_ms = 1000 * figures.window_kb / 1448 * 1514 * 8 / figures.rate_mbps / 1000
        passes(judging_checks(opened)["waiting"], on_the_link_ms - 2 * figures.delay_ms)
        assert figures.window_kb * 1.05 < 1500, "the queue of 1000 packets takes it"
    assert len(windows) > 1


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (
            run(traffic=[Ping("h1", "h2")]),
            "One TCP flow of one connection must go from h1 to h2, and nothing else may be sent. Seen: ping h1 to h2 with 56 bytes.",
        ),
        (
            run(traffic=[Tcp("h1", "h2", window_bytes=1000 * own.window_kb, streams=4)]),
            "and nothing else may be sent. Seen: tcp h1 to h2 with cubic in 4 streams",
        ),
        (run(traffic=[Tcp("h1", "h2", window_bytes=380)]), "Seen: window_bytes=380."),
        (run(rate_mbps=100), "it must be 50 Mbit/s. Seen: 100 Mbit/s."),
        (run(delay_ms=24), "The delay from h1 to h2 must be 12 ms. Seen: 24 ms."),
        (run(queue_packets=100), "must have room for 1000 packets. Seen: queue_packets=[100]."),
        (run(loss_rate=0.01), "its rate counts as `tc` does. Seen: loss_rate=0.01."),
        (run(duration_s=1), "The flow must send for 5 s or more. Seen: 1 s."),
        (
            run(traffic=[Tcp("h1", "h2", window_bytes=1000 * own.window_kb, duration_s=1)]),
            "for 5 s or more. Seen: 1 s.",
        ),
        (run(traffic=[Tcp("h1", "h2", window_bytes=1000 * own.window_kb, start_s=1)]), "for 5 s or more. Seen: 4 s."),
        (run(goodput=0.0), "The link must be full. Seen: 0 Mbit/s on a link of 50."),
        (50.0, "expected what nl.run(...) returns, got 50.0"),
    ],
)
def test_incomplete_measurement_is_reported_with_the_missing_part(answer: object, sentence: str) -> None:
    assert sentence in failure_text(judging_checks(chapter)["overfull"], answer)


def test_trying_one_window_after_the_other_uses_up_the_budget() -> None:
    assert "all 3 transfers are used up" in failure_text(judging_checks(chapter)["window"], halving)


def test_a_search_that_failed_does_not_spoil_the_next() -> None:
    failure_text(judging_checks(chapter)["window"], halving)
    passes(judging_checks(chapter)["window"], from_both_ends)


def test_window_out_of_range_is_reported_with_the_range() -> None:
    assert "10000 to 1000000 bytes, got 2000000" in failure_text(
        judging_checks(chapter)["window"], lambda transfer: transfer(2_000_000)[0]
    )


def test_the_hidden_path_has_room_for_every_window_allowed() -> None:
    for token in ("", "anna", "ben"):
        path = chapter.settings.hidden_path(bdp.begin(token).own)
        assert path.problems() == []
        slow = path.path_hops("h1", "h2")[-1].shape
        frames = chapter.settings.MAX_WINDOW_BYTES / theory.MSS_BYTES
        assert slow.queue_packets > frames


def test_a_product_by_netlabs_own_function_is_not_the_students() -> None:
    def borrowed(transfer: Transfer) -> float:
        return float(theory.bdp_bytes(transfer(1_000_000)[0], transfer(10_000)[1]) * 1.001)

    is_right_but_netlabs(judging_checks(chapter)["window"], borrowed)


def test_a_wait_without_headers_and_one_of_the_whole_run_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    waiting = judging_checks(chapter)["waiting"]
    without_headers_ms = own.window_kb * 8 / own.rate_mbps - 2 * own.delay_ms
    assert "Are headers forgotten?" in failure_text(waiting, without_headers_ms)
    mean_ms = without_headers_ms - 0.3
    assert "Are headers forgotten?" in failure_text(waiting, mean_ms)
    measured = run()
    measured.intervals["rtt_ms"] = [24.0, 24.0 + 2 * mean_ms]
    monkeypatch.setattr(cell_history, "notebook_value", {"my_run": measured}.get)
    assert "This is from the mean of the whole run." in failure_text(waiting, mean_ms)
    assert "Are headers forgotten?" in failure_text(waiting, without_headers_ms)
    assert bdp.begin("anna").own == bdp.begin("anna").own, "a run in the notebook does not change the numbers"
