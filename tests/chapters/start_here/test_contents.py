"""The first page lists the chapters as they are."""

from __future__ import annotations

import re

from netlab.base.location import IMPORT_ROOT
from netlab_course import catalogue

NOTEBOOKS = IMPORT_ROOT / "notebooks"


def test_the_table_links_every_other_chapter_and_asks_its_question() -> None:
    start, *others = catalogue.chapters(NOTEBOOKS)
    assert start.topic == "start_here"
    rows = re.findall(r"\| \[(\d+) [^\]]+\]\(([^)]+)\) \| ([^|]+) \|", start.path.read_text(encoding="utf-8"))
    listed = {file.removesuffix(".ipynb"): (int(number), question) for number, file, question in rows}
    assert listed == {entry.stem: (entry.number, entry.question) for entry in others}
