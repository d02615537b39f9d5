"""Every examiner gives the instructor's own answers full points, and the stubs none."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

from netlab import authoring
from netlab.grading import judging, master
from netlab.grading.examiner import Words
from netlab.grading.judging import Job
from netlab.location import PACKAGE

ROOT = PACKAGE.parent
EXAMINERS = sorted((ROOT / "solutions" / "examiners").glob("*.py"))
ANNA = "anna"

pytestmark = pytest.mark.pocket


@pytest.mark.parametrize("path", EXAMINERS, ids=lambda path: path.stem)
def test_the_solution_gets_every_point_with_a_students_own_figures(path: Path, tmp_path: Path) -> None:
    chapter = master.find(path.stem, ROOT)
    submission = tmp_path / "anna.ipynb"
    submission.write_text(nbformat.writes(authoring.read_source(chapter.source, ANNA)))
    result = judging.judge(Job("anna", submission, chapter.source))
    assert result["token"] == ANNA
    exercises = chapter.examiner().exercises
    lost = {
        mark["key"]: (mark["status"], mark["points"], mark["sentences"])
        for mark in result["exercises"]
        if not isinstance(exercises[mark["key"]], Words) and mark["points"] != mark["of"]
    }
    assert not lost
    assert {mark["status"] for mark in result["exercises"]} <= {judging.PASSED, judging.REVIEW}


@pytest.mark.parametrize("path", EXAMINERS, ids=lambda path: path.stem)
def test_the_notebook_as_handed_out_gets_nothing(path: Path, tmp_path: Path) -> None:
    chapter = master.find(path.stem, ROOT)
    submission = tmp_path / "anna.ipynb"
    submission.write_text(nbformat.writes(authoring.student_notebook(chapter.source)))
    result = judging.judge(Job("anna", submission, chapter.source))
    assert {mark["status"] for mark in result["exercises"]} == {judging.NOT_ATTEMPTED}


@pytest.mark.parametrize("path", EXAMINERS, ids=lambda path: path.stem)
def test_other_seeds_draw_other_cases_within_what_the_check_can_judge(path: Path) -> None:
    """The right formula passes whatever the seed is."""
    chapter = master.find(path.stem, ROOT)
    checks = chapter.edition().checks
    for key, exercise in chapter.examiner().exercises.items():
        check = checks.get(key)
        reference = getattr(check, "reference", None)
        if check is None or reference is None or getattr(exercise, "cases", None) is None:
            continue
        drawn = [exercise.trials(check, str(seed)) for seed in range(20)]
        assert len({repr(sorted(trials[0].items(), key=str)) for trials, _ in drawn}) > 10 or "probe" in trials_names(
            drawn
        )
        for trials, _ in drawn:
            judged = judging.judge_trials(check, reference, trials)
            assert judged.status.value == "passed", (key, judged.sentences)


def trials_names(drawn: list[tuple[list[dict[str, object]], int]]) -> set[str]:
    return {name for trials, _ in drawn for trial in trials for name in trial}
