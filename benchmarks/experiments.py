"""How long an experiment takes in the pocket kernel: its start-up, its traffic, a run that finds a guest waiting, a capture.

    python benchmarks/experiments.py            # all tables, about five minutes; on an idle machine
    python benchmarks/experiments.py --quick    # 2 s of network time instead of 10, and one repetition
    python benchmarks/experiments.py start traffic waiting captures     # by name

Each number is the median of repetitions in turns. Goals: a small dumbbell's whole run in 0.25 s of wall-clock time when a guest
waits for it, the 15 nodes of the lab `simpleperf` 0.6 s more than their traffic, 5 us of processor time for a captured packet.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time

from harness import cost, in_turns, table

import netlab as nl
from netlab import engines, kernel

os.environ["NETLAB_PROGRESS"] = "0"

FLOWS = (1, 8, 64)
RATES_MBPS = (10, 100, 1000)
DELAY_MS = 10
PACKET_BITS = 1500 * 8
UNTIL_READY_S = 2.5
"""A guest boots and imports in less; who works in a notebook takes longer between two runs."""
SMALL = nl.topologies.dumbbell(pairs=1, rate_mbps=5, delay_ms=10, queue_packets=100)
LARGE = nl.topologies.portfolio()
FAST = nl.topologies.dumbbell(pairs=1, rate_mbps=100, delay_ms=5, queue_packets=200)


def scenario(flows: int, rate_mbps: float, duration_s: float) -> nl.Scenario:
    """`flows` TCP connections through one bottleneck with a queue of one BDP (at least 100 packets)."""
    queue = max(100, round(rate_mbps * 1e6 * 2 * DELAY_MS / 1000 / PACKET_BITS))
    topology = nl.topologies.dumbbell(pairs=1, rate_mbps=rate_mbps, delay_ms=DELAY_MS, queue_packets=queue)
    return nl.Scenario(topology, [nl.Tcp("h1", "h2", streams=flows)], duration_s=duration_s)


def phases(what: nl.Scenario) -> list[float]:
    """Wall seconds of one run: to its network and first traffic, the rest of its traffic, the end."""
    heard: list[float] = []
    began = time.monotonic()
    engines.choose().execute(what.plan(), on_progress=lambda _t_s: heard.append(time.monotonic()))
    marks = [began, heard[0], heard[-1], time.monotonic()]
    return [after - before for before, after in zip(marks, marks[1:])]  # noqa: B905, RUF007


def boot_s() -> list[float]:
    """Wall seconds from starting the kernel to its first process, which ends at once (and the kernel with it)."""
    options = "mem=256M root=/dev/root rootfstype=hostfs rootflags=/ ro quiet con=null seccomp=auto"
    with tempfile.TemporaryDirectory() as place:
        words = [str(kernel.find().path), *options.split(), f"uml_dir={place}", "time-travel=inf-cpu", "init=/bin/true"]
        quiet = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
        return [cost(lambda: subprocess.run(words, env={"TMPDIR": place}, **quiet)).wall_s]


def start(_duration_s: float, repetitions: int) -> None:
    """Where start-up time goes."""
    table("Start-up", ["to init, s"], in_turns({"kernel to its first process": boot_s}, repetitions))
    many = nl.Scenario(LARGE, [nl.Ping("h1", "h9")], duration_s=0.1)
    contestants = {
        "dumbbell, 4 nodes": lambda: phases(scenario(1, 10, 0.1)),
        "simpleperf, 15 nodes": lambda: phases(many),
    }
    columns = ["network s", "traffic s", "tables s"]
    table("Start-up by phase", columns, in_turns(contestants, repetitions))


def traffic(duration_s: float, repetitions: int) -> None:
    """Wall seconds for each second of network time."""
    contestants = {
        f"flows {flows}, {rate} Mbit/s": lambda flows=flows, rate=rate: [
            phases(scenario(flows, rate, duration_s))[1] / duration_s
        ]
        for flows in FLOWS
        for rate in RATES_MBPS
    }
    title = f"Traffic ({duration_s:g} s of TCP through one bottleneck, RTT 20 ms)"
    table(title, ["wall s / s"], in_turns(contestants, repetitions), ratio="flows 1, 10 Mbit/s")


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


PARTS = {"start": start, "traffic": traffic, "waiting": waiting, "captures": captures}


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="which tables; all by default")
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    for name in arguments.parts or PARTS:
        PARTS[name](*((2.0, 1) if arguments.quick else (10.0, 3)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
