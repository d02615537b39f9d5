"""Run every solved chapter on the library kernel: how long it takes, and which cells say that they cannot do it here.

    python benchmarks/library_chapters.py [CHAPTER...]       such as 01_udp_loss; without one, all

Nothing is served from an earlier run. A cell that needs a program in a host says so; any other error is told and counts.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import tempfile
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient

from netlab.chapters.elsewhere import SAID
from netlab.kernel import cache

ROOT = Path(__file__).resolve().parent.parent


def took(chapter: Path) -> tuple[float, float, list[str], list[str]]:
    """Wall and processor seconds, the cells that cannot be done here, and the sentences of other errors."""
    notebook = nbformat.read(chapter, as_version=4)
    words = {"metadata": {"path": str(chapter.parent)}}
    began_s, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    NotebookClient(notebook, timeout=3600, startup_timeout=600, allow_errors=True, resources=words).execute()
    wall_s, after = time.monotonic() - began_s, resource.getrusage(resource.RUSAGE_CHILDREN)
    refused, errors = [], []
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if SAID in output.get("text", "") or SAID in output.get("evalue", ""):
                refused.append(cell.id)
            elif output.output_type == "error":
                errors.append(f"{cell.id}: {output.ename}: {output.evalue[:200]}")
    return wall_s, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, refused, errors


def main() -> int:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("chapters", nargs="*")
    chosen = parser.parse_args().chapters or sorted(path.stem for path in (ROOT / "solutions").glob("*.ipynb"))
    failed = 0
    with tempfile.TemporaryDirectory() as place:
        for room in ("kernels", "libraries"):
            Path(place, room).symlink_to(cache.root() / room)
        os.environ.update(NETLAB_CACHE=place, NETLAB_ENGINE="library", NETLAB_PROGRESS="0", PYTHONPATH=str(ROOT))
        print("| chapter | wall s | processor s | cells that cannot be done here | errors |\n|---|---|---|---|---|")
        for name in chosen:
            wall_s, cpu_s, refused, errors = took(ROOT / "solutions" / f"{name}.ipynb")
            failed += len(errors)
            print(f"| {name} | {wall_s:.1f} | {cpu_s:.1f} | {', '.join(refused)} | {'; '.join(errors)} |", flush=True)
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    return failed


if __name__ == "__main__":
    sys.exit(main())
