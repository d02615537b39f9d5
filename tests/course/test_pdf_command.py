"""A notebook on paper: its figures are there without a network, and nothing of it is cut off."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import nbformat
import plotly.graph_objects as go
import pytest

import netlab as nl
from netlab import plots
from netlab.base import scratch
from netlab.base.errors import NetlabError
from netlab_course import copies, pdf_command
from tests.browser import chromium
from tests.waiting import wait_for

LONG_LINE = "a_long_line = " + " + ".join(f"part_{number}" for number in range(40)) + " + its_end"
BLUE = (42, 132, 198)


@pytest.fixture
def notebook(tmp_path: Path) -> Path:
    figures = [go.Figure(go.Bar(x=["a", "b"], y=[3, height], marker={"color": "rgb(42,132,198)"})) for height in (4, 5)]
    outputs = [
        nbformat.v4.new_output("display_data", {"text/html": plots.page_html(figure), "text/plain": "a figure"})
        for figure in figures
    ]
    cells = [nbformat.v4.new_markdown_cell("# Losses"), nbformat.v4.new_code_cell(LONG_LINE, outputs=outputs)]
    path = tmp_path / "mine.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    return path


def options(notebook: str, output: Path | None = None) -> argparse.Namespace:
    return argparse.Namespace(notebook=notebook, output=output)


def test_without_a_browser_the_page_is_left_for_the_readers_own(
    notebook: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shutil, "which", lambda _name: None)
    assert pdf_command.main(options(str(notebook))) == 0
    assert "there is no Chromium here" in capsys.readouterr().out
    assert 'aria-label="Figure of bar." role="img"' in notebook.with_suffix(".html").read_text()
    assert not notebook.with_suffix(".pdf").exists()


def test_a_chapter_is_the_students_own_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(copies.VARIABLE, str(tmp_path))
    list(copies.update(tmp_path))
    target = tmp_path / "page.html"
    assert pdf_command.main(options("udp_loss", target)) == 0
    assert "UDP loss" in target.read_text()


@pytest.mark.parametrize(
    ("name", "output", "message"),
    [
        ("none.ipynb", None, "There is no file none.ipynb"),
        ("mine.ipynb", "mine.docx", "allowed: a name that ends in .pdf or .html"),
        ("mine.ipynb", "none/mine.html", "cannot be written: No such file"),
    ],
)
def test_impossible_pdf_request_is_reported(
    notebook: Path, monkeypatch: pytest.MonkeyPatch, name: str, output: str | None, message: str
) -> None:
    monkeypatch.chdir(notebook.parent)
    with pytest.raises(NetlabError, match=re.escape(message)):
        pdf_command.main(options(name, Path(output) if output else None))


def test_file_that_is_no_notebook_is_reported(tmp_path: Path) -> None:
    (tmp_path / "x.ipynb").write_text("no notebook")
    with pytest.raises(NetlabError, match="is not a notebook"):
        pdf_command.main(options(str(tmp_path / "x.ipynb")))


@pytest.mark.slow
def test_a_print_that_was_killed_leaves_nothing_behind_for_long(
    notebook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = tmp_path / "chromium"
    browser.write_text(f"#!/bin/sh\ntouch {tmp_path}/asked\nexec sleep 60\n")
    browser.chmod(0o755)
    place = tmp_path / "tmp"
    place.mkdir()
    environment = {**os.environ, "TMPDIR": str(place), "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    words = [sys.executable, "-m", "netlab.commands.cli", "pdf", str(notebook)]
    process = subprocess.Popen(words, env=environment, cwd=Path(nl.__file__).parent.parent, start_new_session=True)
    try:
        assert wait_for((tmp_path / "asked").exists)
        monkeypatch.setenv("TMPDIR", str(place))
        (page,) = place.rglob("page.html")
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    assert page.exists()
    with scratch.run_directory(0, for_guests=False):
        assert not page.parent.exists()
    assert [path.name for path in place.iterdir()] == [f"netlab-{os.getuid()}"]


@pytest.mark.skipif(chromium.PROGRAM is None, reason="needs Debian's chromium: apt install chromium")
@pytest.mark.skipif(shutil.which("pdftoppm") is None, reason="needs pdftoppm and pdftotext: apt install poppler-utils")
def test_the_printed_pages_show_the_figures_and_the_end_of_each_line(notebook: Path, tmp_path: Path) -> None:
    from PIL import Image

    assert pdf_command.main(options(str(notebook))) == 0
    printed = notebook.with_suffix(".pdf")
    words = subprocess.run(["pdftotext", str(printed), "-"], capture_output=True, text=True, check=True).stdout
    assert "Losses" in words
    assert "its_end" in words
    subprocess.run(["pdftoppm", "-r", "40", "-png", str(printed), str(tmp_path / "page")], check=True)
    blue, widest = 0, 0
    for path in tmp_path.glob("page*.png"):
        with Image.open(path) as picture:
            seen = picture.convert("RGB")
            places = [
                (x, y)
                for x in range(seen.width)
                for y in range(seen.height)
                if all(abs(a - b) < 12 for a, b in zip(seen.getpixel((x, y)), BLUE, strict=True))
            ]
            blue += len(places)
            widest = max([widest, *(x for x, _y in places)])
            assert widest < 0.94 * seen.width, "within the margin"
    assert blue > 2000, "both figures' bars"
