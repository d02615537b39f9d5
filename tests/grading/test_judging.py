"""Feedback about an answer."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from netlab.base.errors import NetlabError
from netlab_classroom.grading import judging, marking
from netlab_classroom.grading.examiner import Exercise
from netlab_classroom.grading.sandbox import Ending, ExerciseOutcome
from netlab_course.checks import Number
from netlab_course.conditions import Build, Condition
from tests.grading import classroom


class Frame:
    """Something that prints its place in memory."""


def test_an_answer_is_shown_without_its_place_in_memory() -> None:
    """A second grading must give the same bytes."""
    check = Number(name="payload", expected=lambda: 1000.0, unit="bytes", tolerance=0.01, hints=["Count."])
    assert marking.format_answer(Frame(), check).endswith("Frame>")
    assert "0x" not in marking.format_answer([Frame(), {"x": Frame()}], check)
    assert marking.format_answer(1000.0, check) == "1000 bytes"


def test_an_answer_with_a_table_is_shown_with_its_interval_and_its_verdict() -> None:
    check = Number(name="share", expected=lambda: 1.0, unit="Mbit/s", tolerance=0.01, hints=["Count."])
    table = pd.DataFrame({name: range(10) for name in ("seed", "src", "dst", "goodput_mbps", "loss_rate")})
    shown = marking.format_answer([table, (0.154, 0.0027), "An interval below 0.1.", "supported"], check)
    assert shown == "a table of 10 rows, (0.154, 0.0027), 'An interval below 0.1.', 'supported'"
    assert marking.format_answer(table, check) == "a table of 10 rows"


def test_each_condition_has_its_share_of_the_points() -> None:
    conditions = [
        Condition(lambda items, number=number: number in items, f"It must have {number}.", "", len) for number in (1, 2)
    ]
    check = Build(name="list", kind=list, conditions=conditions)
    check.key = "list"

    def given_mark(answer: Any, *shares: float) -> marking.ExerciseMark:
        mark = marking.ExerciseMark("list", "", 0, sum(shares))
        marking.grade(mark, Exercise(points=sum(shares), shares=shares), check, answer, SimpleNamespace(), "1")  # type: ignore[arg-type]
        return mark

    assert (given_mark([1, 2], 1, 2).points, given_mark([2], 1, 2).points, given_mark([], 1, 2).points) == (3, 2, 0)
    assert [part["label"] for part in given_mark([2], 1, 2).parts] == ["It must have 1.", "It must have 2."]
    with pytest.raises(NetlabError, match="3 shares, and its check 2 conditions"):
        given_mark([1], 1, 1, 1)


@pytest.mark.slow
def test_message_about_an_answer_has_a_length_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """A forged scenario may have as many mistakes as fit into a message, and each would be named on the student's page."""
    forged = {"value": {"run": {"topology": {"hosts": ["x"] * 20_000}, "traffic": [], "duration_s": 1}}}

    class Forging:
        def __init__(self, *_settings: object) -> None: ...

        def work(self, _exercises: object, _answer: object) -> list[ExerciseOutcome]:
            return [ExerciseOutcome(Ending.ANSWERED, forged)]

    monkeypatch.setattr(judging, "ExerciseSandbox", Forging)
    with classroom.sample_chapter() as chapter:
        edition = chapter.edition("")
        expected = [each for each in edition.answer_cells if each.key == "overload_run"]
        answers = {"overload_run": {"source": "x", "answer": "x", "attempted": True, "given": []}}
        job = judging.Job("anna", None, chapter.source)
        mark = judging.Examination(job, edition, chapter.exercises()).marks(expected, answers)["overload_run"]
    assert mark.status == marking.FAILED and mark.points == 0
    assert 0 < sum(len(sentence) for sentence in mark.sentences) < 2 * judging.MAX_SENTENCE_CHARACTERS


def test_request_of_an_answer_is_answered_by_its_kind_or_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run is measured here, whatever else the question says; a probe takes the numbers of one that there is."""
    measured: list[tuple[Any, bool]] = []

    def measure(_self: object, scenario: Any, *, graded: bool, own: Any) -> Any:
        measured.append((scenario, graded))
        return SimpleNamespace(to_dict=lambda: {"own": own})

    monkeypatch.setattr("netlab_classroom.grading.laboratory.Laboratory.measure", measure)
    with classroom.sample_chapter() as chapter:
        job = judging.Job("anna", None, chapter.source)
        examination = judging.Examination(job, chapter.edition(""), chapter.exercises())
        searched = next(each for each in chapter.edition("").answer_cells if each.key == "search")
        examination.calls(searched)

    def reply(**asked: Any) -> Any:
        try:
            return examination.answer(asked, None)  # type: ignore[arg-type]
        except NetlabError as error:
            return str(error)

    assert reply(kind="run", scenario={"x": 1}) == reply(kind="run", scenario={"x": 2}, graded=False) == {"own": {}}
    assert measured == [({"x": 1}, True), ({"x": 2}, False)]
    assert (
        reply(kind="run", scenario=[]) == reply(kind="points") == reply() == "The grader does not know this question."
    )
    assert reply(kind="probe", number=0, values=[1.0], named={}) == pytest.approx(1, rel=0.05)
    for number in (-1, 10_000, "0", None):
        assert reply(kind="probe", number=number, values=[1.0], named={}) == "There is no such probe."
    assert reply(kind="probe", number=0, values=1.0, named={}) == "A probe takes numbers."
    assert reply(kind="probe", number=0, values=[float("nan")], named={}).startswith(
        "The given function takes finite numbers, got [nan]"
    )
    assert reply(kind="transfer", **{"transfer number": 0}) == "There is no such transfer."
