"""A chapter from the instructor's side: the students' notebook, the solutions, the exercises and their marking scheme."""

import ast
import hashlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from netlab.base.errors import NetlabError, one_of
from netlab.base.location import IMPORT_ROOT, package_directories
from netlab_classroom.grading import examiner
from netlab_classroom.grading.examiner import Exercise, WrittenAnswer
from netlab_classroom.grading.submission import AnswerCell, Cell
from netlab_course import authoring, marks
from netlab_course.chapters.opening import judging_checks
from netlab_course.checks import Check

CARRIED_FOLDER = IMPORT_ROOT / "netlab_classroom" / "carried"
"""The directory in which the instructors' wheel has the folder `solutions`."""
CHECK = "-check"
WORDS = "-words"
LAST_REQUIRED = "summary"
FIGURE = "figure"


class ChapterError(NetlabError):
    """A chapter cannot be graded or published; the text says why."""


@dataclass(frozen=True)
class Edition:
    """A chapter with the own numbers of a token: the student's notebook, the solved one, the checks
    and the exercises.
    """

    token: str
    """The token; "" for the printed numbers."""
    handed_out: tuple[Cell, ...]
    """The student's notebook."""
    solved: tuple[Cell, ...]
    """The same cells with solutions."""
    chapter: Any
    """The chapter in the form in which its notebook opens it: `own`, `check`, `settings`; None for a project, which has no code."""
    answer_cells: tuple[AnswerCell, ...]
    """The exercises of the chapter, in order."""

    @property
    def checks(self) -> dict[str, Check]:
        """The checks of the chapter's exercises, by the exercise's key; {} for a project, which has none."""
        return {} if self.chapter is None else judging_checks(self.chapter)

    @property
    def provided_cells(self) -> list[list[Any]]:
        """The code cells of the solution except checks, in the notebook's order: for each a list of the id, the source,
        and whether the cell ends in a figure.
        """
        cells = [cell for cell in self.solved if cell.kind == "code" and not cell.id.endswith(CHECK)]
        return [[cell.id, cell.source, FIGURE in cell.tags] for cell in cells]

    def model_answer(self, question: AnswerCell) -> str:
        """Return the instructor's written answer to the exercise `question`, with its rubric, as text without the
        question.
        """
        from netlab_classroom.grading.submission import words_of

        source = next(cell.source for cell in self.solved if cell.id == question.id)
        return words_of(marks.without_marks(source), question.stub)


@dataclass(frozen=True)
class Master:
    """A chapter's source, and with it the notebook and the marking scheme, as an instructor has them."""

    source: Path
    """`solutions/NN_topic.py`."""

    @property
    def stem(self) -> str:
        """The notebook's name without its suffix, such as "01_udp_loss"."""
        return self.source.stem

    @property
    def topic(self) -> str:
        """The name of the chapter's package, such as "udp_loss"."""
        return authoring.topic_of(self.source)

    @property
    def examiner_path(self) -> Path:
        """The path of the chapter's marking scheme, a Python file that may be missing."""
        return self.source.parent / "examiners" / f"{self.topic}.py"

    def edition(self, token: str = "") -> Edition:
        """Return the chapter with the own numbers of a token; "" gives the printed numbers. It is cached until the
        chapter's source changes. Raises ChapterError when its cells do not follow the naming rules of exercises.
        """
        return _edition(self.source, token, self.source.stat().st_mtime_ns)

    def exercises(self) -> dict[str, Exercise | WrittenAnswer]:
        """Return the marking scheme of each exercise of the chapter, by key, in the order of the notebook. It is cached
        until the file of the schemes changes. Raises ExaminerError when marking scheme and notebook do not match.
        """
        return _exercises(self, self.examiner_path.stat().st_mtime_ns if self.examiner_path.is_file() else 0)


def code_digest() -> str:
    """Return a SHA-256, in hexadecimal digits, that changes with any file of netlab's installed packages, because any
    code that builds networks, measures or judges may decide a result.
    """
    files = (path for package in package_directories() for path in package.rglob("*"))
    return digest(sorted(path for path in files if "__pycache__" not in path.parts))


def digest(paths: list[Path]) -> str:
    """Return the SHA-256 over the contents of some files in this order, in hexadecimal digits; missing ones are
    skipped.
    """
    whole = hashlib.sha256()
    for path in paths:
        if path.is_file():
            whole.update(hashlib.sha256(path.read_bytes()).digest())
    return whole.hexdigest()


def find(name: str, root: Path | None = None) -> Master:
    """Return the chapter with this number ("1"), topic ("udp_loss") or notebook ("01_udp_loss", also with a suffix or
    directories), or the project ("project"), from the folder `solutions` of the instructor's clone `root` (None: of the
    working directory, else of netlab's own files, else of the instructors' wheel). Raises ChapterError when there is
    none.

    The clone and that wheel have the solutions and the marking schemes.
    """
    root = root or next(
        (place for place in (Path.cwd(), IMPORT_ROOT, CARRIED_FOLDER) if (place / "solutions").is_dir()), IMPORT_ROOT
    )
    chapters = authoring.chapters(root)
    if not chapters:
        raise ChapterError(
            f"{root} has no solutions/NN_topic.py: grading needs the wheel netlab_classroom or a clone of netlab. Say where the "
            "clone is with --root."
        )
    chapters += authoring.projects(root)
    short_name = Path(name).name.removesuffix(".ipynb").removesuffix(".py")
    for chapter in chapters:
        stem = chapter.source.stem
        number = stem.partition("_")[0]
        if short_name in (stem, authoring.topic_of(chapter.source)) or (
            short_name.isdigit() and short_name.zfill(2) == number
        ):
            return Master(chapter.source)
    raise ChapterError(f"CHAPTER: {one_of(name, [chapter.source.stem for chapter in chapters])}")


@lru_cache(maxsize=64)
def _edition(source: Path, token: str, _changed_ns: int) -> Edition:
    """Return the chapter in the file `source` with the own numbers of a token, as `Master.edition` does; `_changed_ns`
    is the file's time of modification in ns, a key of the cache. Raises ChapterError when the call of a check cannot be
    read, or belongs to no exercise's cell, no known check, or no chapter.
    """
    handed_out = tuple(
        Cell(cell.id, cell.cell_type, cell.source) for cell in authoring.student_notebook(source, token).cells
    )
    solved = tuple(
        Cell(cell.id, cell.cell_type, cell.source, tuple(cell.metadata.get("tags", ())))
        for cell in authoring.read_source(source, token).cells
    )
    chapter = authoring.open_chapter_of(source, token)
    by_id = {cell.id: cell for cell in handed_out}
    answer_cells = []
    for cell in handed_out:
        if cell.id.endswith(WORDS) and cell.kind == "markdown":
            answer_cells.append(AnswerCell(cell.id, cell.id, "", cell.source))
        elif cell.id.endswith(CHECK):
            key, name = _check_call(cell, source)
            if chapter is None:
                raise ChapterError(f"{source.stem} opens no chapter: its folder of code has no `begin`.")
            if key not in by_id:
                raise ChapterError(f"{source.stem}: {cell.id} checks {key}, and no cell has the id {key}.")
            if key not in vars(chapter.check):
                raise ChapterError(f"{source.stem}: {cell.id} calls chapter.check.{key}, which there is not.")
            answer_cells.append(AnswerCell(key, key, name, by_id[key].source))
    return Edition(token, handed_out, solved, chapter, tuple(answer_cells))


def _check_call(cell: Cell, source: Path) -> tuple[str, str]:
    """Return a pair of the exercise's key and the name of the answer in a check cell's single line,
    `chapter.check.<key>(<name>)`; `source` is the chapter's file, for errors. Raises ChapterError when the cell has
    another form.
    """
    try:
        (statement,) = ast.parse(cell.source).body
        call = statement.value  # type: ignore[attr-defined]
        (argument,) = call.args
        key, name = call.func.attr, argument.id
    except (SyntaxError, ValueError, AttributeError):
        raise ChapterError(f"{source.stem}: {cell.id} must be one line, chapter.check.<key>(<name>).") from None
    return key, name


@lru_cache(maxsize=64)
def _exercises(master: Master, _changed_ns: int) -> dict[str, Exercise | WrittenAnswer]:
    """Return the marking scheme of each exercise of a chapter, by key, in the order of the notebook; exercises after
    the summary may lack one. `_changed_ns` is the modification time in ns of its file (0: no file), a key of the cache.
    Raises ExaminerError when it does not match the notebook.
    """
    edition = master.edition()
    last = next((place for place, cell in enumerate(edition.handed_out) if cell.id == LAST_REQUIRED), None)
    required = {cell.id for cell in edition.handed_out[:last]}
    return examiner.load(
        master.examiner_path,
        [each.key for each in edition.answer_cells],
        [each.key for each in edition.answer_cells if each.id in required],
    )
