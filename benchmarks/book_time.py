"""How long would each chapter take on a machine's own clock? Runs the solved chapters in virtual time and adds up network time.

    python benchmarks/book_time.py [--virtual] [--cpus 2] [CHAPTER...]       such as 01_udp_loss; without one, all

Chapters take the lengths that they have under a real clock; with --virtual those of virtual time. What a sweep runs side by side
counts as long as its longest lane; each run has BUILD_S beside its network time. What the native engine has not (Wi-Fi links,
Tahoe) counts nothing. A panel counts once.
"""

from __future__ import annotations

import argparse
import heapq
import json
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

from netlab import sweeps

ROOT = Path(__file__).resolve().parent.parent
# Network and agent of a run under native, in the machine of `agreement.py`; a real one is faster.
BUILD_S = 1.5
LISTEN = """
import json, threading
import netlab.engines as _engines, netlab.experiment as _experiment, netlab.sweeps as _sweeps
if {real}:
    _engines.clock = lambda: "real"
_cell, _log = [""], open({log!r}, "a", buffering=1)
def _tell(kind, scenarios):
    rows = []
    for scenario in scenarios:
        shapes = [hop.shape for hop in scenario.topology.wiring().hops]
        here = not any(shape.medium for shape in shapes) and "tahoe" not in [getattr(item, "congestion", "") for item in scenario.traffic]
        rows.append([scenario.duration_s, min([shape.rate_mbps for shape in shapes if shape.rate_mbps] or [0]), here])
    print(json.dumps([_cell[0], kind, rows]), file=_log)
_run, _tasks = _experiment.run, _sweeps._tasks
def _listening(topology, *words, **named):
    run = _run(topology, *words, **named)
    if not threading.current_thread().name.startswith("sweep"):
        _tell("run", [_experiment.Scenario.from_dict(run.scenario)])
    return run
def _listening_tasks(labelled, *words):
    _tell("sweep", list({{json.dumps(s.to_dict(), sort_keys=True): s for s in labelled.values()}}.values()))
    return _tasks(labelled, *words)
_experiment.run, _sweeps._tasks = _listening, _listening_tasks
"""


def heard(chapter: Path, real: bool) -> list[list[Any]]:
    """Run a chapter; a row for each run or sweep: cell, kind, and of each scenario duration, smallest rate, whether native has it."""
    notebook = nbformat.read(chapter, as_version=4)
    with tempfile.TemporaryDirectory() as place:
        log = Path(place, "log")
        log.touch()
        cells = [nbformat.v4.new_code_cell(LISTEN.format(log=str(log), real=real))]
        for cell in notebook.cells:
            if cell.cell_type == "code":
                # A magic must stay a cell's first line.
                cells += [nbformat.v4.new_code_cell(f"_cell[0] = {cell['id']!r}"), cell]
        notebook.cells = cells
        NotebookClient(
            notebook, timeout=900, kernel_name="python3", resources={"metadata": {"path": str(chapter.parent)}}
        ).execute()
        return [json.loads(line) for line in log.read_text().splitlines()]


def lanes(rates_mbps: list[float], cpus: int) -> int:
    """As `sweeps` counts how many runs go on side by side in real time."""
    most = max(rate or sweeps.REAL_MBPS_OF_CPU for rate in rates_mbps)
    return cpus * max(1, min(sweeps.MOST_OF_CPU, int(sweeps.REAL_MBPS_OF_CPU // most)))


def takes_s(kind: str, scenarios: list[list[Any]], cpus: int) -> float:
    """How long a run or a sweep takes in s."""
    if not all(here for _, _, here in scenarios):
        return 0.0
    number = 1 if kind == "run" else lanes([rate for _, rate, _ in scenarios], cpus)
    ends_s = [0.0] * number
    for duration_s, _, _ in scenarios:
        heapq.heapreplace(ends_s, ends_s[0] + duration_s + BUILD_S)
    return max(ends_s)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--virtual", action="store_true")
    parser.add_argument("--cpus", type=int, default=2)
    parser.add_argument("chapters", nargs="*")
    options = parser.parse_args()
    chapters = options.chapters or sorted(path.stem for path in (ROOT / "solutions").glob("*.ipynb"))
    whole_s = network_s = 0.0
    print("| chapter | runs | network time (min) | takes (min) | cells of most minutes | not in the native engine |")
    print("|---|---|---|---|---|---|")
    for name in chapters:
        rows = heard(ROOT / "solutions" / f"{name}.ipynb", not options.virtual)
        own_s = sum(scenario[0] for _, _, scenarios in rows for scenario in scenarios)
        takes: dict[str, float] = {}
        for cell, kind, scenarios in rows:
            takes[cell] = takes.get(cell, 0) + takes_s(kind, scenarios, options.cpus)
        without = sorted({cell for cell, _, scenarios in rows if not all(here for _, _, here in scenarios)})
        most = sorted(takes, key=lambda cell: -takes[cell])[:3]
        text = ", ".join(f"{cell} {takes[cell] / 60:.1f}" for cell in most if takes[cell] >= 30)
        count = sum(len(scenarios) for _, _, scenarios in rows)
        print(
            f"| {name} | {count} | {own_s / 60:.1f} | {sum(takes.values()) / 60:.1f} | {text} | {', '.join(without)} |",
            flush=True,
        )
        network_s += own_s
        whole_s += sum(takes.values())
    print(f"| all | | {network_s / 60:.1f} | {whole_s / 60:.1f} | | |")


if __name__ == "__main__":
    main()
