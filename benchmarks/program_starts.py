"""The cost of starting programs in the pocket kernel: a Mininet script that starts a `curl` each round.

python benchmarks/program_starts.py                                  # this version's kernel
python benchmarks/program_starts.py ~/.cache/netlab/kernels/*/linux  # kernels side by side; ratios to the first one

A pass of no rounds is subtracted, so that neither the guest's boot nor Mininet's start counts. Wall time alone: a kernel that
keeps processes of the host for the next program leaves them to be killed with it, and nobody counts their processor time.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path

from harness import Cost, cost, run_in_turns, table

from netlab_engines.kernels import pocket_kernel
from netlab_engines.lab.script import run_script

SCRIPT = Path(__file__).parent / "mininet" / "many_programs.py"


def measure(kernel: Path, rounds: int) -> Cost:
    """Return what the script takes with this kernel.

    Raises RuntimeError if not every file was fetched.
    """
    os.environ["NETLAB_KERNEL"] = str(kernel)
    printed: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        spent = cost(lambda: run_script([str(SCRIPT), str(rounds)], write=printed.append, directory=Path(folder)))
    if f"{rounds} of {rounds} fetched" not in "".join(printed):
        raise RuntimeError(f"{kernel}: not every file was fetched: {''.join(printed)[-500:]}")
    return spent


def main() -> None:
    """Measure each kernel in turns and print a row for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kernels", nargs="*", type=Path, help="files linux of built kernels")
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--repetitions", type=int, default=3)
    options = parser.parse_args()
    kernels = [path.resolve() for path in options.kernels] or [pocket_kernel.find().path]

    def per_round(kernel: Path) -> list[float]:
        start, loaded = measure(kernel, 0), measure(kernel, options.rounds)
        return [(loaded.wall_s - start.wall_s) * 1000 / options.rounds]

    found = run_in_turns({str(path): lambda path=path: per_round(path) for path in kernels}, options.repetitions)
    rows = {path.parent.name: found[str(path)] for path in kernels}
    table(f"One round, {options.rounds} rounds", ("wall (ms)",), rows, ratio=kernels[0].parent.name)


if __name__ == "__main__":
    main()
