"""Do the chapters run in a browser's tab to their end, with the numbers of the executed solutions, and how long does it take?

    python benchmarks/tab.py [--firefox] [--page build/lite] [--keep DIRECTORY] [CHAPTER...]    # 01_udp_loss; none: all pages
    python benchmarks/tab.py --start [--page build/lite] [CHAPTER]     # only how long until the first figures

Opens each page of solutions/ in Chromium or Firefox from the page that `make lite` made, in a profile of its own, runs its cells one by
one, and compares what they show with what the solution shows (tests/outputs.py). --start opens one page in Chromium twice, with a new
profile and again after Chromium was closed, over a link of 20 Mbit/s and 40 ms that the server keeps to (without TCP's slow start).
Goals: the chapter on the screen after 30 s, then after 10 s, and the first cell's answer 5 s later. Chromium needs Python's playwright
and Debian's chromium, Firefox Debian's firefox-esr.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from netlab_course.chapters.unsupported import UNSUPPORTED_NOTICE  # noqa: E402 (also of a clone that is not installed)
from tests import outputs  # noqa: E402
from tests.browser import bidi  # noqa: E402

OpenPage = Callable[[str], AbstractContextManager[Callable[[str], Any]]]
"""Opens an address; what comes of it calls a function of JavaScript in the page."""
PATIENCE_MS = 300_000
PAGE_S = 3600.0
"""The longest time in which a page may run all of its cells, in s."""
IS_SHOWN = """async () => {
  while (!document.querySelector('.jp-Notebook .jp-Cell')) await new Promise(again => setTimeout(again, 50));
}"""
IGNORE_TAG = "nbval-ignore-output"
EMPTY_FIELDS: dict[str, dict[str, Any]] = {"code": {"outputs": [], "execution_count": None}}
"""The state of a cell before its first run, by kind."""
RATE_MBPS, ROUND_TRIP_S = 20, 0.04
"""Properties of the link over which --start opens a page."""
ROUND_TRIPS = 2
"""Round trips for a file on a new connection: the connection, and the request."""
PART_BYTES = 65_536
FIGURE = "application/vnd.plotly.v1+json"
RUN_CELLS = f"""async (most, figures = Infinity) => {{
  const isFigure = output => '{FIGURE}' in (output.data ?? {{}});
  const app = window.jupyterapp, began = performance.now(), seconds = {{}};
  while (!app.shell.currentWidget?.sessionContext) await new Promise(again => setTimeout(again, 100));
  const notebook = app.shell.currentWidget;
  await notebook.sessionContext.ready;
  seconds[''] = (performance.now() - began) / 1000;
  for (const [number, cell] of notebook.content.widgets.entries()) {{
    if (cell.model.type !== 'code') continue;
    if (Object.keys(seconds).length > most) break;
    const before = performance.now();
    notebook.content.activeCellIndex = number;
    await app.commands.execute('notebook:run-cell');
    seconds[cell.model.id] = (performance.now() - before) / 1000;
    if (cell.model.toJSON().outputs.some(isFigure) && --figures === 0) break;
  }}
  return [seconds, notebook.content.model.toJSON()];
}}"""

STEPS = {
    "chapter on the screen": IS_SHOWN,
    "first cell's answer": f"() => ({RUN_CELLS})(1)",
    "first measurement": f"() => ({RUN_CELLS})(Infinity, 2)",
}
"""Functions for the steps of a start; a chapter's first figure draws its network, the second shows its first measurement."""


class Link:
    """A link of RATE_MBPS that all responses share."""

    def __init__(self) -> None:
        self._lock, self._free_s = threading.Lock(), 0.0

    def carry(self, size_bytes: int) -> None:
        """Wait until so many bytes more are over."""
        with self._lock:
            self._free_s = max(self._free_s, time.monotonic()) + size_bytes * 8 / (RATE_MBPS * 1e6)
            over_s = self._free_s
        time.sleep(max(0.0, over_s - time.monotonic()))


class Pages(SimpleHTTPRequestHandler):
    """The built page, with solved chapters in place of those to solve; `sent_bytes` counts the bytes."""

    instead: dict[str, bytes]
    sent_bytes = 0
    link: Link | None = None

    def do_GET(self) -> None:
        """Answer with a file."""
        if self.link:
            time.sleep(ROUND_TRIPS * ROUND_TRIP_S)
        data = self.instead.get(self.path.partition("?")[0])
        if data is None:
            super().do_GET()
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def copyfile(self, source: Any, outputfile: Any) -> None:
        """Send a file, and count."""
        while data := source.read(PART_BYTES):
            Pages.sent_bytes += len(data)
            if self.link:
                self.link.carry(len(data))
            outputfile.write(data)

    def log_message(self, *_words: Any) -> None:
        """Say nothing."""


@contextmanager
def serve_page(page: Path, solutions: dict[str, dict[str, Any]]) -> Iterator[str]:
    """The page on a port of this machine; yields its address."""
    settings = json.loads((page / "jupyter-lite.json").read_text())
    settings["jupyter-config-data"]["exposeAppInBrowser"] = True
    instead = {"/jupyter-lite.json": settings} | {
        f"/files/{name}.ipynb": {
            **notebook,
            "cells": [{**cell, **EMPTY_FIELDS.get(cell["cell_type"], {})} for cell in notebook["cells"]],
        }
        for name, notebook in solutions.items()
    }
    Pages.instead = {path: json.dumps(content).encode() for path, content in instead.items()}
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Pages, directory=str(page))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@contextmanager
def chromium() -> Iterator[OpenPage]:
    """Chromium, a profile for each page."""
    from playwright.sync_api import sync_playwright

    @contextmanager
    def open_page(url: str) -> Iterator[Callable[[str], Any]]:
        context = browser.new_context(viewport={"width": 1300, "height": 1000})
        page = context.new_page()
        page.goto(url, timeout=PATIENCE_MS, wait_until="commit")
        yield page.evaluate
        context.close()

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        yield open_page
        browser.close()


@contextmanager
def firefox(url: str) -> Iterator[Callable[[str], Any]]:
    """Open an address in Firefox, with a profile of its own."""
    with bidi.start_browser("firefox", PAGE_S) as browser:
        browser.go(url)
        yield lambda function: browser.value(f"({function})()")


def run(open_page: OpenPage, address: str, name: str) -> tuple[dict[str, float], dict[str, Any]]:
    """Run a chapter; returns times in s by cell, those until it was on the screen ("screen") and ran (""), and the notebook."""
    began_s = time.monotonic()
    with open_page(f"{address}/notebooks/index.html?path={name}.ipynb") as evaluate:
        evaluate(IS_SHOWN)
        screen_s = time.monotonic() - began_s
        seconds, notebook = evaluate(f"() => ({RUN_CELLS})(Infinity)")
    return {**seconds, "screen": screen_s}, notebook


def start(address: str, name: str) -> None:
    """Open a chapter in a new profile, then in the same after the browser was closed; print seconds and MB
    from the address to each step.
    """
    from playwright.sync_api import sync_playwright

    Pages.link = Link()
    print(f"{name} over {RATE_MBPS} Mbit/s and {ROUND_TRIP_S * 1e3:.0f} ms")
    print("| visit | step | s | MB |\n|---|---|---|---|")
    # Not browser.new_context(), which keeps its cache in a part of the memory.
    with sync_playwright() as playwright, tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        for visit in ("first", "second"):
            with playwright.chromium.launch_persistent_context(
                profile,
                executable_path="/usr/bin/chromium",
                args=["--no-sandbox"],
                viewport={"width": 1300, "height": 1000},
            ) as context:
                page = context.new_page()
                sent_before, began_s = Pages.sent_bytes, time.monotonic()

                page.goto(f"{address}/notebooks/index.html?path={name}.ipynb", timeout=PATIENCE_MS, wait_until="commit")
                for step, function in STEPS.items():
                    page.evaluate(function)
                    seconds, sent_mb = time.monotonic() - began_s, (Pages.sent_bytes - sent_before) / 1e6
                    print(f"| {visit} | {step} | {seconds:.1f} | {sent_mb:.1f} |", flush=True)


def visible_outputs(cell: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the visible part of a cell's outputs; consecutive texts are joined."""
    found: list[dict[str, Any]] = []
    for output in cell["outputs"]:
        if output["output_type"] != "stream":
            # JupyterLab adds a picture of each figure; a progress bar that has ended is an empty display.
            data = {kind: join_text(part) for kind, part in output.get("data", {}).items() if kind != "image/png"}
            if any(data.values()):
                found.append({"data": data})
        elif found and found[-1].get("name") == output["name"]:
            found[-1]["text"] += join_text(output["text"])
        else:
            found.append({"name": output["name"], "text": join_text(output["text"])})
    return found


def join_text(text: Any) -> Any:
    """A notebook's text, which may be a list of lines."""
    return "".join(text) if isinstance(text, list) and all(isinstance(line, str) for line in text) else text


def judge(notebook: dict[str, Any], solution: dict[str, Any]) -> dict[str, list[str]]:
    """Cells by what became of them: "failed" with the error, "not here", or "differs"; what is as it should be is in none."""
    expected = {cell["id"]: cell for cell in solution["cells"]}
    found: dict[str, list[str]] = {"failed": [], "not here": [], "differs": []}
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        errors = [f"{one['ename']}: {one['evalue'][:300]}" for one in cell["outputs"] if one["output_type"] == "error"]
        visible = visible_outputs(cell)
        if errors:
            found["failed"].append(f"{cell['id']}: {errors[0]}")
        elif any(UNSUPPORTED_NOTICE in one.get("text", "") for one in visible):
            found["not here"].append(cell["id"])
        elif IGNORE_TAG not in expected[cell["id"]]["metadata"].get("tags", []) and not outputs.agree(
            visible, visible_outputs(expected[cell["id"]])
        ):
            found["differs"].append(cell["id"])
    return found


def main() -> int:
    """Print a line for each page; returns how many cells failed or showed something else."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--page", type=Path, default=ROOT / "build" / "lite", metavar="DIRECTORY")
    parser.add_argument("--keep", type=Path, metavar="DIRECTORY", help="where to leave the notebooks that were run")
    parser.add_argument("--firefox", action="store_true", help="in Firefox")
    parser.add_argument(
        "--start",
        action="store_true",
        help="measure only until the first measurement's figure, at two visits over a link",
    )
    parser.add_argument("chapters", nargs="*")
    options = parser.parse_args()
    chosen = options.chapters or (["01_udp_loss"] if options.start else [])
    names = chosen or sorted(path.stem for path in (ROOT / "solutions").glob("*.ipynb"))
    solutions = {name: json.loads((ROOT / "solutions" / f"{name}.ipynb").read_text()) for name in names}
    wrong = 0
    print(f"load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    if options.start:
        with serve_page(options.page.resolve(), solutions) as address:
            start(address, names[0])
        return 0
    columns = ("screen s", "kernel s", "first s", "all s", "MB", "cells", "failed", "not here", "differ")
    print(f"{'page':<22}" + "".join(f"{column:>9}" for column in columns))
    browser = nullcontext(firefox) if options.firefox else chromium()
    with serve_page(options.page.resolve(), solutions) as address, browser as open_page:
        for name in names:
            sent_before = Pages.sent_bytes
            seconds, notebook = run(open_page, address, name)
            if options.keep:
                options.keep.mkdir(parents=True, exist_ok=True)
                (options.keep / f"{name}.ipynb").write_text(json.dumps(notebook, indent=1))
            screen_s, kernel_s = seconds.pop("screen"), seconds.pop("")
            found = judge(notebook, solutions[name])
            wrong += len(found["failed"]) + len(found["differs"])
            numbers = (
                screen_s,
                kernel_s,
                next(iter(seconds.values())),
                sum(seconds.values()),
                (Pages.sent_bytes - sent_before) / 1e6,
            )
            row = [
                *(f"{number:>9.1f}" for number in numbers),
                *(f"{count:>9}" for count in map(len, (seconds, *found.values()))),
            ]
            print(f"{name:<22}" + "".join(row), flush=True)
            for what, cells in found.items():
                for cell in cells:
                    print(f"    {what}: {cell}", flush=True)
    return min(wrong, 100)


if __name__ == "__main__":
    sys.exit(main())
