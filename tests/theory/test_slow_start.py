from __future__ import annotations

import math

import pytest

import netlab as nl
from netlab import theory
from tests.agreement import agrees


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
def test_value_out_of_range_is_refused(call: object) -> None:
    with pytest.raises(theory.TheoryError):
        call()


@pytest.mark.pocket
@pytest.mark.parametrize("delay_ms", [100, 300, 1000])
def test_kernel_fills_a_long_path_as_the_formula_predicts(delay_ms: float) -> None:
    """The delay is one way, so it is the RTT: the SYN takes one, its answer none, and the first data arrive after another."""
    link = nl.Link("h1", "h2", rate_mbps=100, delay_ms=delay_ms, queue_packets=1000, reverse={"delay_ms": 0})
    run = nl.run(nl.Topology(["h1", "h2"], links=[link]), [nl.Tcp("h1", "h2")], duration_s=8)
    active_s = 8 - 2 * delay_ms / 1000
    expected = theory.slow_start_goodput_mbps(100, delay_ms, active_s - 1e-3)
    agrees("goodput (Mbit/s)", run.flows.goodput_mbps[0], expected, relative=0.01)


@pytest.mark.parametrize(
    ("segments", "initial_window", "rounds"),
    [(1, 10, 1), (10, 10, 1), (11, 10, 2), (30, 10, 2), (31, 10, 3), (70, 10, 3), (71, 10, 4), (10, 3, 3), (45, 45, 1)],
)
def test_rounds_double_from_the_initial_window(segments: int, initial_window: int, rounds: int) -> None:
    """10, 20 and 40 segments are 70 in three rounds; 3, 6 and 12 are 21."""
    assert theory.slow_start_rounds(segments * theory.MSS_BYTES, initial_window) == rounds
    logarithm = math.ceil(math.log2(segments / initial_window + 1) - 1e-12)
    assert rounds == logarithm


def test_on_a_fast_link_a_short_flow_takes_whole_rounds_and_a_half() -> None:
    for size_bytes, rounds in ((1000, 1), (14_480, 1), (14_481, 2), (100_000, 3)):
        assert theory.short_flow_ms(size_bytes, 100_000, 80) == pytest.approx(80 * (rounds + 0.5), rel=1e-3)


def test_on_a_slow_link_a_short_flow_takes_the_links_time() -> None:
    """The first window is more than the path holds: one handshake, half a round trip, and the data at the link's rate."""
    data_ms = 100_000 * 8 / theory.tcp_goodput_limit_mbps(1) / 1000
    assert theory.short_flow_ms(100_000, 1, 20) == pytest.approx(1.5 * 20 + data_ms, rel=1e-9)


@pytest.mark.parametrize("wrong", [{"size_bytes": 0}, {"rate_mbps": 0}, {"rtt_ms": -1}, {"initial_window_segments": 0}])
def test_a_short_flow_of_nothing_is_refused(wrong: dict[str, float]) -> None:
    given = {"size_bytes": 1000, "rate_mbps": 10, "rtt_ms": 100, **wrong}
    with pytest.raises(theory.TheoryError, match=f"{next(iter(wrong))} must be (above 0|0 or more|1 or more)"):
        theory.short_flow_ms(**given)  # type: ignore[arg-type]
