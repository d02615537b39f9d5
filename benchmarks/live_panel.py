"""Measure how often a live panel draws in JupyterLab in a real browser: 8 flows over 10 Mbit/s at ten times real time.

    python benchmarks/live_panel.py [--busy PROCESSES] [--seconds 20]

Plays the panel alone, then with processes that only compute, then while a cell computes. Needs Python's playwright and Debian's chromium.
"""

from __future__ import annotations

import argparse
import itertools
import json
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import nbformat
from harness import busy_processes
from playwright.sync_api import Page, sync_playwright

PANEL = """import netlab as nl
network = nl.topologies.dumbbell(pairs=8, rate_mbps=10, delay_ms=10, queue_packets=50)
traffic = [nl.Tcp(f"h{k}", f"h{k + 8}") for k in range(1, 9)]
panel = nl.widgets.live(network, traffic)
panel"""
COMPUTES = "import time\nend = time.monotonic() + 3\nwhile time.monotonic() < end: sum(range(1000))"
WATCH = """() => {
  window.pictures = [];
  const note = now => { if (window.pictures.at(-1) !== now) window.pictures.push(now); };  // two in one frame are one picture
  const seen = new MutationObserver(() => requestAnimationFrame(note));
  seen.observe(document.querySelector('svg[role=img]').closest('.widget-html-content'), {childList: true});
}"""
RUN_CELL = """async number => {
  const notebook = window.jupyterapp.shell.currentWidget;
  await notebook.sessionContext.ready;
  notebook.content.activeCellIndex = number;
  window.jupyterapp.commands.execute('notebook:run-cell');
}"""
PATIENCE_MS = 60_000
OVERRIDES = {"@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False}}


@contextmanager
def jupyter(folder: Path) -> Iterator[str]:
    """JupyterLab with a notebook of the panel; yields its address."""
    cells = [nbformat.v4.new_code_cell(source) for source in (PANEL, COMPUTES)]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=kernel), folder / "panel.ipynb")
    settings = folder / "settings"
    settings.mkdir()
    (settings / "overrides.json").write_text(json.dumps(OVERRIDES))
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    words = [
        sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--port={port}", "--IdentityProvider.token=",
        f"--ServerApp.root_dir={folder}", f"--LabApp.app_settings_dir={settings}", "--LabApp.expose_app_in_browser=True",
        f"--LabApp.user_settings_dir={folder / 'user'}", f"--LabApp.workspaces_dir={folder / 'workspaces'}",
    ]  # fmt: skip
    server = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(300):
            with socket.socket() as sock:
                if sock.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.2)
        yield f"http://127.0.0.1:{port}/lab/tree/panel.ipynb?reset"
    finally:
        server.terminate()
        server.wait()


def count(page: Page, what: str, seconds: float) -> None:
    """Print the pictures a second, and the longest time in s between two."""
    page.evaluate("window.pictures.length = 0")
    page.wait_for_timeout(1000 * seconds)
    times_ms: list[float] = page.evaluate("window.pictures")
    gaps = [later - earlier for earlier, later in itertools.pairwise(times_ms)]
    longest_s = max(gaps, default=1000 * seconds) / 1000
    print(f"{what:<48}{len(times_ms) / seconds:6.1f} pictures a second, longest wait {longest_s:.2f} s", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--busy", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=20)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, jupyter(Path(name)) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1200, "height": 1000})
        page.goto(address)
        page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=PATIENCE_MS)
        page.evaluate(RUN_CELL, 0)
        page.wait_for_selector("svg[role=img]", timeout=PATIENCE_MS)
        page.evaluate(WATCH)
        page.get_by_role("button", name="Play", exact=True).click()
        page.wait_for_timeout(1000)
        count(page, "alone", options.seconds)
        with busy_processes(options.busy):
            count(page, f"with {options.busy} processes that compute", options.seconds)
        page.evaluate(RUN_CELL, 1)
        count(page, "while a cell computes for 3 s", 3)
        browser.close()


if __name__ == "__main__":
    main()
