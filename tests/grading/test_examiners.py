"""Every chapter has an examiner, which gives the instructor's own answers full points, and the stubs none."""

from __future__ import annotations

import runpy
from pathlib import Path

import nbformat
import pytest

from netlab.base.location import IMPORT_ROOT
from netlab_classroom.grading import judging, marking, master, reading
from netlab_classroom.grading.examiner import ExaminerError, Exercise, WrittenAnswer
from netlab_classroom.grading.judging import Job
from netlab_classroom.grading.master import Edition
from netlab_course import authoring, catalogue
from netlab_course.function_checks import Function
from netlab_course.misconceptions import Misconception

ROOT = IMPORT_ROOT
CHAPTERS = [entry.topic for entry in catalogue.chapters(ROOT / "notebooks")]
ANNA = "anna"


@pytest.mark.parametrize("topic", CHAPTERS)
def test_a_chapters_examiner_has_each_of_its_exercises(topic: str) -> None:
    """All that a student is asked before the summary, in code or in words; what comes after it may have points, too."""
    chapter = master.find(topic, ROOT)
    exercises = chapter.exercises()
    cells = [cell.id for cell in chapter.edition().handed_out]
    calls = [
        name.removesuffix(master.CHECK)
        for name in cells[: cells.index(master.LAST_REQUIRED) if master.LAST_REQUIRED in cells else None]
        if name.endswith((master.CHECK, master.WORDS))
    ]
    assert calls and not [key for key in calls if key not in exercises]
    assert all(isinstance(exercises[key], WrittenAnswer) == key.endswith(master.WORDS) for key in calls)
    assert set(chapter.edition().checks) >= {key for key in exercises if not key.endswith(master.WORDS)}


@pytest.mark.parametrize("topic", CHAPTERS)
def test_check_without_points_has_a_reason(topic: str) -> None:
    """Each check that a notebook calls is marked, or the examiner says in `UNMARKED` why not; never both."""
    chapter = master.find(topic, ROOT)
    marked = set(chapter.exercises())
    reasons = runpy.run_path(str(chapter.examiner_path)).get("UNMARKED", {})
    called = {each.key for each in chapter.edition().answer_cells}
    assert {key: reasons.get(key) for key in called - marked} == reasons
    assert all(len(reason.split()) > 5 for reason in reasons.values())


def test_cell_ends_in_a_figure_if_its_source_does() -> None:
    """A figure at the end of a cell is left out before an answer; other results of a cell are not."""
    draws = {id_: drawn for id_, _, drawn in master.find("bdp", ROOT).edition().provided_cells}
    assert {id_ for id_, drawn in draws.items() if drawn} == {"lab", "cable-run", "queue", "panel", "delays-run"}
    assert not draws["imports"] and not draws["rtt"] and "rtt-check" not in draws


@pytest.mark.pocket
@pytest.mark.parametrize("topic", CHAPTERS)
def test_the_solution_gets_every_point_with_a_students_own_numbers(topic: str, tmp_path: Path) -> None:
    chapter = master.find(topic, ROOT)
    submission = tmp_path / "anna.ipynb"
    submission.write_text(nbformat.writes(authoring.read_source(chapter.source, ANNA)))
    result = judging.judge(Job("anna", submission, chapter.source))
    assert result["token"] == ANNA
    exercises = chapter.exercises()
    lost = {
        mark["key"]: (mark["status"], mark["points"], mark["sentences"])
        for mark in result["exercises"]
        if not isinstance(exercises[mark["key"]], WrittenAnswer) and mark["points"] != mark["of"]
    }
    assert not lost
    assert {mark["status"] for mark in result["exercises"]} <= {marking.PASSED, marking.REVIEW}


@pytest.mark.parametrize("topic", CHAPTERS)
def test_the_notebook_as_handed_out_gets_nothing(topic: str, tmp_path: Path) -> None:
    chapter = master.find(topic, ROOT)
    submission = tmp_path / "anna.ipynb"
    submission.write_text(nbformat.writes(authoring.student_notebook(chapter.source)))
    result = judging.judge(Job("anna", submission, chapter.source))
    assert {mark["status"] for mark in result["exercises"]} == {marking.NOT_ATTEMPTED}


@pytest.mark.parametrize(
    "topic",
    [pytest.param(topic, marks=pytest.mark.slow) if topic == "reliable_transfer" else topic for topic in CHAPTERS],
)
def test_other_seeds_draw_other_cases_within_what_the_check_can_judge(topic: str) -> None:
    """The right formula passes whatever the seed is, and no usual slip gets by all of a student's cases."""
    chapter = master.find(topic, ROOT)
    edition = chapter.edition()
    for key, exercise in chapter.exercises().items():
        if not isinstance(exercise, Exercise) or exercise.cases is None:
            continue
        check = edition.checks[key]
        drawn = [exercise.trials(check, str(seed)) for seed in range(20)]
        probes = any("probe" in trial for trials, _ in drawn for trial in trials)
        assert len({repr(sorted(trials[0].items(), key=str)) for trials, _ in drawn}) > 10 or probes
        solution = _solution(edition, key)
        for trials, _ in drawn:
            judged = marking.judge_trials(check, solution, trials)
            assert judged.status.value == "passed", (key, judged.sentences)
        if not probes:
            for wrong, sentence in check.mistakes():
                for trials, _ in drawn:
                    assert marking.judge_trials(check, wrong, trials).status.value == "failed", (key, sentence)


def test_cases_that_miss_a_mistake_are_redrawn_and_then_reported() -> None:
    slip = Misconception(lambda a: 2.0 * max(a, 0.5), "Half.")
    check = Function(
        name="double", reference=lambda a: 2.0 * a, cases=[], unit="", tolerance=0.01, misconceptions=[slip]
    )
    check.key = "double"
    # A slip that shows only below a half: most draws of one case would miss it.
    found, number = Exercise(points=1, cases=lambda draw: {"a": draw.between(0, 5)}, number=1).trials(check, "1")
    assert number == 1 and found[0]["a"] < 0.5
    never = Exercise(points=1, cases=lambda draw: {"a": draw.between(1, 2)}, number=3)
    with pytest.raises(ExaminerError, match="double: in 50 draws of 3 hidden cases a usual slip got by. Draw more"):
        never.trials(check, "1")


def _solution(edition: Edition, key: str) -> object:
    """The instructor's function, made by their cell."""
    expected = next(each for each in edition.answer_cells if each.key == key)
    source = next(cell.source for cell in edition.solved if cell.id == expected.id)
    space: dict[str, object] = {"__name__": "__main__"}
    for text in (judging.PRELUDE, *reading.compose(edition.provided_cells, expected.id, source)["given"], source):
        exec(text, space)  # noqa: S102 (the instructor's own)
    return space[expected.name]
