"""Hints from the button below a failed check, by keys, in JupyterLab and in the page."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser.bidi import Browser
from tests.browser.conftest import HINT_BUTTON, KERNEL, Place, run

pytestmark = [pytest.mark.slow]

HINTS = "[...document.querySelectorAll('.netlab-hint [role=status]')].map(hints => hints.textContent).join(' ')"


@pytest.mark.parametrize("key", ["Enter", "Space"])
def test_a_key_on_the_button_below_a_failed_check_shows_a_hint_each_time(failed: Browser, key: str) -> None:
    for number in (1, 2):
        # A result that is drawn again takes the focus away.
        failed.until(f"({HINT_BUTTON}.focus(), document.activeElement === {HINT_BUTTON})")
        failed.press(key)
        failed.until(f"{HINTS}.includes('Hint {number} of')")


def test_a_hint_that_a_running_cell_holds_up_is_announced(failed: Browser, place: Place, tmp_path: Path) -> None:
    end = tmp_path / "end"
    # The page's kernel sees no file of this machine, so its cell ends by itself.
    limit_s = 60 if place.name == "jupyterlab" else 10
    source = f"""import time
from pathlib import Path
end_s = time.monotonic() + {limit_s}
while time.monotonic() < end_s and not Path({str(end)!r}).exists():
    time.sleep(0.01)"""
    run(failed, "progress", source, wait=False)
    failed.until(f"{KERNEL}.status === 'busy'")
    failed.value(f"{HINT_BUTTON}.focus()")
    failed.press("Enter")
    failed.until(f"{HINTS} === 'The hint appears when the running cell ends.'")
    end.touch()
    failed.until(f"{HINTS}.startsWith('Hint 1 of') && !{HINTS}.includes('running cell')")
