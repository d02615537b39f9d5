"""The chapter's statements on its measurements, with stated bounds."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

import netlab as nl
from netlab_course.chapters import short_flows
from netlab_course.chapters.short_flows import check, experiments, settings
from netlab_course.own_numbers import StudentValues
from tests.agreement import agrees
from tests.chapters.checking import extremes, names_of_cells

pytestmark = pytest.mark.library

chapter = short_flows.begin()
CHAPTER = "07_short_flows"


def page_in_windows(page_kb: int, rtt_ms: float, window: int) -> pd.DataFrame:
    """The chapter's table of a page with four initial windows, one of them `window`, and two queues."""
    check = SimpleNamespace(window=SimpleNamespace(take=lambda _answer, _reference: window))
    names = {
        "chapter": SimpleNamespace(check=check),
        "own": SimpleNamespace(page_kb=page_kb, page_rtt_ms=rtt_ms),
        "initial_window": window,
        "experiments": experiments,
    }
    table: pd.DataFrame = names_of_cells(CHAPTER, "path", "window-run", **names)["tried"]
    return table.set_index("initial window")


def test_completion_times_stand_on_the_stairs_of_slow_start() -> None:
    """Every size over 100 Mbit/s, with three initial windows: within 1.5 % of theory."""
    page: dict[str, Any] = names_of_cells(CHAPTER, "path", "transfers")
    cases = {window: page["transfers"](100, window) for window in (3, 10, 30)}
    found = experiments.completion_ms(nl.repeat(cases, seeds=1), page["sizes_bytes"])
    for window, times_ms in found.items():
        for size_bytes, taken_ms in times_ms.items():
            expected_ms = nl.theory.short_flow_ms(size_bytes, 100, 100, window)
            agrees(f"{size_bytes} bytes, window {window} (ms)", taken_ms, expected_ms, relative=0.015)


def test_a_lost_packet_costs_the_more_the_less_comes_behind_it() -> None:
    """The first of two bursts hides a loss; of the last burst it costs a round trip, of its end a probe, of the SYN a second."""
    more_ms = names_of_cells(CHAPTER, "path", "cut", "lost", experiments=experiments, own=chapter.own)["more_ms"]
    agrees("SYN (ms)", more_ms["the SYN"], 1000, absolute=30)
    assert more_ms["a segment of the first burst"] < 10
    agrees("last burst (ms)", more_ms["a segment of the last burst"], 100, absolute=10)
    assert 200 < more_ms["the last segment"] < 600


def test_a_window_for_the_deadline_is_enough_and_one_less_is_not() -> None:
    own = chapter.own
    window = -(-1000 * own.page_kb // (1448 * 3))
    table = page_in_windows(own.page_kb, own.page_rtt_ms, window)
    assert table.loc[window - 1, "long: ms"] > own.deadline_ms > table.loc[window, "long: ms"]


@pytest.mark.parametrize("loss_percent", extremes(settings.NUMBERS.values("loss_percent")))
def test_pages_are_late_as_often_as_a_handshake_fails(loss_percent: float) -> None:
    """Thirty seeds; the interval is narrower than the difference to a loss that is one per cent larger or smaller."""
    table = nl.repeat(settings.lossy_pages(StudentValues({"loss_percent": loss_percent})), seeds=30, progress=False)
    mean, half = nl.interval(check.late_percent(table))
    agrees("late pages (%)", mean, 100 * (1 - (1 - loss_percent / 100) ** 2), absolute=half)
    assert half < 1.9


@pytest.mark.parametrize("page_kb", settings.NUMBERS.values("page_kb"))
def test_the_largest_window_overflows_a_short_queue_for_every_copy(page_kb: int) -> None:
    """15 to 24 segments are lost and the page takes longer, than with ten too for all but the largest page."""
    table = page_in_windows(page_kb, 80, 12)
    assert 15 <= table.loc[45, "20 places: sent again"] <= 24
    assert table.loc[45, "20 places: ms"] > 1.2 * table.loc[45, "long: ms"]
    assert (table.loc[45, "20 places: ms"] > table.loc[10, "20 places: ms"]) == (page_kb != 110)
