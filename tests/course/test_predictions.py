"""Each chapter asks for one prediction with a reason, compares it, and then asks what it lacked."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from netlab_course import authoring
from tests.programs import ROOT

CHAPTERS = [chapter.source for chapter in authoring.chapters(ROOT) if not chapter.source.stem.startswith("00_")]


@pytest.mark.parametrize("source", CHAPTERS, ids=lambda source: source.stem)
def test_chapter_asks_one_reason_and_its_lesson_below_the_comparison(source: Path) -> None:
    cells = authoring.read_source(source).cells
    places = {cell.id: place for place, cell in enumerate(cells)}
    with_reason = re.findall(
        r"^(\w+) = nl\.checks\.predict\((?:[^()]|\n)*?reason=my_reason", cells[places["predict"]].source, re.M
    )
    assert len(with_reason) == 1
    above = cells[places["prediction-words"] - 1]
    assert f"{with_reason[0]}.compare(" in above.source
    assert "your reason" in cells[places["predict-text"]].source


@pytest.mark.parametrize("source", CHAPTERS, ids=lambda source: source.stem)
def test_an_explanation_of_a_difference_is_folded(source: Path) -> None:
    for cell in authoring.read_source(source).cells:
        if cell.cell_type == "markdown":
            unfolded = re.sub(r"<summary>.*?</summary>", "", cell.source, flags=re.DOTALL)
            assert "Why do they differ?" not in unfolded, cell.id
            assert cell.source.count("<details>") == cell.source.count("</details>"), cell.id
