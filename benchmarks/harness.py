"""Functions that all benchmarks use: processor time, contestants in turns, a table of medians, a busy machine."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple, TypeVar

T = TypeVar("T")


class Cost(NamedTuple):
    """Wall-clock and processor time in s; the latter changes little with what else the machine does."""

    wall_s: float
    cpu_s: float


def used_s() -> float:
    """Processor time in s of this process and of the children that it has waited for."""
    both = (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in both)


def cost(work: Callable[[], object]) -> Cost:
    """Return the wall-clock and processor time that a function takes."""
    began_s, before_s = time.monotonic(), used_s()
    work()
    return Cost(time.monotonic() - began_s, used_s() - before_s)


def run_in_turns(contestants: Mapping[str, Callable[[], T]], repetitions: int) -> dict[str, list[T]]:
    """Run each contestant once a round, so that a machine that gets slower or faster meanwhile does so for all."""
    found: dict[str, list[T]] = {name: [] for name in contestants}
    for _ in range(repetitions):
        for name, contestant in contestants.items():
            found[name].append(contestant())
    return found


def table(title: str, columns: Sequence[str], found: Mapping[str, Sequence[Sequence[float]]], ratio: str = "") -> None:
    """Print each row's medians, and those of its first column as parts of the row `ratio`."""
    print(f"\n{title}\n{'':48}" + "".join(f"{name:>14}" for name in columns) + ("     ratio" if ratio else ""))
    medians = {name: [statistics.median(column) for column in zip(*rows, strict=True)] for name, rows in found.items()}
    for name, row in medians.items():
        part = f"{row[0] / medians[ratio][0]:>10.2f}" if ratio else ""
        print(f"{name:<48}" + "".join(f"{value:>14.3f}" for value in row) + part, flush=True)
    repetitions = len(next(iter(found.values())))
    print(f"medians of {repetitions}; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")


@contextmanager
def busy_processes(number: int) -> Iterator[None]:
    """Processes that never rest, as long as this lasts."""
    running = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(number)]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()
