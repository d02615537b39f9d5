"""Draw the traces that netlab brings along: `python tools/traces.py` writes netlab/network/traces/*.json, the same bytes each time.

They are synthetic. Each is a random walk of the logarithm of the rate, in steps of 100 ms, with outages; medians, spreads, and
how long rates and outages last are chosen to look like such links, not measured on one.
"""

from __future__ import annotations

import json
import math
import random
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent.parent / "netlab/network/traces"
STEP_S = 0.1


@dataclass(frozen=True)
class Kind:
    """The kind of variation of a link's rate.

    Parameters
    ----------
    duration_s : int
    median_mbps : float
    spread : float
        Standard deviation of the rate's natural logarithm.
    memory_s : float
        Time after which the rate has forgotten what it was (to 1/e).
    outages_per_minute, outage_s : float
        Rate of the times without transmission, and their mean length.
    most_mbps : float
    """

    duration_s: int
    median_mbps: float
    spread: float
    memory_s: float
    outages_per_minute: float
    outage_s: float
    most_mbps: float


KINDS = {
    "walk_4g": Kind(60, 14, 0.5, 3.0, 0, 0, 60),
    "train": Kind(120, 9, 0.9, 6.0, 2.5, 2.0, 50),
    "crowded_wifi": Kind(60, 6, 0.8, 0.4, 20, 0.2, 40),
}


def rates(kind: Kind, chance: random.Random) -> list[float]:
    """A rate in Mbit/s for each step."""
    keep = math.exp(-STEP_S / kind.memory_s)
    level, left, found = chance.gauss(0, 1), 0, []
    for _ in range(round(kind.duration_s / STEP_S)):
        level = keep * level + math.sqrt(1 - keep**2) * chance.gauss(0, 1)
        if not left and chance.random() < kind.outages_per_minute / 60 * STEP_S:
            left = max(1, round(chance.expovariate(1 / kind.outage_s) / STEP_S))
        if left:
            left -= 1
            found.append(0.0)
        else:
            found.append(round(min(kind.most_mbps, kind.median_mbps * math.exp(kind.spread * level)), 2))
    return found


def main() -> None:
    """Write every trace."""
    FOLDER.mkdir(exist_ok=True)
    for name, kind in KINDS.items():
        steps: list[list[float]] = []
        for place, mbps in enumerate(rates(kind, random.Random(name))):  # noqa: S311 (no secret)
            if not steps or steps[-1][1] != mbps:
                steps.append([round(place * STEP_S, 1), mbps])
        words = {"trace": steps, "duration_s": kind.duration_s}
        (FOLDER / f"{name}.json").write_text(json.dumps(words, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
