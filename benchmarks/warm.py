"""What a run costs beside its traffic, when a guest waits for it.

    python benchmarks/warm.py [REPETITIONS]     # default 9; on an idle machine

The goals: a small dumbbell's whole run takes 0.25 s, the 15 nodes of the lab `simpleperf` 0.6 s more than their traffic. What
traffic costs is told by a run that lasts twice as long: twice the short one less the long one is what lengthening does not change.
Wall time is what counts; processor time of this process and of the guests it has waited for is printed beside it, because it holds on a
busy machine too.
"""

from __future__ import annotations

import os
import resource
import statistics
import sys
import time

os.environ.update(NETLAB_WARM="1", NETLAB_PROGRESS="0")

import netlab as nl

UNTIL_READY_S = 2.5
"""A guest boots and imports in less; who works in a notebook takes longer between two runs."""


def processor_s() -> float:
    """Processor time in s of this process and of all that it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def timed(network: nl.Topology, traffic: list[nl.Traffic], duration_s: float) -> tuple[float, float]:
    """Wall and processor time in s of a run that finds a guest waiting."""
    time.sleep(UNTIL_READY_S)
    began_s, processor_began_s = time.monotonic(), processor_s()
    nl.run(network, traffic, duration_s=duration_s)
    return time.monotonic() - began_s, processor_s() - processor_began_s


def tell(name: str, walls_s: list[float], processors_s: list[float], goal_s: float) -> bool:
    """Print a median and whether it meets its goal."""
    wall_s = statistics.median(walls_s)
    print(
        f"{name}: {wall_s:.3f} s of wall time (median of {len(walls_s)}, from {min(walls_s):.3f} to {max(walls_s):.3f}), "
        f"{statistics.median(processors_s):.3f} s of processor time; goal {goal_s:g} s: "
        f"{'met' if wall_s <= goal_s else 'missed'}",
        flush=True,
    )
    return wall_s <= goal_s


def main(repetitions: int) -> int:
    """Print both figures; returns an exit code."""
    small = nl.topologies.dumbbell(pairs=1, rate_mbps=5, delay_ms=10, queue_packets=100)
    # A program gets a guest that waits from its second run on.
    for _ in range(2):
        timed(small, [nl.Tcp("h1", "h2")], 10)
    found = [timed(small, [nl.Tcp("h1", "h2")], 10) for _ in range(repetitions)]
    good = tell("A small dumbbell, 10 s", [wall for wall, _ in found], [used for _, used in found], 0.25)

    large, traffic = nl.topologies.portfolio(), [nl.Tcp("h1", "h9")]
    more = []
    for _ in range(repetitions):
        short, long = (timed(large, traffic, duration_s) for duration_s in (10, 20))
        more.append((2 * short[0] - long[0], 2 * short[1] - long[1]))
    name = f"simpleperf's {len(large.nodes)} nodes, beside the traffic"
    good &= tell(name, [wall for wall, _ in more], [used for _, used in more], 0.6)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 9))
