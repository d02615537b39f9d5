"""The code in notebooks fits the window of a laptop."""

from __future__ import annotations

from pathlib import Path

import pytest

from netlab_course.authoring import Chapter, pages, read_source

ROOT = Path(__file__).parents[2]
MAX_LETTERS = 95
"""The letters in a line of code that JupyterLab shows without a scroll bar in a window of 1366 pixels, with its list of files."""


def too_long(source: str) -> list[str]:
    """Return the lines of a cell that need a scroll bar."""
    return [line for line in source.split("\n") if len(line) > MAX_LETTERS]


@pytest.mark.parametrize("page", pages(ROOT), ids=lambda page: page.source.stem)
def test_no_line_of_code_needs_a_scroll_bar(page: Chapter) -> None:
    cells = [cell for cell in read_source(page.source).cells if cell.cell_type == "code"]
    assert cells
    assert {cell.id: too_long(cell.source) for cell in cells if too_long(cell.source)} == {}


def test_a_line_that_is_one_letter_too_long_is_noticed() -> None:
    assert too_long(f"{'x' * MAX_LETTERS}\n{'y' * (MAX_LETTERS + 1)}") == ["y" * (MAX_LETTERS + 1)]
