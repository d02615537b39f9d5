"""The solution gets every point, whatever figures a student's token draws: with NETLAB_LONG=1 a hundred sets of each chapter."""

from __future__ import annotations

import os

import pytest

from netlab.base.location import PACKAGE
from netlab.course import catalogue
from netlab.grading import master
from tests.grading import model

ROOT = PACKAGE.parent
CHAPTERS = [entry.topic for entry in catalogue.chapters(ROOT / "notebooks")]
DRAWS = 100 if os.environ.get("NETLAB_LONG") else 1


@pytest.mark.pocket
@pytest.mark.library
@pytest.mark.parametrize("topic", CHAPTERS)
def test_the_solution_gets_every_point_with_any_figures_that_are_drawn(
    topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In this process, for the answers are ours; that the sandbox gives the same points is tested with one token a chapter."""
    monkeypatch.setattr("netlab.grading.judging.Sandbox", model.Unwalled)
    chapter = master.find(topic, ROOT)
    lost = {token: model.lost_by_the_solution(chapter, token) for token in model.tokens(chapter, DRAWS)}
    assert not {token: said for token, said in lost.items() if said}
