"""Hints from the button below a failed check, by keys, in JupyterLab and in the page."""

from __future__ import annotations

import pytest

from tests.browser.bidi import Browser
from tests.browser.conftest import FIRST_CHAPTER, HINT_BUTTON, HINTS, KERNEL, run

pytestmark = [pytest.mark.slow]

CHAPTER = FIRST_CHAPTER
WAITS = "The hint appears when the running cell ends."
WATCH = f"""(() => {{
    globalThis.wasBusy = false;
    globalThis.told = [];
    {KERNEL}.statusChanged.connect((_kernel, status) => (wasBusy ||= status === 'busy'));
    new MutationObserver(() => told.push({HINTS})).observe(document.body, {{ childList: true, subtree: true }});
}})()"""
"""Note whether the kernel was busy, and what is said about hints, in JavaScript."""


@pytest.mark.parametrize("key", ["Enter", "Space"])
def test_a_key_on_the_button_below_a_failed_check_shows_a_hint_each_time(failed: Browser, key: str) -> None:
    for number in (1, 2):
        failed.value(f"{HINT_BUTTON}.focus()")
        failed.press(key)
        failed.until(f"{HINTS}.includes('Hint {number} of')")


def test_a_hint_that_a_running_cell_holds_up_is_announced(failed: Browser) -> None:
    for number, held_s in ((1, 3), (2, 30)):
        failed.value(WATCH)
        run(failed, "rtt", f"import time; [time.sleep(0.01) for _ in range({100 * held_s})]", wait=False)
        failed.until("wasBusy")
        failed.value(f"{HINT_BUTTON}.focus()")
        failed.press("Enter")
        failed.until(f"{HINTS}.includes('Hint {number} of') && !{HINTS}.includes('{WAITS}')")
        # On a busy machine the key may come after the shorter cell has ended.
        if failed.value(f"told.some(words => words.endsWith('{WAITS}'))"):
            return
    raise AssertionError(f"not said: {WAITS}")
