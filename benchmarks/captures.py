"""What a capture costs for each packet that crosses the link: processor time of a run with one less that of the same run without.

    python benchmarks/captures.py [PAIRS]     # default 5

A packet is captured at both ends of the link, so it is two rows of the table. Processor time holds on a busy machine too.
"""

from __future__ import annotations

import os
import resource
import statistics
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
    writing, reading, packets = [], [], 0
    for number in range(1, pairs + 1):
        plain_s, _, _ = measured([])
        captured_s, table_s, packets = measured([nl.Capture("r1", "r2")])
        writing.append((captured_s - plain_s) / packets * 1e6)
        reading.append(table_s / packets * 1e6)
        print(f"pair {number}: {packets} packets, capture {writing[-1]:.2f} us, table {reading[-1]:.2f} us", flush=True)
    total = statistics.median(map(sum, zip(writing, reading, strict=True)))
    print(
        f"A packet costs {statistics.median(writing):.2f} us in the capture (guest and pcapng) and "
        f"{statistics.median(reading):.2f} us in the table, together {total:.2f} us; asked: at most {MOST_US:g} us."
    )
    return 0 if total <= MOST_US else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 5))
