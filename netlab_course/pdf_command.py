"""`netlab pdf NOTEBOOK`: print a notebook with its figures to PDF or HTML."""

import argparse
import shutil
import subprocess
from pathlib import Path

from netlab.base import scratch
from netlab.base.errors import NetlabError
from netlab_course import catalogue, copies

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# The browser's virtual time, within which figures are drawn however busy the machine is.
PATIENCE_MS = 30_000
PATIENCE_S = 240
NEEDED_BYTES = 64 << 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the argument `notebook` and the option --output of `netlab pdf` to its parser."""
    parser.add_argument("notebook", help="a file, or your copy of a chapter by its number, topic or name")
    parser.add_argument(
        "--output",
        type=Path,
        metavar="FILE",
        help="the output: FILE.pdf, or FILE.html to print from your own browser (default: next to the notebook)",
    )


def main(options: argparse.Namespace) -> int:
    """Write the notebook of the options as the PDF or HTML file `output` (None: a PDF next to it), HTML if there is no
    browser to print it; print the file's path, and return the exit status 0. Raises NetlabError when that fails.
    """
    notebook = _find(options.notebook)
    target: Path = options.output or notebook.with_suffix(".pdf")
    if target.suffix not in {".pdf", ".html"}:
        raise NetlabError(f"unknown kind of file: {target.name}; allowed: a name that ends in .pdf or .html.")
    from netlab_course import paper  # nbconvert takes half a second to import

    text = paper.page(notebook)
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
    """Return the path of a notebook by its file name (which ends in .ipynb), or of the copy of a chapter in the
    student's folder by its number, topic or name. Raises NetlabError when there is none.
    """
    path = Path(word)
    if path.suffix == ".ipynb":
        if not path.is_file():
            raise NetlabError(f"There is no file {path}.")
        return path
    return catalogue.find(word, copies.folder()).path


def _write(target: Path, text: str) -> None:
    """Write the text of a file in UTF-8. Raises NetlabError when that is impossible."""
    try:
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise NetlabError(f"{target} cannot be written: {error.strerror}.") from error


def _print(browser: str, text: str, target: Path) -> None:
    """Print the HTML page `text` to the PDF file `target` with the program at the path `browser`. Raises NetlabError
    when it prints nothing within 240 s, or the file cannot be written.
    """
    # If this process is killed, the next run or the next page removes the folder.
    with scratch.run_directory(NEEDED_BYTES, for_guests=False) as folder:
        source, printed = folder / "page.html", folder / "page.pdf"
        source.write_text(text, encoding="utf-8")
        words = ["--headless=new", "--disable-gpu", "--no-pdf-header-footer", f"--virtual-time-budget={PATIENCE_MS}"]
        # The page is the student's own notebook, and in containers a browser's own sandbox does not work.
        words += ["--no-sandbox", f"--user-data-dir={folder}/profile", f"--print-to-pdf={printed}", source.as_uri()]
        try:
            done = subprocess.run([browser, *words], capture_output=True, text=True, timeout=PATIENCE_S, check=False)
            reason = done.stderr.strip()[-300:]
        except subprocess.TimeoutExpired:
            reason = f"it had not ended after {PATIENCE_S} s"
        if not printed.is_file():
            raise NetlabError(f"{browser} printed nothing: {reason}. Try --output {target.with_suffix('.html').name}.")
        try:
            shutil.copyfile(printed, target)
        except OSError as error:
            raise NetlabError(f"{target} cannot be written: {error.strerror}.") from error
