"""Pointers from a chapter's text to its other parts: each is a link to a heading that exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from netlab_course.authoring import Chapter, chapters, read_source

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("chapter", chapters(ROOT), ids=lambda chapter: chapter.source.stem)
def test_a_pointer_to_another_part_is_a_link_to_its_heading(chapter: Chapter) -> None:
    """JupyterLab and nbconvert make a heading's anchor of its words, with hyphens between them; the site does so for
    optional parts only.
    """
    texts = [cell.source for cell in read_source(chapter.source).cells if cell.cell_type == "markdown"]
    headings = [line.replace(" ", "-") for text in texts for line in re.findall(r"^#+ (.+)$", text, re.MULTILINE)]
    for text in texts:
        assert "after the summary" not in text, text
        for anchor in re.findall(r"\]\(#([^)]+)\)", text):
            assert headings.count(anchor) == 1 and anchor.startswith("Optional:"), anchor
