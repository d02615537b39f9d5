"""A made-up class in the contest: how long it takes, and that a second contest gives the same scores to the digit.

    python benchmarks/contest.py [--hand-ins N] [--jobs N] [--output BOARD] [--again N]

Fixed windows and the opponents' own classes with other numbers each, and a tenth of hand-ins that fail. `--again` races so many of them a
second time. The last line is "all as it must be", or what is not; the exit code follows it.
"""

from __future__ import annotations

import argparse
import inspect
import os
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from netlab.contest import board, contest, race  # noqa: E402
from netlab.contest.opponents import OPPONENTS  # noqa: E402

SEED = "benchmark"
OWN = [inspect.getsource(opponent) for opponent in OPPONENTS.values()]
ENDS = (2, 12), (0.5, 2.0), (0.4, 0.9)
FIXED = """
class Fixed:
    def on_start(self, flow):
        flow.cwnd_segments = {window}

    def on_ack(self, ack):
        pass
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
        window, queued, gain, kept = chance.choice((4, 8, 16, 32, 64, 128)), *(chance.uniform(*ends) for ends in ENDS)
        source = (FIXED.format(window=window), *OWN)[each % 4]
        for before, after in {
            ": Any": "",
            "SMALLEST_SEGMENTS": "4",
            "QUEUED_SEGMENTS = 4.0": f"QUEUED_SEGMENTS = {queued:.1f}",
            "GAIN = 10, 1.1": f"GAIN = 10, {gain:.2f}",
            "0.75 *": f"{kept:.2f} *",
        }.items():
            source = source.replace(before, after)
        found[f"student-{each:02d}"] = FAILING[each // 10 % len(FAILING)] if each % 10 == 9 else source
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
        statuses = [row["status"] for row in held.rows if row["status"] in (race.RACED, race.FAILED, race.NOT_TAKEN)]
        print(
            f"{len(held.rows)} hand-ins, {options.jobs} side by side, load {load:.1f}: {wall_s:.0f} s; {Counter(statuses)}"
        )
        for row in [*held.rows[:5], *held.landmarks]:
            print(f"  {row['student']:12} {row['class']:10} {row['total']:6.2f}")
        if len(statuses) != options.hand_ins:
            wrong.append("a hand-in has no row, or one that was no fault of its own")
        some = [row for row in held.rows if row["status"] == race.RACED][: options.again]
        if some:
            paths = [place / "in" / f"{row['student']}.py" for row in some]
            again = contest.hold(paths, place / "again", seed=SEED, jobs=options.jobs)
            scores = {row["student"]: row["scores"] for row in again.rows}
            others = [row["student"] for row in some if scores[row["student"]] != row["scores"]]
            wrong += [f"{student} has other scores the second time" for student in others]
    print("all as it must be" if not wrong else "\n".join(f"WRONG: {each}" for each in wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
