"""What a class is given: notebooks with figures of each student's own, or in the forms of nbgrader and otter."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from netlab.base.errors import NetlabError
from netlab.course import authoring
from netlab.grading import formats, leaks
from netlab.grading.master import Master
from netlab.grading.reports import file_name
from netlab.grading.roster import Entry

CLASS_LIST = "class.csv"
NOTEBOOKS = "notebooks"
MOST_TRIES = 200


def assign(
    chapter: Master, output: Path, *, entries: Sequence[Entry] = (), form: str = "plain", salt: str = ""
) -> list[Path]:
    """Write the notebooks of a chapter that a class is given.

    Parameters
    ----------
    chapter : Master
    output : Path
        The directory; the class list with everybody's token goes there too.
    entries : sequence of Entry
        The class; each student gets figures of their own. Empty writes the chapter as it is printed.
    form : {"plain", "nbgrader", "otter"}
        What the notebooks are made for.
    salt : str
        What tokens are drawn from besides names: with another salt the same class gets other figures.

    Returns
    -------
    list of Path
        What was written.

    Raises
    ------
    LeakError
        When an answer would be handed out.
    NetlabError
        When the class is larger than the figures have combinations, or the form has no figures of one's own.
    """
    if form != "plain" and entries:
        raise NetlabError(f"{form} gives one notebook to the whole class: leave --roster out, or take --format plain.")
    if form != "plain":
        return formats.write(form, chapter, output)
    if not entries:
        place = output / f"{chapter.stem}.ipynb"
        return [_write(place, student_notebook(chapter, ""))]
    listed = with_tokens(chapter, entries, salt)
    made = {entry.student: student_notebook(chapter, entry.token or "") for entry in listed}
    written = [
        _write(output / NOTEBOOKS / f"{file_name(student)}.ipynb", notebook) for student, notebook in made.items()
    ]
    (output / CLASS_LIST).write_text(class_list(listed), encoding="utf-8")
    return [*written, output / CLASS_LIST]


def student_notebook(chapter: Master, token: str) -> NotebookNode:
    """One student's notebook, looked through for what must not be in it.

    Raises
    ------
    LeakError
        When an answer is in it.
    """
    notebook = authoring.student_notebook(chapter.source, token)
    leaks.require_no_answer([cell.source for cell in notebook.cells], chapter.edition(token))
    return notebook


def with_tokens(chapter: Master, entries: Sequence[Entry], salt: str = "") -> list[Entry]:
    """The class with a token for everybody, such that no two have the same figures; tokens that are there stay.

    Raises
    ------
    NetlabError
        When two of the list's tokens have the same figures, or there are too few figures for the class.
    """
    owners: dict[str, str] = {}
    for entry in entries:
        if entry.token is not None:
            figures = _figures(chapter, entry.token)
            if figures in owners:
                raise NetlabError(
                    f"The tokens of {owners[figures]} and {entry.student} have the same figures; empty one of them."
                )
            owners[figures] = entry.student
    return [entry if entry.token is not None else _with_token(chapter, entry, salt, owners) for entry in entries]


def _with_token(chapter: Master, entry: Entry, salt: str, owners: dict[str, str]) -> Entry:
    for attempt in range(MOST_TRIES):
        token = hashlib.sha256(f"{salt}\n{chapter.topic}\n{entry.student}\n{attempt}".encode()).hexdigest()[:10]
        figures = _figures(chapter, token)
        if figures not in owners:
            owners[figures] = entry.student
            return replace(entry, columns={**entry.columns, "token": token})
    raise NetlabError(
        f"{chapter.stem} has too few combinations of figures for this class: {len(owners)} students have theirs, and "
        f"{entry.student} found none in {MOST_TRIES} draws. Widen FIGURES in the chapter's settings."
    )


def _figures(chapter: Master, token: str) -> str:
    opened = authoring.opened(chapter.source, token)
    if opened is None or not vars(opened.own):
        raise NetlabError(f"{chapter.stem} has no figures of a student's own: leave --roster out.")
    return repr(sorted(vars(opened.own).items()))


def class_list(entries: Sequence[Entry]) -> str:
    """The class list as a CSV file, for `netlab grade --roster`."""
    names = ("name", "email", "file", "canvas_id", "sis_user_id", "sis_login_id", "section", "token")
    used = [name for name in names if any(entry.columns.get(name) for entry in entries)]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["student", *used])
    for entry in entries:
        named = {**entry.columns, "name": entry.name if entry.name != entry.student else ""}
        writer.writerow([entry.student, *(named.get(name, "") for name in used)])
    return text.getvalue()


def _write(place: Path, notebook: NotebookNode) -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    nbformat.validate(notebook)
    text: str = nbformat.writes(notebook)  # type: ignore[no-untyped-call]
    place.write_text(text.rstrip("\n") + "\n", encoding="utf-8")
    return place
