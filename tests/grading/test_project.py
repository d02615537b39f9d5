"""A project is handed out and read as any answers in words are."""

from __future__ import annotations

import re
from pathlib import Path

from netlab.base.location import IMPORT_ROOT
from netlab_classroom.grading import assign, judging, marking, master, merged, report_pages, report_tables
from netlab_classroom.grading.grade import GradedClass
from netlab_classroom.grading.judging import Job

PROJECT = master.find("project", IMPORT_ROOT)


def hand_in(place: Path) -> Path:
    """The project with the instructor's words in it."""
    assign.assign(PROJECT, place / "out", solved=place / "solved")
    return place / "solved" / "project.ipynb"


def test_the_rubric_that_students_see_has_the_points_that_a_person_gives() -> None:
    text = {
        part: float(of) for part, of in re.findall(r"(?m)^\| (\w+) \| (\d+) \|", PROJECT.edition().handed_out[0].source)
    }
    exercises = PROJECT.exercises()
    assert text == {key.removesuffix("-words"): each.points for key, each in exercises.items()}
    models = {each.key: PROJECT.edition().model_answer(each) for each in PROJECT.edition().answer_cells}
    for key, each in exercises.items():
        assert f"Rubric, {each.points:g} points:" in models[key]
        assert sum(map(int, re.findall(r"\((\d)\)[;.]", models[key]))) == each.points


def test_every_part_waits_for_a_person_with_its_rubric_and_no_code_runs(tmp_path: Path) -> None:
    # A class list of another task has tokens: they are no reason for a flag here.
    result = judging.judge(Job("anna", hand_in(tmp_path), PROJECT.source, token="0123456789"))  # noqa: S106
    assert {mark["status"] for mark in result["exercises"]} == {marking.REVIEW}
    assert report_tables.max_points(result) == 20 and result["notes"] == [] and result["other_token"] is None
    page = report_pages.review_html(GradedClass(PROJECT, {}, [result]))
    assert page.count("Rubric, ") == 2 * len(result["exercises"])
    assert merged.notebook(PROJECT, result, "1").metadata["netlab"]["of"] == 20


def test_as_handed_out_nothing_is_answered_and_no_rubric_is_given_away(tmp_path: Path) -> None:
    hand_in(tmp_path)
    result = judging.judge(Job("ben", tmp_path / "out" / "project.ipynb", PROJECT.source))
    assert {mark["status"] for mark in result["exercises"]} == {marking.NOT_ATTEMPTED}
    assert "Rubric, " not in (tmp_path / "out" / "project.ipynb").read_text(encoding="utf-8")
