"""The gains of a guest that was booted before and of a guest's own processor, next to busy programs.

    python benchmarks/busy_machine.py            # with 0, 2 and 8 busy programs; 5 repetitions in turns
    python benchmarks/busy_machine.py --busy 2   # with 2

A short run is one flow for 2 s, whose wait is mostly the guest's boot; a long one six flows over three links for 200 s. The rows:
as it is; without a guest that was booted before; with a guest that may use all processors.
"""

from __future__ import annotations

import argparse
import itertools
import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from unittest import mock

from harness import Cost, busy_processes, cost, run_in_turns, table

import netlab as nl
from netlab_engines import cores, preboot
from netlab_engines.kernels import pocket_kernel

os.environ["NETLAB_PROGRESS"] = "0"
UNTIL_READY_S = 4.0
"""A guest boots in less time, also with busy programs."""
AS_IT_IS = "as it is"
SEEDS = itertools.count(1)
NETWORK = nl.topologies.portfolio()
FLOWS = [nl.Tcp(f"h{number}", "h9", congestion="reno") for number in (1, 2, 3, 4, 5, 6)]
SHORT_NETWORK = nl.topologies.dumbbell(pairs=1, rate_mbps=5, delay_ms=10, queue_packets=100)


@contextmanager
def all_processors() -> Iterator[None]:
    """Let guests run on all processors while this lasts."""
    everywhere = os.sched_getaffinity(0)

    def allow_all(pids: list[int], _cpus: set[int]) -> None:
        for pid in pids:
            os.sched_setaffinity(pid, everywhere)

    with (
        mock.patch.object(cores.Pin, "take", return_value=None),
        mock.patch.object(cores, "set_affinity", allow_all),
    ):
        yield


def short_run() -> None:
    """Run one flow for 2 s, with a seed of its own."""
    nl.run(SHORT_NETWORK, [nl.Tcp("h1", "h2")], 2, seed=next(SEEDS), engine="pocket")


def long_run() -> None:
    """Run six flows for 200 s, with a seed of its own."""
    nl.run(NETWORK, FLOWS, 200, seed=next(SEEDS), engine="pocket")


def measure(run: Callable[[], None], change: AbstractContextManager[object], *, booted: bool) -> Cost:
    """Return what a run takes with this change, in a guest that was booted before, or without one (`booted` is False)."""
    os.environ["NETLAB_WARM"] = "1" if booted else "0"
    own = preboot.PrebootedGuest()
    with mock.patch.object(preboot, "_guest", own), change:
        if booted:
            own.prepare(pocket_kernel.find())
            time.sleep(UNTIL_READY_S)
        found = cost(run)
        own.drop()
    return found


def main() -> None:
    """Measure both runs with each number of busy programs and print a table for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--busy", nargs="*", type=int, default=[0, 2, 8], help="numbers of programs that never rest")
    parser.add_argument("--repetitions", type=int, default=5)
    options = parser.parse_args()
    short_run()  # so that everything is imported
    for number in options.busy:
        for name, run in (("short run", short_run), ("long run", long_run)):
            contestants = {
                AS_IT_IS: lambda run=run: measure(run, nullcontext(), booted=True),
                "no guest booted before": lambda run=run: measure(run, nullcontext(), booted=False),
                "all processors": lambda run=run: measure(run, all_processors(), booted=True),
            }
            with busy_processes(number):
                found = run_in_turns(contestants, options.repetitions)
            table(f"A {name} with {number} busy programs", ("wall (s)", "processor (s)"), found, ratio=AS_IT_IS)


if __name__ == "__main__":
    main()
