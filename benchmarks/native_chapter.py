"""Run a solved chapter under the native engine in an emulated machine: how long it takes there and what its cells say.

    python benchmarks/native_chapter.py IMAGE.qcow2 01_udp_loss

IMAGE is one of vm/build.sh; the chapter and netlab are this clone's. The machine's clock follows instructions and skips idle time, so
its seconds are those of an idle machine (`agreement.py`). Needs what that needs.
"""

from __future__ import annotations

import argparse
import io
import subprocess
import tarfile
from pathlib import Path

from agreement import in_emulated

ROOT = Path(__file__).resolve().parent.parent
GUEST = """
import os, sys, time
sys.path.insert(0, "/tmp/clone")
os.environ.update(PYTHONPATH="/tmp/clone", NETLAB_ENGINE="native", NETLAB_NOTEBOOKS="/tmp/clone/notebooks")
import tarfile
tarfile.open("/mnt/clone.tar").extractall("/tmp/clone", filter="data")
import nbformat
from nbclient import NotebookClient
began_s = time.monotonic()
last_s = [began_s]
def done(cell, cell_index, **_more):
    now_s = time.monotonic()
    took_s, last_s[0] = now_s - last_s[0], now_s
    if cell.cell_type != "code":
        return
    said = " ".join(out.get("text", "") or (f"{out.ename}: {out.evalue}" if out.output_type == "error" else "") for out in cell.outputs)
    print(f"CELL {cell.id} | {took_s:.1f} s | {' '.join(said.split())[:200]}", flush=True)
notebook = nbformat.read("/mnt/chapter.ipynb", as_version=4)
client = NotebookClient(notebook, timeout=3600, startup_timeout=600, kernel_name="python3", allow_errors=True, on_cell_executed=done)
client.execute()
errors = sum(out.output_type == "error" for cell in notebook.cells if cell.cell_type == "code" for out in cell.outputs)
print(f"WHOLE {time.monotonic() - began_s:.0f} s, {errors} cells ended in an error", flush=True)
"""


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("image", type=Path)
    parser.add_argument("chapter")
    parser.add_argument("--seconds", type=int, default=3600)
    options = parser.parse_args()
    names = subprocess.run(
        ["git", "-C", ROOT, "ls-files", "netlab", "notebooks"], capture_output=True, text=True, check=True
    ).stdout.split()
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for name in names:
            tar.add(ROOT / name, name)
    files = {
        "guest.py": GUEST.encode(),
        "clone.tar": packed.getvalue(),
        "chapter.ipynb": (ROOT / "solutions" / f"{options.chapter}.ipynb").read_bytes(),
    }
    text = in_emulated(options.image, files, "/mnt/guest.py", options.seconds)
    print("\n".join(line for line in text.splitlines() if line.startswith(("CELL", "WHOLE"))))


if __name__ == "__main__":
    main()
