"""The button below a failed check."""

from __future__ import annotations

from typing import Any

import pytest

from netlab.widgets import WIDGET_VIEW
from netlab_course import hint_button, messages
from netlab_course.checks import Number


class Page:
    """Stands in for `IPython.display`; keeps what was shown."""

    def __init__(self) -> None:
        self.shown: list[dict[str, Any]] = []

    def display(self, bundle: dict[str, Any], *, raw: bool, metadata: dict[str, Any] | None = None) -> None:
        assert raw
        self.shown.append(bundle)


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> Page:
    page = Page()
    for module in (messages, hint_button):
        monkeypatch.setattr(module, "display_module", lambda: page)
    return page


def check() -> Number:
    made = Number(name="x", expected=1, unit="", tolerance=0.1, hints=["Look.", "a < b"])
    made.key = "limit"
    return made


def test_a_failed_check_shows_a_button_below_the_sentence_that_names_the_call(page: Page) -> None:
    made = check()
    made(5)
    verdict, button = page.shown
    assert "chapter.check.limit.hint()" in verdict["text/plain"]
    assert button["text/plain"] == ""
    assert made._button is not None
    assert button[WIDGET_VIEW]["model_id"] == made._button.box.model_id


def test_each_press_shows_one_hint_more_and_the_last_one_takes_the_button_away(page: Page) -> None:
    made = check()
    made(5)
    button = made._button
    assert button is not None
    button.button.click()
    assert "Hint 1 of 2: Look." in button.hints.value
    assert "Hint 2" not in button.hints.value
    assert button.button.layout.display != "none"
    button.button.click()
    assert "Hint 1 of 2: Look." in button.hints.value
    assert "Hint 2 of 2, the last: a &lt; b" in button.hints.value
    assert button.button.layout.display == "none"


def test_the_button_and_the_call_count_the_same_hints(page: Page) -> None:
    made = check()
    made.hint()
    made(5)
    assert made._button is not None
    made._button.button.click()
    assert "Hint 2 of 2" in made._button.hints.value
    assert made.hints_left == 0


def test_check_without_further_hints_has_no_button(page: Page) -> None:
    used, without = check(), Number(name="x", expected=1, unit="", tolerance=0.1)
    used.hint()
    used.hint()
    for made, answer in ((used, 5), (without, 5), (check(), 1), (check(), ...)):
        page.shown.clear()
        made(answer)
        assert [WIDGET_VIEW in shown for shown in page.shown] == [False]


def test_a_check_that_is_run_again_closes_its_earlier_button(page: Page) -> None:
    made = check()
    made(5)
    before = made._button
    assert before is not None
    made(6)
    assert before.box.comm is None
    assert made._button is not None and made._button.box.comm is not None
    made(1)
    assert made._button is None


def test_outside_a_notebook_there_is_no_button(capsys: pytest.CaptureFixture[str]) -> None:
    made = check()
    made(5)
    assert made._button is None
    assert "chapter.check.limit.hint()" in capsys.readouterr().out
