"""Chapters as a student meets them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from nbformat import NotebookNode

from netlab_course.authoring import Chapter, chapters, execute, open_chapter_of, student_notebook
from netlab_course.chapters.opening import judging_checks
from netlab_course.checks import Number, right_number
from netlab_course.function_checks import Function

pytestmark = pytest.mark.pocket


ROOT = Path(__file__).parents[2]
# A figure with fewer digits stands on a page by chance.
MIN_DIGITS = 3


@pytest.mark.parametrize("chapter", chapters(ROOT), ids=lambda chapter: chapter.source.stem)
def test_an_untouched_notebook_runs_to_the_end_and_shows_no_answer(chapter: Chapter) -> None:
    """Nothing raises, every check says 'not attempted yet', and nothing above a check is its answer."""
    notebook = execute(student_notebook(chapter.source), chapter.student.parent)
    checks = [cell for cell in notebook.cells if cell.id.endswith("-check")]
    assert checks
    for cell in checks:
        text = "".join(output.get("text", "") + output.get("data", {}).get("text/plain", "") for output in cell.outputs)
        assert "not attempted yet" in text, f"{cell.id}: {text!r}"
    assert leaks(notebook, chapter) == []


def leaks(notebook: NotebookNode, chapter: Chapter) -> list[str]:
    """Say where an answer stands on the page before the check that asks for it."""
    book = open_chapter_of(chapter.source)
    if book is None:
        return []
    found, above = [], ""
    for cell in notebook.cells:
        above += f"\n{cell.source}" if not cell.id.endswith("-check") else ""
        check = judging_checks(book).get(cell.id.removesuffix("-check")) if cell.id.endswith("-check") else None
        if isinstance(check, Number) and not check.measured:
            found += [f"{cell.id}: {number}" for number in _numbers(above) if _is_answer(number, check)]
        if isinstance(check, Function):
            # The text gives a worked number on purpose, but it must not contain the formula.
            found += [f"{cell.id}: the last hint stands above" for hint in check.hints[-1:] if hint in above]
        for output in cell.get("outputs", ()):
            above += "\n" + output.get("text", "") + output.get("data", {}).get("text/plain", "")
    return found


def _numbers(text: str) -> list[str]:
    return re.findall(r"(?<![\w.])\d+(?:\.\d+)?", text)


def _is_answer(number: str, check: Number) -> bool:
    digits = number.replace(".", "").strip("0")
    return len(digits) >= MIN_DIGITS and abs(float(number) - right_number(check)) <= 0.001 * abs(right_number(check))
