"""Properties of the checks of every chapter; tests of a single chapter are in its folder."""

from __future__ import annotations

import inspect
import re

import pytest

from netlab_course.chapters.opening import judging_checks
from netlab_course.checks import Check, Number, Status
from tests.chapters.checking import all_chapters, checks_of, failure_text

CHECKS = [
    pytest.param(check, id=f"{chapter.__name__.rsplit('.', 1)[-1]}: {check.name}")
    for chapter in all_chapters()
    for check in checks_of(chapter)
]


@pytest.mark.parametrize("chapter", all_chapters(), ids=lambda chapter: chapter.__name__.rsplit(".", 1)[-1])
def test_a_chapter_opens_with_its_checks(chapter) -> None:
    assert checks_of(chapter)
    opened = chapter.begin()
    assert opened.topic == chapter.__name__.rsplit(".", 1)[-1]
    assert all(check.tells_apart() for check in judging_checks(opened).values()), "a slip lies near the right answer"


@pytest.mark.parametrize(
    "chapter",
    [chapter for chapter in all_chapters() if hasattr(getattr(chapter, "settings", None), "NUMBERS")],
    ids=lambda chapter: chapter.__name__.rsplit(".", 1)[-1],
)
def test_own_numbers_are_enough_for_a_class_and_their_checks_know_their_slips(chapter) -> None:
    assert len(chapter.settings.NUMBERS) >= 1000
    for token in ("anna", "ben", "chris"):
        for check in checks_of(chapter, token):
            for answer, sentence in check.mistakes():
                assert " ".join(sentence.split()) in failure_text(check, answer)


@pytest.mark.parametrize("check", CHECKS)
def test_every_mistake_that_a_check_knows_gets_its_sentence(check: Check) -> None:
    for answer, sentence in check.mistakes():
        assert " ".join(sentence.split()) in failure_text(check, answer)


@pytest.mark.parametrize("check", CHECKS)
def test_condition_states_the_requirement_only(check: Check) -> None:
    """A student reads it where it does not hold: a bare statement of what is asked for would read as a fact."""
    for condition in getattr(check, "conditions", ()):
        assert re.search(r"\b(must|may)\b", condition.sentence), condition.sentence
        assert condition.complaint(None), "an object that has nothing of what it looks at"


@pytest.mark.parametrize("check", CHECKS)
def test_no_representation_holds_a_hint_or_a_mistakes_sentence(check: Check) -> None:
    shown = repr(check) + repr(check.hint)
    assert not any(hint in shown for hint in check.hints)
    assert not any(sentence in shown for _, sentence in check.mistakes())


@pytest.mark.parametrize("check", CHECKS)
def test_untried_exercise_is_not_attempted(check: Check) -> None:
    assert check.judge(...).status is Status.NOT_ATTEMPTED
    assert check.judge(None).status is Status.NOT_ATTEMPTED


@pytest.mark.parametrize("check", CHECKS)
def test_no_hint_is_given_twice(check: Check) -> None:
    assert len(set(check.hints)) == len(check.hints)


@pytest.mark.parametrize("chapter", all_chapters(), ids=lambda chapter: chapter.__name__.rpartition(".")[2])
def test_no_function_of_the_settings_gives_a_number_that_is_asked_for(chapter) -> None:
    """Tab offers these functions in a notebook; here they are called with the copy's own numbers by their names."""
    opened = chapter.begin()
    given = {"own": opened.own, **{name: getattr(opened.own, name) for name in dir(opened.own) if name[0] != "_"}}
    offered = [getattr(opened.settings, name) for name in dir(opened.settings) if name[0] != "_"]
    found = []
    for function in offered:
        names = list(inspect.signature(function).parameters) if inspect.isfunction(function) else []
        if names and set(names) <= set(given):
            found.append(function(**{name: given[name] for name in names}))
    for check in judging_checks(opened).values():
        if isinstance(check, Number):
            expected = check.expected() if callable(check.expected) else check.expected
            assert expected not in [value for value in found if isinstance(value, (int, float))], check.key
