"""A made-up class in the contest: how long it takes, and that a second contest gives the same scores to the digit.

    python benchmarks/contest.py [--hand-ins N] [--jobs N] [--output BOARD] [--again N]

Fixed windows, AIMD, delay and rate with other figures each, and a tenth of hand-ins that fail. `--again` races so many of them a
second time. The last line is "all as it must be", or what is not; the exit code follows it.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from netlab.contest import board, contest, race  # noqa: E402

SEED = "benchmark"
FIXED = """
class Fixed{number}:
    def on_start(self, flow):
        flow.cwnd_segments = {window}

    def on_ack(self, ack):
        pass
"""
AIMD = """
class Aimd{number}:
    def on_start(self, flow):
        self.flow = flow

    def on_ack(self, ack):
        flow = self.flow
        if ack.may_grow and flow.cwnd_segments < flow.ssthresh_segments:
            flow.cwnd_segments += ack.delivered_segments
        elif ack.may_grow:
            flow.cwnd_segments += {gain} * ack.delivered_segments / flow.cwnd_segments

    def on_loss(self, loss):
        flow = self.flow
        flow.ssthresh_segments = flow.cwnd_segments = max(2, {kept} * flow.cwnd_segments)
"""
DELAY = """
class Delay{number}:
    def on_start(self, flow):
        self.flow = flow

    def on_ack(self, ack):
        flow = self.flow
        if ack.rtt_ms is None:
            return
        queued = flow.cwnd_segments * (1 - ack.rtt_min_ms / ack.rtt_ms)
        if queued > {queued}:
            flow.ssthresh_segments = min(flow.ssthresh_segments, flow.cwnd_segments)
            flow.cwnd_segments = max(2, flow.cwnd_segments - ack.delivered_segments / flow.cwnd_segments)
        elif flow.cwnd_segments < flow.ssthresh_segments:
            flow.cwnd_segments += ack.delivered_segments
        else:
            flow.cwnd_segments += {gain} * ack.delivered_segments / flow.cwnd_segments

    def on_loss(self, loss):
        flow = self.flow
        flow.ssthresh_segments = flow.cwnd_segments = max(2, {kept} * flow.cwnd_segments)
"""
RATE = """
class Rate{number}:
    def on_start(self, flow):
        self.flow, self.rates = flow, []

    def on_ack(self, ack):
        flow = self.flow
        if ack.rtt_min_ms is None:
            return
        self.rates = [*self.rates[-{kept_rates}:], ack.delivery_rate_mbps]
        bdp = max(self.rates) * 1000 * ack.rtt_min_ms / 8 / flow.mss_bytes
        if flow.cwnd_segments < flow.ssthresh_segments:
            flow.cwnd_segments += ack.delivered_segments
            if flow.cwnd_segments > 2 * bdp + 8:
                flow.ssthresh_segments = 4
        else:
            flow.cwnd_segments = max(4, {gain} * bdp + 2)

    def on_loss(self, loss):
        self.flow.ssthresh_segments = 4
"""
FAILING = (
    "class Typo:\n    def on_acks(self, ack):\n        pass\n",
    "class Raises:\n    def on_ack(self, ack):\n        return ack.rtt\n",
    "class Loops:\n    def on_ack(self, ack):\n        while True:\n            pass\n",
    "My control looks at the delay.\n",
)


def hand_ins(number: int) -> dict[str, str]:
    """So many hand-ins, the same each time."""
    chance = random.Random(1)  # noqa: S311 (no secret)
    found = {}
    for each in range(number):
        figures = {
            "number": each,
            "window": chance.choice((4, 8, 16, 32, 64, 128)),
            "gain": round(chance.uniform(0.5, 2.0), 2),
            "kept": round(chance.uniform(0.4, 0.9), 2),
            "queued": chance.randint(2, 12),
            "kept_rates": chance.choice((50, 100, 200)),
        }
        source = FAILING[each // 10 % len(FAILING)] if each % 10 == 9 else (FIXED, AIMD, DELAY, RATE)[each % 4]
        found[f"student-{each:02d}"] = source if each % 10 == 9 else source.format(**figures)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hand-ins", type=int, default=40)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--output", type=Path)
    parser.add_argument("--again", type=int, default=4)
    options = parser.parse_args()
    wrong: list[str] = []
    with tempfile.TemporaryDirectory(prefix="netlab-contest-class-") as name:
        place = Path(name)
        output = options.output or place / "board"
        (place / "in").mkdir()
        for student, source in hand_ins(options.hand_ins).items():
            (place / "in" / f"{student}.py").write_text(source)
        began_s, load = time.monotonic(), os.getloadavg()[0]
        held = contest.hold([place / "in"], output, seed=SEED, jobs=options.jobs)
        wall_s = time.monotonic() - began_s
        board.write(held, output)
        statuses = {
            status: sum(row["status"] == status for row in held.rows)
            for status in (race.RACED, race.FAILED, race.NOT_TAKEN)
        }
        print(
            f"{len(held.rows)} hand-ins, {options.jobs} side by side, load {load:.1f}: {wall_s:.0f} s of wall time; {statuses}"
        )
        for row in [*held.rows[:5], *held.landmarks]:
            print(f"  {row['student']:12} {row['class']:10} {row['total']:6.2f}")
        if sum(statuses.values()) != options.hand_ins:
            wrong.append("a hand-in has no row, or one that was no fault of its own")
        some = [row for row in held.rows if row["status"] == race.RACED][: options.again]
        if some:
            paths = [place / "in" / f"{row['student']}.py" for row in some]
            again = contest.hold(paths, place / "again", seed=SEED, jobs=options.jobs)
            scores = {row["student"]: row["scores"] for row in again.rows}
            wrong += [
                f"{row['student']} has other scores the second time"
                for row in some
                if scores[row["student"]] != row["scores"]
            ]
    print("all as it must be" if not wrong else "\n".join(f"WRONG: {each}" for each in wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
