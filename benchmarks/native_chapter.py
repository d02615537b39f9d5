"""Run solved chapters under the native engine in an emulated machine: how long they take there and what their cells say.

    python benchmarks/native_chapter.py IMAGE.qcow2 [--console FILE] [CHAPTER...]       such as 01_udp_loss; without one, all

IMAGE is one of vm/build.sh; the chapters and netlab are this clone's. The machine's clock follows instructions (a thousand million a
second, for all its processors together) and skips idle time, so its seconds are those of an idle, slow machine (`agreement.py`).
FILE keeps a line for each cell while it goes on. Needs what `agreement.py emulate` needs.
"""

from __future__ import annotations

import argparse
import io
import subprocess
import tarfile
from pathlib import Path

from agreement import in_emulated

ROOT = Path(__file__).resolve().parent.parent
SOLUTIONS = ROOT / "solutions"
GUEST = """
import os, sys, time
os.environ.update(PYTHONPATH="/tmp/clone", NETLAB_ENGINE="native", NETLAB_NOTEBOOKS="/tmp/clone/notebooks")
import tarfile
tarfile.open("/mnt/clone.tar").extractall("/tmp/clone", filter="data")
import nbformat
from nbclient import NotebookClient
def words(cell):
    said = [out.get("text", "") or (f"{out.ename}: {out.evalue}" if out.output_type == "error" else "") for out in cell.outputs]
    return " ".join(" ".join(said).split())
def run(name):
    began_s = time.monotonic()
    last_s = [began_s]
    def done(cell, cell_index, **_more):
        now_s = time.monotonic()
        took_s, last_s[0] = now_s - last_s[0], now_s
        if cell.cell_type == "code":
            print(f"CELL {name} {cell.id} | {took_s:.1f} s | {words(cell)[:300]}", flush=True)
    notebook = nbformat.read(f"/tmp/clone/solutions/{name}.ipynb", as_version=4)
    NotebookClient(
        notebook, timeout=3600, startup_timeout=600, kernel_name="python3", allow_errors=True, on_cell_executed=done,
        resources={"metadata": {"path": "/tmp/clone/solutions"}},
    ).execute()
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    errors = sum(any(out.output_type == "error" for out in cell.outputs) for cell in cells)
    without = sum("Not on this machine" in words(cell) for cell in cells)
    minutes = (time.monotonic() - began_s) / 60
    print(f"TABLE | {name} | {minutes:.1f} | {len(cells)} | {without} | {errors} |", flush=True)
for name in sys.argv[1:]:
    run(name)
"""


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("image", type=Path)
    parser.add_argument("chapters", nargs="*")
    parser.add_argument("--cpus", type=int, default=2)
    parser.add_argument("--console", type=Path)
    parser.add_argument("--seconds", type=int, default=4 * 3600)
    options = parser.parse_args()
    chapters = options.chapters or sorted(path.stem for path in SOLUTIONS.glob("*.ipynb"))
    if unknown := [name for name in chapters if not (SOLUTIONS / f"{name}.ipynb").exists()]:
        known = ", ".join(sorted(path.stem for path in SOLUTIONS.glob("*.ipynb")))
        parser.error(f"no chapter {', '.join(unknown)}; there are {known}")
    names = subprocess.run(
        ["git", "-C", ROOT, "ls-files", "netlab", "notebooks", "solutions"], capture_output=True, text=True, check=True
    ).stdout.split()
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for name in names:
            tar.add(ROOT / name, name)
    files = {"guest.py": GUEST.encode(), "clone.tar": packed.getvalue()}
    command = " ".join(["/mnt/guest.py", *chapters])
    text = in_emulated(options.image, files, command, options.seconds, options.cpus, options.console)
    print("| chapter | minutes | cells of code | not on this machine | ended in an error |\n|---|---|---|---|---|")
    print("\n".join(line.removeprefix("TABLE ") for line in text.splitlines() if line.startswith("TABLE")))


if __name__ == "__main__":
    main()
