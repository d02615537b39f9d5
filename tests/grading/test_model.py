"""The solution gets every point with any numbers: two sets of one chapter are drawn, with NETLAB_LONG=1 a hundred of each."""

from __future__ import annotations

import os

import pytest

from netlab.base.location import IMPORT_ROOT
from netlab_classroom.grading import master
from netlab_course import catalogue
from tests.grading import model

ROOT = IMPORT_ROOT
CHAPTERS = [entry.topic for entry in catalogue.chapters(ROOT / "notebooks")]
LONG = bool(os.environ.get("NETLAB_LONG"))
DRAWS = 100 if LONG else 2


@pytest.mark.pocket
@pytest.mark.library
@pytest.mark.parametrize("topic", CHAPTERS if LONG else ["tcp_beside_udp"])
def test_the_solution_gets_every_point_with_any_figures_that_are_drawn(
    topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In this process, for the answers are ours; that the sandbox gives the same points is tested with one token a chapter."""
    monkeypatch.setattr("netlab_classroom.grading.judging.ExerciseSandbox", model.UnisolatedSandbox)
    chapter = master.find(topic, ROOT)
    first, *others = model.tokens(chapter, DRAWS)
    lost = {first: model.lost_by_the_solution(chapter, first)}
    lost |= {token: model.lost_by_the_solution(chapter, token, with_numbers=True) for token in others}
    assert not {token: text for token, text in lost.items() if text}
