"""Run solved chapters under the native engine: how long they take there and what their cells say.

    python benchmarks/native_chapter.py [--image IMAGE.qcow2] [CHAPTER...]          such as 01_udp_loss; without one, all

Without an image, the machine is a pocket kernel's guest in virtual time: its clock stands still while something computes. So its
minutes are those of waiting, and the minutes of computing are this machine's own beside them; their sum is at most what a machine like
this one takes. IMAGE is one of vm/build.sh, in an emulated machine whose clock follows instructions (a thousand million a second,
for all its processors together) and skips idle time: a slow machine, and many times slower to watch. It needs what
`agreement.py emulate` needs. The chapters and netlab are this clone's. --details prints a line for each cell.
"""

from __future__ import annotations

import argparse
import io
import re
import shlex
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

from agreement import in_emulated

import netlab as nl
from netlab.kernel import cache

ROOT = Path(__file__).resolve().parent.parent
SOLUTIONS = ROOT / "solutions"
GUEST = """
import os, sys, time
clone, cpus, *names = sys.argv[1:]
os.environ.update(PYTHONPATH=clone, NETLAB_ENGINE="native", NETLAB_NOTEBOOKS=clone + "/notebooks", NETLAB_PROGRESS="0")
if clone == "/tmp/clone":
    import tarfile
    tarfile.open("/mnt/clone.tar").extractall(clone, filter="data")
import nbformat
from nbclient import NotebookClient
# A guest has one processor; how many runs of a sweep go on side by side is that of a machine with more.
CPUS = '''
import os, types, netlab.runs.sweeps as sweeps
sweeps.os = types.SimpleNamespace(**{**vars(os), "sched_getaffinity": lambda _: range(%s)})
''' % cpus
def words(cell):
    said = [
        out.get("text") or out.get("data", {}).get("text/plain") or (f"{out.ename}: {out.evalue}" if out.output_type == "error" else "")
        for out in cell.outputs
    ]
    return " ".join(" ".join(said).split())
def busy_s():
    ticks = [int(word) for word in open("/proc/stat").readline().split()[1:]]
    return (sum(ticks[:8]) - ticks[3] - ticks[4]) / os.sysconf("SC_CLK_TCK")
def run(name):
    began_s, busy_before_s = time.monotonic(), busy_s()
    last_s = [began_s]
    def done(cell, cell_index, **_more):
        now_s = time.monotonic()
        took_s, last_s[0] = now_s - last_s[0], now_s
        if cell.cell_type == "code":
            print(f"CELL {name} {cell.id} | {took_s:.1f} s | {words(cell)[:300]}", flush=True)
    notebook = nbformat.read(f"{clone}/solutions/{name}.ipynb", as_version=4)
    notebook.cells.insert(0, nbformat.v4.new_code_cell(CPUS))
    NotebookClient(
        notebook, timeout=3600, startup_timeout=600, kernel_name="python3", allow_errors=True, on_cell_executed=done,
        resources={"metadata": {"path": f"{clone}/solutions"}},
    ).execute()
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    errors = sum(any(out.output_type == "error" for out in cell.outputs) for cell in cells)
    without = sum(words(cell).startswith("Not on this machine") for cell in cells)
    minutes, busy = (time.monotonic() - began_s) / 60, (busy_s() - busy_before_s) / 60
    print(f"TABLE {name} {minutes:.2f} {busy:.2f} {len(cells) - 1} {without} {errors}", flush=True)
for name in names:
    run(name)
"""


def in_guest(chapter: str, cpus: int, seconds: float) -> str:
    """What the chapter prints as root of a guest in virtual time; its minutes of computing are this machine's."""
    with tempfile.NamedTemporaryFile("w", suffix=".py") as program:
        program.write(GUEST)
        program.flush()
        Path(program.name).chmod(0o644)
        places = f"TMPDIR=/tmp/own HOME=/tmp/own NETLAB_CACHE={shlex.quote(str(cache.root()))}"
        words = shlex.join([sys.executable, program.name, str(ROOT), str(cpus), chapter])
        outer = nl.Topology(hosts=["a", "b"], links=[nl.Link("a", "b")])
        command = nl.Command("a", f"mkdir /tmp/own && cd /tmp/own && {places} {words}")
        began_s = time.monotonic()
        run = nl.run(outer, [command], duration_s=seconds, engine="pocket", progress=False)
    (row,) = run.commands.itertuples()
    if row.exit_code != 0:
        print(f"{chapter}: {row.stderr[-3000:]}", file=sys.stderr)
    wall_min = (time.monotonic() - began_s) / 60
    # The guest's own processor time stands still.
    return re.sub(r"^(TABLE \S+ \S+) \S+", rf"\1 {wall_min:.2f}", row.stdout, flags=re.MULTILINE)


def in_image(image: Path, chapters: list[str], cpus: int, console: Path | None, seconds: int) -> str:
    """What the chapters print in an emulated machine."""
    names = subprocess.run(
        ["git", "-C", ROOT, "ls-files", "netlab", "notebooks", "solutions"], capture_output=True, text=True, check=True
    ).stdout.split()
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for name in names:
            tar.add(ROOT / name, name)
    files = {"guest.py": GUEST.encode(), "clone.tar": packed.getvalue()}
    command = shlex.join(["/mnt/guest.py", "/tmp/clone", str(cpus), *chapters])
    return in_emulated(image, files, command, seconds, cpus, console)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("chapters", nargs="*")
    parser.add_argument("--image", type=Path)
    parser.add_argument("--cpus", type=int, default=2)
    parser.add_argument(
        "--console", type=Path, help="with an image: a file that keeps the machine's words while it runs"
    )
    parser.add_argument("--seconds", type=int, default=4 * 3600, help="the longest that it may take")
    parser.add_argument("--details", action="store_true")
    options = parser.parse_args()
    known = sorted(path.stem for path in SOLUTIONS.glob("[0-9]*.ipynb"))
    chapters = options.chapters or known
    if unknown := [name for name in chapters if name not in known]:
        parser.error(f"no chapter {', '.join(unknown)}; there are {', '.join(known)}")
    print("| chapter | minutes | minutes of computing | cells of code | not on this machine | ended in an error |")
    print("|---|---|---|---|---|---|", flush=True)
    texts = (
        [in_image(options.image, chapters, options.cpus, options.console, options.seconds)]
        if options.image
        else (in_guest(chapter, options.cpus, options.seconds) for chapter in chapters)
    )
    for text in texts:
        for line in text.splitlines():
            if line.startswith("CELL") and options.details:
                print(line)
            elif line.startswith("TABLE"):
                print(f"| {' | '.join(line.split()[1:])} |", flush=True)


if __name__ == "__main__":
    main()
