"""Ownership of an output folder: it belongs to one chapter and one class, and one grader at a time writes to it."""

import fcntl
import json
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from netlab.base.errors import NetlabError

NAME = ".netlab.json"
MAX_NAMED = 8


class ClaimError(NetlabError):
    """A folder contains other results than those to be written; the text says which, and what to do."""


class OutputClaim:
    """The chapter, class and submissions of an output folder, which its locked file at `path` records.

    Parameters
    ----------
    known : dict
        The record of the previous grading.
    allow_missing : bool
        Allow submissions of the previous grading to be missing.
    """

    def __init__(self, path: Path, record: dict[str, Any], *, allow_missing: bool = False) -> None:
        """Take `record`, which the locked file at `path` has from the previous grading ({} if there is none);
        with `allow_missing`, submissions that it names may be missing now.
        """
        self._path, self._record, self._allow_missing = path, record, allow_missing

    def take(self, what: str, chapter: str, students: Collection[str], handed_in: Collection[str] = ()) -> None:
        """Record the folder as the one of a chapter, with the class `students` and the students `handed_in` who
        submitted; `what` names its contents in errors, such as "marks". Raises ClaimError when the folder belongs to
        another chapter, most of its students are missing in the class (not checked without a class), or submissions
        that it has marks of are missing now and `allow_missing` does not allow that.
        """
        folder = self._path.parent
        recorded_chapter = self._record.get("chapter", chapter)
        if recorded_chapter != chapter:
            raise ClaimError(f"{folder} has the {what} of {recorded_chapter}: choose another --output for {chapter}.")
        recorded_students = set(self._record.get("students", []))
        if students and len(recorded_students - set(students)) > len(recorded_students) / 2:
            raise ClaimError(
                f"{folder} has the {what} of another class ({_abbreviate(recorded_students)}): choose another --output."
            )
        missing = set(self._record.get("handed_in", [])) - set(handed_in)
        if missing and not self._allow_missing:
            raise ClaimError(
                f"{folder} has marks of submissions that are not among SUBMISSIONS now: {_abbreviate(missing)}. Name all of them, "
                "choose another --output, or drop their marks with --allow-missing."
            )
        record = {"chapter": chapter, "students": sorted(students), "handed_in": sorted(handed_in)}
        if record != self._record:
            # Rewrite in place: replacing the file would lose the lock.
            self._path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


@contextmanager
def claim_output(folder: Path, *, allow_missing: bool = False) -> Iterator[OutputClaim]:
    """Return a context manager that creates a folder if needed, locks it against other graders while the block runs,
    and yields its record, an OutputClaim (an empty one if the file cannot be read); with `allow_missing`, submissions of an earlier
    grading may be missing. An empty record is removed at the end, and with it an empty folder. Raises ClaimError when
    another process has locked the folder, OSError when it cannot be created.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / NAME
    with path.open("a+", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ClaimError(
                f"Another netlab writes to {folder} now: wait for its end, or choose another --output."
            ) from None
        file.seek(0)
        try:
            record = json.loads(file.read() or "{}")
        except ValueError:
            record = {}
        try:
            yield OutputClaim(path, record if isinstance(record, dict) else {}, allow_missing=allow_missing)
        finally:
            with suppress(OSError):
                if not path.stat().st_size:  # refused before anything was written
                    path.unlink()
                    folder.rmdir()


def _abbreviate(names: Collection[str]) -> str:
    """Return some names as text: the first MAX_NAMED in the alphabet, and the number of the others, as in "anna, ben
    and 3 more".
    """
    first = sorted(names)[:MAX_NAMED]
    return ", ".join(first) + (f" and {len(names) - len(first)} more" if len(names) > len(first) else "")
