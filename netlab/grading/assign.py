"""What a class is given: notebooks with numbers of each student's own; and for the instructor, solved hand-ins for a trial."""

import csv
import hashlib
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from netlab.base.errors import NetlabError
from netlab.course import authoring
from netlab.grading import kept
from netlab.grading.claim import claimed
from netlab.grading.master import Edition, Master
from netlab.grading.roster import NAMES, Entry
from netlab.grading.text import file_name, harmless

CLASS_LIST = "class.csv"
NOTEBOOKS = "notebooks"
MOST_TRIES = 200
SHORTEST_SECRET = 12
"""Shorter lines of a solution, such as `else:`, may stand anywhere."""


class LeakError(NetlabError):
    """Something of the instructor's is in what students would get; nothing was written."""


def assign(
    chapter: Master,
    output: Path,
    *,
    entries: Sequence[Entry] = (),
    salt: str = "",
    solved: Path | None = None,
) -> list[Path]:
    """Write the notebooks of a chapter that a class is given.

    Raises LeakError when an answer would be handed out. Raises NetlabError when the class is larger than the numbers
    have combinations, or `output` is of another chapter or class, or would hold the answers, too.

    Parameters
    ----------
    output : Path
        The directory; the class list with everybody's token goes there too.
    entries : sequence of Entry
        The class; each student gets numbers of their own. Empty writes the chapter as it is printed.
    salt : str
        What tokens are drawn from besides names: with another salt the same class gets other numbers.
    solved : Path, optional
        A directory for the same notebooks with every answer in them, to try the grading with.
    """
    if solved is not None and output.resolve() in (solved.resolve(), *solved.resolve().parents):
        raise NetlabError(f"--solved {solved} lies in {output}, which is for students: choose a directory elsewhere.")
    with claimed(output) as claim:
        claim.take("notebooks", chapter.stem, [entry.student for entry in entries])
        if not entries:
            written = [_write(output / f"{chapter.stem}.ipynb", student_notebook(chapter, ""))]
            return written + ([_solved(chapter, "", solved / f"{chapter.stem}.ipynb")] if solved is not None else [])
        listed = with_tokens(chapter, entries, salt)
        names = [f"{file_name(entry.student)}_{chapter.stem}.ipynb" for entry in listed]
        made = [student_notebook(chapter, entry.token or "") for entry in listed]
        written = [_write(output / NOTEBOOKS / name, notebook) for name, notebook in zip(names, made, strict=True)]
        kept.write_whole(output / CLASS_LIST, class_list(listed))
        written.append(output / CLASS_LIST)
        if solved is not None:
            pairs = zip(listed, names, strict=True)
            written += [_solved(chapter, entry.token or "", solved / name) for entry, name in pairs]
        return written


def _solved(chapter: Master, token: str, place: Path) -> Path:
    """A hand-in with the instructor's answers; those in words have their rubric."""
    answers = {each.id: each for each in chapter.edition(token).wanted}
    solution = {cell.id: cell.source for cell in chapter.edition(token).solved}
    made = student_notebook(chapter, token)
    for cell in made.cells:
        if cell.id in answers:
            cell.source = solution[cell.id]
    return _write(place, made)


def student_notebook(chapter: Master, token: str) -> NotebookNode:
    """One student's notebook, looked through for what must not be in it.

    Raises LeakError when an answer is in it.
    """
    notebook = authoring.student_notebook(chapter.source, token)
    require_no_answer([cell.source for cell in notebook.cells], chapter.edition(token))
    return notebook


def require_no_answer(texts: Iterable[str], edition: Edition) -> None:
    """Refuse to hand out any line of an answer.

    Raises LeakError when one holds a line that only the instructor's version has.
    """
    lines = {_bare(line) for text in texts for line in text.split("\n")}
    found = sorted(secrets_of(edition) & lines)
    if found:
        raise LeakError(f"The notebook would hand out an answer: the line {found[0]!r}. Nothing was written.")


def secrets_of(edition: Edition) -> set[str]:
    """The lines that the instructor's version of a chapter has and the student's has not."""
    public = {_bare(line) for cell in edition.handed_out for line in cell.source.split("\n")}
    mine = {_bare(line) for cell in edition.solved for line in cell.source.split("\n")}
    return {line for line in mine - public if len(line) >= SHORTEST_SECRET}


def _bare(line: str) -> str:
    """A line of code without its marks and spaces at the ends."""
    return re.sub(r"\s*#.*SOLUTION.*$|<!--.*?-->", "", line).strip()


def with_tokens(chapter: Master, entries: Sequence[Entry], salt: str = "") -> list[Entry]:
    """The class with a token for everybody, such that no two have the same numbers; tokens that are there stay.

    Raises NetlabError when two of the list's tokens have the same numbers, or there are too few numbers for the class.
    """
    owners: dict[str, str] = {}
    for entry in entries:
        if entry.token is not None:
            numbers = _numbers(chapter, entry.token)
            if numbers in owners:
                raise NetlabError(
                    f"The tokens of {owners[numbers]} and {entry.student} have the same numbers; empty one of them."
                )
            owners[numbers] = entry.student
    return [entry if entry.token is not None else _with_token(chapter, entry, salt, owners) for entry in entries]


def _with_token(chapter: Master, entry: Entry, salt: str, owners: dict[str, str]) -> Entry:
    for attempt in range(MOST_TRIES):
        token = hashlib.sha256(f"{salt}\n{chapter.topic}\n{entry.student}\n{attempt}".encode()).hexdigest()[:10]
        numbers = _numbers(chapter, token)
        if numbers not in owners:
            owners[numbers] = entry.student
            return replace(entry, columns={**entry.columns, "token": token})
    raise NetlabError(
        f"{chapter.stem} has too few combinations of numbers for this class: {len(owners)} students have theirs, and "
        f"{entry.student} found none in {MOST_TRIES} draws. Widen NUMBERS in the chapter's settings."
    )


def _numbers(chapter: Master, token: str) -> str:
    opened = authoring.opened(chapter.source, token)
    if opened is None or not vars(opened.own):
        raise NetlabError(f"{chapter.stem} has no numbers of a student's own: leave --roster out.")
    return repr(sorted(vars(opened.own).items()))


def class_list(entries: Sequence[Entry]) -> str:
    """The class list as a CSV file, for `netlab grade --roster`."""
    used = [name for name in NAMES if any(entry.columns.get(name) for entry in entries)]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["student", *used])
    for entry in entries:
        writer.writerow([harmless(text) for text in (entry.student, *(entry.columns.get(name, "") for name in used))])
    return text.getvalue()


def _write(place: Path, notebook: NotebookNode) -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    nbformat.validate(notebook)
    text: str = nbformat.writes(notebook)  # type: ignore[no-untyped-call]
    place.write_text(text.rstrip("\n") + "\n", encoding="utf-8")
    return place
