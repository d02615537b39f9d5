"""Notebooks for a class, with own numbers for each student; and solved copies with which an instructor tries the grading."""

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
from netlab_classroom.grading import result_store
from netlab_classroom.grading.claim import claim_output
from netlab_classroom.grading.master import Edition, Master
from netlab_classroom.grading.roster import NAMES, RosterEntry
from netlab_classroom.grading.text import escape_formula, file_name
from netlab_course import authoring, marks

CLASS_LIST = "tokens.csv"
"""The name of the class list with a token for each student; the instructor's own list is often called class.csv."""
NOTEBOOKS = "notebooks"
MAX_TRIES = 200
MIN_SECRET_LENGTH = 12
"""Shorter lines of a solution, such as `else:`, may occur anywhere."""


class LeakError(NetlabError):
    """The students' notebooks would contain a part of the solutions; nothing was written."""


def assign(
    chapter: Master,
    output: Path,
    *,
    entries: Sequence[RosterEntry] = (),
    salt: str = "",
    solved: Path | None = None,
) -> list[Path]:
    """Write the notebooks of a chapter for the class `entries` into the folder notebooks of `output`, with a class list
    of everybody's token, and solved copies, to try the grading, into `solved` (None: none), and return the paths of all
    written files. Without `entries` there is one notebook in `output`, with the printed numbers, and no class list.
    Another `salt` gives the class other numbers. Raises LeakError when an answer would be published, and NetlabError
    when the chapter has too few combinations of numbers, `solved` is in `output`, or `output` belongs to another
    chapter or class.
    """
    if solved is not None and output.resolve() in (solved.resolve(), *solved.resolve().parents):
        raise NetlabError(f"--solved {solved} lies in {output}, which is for students: choose a directory elsewhere.")
    with claim_output(output) as claim:
        claim.take("notebooks", chapter.stem, [entry.student for entry in entries])
        if not entries:
            written = [_write(output / f"{chapter.stem}.ipynb", student_notebook(chapter, ""))]
            return written + (
                [_write_solution(chapter, "", solved / f"{chapter.stem}.ipynb")] if solved is not None else []
            )
        listed = with_tokens(chapter, entries, salt)
        names = [f"{file_name(entry.student)}_{chapter.stem}.ipynb" for entry in listed]
        made = [student_notebook(chapter, entry.token or "") for entry in listed]
        written = [_write(output / NOTEBOOKS / name, notebook) for name, notebook in zip(names, made, strict=True)]
        result_store.write_whole(output / CLASS_LIST, class_list(listed))
        written.append(output / CLASS_LIST)
        if solved is not None:
            pairs = zip(listed, names, strict=True)
            written += [_write_solution(chapter, entry.token or "", solved / name) for entry, name in pairs]
        return written


def _write_solution(chapter: Master, token: str, place: Path) -> Path:
    """Write a copy of the student's notebook for a token ("" for the printed numbers) with the instructor's answers to
    the path `place`, and return that path; written answers contain their rubric. Raises LeakError when the student's
    notebook would contain an answer.
    """
    answers = {each.id: each for each in chapter.edition(token).answer_cells}
    solution = {cell.id: cell.source for cell in chapter.edition(token).solved}
    made = student_notebook(chapter, token)
    for cell in made.cells:
        if cell.id in answers:
            cell.source = marks.without_marks(solution[cell.id])
    return _write(place, made)


def student_notebook(chapter: Master, token: str) -> NotebookNode:
    """Return a student's notebook of a chapter for a token ("" for the printed numbers) after checking that it contains
    no answer. Raises LeakError when it contains one.
    """
    notebook = authoring.student_notebook(chapter.source, token)
    require_no_answer([cell.source for cell in notebook.cells], chapter.edition(token))
    return notebook


def require_no_answer(texts: Iterable[str], edition: Edition) -> None:
    """Raise LeakError if a text (the source of a cell) has a line that is only in the instructor's version of the
    chapter `edition`, not in the student's.
    """
    lines = {_plain_line(line) for text in texts for line in text.split("\n")}
    found = sorted(secrets_of(edition) & lines)
    if found:
        raise LeakError(f"The notebook would hand out an answer: the line {found[0]!r}. Nothing was written.")


def secrets_of(edition: Edition) -> set[str]:
    """Return the lines, without outer spaces, that are in the instructor's version of a chapter and not in the
    student's; those of fewer than MIN_SECRET_LENGTH characters are left out.
    """
    public = {_plain_line(line) for cell in edition.handed_out for line in cell.source.split("\n")}
    solved = {_plain_line(line) for cell in edition.solved for line in cell.source.split("\n")}
    return {line for line in solved - public if len(line) >= MIN_SECRET_LENGTH}


def _plain_line(line: str) -> str:
    """Return a line of code or text without HTML comments, comments that mark a solution, and outer spaces."""
    return re.sub(r"\s*#.*SOLUTION.*$|<!--.*?-->", "", line).strip()


def with_tokens(chapter: Master, entries: Sequence[RosterEntry], salt: str = "") -> list[RosterEntry]:
    """Return the class list `entries`, in its order, with a token for each student, such that no two students have the
    same numbers in the chapter; given tokens are kept, others follow from the student and `salt`. Raises NetlabError
    when two given tokens have the same numbers, there are fewer combinations than students, or the chapter has no
    numbers that depend on a token.
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


def _with_token(chapter: Master, entry: RosterEntry, salt: str, owners: dict[str, str]) -> RosterEntry:
    """Return a copy of a student's entry with a token (10 hexadecimal digits) whose numbers nobody else in `owners`
    (students by numbers) has, and add these numbers with the student to `owners`; the token follows from `salt`,
    chapter and student. Raises NetlabError when none is found in MAX_TRIES tries.
    """
    for attempt in range(MAX_TRIES):
        token = hashlib.sha256(f"{salt}\n{chapter.topic}\n{entry.student}\n{attempt}".encode()).hexdigest()[:10]
        numbers = _numbers(chapter, token)
        if numbers not in owners:
            owners[numbers] = entry.student
            return replace(entry, columns={**entry.columns, "token": token})
    raise NetlabError(
        f"{chapter.stem} has too few combinations of numbers for this class: {len(owners)} students have theirs, and "
        f"{entry.student} found none in {MAX_TRIES} draws. Widen NUMBERS in the chapter's settings."
    )


def _numbers(chapter: Master, token: str) -> str:
    """Return the numbers of the chapter's exercises that a token gives a student, as a text that is equal for equal
    numbers. Raises NetlabError when the chapter has no numbers that depend on a token.
    """
    opened = authoring.open_chapter_of(chapter.source, token)
    if opened is None or not vars(opened.own):
        raise NetlabError(f"{chapter.stem} has no numbers of a student's own: leave --roster out.")
    return repr(sorted(vars(opened.own).items()))


def class_list(entries: Sequence[RosterEntry]) -> str:
    """Return the class list, with the students, all columns of NAMES that are not empty, tokens among them, and texts
    that no spreadsheet takes for a formula, as the text of a CSV file for `netlab grade --roster`.
    """
    used = [name for name in NAMES if any(entry.columns.get(name) for entry in entries)]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["student", *used])
    for entry in entries:
        writer.writerow(
            [escape_formula(text) for text in (entry.student, *(entry.columns.get(name, "") for name in used))]
        )
    return text.getvalue()


def _write(place: Path, notebook: NotebookNode) -> Path:
    """Write a notebook to a path, whose folder is created if needed, and return the path. Raises a ValidationError of
    nbformat if the notebook is not valid.
    """
    place.parent.mkdir(parents=True, exist_ok=True)
    nbformat.validate(notebook)
    text: str = nbformat.writes(notebook)  # type: ignore[no-untyped-call]
    place.write_text(text.rstrip("\n") + "\n", encoding="utf-8")
    return place
