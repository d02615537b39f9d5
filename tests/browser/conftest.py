"""JupyterLab and the page in a browser, with the chapters as students have them."""

from __future__ import annotations

import functools
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from netlab_course import copies
from tests.browser import bidi
from tests.browser.bidi import Browser
from tests.built_page import require_page
from tests.waiting import free_port, wait_for

ROOT = Path(__file__).parents[2]
PANEL = "[...(globalThis.jupyterapp?.shell.widgets('main') ?? [])].find(panel => panel.isVisible && panel.context)"
"""The notebook in sight, in JavaScript. JupyterLab's own `currentWidget` is null until something has the focus."""
NOTEBOOK = f"{PANEL}.content"
KERNEL = f"{PANEL}.sessionContext.session?.kernel"
FIRST_CHAPTER = "00_start_here.ipynb"
HINT_BUTTON = "document.querySelector('.netlab-hint button')"


class Files(SimpleHTTPRequestHandler):
    """A server of plain files that prints nothing."""

    def log_message(self, *_words: object) -> None:
        pass


@pytest.fixture(scope="session", params=["chromium", "firefox"])
def browser(request: pytest.FixtureRequest) -> Iterator[Browser]:
    """A browser for all tests: what one leaves in its storage the next finds, as in a student's."""
    if reason := bidi.MISSING[request.param]:
        pytest.skip(reason)
    with bidi.start_browser(request.param) as opened:
        yield opened


@pytest.fixture(scope="session")
def page() -> Iterator[str]:
    """The address of the page that `make lite` has made, which ends in a slash."""
    page = require_page()
    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Files, directory=str(page))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture(scope="session")
def chapters(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A student's copies of the chapters."""
    folder = tmp_path_factory.mktemp("chapters")
    list(copies.update(folder))
    return folder


@pytest.fixture(scope="session")
def jupyterlab(tmp_path_factory: pytest.TempPathFactory, chapters: Path) -> Iterator[str]:
    """The address of what `netlab lab` starts, which ends in a slash."""
    home = tmp_path_factory.mktemp("home")
    port = free_port()
    options = ["--no-browser", f"--ServerApp.port={port}", "--ServerApp.port_retries=0", "--IdentityProvider.token="]
    options += ["--LabApp.expose_app_in_browser=True"]
    command = [sys.executable, "-m", "netlab.commands.cli", "lab", "--folder", str(chapters), "--", *options]
    environment = {**os.environ, "HOME": str(home), "NETLAB_DATA": str(home / "data")}
    for name in ("CONFIG", "DATA", "RUNTIME"):
        environment[f"JUPYTER_{name}_DIR"] = str(home / name.lower())
    log = home / "log"
    with log.open("w") as out, subprocess.Popen(command, stdout=out, stderr=out, env=environment, cwd=ROOT) as server:
        try:
            assert wait_for(lambda: server.poll() is not None or "is running at" in log.read_text()), log.read_text()
            assert server.poll() is None, log.read_text()
            assert wait_for(lambda: accepts_connections(port)), log.read_text()
            yield f"http://127.0.0.1:{port}/"
        finally:
            server.terminate()


def accepts_connections(port: int) -> bool:
    """Return whether a server listens at this port of the machine."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1):
            return True
    except OSError:
        return False


@dataclass
class Place:
    """One of the places in which a student reads a chapter. A module's tests share the open chapter, because to load it
    takes most of a test's time.
    """

    name: str
    """The name of the fixture of its address."""
    address: str
    """Its address, which ends in a slash."""
    opened: str = ""
    """The path of the chapter that a test of this module has opened; "" if none."""

    def open(self, browser: Browser, path: str) -> bool:
        """Put a chapter in sight, and return True if it was loaded for that, False if an earlier test has left it there."""
        here = f"location.href.startsWith({as_json(self.address)}) && {PANEL}?.context.path === {as_json(path)}"
        if self.opened == path and browser.value(here):
            return False
        # JupyterLab would restore what an earlier module left open, and ask for the kernel of a notebook without one.
        where = {"jupyterlab": f"lab/tree/{path}?reset", "page": f"lab/index.html?path={path}"}[self.name]
        open_alone(browser, f"{self.address}{where}", path)
        self.opened = path
        return True


@pytest.fixture(scope="module", params=["jupyterlab", "page"])
def place(request: pytest.FixtureRequest) -> Place:
    """JupyterLab or the page, for all tests of a module one after the other."""
    return Place(request.param, request.getfixturevalue(request.param))


@pytest.fixture
def failed(browser: Browser, place: Place) -> Browser:
    """The chapter with a check that has just failed, and the button below it."""
    place.open(browser, FIRST_CHAPTER)
    browser.until(f"{KERNEL}?.status === 'idle'")
    run(browser, "imports")
    run(browser, "rtt", "rtt_ms = 1")
    run(browser, "rtt-check")
    browser.until(f"!!{HINT_BUTTON}")
    return browser


def open_alone(browser: Browser, address: str, path: str) -> None:
    """Open the address of a notebook, wait until it is in sight, and close all others, which JupyterLab restores from an
    earlier test and may show late.
    """
    browser.go("about:blank")
    browser.go(address)
    browser.until("!!globalThis.jupyterapp?.shell")
    browser.until(f"{PANEL}?.context.path === {as_json(path)}")
    close_others(browser, path)
    browser.until(f"{PANEL}?.context.path === {as_json(path)}")


def close_others(browser: Browser, path: str = "") -> None:
    """Wait until JupyterLab has restored what was open, and close all of it but the notebook at `path`."""
    browser.value(f"""(async () => {{
        await jupyterapp.restored;
        const open = [...jupyterapp.shell.widgets('main')];
        open.filter(panel => panel.context && panel.context.path !== {as_json(path)}).forEach(panel => panel.dispose());
    }})()""")


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


def cells(browser: Browser) -> list[list[str]]:
    """Id, kind and text of each cell of the notebook in sight, as the browser has them."""
    messages: list[list[str]] = browser.value(
        f"{NOTEBOOK}.widgets.map(c => [c.model.id, c.model.type, c.model.sharedModel.getSource()])"
    )
    return messages


def as_json(value: object) -> str:
    """A value as JavaScript."""
    return json.dumps(value)
