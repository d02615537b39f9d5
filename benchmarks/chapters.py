"""How long a student waits for the answer of each panel.

    python benchmarks/chapters.py [CHAPTER...]      # such as bdp queues; without one, all

Each control of a panel is moved to its ends and, where it is a list, to every choice; the others stay where they start. A time
runs from the move to the figure, with the panel's own wait for the control to come to rest. Nothing is taken
from earlier runs.
"""

from __future__ import annotations

import importlib
import os
import statistics
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness import cost

from netlab.kernel import cache

ROOT = Path(__file__).resolve().parent.parent


def ends(control: Any) -> Iterator[Any]:
    """Yield the values to try: those that differ from where the control stands."""
    if hasattr(control, "options"):
        values = list(control.options)
    elif hasattr(control, "base"):
        values = [control.base**control.min, control.base**control.max]
    elif hasattr(control, "min"):
        values = [control.min, control.max]
    else:
        values = [not control.value]
    started = control.value
    return (value for value in values if value != started)


def answers(topic: str) -> Iterator[tuple[str, float]]:
    """Yield for each move of a chapter's panel what was moved and the time in s until its figure."""
    panel = importlib.import_module(f"netlab.chapters.{topic}").begin().panel()
    panel.refresh()

    def move(control: Any, value: Any) -> None:
        control.value = value
        panel.wait()

    for name, control in panel.controls.items():
        started = control.value
        for value in ends(control):
            took = cost(lambda control=control, value=value: move(control, value))
            yield f"{name} {value if isinstance(value, (str, bool)) else format(value, '.4g')}", took.wall_s
            if panel.message:
                raise SystemExit(f"{topic}, {name} {value}: {panel.message}")
        move(control, started)
    panel.close()


def panels(chosen: list[str]) -> None:
    """Print a line for each chapter's panel."""
    rooms = sorted((ROOT / "netlab" / "chapters").glob("*/panel.py"))
    print(f"load of the machine {os.getloadavg()[0]:.1f}; the panel's wait for rest is part of each time; goal: 0.5 s")
    print(f"{'panel':<22}{'moves':>6}{'median s':>10}{'longest s':>11}  longest for")
    for topic in chosen or [room.parent.name for room in rooms]:
        times_s = dict(answers(topic))
        longest = max(times_s, key=times_s.__getitem__)
        median_s = statistics.median(times_s.values())
        print(f"{topic:<22}{len(times_s):>6}{median_s:>10.2f}{times_s[longest]:>11.2f}  {longest}", flush=True)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        os.environ.update(NETLAB_SHARED=str(cache.kernels().parent), NETLAB_CACHE=place, NETLAB_PROGRESS="0")
        panels(sys.argv[1:])
