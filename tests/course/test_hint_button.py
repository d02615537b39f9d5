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
    created = Number(name="x", expected=1, unit="", tolerance=0.1, hints=["Look.", "a < b"])
    created.key = "limit"
    return created


def test_a_failed_check_shows_a_button_below_the_sentence_that_names_the_call(page: Page) -> None:
    created = check()
    created(5)
    verdict, button = page.shown
    assert "chapter.check.limit.hint()" in verdict["text/plain"]
    assert button["text/plain"] == ""
    assert created._button is not None
    assert button[WIDGET_VIEW]["model_id"] == created._button.box.model_id


def test_each_press_shows_one_hint_more_and_the_last_one_takes_the_button_away(page: Page) -> None:
    created = check()
    created(5)
    button = created._button
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
    created = check()
    created.hint()
    created(5)
    assert created._button is not None
    created._button.button.click()
    assert "Hint 2 of 2" in created._button.hints.value
    assert created.hints_left == 0


def test_check_without_further_hints_has_no_button(page: Page) -> None:
    used, without = check(), Number(name="x", expected=1, unit="", tolerance=0.1)
    used.hint()
    used.hint()
    for created, answer in ((used, 5), (without, 5), (check(), 1), (check(), ...)):
        page.shown.clear()
        created(answer)
        assert [WIDGET_VIEW in shown for shown in page.shown] == [False]


def test_a_check_that_is_run_again_closes_its_earlier_button(page: Page) -> None:
    created = check()
    created(5)
    before = created._button
    assert before is not None
    created(6)
    assert before.box.comm is None
    assert created._button is not None and created._button.box.comm is not None
    created(1)
    assert created._button is None


def test_outside_a_notebook_there_is_no_button(capsys: pytest.CaptureFixture[str]) -> None:
    created = check()
    created(5)
    assert created._button is None
    assert "chapter.check.limit.hint()" in capsys.readouterr().out
