"""How long whole runs take in the library kernel, beside the pocket kernel: wall and processor seconds.

    python benchmarks/library.py                      # every row in the library kernel
    python benchmarks/library.py --engine library pocket   # side by side (the large rows take minutes in the pocket kernel)
    python benchmarks/library.py --rows small one     # rows by the words they begin with
    python benchmarks/library.py --calls              # what a call of a user's congestion control costs

Each number is the median of interleaved repetitions of a whole `nl.run` in one warm process. Processor time, of this process and of
the kernel's, does not change with what else the machine does as much as wall time.
"""

from __future__ import annotations

import argparse
from typing import Any

from harness import Cost, cost, in_turns, table

import netlab as nl

REPETITIONS = 3
DELAY_MS = 10


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
    spent = cost(lambda: found.append(nl.run(row, engine=engine, progress=False)))
    return *spent, float(found[0].flows.goodput_mbps.sum())


def side_by_side(names: list[str], engines: list[str], repetitions: int) -> None:
    """Every row in every engine, in turns."""
    for engine in engines:
        measure(scenario(1, 5, 1), engine)
    contestants = {
        f"{name} ({engine})": lambda name=name, engine=engine: measure(ROWS[name], engine)
        for name in names
        for engine in engines
    }
    table("Whole runs", ["wall s", "cpu s", "Mbit/s"], in_turns(contestants, repetitions))


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


def calls(repetitions: int) -> None:
    """Print what a call costs: the least of the repetitions, which other work of the machine disturbs least."""
    network = nl.topologies.dumbbell(pairs=1, rate_mbps=20, delay_ms=25, queue_packets=100)

    def measured(control: Any) -> Cost:
        flows = [nl.Tcp("h1", "h2", congestion=control)]
        return cost(lambda: nl.run(network, flows, 20, engine="library", progress=False))

    found = in_turns({"reno": lambda: measured("reno"), "own": lambda: measured(Reno)}, repetitions)
    each = Reno.calls / repetitions
    for place, what in enumerate(("wall-clock", "processor")):
        reno_s, own_s = (min(row[place] for row in found[name]) for name in ("reno", "own"))
        print(
            f"{what}: Linux's {reno_s:.3f} s, a class {own_s:.3f} s, {1e6 * (own_s - reno_s) / each:.1f} us for each of {each:.0f} calls"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", nargs="+", default=["library"], choices=("library", "pocket"))
    parser.add_argument("--rows", nargs="*", default=[], metavar="WORD")
    parser.add_argument("--repetitions", type=int, default=REPETITIONS)
    parser.add_argument("--calls", action="store_true")
    arguments = parser.parse_args()
    if arguments.calls:
        calls(arguments.repetitions)
        return
    names = [name for name in ROWS if not arguments.rows or name.partition(":")[0] in arguments.rows]
    side_by_side(names, arguments.engine, arguments.repetitions)


if __name__ == "__main__":
    main()
