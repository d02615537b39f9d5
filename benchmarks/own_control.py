"""What a call of a user's congestion control costs: wall-clock and processor time of the run, by the calls that it made.

    python benchmarks/own_control.py

Linux's own Reno beside a class that does the same: the difference is what the calls cost.
"""

from __future__ import annotations

import os
import time
from typing import Any

import netlab as nl

REPETITIONS = 5
DURATION_S = 20

calls: list[None] = []


class Reno:
    def on_start(self, flow: Any) -> None:
        self.flow = flow

    def on_ack(self, ack: Any) -> None:
        calls.append(None)
        flow = self.flow
        if not ack.may_grow:
            return
        if flow.cwnd_segments < flow.ssthresh_segments:
            flow.cwnd_segments += ack.delivered_segments
        else:
            flow.cwnd_segments += ack.delivered_segments / flow.cwnd_segments


def cost(control: Any) -> tuple[float, float]:
    """Seconds of the wall's and of processors."""
    network = nl.topologies.dumbbell(pairs=1, rate_mbps=20, delay_ms=25, queue_packets=100)
    wall_s, used = time.monotonic(), os.times()
    nl.run(network, [nl.Tcp("h1", "h2", congestion=control)], DURATION_S, engine="library", progress=False)
    spent = os.times()
    return time.monotonic() - wall_s, sum(spent[:4]) - sum(used[:4])


def main() -> None:
    """Print the least of some repetitions, which other work of the machine disturbs least."""
    cost("reno")
    plain = [cost("reno") for _ in range(REPETITIONS)]
    asked = [cost(Reno) for _ in range(REPETITIONS)]
    each = len(calls) / REPETITIONS
    for what, place in (("wall-clock", 0), ("processor", 1)):
        reno_s, own_s = (min(row[place] for row in rows) for rows in (plain, asked))
        print(
            f"{what}: {reno_s:.3f} s with Linux's Reno, {own_s:.3f} s with a class, {each:.0f} calls: "
            f"{(own_s - reno_s) / each * 1e6:.1f} us a call"
        )


if __name__ == "__main__":
    main()
