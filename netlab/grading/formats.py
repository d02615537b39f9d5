"""A chapter as nbgrader and otter-grader take it: their metadata, locked cells, and tests that raise.

The file that is written is the instructor's: the tools make the students' notebook of it. So it is looked through as the
tool will leave it, and refused when an answer would stay.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from netlab.base.location import PACKAGE
from netlab.grading import judging, leaks, master
from netlab.grading.examiner import Exercise, Words
from netlab.grading.master import Edition, Master

_KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
_NBGRADER_REGION = re.compile(r"^### BEGIN (SOLUTION|HIDDEN TESTS)$.*?^### END \1$", re.MULTILINE | re.DOTALL)
_OTTER_REGION = re.compile(r"^# BEGIN SOLUTION NO PROMPT$.*?^# END SOLUTION$", re.MULTILINE | re.DOTALL)
CONFIGURATION = '''"""Settings of nbgrader for this course; students write above the line that stands for a solution."""

c = get_config()
c.ClearSolutions.code_stub = {"python": "# Your code goes above this line."}
c.ClearSolutions.text_stub = "*Your answer:* …"
'''


def write(form: str, chapter: Master, output: Path) -> list[Path]:
    """Write the chapter in a tool's form.

    Parameters
    ----------
    form : {"nbgrader", "otter"}
    chapter : Master
    output : Path
        For nbgrader the course's directory; the notebook goes to `source/<chapter>`.

    Raises
    ------
    LeakError
        When what students would get holds an answer.
    """
    edition = chapter.edition()
    exercises = chapter.examiner().exercises
    made = _MAKERS[form](chapter, edition, exercises)
    leaks.require_no_answer(_released(form, made), edition)
    nbformat.validate(made)
    text: str = nbformat.writes(made)  # type: ignore[no-untyped-call]
    place = (
        output / "source" / chapter.stem / f"{chapter.stem}.ipynb"
        if form == "nbgrader"
        else output / f"{chapter.stem}.ipynb"
    )
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text.rstrip("\n") + "\n", encoding="utf-8")
    if form != "nbgrader":
        return [place]
    settings = output / "nbgrader_config.py"
    if not settings.exists():
        settings.write_text(CONFIGURATION)
    return [place, settings]


def _released(form: str, made: NotebookNode) -> list[str]:
    """The cells as the tool hands them out."""
    if form == "nbgrader":
        return [_NBGRADER_REGION.sub("", cell.source) for cell in made.cells]
    kept: list[str] = []
    inside = ""
    for cell in made.cells:
        if cell.cell_type == "raw":
            begun = re.match(r"# (BEGIN|END) (SOLUTION|TESTS)$", cell.source)
            if begun:
                inside = begun[2] if begun[1] == "BEGIN" else ""
        elif inside != "TESTS" and not (inside == "SOLUTION" and cell.cell_type == "markdown"):
            kept.append(_OTTER_REGION.sub("", cell.source))
    return kept


def _exam(chapter: Master) -> str:
    root = "" if chapter.source.parent.parent == PACKAGE.parent else f", root={str(chapter.source.parent.parent)!r}"
    return f"from netlab.grading.merged import Exam\nexam = Exam({chapter.stem!r}{root})"


def _nbgrader(chapter: Master, edition: Edition, exercises: dict[str, Exercise | Words]) -> NotebookNode:
    cells: list[NotebookNode] = []
    wanted = {each.id: each for each in edition.wanted if each.key in exercises}
    for public, solved in zip(edition.handed_out, edition.solved, strict=True):
        each = wanted.get(public.id)
        if public.kind != "code":
            if each is None:
                cells.append(_with_grading(_markdown(public.source), public.id, locked=True))
                continue
            cells.append(_with_grading(_markdown(_question(public.source)), f"{public.id}-text", locked=True))
            region = f"### BEGIN SOLUTION\n{edition.model_answer(each)}\n### END SOLUTION"
            cell = _markdown(region)
            cells.append(_with_grading(cell, public.id, grade=True, solution=True, points=exercises[each.key].points))
            continue
        if public.source != solved.source:
            region = f"{public.source}\n### BEGIN SOLUTION\n{_unmarked(solved.source)}\n### END SOLUTION"
            cells.append(_with_grading(_code(region), public.id, solution=True))
        else:
            cells.append(_with_grading(_code(public.source), public.id, locked=True))
        key = public.id.removesuffix(master.CHECK)
        if public.id.endswith(master.CHECK) and key in wanted and wanted[key].name:
            test = (
                f"# {exercises[key].points:g} points. The tests are put in when the notebook is graded.\n"
                f"### BEGIN HIDDEN TESTS\n{_exam(chapter)}\nexam.require({key!r}, {wanted[key].name})\n### END HIDDEN TESTS"
            )
            cell = _code(test)
            cells.append(_with_grading(cell, f"{key}-points", grade=True, locked=True, points=exercises[key].points))
    return _notebook(cells)


def _with_grading(cell: NotebookNode, name: str, *, points: float = 0, **words: bool) -> NotebookNode:
    grade, solution = words.get("grade", False), words.get("solution", False)
    cell["id"] = name[:64]
    cell.metadata["nbgrader"] = {
        "schema_version": 3,
        "grade_id": name,
        "grade": grade,
        "solution": solution,
        "locked": words.get("locked", False),
        "task": False,
        **({"points": points} if grade else {}),
    }
    if words.get("locked"):
        cell.metadata.update(editable=False, deletable=False)
    return cell


def _otter(chapter: Master, edition: Edition, exercises: dict[str, Exercise | Words]) -> NotebookNode:
    cells = [
        _raw(f"# ASSIGNMENT CONFIG\nname: {chapter.stem}\nexport_cell: false\ncheck_all_cell: false\nrun_tests: false")
    ]
    wanted = {each.id: each for each in edition.wanted if each.key in exercises}
    for public, solved in zip(edition.handed_out, edition.solved, strict=True):
        each = wanted.get(public.id)
        if each is None:
            if public.kind != "code":
                cells.append(_markdown(public.source))
            elif not public.id.endswith(master.CHECK) or public.id.removesuffix(master.CHECK) not in wanted:
                cells.append(_locked(_code(_hidden_solution(public.source, solved.source))))
            continue
        exercise = exercises[each.key]
        manual = "\nmanual: true" if isinstance(exercise, Words) else ""
        cells.append(_raw(f"# BEGIN QUESTION\nname: {each.key}\npoints: {exercise.points:g}{manual}"))
        if isinstance(exercise, Words):
            cells.append(_markdown(_question(public.source)))
        cells.append(_raw("# BEGIN SOLUTION"))
        if isinstance(exercise, Words):
            cells.append(_markdown(edition.model_answer(each)))
        else:
            cells.append(_code(_hidden_solution(public.source, solved.source)))
        cells.append(_raw("# END SOLUTION"))
        if isinstance(exercise, Exercise):
            cells.append(_raw("# BEGIN TESTS"))
            for number, (_, of) in enumerate(judging.parts_of(exercise, edition.checks[each.key])):
                settings = f'""" # BEGIN TEST CONFIG\nhidden: true\npoints: {of:g}\n""" # END TEST CONFIG'
                cell = _code(f"{settings}\n{_exam(chapter)}\nexam.earned({each.key!r}, {number}, {each.name})")
                cell.outputs = [_result("True")]
                cell.execution_count = 1
                cells.append(cell)
            cells.append(_raw("# END TESTS"))
        cells.append(_raw("# END QUESTION"))
        if isinstance(exercise, Exercise):
            check = next(cell.source for cell in edition.handed_out if cell.id == f"{each.id}{master.CHECK}")
            cells.append(_locked(_code(check)))
    return _notebook(cells)


def _hidden_solution(public: str, solved: str) -> str:
    if public == solved:
        return public
    return f"{public}\n# BEGIN SOLUTION NO PROMPT\n{_unmarked(solved)}\n# END SOLUTION"


def _unmarked(source: str) -> str:
    """A cell with its solution and without netlab's own marks."""
    lines = [line for line in source.split("\n") if not re.fullmatch(r"\s*# (BEGIN|END) SOLUTION( NO PROMPT)?", line)]
    return "\n".join(re.sub(r"\s*# SOLUTION( NO PROMPT)?$", "", line) for line in lines)


def _question(source: str) -> str:
    """A question in words without the room for its answer."""
    from netlab.grading.submission import PROMPT

    return source.replace(PROMPT, "").rstrip()


def _locked(cell: NotebookNode) -> NotebookNode:
    cell.metadata.update(editable=False, deletable=False)
    return cell


def _raw(source: str) -> NotebookNode:
    cell: NotebookNode = nbformat.v4.new_raw_cell(source)  # type: ignore[no-untyped-call]
    return cell


def _markdown(source: str) -> NotebookNode:
    cell: NotebookNode = nbformat.v4.new_markdown_cell(source)  # type: ignore[no-untyped-call]
    return cell


def _code(source: str) -> NotebookNode:
    cell: NotebookNode = nbformat.v4.new_code_cell(source)  # type: ignore[no-untyped-call]
    return cell


def _result(text: str) -> NotebookNode:
    output: NotebookNode = nbformat.v4.new_output("execute_result", data={"text/plain": text}, execution_count=1)  # type: ignore[no-untyped-call]
    return output


def _notebook(cells: list[NotebookNode]) -> NotebookNode:
    for number, cell in enumerate(cells):
        # Ids that nbformat draws would differ from one writing to the next.
        if not cell.metadata.get("nbgrader"):
            cell["id"] = f"cell-{number}"
    made: NotebookNode = nbformat.v4.new_notebook(  # type: ignore[no-untyped-call]
        cells=cells, metadata={"kernelspec": _KERNEL, "language_info": {"name": "python"}}
    )
    return made


_MAKERS: dict[str, Callable[[Master, Edition, dict[str, Any]], NotebookNode]] = {"nbgrader": _nbgrader, "otter": _otter}
FORMS = ("plain", *_MAKERS)
