"""Opening of a chapter by its notebook."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from netlab_course import progress_store
from netlab_course.chapters.opening import judging_checks, opener
from netlab_course.checks import Check, Number
from netlab_course.misconceptions import Misconception
from netlab_course.own_numbers import OwnNumbers, StudentValues


class Checks:
    def __init__(self, own: StudentValues) -> None:
        misconceptions = [Misconception(own.wrong_mbps, "The other one.")]
        self.limit = Number(
            name="limit", expected=lambda: own.rate_mbps, unit="", tolerance=0.01, misconceptions=misconceptions
        )


@pytest.fixture
def begin(monkeypatch):
    """Return the function that opens a package with settings and checks, and without a panel."""
    numbers = OwnNumbers({"rate_mbps": (5, 4, 8, 10), "wrong_mbps": (6, 5, 8)})
    parts = {"": {"__path__": []}, ".settings": {"NUMBERS": numbers}, ".check": {"Checks": Checks}}
    for part, names in parts.items():
        module = ModuleType(f"example{part}")
        vars(module).update(names)
        monkeypatch.setitem(sys.modules, module.__name__, module)
    return opener("example")


def test_checks_follow_the_own_numbers(begin) -> None:
    for token in ("", "anna", "ben"):
        chapter = begin(token)
        assert judging_checks(chapter)["limit"].judge(chapter.own.rate_mbps).status.value == "passed"
        assert chapter.token == token


def test_a_draw_in_which_a_slip_lies_near_the_answer_is_not_used(begin) -> None:
    drawn = [begin(str(number)).own for number in range(100)]
    assert all(own.rate_mbps != own.wrong_mbps for own in drawn)
    assert len({(own.rate_mbps, own.wrong_mbps) for own in drawn}) == 10


def test_exercise_passed_in_a_notebook_is_recorded(begin, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setenv(progress_store.VARIABLE, str(tmp_path))
    chapter = begin()
    chapter.check.limit(6)
    assert progress_store.passed_exercises() == {}
    chapter.check.limit(5)
    assert progress_store.passed_exercises() == {"example": ["limit"]}
    assert "✓ limit" in capsys.readouterr().out


def test_wrong_tries_of_another_students_copy_do_not_count(begin, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setenv(progress_store.VARIABLE, str(tmp_path))
    for number in (91, 92, 93):
        begin("anna").check.limit(number)
    capsys.readouterr()
    begin("bert").check.limit(91)
    assert "Wrong tries so far" not in capsys.readouterr().out


def test_chapter_without_a_panel_is_reported(begin) -> None:
    with pytest.raises(LookupError, match="has no panel"):
        begin().panel()


def test_misspelt_exercise_is_reported_with_the_known_exercises(begin) -> None:
    with pytest.raises(AttributeError, match="no such exercise: got 'limt'; allowed: limit; did you mean limit"):
        _ = begin().check.limt


def test_chapters_own_output_holds_no_answer(begin) -> None:
    chapter = begin()
    assert repr(chapter.check) == "chapter.check.limit(...): limit"
    assert "5" not in repr(chapter)


@pytest.mark.parametrize("name", ["expected", "judge", "misconceptions", "hints", "conditions", "reference"])
def test_a_check_in_a_notebook_has_no_attribute_that_tells_the_answer(begin, name: str) -> None:
    check = begin().check.limit
    with pytest.raises(AttributeError, match=f"a check has no '{name}'; it has hint, hints_left, name, take"):
        getattr(check, name)
    assert name not in dir(check)


def test_no_attribute_of_a_chapter_tells_an_answer(begin) -> None:
    chapter = begin()
    assert judging_checks(chapter)["limit"].expected() == chapter.own.rate_mbps, "tests and graders have the answers"
    for value in vars(chapter).values():
        assert not any(isinstance(each, Check) for each in [value, *getattr(value, "__dict__", {}).values()])


def test_tab_on_a_chapter_does_not_offer_the_checks_with_their_answers(begin) -> None:
    chapter = begin()
    assert "check" in dir(chapter)
    assert dir(chapter.check) == ["limit"]
    assert chapter.check.limit.take(5, 4) == 5 and "For a hint add" in repr(chapter.check.limit.hint)
