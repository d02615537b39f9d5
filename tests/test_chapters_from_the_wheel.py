"""Every chapter runs from the wheel alone, as a student has it: without an error, a traceback and a word on standard error.

NETLAB_LONG=1 runs each chapter once, NETLAB_LONG=20 so many times.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

import netlab
from tests.engines import webassembly
from tests.test_wheel import wheel_tool

ROOT = Path(netlab.__file__).parents[1]
pytestmark = [pytest.mark.library, pytest.mark.slow]
TIMES = int(os.environ.get("NETLAB_LONG") or 0)

THREAD = "import threading; thread = threading.Thread(target=lambda: 1 / 0); thread.start(); thread.join()"
RUN = """
import json
import sys
from IPython.core.interactiveshell import InteractiveShell
import netlab

assert netlab.__file__.startswith(sys.prefix), netlab.__file__
shell = InteractiveShell.instance()
with open(sys.argv[1], encoding="utf-8") as file:
    cells = json.load(file)["cells"]
for number, cell in enumerate(cells):
    source = "".join(cell["source"])
    if cell["cell_type"] == "code" and not shell.run_cell(source, store_history=True).success:
        print(f"Cell {number} ended with an error:", source, sep="\\n", file=sys.stderr)
"""
"""Runs a notebook's cells as Jupyter does, without its server and kernel, whose start takes longer than some chapters."""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel, and with the packages of this one, which the wheel asks for."""
    place = tmp_path_factory.mktemp("environment")
    tool = wheel_tool()
    wheel = tool.student_wheel(place, tool.student_files(), [webassembly.built()])
    venv.create(place / "env", with_pip=False)
    (packages,) = (place / "env").glob("lib/python*/site-packages")
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(packages)
    # Put the directory behind the wheel on the path, without the files that name a clone.
    (packages / "others.pth").write_text("\n".join(path for path in sys.path if path.endswith("site-packages")))
    return place / "env" / "bin" / "python"


def run_notebook(python: Path, notebook: Path, home: Path) -> str:
    """Run a notebook in an empty home; return what went wrong, "" if nothing did."""
    home.mkdir()
    done = subprocess.run(
        [python, "-c", RUN, notebook],
        env={"HOME": str(home), "PATH": "/usr/bin:/bin", "NETLAB_PROGRESS": "0", "IPYTHONDIR": str(home), "TMPDIR": str(home)},
        cwd=home, capture_output=True, text=True, timeout=1800, check=False,
    )  # fmt: skip
    clean = done.returncode == 0 and not done.stderr and "Traceback (most recent call last)" not in done.stdout
    return "" if clean else f"exit status {done.returncode}\n{done.stderr}\n{done.stdout}"


@pytest.mark.skipif(not TIMES, reason="NETLAB_LONG=1 runs every chapter")
@pytest.mark.parametrize("name", sorted(path.name for path in (ROOT / "notebooks").glob("*.ipynb")))
def test_a_chapter_runs_without_an_error(name: str, python: Path, tmp_path: Path) -> None:
    (notebook,) = python.parents[1].glob(f"lib/python*/site-packages/netlab/carried/notebooks/{name}")
    for number in range(TIMES):
        assert run_notebook(python, notebook, tmp_path / f"home-{number}") == ""


@pytest.mark.parametrize("source", ["1 / 0", "import sys; print('x', file=sys.stderr)", THREAD])
def test_errors_words_on_standard_error_and_tracebacks_of_threads_are_noticed(
    source: str, python: Path, tmp_path: Path
) -> None:
    notebook = tmp_path / "wrong.ipynb"
    cells = [{"cell_type": "code", "source": "print('before')"}, {"cell_type": "code", "source": source}]
    notebook.write_text(json.dumps({"cells": cells}))
    assert run_notebook(python, notebook, tmp_path / "home") != ""
