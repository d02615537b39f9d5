from __future__ import annotations

import numpy as np
import pytest

from netlab import theory

TRIP_MS = 100 + 1042 * 8 / 2000
SERVICE_MS = 1042 * 8 / 2000


def test_stop_and_wait_is_one_piece_a_round_trip() -> None:
    """Kurose and Ross, section 3.4.2: L / R over RTT + L / R. 8000 bits, 1 Gbit/s, 30 ms: 0.00027 of the link, without headers."""
    expected = 0.00027 * 1000
    assert theory.selective_repeat_mbps(1, 1000, 30, payload_bytes=1000) == pytest.approx(expected, rel=0.02)
    assert theory.go_back_n_mbps(1, 1000, 30) == theory.selective_repeat_mbps(1, 1000, 30)


def test_without_losses_both_have_the_window_and_then_the_link() -> None:
    windows = np.array([1.0, 4.0, 16.0, 64.0])
    expected = np.minimum(windows * 8 / TRIP_MS, 8 / SERVICE_MS)
    assert theory.go_back_n_mbps(windows, 2, 100) == pytest.approx(expected)
    assert theory.selective_repeat_mbps(windows, 2, 100) == pytest.approx(expected)


def test_a_full_window_pays_a_loss_with_itself_and_selective_repeat_with_one_piece() -> None:
    """The textbook's efficiencies (Bertsekas and Gallager, chapter 2) of a window that fills the path: 1 / (1 + p W / (1 - p)), 1 - p."""
    window, loss_rate, limit = TRIP_MS / SERVICE_MS, 0.05, 8 / SERVICE_MS
    go_back_n = theory.go_back_n_mbps(window, 2, 100, loss_rate)
    assert go_back_n == pytest.approx(limit / (1 + loss_rate * window / (1 - loss_rate)))
    assert theory.selective_repeat_mbps(10 * window, 2, 100, loss_rate) == pytest.approx(limit * (1 - loss_rate))


def test_stop_and_wait_waits_for_its_timer_as_often_as_it_loses() -> None:
    expected = 8 / (TRIP_MS + 0.1 / 0.9 * 250)
    assert theory.go_back_n_mbps(1, 2, 100, 0.1, 250) == pytest.approx(expected)
    assert theory.selective_repeat_mbps(1, 2, 100, 0.1, 250) == pytest.approx(expected)


@pytest.mark.parametrize("formula", [theory.go_back_n_mbps, theory.selective_repeat_mbps])
@pytest.mark.parametrize(
    ("words", "given"),
    [
        ("window", {"window": 0}),
        ("rate_mbps", {"rate_mbps": 0}),
        ("loss_rate", {"loss_rate": 1}),
        ("timeout_ms", {"timeout_ms": 50}),
    ],
)
def test_value_out_of_range_is_refused(formula, words: str, given: dict[str, float]) -> None:
    with pytest.raises(theory.TheoryError, match=words):
        formula(**{"window": 4, "rate_mbps": 2, "rtt_ms": 100, **given})
