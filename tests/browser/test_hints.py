"""Hints from the button below a failed check, by keys, in JupyterLab and in the page."""

from __future__ import annotations

import pytest

from tests.browser.bidi import Browser
from tests.browser.conftest import NOTEBOOK, PANEL, as_json

pytestmark = [pytest.mark.slow]

CHAPTER = "00_start_here.ipynb"
BUTTON = "document.querySelector('.netlab-hint button')"
KERNEL = f"{PANEL}.sessionContext.session?.kernel"
HINTS = "[...document.querySelectorAll('.netlab-hint [role=status]')].map(hints => hints.textContent).join(' ')"


def run(browser: Browser, cell: str, source: str = "", *, wait: bool = True) -> None:
    """Run a cell of the notebook, with another text if one is given, and wait until it has ended."""
    found = f"{NOTEBOOK}.widgets.find(each => each.model.id === {as_json(cell)})"
    if source:
        browser.value(f"{found}.model.sharedModel.setSource({as_json(source)})")
    browser.value(f"""(async () => {{
        {NOTEBOOK}.activeCellIndex = {NOTEBOOK}.widgets.indexOf({found});
        const ended = jupyterapp.commands.execute('notebook:run-cell');
        if ({as_json(wait)}) await ended;
    }})()""")


@pytest.fixture(params=["jupyterlab", "page"])
def failed(browser: Browser, request: pytest.FixtureRequest) -> Browser:
    """The chapter with a check that has just failed, and the button below it."""
    address = request.getfixturevalue(request.param)
    path = {"jupyterlab": f"lab/tree/{CHAPTER}", "page": f"lab/index.html?path={CHAPTER}"}[request.param]
    browser.go("about:blank")
    browser.go(f"{address}{path}")
    browser.until(f"{PANEL}?.context.path === {as_json(CHAPTER)}")
    browser.until(f"{KERNEL}?.status === 'idle'")
    run(browser, "imports")
    run(browser, "rtt", "rtt_ms = 1")
    run(browser, "rtt-check")
    browser.until(f"!!{BUTTON}")
    return browser


@pytest.mark.parametrize("key", ["Enter", "Space"])
def test_a_key_on_the_button_below_a_failed_check_shows_a_hint_each_time(failed: Browser, key: str) -> None:
    for number in (1, 2):
        failed.value(f"{BUTTON}.focus()")
        failed.press(key)
        failed.until(f"{HINTS}.includes('Hint {number} of')")


def test_a_hint_that_a_running_cell_holds_up_is_announced(failed: Browser) -> None:
    run(failed, "network", "import time; [time.sleep(0.01) for _ in range(1000)]", wait=False)
    failed.until(f"{KERNEL}.status === 'busy'")
    failed.value(f"{BUTTON}.focus()")
    failed.press("Enter")
    failed.until(f"{HINTS} === 'The hint appears when the running cell ends.'")
    failed.until(f"{HINTS}.startsWith('Hint 1 of') && !{HINTS}.includes('running cell')")
