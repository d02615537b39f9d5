"""Answers in words: the table that a person fills in, and what came back of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from netlab.base.errors import NetlabError
from netlab.grading.roster import table
from netlab.grading.text import bare, one_line

COLUMNS = ("student", "exercise", "of", "points", "comment", "words", "answer", "model")
"""`words` tells the answer that the points are for from any other."""
NEEDED = ("student", "exercise", "points", "words")


@dataclass(frozen=True)
class Read:
    """What a person gave to an answer."""

    points: float
    comment: str = ""
    """A sentence for the student."""
    words: str = ""
    """The digest of the answer that was read."""


def read(path: Path) -> dict[tuple[str, str], Read]:
    """The points that a person wrote into `review.csv`, by student and exercise; lines without any are left as they are.

    Raises NetlabError when the file is another one, or points are no number.
    """
    # As Excel saves it in Western Europe.
    rows, columns = table(path, "review", code_page="cp1252")
    if not set(NEEDED) <= set(columns):
        raise NetlabError(f"{path} is no review: it needs the columns {', '.join(NEEDED)}.")

    def cell(row: Mapping[str, str | None], name: str) -> str:
        return bare((row.get(columns.get(name, name)) or "").strip())

    found = {}
    for row in rows:
        place, text = (one_line(cell(row, "student")), cell(row, "exercise")), cell(row, "points").replace(",", ".")
        if not text:
            continue
        try:
            points = float(text)
        except ValueError:
            # The line would help nobody: an answer has many, and a spreadsheet counts rows.
            raise NetlabError(f"{path}: {', '.join(place)}: points must be a number, got {text[:40]!r}.") from None
        found[place] = Read(points, one_line(cell(row, "comment"), 1000), cell(row, "words"))
    return found
