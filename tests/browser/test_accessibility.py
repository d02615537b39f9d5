"""Outputs of a chapter's cells in JupyterLab and in the page, for those who use keys or do not see figures: hints by keys,
no violation that axe-core finds, and a sentence for each figure.
"""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import nbformat
import pytest

from netlab.plots.notebook import notebook_forms
from tests.browser.bidi import Browser
from tests.browser.conftest import HINT_BUTTON, KERNEL, NOTEBOOK, Place, as_json, open_alone, run
from tests.plots.samples import udp_comparison

pytestmark = [pytest.mark.slow]

PINS = Path(__file__).parent / "axe"
FIGURES = f"[...{NOTEBOOK}.node.querySelectorAll('.jp-OutputArea .js-plotly-plot')]"
LABELS = f"{FIGURES}.map(figure => figure.closest('[role=img]')?.getAttribute('aria-label') ?? figure.outerHTML.slice(0, 300))"
LOOKS = 10
"""The largest number of looks for a violation, one each second; a figure has its size at the second."""
HINTS = "[...document.querySelectorAll('.netlab-hint [role=status]')].map(hints => hints.textContent).join(' ')"
THEMES = ("JupyterLab Light", "JupyterLab Dark")
FIXED_THEME = """(({ commands }, name) => commands.isToggled(name) ? commands.execute(name).then(() => 1) : 1)(
    jupyterapp, 'apputils:adaptive-theme')"""
"""Stop the page from taking the system's theme, light or dark, in JavaScript."""
UNNAMED = "<div class='jp-OutputArea-output'><input type='range'></div>"
ASK = """axe.run({ include: ['.jp-OutputArea-output', '.jp-RenderedMarkdown'] }, { resultTypes: ['violations'] })
    .then(found => found.violations.map(each => [each.id, each.impact, each.nodes.map(node => node.html.slice(0, 200))]))"""


@pytest.fixture(scope="module")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The script of axe-core, at the version that `axe/package-lock.json` pins."""
    if not shutil.which("npm"):
        pytest.skip("needs npm: apt install npm")
    place = shutil.copytree(PINS, tmp_path_factory.mktemp("npm") / "axe")
    command = ["npm", "ci", "--silent", "--no-audit", "--no-fund", "--ignore-scripts"]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, f"npm could not fetch axe-core: {done.stdout}{done.stderr}"
    return (place / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8")


def violations(browser: Browser, axe: str) -> list[Any]:
    """Return the violations that axe-core finds in the text and the outputs of the notebook in sight."""
    # A page with an AMD loader would take the script for a module of its own.
    browser.value(f"""(() => {{
        if (globalThis.axe) return;
        const loader = globalThis.define;
        globalThis.define = undefined;
        document.head.append(Object.assign(document.createElement('script'), {{ textContent: {as_json(axe)} }}));
        globalThis.define = loader;
    }})()""")
    found: list[Any] = browser.value(ASK)
    return found


def lasting_violations(browser: Browser, axe: str) -> list[Any]:
    """Return the violations that are still there when the figures, which may be drawn a moment ago, have their size."""
    for _ in range(LOOKS):
        if not (found := violations(browser, axe)):
            break
        time.sleep(1)
    return found


def test_a_figure_of_a_notebook_from_elsewhere_has_its_description(
    browser: Browser, jupyterlab: str, chapters: Path
) -> None:
    """JupyterLab runs no script of an output that it does not trust."""
    forms = notebook_forms(udp_comparison(title="A slow link").figure)
    book = nbformat.v4.new_notebook(metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})
    output = nbformat.v4.new_output("display_data", forms)
    book.cells = [nbformat.v4.new_code_cell("figure", outputs=[output], execution_count=1)]
    nbformat.write(book, chapters / "elsewhere.ipynb")
    open_alone(browser, f"{jupyterlab}lab/tree/elsewhere.ipynb", "elsewhere.ipynb")
    # Another notebook that JupyterLab restores has figures too. Until this one is drawn, its name may be "Figure".
    label = f"{NOTEBOOK}.node.querySelector('.jp-RenderedPlotly[role=img]')?.getAttribute('aria-label')"
    browser.until(f"{label}?.startsWith('A slow link. Figure of Goodput')")
    assert browser.value(f"{NOTEBOOK}.widgets[0].model.trusted") is False


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


def test_figures_panels_and_checks_have_names_that_axe_accepts(failed: Browser, axe: str) -> None:
    run(failed, "network")
    run(failed, "panel")
    failed.value(f"{HINT_BUTTON}.click()")
    failed.until("document.querySelectorAll('.jp-OutputArea [role=slider][aria-labelledby]').length > 0")
    named = f"{FIGURES}.length >= 2 && {FIGURES}.every(figure => figure.closest('[role=img][aria-label]'))"
    failed.until(named, shown=LABELS)
    for words in failed.value(LABELS):
        assert words.endswith(".") and len(words.split()) > 5, words
    failed.value(FIXED_THEME)
    for theme in THEMES:
        failed.value(
            f"jupyterapp.commands.execute('apputils:change-theme', {{ theme: {as_json(theme)} }}).then(() => 1)"
        )
        failed.until(f"document.body.dataset.jpThemeName === {as_json(theme)}")
        assert lasting_violations(failed, axe) == [], theme
    failed.value(
        f"void {NOTEBOOK}.node.querySelector('.jp-OutputArea').insertAdjacentHTML('beforeend', {as_json(UNNAMED)})"
    )
    assert [name for name, _, _ in violations(failed, axe)] == ["label"], "a slider without a name is found"
