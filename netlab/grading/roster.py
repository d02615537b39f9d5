"""A class list: who there is, which file is whose, whose figures are which."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from netlab.base.errors import NetlabError

NAMES = {
    "student": ("student_id", "id_number", "username", "login", "id"),
    "name": ("full_name", "student_name"),
    "email": ("email_address", "mail"),
    "file": ("submission", "notebook"),
    "token": (),
    "canvas_id": (),
    "sis_user_id": (),
    "sis_login_id": (),
    "section": (),
    "first_name": ("given_name",),
    "last_name": ("surname", "family_name"),
}
"""The columns that a class list may have, each with other names for it; letters' case and spaces do not matter."""


class RosterError(NetlabError):
    """A class list that cannot be used; the text says which line and why."""


@dataclass(frozen=True)
class Entry:
    """A student of a class.

    Attributes
    ----------
    student : str
        The name in all reports: what the column `student` says.
    columns : dict
        The line's other known columns.
    """

    student: str
    columns: Mapping[str, str] = field(default_factory=dict)

    @property
    def token(self) -> str | None:
        """What the figures are drawn from; None where the list does not say."""
        return self.columns.get("token") or None

    @property
    def name(self) -> str:
        """The person's name, as far as the list has it."""
        whole = " ".join(filter(None, (self.columns.get("first_name"), self.columns.get("last_name"))))
        return self.columns.get("name") or whole or self.student


def read(path: Path) -> list[Entry]:
    """Read a class list: a CSV file with a line of names of columns, of which one is `student`.

    Raises
    ------
    RosterError
        When it cannot be read, has no students, or has one twice.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or error
        raise RosterError(f"The class list {path} cannot be read: {why}. It must be a CSV file in UTF-8.") from None
    first = text.partition("\n")[0]
    rows = csv.DictReader(io.StringIO(text), delimiter=";" if first.count(";") > first.count(",") else ",")
    known = _columns(rows.fieldnames or ())
    if "student" not in known:
        raise RosterError(
            f"{path} needs a column `student` (also: {', '.join(NAMES['student'])}); it has: "
            f"{', '.join(rows.fieldnames or ()) or 'none'}."
        )
    found: dict[str, Entry] = {}
    for row in rows:
        values = {name: (row.get(column) or "").strip() for name, column in known.items()}
        student = values.pop("student")
        if not student:
            continue
        if not re.fullmatch(r"[^\x00-\x1f/\\]{1,100}", student) or student.startswith("."):
            raise RosterError(f"{path}:{rows.line_num}: {student!r} cannot be a student: no /, no \\, no dot in front.")
        if student in found:
            raise RosterError(f"{path}:{rows.line_num}: {student} is there twice.")
        found[student] = Entry(student, values)
    if not found:
        raise RosterError(f"{path} has no students.")
    return list(found.values())


def _columns(given: Iterable[str]) -> dict[str, str]:
    normal = {re.sub(r"[\s-]+", "_", column.strip().lower()): column for column in given if column}
    return {
        name: normal[spelling]
        for name, others in NAMES.items()
        for spelling in reversed((name, *others))
        if spelling in normal
    }


def collect(paths: Sequence[Path]) -> list[tuple[str, Path]]:
    """The files that were handed in, each with the name that it goes by.

    A directory stands for all files in it; in a directory of a student, as learning platforms pack them, the
    directory's name is the student's. Links are not followed.

    Raises
    ------
    NetlabError
        When one of the paths is not there.
    """
    found: list[tuple[str, Path]] = []
    for path in paths:
        if not path.is_symlink() and not path.exists():
            raise NetlabError(f"SUBMISSIONS: {path} is not there.")
        if not path.is_dir() or path.is_symlink():
            found.append((path.stem, path))
            continue
        for entry in sorted(path.iterdir()):
            if entry.name.startswith("."):
                continue
            if entry.is_dir() and not entry.is_symlink():
                inside = sorted(file for file in entry.iterdir() if not file.name.startswith("."))
                found += [(entry.name, file) for file in inside if file.is_symlink() or not file.is_dir()]
            else:
                found.append((entry.stem, entry))
    return found


def match(files: Sequence[tuple[str, Path]], entries: Sequence[Entry]) -> tuple[dict[str, Path | None], list[str]]:
    """Whose each file is, and what is to be said of that.

    Parameters
    ----------
    files : sequence of (str, Path)
        As `collect` gives them.
    entries : sequence of Entry
        The class; empty takes every file's own name.

    Returns
    -------
    dict of str to Path or None, list of str
        The file of each student, None for those of the class who handed nothing in; sentences.
    """
    found: dict[str, Path | None] = {entry.student: None for entry in entries}
    notes: list[str] = []
    for name, path in files:
        student = _owner(name, path, entries) if entries else name
        if student is None:
            notes.append(f"{path.name}: nobody of the class list; graded under the name {name}.")
            student = name
        other = found.get(student)
        if other is not None:
            better = _better(other, path)
            notes.append(f"{student}: handed in {other.name} and {path.name}; {better.name} was taken.")
            found[student] = better
        else:
            found[student] = path
    return found, notes


def _owner(name: str, path: Path, entries: Sequence[Entry]) -> str | None:
    for entry in entries:
        if entry.columns.get("file") in (path.name, path.stem, str(path)) and entry.columns.get("file"):
            return entry.student
    folded = name.casefold()
    for entry in entries:
        if folded in (entry.student.casefold(), entry.columns.get("email", "").casefold()):
            return entry.student
    # As Moodle names directories: Full Name_12345_assignsubmission_file; as Canvas names files: name_12345_67890_title.
    parts = name.split("_")
    for entry in entries:
        if entry.name.casefold() == parts[0].casefold() and len(parts) > 1:
            return entry.student
        if entry.columns.get("canvas_id") and entry.columns["canvas_id"] in parts[1:3]:
            return entry.student
    return None


def _better(one: Path, other: Path) -> Path:
    """Of two files of a student the notebook; of two notebooks the one whose name comes last."""
    return max(one, other, key=lambda path: (path.suffix == ".ipynb", path.name))
