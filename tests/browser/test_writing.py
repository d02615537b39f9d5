"""Text typed into a chapter stays text, in JupyterLab and in the page, in Chromium and in Firefox."""

from __future__ import annotations

import nbformat
import pytest

from tests.browser.bidi import Browser
from tests.browser.conftest import NOTEBOOK, PANEL, ROOT, Place, as_json, cells, close_others

pytestmark = [pytest.mark.slow]

CHAPTER, ANSWER = "01_udp_loss.ipynb", "perfect-words"
STEADY_TRIES = 20
"""The number of consecutive looks that must find a cell at the same height."""
WRITTEN_TEXT = "My friend, you may try x, dd, 00 and 1: zero is merely a queue."
"""Most of its letters are commands where a notebook is in command mode."""
ANSWER_CELL = f"{NOTEBOOK}.widgets.find(cell => cell.model.id === {as_json(ANSWER)})"
WRITES = f"{NOTEBOOK}.mode === 'edit' && {NOTEBOOK}.activeCell.model.id === {as_json(ANSWER)}"
MOVES = "(style => (style.marginTop = style.marginTop ? '' : '250px'))(document.getElementById('here').style)"
"""The text below a figure moves when the figure is drawn."""


@pytest.fixture
def chapter(browser: Browser, place: Place) -> Browser:
    """The chapter, open, with its answer's cell in sight, as it is handed out and not selected."""
    place.open(browser, CHAPTER)
    browser.until(f"!!{ANSWER_CELL}")
    handed_out = next(cell.source for cell in nbformat.read(ROOT / "notebooks" / CHAPTER, 4).cells if cell.id == ANSWER)
    browser.value(f"""(cell => {{
        {NOTEBOOK}.activeCellIndex = 0;
        {NOTEBOOK}.mode = 'command';
        cell.model.sharedModel.setSource({as_json(handed_out)});
        cell.rendered = true;
        cell.node.style.marginTop = '';
    }})({ANSWER_CELL})""")
    show(browser, CHAPTER, ANSWER)
    return browser


def show(browser: Browser, path: str, cell: str) -> None:
    """Wait until a chapter is in sight, and scroll to one of its cells, which gets the id `here`."""
    browser.until(f"{PANEL}?.context.path === {as_json(path)}")
    browser.until(f"{NOTEBOOK}.widgets.some(cell => cell.model.id === {as_json(cell)})")
    browser.value(f"{NOTEBOOK}.activate()")
    browser.value("globalThis.steady = 0")
    # Formulas and figures move what is below them as they are drawn.
    browser.until(f"""(async () => {{
        const notebook = {NOTEBOOK};
        const index = notebook.widgets.findIndex(cell => cell.model.id === {as_json(cell)});
        const {{ node }} = notebook.widgets[index];
        const box = node.getBoundingClientRect();
        const there = node.isConnected && notebook.isVisible && box.top > 0 && box.bottom < innerHeight;
        if (!there) await notebook.scrollToItem(index, 'center');
        node.id = 'here';
        steady = there && box.top === globalThis.before ? steady + 1 : 0;
        globalThis.before = box.top;
        return steady > {STEADY_TRIES};
    }})()""")


def answer(browser: Browser) -> list[str]:
    (found,) = (cell for cell in cells(browser) if cell[0] == ANSWER)
    return found


def test_a_double_click_on_an_answer_writes_there_and_no_letter_is_a_command(chapter: Browser) -> None:
    before, requested = cells(chapter), answer(chapter)[2]
    chapter.double_click("#here .jp-MarkdownOutput")
    chapter.until(WRITES)
    chapter.type(WRITTEN_TEXT)
    chapter.press("Shift", "Enter")
    chapter.until("document.getElementById('here').classList.contains('jp-mod-rendered')")
    name, kind, text = answer(chapter)
    assert (name, kind) == (ANSWER, "markdown")
    # The ellipsis gives way; another browser may have written here before.
    assert text == requested.removesuffix("…") + WRITTEN_TEXT
    assert [cell for cell in cells(chapter) if cell[0] != ANSWER] == [cell for cell in before if cell[0] != ANSWER]
    assert WRITTEN_TEXT in chapter.value("document.getElementById('here').textContent")


def test_enter_on_an_answer_writes_in_place_of_its_ellipsis(chapter: Browser) -> None:
    requested = answer(chapter)[2]
    chapter.click("#here .jp-MarkdownOutput")
    chapter.until(f"{NOTEBOOK}.activeCell.model.id === {as_json(ANSWER)} && {NOTEBOOK}.mode === 'command'")
    chapter.press("Enter")
    chapter.until(WRITES)
    chapter.type("mystery")
    assert answer(chapter)[2] == requested.removesuffix("…") + "mystery"


def test_letters_change_delete_and_add_no_cell_where_an_answer_is_selected(chapter: Browser) -> None:
    before = cells(chapter)
    chapter.click("#here .jp-MarkdownOutput")
    chapter.until(f"{NOTEBOOK}.activeCell.model.id === {as_json(ANSWER)} && {NOTEBOOK}.mode === 'command'")
    chapter.type("ymrxddzabvc123")
    assert cells(chapter) == before
    assert chapter.until("[...document.querySelectorAll('.Toastify')].some(e => e.textContent.includes('press Enter'))")


def test_the_letters_that_interrupt_say_how_a_cell_is_stopped(chapter: Browser) -> None:
    chapter.click("#here .jp-MarkdownOutput")
    chapter.until(f"{NOTEBOOK}.activeCell.model.id === {as_json(ANSWER)} && {NOTEBOOK}.mode === 'command'")
    chapter.type("ii")
    assert chapter.until("[...document.querySelectorAll('.Toastify')].some(e => e.textContent.includes('press ■'))")


def test_a_letter_is_written_where_a_text_is_open_but_not_written_in(chapter: Browser) -> None:
    """Put a cell into the state in which JupyterLab leaves it after Escape, or after a double-click without the extension."""
    chapter.double_click("#here .jp-MarkdownOutput")
    chapter.until(WRITES)
    chapter.press("Escape")
    chapter.until(f"{NOTEBOOK}.mode === 'command'")
    chapter.type("xylo")
    assert "xylo" in answer(chapter)[2]
    assert answer(chapter)[1] == "markdown"


def test_double_click_opens_the_text_first_pressed_when_the_page_moves(chapter: Browser) -> None:
    before = cells(chapter)
    chapter.double_click("#here .jp-MarkdownOutput", between=MOVES)
    chapter.until(WRITES)
    chapter.type("xylo")
    assert "xylo" in answer(chapter)[2]
    assert [cell for cell in cells(chapter) if cell[0] != ANSWER] == [cell for cell in before if cell[0] != ANSWER]


def test_a_letter_is_written_where_the_open_text_has_lost_the_focus(chapter: Browser) -> None:
    chapter.double_click("#here .jp-MarkdownOutput")
    chapter.until(WRITES)
    chapter.value("document.activeElement.blur()")
    assert chapter.value("document.activeElement === document.body")
    chapter.type("mystery")
    assert "mystery" in answer(chapter)[2]
    assert answer(chapter)[1] == "markdown"


def test_letters_are_commands_in_a_notebook_of_the_students_own(browser: Browser, jupyterlab: str) -> None:
    browser.go(f"{jupyterlab}lab")
    browser.until("!!globalThis.jupyterapp?.shell")
    close_others(browser)
    browser.value(
        "jupyterapp.commands.execute('notebook:create-new', {kernelName: 'python3'}).then(panel => void (created = panel))"
    )
    # JupyterLab may still show a notebook that it restored, of one cell too.
    browser.until(f"{PANEL} === created && {NOTEBOOK}.widgets?.length === 1")
    browser.until(f"!!{NOTEBOOK}.activeCell && {PANEL}.context.isReady")
    # The kernel's start may take the focus once more.
    browser.until(
        f"({NOTEBOOK}.mode = 'command', {NOTEBOOK}.activate(), {NOTEBOOK}.node.contains(document.activeElement))"
    )
    browser.type("m")
    browser.until(f"{NOTEBOOK}.widgets.map(cell => cell.model.type).join() === 'markdown'")
