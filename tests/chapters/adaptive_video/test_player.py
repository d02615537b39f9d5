"""The player's arithmetic: against cases worked by hand, and properties that hold for all rules and networks."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netlab.base.errors import NetlabError
from netlab_course.chapters.adaptive_video.player import CHUNK_S, LADDER_MBPS, LIMIT_S, Player, experience_mbps


class Fixed:
    """A rule that returns a list of answers one after the other, and notes what it was told."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.told: list[tuple[float, float, list[int]]] = []

    def on_chunk(self, buffer_s: float, throughput_mbps: float, sizes: list[int]) -> Any:
        self.told.append((buffer_s, throughput_mbps, sizes))
        return self.answers[len(self.told) - 1]


def played(*arrivals: tuple[float, float], qualities: list[int] | None = None) -> tuple[Player, Fixed]:
    """A player whose chunks were asked for and arrived at these times."""
    rule = Fixed(*(qualities or [0] * len(arrivals)))
    player = Player(rule, chunks=len(arrivals))
    for asked_s, arrived_s in arrivals:
        player.ask(asked_s)
        player.arrive(arrived_s)
    return player, rule


def test_a_stall_begins_when_the_buffer_is_empty() -> None:
    """1 s to start; then 4 s in the buffer, and chunks that take 3 s and 7 s: 5 s in the buffer, 2 s of stall."""
    player, rule = played((0, 1), (1, 4), (4, 11))
    assert [chunk.stall_s for chunk in player.history] == [0, 0, 2]
    assert [records[0] for records in rule.told] == [0, 4, 5]
    assert player.stall_s == 2 and player.buffer_s == CHUNK_S and player.is_done


def test_the_wait_for_the_first_chunk_is_no_stall() -> None:
    player, _ = played((0, 30))
    assert player.stall_s == 0 and player.buffer_s == CHUNK_S


def test_rule_gets_the_throughput_of_the_chunk_before() -> None:
    """2.4 Mbit/s for 4 s are 9.6 Mbit; in 2 s they are 4.8 Mbit/s."""
    player, rule = played((0, 2), (2, 3), qualities=[2, 0])
    assert [records[1] for records in rule.told] == [0, pytest.approx(4.8)]
    assert rule.told[0][2] == [300_000, 600_000, 1_200_000, 2_400_000, 4_800_000]
    assert player.qualities_mbps == [2.4, 0.6]


@pytest.mark.parametrize(("chunks", "wait_s"), [(3, 0), (4, 0), (5, 4.0)])
def test_a_full_buffer_waits_until_a_chunk_fits(chunks: int, wait_s: float) -> None:
    """Chunks that arrive at once: 12, 16 and 20 s in the buffer, and a chunk of 4 s fits up to 16."""
    player, _ = played(*[(0.0, 0.0)] * chunks)
    assert player.wait_s == pytest.approx(wait_s)


@given(st.lists(st.tuples(st.integers(0, 4), st.floats(0, 30)), min_size=1, max_size=40))
def test_played_and_remaining_video_add_up_to_arrived_video(chunks: list[tuple[int, float]]) -> None:
    """Seconds of video are conserved, the buffer stays within its limits, and time is playing or standing still."""
    player, now_s = Player(Fixed(*(quality for quality, _ in chunks)), len(chunks)), 0.0
    for _, takes_s in chunks:
        now_s += player.wait_s
        player.ask(now_s)
        assert 0 <= player.buffer_s <= LIMIT_S - CHUNK_S + 1e-9
        now_s += takes_s
        player.arrive(now_s)
    started_s = player.history[0].arrived_s
    played_s = CHUNK_S * len(chunks) - player.buffer_s
    assert now_s - started_s == pytest.approx(played_s + player.stall_s, abs=1e-6)
    assert all(chunk.stall_s >= 0 for chunk in player.history)


@given(st.lists(st.sampled_from(LADDER_MBPS), min_size=1, max_size=30), st.floats(0, 100))
def test_stalls_and_changes_never_help(qualities: list[float], stall_s: float) -> None:
    without = experience_mbps(qualities, 0)
    assert experience_mbps(qualities, stall_s) <= without <= sum(qualities) / len(qualities) + 1e-9
    assert experience_mbps(sorted(qualities), 0) >= without - 1e-9


def test_experience_by_hand() -> None:
    """(0.6 + 9.6 + 0.6) less changes of 9 and 9 less 9.6 for 1 s, over 3 chunks."""
    assert experience_mbps([0.6, 9.6, 0.6], 1) == pytest.approx((10.8 - 18 - 9.6) / 3)


@pytest.mark.parametrize("answer", [5, -1, 2.4, None, True, "2"])
def test_an_answer_that_is_no_quality_is_refused(answer: Any) -> None:
    with pytest.raises(NetlabError, match="must return a quality, a whole number from 0 to 4, got"):
        Player(Fixed(answer)).ask(0.0)


def test_time_advances_and_a_chunk_must_be_requested() -> None:
    player = Player(Fixed(0, 0))
    with pytest.raises(NetlabError, match="No chunk was asked for"):
        player.arrive(1.0)
    player.ask(2.0)
    with pytest.raises(NetlabError, match="cannot go back from 2 s to 1 s"):
        player.arrive(1.0)
