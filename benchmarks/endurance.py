"""Tests of the library kernel that take too long for the test suite: hours, ten thousands of runs, another processor.

    python benchmarks/endurance.py                       # all of it, about half an hour on an idle machine
    python benchmarks/endurance.py runs kills            # by name: hour, runs, kills, deaths, busy, replication, aarch64
    python benchmarks/endurance.py replication --part 1 6     # a sixth of its scenarios

Each check prints what it did, what it saw, and ok or FAILED; the status is the number that failed. `aarch64` needs
`netlab kernel build --cross aarch64` and qemu-aarch64-static.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from unittest import mock

REPOSITORY = Path(__file__).resolve().parent.parent
# The comparison of two runs is the tests' own.
sys.path.insert(0, str(REPOSITORY))

import harness  # noqa: E402

import netlab as nl  # noqa: E402
from netlab.base import cache  # noqa: E402
from netlab.base.errors import EngineError, NetlabError  # noqa: E402
from netlab.commands import cli  # noqa: E402
from netlab_classroom.grading import grade, result_store  # noqa: E402
from netlab_engines.kernels import library_kernel  # noqa: E402
from netlab_replication.rows import published_rows  # noqa: E402
from tests.engines import webassembly  # noqa: E402
from tests.engines.parity import differences  # noqa: E402
from tests.grading import classroom  # noqa: E402

QEMU = "qemu-aarch64-static"
SHORT_RUNS = 10_000
KILLS = 200
FLAT_MB = 8
DIFFERENT = "different"


def dumbbell(**words: object) -> nl.Topology:
    return nl.topologies.dumbbell(**{"pairs": 1, "rate_mbps": 10, "delay_ms": 10, "queue_packets": 50, **words})


def scenarios() -> dict[str, nl.Scenario]:
    """Every queue discipline, every congestion control, and more that a program's parts are used by."""
    found = dict(webassembly.plans(5))
    found["window"] = nl.Scenario(dumbbell(), [nl.Tcp("h1", "h2", window_bytes=16_000)], 5)
    found["portfolio"] = nl.Scenario(nl.topologies.portfolio(), [nl.Tcp("h1", "h4"), nl.Ping("h2", "h5")], 5)
    return found


def result_hash(run: nl.Run) -> str:
    """A run without what changes with the day and the machine."""
    data = run.to_dict()
    for word in ("wall_s", "date", "machine", "confined", "python"):
        data["settings"].pop(word)
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()


def run(scenario: nl.Scenario) -> nl.Run:
    return nl.run(scenario, engine="library", progress=False)


def children() -> list[int]:
    """Processes of ours that run the library kernel."""
    return _with_mark([f"{library_kernel.find().path}\0{os.getpid()}".encode()])


def memory_mb(pid: int) -> float:
    """Memory in MB that a process holds in the machine."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def hour() -> tuple[bool, str]:
    """An hour of network time with 100 flows: memory in the first fifth and at most."""
    network = nl.topologies.dumbbell(pairs=50, rate_mbps=10, delay_ms=10, queue_packets=200)
    traffic = [nl.Tcp(f"h{k}", f"h{k + 50}", streams=2) for k in range(1, 51)]
    samples: list[tuple[float, float]] = []

    def sample(done_s: float, _whole_s: float) -> None:
        samples.extend((done_s, memory_mb(pid)) for pid in children())

    found = nl.run(network, traffic, duration_s=3600, interval_s=10, engine="library", progress=sample)
    early = max(mb for at_s, mb in samples if at_s < 720)
    late = max(mb for at_s, mb in samples)
    goodput = float(found.flows.goodput_mbps.sum())
    summary = f"{early:.1f} MB in the first fifth, {late:.1f} MB at most, goodputs {goodput:.3f} Mbit/s, {found.settings['wall_s']} s"
    return late - early < FLAT_MB and goodput > 9, summary


def runs() -> tuple[bool, str]:
    """Many short runs, one after the other: every result equal, no failure, no file or process left."""
    scenario = nl.Scenario(dumbbell(), [nl.Tcp("h1", "h2")], 0.2, interval_s=0.1)
    old_files = len(list(Path("/proc/self/fd").iterdir()))
    began_s = time.monotonic()
    different = {result_hash(run(scenario)) for _ in range(SHORT_RUNS)}
    took_s = time.monotonic() - began_s
    left = len(list(Path("/proc/self/fd").iterdir())) - old_files
    summary = (
        f"{SHORT_RUNS} runs in {took_s:.0f} s ({1000 * took_s / SHORT_RUNS:.1f} ms each), {len(different)} result(s), "
    )
    summary += f"{left} files and {len(children())} processes left"
    return len(different) == 1 and left == 0 and not children(), summary


def kills() -> tuple[bool, str]:
    """Runs whose program is killed: each ends with a sentence, and nothing is left."""
    scenario = nl.Scenario(dumbbell(rate_mbps=1000, queue_packets=1000), [nl.Tcp("h1", "h2")], 1000)
    sentences = 0

    def kill(wait_s: float) -> None:
        _wait_until(5.0, lambda: bool(children()))
        time.sleep(wait_s)
        for pid in children():
            os.kill(pid, 9)

    for number in range(KILLS):
        killer = threading.Thread(target=kill, args=(0.002 * (number % 50),))
        killer.start()
        try:
            run(scenario)
        except NetlabError as error:
            sentences += "it was killed" in str(error)
        killer.join()
    return sentences == KILLS and not children(), f"{sentences} of {KILLS} told so; {len(children())} processes left"


def deaths() -> tuple[bool, str]:
    """Programs interrupted, ended or killed at random moments: no process, file or mount is left, the kept is whole, and the next works."""
    long = nl.Scenario(dumbbell(rate_mbps=1000, queue_packets=1000), [nl.Tcp("h1", "h2")], 1000)
    swept = list(scenarios().values())
    wrong: Counter[str] = Counter()
    chance = random.Random(1)  # noqa: S311 (the same moments each time)
    with tempfile.TemporaryDirectory(prefix="netlab-deaths-") as name, classroom.sample_chapter() as chapter:
        place = Path(name)
        variables = {"TMPDIR": name, "NETLAB_SHARED": str(cache.root()), "NETLAB_CACHE": f"{name}/cache"}
        with mock.patch.dict(os.environ, variables, NETLAB_WARM="0"), mock.patch.object(tempfile, "tempdir", name):
            classroom.write(place / "in", classroom.honest()[:4])
            works: dict[str, tuple[float, Callable[[int], object]]] = {
                "library run": (0.3, lambda _: run(long)),
                "pocket run": (0.3, lambda _: nl.run(long, engine="pocket", progress=False)),
                "sweep": (0.5, lambda seed: nl.sweep([replace(each, seed=seed) for each in swept], progress=False)),
                "live network": (0.5, _run_live_network),
                "grading": (4, lambda number: _grade(place, number // 4)),
            }
            for kind, (max_s, work) in works.items():
                for number in range(KILLS):
                    ending_signal = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)[number % 3]
                    wrong[f"{kind} {ending_signal.name}"] += not _dies_alone(
                        partial(work, number), ending_signal, chance.uniform(0, max_s), name
                    )
                    wrong["damaged"] += any(
                        result_store.load(path) is None for path in place.glob("marks/results/*.json")
                    )
            # The next run removes what killed programs left.
            nl.run(dumbbell(), [nl.Ping("h1", "h2")], duration_s=1, engine="pocket", progress=False)
            rest = {path.name for path in place.iterdir()} - {"in", "marks", "cache"}
            rest |= {path.name for path in place.rglob("run-*")}
            # A namespace without a process lives by a mount alone.
            rest |= {
                each for each in Path("/proc/self/mountinfo").read_text().splitlines() if name in each or "nsfs" in each
            }
            last = f"{(KILLS - 1) // 4}"
            resumed = grade.grade(chapter, [place / "in"], place / "marks", seed=last, resume=True, progress=False)
            afresh = grade.grade(chapter, [place / "in"], place / "other", seed=last, progress=False)
            wrong["resumed grading"] += resumed != afresh
            again = [replace(each, seed=0) for each in swept]
            wrong["repeated sweep"] += list(map(result_hash, nl.sweep(again, progress=False))) != list(
                map(result_hash, map(run, again))
            )
    summary = f"{KILLS} of each of {', '.join(works)}; {+wrong or 'none'} wrong, {sorted(rest)} are left"
    return not +wrong and rest <= {f"netlab-{os.getuid()}"}, summary


def _run_live_network(_number: int) -> None:
    """Drive a live network for ever."""
    with nl.live(dumbbell(), engine="pocket") as lab:
        lab.start(nl.Tcp("h1", "h2"))
        while True:
            lab["h1"].run("ping -c 3 h2")


def _grade(place: Path, seed: int) -> None:
    words = ["--output", f"{place}/marks", "--seed", f"{seed}", "--resume", "--root", str(classroom.SAMPLE)]
    cli.main(["grade", "sample", f"{place}/in", *words])


def _dies_alone(work: Callable[[], object], signal_number: signal.Signals, wait_s: float, place: str) -> bool:
    """Fork a program, end it so long after its first process began; whether none of its processes is left within 10 s."""
    program = os.fork()
    if program == 0:
        # A shell starts what it puts into the background with Ctrl-C ignored.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        with Path(os.devnull).open("wb") as nowhere, contextlib.suppress(BaseException):
            for descriptor in (1, 2):
                os.dup2(nowhere.fileno(), descriptor)
            work()
        os._exit(0)
    marks = (f"{library_kernel.find().path}\0{program}".encode(), place.encode())
    _wait_until(5.0, lambda: bool(_with_mark(marks)))
    time.sleep(wait_s)
    os.kill(program, signal_number)
    os.waitpid(program, 0)
    return _wait_until(10.0, lambda: not _with_mark(marks))


def _wait_until(limit_s: float, holds: Callable[[], bool]) -> bool:
    """Return whether a condition becomes true within a time."""
    end_s = time.monotonic() + limit_s
    while not (held := holds()) and time.monotonic() < end_s:
        time.sleep(0.01)
    return held


def _with_mark(marks: Iterable[bytes]) -> list[int]:
    """Processes with one of these in their command line or environment."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_bytes() + b"\0" + (entry / "environ").read_bytes()
        except OSError:
            continue
        if any(mark in words for mark in marks):
            found.append(int(entry.name))
    return found


def result_hashes() -> dict[str, str]:
    """Return the result of each scenario by its name."""
    return {name: result_hash(run(scenario)) for name, scenario in scenarios().items()}


def compare(expected: Mapping[str, str], results: Mapping[str, str]) -> tuple[bool, str]:
    """Return whether all results from elsewhere are the same, and a sentence about it."""
    different = [name for name in expected if results.get(name) != expected[name]]
    summary = f"{len(expected) - len(different)} of {len(expected)} scenarios equal"
    return not different, summary + "".join(f"; {name} differs" for name in different)


def compare_on_busy_machine() -> tuple[bool, str]:
    """Compare results with busy processes on every processor with results without them."""
    alone = result_hashes()
    with harness.busy_processes(2 * (os.cpu_count() or 1)):
        return compare(alone, result_hashes())


def aarch64() -> tuple[bool, str]:
    """The program for aarch64 under an emulator gives the same bytes as the one for x86-64."""
    program, emulator = library_kernel.ready("aarch64"), shutil.which(QEMU)
    if program is None or emulator is None:
        return False, f"needs {QEMU} and 'netlab kernel build --cross aarch64'"
    expected = result_hashes()
    with tempfile.TemporaryDirectory() as place:
        wrapper = Path(place) / "library"
        wrapper.write_text(f'#!/bin/sh\nexec {emulator} {program.path} "$@"\n')
        wrapper.chmod(0o755)
        began_s = time.monotonic()
        with mock.patch.dict(os.environ, NETLAB_LIBRARY=str(wrapper)):
            results = result_hashes()
    equal, summary = compare(expected, results)
    return equal, f"{summary}, {time.monotonic() - began_s:.0f} s in the emulator"


def published_scenarios() -> list[tuple[str, nl.Scenario]]:
    """Each plan of the replication once, by the name of the first row that it measures."""
    distinct: dict[str, tuple[str, nl.Scenario]] = {}
    for row in published_rows():
        if row.measurement is not None:
            scenario = row.measurement.scenario
            distinct.setdefault(str(scenario.plan()), (f"{row.source} {row.table} {row.scenario}", scenario))
    return list(distinct.values())


def replication(part: int = 1, parts: int = 1) -> tuple[bool, str]:
    """Every scenario of the replication in both kernels: each cell equal, to the last bit."""
    found: Counter[str] = Counter()
    for name, scenario in published_scenarios()[part - 1 :: parts]:
        try:
            library_run = run(scenario)
        except EngineError as error:
            verdict, detail = "refused by the library kernel", str(error)
        else:
            pocket_run = nl.run(scenario, engine="pocket", progress=False)
            several = differences(pocket_run, library_run)
            verdict, detail = (DIFFERENT, f"{len(several)} cells: {several[0]}") if several else ("equal", "")
        found[verdict] += 1
        print(f"  {name}: {verdict}. {detail}", flush=True)
    return not found[DIFFERENT], "; ".join(f"{number} {verdict}" for verdict, number in found.most_common())


CHECKS: dict[str, Callable[[], tuple[bool, str]]] = {
    "busy": compare_on_busy_machine, "replication": replication, "aarch64": aarch64, "kills": kills,
    "deaths": deaths, "hour": hour, "runs": runs,
}  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checks", nargs="*", choices=[*CHECKS, []])
    summary = "of the replication, every N-th scenario from K on"
    parser.add_argument("--part", type=int, nargs=2, default=(1, 1), metavar=("K", "N"), help=summary)
    arguments = parser.parse_args()
    chosen = arguments.checks or list(CHECKS)
    checks = {**CHECKS, "replication": lambda: replication(*arguments.part)}
    failed = 0
    for name in chosen:
        fine, summary = checks[name]()
        failed += not fine
        load = os.getloadavg()[0]
        print(
            f"{name}: {'ok' if fine else 'FAILED'}: {(CHECKS[name].__doc__ or '').strip()} {summary} (load {load:.1f})",
            flush=True,
        )
    return failed


if __name__ == "__main__":
    sys.exit(main())
