"""A student's own copies of the chapters, and their update to a new version of netlab.

The originals of the copies are in a hidden folder next to them. The difference between a copy and its original is the
student's work, which an update merges into the new original.
"""

import argparse
import copy
import difflib
import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from netlab.base.errors import NetlabError
from netlab.base.files import replacement
from netlab_course import catalogue, progress_store
from netlab_course.catalogue import Entry

VARIABLE = "NETLAB_CHAPTERS"
_ORIGINALS = ".originals"
PAGES = ("docs/reference/glossary.md",)
"""Pages that chapters refer to, below the folder that has `notebooks`; their copies are next to the copies of the chapters."""
Notebook = dict[str, Any]


def folder() -> Path:
    """Return the folder of a student's copies of the chapters, which need not exist yet: `$NETLAB_CHAPTERS`, or
    `netlab-chapters` in the home directory.
    """
    return Path(os.environ.get(VARIABLE) or "~/netlab-chapters").expanduser()


def add_folder(parser: argparse.ArgumentParser) -> None:
    """Add the option `--folder` (None by default), which sets another folder of copies, to a command's parser."""
    parser.add_argument(
        "--folder",
        type=Path,
        metavar="DIRECTORY",
        help=f"where your copies of the chapters are (default: ${VARIABLE}, or ~/netlab-chapters)",
    )


def update(directory: Path) -> Iterator[str]:
    """Update the copies of all chapters and of the pages that belong to them in `directory`, which is made if
    needed; yield a sentence for the student for each chapter that changed.

    A new chapter is copied. If the original of a chapter has changed, the student's work is kept: answers, added cells,
    and changes of cells that are the same in the new original; the previous file is kept under another name. Work in a
    cell that has moved to another chapter moves there too, if that cell is still untouched. A copy is renamed if its
    chapter gets another number.

    Raises
    ------
    NetlabError
        If the folder cannot be written.
    """
    try:
        (directory / _ORIGINALS).mkdir(parents=True, exist_ok=True)
        originals = sorted(catalogue.originals().glob("*.ipynb"))
        for original in originals:
            yield from _renumber(original, directory)
        # A cell may have moved to a later chapter: update all before looking for the new place.
        for change in [_update(original, directory) for original in originals]:
            yield from change.sentences(_move(change, originals, directory))
        for page in PAGES:
            # JupyterLab opens no file outside the folder of the chapters.
            original = catalogue.originals().parent / page
            if original.is_file():
                shutil.copyfile(original, directory / original.name)
    except OSError as error:
        raise NetlabError(
            f"The chapters cannot be copied to {directory}: {error.strerror or error}. "
            f"Set {VARIABLE} to a folder that you may write and that has room."
        ) from error


def reset(entry: Entry, directory: Path) -> Path | None:
    """Put a new copy of a chapter into `directory`, which is made if missing, and record its original in the
    hidden folder there, from which later updates find the student's changes. Keep an old copy under a name with the
    time if it differs from the present original, and return its path; else return None. Raises OSError if the folder
    cannot be written.
    """
    (directory / _ORIGINALS).mkdir(parents=True, exist_ok=True)
    copy_path = directory / entry.path.name
    content = entry.path.read_bytes()
    fresh = copy_path.exists() and copy_path.read_bytes() == content
    kept = _replace(copy_path, content, keep=copy_path.exists() and not fresh)
    _replace(directory / _ORIGINALS / entry.path.name, content)
    return kept


@dataclass(frozen=True)
class _Change:
    """The result of updating the copy of one chapter."""

    name: str
    """The file's name."""
    summary: str = ""
    """A sentence for the student; "" when nothing changed."""
    previous: Path | None = None
    """The path of the previous file."""
    unmerged: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Changed cells that the new original lacks, by id: their original source, and the student's."""

    def sentences(self, moved: Mapping[str, Sequence[str]]) -> Iterator[str]:
        """Yield the sentence for the student, nothing if nothing changed; `moved` has the ids of the cells whose
        changes are in other chapters now, by the name of that chapter's file.
        """
        if not self.summary:
            return
        parts = [self.summary]
        parts += [f"what you wrote in {_names_in_words(ids)} is in {file} now" for file, ids in moved.items()]
        lost = len(self.unmerged) - sum(map(len, moved.values()))
        if self.previous:
            only_there = f"what you wrote in {lost} more is only in the file " if lost else ""
            parts.append(f"{only_there}as it was: {self.previous.name}")
        yield "; ".join(parts) + "."


def _renumber(original: Path, directory: Path) -> Iterator[str]:
    """Rename the copy and the stored original of a chapter whose number has changed, in `directory`, and yield a
    sentence about it; `original` is the path of the chapter's present original. Raises OSError when that is impossible.
    """
    copy_path, topic = directory / original.name, Entry(original).topic
    for earlier in directory.glob(f"[0-9][0-9]_{topic}.ipynb") if original.name[:2].isdecimal() else ():
        if not copy_path.exists():
            earlier.rename(copy_path)
            base = directory / _ORIGINALS / earlier.name
            if base.exists():
                base.replace(directory / _ORIGINALS / original.name)
            yield f"{earlier.name} is {original.name} now, with what you wrote."


def _update(original: Path, directory: Path) -> _Change:
    """Update the copy of one chapter, whose present original is the file `original`, in `directory`, and return
    the result. Raises NetlabError when the original is not a notebook, and OSError when a file cannot be written.
    """
    copy_path, base = directory / original.name, directory / _ORIGINALS / original.name
    if not copy_path.exists():
        # Restore a chapter that the student deleted, because there is no other way to get it back.
        _replace(copy_path, original.read_bytes())
        _replace(base, original.read_bytes())
        return _Change(original.name, f"{original.name} is new")
    if base.exists() and base.read_bytes() == original.read_bytes():
        return _Change(original.name)
    new, student_notebook = _read(original), _read(copy_path)
    if new is None:
        raise NetlabError(f"{original} is not a notebook.")
    old = _read(base) if base.exists() else new
    if student_notebook is None:
        kept = _replace(copy_path, original.read_bytes(), keep=True)
        _replace(base, original.read_bytes())
        return _Change(original.name, f"{original.name} could not be read and is fresh now", kept)
    merged, carried, left = merge(old or new, student_notebook, new)
    kept = _replace(copy_path, _text(merged), keep=True)
    _replace(base, original.read_bytes())
    changes = "1 cell of yours is" if carried == 1 else f"{carried} cells of yours are"
    return _Change(original.name, f"{original.name} is up to date; {changes} kept", kept, left)


def _move(change: _Change, originals: Sequence[Path], directory: Path) -> dict[str, list[str]]:
    """Write what a student changed in cells that are now in other chapters into the copies (in `directory`) of
    those, found among the paths `originals`; return the cells' ids by the file name of the new chapter. Raises OSError
    when a copy cannot be written.
    """
    moved: dict[str, list[str]] = {}
    for original in originals if change.unmerged else ():
        new_original, student_notebook = _read(original), _read(directory / original.name)
        if original.name == change.name or new_original is None or student_notebook is None:
            continue
        originals_by_id = {cell.get("id"): _source(cell) for cell in new_original["cells"]}
        for cell in student_notebook["cells"]:
            name = cell.get("id")
            before, written = change.unmerged.get(name, ("", ""))
            # The question is the same and has no answer yet.
            if before and originals_by_id.get(name) == before == _source(cell):
                cell["source"] = written
                moved.setdefault(original.name, []).append(name)
        if original.name in moved:
            _replace(directory / original.name, _text(student_notebook))
            _move_passed(change.name, original.name, moved[original.name])
    return moved


def _move_passed(source: str, target: str, ids: Sequence[str]) -> None:
    """Record the exercises (ids of cells) that were passed in the notebook with the file name `source` as passed in the
    notebook `target`, to which they have moved.
    """
    passed = progress_store.passed_exercises().get(Entry(Path(source)).topic, ())
    for name in ids:
        if name in passed:
            progress_store.record(Entry(Path(target)).topic, name)


def merge(old: Notebook, student_notebook: Notebook, new: Notebook) -> tuple[Notebook, int, dict[str, tuple[str, str]]]:
    """Return three things: the notebook `new` with the work in `student_notebook`, a student's copy of the notebook `old`; the
    number of merged cells; and the changed cells that `new` lacks, by id, each with original and changed source.
    """
    before = {cell.get("id"): _source(cell) for cell in old["cells"]}
    student_cells = {cell.get("id"): cell for cell in student_notebook["cells"]}
    after = {cell.get("id"): _source(cell) for cell in new["cells"]}
    ids = set(after)
    # A cell that already equals the new one comes from an earlier update that was interrupted.
    edited = {
        name: (before[name], _source(cell))
        for name, cell in student_cells.items()
        if name in before and _source(cell) not in (before[name], after.get(name))
    }
    left = dict(edited)
    merged = []
    for cell in new["cells"]:
        name = cell.get("id")
        same = name in before and _source(cell) == before[name]
        if name in edited and (same or _is_answer(str(name), ids)):
            written = _source(student_cells[name])
            if cell.get("cell_type") == "markdown" and not same:
                written = merged_text(before[name], written, _source(cell))
            merged.append({**copy.deepcopy(cell), "source": written})
            del left[name]
        else:
            merged.append(copy.deepcopy(cell))
    carried = len(edited) - len(left) + _add_own_cells(merged, student_notebook, set(before) | ids)
    return {**copy.deepcopy(new), "cells": merged}, carried, left


def merged_text(old: str, student_text: str, new: str) -> str:
    """Merge a student's changes of a text (`student_text`) into its new version; where `student_text` and `new` changed the same
    lines of `old`, return the student's text.

    >>> merged_text("Why?\\nAnswer: …", "Why?\\nAnswer: because.", "Why so?\\nClick here.\\nAnswer: …")
    'Why so?\\nClick here.\\nAnswer: because.'
    """
    lines = old.split("\n")
    merged: list[str] = []
    place = 0
    # If both texts insert lines at the same place, the lines of the new text come first.
    for start, end, text in sorted(
        _edits(lines, new.split("\n")) + _edits(lines, student_text.split("\n")), key=_extent
    ):
        if start < place:
            return student_text
        merged += [*lines[place:start], *text]
        place = end
    return "\n".join([*merged, *lines[place:]])


_Edit = tuple[int, int, list[str]]


def _edits(old: list[str], new: list[str]) -> list[_Edit]:
    """Return the edits that turn one list of lines into another: for each the index (from 0) of the first old line, the
    index after the last one, and the new lines.
    """
    found = difflib.SequenceMatcher(a=old, b=new, autojunk=False).get_opcodes()
    return [(start, end, new[first:last]) for what, start, end, first, last in found if what != "equal"]


def _extent(edit: _Edit) -> tuple[int, int]:
    """Return the first two parts of an edit, the indices of its old lines: the key by which edits are sorted."""
    return edit[:2]


def _add_own_cells(merged: list[Any], student_notebook: Notebook, known: set[Any]) -> int:
    """Insert the cells that the student added to the copy `student_notebook` into the list `merged`, each after the cell that it
    followed, or at the end; return their number. `known` has the ids of all other cells; empty ones are left out.
    """
    added, previous = 0, None
    for cell in student_notebook["cells"]:
        name = cell.get("id")
        if name in known:
            previous = name
            continue
        if not _source(cell).strip():
            continue
        places = [place for place, other in enumerate(merged) if other.get("id") == previous]
        merged.insert(places[0] + 1 if places else len(merged), copy.deepcopy(cell))
        previous = name
        added += 1
    return added


def _names_in_words(ids: Sequence[str]) -> str:
    """Return one or more ids as text, joined by commas and a last "and"."""
    return " and ".join(filter(None, (", ".join(ids[:-1]), ids[-1])))


def _is_answer(name: str, ids: set[Any]) -> bool:
    """Return whether a cell is for a student's answer, by its id (`name`) and the ids of all cells of its notebook."""
    return name.endswith("-words") or name == "predict" or f"{name}-check" in ids


def _source(cell: Any) -> str:
    """Return the source of a cell (a dict of a notebook's JSON), which has it as a text or a list of lines, as one
    text.
    """
    return "".join(cell.get("source", ()))


def _read(path: Path) -> Notebook | None:
    """Return the notebook in a file as a dict of its JSON; None if it cannot be read or is not a notebook."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    usable = isinstance(found, dict) and isinstance(found.get("cells"), list)
    return found if usable and all(isinstance(cell, dict) for cell in found["cells"]) else None


def _text(notebook: Notebook) -> bytes:
    """Return a notebook (a dict of its JSON) as the bytes of its file, in UTF-8."""
    return (json.dumps(notebook, indent=1, ensure_ascii=False) + "\n").encode()


def _replace(path: Path, content: bytes, *, keep: bool = False) -> Path | None:
    """Write a file atomically, with the mode of the previous file; with `keep`, that one stays under a name with the
    time, whose path is returned; else return None. If the disk is full or the folder cannot be written, raises OSError
    and changes nothing.
    """
    kept = None
    try:
        with replacement(path) as new:
            new.write_bytes(content)
            if keep:
                kept = _keep_copy(path)
    except BaseException:
        # An interrupt may come after the replacement: `kept` is the only copy of the old file then.
        if kept is not None and kept.read_bytes() == path.read_bytes():
            kept.unlink()
        raise
    return kept


def _keep_copy(path: Path) -> Path:
    """Give a file a second name with the present time, such as `01_udp_loss (2026-03-01 14.05.09).ipynb`, or copy it if
    hard links are impossible; return the new path.
    """
    stamp = datetime.now(timezone.utc).astimezone().strftime("%Y-%m-%d %H.%M.%S")
    names = [f"{path.stem} ({stamp}{number}){path.suffix}" for number in ("", *(f", {n}" for n in range(2, 100)))]
    kept = next(path.with_name(name) for name in names if not path.with_name(name).exists())
    try:
        os.link(path, kept)
    except OSError:
        # File systems of Windows and synchronized folders may lack hard links.
        try:
            shutil.copy2(path, kept)
        except BaseException:
            kept.unlink(missing_ok=True)
            raise
    return kept
