"""A contest of rules for adaptive video: traces, points, and what a rule that fails costs."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netlab.network.trace import Trace
from netlab_classroom.contest import board, contest, videos
from netlab_classroom.contest.videos import Video, Videos
from netlab_course.chapters.adaptive_video.player import LADDER_MBPS, Player
from tests.programs import ROOT

LOWEST = """
from netlab_course.chapters.adaptive_video.player import LADDER_MBPS

class Lowest:
    def on_chunk(self, buffer_s, throughput_mbps, sizes):
        assert len(sizes) == len(LADDER_MBPS)
        return {answer}
"""
CLASS = {
    "anna": LOWEST.format(answer="0"),
    "ben": LOWEST.format(answer="max(q for q, rate in enumerate(LADDER_MBPS) if rate <= max(0.6, throughput_mbps))"),
    "cleo": LOWEST.format(answer="LADDER_MBPS[1]"),
    "dora": LOWEST.format(answer="1 / 0"),
    "emil": "class Window:\n    def on_start(self, flow):\n        pass\n",
}


def played_video(*qualities: int, stall_s: float = 0.0) -> Player:
    """A player whose chunks came at these qualities, the second one late by `stall_s`."""

    class Given:
        def on_chunk(self, *_seen: Any) -> int:
            return qualities[len(player.history)]

    player = Player(Given(), chunks=len(qualities))
    now_s = 0.0
    while not player.is_done:
        player.ask(now_s)
        now_s += 4.0 + stall_s if player.history else 1.0
        player.arrive(now_s)
    return player


def test_points_are_the_experience_over_what_the_path_carries() -> None:
    """Half of 4.8 Mbit/s of TCP's data is the ladder's 2.4, without changes and stalls."""
    rate_mbps = 4.8 * 1514 / 1448
    video = Video("x", "x", Trace([(0.0, rate_mbps)], duration_s=10.0))
    assert video.capacity_mbps == pytest.approx(4.8)
    assert videos.score(video, played_video(2, 2, 2, 2)) == {
        "points": 50.0, "experience": 2.4, "rate": 2.4, "stall_s": 0.0, "changes": 0.0
    }  # fmt: skip
    # Two chunks: (0.6 + 4.8 - 4.2) / 2 = 0.6, and a stall of 1 s costs 9.6 / 2.
    assert videos.score(video, played_video(0, 3))["experience"] == pytest.approx(0.6)
    late = videos.score(video, played_video(0, 3, stall_s=1.0))
    assert (late["stall_s"], late["points"], late["changes"]) == (1.0, 0.0, 1.0)


@given(st.text(min_size=1, max_size=8))
def test_a_seed_draws_the_same_traces_again_within_the_ladders_reach(seed: str) -> None:
    first, second = videos.draw(seed), videos.draw(seed)
    assert first == second and len({video.key for video in first}) == len(first)
    assert all(LADDER_MBPS[0] < video.capacity_mbps <= LADDER_MBPS[-1] for video in first)


def test_another_seed_draws_other_traces() -> None:
    for one, other in zip(videos.draw("1"), videos.draw("2"), strict=True):
        assert one.trace != other.trace


@pytest.mark.pocket
@pytest.mark.library
def test_rules_compete_and_one_that_fails_costs_its_own_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = videos.draw("1")
    monkeypatch.setattr(videos, "draw", lambda _seed: [video for video in drawn if video.key in ("train", "steady")])
    monkeypatch.setattr(videos, "CHUNKS", 20)
    folder = tmp_path / "in"
    folder.mkdir()
    for name, source in CLASS.items():
        (folder / f"{name}.py").write_text(source)
    # The last class of chapter 18's solution.
    shutil.copy(ROOT / "solutions" / "18_adaptive_video.ipynb", folder / "fay.ipynb")
    stored = contest.run_contest([folder], tmp_path / "out", game=Videos(), progress=False)
    rows = {row["student"]: row for row in stored.rows}
    # The lowest quality: 0.6 Mbit/s without a stall or a change, to the digit.
    for video in videos.draw("1"):
        expected = {"points": round(100 * 0.6 / video.capacity_mbps, 2), "experience": 0.6, "rate": 0.6}
        assert rows["anna"]["scores"][video.key] == {**expected, "stall_s": 0.0, "changes": 0.0}
    assert (rows["fay"]["status"], rows["fay"]["class"]) == ("raced", "Mine") and rows["fay"]["total"] > rows["anna"][
        "total"
    ]
    references = {row["student"]: row["scores"] for row in stored.reference_rows}
    assert rows["ben"]["scores"] == references["Throughput"], "the same rule plays the same video in the sandbox"
    assert {name: rows[name]["total"] for name in ("cleo", "dora", "emil")} == dict.fromkeys(
        ("cleo", "dora", "emil"), 0.0
    )
    assert "on_chunk must return a quality" in rows["cleo"]["sentence"] and rows["cleo"]["status"] == "failed"
    assert "division by zero" in rows["dora"]["sentence"] and rows["dora"]["status"] == "failed"
    assert "No class with on_chunk is in it." in rows["emil"]["sentence"] and rows["emil"]["status"] == "not taken"
    board.write(stored, tmp_path / "out")
    page = (tmp_path / "out" / board.PAGE).read_text()
    for words in ("Rate and stalls", "quality next to that of Throughput", "netlab&#39;s Buffer", "s of stalls"):
        assert words in page, words
    assert "window" not in page.lower() and "Linux" not in page and "<script" not in page
