"""Measure how long experiments take: runs in a preloaded guest, captures, whole runs, calls of a user's class, panels.

    python benchmarks/experiments.py                        # waiting and captures, on an idle machine
    python benchmarks/experiments.py --quick                # 2 s of network time instead of 10, and one repetition
    python benchmarks/experiments.py rows small one         # whole runs in the library kernel, by the words that their rows begin with
    python benchmarks/experiments.py rows --engine library pocket    # and the pocket kernel (the large rows take minutes in it)
    python benchmarks/experiments.py calls                  # what a call of a user's congestion control costs
    python benchmarks/experiments.py panels bdp queues      # how long a student waits for a panel; without a chapter, for all

Each number is the median of repetitions in turns, in one warm process. Processor time, of this process and of the kernel's, changes
less than wall time with what else the machine does. Goals: a small dumbbell's whole run in 0.25 s of wall-clock time when a guest waits
for it, the 15 nodes of the lab `simpleperf` 0.6 s more than their traffic, 5 us of processor time for a captured packet, a panel's
answer in 0.5 s. Each control of a panel is moved to its ends and, where it is a list, to every choice; the others stay where they start.
A time runs from the move to the figure, with the panel's own wait for the control to come to rest, and nothing of earlier runs.
"""

from __future__ import annotations

import argparse
import importlib
import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

from harness import Cost, cost, run_in_turns, table

import netlab as nl
from netlab_engines.kernels import cache

ROOT = Path(__file__).resolve().parent.parent
os.environ["NETLAB_PROGRESS"] = "0"
UNTIL_READY_S = 2.5
"""A guest boots and imports in less; who works in a notebook takes longer between two runs."""
SMALL_NETWORK = nl.topologies.dumbbell(pairs=1, rate_mbps=5, delay_ms=10, queue_packets=100)
LARGE_NETWORK = nl.topologies.portfolio()
FAST_NETWORK = nl.topologies.dumbbell(pairs=1, rate_mbps=100, delay_ms=5, queue_packets=200)
DELAY_MS = 10


def measure_start(options: argparse.Namespace) -> None:
    """Measure a run in a guest that was booted before; a second run of twice the length shows the traffic's part."""
    os.environ["NETLAB_WARM"] = "1"

    def run_cost(network: nl.Topology, flow: nl.Tcp, seconds: float) -> Cost:
        time.sleep(UNTIL_READY_S)
        return cost(lambda: nl.run(network, [flow], duration_s=seconds))

    def traffic_cost() -> list[float]:
        short, long = (
            run_cost(LARGE_NETWORK, nl.Tcp("h1", "h9"), seconds) for seconds in (options.seconds, 2 * options.seconds)
        )
        return [2 * once - twice for once, twice in zip(short, long, strict=True)]

    def small_run_cost() -> Cost:
        return run_cost(SMALL_NETWORK, nl.Tcp("h1", "h2"), options.seconds)

    # A program gets a guest that waits from its second run on.
    run_in_turns({"": small_run_cost}, 2)
    contestants = {
        "a small dumbbell (goal 0.25)": small_run_cost,
        "15 nodes, during the traffic (goal 0.6)": traffic_cost,
    }
    table("A run that finds a guest waiting", ["wall s", "processor s"], run_in_turns(contestants, options.repetitions))


def captures(options: argparse.Namespace) -> None:
    """Measure the cost of a captured packet: the least of several runs counts, because other programs can only add to it."""
    # A guest that waits for the next run would be counted with the wrong one.
    os.environ["NETLAB_WARM"] = "0"
    last_run: list[nl.Run] = []

    def ran_s(capture_list: list[nl.Capture]) -> float:
        def work() -> None:
            last_run[:] = [
                nl.run(FAST_NETWORK, [nl.Tcp("h1", "h2")], duration_s=options.seconds, captures=capture_list)
            ]

        return cost(work).cpu_s

    def with_one() -> tuple[float, float]:
        return ran_s([nl.Capture("r1", "r2")]), cost(lambda: last_run[0].packets).cpu_s

    found = run_in_turns({"without": lambda: (ran_s([]), 0.0), "with": with_one}, max(2, options.repetitions))
    packets = int(last_run[0].packets.departs.sum())
    least = {name: [min(column) for column in zip(*rows, strict=True)] for name, rows in found.items()}
    writing_us, reading_us = ((least["with"][k] - least["without"][k]) / packets * 1e6 for k in (0, 1))
    print(
        f"\n{packets} packets: {writing_us:.2f} us in the capture, {reading_us:.2f} us in the table; goal 5 us together"
    )


def scenario(pairs: int, rate_mbps: float, duration_s: float, streams: int = 1) -> nl.Scenario:
    """TCP flows, of so many streams each, through one bottleneck of 10 ms with a queue of a BDP (at least 100 packets)."""
    packets = max(100, round(rate_mbps * 1e6 * 2 * DELAY_MS / 1e3 / 8 / 1500))
    network = nl.topologies.dumbbell(pairs=pairs, rate_mbps=rate_mbps, delay_ms=DELAY_MS, queue_packets=packets)
    traffic = [nl.Tcp(f"h{k + 1}", f"h{k + 1 + pairs}", streams=streams) for k in range(pairs)]
    return nl.Scenario(network, traffic, duration_s=duration_s)


ROWS = {
    "small: 5 Mbit/s, 1 flow, 10 s": scenario(1, 5, 10),
    "one: 100 Mbit/s, 1 flow, 10 s": scenario(1, 100, 10),
    "eight: 100 Mbit/s, 8 flows, 30 s": scenario(1, 100, 30, streams=8),
    "fast: 1 Gbit/s, 1 flow, 10 s": scenario(1, 1000, 10),
    "nodes: 400 hosts, 200 flows, 100 Mbit/s, 10 s": scenario(200, 100, 10),
    "flows: 1000 through 1 Gbit/s, 10 s": scenario(4, 1000, 10, streams=250),
    "slider: 10 Mbit/s, 1 flow, 2 s": scenario(1, 10, 2),
}


def measure(row: nl.Scenario, engine: str) -> tuple[float, float, float]:
    """Wall seconds, processor seconds and goodput of one run."""
    found: list[nl.Run] = []
    spent = cost(lambda: found.append(nl.run(row, engine=engine)))
    return *spent, float(found[0].flows.goodput_mbps.sum())


def rows(options: argparse.Namespace) -> None:
    """Every row in every engine, in turns."""
    names = [name for name in ROWS if not options.words or name.partition(":")[0] in options.words]
    for engine in options.engine:
        measure(scenario(1, 5, 1), engine)
    contestants = {
        f"{name} ({engine})": lambda name=name, engine=engine: measure(ROWS[name], engine)
        for name in names
        for engine in options.engine
    }
    table("Whole runs", ["wall s", "cpu s", "Mbit/s"], run_in_turns(contestants, options.repetitions))


class Reno:
    """Linux's own in Python: what it takes longer is what its calls cost."""

    calls = 0

    def on_start(self, flow: Any) -> None:
        self.flow = flow

    def on_ack(self, ack: Any) -> None:
        Reno.calls += 1
        flow = self.flow
        if not ack.may_grow:
            return
        if flow.cwnd_segments < flow.ssthresh_segments:
            flow.cwnd_segments += ack.delivered_segments
        else:
            flow.cwnd_segments += ack.delivered_segments / flow.cwnd_segments


def calls(options: argparse.Namespace) -> None:
    """Print what a call costs: the least of the repetitions, which other work of the machine disturbs least."""
    network = nl.topologies.dumbbell(pairs=1, rate_mbps=20, delay_ms=25, queue_packets=100)

    def run_cost(control: Any) -> Cost:
        return cost(lambda: nl.run(network, [nl.Tcp("h1", "h2", congestion=control)], 20, engine="library"))

    found = run_in_turns({"reno": lambda: run_cost("reno"), "own": lambda: run_cost(Reno)}, options.repetitions)
    each = Reno.calls / options.repetitions
    for place, what in enumerate(("wall-clock", "processor")):
        reno_s, own_s = (min(row[place] for row in found[name]) for name in ("reno", "own"))
        call_us = 1e6 * (own_s - reno_s) / each
        print(f"{what}: Linux's {reno_s:.3f} s, a class {own_s:.3f} s, {call_us:.1f} us for each of {each:.0f} calls")


def ends(control: Any) -> Iterator[Any]:
    """The values to try: those that differ from where the control stands."""
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
    panel = importlib.import_module(f"netlab_course.chapters.{topic}").begin().panel()
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


def panels(options: argparse.Namespace) -> None:
    """Print a line for each chapter's panel."""
    topics = sorted(path.parent.name for path in (ROOT / "netlab" / "chapters").glob("*/panel.py"))
    print(f"load of the machine {os.getloadavg()[0]:.1f}\n{'panel':<22}{'moves':>6}{'median s':>10}{'longest s':>11}")
    with tempfile.TemporaryDirectory() as place:
        places = {"NETLAB_SHARED": str(cache.kernels().parent), "NETLAB_CACHE": place}
        with mock.patch.dict(os.environ, places):
            for topic in options.words or topics:
                times_s = dict(answers(topic))
                longest = max(times_s, key=times_s.__getitem__)
                numbers = f"{statistics.median(times_s.values()):>10.2f}{times_s[longest]:>11.2f}"
                print(f"{topic:<22}{len(times_s):>6}{numbers}  {longest}", flush=True)


PARTS = {"waiting": measure_start, "captures": captures, "rows": rows, "calls": calls, "panels": panels}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", nargs="?", choices=PARTS, help="what to measure (default: waiting and captures)")
    parser.add_argument("words", nargs="*", metavar="WORD", help="rows or chapters")
    parser.add_argument("--engine", nargs="+", default=["library"], choices=("library", "pocket"), help="of rows")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    options.seconds, options.repetitions = (2.0, 1) if options.quick else (10.0, 3)
    for name in [options.part] if options.part else ["waiting", "captures"]:
        PARTS[name](options)


if __name__ == "__main__":
    main()
