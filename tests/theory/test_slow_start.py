from __future__ import annotations

import pytest

import netlab as nl
from netlab import theory
from tests.figures import agrees


def test_the_path_is_full_after_the_rounds_that_it_takes() -> None:
    """3 s at 100 Mbit/s on a wire are 24 381 segments: 10 * 2**12 is the first window above."""
    assert theory.slow_start_fill_s(100, 3000, framing="ethernet") == 36
    assert theory.slow_start_fill_s(100, 300, framing="ethernet") == pytest.approx(2.4)


def test_a_path_shorter_than_the_first_window_is_full_at_once() -> None:
    assert theory.slow_start_fill_s(1, 10) == 0
    assert theory.slow_start_goodput_mbps(1, 10, 5) == pytest.approx(theory.tcp_goodput_limit_mbps(1))


def test_in_a_long_time_slow_start_is_forgotten() -> None:
    assert theory.slow_start_goodput_mbps(100, 300, 1e6) == pytest.approx(theory.tcp_goodput_limit_mbps(100), rel=1e-4)


def test_a_burst_of_a_round_takes_its_time_on_the_link() -> None:
    """Within the first round no more arrives than the link carries, and no more than ten segments."""
    limit = theory.tcp_goodput_limit_mbps(10)
    assert theory.slow_start_goodput_mbps(10, 1000, 0.001) == pytest.approx(limit)
    assert theory.slow_start_goodput_mbps(10, 1000, 0.5) == pytest.approx(10 * 1448 * 8 / 0.5 / 1e6)


@pytest.mark.parametrize(
    "call", [lambda: theory.slow_start_fill_s(0, 1), lambda: theory.slow_start_goodput_mbps(1, 1, 0)]
)
def test_what_is_out_of_range_is_refused(call: object) -> None:
    with pytest.raises(theory.TheoryError):
        call()


@pytest.mark.pocket
@pytest.mark.parametrize("delay_ms", [100, 300, 1000])
def test_the_kernel_fills_a_long_path_as_the_formula_says(delay_ms: float) -> None:
    """One way only, so the delay is the RTT: the SYN takes one, its answer none, and the first data arrive after another."""
    link = nl.Link("h1", "h2", rate_mbps=100, delay_ms=delay_ms, queue_packets=1000, reverse={"delay_ms": 0})
    run = nl.run(nl.Topology(["h1", "h2"], links=[link]), [nl.Tcp("h1", "h2")], duration_s=8)
    active_s = 8 - 2 * delay_ms / 1000
    expected = theory.slow_start_goodput_mbps(100, delay_ms, active_s - 1e-3)
    agrees("goodput (Mbit/s)", run.flows.goodput_mbps[0], expected, relative=0.01)
