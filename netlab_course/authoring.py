"""Build the student's notebook and the executed solution of a chapter from its source.

`solutions/NN_topic.py` (py:percent) is the source. From it `notebooks/NN_topic.ipynb` (no solutions, no outputs) and
`solutions/NN_topic.ipynb` (executed) are built. `netlab_course.marks` describes the marks of solutions.

In Markdown ``[[name]]`` or ``[[name:.3f]]`` stands for a number of the reader's own (`netlab_course.own_numbers`),
``[[minutes]]`` for the minutes that the chapter takes (`netlab_course.minutes`), and ``Tolerance: [[tolerance]]`` for
that of the next check below that has one. ``[[text = expression | test]]`` is a claim that is held against the executed
notebook (`netlab_course.claims`). A cell tagged ``figure`` shows one; a cell tagged ``folded`` is plumbing, hidden until
the reader unfolds it.

The module belongs to the package, not to a folder of scripts, so that it is installed, type-checked and
tested like the rest, and so that a grader can rebuild a student notebook from its source.

Commands::

    python -m netlab_course.authoring            # build every chapter: both notebooks, solutions executed
    python -m netlab_course.authoring --check    # compare the files with their sources; exit code 1 when they differ
"""

import argparse
import contextlib
import copy
import functools
import hashlib
import importlib
import json
import math
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jupytext  # type: ignore[import-untyped]
import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode

from netlab.widgets import WIDGET_VIEW
from netlab_course.chapters.opening import judging_checks
from netlab_course.checks import Check
from netlab_course.claims import Claim, add_probe, extract_claims, verify_claims
from netlab_course.equality import equal_but_for_rounding
from netlab_course.marks import AuthoringError, strip_code, strip_markdown
from netlab_course.minutes import MAX_MINUTES, minutes

_CELL_HEAD = re.compile(r"# %%(?: |$)")
KERNELSPEC = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
_METADATA = {"kernelspec": KERNELSPEC, "language_info": {"name": "python"}}
_CELL_TIMEOUT_S = 300
_FIGURE = re.compile(r"\[\[(?P<name>[a-z][a-z0-9_]*)(?::(?P<format>[^\]]+))?\]\]")
_BEGIN = "begin()"
_TOLERANCE = "[[tolerance]]"
_WRITTEN_TOLERANCE = re.compile(r"Tolerance:\s*(?!\[\[tolerance\]\])\S[^.]*")
_CHECK_CALL = re.compile(r"chapter\.check\.(\w+)\(")
_FIGURE_TYPES = {
    "application/vnd.plotly.v1+json",
    "application/vnd.jupyter.widget-view+json",
    "image/png",
    "image/svg+xml",
}


@dataclass(frozen=True)
class Chapter:
    """A chapter's source and the two notebooks that are built from it."""

    source: Path
    """``solutions/NN_topic.py``, edited by hand."""

    @property
    def solution(self) -> Path:
        """The path of the executed notebook next to the source: ``solutions/NN_topic.ipynb``."""
        return self.source.with_suffix(".ipynb")

    @property
    def student(self) -> Path:
        """The path of the notebook that students open: ``notebooks/NN_topic.ipynb``."""
        return self.source.parent.parent / "notebooks" / self.solution.name


def chapters(root: Path) -> list[Chapter]:
    """Return the chapters whose sources are `solutions/NN_*.py` under the directory `root`, in the order of their
    numbers.
    """
    return [Chapter(path) for path in sorted((root / "solutions").glob("[0-9][0-9]_*.py"))]


def projects(root: Path) -> list[Chapter]:
    """Return the notebooks whose sources are `solutions/project*.py` under the directory `root`, in which students
    answer a question of their own; a person grades them.
    """
    return [Chapter(path) for path in sorted((root / "solutions").glob("project*.py"))]


def pages(root: Path) -> list[Chapter]:
    """Return the notebooks of all sources in `solutions/` under the directory `root`: chapters, instructions without
    exercises (`how_to_*.py`), and projects, in this order.
    """
    how_tos = [Chapter(path) for path in sorted((root / "solutions").glob("how_to_*.py"))]
    return chapters(root) + how_tos + projects(root)


def topic_of(source: Path) -> str:
    """Return the topic of a chapter by its source's name: the name of its folder of code.

    >>> topic_of(Path("solutions/01_udp_loss.py"))
    'udp_loss'
    """
    return source.stem.split("_", 1)[-1]


def read_source(path: Path, token: str = "") -> NotebookNode:
    """Read a py:percent source as a notebook with stable cell ids, with its solutions and the own numbers of `token`
    ("" for the printed ones).

    A cell keeps the id in its header (``# %% id="limit"``). Without one, its id is derived from its content, so that an
    edit of another cell does not change it; equal cells are numbered.

    Raises
    ------
    AuthoringError
        If an id is given twice or is malformed, or a cell with a solution has none: grades depend on that id.
    """
    return _read(path, token)[0]


def _read(path: Path, token: str = "") -> tuple[NotebookNode, list[Claim]]:
    """Return the notebook of `read_source` for the source file `path` and the own numbers of `token` ("" for the
    printed ones), and the claims of its text about the runs. Raises AuthoringError for a wrong or missing id or an
    unknown number.
    """
    text = path.read_text(encoding="utf-8")
    notebook = copy.deepcopy(_parse_source(text))
    lines = _cell_lines(text)
    if len(lines) != len(notebook.cells):
        raise AuthoringError(f"{path}: every cell must start with a line `# %%`, the first one too.")
    given: dict[str, int] = {}
    seen: Counter[str] = Counter()
    for cell, line in zip(notebook.cells, lines, strict=True):
        name = cell.metadata.pop("id", None)
        if name is None:
            digest = hashlib.sha256(f"{cell.cell_type}\n{cell.source}".encode()).hexdigest()[:12]
            seen[digest] += 1
            cell["id"] = digest if seen[digest] == 1 else f"{digest}-{seen[digest]}"
            continue
        if not (isinstance(name, str) and re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]{0,63}", name)):
            raise AuthoringError(f"{path}:{line}: id {name!r} must be a letter, then letters, digits, - or _.")
        if name in given:
            raise AuthoringError(f"{path}:{line}: id {name!r} is taken by the cell of line {given[name]}.")
        given[name] = line
        cell["id"] = name
    notebook.metadata = _notebook_node(_METADATA)
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    for cell, line in zip(notebook.cells, lines, strict=True):
        if _without_solution(cell, path, line) != cell.source and cell.id not in given:
            raise AuthoringError(
                f'{path}:{line}: a cell with a solution needs an id of its own, e.g. `# %% id="limit"`.'
            )
        if "folded" in cell.metadata.get("tags", []):
            cell.metadata["jupyter"] = {"source_hidden": True}
    claims = extract_claims(notebook)
    _put_figures_in(notebook, path, token)
    return notebook, claims


@functools.lru_cache(maxsize=64)  # a class asks for each student's notebook, and parsing takes most of the time
def _parse_source(text: str) -> NotebookNode:
    """Return a py:percent source as jupytext reads it; a caller copies the notebook before changing it."""
    notebook: NotebookNode = jupytext.reads(text, fmt="py:percent")
    return notebook


def student_notebook(path: Path, token: str = "") -> NotebookNode:
    """Return the student's notebook of a source file: solutions replaced by stubs, no outputs, the own numbers of
    `token` in its text ("" for the printed ones), and the token, if any, in the cell that opens the chapter. Raises
    AuthoringError, with file and line, for wrong marks or if the remaining code is not valid Python.
    """
    notebook = read_source(path, token)
    for cell, line in zip(notebook.cells, _cell_lines(path.read_text(encoding="utf-8")), strict=True):
        cell.source = _without_solution(cell, path, line)
    return notebook


def open_chapter_of(path: Path, token: str = "") -> Any:
    """Open the chapter of a source as its notebook does, with the own numbers of `token` ("" for the printed ones), and
    return its `OpenChapter`; None if no package belongs to the source. Raises NetlabError when no numbers of the token
    serve the lesson.
    """
    name = f"netlab_course.chapters.{topic_of(path)}"
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name == name:
            return None
        raise
    begin = getattr(module, "begin", None)
    return begin and begin(token)


def _put_figures_in(notebook: NotebookNode, path: Path, token: str) -> None:
    """Insert own numbers, tolerances and minutes into the Markdown of a notebook with the source `path`, and `token`
    (if not "") into the cell that opens the chapter, in place. Raises AuthoringError when a number is unknown or the
    chapter takes too long.
    """
    text = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    if not token and not _FIGURE.search(text):
        return
    chapter = open_chapter_of(path, token)
    figures = {} if chapter is None else dict(vars(chapter.own))
    tolerances = _tolerances(notebook, {} if chapter is None else judging_checks(chapter), path)
    if "[[minutes]]" in text:
        minutes_needed = minutes(notebook)
        if minutes_needed > MAX_MINUTES:
            raise AuthoringError(
                f"{path}: takes {minutes_needed:.0f} minutes, at most {MAX_MINUTES} are allowed: "
                "shorten it, fold plumbing, or move optional parts after the summary."
            )
        figures["minutes"] = max(5, 5 * math.ceil(minutes_needed / 5))

    def figure(found: re.Match[str]) -> str:
        """Return the text in place of a match of `_FIGURE`, the number with its format. Raises AuthoringError when the
        chapter has no such number.
        """
        name = found["name"]
        if name not in figures:
            known = ", ".join(sorted(figures)) or "none"
            raise AuthoringError(f"{path}: {found[0]} is not a number of this chapter; there are: {known}.")
        return format(figures[name], found["format"] or ("" if isinstance(figures[name], str) else "g"))

    for position, cell in enumerate(notebook.cells):
        if cell.cell_type == "markdown":
            figures["tolerance"] = tolerances.get(position, "")
            cell.source = _FIGURE.sub(figure, cell.source)
        elif token and cell.source.count(_BEGIN) == 1:
            cell.source = cell.source.replace(_BEGIN, f'begin("{token}")')


def _tolerances(notebook: NotebookNode, checks: Mapping[str, Check], path: Path) -> dict[int, str]:
    """Return the tolerance as text for each Markdown cell that asks for one, by the index of the cell (from 0); it is
    that of the next of the chapter's `checks` (by key) that a cell below calls. `path` names the source in messages.

    Raises AuthoringError if there is none, and for a tolerance that is written as a number: it could contradict the check.
    """
    found: dict[int, str] = {}
    words = ""
    for position, cell in reversed(list(enumerate(notebook.cells))):
        if cell.cell_type == "code":
            called = _CHECK_CALL.search(cell.source)
            # A measurement has no tolerance; the number that is read from it has one.
            with contextlib.suppress(LookupError):
                words = checks[called[1]].tolerance_in_words() if called else words
            continue
        if checks and (written := _WRITTEN_TOLERANCE.search(cell.source)):
            raise AuthoringError(f'{path}: {written[0]!r} is written into the text; write "Tolerance: [[tolerance]]".')
        if _TOLERANCE in cell.source:
            if not words:
                raise AuthoringError(f"{path}: cell {cell.id!r} asks for a tolerance, and no check below it has one.")
            found[position] = words
    return found


def execute(notebook: NotebookNode, directory: Path) -> NotebookNode:
    """Run a notebook from top to bottom in a fresh kernel whose working directory is `directory`, and return it with
    its outputs, without views of widgets and with stable ids. Raises CellExecutionError when a cell raises.

    A panel keeps its figure but not its controls, because a saved widget without a kernel is an error message on the
    page. Parts that differ between two equal runs (random ids, times, versions) are replaced or removed.
    """
    client = NotebookClient(
        notebook,
        timeout=_CELL_TIMEOUT_S,
        kernel_name=KERNELSPEC["name"],
        resources={"metadata": {"path": str(directory)}},
        record_timing=False,
        # Hide the kernel's warning that its local sockets are not encrypted.
        extra_arguments=["--IPKernelApp.log_level=ERROR"],
        coalesce_streams=True,  # otherwise the number of saved pieces depends on the speed of the machine
        store_widget_state=False,
    )
    # A progress bar would be saved in the outputs, and its text depends on the speed of the machine.
    executed = client.execute(env={**os.environ, "NETLAB_PROGRESS": "0", "NETLAB_DATA": os.devnull})
    executed.metadata = _notebook_node(_METADATA)
    for cell in executed.cells:
        for output in cell.get("outputs", ()):
            output.get("data", {}).pop(WIDGET_VIEW, None)
    return _with_stable_ids(executed)


def build(chapter: Chapter) -> None:
    """Write both notebooks of a chapter, the student's and the executed one; neither is changed if AuthoringError
    (wrong source, or text and runs disagree) or CellExecutionError is raised.

    A notebook that differs from the file only by rounding is not written, because the last digits differ between processors.
    """
    student = _as_text(student_notebook(chapter.source))
    executed = execute_and_verify(chapter.source)
    if "[[minutes]]" in chapter.source.read_text(encoding="utf-8"):
        _require_tags(executed, chapter.source)
    solution = _as_text(executed)
    chapter.student.parent.mkdir(parents=True, exist_ok=True)
    for path, text in ((chapter.student, student), (chapter.solution, solution)):
        if not (path.exists() and equal_but_for_rounding(path.read_text(encoding="utf-8"), text)):
            path.write_text(text, encoding="utf-8")


def execute_and_verify(path: Path) -> NotebookNode:
    """Execute the notebook of a source file, verify the claims of its text with its runs, and return it with its
    outputs. Raises AuthoringError with all claims that do not hold, and CellExecutionError when a cell raises.
    """
    notebook, claims = _read(path)
    if claims:
        add_probe(notebook, claims)
    executed = execute(notebook, path.parent)
    if claims:
        verify_claims(executed, claims, str(path))
    return executed


def _require_tags(executed: NotebookNode, path: Path) -> None:
    """Raise AuthoringError if a code cell of an executed notebook has the tag `figure` but shows no figure, or shows
    one without the tag, which counts minutes; `path` names the source in messages.
    """
    for cell in executed.cells:
        if cell.cell_type != "code":
            continue
        shown = any(_FIGURE_TYPES & set(output.get("data", ())) for output in cell.outputs)
        tagged = "figure" in cell.metadata.get("tags", [])
        if shown != tagged:
            problem = "shows a figure and needs" if shown else "shows no figure and has"
            raise AuthoringError(f'{path}: cell {cell.id!r} {problem} the tag "figure" (# %% id="…" tags=["figure"]).')


def differences(chapter: Chapter) -> list[str]:
    """Return a sentence for each of the two notebooks of a chapter whose file is missing, no notebook, or different
    from what the source gives; an empty list when there is none. Raises AuthoringError for a wrong source.

    Student notebooks must be equal. In solutions, the cells' ids, types, tags and sources are compared; nbval compares the outputs.
    """
    found = []
    pairs = (
        (chapter.student, student_notebook(chapter.source), True),
        (chapter.solution, read_source(chapter.source), False),
    )
    for path, expected, exactly in pairs:
        if not path.exists():
            found.append(f"{path} is missing.")
            continue
        text = path.read_text(encoding="utf-8")
        try:
            actual = nbformat.reads(text, as_version=4)  # type: ignore[no-untyped-call]
        except Exception as error:  # noqa: BLE001 (nbformat raises several kinds, all of which mean the same here)
            found.append(f"{path} is not a notebook: {error}")
            continue
        change = _first_change(actual.cells, expected.cells)
        if change:
            found.append(f"{path}: {change}")
        elif exactly and text != _as_text(expected):
            found.append(f"{path}: outputs, counts or metadata differ from what the source gives.")
    return found


def orphans(root: Path) -> list[str]:
    """Return a sentence for each notebook in `notebooks/` or `solutions/` under the directory `root` that has no
    source.
    """
    made = {path for page in pages(root) for path in (page.student, page.solution)}
    there = [*(root / "notebooks").glob("*.ipynb"), *(root / "solutions").glob("*.ipynb")]
    return [f"{path} has no source in solutions/." for path in sorted(there) if path not in made]


def main(arguments: Sequence[str] | None = None) -> int:
    """Build or check the chapters that the command's arguments name (None: those of the process), and print what was
    done; return the exit status 0, 1 after an error or difference, 2 for an unknown name.
    """
    parser = argparse.ArgumentParser(prog="python -m netlab_course.authoring", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="chapter", help="e.g. 01_udp_loss (default: all)")
    parser.add_argument("--check", action="store_true", help="compare with the sources and write nothing")
    parser.add_argument("--root", type=Path, default=Path.cwd(), help="directory with solutions/ (default: here)")
    options = parser.parse_args(arguments)
    known = {page.source.stem: page for page in pages(options.root)}
    unknown = [name for name in options.names if name not in known]
    if unknown or not known:
        print(
            f"No chapter {', '.join(unknown)} under {options.root / 'solutions'}; "
            f"there are: {', '.join(known) or 'none'}.",
            file=sys.stderr,
        )
        return 2
    chosen = [known[name] for name in options.names] or list(known.values())
    try:
        return _check(chosen, options.root) if options.check else _build(chosen)
    except (AuthoringError, CellExecutionError) as error:
        print(error, file=sys.stderr)
        return 1


def _build(chosen: Sequence[Chapter]) -> int:
    """Build the notebooks of these chapters, print the time of each, and return the exit status 0. Raises
    AuthoringError or CellExecutionError.
    """
    for chapter in chosen:
        start_s = time.monotonic()
        build(chapter)
        print(f"{chapter.student} and {chapter.solution}: built in {time.monotonic() - start_s:.0f} s")
    return 0


def _check(chosen: Sequence[Chapter], root: Path) -> int:
    """Print the differences between these chapters' notebooks and their sources, and the notebooks under `root` without
    a source; return the exit status, 1 if there are any, else 0. Raises AuthoringError for a wrong source.
    """
    found = [sentence for chapter in chosen for sentence in differences(chapter)] + orphans(root)
    for sentence in found:
        print(sentence, file=sys.stderr)
    if found:
        print("Run `make notebooks CHAPTERS=...` and commit what it writes; edit only solutions/*.py.", file=sys.stderr)
    return 1 if found else 0


def _without_solution(cell: NotebookNode, path: Path, head_line: int) -> str:
    """Return the source of a cell without its solution; for error messages, `path` is the chapter's source and
    `head_line` the number (from 1) of the line of the cell's header in it.
    """
    if cell.cell_type == "code":
        return strip_code(cell.source, f"{path}", head_line + 1)
    return strip_markdown(cell.source, f"{path}", head_line + 1)


def _cell_lines(text: str) -> list[int]:
    """Return the line numbers (from 1) of the cells' headers in a py:percent text."""
    return [number for number, line in enumerate(text.split("\n"), start=1) if _CELL_HEAD.match(line)]


def _with_stable_ids(notebook: NotebookNode) -> NotebookNode:
    """Return the notebook with random ids (32 hex digits or UUIDs) in outputs and widget states replaced by numbers in
    order of use.
    """
    text = json.dumps(notebook)
    random_id = re.compile(r"(?<![0-9a-f])(?:[0-9a-f]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?![0-9a-f])")
    order: dict[str, str] = {}
    for found in random_id.findall(text):
        digits = f"{len(order) + 1:032x}"
        parts = (digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:])
        order.setdefault(found, "-".join(parts) if "-" in found else digits)
    return _notebook_node(json.loads(random_id.sub(lambda match: order[match[0]], text)))


def _first_change(actual: Sequence[NotebookNode], expected: Sequence[NotebookNode]) -> str:
    """Return a sentence on the first difference between two lists of cells in id, type, source or metadata; "" if there
    is none.
    """
    for number, (there, wanted) in enumerate(zip(actual, expected, strict=False), start=1):
        for name in ("id", "cell_type", "source", "metadata"):
            if there.get(name) != wanted.get(name):
                return f"cell {number} ({wanted.id!r}) differs from the source in its {name}."
    if len(actual) != len(expected):
        return f"has {len(actual)} cells, the source gives {len(expected)}."
    return ""


def _notebook_node(words: dict[str, Any]) -> NotebookNode:
    """Return a dict of a notebook's JSON as a node of nbformat, with its keys as attributes."""
    node: NotebookNode = nbformat.from_dict(words)  # type: ignore[no-untyped-call]
    return node


def _as_text(notebook: NotebookNode) -> str:
    """Return a notebook as the text of its file. Raises nbformat's ValidationError if it is not valid."""
    nbformat.validate(notebook)
    text: str = nbformat.writes(notebook)  # type: ignore[no-untyped-call]
    return text.rstrip("\n") + "\n"


if __name__ == "__main__":
    sys.exit(main())
