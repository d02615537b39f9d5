"""How long whole runs take in the library kernel, beside the pocket kernel and ns-3: wall and processor seconds.

    python benchmarks/library.py                      # every row in the library kernel
    python benchmarks/library.py --engine library pocket   # side by side (the large rows take minutes in the pocket kernel)
    python benchmarks/library.py --engine library pocket ns3   # ns-3 too: apt install g++ libns3-dev
    python benchmarks/library.py --rows small one     # rows by the words they begin with

Each figure is the median of interleaved repetitions in one warm process; of netlab's it is that of a whole `nl.run`, of
ns-3's that of a C++ program (dumbbell_ns3.cc, compiled here) without any samples. Processor time, of this process and of
the kernel's, does not change with what else the machine does as much as wall time.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

from harness import cost, in_turns, table

import netlab as nl

REPETITIONS = 3
DELAY_MS = 10
NS3_PARTS = ("core", "network", "internet", "point-to-point", "applications", "traffic-control")


class Row(NamedTuple):
    """TCP flows, of so many streams each, through one bottleneck of 10 ms with a queue of a BDP (at least 100 packets)."""

    pairs: int
    rate_mbps: float
    duration_s: float
    streams: int = 1

    @property
    def queue_packets(self) -> int:
        return max(100, round(self.rate_mbps * 1e6 * 2 * DELAY_MS / 1e3 / 8 / 1500))

    def scenario(self) -> nl.Scenario:
        network = nl.topologies.dumbbell(
            pairs=self.pairs, rate_mbps=self.rate_mbps, delay_ms=DELAY_MS, queue_packets=self.queue_packets
        )
        traffic = [nl.Tcp(f"h{k + 1}", f"h{k + 1 + self.pairs}", streams=self.streams) for k in range(self.pairs)]
        return nl.Scenario(network, traffic, duration_s=self.duration_s)


ROWS = {
    "small: 5 Mbit/s, 1 flow, 10 s": Row(1, 5, 10),
    "one: 100 Mbit/s, 1 flow, 10 s": Row(1, 100, 10),
    "eight: 100 Mbit/s, 8 flows, 30 s": Row(1, 100, 30, streams=8),
    "fast: 1 Gbit/s, 1 flow, 10 s": Row(1, 1000, 10),
    "nodes: 400 hosts, 200 flows, 100 Mbit/s, 10 s": Row(200, 100, 10),
    "flows: 1000 through 1 Gbit/s, 10 s": Row(4, 1000, 10, streams=250),
    "slider: 10 Mbit/s, 1 flow, 2 s": Row(1, 10, 2),
}


def ns3_program(place: Path) -> Path | None:
    """Compile the same dumbbell for ns-3; None, and a sentence, where ns-3 or a compiler is missing."""
    source = Path(__file__).with_name("dumbbell_ns3.cc")
    if not shutil.which("g++") or not Path("/usr/include/ns3/core-module.h").exists():
        print("ns-3 is left out: it needs Debian's packages g++ and libns3-dev (apt install g++ libns3-dev).")
        return None
    program = place / "dumbbell_ns3"
    libraries = [f"-lns3-{part}" for part in NS3_PARTS]
    command = ["g++", "-O2", "-std=c++17", str(source), "-o", str(program), *libraries]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        print(f"ns-3 is left out: {source.name} does not compile: {done.stderr.strip().splitlines()[:1]}")
        return None
    return program


def measure(row: Row, engine: str, ns3: Path | None = None) -> tuple[float, float, float]:
    """Wall seconds, processor seconds and goodput of one run."""
    scenario, found_mbps = row.scenario(), []

    def run() -> None:
        if engine == "ns3":
            words = (row.pairs, row.streams, row.rate_mbps, DELAY_MS, row.queue_packets, row.duration_s)
            found_mbps.append(
                float(subprocess.run([str(ns3), *map(str, words)], check=True, capture_output=True).stdout)
            )
        else:
            found_mbps.append(float(nl.run(scenario, engine=engine, progress=False).flows.goodput_mbps.sum()))

    return *cost(run), found_mbps[0]


def side_by_side(names: list[str], engines: list[str], repetitions: int) -> None:
    """Every row in every engine, in turns."""
    with tempfile.TemporaryDirectory() as place:
        ns3 = ns3_program(Path(place)) if "ns3" in engines else None
        engines = [engine for engine in engines if engine != "ns3" or ns3]
        for engine in engines:
            measure(Row(1, 5, 1), engine, ns3)
        contestants = {
            f"{name} ({engine})": lambda name=name, engine=engine: measure(ROWS[name], engine, ns3)
            for name in names
            for engine in engines
        }
        found = in_turns(contestants, repetitions)
    table("Whole runs", ["wall s", "cpu s", "Mbit/s"], found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", nargs="+", default=["library"], choices=("library", "pocket", "ns3"))
    parser.add_argument("--rows", nargs="*", default=[], metavar="WORD")
    parser.add_argument("--repetitions", type=int, default=REPETITIONS)
    arguments = parser.parse_args()
    names = [name for name in ROWS if not arguments.rows or name.partition(":")[0] in arguments.rows]
    side_by_side(names, arguments.engine, arguments.repetitions)


if __name__ == "__main__":
    main()
