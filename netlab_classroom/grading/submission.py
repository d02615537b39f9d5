"""Reading of a submitted notebook without executing any of it."""

import ast
import contextlib
import difflib
import hashlib
import json
import os
import re
import stat
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from netlab.base.errors import NetlabError
from netlab_classroom.grading.text import clean
from netlab_course.marks import INSTRUCTION, PROMPT
from netlab_course.progress_store import MAX_TRIES
from netlab_course.tries import WRONG_TRIES

MAX_BYTES = 64 << 20
MAX_CELLS = 5_000
MAX_ANSWER_CHARACTERS = 50_000
MAX_CELL_CHARACTERS = 2 * MAX_ANSWER_CHARACTERS
MAX_MAGICS = 50
MAX_OUTPUTS = 20
PREDICT = "predict"
"""The cell with a chapter's predictions."""
TIMING_MAGICS = ("time", "timeit", "capture", "prun")
ASKS = re.compile(r"(\.\.\.|…)$", re.MULTILINE)
VALIDATION = re.compile(r"[ \t]*#.*(NBVAL|PYTEST_VALIDATE)")
"""Comments that tell nbval to skip a cell or its output."""


class UnreadableError(NetlabError):
    """A file is not a notebook that can be graded; the text says what it is and what to hand in."""


@dataclass(frozen=True)
class Cell:
    """A cell of a submission or of the original notebook: its id ("" if it has none), kind ("code", "markdown", ...),
    source and tags.
    """

    id: str
    kind: str
    source: str
    tags: tuple[str, ...] = ()
    wrong_tries: int = 0
    """For a check cell of a submission, the number of wrong tries that its output shows."""


@dataclass(frozen=True)
class Submission:
    """A submitted notebook: its cells in their order."""

    cells: tuple[Cell, ...]
    """The cells, in their order."""

    def token(self) -> str:
        """Return the token, from which own numbers are drawn, in the notebook's call `begin("...")`; "" (the printed
        numbers) if there is none.
        """
        for cell in self.cells:
            found = re.search(r"\bbegin\(\s*[\"']([A-Za-z0-9_-]{1,64})[\"']\s*\)", cell.source)
            if cell.kind == "code" and found:
                return found[1]
        return ""

    def chapter(self) -> str:
        """Return the topic of the chapter that the notebook imports, such as "udp_loss"; "" if it imports none."""
        for cell in self.cells:
            found = re.search(
                r"^[ \t]*from[ \t]+netlab_course\.chapters[ \t]+import[ \t]+(\w+)", cell.source, re.MULTILINE
            )
            if cell.kind == "code" and found:
                return found[1]
        return ""


@dataclass(frozen=True)
class AnswerCell:
    """An answer to look for in a submission: the exercise, the cell, and the name that the cell defines."""

    key: str
    """The key of the exercise."""
    id: str
    """The id of its cell."""
    name: str
    """The name that the cell defines; "" for a written answer."""
    stub: str
    """The original source of the cell."""


@dataclass(frozen=True)
class ExtractedAnswer:
    """An answer that was found in a submission, or None as source if its cell is missing."""

    source: str | None
    """The source of the cell, for a written answer the student's text; None if there is no such cell."""
    attempted: bool
    """True if it differs from the original."""
    notes: tuple[str, ...] = ()
    """Remarks on how it was found."""


@dataclass(frozen=True)
class LayoutDifferences:
    """The differences between a submission and the original notebook: sentences for the report, the ids of edited check
    cells, and cells that the student added.
    """

    notes: tuple[str, ...] = ()
    edited_checks: tuple[str, ...] = ()
    added: tuple[Cell, ...] = field(default=(), repr=False)


def read_submission(path: Path) -> Submission:
    """Read the notebook file of a submission without running anything in it, and return its cells with clean text.
    Raises UnreadableError when it is not a notebook, is too large or cannot be read; the message tells the student what
    the file is and what to hand in.
    """
    data = contents(path)
    try:
        document = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise UnreadableError(f"{_file_kind(data)}; hand in the notebook itself, a file that ends in .ipynb.") from None
    except RecursionError:
        raise UnreadableError("its lists are nested too deeply for a notebook.") from None
    except ValueError as error:
        raise UnreadableError(
            f"{_file_kind(data)} ({str(error)[:80]}); save the notebook again and hand in the .ipynb file."
        ) from None
    return Submission(tuple(_cells(document)))


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file of any kind in hexadecimal digits; "" if it cannot be read, is a link or is too
    large.
    """
    try:
        return hashlib.sha256(contents(path)).hexdigest()
    except UnreadableError:
        return ""


def contents(path: Path) -> bytes:
    """Return the bytes of a regular file of at most MAX_BYTES. Raises UnreadableError when the path is a link, is not a
    regular file, or the file is too large or cannot be opened.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if path.is_symlink():
            raise UnreadableError("it is a link to another file, and links are not followed.") from None
        raise UnreadableError(f"it cannot be opened: {error.strerror}.") from None
    with os.fdopen(handle, "rb") as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise UnreadableError("it is not an ordinary file.")
        if found.st_size > MAX_BYTES:
            raise UnreadableError(
                f"it has {found.st_size / 1e6:.0f} MB, and {MAX_BYTES / 1e6:.0f} are read at most; clear the outputs and "
                "save it again."
            )
        return file.read(MAX_BYTES + 1)


def _file_kind(data: bytes) -> str:
    """Return a clause such as "it is a PDF" about a file that is not a notebook, from its contents `data`."""
    if not data.strip():
        return "it is empty"
    for start, name in ((b"%PDF", "a PDF"), (b"PK", "a ZIP archive"), (b"<", "a web page"), (b"\x89PNG", "a picture")):
        if data.lstrip()[: len(start)] == start:
            return f"it is {name}"
    return "it is not a notebook"


def _cells(document: Any) -> Iterator[Cell]:
    """Yield the cells of a notebook, given as parsed JSON of nbformat 3 or 4, in order, with clean text and the number
    of wrong tries that its outputs show; a heading of nbformat 3 becomes Markdown, and ids and kinds of another type
    than text are "". Raises UnreadableError when it is not a notebook or has more than MAX_CELLS cells.
    """
    if not isinstance(document, dict):
        raise UnreadableError("it is JSON, but no notebook.")
    given = document.get("cells")
    if given is None and isinstance(document.get("worksheets"), list):
        # nbformat 3
        given = [
            cell
            for sheet in document["worksheets"]
            if isinstance(sheet, dict) and isinstance(sheet.get("cells"), list)
            for cell in sheet["cells"]
        ]
    if not isinstance(given, list) or len(given) > MAX_CELLS:
        raise UnreadableError("it is JSON, but no notebook: it has no list of cells.")
    for cell in given:
        if not isinstance(cell, dict):
            raise UnreadableError("one of its cells is not a cell.")
        metadata = cell.get("metadata") if isinstance(cell.get("metadata"), dict) else {}
        name = cell.get("id", metadata.get("id") if isinstance(metadata, dict) else None)
        kind = cell.get("cell_type")
        text = _text(cell.get("source", cell.get("input", "")))
        if kind == "heading":
            level = cell.get("level")
            kind, text = "markdown", "#" * (level if isinstance(level, int) and 0 < level < 7 else 1) + " " + text
        tries = _wrong_tries(cell.get("outputs"))
        yield Cell(
            name if isinstance(name, str) else "", kind if isinstance(kind, str) else "", text, wrong_tries=tries
        )


def _wrong_tries(outputs: Any) -> int:
    """Return the number of wrong tries that the first MAX_OUTPUTS outputs of a check cell (untrusted, from its JSON)
    have in their metadata; 0 if none has a number from 1 to MAX_TRIES.
    """
    for output in outputs[:MAX_OUTPUTS] if isinstance(outputs, list) else ():
        metadata = output.get("metadata") if isinstance(output, dict) else None
        number = metadata.get(WRONG_TRIES) if isinstance(metadata, dict) else None
        if isinstance(number, int) and 0 < number <= MAX_TRIES:
            return number
    return 0


def _text(source: Any) -> str:
    """Return the source of a cell, in its JSON a text or a list of lines, as clean text of at most MAX_CELL_CHARACTERS
    characters; "" if it is neither.
    """
    if isinstance(source, list):
        source = "".join(part for part in source if isinstance(part, str))
    return clean(source[:MAX_CELL_CHARACTERS]) if isinstance(source, str) else ""


def defines(source: str, name: str) -> bool:
    """Return whether a cell's source assigns `name` or defines a function or class of that name at its top level; if it
    is not valid Python, whether a line looks like that.
    """
    try:
        body = ast.parse(without_magics(source)).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return re.search(rf"^(def\s+{name}\b|{name}\s*(:[^=\n]+)?=[^=])", source, re.MULTILINE) is not None
    for statement in body:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            if statement.name == name:
                return True
            continue
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id == name:
                return True
    return False


def without_magics(source: str) -> str:
    """Return a cell's source with the lines for IPython (%, !) replaced by `pass`, at most MAX_MAGICS of them, and
    comments for nbval emptied, so that line numbers stay; similar text in a string or inside brackets is kept. A cell
    that begins with %% becomes empty; after a timing magic only that line does.

    >>> without_magics("%matplotlib inline\\nx = (7\\n    % 4)")
    'pass\\nx = (7\\n    % 4)'
    """
    lines = ["" if VALIDATION.match(line) else line for line in source.split("\n")]
    first = next((place for place, line in enumerate(lines) if line.strip()), 0)
    if lines[first].startswith("%%"):
        timing = lines[first][2:].split()[:1]
        lines = ["", *lines[first + 1 :]] if timing and timing[0] in TIMING_MAGICS else []
    for _ in range(MAX_MAGICS):
        try:
            ast.parse("\n".join(lines))
        except SyntaxError as error:
            line = lines[error.lineno - 1] if error.lineno and error.lineno <= len(lines) else ""
            if not line.lstrip().startswith(("%", "!")):
                break
            lines[(error.lineno or 1) - 1] = line[: len(line) - len(line.lstrip())] + "pass"
        except (ValueError, RecursionError, MemoryError):
            break
        else:
            break
    return "\n".join(lines)


def are_equal(one: str, other: str) -> bool:
    """Return whether the sources of two cells are equal except for trailing spaces and empty lines."""
    return _lines(one) == _lines(other)


def _lines(source: str) -> list[str]:
    """Return the lines of a source that are not empty, in order and without trailing spaces."""
    return [line.rstrip() for line in source.split("\n") if line.strip()]


def extract(
    submission: Submission, question: AnswerCell, master: Mapping[str, str], added: Sequence[Cell] = ()
) -> ExtractedAnswer:
    """Find the answer to an exercise (`question`) in a submission: by its cell's id, else by the name that a cell
    defines; if its cell is unchanged, in one of the student's own cells, `added`; the last of several. Return it
    without magics (words without the question), with remarks on how it was found; its source is None if there is none.
    `master` has the sources of all original cells by id.
    """
    if not question.name:
        return _extract_words(submission, question, master, added)
    notes: list[str] = []
    cells = [cell for cell in submission.cells if cell.kind == "code"]
    found = [cell for cell in cells if cell.id == question.id]
    if len(found) > 1:
        notes.append(f"{question.key}: {len(found)} cells have its id; the last was used.")
    good = [cell for cell in found if defines(cell.source, question.name)]
    added_answers = [cell for cell in added if cell.kind == "code" and defines(cell.source, question.name)]
    if good and added_answers and _same_code(without_magics(good[-1].source), question.stub):
        notes.append(
            f"{question.key}: its cell is as it was handed out; taken from a cell of yours that defines {question.name}."
        )
        good = added_answers
    if not good:
        provided = {tuple(_lines(text)) for name, text in master.items() if name != question.id}
        # An original cell in another place is not an answer.
        others = [
            cell
            for cell in cells
            if defines(cell.source, question.name)
            and tuple(_lines(cell.source)) not in provided
            and (cell.id not in master or cell.id == question.id)
        ]
        if others:
            difference = "its cell has another id" if not found else f"its cell does not define {question.name}"
            notes.append(f"{question.key}: {difference}; taken from the cell that defines {question.name}.")
            if len(others) > 1:
                notes.append(f"{question.key}: {len(others)} cells define {question.name}; the last was used.")
            good = others
    chosen = (good or found)[-1:]
    if not chosen:
        return ExtractedAnswer(None, False, (*notes, f"{question.key}: its cell is missing."))
    source = without_magics(chosen[0].source)
    if not source and chosen[0].source.strip():
        notes.append(
            f"{question.key}: its cell begins with a magic of IPython (%%), so it is not Python; it was not read."
        )
    if len(source) > MAX_ANSWER_CHARACTERS:
        notes.append(
            f"{question.key}: the cell has {len(source)} characters; {MAX_ANSWER_CHARACTERS} are read at most."
        )
        return ExtractedAnswer(source[:MAX_ANSWER_CHARACTERS], True, tuple(notes))
    return ExtractedAnswer(source, not _same_code(source, question.stub), tuple(notes))


def _same_code(one: str, other: str) -> bool:
    """Return whether the sources of two cells, the student's `one` and the original `other`, are the same program
    except for comments and layout (as `are_equal` compares texts if one is not valid Python); a student's cell without any
    code counts as the same.
    """
    try:
        student, original = ast.parse(one), ast.parse(other)
        return not student.body or ast.dump(student) == ast.dump(original)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return are_equal(one, other)


def _extract_words(
    submission: Submission, question: AnswerCell, master: Mapping[str, str], added: Sequence[Cell]
) -> ExtractedAnswer:
    """Return the written answer to an exercise (`question`) in a submission, without the question's text, cut to
    MAX_ANSWER_CHARACTERS: from the cell with its id, else a cell with the question's first line; if nothing was written
    there, from the student's own cell (one of `added`) directly below. `master` has the sources of the original cells
    by id. Its source is None if there is no such cell.
    """
    # Accept cells of any kind: in command mode a single key turns a text into code, raw text or a heading.
    cells = submission.cells
    found = [cell for cell in cells if cell.id == question.id]
    notes: list[str] = []
    if not found:
        # Without ids, take the cell with the question's first line.
        head = _heading(question.stub)
        found = [cell for cell in cells if head and _heading(cell.source) == head and cell.id not in master]
        if found:
            notes.append(f"{question.key}: its cell has another id; taken from the cell with the same first line.")
    if not found:
        return ExtractedAnswer(None, False, (f"{question.key}: its cell is missing.",))
    if len(found) > 1:
        notes.append(f"{question.key}: {len(found)} cells have its id; the last was used.")
    chosen = found[-1]
    if chosen.kind != "markdown":
        notes.append(f"{question.key}: its cell is of the kind {chosen.kind!r}; taken as text.")
    words = words_of(chosen.source[:MAX_ANSWER_CHARACTERS], question.stub)
    texts = [cell for cell in cells if cell.kind != "code" or cell is chosen]
    below = texts[texts.index(chosen) + 1 :][:1]
    if not words and below and below[0] in added and below[0].source.strip():
        words = below[0].source[:MAX_ANSWER_CHARACTERS].strip()
        notes.append(f"{question.key}: its cell is as it was handed out; taken from your cell below it.")
    return ExtractedAnswer(words, bool(words), tuple(notes))


def prediction_of(submission: Submission) -> str:
    """Return the assignments, such as "my_rate_mbps = 5; my_reason = '...'", in the cell `predict` of a submission, in
    which a student predicts results, without those of `...` and of calls, cut to MAX_ANSWER_CHARACTERS; "" if nothing
    was written there or it is not valid Python.
    """
    found = []
    for cell in submission.cells:
        if cell.id != PREDICT or cell.kind != "code":
            continue
        with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError):
            statements = ast.parse(without_magics(cell.source)).body
            assignments = [each for each in statements if isinstance(each, ast.Assign)]
            found += [ast.unparse(each) for each in assignments if not _is_stub_or_call(each.value)]
    return "; ".join(found)[:MAX_ANSWER_CHARACTERS]


def _is_stub_or_call(value: ast.expr) -> bool:
    """Return whether the value (an expression) of an assignment is `...` or a call, such as that of
    `nl.checks.predict`.
    """
    return isinstance(value, ast.Call) or (isinstance(value, ast.Constant) and value.value is ...)


def _heading(source: str) -> str:
    """Return the first line of a cell's source that is not empty, without the marks "#" of a heading, because a digit
    key pressed by accident changes their number; "" if there is none.
    """
    return next(iter(_lines(source)), "").lstrip("# ")


def words_of(source: str, stub: str) -> str:
    """Return the text that a student added to the cell of a question, without the prompt for the answer; `source` is
    the student's cell, `stub` the cell as it was handed out.

    >>> words_of("Why?\\n*Your answer:* because.", "Why?\\n*Your answer:* …")
    'because.'
    """
    original_lines, student_lines = _without_heading_marks(stub), _without_heading_marks(source)
    added: list[str] = []
    matcher = difflib.SequenceMatcher(a=original_lines, b=student_lines, autojunk=False)
    for what, _, _, start, end in matcher.get_opcodes():
        if what in ("insert", "replace"):
            added += student_lines[start:end]
    text = "\n".join(added).replace(INSTRUCTION, "").strip()
    head = PROMPT.rstrip("… ")
    if text.startswith(head):
        text = text[len(head) :]
    return text.strip().strip("…").strip()


def _without_heading_marks(text: str) -> list[str]:
    """Return the lines of a text, each without outer spaces; the first also without the marks "#" of a heading."""
    first, *others = (line.strip() for line in text.split("\n"))
    return [first.lstrip("# "), *others]


def layout(submission: Submission, handed_out: Sequence[Cell], answers: Sequence[str]) -> LayoutDifferences:
    """Return the differences between a submission and the student's original notebook `handed_out`: sentences about
    deleted, doubled, edited and moved cells, the ids of edited check cells, and the cells that the student added; only
    one sentence if no cell has an original id. Cells with the ids in `answers`, and others that ask for something (a
    prediction, an optional exercise), are expected to change.
    """
    master = {cell.id: cell for cell in handed_out}
    ids = [cell.id for cell in submission.cells if cell.id in master]
    if not ids:
        return LayoutDifferences(("The cells have lost their ids; answers were found by the names that they define.",))
    notes = []
    gone = [cell.id for cell in handed_out if cell.id not in set(ids)]
    twice = [name for name, times in Counter(ids).items() if times > 1]
    edited = [
        cell.id
        for cell in submission.cells
        if cell.id in master.keys() - answers
        and not are_equal(cell.source, _with_begin(master[cell.id], cell))
        and not ASKS.search(master[cell.id].source)
    ]
    checks = [name for name in edited if name.endswith("-check")]
    places = {cell.id: place for place, cell in enumerate(handed_out)}
    order = [places[name] for name in dict.fromkeys(ids)]
    moved = order != sorted(order)
    for sentence, names in (
        ("Deleted cells", gone),
        ("Duplicate cells", twice),
        ("Edited check cells (never run)", checks),
        ("Edited cells (the instructor's were used)", [name for name in edited if name not in checks]),
    ):
        if names:
            notes.append(f"{sentence}: {', '.join(names[:20])}{' …' if len(names) > 20 else ''}.")
    if moved:
        notes.append("Cells were reordered; answers were found by their ids.")
    added = tuple(cell for cell in submission.cells if cell.id not in master)
    return LayoutDifferences(tuple(notes), tuple(checks), added)


def _with_begin(original: Cell, cell: Cell) -> str:
    """Return the source of the original cell in which the call `begin(...)`, if there is one, is that of the submitted
    `cell`, so that another token is not counted as an edit.
    """
    found = re.search(r"\bbegin\([^)]*\)", cell.source)
    return re.sub(r"\bbegin\([^)]*\)", lambda _match: found[0], original.source) if found else original.source
