"""Videos over the library kernel against theory, with stated tolerances."""

from __future__ import annotations

import pytest

import netlab as nl
from netlab_course.chapters.adaptive_video import experiments, settings
from tests.agreement import agrees
from tests.chapters.checking import names_of_cells

pytestmark = pytest.mark.library


class Quality:
    """A rule that always takes the same quality."""

    def __init__(self, quality: int) -> None:
        self.quality = quality

    def on_chunk(self, _buffer_s: float, _throughput_mbps: float, _sizes: list[int]) -> int:
        return self.quality


def test_chunk_takes_the_time_of_slow_start() -> None:
    """1.2 Mbit/s for 4 s are 600 kB; over an empty path of 10 Mbit/s within 3 %."""
    took_ms = nl.theory.short_flow_ms(600_000, 10, settings.RTT_MS)
    for chunk in settings.watch(Quality(1), 10, chunks=8).history:
        agrees("time of a chunk (ms)", 1000 * (chunk.arrived_s - chunk.asked_s), took_ms, relative=0.03)


@pytest.mark.parametrize("rate_mbps", [0.7, 1.4, 3])
def test_a_stall_after_a_fall_is_that_of_the_formula(rate_mbps: float) -> None:
    """9.6 Mbit/s over 12 Mbit/s that fall after a minute. A chunk's handshake and slow start leave 1.3 Mbit more to come than
    the formula takes (0.1 s at 12 Mbit/s): the stall is longer by the time of 0 to 1.6 Mbit.
    """
    steady = settings.watch(Quality(4), 12, chunks=20)
    last = [chunk for chunk in steady.history if chunk.asked_s < 60][-1]
    left_mbit = 38.4 - 12 * 1448 / 1514 * (60 - last.asked_s)
    theory_s = settings.stall_s(left_mbit, rate_mbps * 1448 / 1514, last.buffer_s - (60 - last.asked_s))
    fall = nl.Trace([(0, 12), (60, rate_mbps)], duration_s=1000)
    video = settings.watch(Quality(4), fall, chunks=len([c for c in steady.history if c.asked_s < 60]))
    assert 0 <= video.history[-1].stall_s - theory_s < 1.6 / (rate_mbps * 1448 / 1514)


def test_no_rule_has_more_than_the_link_for_long() -> None:
    """The highest quality over a link of 2 Mbit/s stalls, and data comes at the link's rate within 5 %."""
    video = settings.watch(Quality(4), 2, chunks=6)
    busy_s = sum(chunk.arrived_s - chunk.asked_s for chunk in video.history)
    agrees("rate (Mbit/s)", 6 * 38.4 / busy_s, nl.theory.tcp_goodput_limit_mbps(2), relative=0.05)
    assert video.stall_s > 60


def test_the_loop_on_the_page_and_the_package_play_the_same_video() -> None:
    page = names_of_cells("18_adaptive_video", "network", "loop", mobile=settings.mobile, **player_names())
    ours = settings.watch(settings.Throughput, settings.mobile(), 10)
    assert page["watch"](page["Throughput"], settings.mobile(), 10).history == ours.history


def player_names() -> dict[str, object]:
    """The names that the page imports from the player's module."""
    from netlab_course.chapters.adaptive_video.player import LADDER_MBPS, Player

    return {"LADDER_MBPS": LADDER_MBPS, "Player": Player}


def test_the_figure_shows_the_trace_the_qualities_and_the_buffer() -> None:
    trace = settings.mobile()
    video = settings.watch(settings.Throughput, trace, 8)
    figure = experiments.video_figure({"Throughput": video}, trace, "A title")
    rate, quality, buffer = figure.data
    assert list(rate.y[:2]) == [trace.at(0), trace.at(2)]
    assert list(quality.y) == video.qualities_mbps
    assert buffer.y[-1] == pytest.approx(video.buffer_s)
