"""The chapter and the reading position come back after a reload; lines of code fit into the window; a panel without a
kernel says what to do.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from netlab_course.page_style import SHEET
from tests.browser import bidi
from tests.browser.bidi import Browser
from tests.browser.conftest import KERNEL, NOTEBOOK, PANEL, as_json, open_alone
from tests.browser.test_writing import show

pytestmark = [pytest.mark.slow]

FIRST_CHAPTER, OTHER_CHAPTER, FAR_CELL = "00_start_here.ipynb", "08_multiplexing.ipynb", "judge-words"
NEAR_PIXELS = 4
SCRIPT_OF_PAGE = "static/netlab/loading.js"
"""A page of the same address that runs nothing."""
LIST = "document.querySelector('.jp-DirListing')"
NAMES = "[...document.querySelectorAll('.jp-DirListing-itemText')]"
NAMES_ARE_WHOLE = f"{NAMES}.every(name => name.clientWidth > 0 && name.scrollWidth <= name.clientWidth)"
SCROLLED = "document.querySelector('.jp-DirListing-content')"
WIDE_PIXELS, NARROW_PIXELS, NARROW_WINDOW_PIXELS, LOW_WINDOW_PIXELS = 350, 260, 900, 480
"""The least width of the list in a wide window, the greatest in a narrow one, and that window's width and height."""
NARROWINGS = 2
"""The window is made narrow so many times: JupyterLab's own column of names gets narrower each time."""
LONG_LINES = "14_reliable_transfer.ipynb"
"""A chapter with lines of code that are wider than a narrow window."""
CODE = f"{NOTEBOOK}.widgets.filter(cell => cell.model.type === 'code')"
SCROLLERS = f"{CODE}.map(cell => cell.node.querySelector('.jp-InputArea .cm-scroller'))"
WIDE_CELLS = f"{SCROLLERS}.filter(s => s.scrollWidth > s.clientWidth).map(s => s.innerText.slice(0, 80))"
"""The beginnings of code cells with a horizontal scroll bar, in JavaScript."""
CONTINUED_LINES = f"""{SCROLLERS}.flatMap(s => [...s.querySelectorAll('.cm-line')])
    .filter(line => line.clientHeight > 1.5 * parseFloat(getComputedStyle(line).lineHeight)).length"""
"""The number of lines of code that take two rows or more, in JavaScript."""
QUESTIONS = {
    "loaded": "'netlab.widgets' in __import__('sys').modules",
    "named": "'netlab' in globals()",
    "count": "get_ipython().execution_count",
}
"""Expressions of Python about a kernel."""
TOP = f"""(() => {{
    const cell = {NOTEBOOK}.widgets.find(cell => cell.model.id === {as_json(FAR_CELL)});
    return cell.node.isConnected ? cell.node.getBoundingClientRect().top : null;
}})()"""

KEPT = f"""(() => {{
    const place = JSON.parse(localStorage.getItem('netlab place {OTHER_CHAPTER}'));
    const cell = place && {NOTEBOOK}.widgets.find(cell => cell.model.id === place.top);
    if (!cell?.node.isConnected) return false;
    const scroller = {NOTEBOOK}.node.querySelector('.jp-WindowedPanel-outer') ?? {NOTEBOOK}.node;
    const below = cell.node.getBoundingClientRect().top - scroller.getBoundingClientRect().top;
    return Math.abs(below - place.below) <= 1;
}})()"""
"""A test, in JavaScript, that the place that is kept is the one that the notebook shows; a slow browser keeps it late."""


def kernel_answer(what: str) -> str:
    """The answer of the kernel of the notebook in sight to a question of `QUESTIONS`, as text, in JavaScript; nothing is run."""
    words = {"code": "", "silent": True, "store_history": False, "user_expressions": {"answer": QUESTIONS[what]}}
    return f"{KERNEL}.requestExecute({as_json(words)}).done.then(({{content}}) => content.user_expressions.answer.data['text/plain'])"


def in_sight(browser: Browser, path: str) -> None:
    """Wait until a chapter is on the page."""
    browser.until(f"{PANEL}?.context.path === {as_json(path)}")
    browser.until(f"!!document.querySelector('.jp-Notebook .jp-Cell') && {NOTEBOOK}.isVisible")


def stays(browser: Browser, load: Callable[[], None]) -> None:
    """Scroll far down, wait until the place is kept, load the page again, and find the same cell at the same height."""
    show(browser, OTHER_CHAPTER, FAR_CELL)
    browser.until(KEPT)
    top = browser.value(TOP)
    load()
    in_sight(browser, OTHER_CHAPTER)
    browser.until(f"(top => top !== null && Math.abs(top - {top}) <= {NEAR_PIXELS})({TOP})")


def test_the_page_opens_on_the_first_chapter_then_on_the_one_that_was_open(browser: Browser, page: str) -> None:
    browser.go(f"{page}{SCRIPT_OF_PAGE}")
    browser.value("localStorage.clear(), sessionStorage.clear()")
    browser.go(page)
    in_sight(browser, FIRST_CHAPTER)
    assert browser.value("[...jupyterapp.shell.widgets('main')].map(widget => widget.title.label)") == [FIRST_CHAPTER]
    browser.value(f"jupyterapp.commands.execute('docmanager:open', {{path: {as_json(OTHER_CHAPTER)}}}).then(() => 1)")
    browser.until(f"localStorage.getItem('netlab open') === {as_json(OTHER_CHAPTER)}")
    browser.until(f"new URL(location).searchParams.get('path') === {as_json(OTHER_CHAPTER)}")
    browser.go("about:blank")
    browser.go(page)
    in_sight(browser, OTHER_CHAPTER)


def test_the_page_opens_the_first_chapter_where_the_one_that_was_open_is_gone(browser: Browser, page: str) -> None:
    browser.go(f"{page}{SCRIPT_OF_PAGE}")
    browser.value("sessionStorage.clear(), localStorage.setItem('netlab open', 'gone.ipynb')")
    browser.go(page)
    in_sight(browser, FIRST_CHAPTER)
    browser.until(
        f"[...jupyterapp.shell.widgets('main')].map(widget => widget.title.label).join() === {as_json(FIRST_CHAPTER)}"
    )
    browser.until(f"localStorage.getItem('netlab open') === {as_json(FIRST_CHAPTER)}")
    browser.until(f"new URL(location).searchParams.get('path') === {as_json(FIRST_CHAPTER)}")
    assert browser.value(bidi.DIALOG) == ""
    # A second load breaks off the first, and Firefox tells JupyterLab that the files that it broke off are missing.
    assert browser.value("performance.getEntriesByType('navigation')[0].type") == "navigate"


def test_a_reload_of_the_page_keeps_chapter_and_place(browser: Browser, page: str) -> None:
    browser.go(f"{page}lab/index.html?path={OTHER_CHAPTER}")
    in_sight(browser, OTHER_CHAPTER)
    stays(browser, browser.reload)


def test_a_reload_of_jupyterlab_keeps_chapter_and_place(browser: Browser, jupyterlab: str) -> None:
    browser.go(f"{jupyterlab}lab/tree/{OTHER_CHAPTER}")
    in_sight(browser, OTHER_CHAPTER)
    stays(browser, browser.reload)


def test_a_link_to_an_optional_part_shows_its_heading(browser: Browser, jupyterlab: str) -> None:
    open_alone(browser, f"{jupyterlab}lab/tree/{OTHER_CHAPTER}", OTHER_CHAPTER)
    in_sight(browser, OTHER_CHAPTER)
    for words, heading in (
        ("when shares change", "when shares change"),
        ("which flow was first?", "which flow was first?"),
    ):
        link = f"[...document.querySelectorAll('.jp-Notebook a')].find(a => a.textContent === {as_json(words)})"
        title = (
            f"[...document.querySelectorAll('.jp-Notebook h2')].find(h => h.textContent.includes({as_json(heading)}))"
        )
        browser.until(f"!!{link} && !!{title}")
        # A figure that is drawn after a click moves the heading away again.
        browser.until(
            f"(box => box.height > 0 && box.top >= 0 && box.bottom <= innerHeight)"
            f"(({link}.click(), {title}).getBoundingClientRect())"
        )


@pytest.mark.parametrize("place", ["jupyterlab", "page"])
def test_the_list_of_files_shows_whole_names_in_wide_and_narrow_windows(
    browser: Browser, place: str, request: pytest.FixtureRequest
) -> None:
    address = request.getfixturevalue(place)
    browser.go(f"{address}lab/index.html" if place == "page" else f"{address}lab")
    browser.until(f"{NAMES}.length > 10")
    try:
        browser.until(f"{LIST}.clientWidth >= {WIDE_PIXELS} && {NAMES_ARE_WHOLE}")
        for _ in range(NARROWINGS):
            browser.resize(NARROW_WINDOW_PIXELS, LOW_WINDOW_PIXELS)
            # A list longer than its window has a scroll bar, which takes room from the names.
            browser.until(f"{SCROLLED}.scrollHeight > {SCROLLED}.clientHeight")
            browser.until(f"{LIST}.clientWidth <= {NARROW_PIXELS} && {NAMES_ARE_WHOLE}")
            browser.resize(bidi.WIDTH, bidi.HEIGHT)
            browser.until(f"{LIST}.clientWidth >= {WIDE_PIXELS} && {NAMES_ARE_WHOLE}")
    finally:
        browser.resize(bidi.WIDTH, bidi.HEIGHT)


@pytest.mark.parametrize("place", ["jupyterlab", "page"])
def test_code_cells_have_no_horizontal_scroll_bar_in_wide_and_narrow_windows(
    browser: Browser, place: str, request: pytest.FixtureRequest
) -> None:
    address = request.getfixturevalue(place)
    path = {"jupyterlab": f"lab/tree/{LONG_LINES}", "page": f"lab/index.html?path={LONG_LINES}"}[place]
    open_alone(browser, f"{address}{path}", LONG_LINES)
    browser.until(f"{CODE}.length > 10")
    # A folded cell that is drawn for the first time is folded again, so ask until the code of all cells is there.
    browser.until(
        f"jupyterapp.commands.execute('notebook:show-all-cell-code').then(() => {SCROLLERS}.every(s => s?.clientWidth > 0))",
        shown=f"{SCROLLERS}.map(s => s?.clientWidth)",
    )
    try:
        browser.until(f"{WIDE_CELLS}.length === 0", shown=WIDE_CELLS)
        browser.resize(NARROW_WINDOW_PIXELS, bidi.HEIGHT)
        browser.until(f"{CONTINUED_LINES} > 0")
        browser.until(f"{WIDE_CELLS}.length === 0", shown=WIDE_CELLS)
    finally:
        browser.resize(bidi.WIDTH, bidi.HEIGHT)


def test_printed_sentences_wrap_in_a_narrow_window_and_tables_scroll(
    browser: Browser, jupyterlab: str, chapters: Path
) -> None:
    sentence, row = "Ready: experiments run with the library engine in virtual time. " * 2, "1.0  2.0  " * 12
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    cell = {"cell_type": "code", "metadata": {}, "source": "import netlab", "execution_count": 1}
    cells_ = [
        {**cell, "id": name, "outputs": [{"output_type": "stream", "name": "stdout", "text": text}]}
        for name, text in (("sentence", f"{sentence}\n  {sentence}"), ("table", f"{row}\n{row}"))
    ]
    notebook = {"cells": cells_, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}
    (chapters / "printed.ipynb").write_text(json.dumps(notebook))
    open_alone(browser, f"{jupyterlab}lab/tree/printed.ipynb", "printed.ipynb")
    browser.until(f"{NOTEBOOK}.node.querySelectorAll('.jp-OutputArea-output pre').length === 2")
    printed = f"[...{NOTEBOOK}.node.querySelectorAll('.jp-OutputArea-output pre')]"
    # The style sheet of an opened chapter, without its kernel.
    browser.value(
        f"document.head.append(Object.assign(document.createElement('style'), {{textContent: {as_json(SHEET)}}}))"
    )
    try:
        browser.resize(NARROW_WINDOW_PIXELS, bidi.HEIGHT)
        browser.until(f"{printed}.map(pre => pre.scrollWidth > pre.clientWidth).join() === 'false,true'", shown=printed)
    finally:
        browser.resize(bidi.WIDTH, bidi.HEIGHT)


def test_list_keeps_its_width_while_a_window_shrinks(browser: Browser, jupyterlab: str) -> None:
    """JupyterLab lays out its parts a moment after the window has another size."""
    browser.go(f"{jupyterlab}lab")
    browser.until(f"{NAMES}.length > 10 && {LIST}.clientWidth >= {WIDE_PIXELS}")
    browser.value(f"""(() => {{
        const find = (part, id) => part.id === id ? part : [...part.layout ?? []].map(each => find(each, id)).find(each => each);
        const split = find(jupyterapp.shell, "jp-main-split-panel"), shares = split.relativeSizes.bind(split), old = shares();
        let looks = 2;
        split.relativeSizes = () => split.node.clientWidth < {NARROW_WINDOW_PIXELS} && looks-- > 0 ? old : shares();
    }})()""")
    try:
        browser.resize(NARROW_WINDOW_PIXELS, LOW_WINDOW_PIXELS)
        browser.until(f"{LIST}.clientWidth <= {NARROW_PIXELS}")
        browser.resize(bidi.WIDTH, bidi.HEIGHT)
        browser.until(f"{LIST}.clientWidth >= {WIDE_PIXELS}")
    finally:
        browser.resize(bidi.WIDTH, bidi.HEIGHT)


def test_netlab_is_imported_before_a_cell_runs_also_after_a_restart_of_the_kernel(
    browser: Browser, jupyterlab: str
) -> None:
    open_alone(browser, f"{jupyterlab}lab/tree/{FIRST_CHAPTER}", FIRST_CHAPTER)
    for _ in range(2):
        browser.until(f"{kernel_answer('loaded')}.then(loaded => loaded === 'True')", shown=f"{KERNEL}?.status")
        assert browser.value(kernel_answer("named")) == "False", "the imports put names into the student's namespace"
        assert browser.value(kernel_answer("count")) == "1", "the imports count as a cell that was run"
        browser.value(f"{PANEL}.sessionContext.restartKernel().then(() => 1)")


def test_netlab_is_not_imported_where_no_cell_imports_it(browser: Browser, jupyterlab: str, chapters: Path) -> None:
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    cell: dict[str, object] = {
        "cell_type": "code",
        "id": "own",
        "metadata": {},
        "source": "1 + 1",
        "execution_count": None,
        "outputs": [],
    }
    for name, source in (("without.ipynb", "1 + 1"), ("with.ipynb", "import netlab")):
        notebook = {"cells": [{**cell, "source": source}], "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}
        (chapters / name).write_text(json.dumps(notebook))
    open_alone(browser, f"{jupyterlab}lab/tree/without.ipynb", "without.ipynb")
    browser.until(f"{KERNEL}?.status === 'idle'")
    without = browser.value(f"{KERNEL}.id")
    # The extension looks at all notebooks each time: the second one's imports come after the first one's would have.
    browser.value("jupyterapp.commands.execute('docmanager:open', {path: 'with.ipynb'}).then(() => 1)")
    browser.until(
        f"{PANEL}?.context.path === 'with.ipynb' && {kernel_answer('loaded')}.then(loaded => loaded === 'True')"
    )
    browser.value("jupyterapp.commands.execute('docmanager:open', {path: 'without.ipynb'}).then(() => 1)")
    browser.until(f"{PANEL}?.context.path === 'without.ipynb'")
    assert browser.value(f"{KERNEL}.id") == without
    assert browser.value(kernel_answer("loaded")) == "False"


def test_a_panel_whose_kernel_is_gone_asks_to_run_its_cell_again(
    browser: Browser, jupyterlab: str, chapters: Path
) -> None:
    view = {"model_id": "0" * 32, "version_major": 2, "version_minor": 0}
    data = {"application/vnd.jupyter.widget-view+json": view, "text/plain": ""}
    cell = {"cell_type": "code", "id": "panel", "metadata": {}, "source": "import netlab", "execution_count": 1}
    output = {"output_type": "display_data", "data": data, "metadata": {}}
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    notebook = {"cells": [{**cell, "outputs": [output]}], "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}
    (chapters / "stale.ipynb").write_text(json.dumps(notebook))
    open_alone(browser, f"{jupyterlab}lab/tree/stale.ipynb", "stale.ipynb")
    in_sight(browser, "stale.ipynb")
    browser.until(f"{NOTEBOOK}.widgets[0]?.model.outputs?.length === 1")
    # Trust the widget, which a run would do: JupyterLab shows no widget of a notebook from elsewhere.
    browser.value(f"({NOTEBOOK}.widgets[0].model.trusted = true)")
    browser.until("document.querySelector('.jp-OutputArea-output')?.textContent.includes('Run this cell again')")
