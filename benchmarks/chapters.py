"""How long a student waits: for the answer of each panel, and for whole chapters on the library kernel.

    python benchmarks/chapters.py panels [CHAPTER...]      # such as bdp queues; without one, all
    python benchmarks/chapters.py library [CHAPTER...]     # such as 01_udp_loss

Each control of a panel is moved to its ends and, where it is a list, to every choice; the others stay where they start. A time
runs from the move to the figure, with the panel's own wait for the control to come to rest. On the library kernel, a cell that
needs a program in a host says so; any other error is told and counts. Nothing is taken from earlier runs.
"""

from __future__ import annotations

import importlib
import os
import statistics
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
from harness import Cost, cost
from nbclient import NotebookClient

from netlab.chapters.elsewhere import SAID
from netlab.kernel import cache

ROOT = Path(__file__).resolve().parent.parent


def ends(control: Any) -> Iterator[Any]:
    """Yield the values to try: those that differ from where the control stands."""
    if hasattr(control, "options"):
        values = list(control.options)
    elif hasattr(control, "base"):
        values = [control.base**control.min, control.base**control.max]
    elif hasattr(control, "min"):
        values = [control.min, control.max]
    else:
        values = [not control.value]
    started = control.value
    return (value for value in values if value != started)


def answers(topic: str) -> Iterator[tuple[str, float]]:
    """Yield for each move of a chapter's panel what was moved and the time in s until its figure."""
    panel = importlib.import_module(f"netlab.chapters.{topic}").begin().panel()
    panel.refresh()

    def move(control: Any, value: Any) -> None:
        control.value = value
        panel.wait()

    for name, control in panel.controls.items():
        started = control.value
        for value in ends(control):
            took = cost(lambda control=control, value=value: move(control, value))
            yield f"{name} {value if isinstance(value, (str, bool)) else format(value, '.4g')}", took.wall_s
            if panel.message:
                raise SystemExit(f"{topic}, {name} {value}: {panel.message}")
        move(control, started)
    panel.close()


def panels(chosen: list[str]) -> int:
    """Print a line for each chapter's panel."""
    rooms = sorted((ROOT / "netlab" / "chapters").glob("*/panel.py"))
    print(f"load of the machine {os.getloadavg()[0]:.1f}; the panel's wait for rest is part of each time; goal: 0.5 s")
    print(f"{'panel':<22}{'moves':>6}{'median s':>10}{'longest s':>11}  longest for")
    for topic in chosen or [room.parent.name for room in rooms]:
        times_s = dict(answers(topic))
        longest = max(times_s, key=times_s.__getitem__)
        median_s = statistics.median(times_s.values())
        print(f"{topic:<22}{len(times_s):>6}{median_s:>10.2f}{times_s[longest]:>11.2f}  {longest}", flush=True)
    return 0


def took(chapter: Path) -> tuple[Cost, list[str], list[str]]:
    """What a chapter takes, the cells that cannot be done here, and the sentences of other errors."""
    notebook = nbformat.read(chapter, as_version=4)
    words = {"metadata": {"path": str(chapter.parent)}}
    client = NotebookClient(notebook, timeout=3600, startup_timeout=600, allow_errors=True, resources=words)
    spent = cost(client.execute)
    refused, errors = [], []
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if SAID in output.get("text", "") or SAID in output.get("evalue", ""):
                refused.append(cell.id)
            elif output.output_type == "error":
                errors.append(f"{cell.id}: {output.ename}: {output.evalue[:200]}")
    return spent, refused, errors


def library(chosen: list[str]) -> int:
    """Print a line for each solved chapter; returns how many errors there were."""
    os.environ.update(NETLAB_ENGINE="library", PYTHONPATH=str(ROOT))
    failed = 0
    print("| chapter | wall s | processor s | cells that cannot be done here | errors |\n|---|---|---|---|---|")
    for name in chosen or sorted(path.stem for path in (ROOT / "solutions").glob("[0-9]*.ipynb")):
        spent, refused, errors = took(ROOT / "solutions" / f"{name}.ipynb")
        failed += len(errors)
        row = f"| {name} | {spent.wall_s:.1f} | {spent.cpu_s:.1f} | {', '.join(refused)} | {'; '.join(errors)} |"
        print(row, flush=True)
    return failed


if __name__ == "__main__":
    if sys.argv[1:2] not in (["panels"], ["library"]):
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as place:
        os.environ.update(NETLAB_SHARED=str(cache.kernels().parent), NETLAB_CACHE=place, NETLAB_PROGRESS="0")
        sys.exit((panels if sys.argv[1] == "panels" else library)(sys.argv[2:]))
