"""How long an experiment takes in the pocket kernel: a run that finds a guest waiting, a capture.

    python benchmarks/experiments.py            # both, on an idle machine
    python benchmarks/experiments.py --quick    # 2 s of network time instead of 10, and one repetition
    python benchmarks/experiments.py captures   # by name: waiting, captures

Each number is the median of repetitions in turns. Goals: a small dumbbell's whole run in 0.25 s of wall-clock time when a guest
waits for it, the 15 nodes of the lab `simpleperf` 0.6 s more than their traffic, 5 us of processor time for a captured packet.
"""

from __future__ import annotations

import argparse
import os
import time

from harness import cost, in_turns, table

import netlab as nl

os.environ["NETLAB_PROGRESS"] = "0"

UNTIL_READY_S = 2.5
"""A guest boots and imports in less; who works in a notebook takes longer between two runs."""
SMALL = nl.topologies.dumbbell(pairs=1, rate_mbps=5, delay_ms=10, queue_packets=100)
LARGE = nl.topologies.portfolio()
FAST = nl.topologies.dumbbell(pairs=1, rate_mbps=100, delay_ms=5, queue_packets=200)


def waiting(duration_s: float, repetitions: int) -> None:
    """What a run costs that finds a guest waiting; traffic's part is told by a run that lasts twice as long."""
    os.environ["NETLAB_WARM"] = "1"

    def timed(network: nl.Topology, flow: nl.Tcp, seconds: float) -> tuple[float, float]:
        time.sleep(UNTIL_READY_S)
        return cost(lambda: nl.run(network, [flow], duration_s=seconds))

    def beside_traffic() -> list[float]:
        short, long = (timed(LARGE, nl.Tcp("h1", "h9"), seconds) for seconds in (duration_s, 2 * duration_s))
        return [2 * once - twice for once, twice in zip(short, long, strict=True)]

    def small() -> tuple[float, float]:
        return timed(SMALL, nl.Tcp("h1", "h2"), duration_s)

    # A program gets a guest that waits from its second run on.
    in_turns({"": small}, 2)
    contestants = {"a small dumbbell (goal 0.25)": small, "15 nodes, beside the traffic (goal 0.6)": beside_traffic}
    table("A run that finds a guest waiting", ["wall s", "processor s"], in_turns(contestants, repetitions))


def captures(duration_s: float, repetitions: int) -> None:
    """What a packet costs that crosses a captured link: other programs only add, so the least of several runs counts."""
    # A guest that waits for the next run would be counted with the wrong one.
    os.environ["NETLAB_WARM"] = "0"
    kept: list[nl.Run] = []

    def ran_s(wanted: list[nl.Capture]) -> float:
        kept.clear()
        return cost(
            lambda: kept.append(nl.run(FAST, [nl.Tcp("h1", "h2")], duration_s=duration_s, captures=wanted))
        ).cpu_s

    def with_one() -> tuple[float, float]:
        return ran_s([nl.Capture("r1", "r2")]), cost(lambda: kept[0].packets).cpu_s

    found = in_turns({"without": lambda: (ran_s([]), 0.0), "with": with_one}, max(2, repetitions))
    packets = int(kept[0].packets.departs.sum())
    least = {name: [min(column) for column in zip(*rows, strict=True)] for name, rows in found.items()}
    writing_us = (least["with"][0] - least["without"][0]) / packets * 1e6
    reading_us = least["with"][1] / packets * 1e6
    print(
        f"\n{packets} packets: {writing_us:.2f} us each in the capture, {reading_us:.2f} us in the table; goal 5 us together"
    )


PARTS = {"waiting": waiting, "captures": captures}


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="which tables; all by default")
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    for name in arguments.parts or PARTS:
        PARTS[name](*((2.0, 1) if arguments.quick else (10.0, 3)))


if __name__ == "__main__":
    main()
