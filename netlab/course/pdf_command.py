"""`netlab pdf NOTEBOOK`: a notebook as it is, with its figures, on pages for paper."""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from netlab.course import catalogue, copies
from netlab.errors import NetlabError

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# The page's own clock: figures are drawn within it however busy the machine is.
PATIENCE_MS = 30_000
PATIENCE_S = 240
# What figures load from the web each.
_PLOTLY = re.compile(r'<script[^>]*\bsrc="[^"]*/plotly-[\d.]+(?:\.min)?\.js"[^>]*></script>')
_STYLE = """<style>
@page { size: A4; margin: 15mm; }
/* The same width on the screen, where figures are drawn, as on paper. */
body { width: 180mm; max-width: 180mm; padding: 0 !important; margin: 0 auto; }
main { padding: 0 !important; }
.jp-InputPrompt, .jp-OutputPrompt, .modebar-container { display: none !important; }
pre, .jp-OutputArea-output pre, .highlight pre {
  white-space: pre-wrap !important; word-break: normal !important; overflow-wrap: anywhere; font-size: 11px;
}
[role="figure"], table { break-inside: avoid; }
h1, h2, h3 { break-after: avoid; }
</style>"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("notebook", help="a file, or your copy of a chapter by its number, topic or name")
    parser.add_argument(
        "--output",
        type=Path,
        metavar="FILE",
        help="where it goes: FILE.pdf, or FILE.html to print from your own browser (default: beside the notebook)",
    )


def main(options: argparse.Namespace) -> int:
    """Write the pages; returns the exit status."""
    notebook = _find(options.notebook)
    target: Path = options.output or notebook.with_suffix(".pdf")
    if target.suffix not in {".pdf", ".html"}:
        raise NetlabError(f"unknown kind of file: {target.name}; allowed: a name that ends in .pdf or .html.")
    text = page(notebook)
    if target.suffix == ".html":
        _write(target, text)
        print(f"{target}: open it in a browser and print it.")
        return 0
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if browser is None:
        target = target.with_suffix(".html")
        _write(target, text)
        print(
            f"{target}: there is no Chromium here ({', '.join(BROWSERS)}); open it in a browser and print it to a PDF."
        )
        return 0
    _print(browser, text, target)
    print(target)
    return 0


def _find(word: str) -> Path:
    path = Path(word)
    if path.suffix == ".ipynb":
        if not path.is_file():
            raise NetlabError(f"There is no file {path}.")
        return path
    return catalogue.find(word, copies.folder()).path


def page(notebook: Path) -> str:
    """Return a notebook as HTML whose figures need no network: Plotly is in it once. Formulas are drawn by MathJax, from the web.

    Raises
    ------
    NetlabError
        When it is no notebook.
    """
    import nbformat
    from nbconvert import HTMLExporter
    from plotly.offline import get_plotlyjs

    try:
        read = nbformat.read(notebook, as_version=4)  # type: ignore[no-untyped-call]
    except (OSError, ValueError, AttributeError) as error:
        raise NetlabError(f"{notebook} is no notebook: {error}.") from error
    exporter = HTMLExporter()  # type: ignore[no-untyped-call]
    text, _resources = exporter.from_notebook_node(read, {"metadata": {"name": notebook.stem}})
    head = f"{_STYLE}<script>{get_plotlyjs()}</script></head>"
    before, _head, after = _PLOTLY.sub("", text).partition("</head>")
    return before + head + after


def _write(target: Path, text: str) -> None:
    try:
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise NetlabError(f"{target} cannot be written: {error.strerror}.") from error


def _print(browser: str, text: str, target: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="netlab-pdf-") as folder:
        source, printed = Path(folder) / "page.html", Path(folder) / "page.pdf"
        source.write_text(text, encoding="utf-8")
        words = ["--headless=new", "--disable-gpu", "--no-pdf-header-footer", f"--virtual-time-budget={PATIENCE_MS}"]
        # The page is the student's own notebook, and in containers a browser's own sandbox cannot be.
        words += ["--no-sandbox", f"--user-data-dir={folder}/profile", f"--print-to-pdf={printed}", source.as_uri()]
        try:
            done = subprocess.run([browser, *words], capture_output=True, text=True, timeout=PATIENCE_S, check=False)
            said = done.stderr.strip()[-300:]
        except subprocess.TimeoutExpired:
            said = f"it had not ended after {PATIENCE_S} s"
        if not printed.is_file():
            raise NetlabError(f"{browser} printed nothing: {said}. Try --output {target.with_suffix('.html').name}.")
        try:
            shutil.copyfile(printed, target)
        except OSError as error:
            raise NetlabError(f"{target} cannot be written: {error.strerror}.") from error
