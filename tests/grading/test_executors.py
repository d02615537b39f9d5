"""Grading on Dask's executor, as a class larger than one machine would have it."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

from netlab_classroom.grading import grade
from tests.grading import classroom

pytestmark = pytest.mark.pocket
distributed = pytest.importorskip("distributed")


def test_dask_gives_the_same_points(tmp_path: Path) -> None:
    place = tmp_path / "in"
    place.mkdir()
    (place / "empty.ipynb").write_bytes(b"")
    with classroom.sample_chapter() as chapter:
        (place / "right.ipynb").write_text(nbformat.writes(classroom.notebook(dict(classroom.RIGHT_ANSWERS))))
        with distributed.Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None) as client:
            graded = grade.grade(chapter, [place], tmp_path / "out", executor=client.get_executor(), progress=False)
    assert not graded.failures
    points = {result["student"]: sum(mark["points"] for mark in result["exercises"]) for result in graded.results}
    assert points == {"empty": 0, "right": 9}
