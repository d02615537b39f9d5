"""Notebooks with which `pytest --nbval` marks a submission as `netlab grade` did.

They contain the solution, the student's answers and the examiner's cells. The cell of an answer begins with `%%answer`,
which sends the rest of it to the sandbox: this process never runs student code. A cell follows for each part of its
points, whose saved output says that all of them were earned: nbval passes if the student earned them. The provided
cells and the instructor's answers are there only to be read; an answer runs in the sandbox with those of the solution.
"""

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from netlab.base.errors import NetlabError
from netlab.base.location import IMPORT_ROOT
from netlab_classroom.grading import marking, master, sandbox
from netlab_classroom.grading.examiner import Exercise, WrittenAnswer
from netlab_classroom.grading.grade import GradedClass
from netlab_classroom.grading.helper import helper
from netlab_classroom.grading.judging import Examination, Job
from netlab_classroom.grading.marking import ExerciseMark
from netlab_classroom.grading.master import Edition, Master
from netlab_classroom.grading.submission import AnswerCell
from netlab_classroom.grading.text import file_name
from netlab_course.authoring import KERNELSPEC

IGNORE_TAG, SKIP_TAG = "nbval-ignore-output", "nbval-skip"


def write(graded: GradedClass, output: Path) -> None:
    """Write a notebook for each submission of a graded class that could be read into the directory `output`, in place
    of all notebooks there, with which nbval marks it again, and conftest.py, the pytest plug-in that counts the points.
    """
    output.mkdir(parents=True, exist_ok=True)
    for old in output.glob("*.ipynb"):
        old.unlink()
    (output / "conftest.py").write_text((Path(__file__).parent / "templates" / "conftest.txt").read_text())
    for result in graded.results:
        if result["answers"] or any(mark["status"] == marking.NOT_ATTEMPTED for mark in result["exercises"]):
            text: str = nbformat.writes(notebook(graded.master, result, graded.manifest["seed"]))  # type: ignore[no-untyped-call]
            (output / f"{file_name(result['student'])}.ipynb").write_text(
                text + "\n", encoding="utf-8", errors="replace"
            )


def notebook(chapter: Master, result: Mapping[str, Any], seed: str) -> NotebookNode:
    """Return the notebook of one student with which nbval marks the answers in code: the solution with the student's
    answers and the examiner's cells, and in its metadata the student, the points for written answers and the maximum of
    all. `result` is the student's of `judging.judge` (token, answers, marks), `seed` the one of the hidden cases.

    Parameters
    ----------
    seed : str
        The seed of the hidden cases.
    """
    edition = chapter.edition(result["token"])
    exercises = chapter.exercises()
    marks = {mark["key"]: mark for mark in result["exercises"]}
    questions = {each.id: each for each in edition.answer_cells if each.key in exercises}
    sources = answers(questions.values(), result)
    root = "" if chapter.source.parent.parent == IMPORT_ROOT else f", root={str(chapter.source.parent.parent)!r}"
    exam = f"from netlab_classroom.grading.merged import Exam\n\nexam = Exam({chapter.stem!r}, {result['token']!r}, {seed!r}{root})"
    cells = [_code("netlab-exam", exam)]
    words = 0.0
    for cell in edition.solved:
        each = questions.get(cell.id)
        if cell.kind != "code":
            if each is not None and each.key in marks:
                words += marks[each.key]["points"]
            cells.append(_cell(nbformat.v4.new_markdown_cell(cell.source), cell.id))  # type: ignore[no-untyped-call]
        elif cell.id.endswith(master.CHECK):
            continue
        elif each is not None and each.name:
            cells += _exercise_cells(each, exercises[each.key], edition, sources[each.key], cell.source)
        else:
            cells.append(_code(cell.id, cell.source, SKIP_TAG))
    made: NotebookNode = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": KERNELSPEC})  # type: ignore[no-untyped-call]
    made.metadata["netlab"] = {
        "student": result["student"],
        "words": words,
        "of": sum(mark["of"] for mark in result["exercises"]),
    }
    return made


def answers(questions: Iterable[AnswerCell], result: Mapping[str, Any]) -> dict[str, str]:
    """Return the code of each answer in code to the exercises `questions`, by key, as it ran in the sandbox, with the
    student's other answers that it uses; a comment in place of code that crashed, timed out, could not be graded or is
    missing. `result` is the student's of `judging.judge`.
    """
    status = {mark["key"]: mark["status"] for mark in result["exercises"]}
    found = {}
    for each in questions:
        if not each.name:
            continue
        if status.get(each.key) in (marking.TIMED_OUT, marking.CRASHED, marking.NOT_GRADED):
            found[each.key] = "# Left out: in the sandbox it gave no result."
        else:
            found[each.key] = result["answers"].get(each.key, {}).get("answer") or "# There was no answer."
    return found


def _exercise_cells(
    each: AnswerCell, exercise: Exercise | WrittenAnswer, edition: Edition, answer: str, solution: str
) -> list[NotebookNode]:
    """Return the cells of an exercise: the student's code `answer` for the sandbox, one cell for each part of its
    points with the output that full points give, and the instructor's code `solution`, which is skipped.
    """
    cells = [_code(each.id, f"%%answer {each.key}\n{answer}")]
    assert isinstance(exercise, Exercise)
    for number, (label, of) in enumerate(marking.parts_of(exercise, edition.checks[each.key])):
        cell = _code(f"{each.id}-part-{number + 1}", f"exam.part({each.key!r}, {number})", None)
        cell.metadata["netlab"] = {"points": of, "exercise": each.key, "part": label}
        # nbval takes a cell without an execution count as one without saved outputs.
        cell.execution_count = number + 1
        cell.outputs = [nbformat.v4.new_output("stream", name="stdout", text=points_text(of, of) + "\n")]  # type: ignore[no-untyped-call]
        cells.append(cell)
    cells.append(_code(f"{each.id}-master", solution, SKIP_TAG))
    return cells


def points_text(points: float, of: float) -> str:
    """Return the output of an examiner's cell for a part with these points of at most `of`: "2 of 3 points"."""
    return f"{points:g} of {of:g} points"


def _code(name: str, source: str, tag: str | None = IGNORE_TAG) -> NotebookNode:
    """Return a code cell with the id `name` (cut to 64 characters), this source, and a tag that tells nbval what to do
    with it; None means no tag.
    """
    cell = _cell(nbformat.v4.new_code_cell(source), name)  # type: ignore[no-untyped-call]
    if tag:
        cell.metadata["tags"] = [tag]
    return cell


def _cell(cell: NotebookNode, name: str) -> NotebookNode:
    """Set the id of a notebook's cell to `name`, cut to 64 characters, and return the cell."""
    cell["id"] = name[:64]
    return cell


class Exam:
    """Marking of answers in a notebook as by the grader; the notebook's `%%answer KEY` passes a cell to it. `chapter`
    is the notebook's name without suffix.

    Parameters
    ----------
    token : str
        The seed of the student's own numbers.
    seed : str
        The seed of the hidden cases.
    root : str, optional
        The instructor's clone, if it is not netlab's own.
    """

    def __init__(self, chapter: str, token: str = "", seed: str = "1", root: str = "") -> None:
        """Load the chapter whose notebook has the name `chapter`, from the instructor's clone `root` ("" for netlab's
        own files), with the own numbers of `token` ("" for the printed ones) and the hidden cases of `seed`, and define
        the cell magic `%%answer` if IPython runs. Raises NetlabError if there is no such chapter or it cannot be
        loaded.
        """
        found = master.find(chapter, Path(root) if root else IMPORT_ROOT)
        self._edition = found.edition(token)
        self._exercises = found.exercises()
        job = Job("", None, found.source, token, seed)
        self._examination = Examination(job, self._edition, self._exercises)
        self._marks: dict[str, ExerciseMark] = {}
        shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
        if shell is not None:
            shell.register_magic_function(self.answer, magic_kind="cell", magic_name="answer")

    def answer(self, key: str, source: str) -> None:
        """Run a student's cell (`source`) for the exercise with this key in the sandbox, never in this process (a cell
        without code is not run), keep its mark for `part`, and print its feedback. Raises NetlabError if the chapter
        has no exercise with this key, and EngineError if this machine cannot isolate student code.
        """
        sandbox.require_isolation()
        cells = {cell.key: cell for cell in self._edition.answer_cells}
        each = cells.get(key.strip())
        if each is None:
            raise NetlabError(f"The chapter has no exercise {key.strip()!r}; its exercises are {', '.join(cells)}.")
        answer: Mapping[str, Any] = {"source": source, "attempted": False}
        if any(line.strip() and not line.lstrip().startswith("#") for line in source.split("\n")):
            answer = helper().ask("compose", provided=self._edition.provided_cells, id=each.id, source=source)
        marks = self._examination.marks([each], {each.key: answer})
        self._marks[each.key] = marks[each.key]
        print("\n".join(marks[each.key].sentences))

    def part(self, key: str, number: int) -> None:
        """Print the points of one part of the answer to the exercise `key`, which `answer` must have run before;
        `number` is the index of the part, from 0.
        """
        exercise = self._exercises[key]
        assert isinstance(exercise, Exercise)
        _, of = marking.parts_of(exercise, self._edition.checks[key])[number]
        parts = self._marks[key].parts
        print(points_text(parts[number]["points"] if number < len(parts) else 0, of))
