"""How long an experiment takes: wall seconds per network second, and where start-up time goes.

    python benchmarks/experiments.py            # the whole table, about two minutes
    python benchmarks/experiments.py --quick

Each figure is the median of interleaved repetitions in one run; the last column compares it with 1 flow at 10 Mbit/s.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from typing import Any

import netlab as nl
from netlab import engines, kernel

FLOWS = (1, 8, 64)
RATES_MBPS = (10, 100, 1000)
DELAY_MS = 10
PACKET_BITS = 1500 * 8


def scenario(flows: int, rate_mbps: float, duration_s: float) -> nl.Scenario:
    """`flows` TCP connections through one bottleneck with a queue of one BDP (at least 100 packets)."""
    queue = max(100, round(rate_mbps * 1e6 * 2 * DELAY_MS / 1000 / PACKET_BITS))
    topology = nl.topologies.dumbbell(pairs=1, rate_mbps=rate_mbps, delay_ms=DELAY_MS, queue_packets=queue)
    return nl.Scenario(topology, [nl.Tcp("h1", "h2", streams=flows)], duration_s=duration_s)


def phases(what: nl.Scenario) -> dict[str, float]:
    """Wall seconds of one run by phase: up to the agent's first line, its nodes, its network, its traffic, the rest."""
    heard: dict[str, float] = {}

    def note(event: dict[str, Any]) -> None:
        heard.setdefault(event["event"], time.monotonic())

    began = time.monotonic()
    engines.choose().execute(what.plan(), on_event=note)
    marks = [
        ("to the agent's first line", "agent"),
        ("Mininet and its nodes", "nodes"),
        ("links, addresses, shaping", "network"),
        ("traffic", "done"),
    ]
    found = {}
    for name, event in marks:
        found[name] = heard[event] - began - sum(found.values())
    found["power off, reading the result"] = time.monotonic() - began - sum(found.values())
    return found


def boot_s() -> float:
    """Wall seconds from starting the kernel to its first process, which ends at once (and the kernel with it)."""
    with tempfile.TemporaryDirectory() as directory:
        command = [
            str(kernel.find().path),
            "mem=256M",
            "root=/dev/root",
            "rootfstype=hostfs",
            "rootflags=/",
            "ro",
            "quiet",
            "con=null",
            f"uml_dir={directory}",
            "seccomp=auto",
            "time-travel=inf-cpu",
            "init=/bin/true",
        ]
        began = time.monotonic()
        subprocess.run(
            command,
            env={"TMPDIR": directory},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        return time.monotonic() - began


def main() -> int:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="2 network seconds instead of 10, and one repetition")
    quick = parser.parse_args().quick
    duration_s, repetitions = (2.0, 1) if quick else (10.0, 3)

    print("Start-up (wall seconds, median)")
    boots = [boot_s() for _ in range(5)]
    print(f"  {'kernel to its first process':34} {statistics.median(boots):7.3f}")
    for name, what in (
        ("dumbbell, 4 nodes", scenario(1, 10, 0.1)),
        ("simpleperf, 15 nodes", nl.Scenario(nl.topologies.portfolio(), [nl.Ping("h1", "h9")], duration_s=0.1)),
    ):
        rows = [phases(what) for _ in range(repetitions)]
        print(f"  {name}")
        for phase in rows[0]:
            print(f"    {phase:32} {statistics.median(row[phase] for row in rows):7.3f}")

    print(f"\nTraffic: wall seconds per network second ({duration_s:g} s of TCP through one bottleneck, RTT 20 ms)")
    print(f"  {'flows':>5} {'Mbit/s':>7} {'wall s / s':>11} {'ratio':>7} {'goodput Mbit/s':>15}")
    times: dict[tuple[int, float], list[float]] = defaultdict(list)
    for _ in range(repetitions):
        for flows in FLOWS:
            for rate_mbps in RATES_MBPS:
                traffic_s = phases(scenario(flows, rate_mbps, duration_s))["traffic"]
                times[flows, rate_mbps].append(traffic_s / duration_s)
    base = statistics.median(times[1, 10])
    for (flows, rate_mbps), seen in times.items():
        middle = statistics.median(seen)
        run = nl.run(scenario(flows, rate_mbps, duration_s), progress=False)
        print(f"  {flows:5} {rate_mbps:7} {middle:11.4f} {middle / base:7.2f} {run.flows.goodput_mbps[0]:15.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
