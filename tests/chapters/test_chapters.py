"""Chapters as a student meets them."""

from __future__ import annotations

from pathlib import Path

import pytest

from netlab.authoring import Chapter, chapters, execute, student_notebook

pytestmark = pytest.mark.pocket


ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("chapter", chapters(ROOT), ids=lambda chapter: chapter.source.stem)
def test_a_notebook_nobody_has_worked_on_runs_to_its_end(chapter: Chapter) -> None:
    """Nothing raises, and every check says 'not attempted yet'."""
    notebook = execute(student_notebook(chapter.source), chapter.student.parent)
    checks = [cell for cell in notebook.cells if cell.id.endswith("-check")]
    assert checks
    for cell in checks:
        said = "".join(output.get("text", "") for output in cell.outputs)
        assert "not attempted yet" in said, f"{cell.id}: {said!r}"
