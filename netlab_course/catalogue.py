"""The table of contents: each chapter's question, duration, prerequisites and progress."""

import json
import os
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from netlab.base.errors import NetlabError, one_of
from netlab.base.location import CARRIED_FOLDER, IMPORT_ROOT
from netlab_course import progress_store

VARIABLE = "NETLAB_NOTEBOOKS"


@dataclass(frozen=True)
class Entry:
    """A chapter in the table of contents; its data are read from the student's notebook."""

    path: Path
    """The notebook."""

    @property
    def stem(self) -> str:
        """The name of the chapter's notebook without `.ipynb`, such as `01_udp_loss`."""
        return self.path.stem

    @property
    def number(self) -> int:
        """The chapter's number: the first two digits of its notebook's name, in the order of learning."""
        return int(self.stem[:2])

    @property
    def topic(self) -> str:
        """The name of the chapter's package in `netlab_course.chapters`, such as `udp_loss`."""
        return self.stem[3:]

    @cached_property
    def _cells(self) -> list[dict[str, Any]]:
        """The cells of the chapter's notebook as dicts of its JSON, each with its source as one text. Raises
        NetlabError when the file cannot be read or is not a notebook.
        """
        try:
            cells = json.loads(self.path.read_text(encoding="utf-8"))["cells"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise NetlabError(f"{self.path} is not a notebook: {error}.") from error
        return [{**cell, "source": "".join(cell.get("source", ()))} for cell in cells]

    @property
    def _head(self) -> str:
        """The source of the notebook's first cell; "" if there is none. Raises NetlabError when the notebook cannot be
        read.
        """
        return str(self._cells[0]["source"]) if self._cells else ""

    @property
    def title(self) -> str:
        """The chapter's title: the first Markdown heading in the notebook's first cell, or else the topic with spaces
        for underscores. Raises NetlabError when the notebook cannot be read.
        """
        return _first_match(r"^# (.+)$", self._head) or self.topic.replace("_", " ")

    @property
    def question(self) -> str:
        """The question that the chapter answers: the first line in bold of the notebook's first cell; "" if there is
        none. Raises NetlabError when the notebook cannot be read.
        """
        return _first_match(r"^\*\*(.+)\*\*$", self._head)

    @property
    def minutes(self) -> str:
        """The duration in minutes as text, as the notebook's first cell has it, such as "60 to 90"; "" if it has none.
        Raises NetlabError when the notebook cannot be read.
        """
        return _first_match(r"\*Time\*: ([\d to]+?) minutes", self._head)

    @cached_property
    def exercises(self) -> list[str]:
        """The keys of the exercises that have a check, in the notebook's order: the ids of cells that end in "-check",
        without it. Raises NetlabError when the notebook cannot be read.
        """
        return [
            str(cell["id"]).removesuffix("-check") for cell in self._cells if str(cell.get("id", "")).endswith("-check")
        ]


def originals() -> Path:
    """Return the folder of netlab's original notebooks: `$NETLAB_NOTEBOOKS` if it is set, else `notebooks` of the clone
    or the wheel. Raises NetlabError when there is no such folder.
    """
    own = (IMPORT_ROOT / "notebooks", CARRIED_FOLDER / "notebooks")
    found = Path(os.environ.get(VARIABLE) or next((place for place in own if place.is_dir()), own[0]))
    if not found.is_dir():
        raise NetlabError(
            f"There are no chapters in {found}: set {VARIABLE} to the folder `notebooks` of a clone of netlab."
        )
    return found


def chapters(folder: Path | None = None) -> list[Entry]:
    """Return the chapters whose notebooks are in a folder (None: netlab's originals), ordered by their numbers. Raises
    NetlabError when there are no originals.
    """
    found = sorted((folder or originals()).glob("*.ipynb"))
    return [Entry(path) for path in found if re.fullmatch(r"\d\d_[a-z0-9_]+", path.stem)]


def find(word: str, folder: Path | None = None) -> Entry:
    """Return the chapter of a folder (None: netlab's originals) with this number, topic or name (`1`, `udp_loss`,
    `01_udp_loss`, `01_udp_loss.ipynb`). Raises NetlabError with the known names when there is none.
    """
    name = Path(word).name.removesuffix(".ipynb")
    entries = chapters(folder)
    for entry in entries:
        if name in (entry.stem, entry.topic) or (name.isdecimal() and int(name) == entry.number):
            return entry
    raise NetlabError(f"unknown chapter: {one_of(name, [entry.stem for entry in entries])}")


def progress(folder: Path | None = None) -> None:
    """Print a table with every chapter of a folder (None: netlab's originals), its minutes, and the number of its
    exercises that this user has passed. Raises NetlabError when there are no originals or a notebook cannot be read.
    """
    known = progress_store.passed_exercises()
    rows = [(" ", "    chapter", "minutes", "passed")]
    for entry in chapters(folder):
        done = [key for key in entry.exercises if key in known.get(entry.topic, ())]
        mark = "✓" if entry.exercises and len(done) == len(entry.exercises) else "·" if done else " "
        rows.append(
            (mark, f"{entry.number:>2}  {entry.title}", entry.minutes or "?", f"{len(done)} of {len(entry.exercises)}")
        )
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    for mark, title, minutes, count in rows:
        print(f"{mark:{widths[0]}} {title:{widths[1]}}  {minutes:>{widths[2]}}  {count:>{widths[3]}}".rstrip())


def _first_match(pattern: str, text: str) -> str:
    """Return the first group of the first match of a regular expression in a text, without surrounding spaces; "" if
    nothing matches. ^ and $ match at every line.
    """
    found = re.search(pattern, text, flags=re.MULTILINE)
    return found[1].strip() if found else ""
