"""Windows, Mathis and the full model of Padhye and others: published and hand-worked values, limits."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from netlab import theory


def test_window_and_bdp_are_the_published_ones():
    """`siit` task 5: a BDP of 200 kB, and windows of 126 to 192 kB that allow 63 to 96 Mbit/s."""
    assert theory.bdp_bytes(100, 16) == 200_000
    windows = np.array([126e3, 150e3, 187.5e3, 192e3])
    assert theory.window_limit_mbps(windows, 16) == pytest.approx([63, 75, 93.75, 96])
    assert theory.windowed_goodput_mbps(1e9, 100, 16) == theory.tcp_goodput_limit_mbps(100)


@pytest.mark.parametrize(("rtt_ms", "loss_rate", "expected"), [(60, 0.22, 1.004), (54, 0.52, 0.726)])
def test_mathis_is_the_published_one(rtt_ms, loss_rate, expected):
    """`epfl` Q20, with its own c = 1.22 and segments of 2896 bytes."""
    assert theory.mathis_mbps(2896, rtt_ms, loss_rate, c=1.22) == pytest.approx(expected, rel=1e-3)


def test_both_constants_of_mathis_are_the_published_ones():
    """Mathis and others, table 1: 1.22 for periodic and 1.31 for random loss, each segment acknowledged."""
    assert round(theory.MATHIS_C, 2) == 1.22
    assert round(theory.MATHIS_RANDOM_C, 2) == 1.31


def test_the_constant_for_random_loss_comes_out_of_a_simulated_sawtooth():
    """A window that rises by 1/W a segment and is halved with chance p: segments per round trip, times sqrt(p)."""
    p, rng = 1e-4, np.random.default_rng(1)
    level, segments, rounds = 1 / p, 0.0, 0.0
    for gap in rng.exponential(1 / p, 40_000):
        # With V = W**2 / 2, a round takes 1 / W of a segment, so the time to climb is the difference of the windows.
        rounds += math.sqrt(2 * (level + gap)) - math.sqrt(2 * level)
        segments += gap
        level = (level + gap) / 4
    assert segments / rounds * math.sqrt(p) == pytest.approx(theory.MATHIS_RANDOM_C, rel=0.01)


def test_the_cost_of_a_loss_is_what_the_sawtooth_leaves_out():
    """W**2/8 of the W**2/2 segments that W/2 round trips could carry: three quarters are left, and 1/p = 3 W**2/8."""
    window = 80.0
    cost = theory.aimd_cost_segments(window)
    assert cost == window**2 / 8
    sent = window**2 / 2 - cost
    assert sent / (window / 2) == 0.75 * window
    per_round = theory.mathis_mbps(1448, 1000, 1 / sent) * 1e6 / 8 / 1448
    assert per_round == pytest.approx(0.75 * window, rel=1e-9)
    assert theory.aimd_cost_segments(window, decrease=1) == 0


def test_pftk_by_hand():
    """p = 0.01; b = 1: W = 17.279, Q = 0.2105, 116.491 segments in 0.24004 s; b = 2: W = 12.175, Q = 0.2799."""
    assert theory.pftk_mbps(1448, 20, 0.01) == pytest.approx(116.491 / 0.24004 * 1448 * 8e-6, rel=1e-4)
    assert theory.pftk_mbps(1448, 20, 0.01, acked_segments=2) == pytest.approx(
        111.458 / 0.32634 * 1448 * 8e-6, rel=1e-4
    )


def test_pftk_with_a_window_by_hand():
    """The window-limited branch of the equation, written out once more for b = 2 and a window of 6 segments."""
    p, window = 0.01, 6
    q = (1 - 0.99**3) * (1 + 0.99**3 * (1 - 0.99 ** (window - 3))) / (1 - 0.99**window)
    backoff = 1 + p + 2 * p**2 + 4 * p**3 + 8 * p**4 + 16 * p**5 + 32 * p**6
    expected = (99 + window + q / 0.99) / (0.02 * (window / 4 + 99 / window + 2) + q * 0.22 * backoff / 0.99)
    got = theory.pftk_mbps(1448, 20, p, window_segments=window, acked_segments=2)
    assert got == pytest.approx(expected * 1448 * 8e-6, rel=1e-12)


def test_pftk_tends_to_mathis_for_light_loss():
    """For p towards 0 the full model is sqrt(3 / (2 b p)) segments per round-trip time."""
    mathis = theory.mathis_mbps(1448, 100, 1e-9, c=math.sqrt(3 / 4))
    assert theory.pftk_mbps(1448, 100, 1e-9, acked_segments=2) == pytest.approx(mathis, rel=2e-3)


def test_pftk_tends_to_the_window_limit_for_vanishing_loss():
    got = theory.pftk_mbps(1448, 100, 1e-12, window_segments=20)
    assert got == pytest.approx(theory.window_limit_mbps(20 * 1448, 100), rel=1e-6)


def test_pftk_is_close_to_its_own_approximation():
    """RFC 5348, section 3.1, is the paper's shorter equation, near the full one for light loss."""
    p, rtt, rto, b = 0.02, 0.1, 0.4, 2
    short = 1 / (rtt * math.sqrt(2 * b * p / 3) + rto * min(1, 3 * math.sqrt(3 * b * p / 8)) * p * (1 + 32 * p**2))
    assert theory.pftk_mbps(1460, rtt * 1e3, p, rto_ms=rto * 1e3, acked_segments=b) == pytest.approx(
        short * 1460 * 8e-6, rel=0.15
    )


def test_parallel_streams_add_up_to_the_link():
    one = theory.mathis_mbps(1448, 20, 0.01)
    assert theory.parallel_streams_mbps(8, 1448, 20, 0.01) == pytest.approx(8 * one)
    assert theory.parallel_streams_mbps(8, 1448, 20, 0.01, rate_mbps=20) == 20


@given(st.floats(1e-6, 0.5), st.floats(1e-6, 0.5))
def test_more_loss_never_speeds_tcp_up(one, other):
    low, high = sorted((one, other))
    for formula in (theory.mathis_mbps, theory.pftk_mbps):
        slow, fast = formula(1448, 50, high), formula(1448, 50, low)
        assert slow <= fast * (1 + 1e-9)


@pytest.mark.parametrize(
    ("rtt_ms", "loss_rate", "segments"),
    [(100, 1e-4, 187.4), (100, 1e-5, 1054), (100, 1e-6, 5926), (10, 1e-7, 5926), (10, 1e-8, 33325), (100, 1e-3, 38)],
)
def test_cubic_has_the_windows_of_its_rfc(rtt_ms, loss_rate, segments):
    """RFC 9438, tables 1 and 2; its Reno-friendly rows count 1.20, not sqrt(3/2), over the root of the loss rate."""
    window = theory.cubic_mbps(1448, rtt_ms, loss_rate) * rtt_ms * 1e3 / (1448 * 8)
    assert window == pytest.approx(segments, rel=0.001 if segments != 38 else 0.025)


def test_cubic_is_reno_on_short_paths_and_minds_distance_little_on_long_ones():
    near, far = (
        theory.cubic_mbps(1448, np.array([10.0, 20.0]), 1e-3),
        theory.cubic_mbps(1448, np.array([500.0, 1000.0]), 1e-3),
    )
    assert near == pytest.approx(theory.mathis_mbps(1448, 10.0, 1e-3) / np.array([1, 2]))
    assert far[0] / far[1] == pytest.approx(2**0.25)


def test_backing_off_by_hand():
    """p = 1/2 and timers of 100, 200, 400, 400, ... ms: 50 + 50 + 50, then 400/16 + 400/32 + ... = 50; 100 ms to deliver."""
    got = theory.backoff_mbps(1250, 100, 0.5, rto_ms=100, max_rto_ms=400)
    assert got == pytest.approx(1250 * 8e-6 / 0.300, rel=1e-12)


@pytest.mark.parametrize("loss_rate", [0.1, 0.3, 0.45])
def test_backing_off_without_an_end_is_a_geometric_series(loss_rate):
    """The mean wait is rto p / (1 - 2p), and a very long longest timer comes near it."""
    expected = 1448 * 8e-6 / (0.060 + 0.260 * loss_rate / (1 - 2 * loss_rate))
    assert theory.backoff_mbps(1448, 60, loss_rate, max_rto_ms=math.inf) == pytest.approx(expected, rel=1e-12)
    assert theory.backoff_mbps(1448, 60, loss_rate, max_rto_ms=1e30) == pytest.approx(expected, rel=1e-3)


def test_backing_off_without_an_end_stops_at_a_loss_rate_of_a_half():
    rates = theory.backoff_mbps(1448, 60, np.array([0.49, 0.5, 0.6]), max_rto_ms=math.inf)
    assert rates[0] > 0 and (rates[1:] == 0).all()


def test_without_loss_one_segment_goes_in_each_round_trip():
    assert theory.backoff_mbps(1448, 60, 1e-12) == pytest.approx(theory.window_limit_mbps(1448, 60), rel=1e-9)


@given(st.floats(0.01, 0.98), st.floats(1, 500))
def test_backing_off_more_loss_is_less_goodput(loss_rate, rtt_ms):
    assert theory.backoff_mbps(1448, rtt_ms, loss_rate + 0.01) < theory.backoff_mbps(1448, rtt_ms, loss_rate)
