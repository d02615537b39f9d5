"""What a capture costs for each packet that crosses the link: processor time of a run with one less that of the same run without.

    python benchmarks/captures.py [PAIRS]     # default 5

A packet is captured at both ends of the link, so it is two rows of the table. Other programs can only add to a run's processor time
(they take its caches), so the least of several counts.
"""

from __future__ import annotations

import os
import resource
import sys

# A guest that waits for the next run would be counted with the wrong one.
os.environ.update(NETLAB_WARM="0", NETLAB_PROGRESS="0")

import netlab as nl

DURATION_S = 10.0
MOST_US = 5.0


def processor_s() -> float:
    """Processor time in s of this process and of all that it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def measured(captures: list[nl.Capture]) -> tuple[float, float, int]:
    """Processor time in s of a run and of reading its table, and the packets in it."""
    network = nl.topologies.dumbbell(pairs=1, rate_mbps=100, delay_ms=5, queue_packets=200)
    began_s = processor_s()
    run = nl.run(network, [nl.Tcp("h1", "h2")], duration_s=DURATION_S, captures=captures)
    ran_s = processor_s()
    packets = run.packets
    return ran_s - began_s, processor_s() - ran_s, int(packets.departs.sum())


def main(pairs: int) -> int:
    """Print the cost per packet; returns an exit code."""
    measured([nl.Capture("r1", "r2")])
    plain, captured, reading, packets = [], [], [], 0
    for number in range(1, pairs + 1):
        plain_s, _, _ = measured([])
        captured_s, table_s, packets = measured([nl.Capture("r1", "r2")])
        plain.append(plain_s)
        captured.append(captured_s)
        reading.append(table_s)
        print(
            f"pair {number}: {packets} packets, {plain_s:.2f} s without, {captured_s:.2f} s with, table {table_s:.2f} s",
            flush=True,
        )
    writing_us, reading_us = (min(captured) - min(plain)) / packets * 1e6, min(reading) / packets * 1e6
    total_us = writing_us + reading_us
    print(
        f"A packet costs {writing_us:.2f} us in the capture (guest and pcapng) and {reading_us:.2f} us in the table, "
        f"together {total_us:.2f} us; asked: at most {MOST_US:g} us."
    )
    return 0 if total_us <= MOST_US else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 5))
