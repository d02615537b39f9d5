"""Runs of one scenario in both kernels, compared cell by cell."""

from __future__ import annotations

import copy
import math
import threading
from typing import Any, cast

import netlab as nl
from netlab.engines.base import OnEvent
from netlab.engines.library import LibraryEngine
from netlab.engines.library.requests import POCKET_TIMERS
from netlab.protocol.plan import Outcome, Plan

# Round-trip times of some ms that differ by a microsecond, and rates over times that do.
RELATIVE = 2e-4
ABSOLUTE_MS = 2e-3
# A jitter of less than this is the moments' microsecond.
MOMENTS = {"t_s": 1e-5, "first_s": 1e-5, "last_s": 1e-5, "jitter_ms": 2e-3}
OTHER_MOMENTS = 0.97
"""Sampled so much more often, no sample falls on the beats of the traffic."""


def same(column: str, a: Any, b: Any) -> bool:
    """Whether two cells agree: counts exactly, moments and what follows from them to a microsecond."""
    if not (isinstance(a, float) or isinstance(b, float)) or a is None or b is None:
        return bool(a == b)
    absolute = MOMENTS.get(column, ABSOLUTE_MS if column.endswith("_ms") else 0.0)
    return math.isclose(a, b, rel_tol=RELATIVE, abs_tol=absolute) or (math.isnan(a) and math.isnan(b))


def differences(pocket: nl.Run, library: nl.Run) -> list[str]:
    """Every cell of every table in which the runs differ by more than the moments' microsecond."""
    found = []
    tables = [run.to_dict() for run in (pocket, library)]
    for name in sorted(set(tables[0]) - {"settings"}):
        ours, theirs = (table[name] for table in tables)
        if len(ours) != len(theirs):
            found.append(f"{name}: {len(ours)} rows and {len(theirs)}")
            continue
        for place, (a, b) in enumerate(zip(ours, theirs, strict=True)):
            found += [f"{name} {place} {c}: {a[c]} and {b[c]}" for c in a if not same(c, a[c], b[c])]
    return found


class AsInPocket(LibraryEngine):
    """The library kernel with the pocket kernel's timers, and the traffic beginning when its programs did there.

    User-Mode Linux's timers come 1 ns late and at least 500 ns after they were set, so that programs which wake at one moment
    wake half a microsecond apart; and a Python that waits for an event wakes a microsecond late.

    Parameters
    ----------
    late_s : dict
        By label of the traffic, how much later it began in the pocket kernel.
    """

    def __init__(self, late_s: dict[str, float]) -> None:
        super().__init__(POCKET_TIMERS)
        self._late_s = late_s

    def execute(self, plan: Plan, *, on_event: OnEvent, cancel: threading.Event | None = None) -> Outcome:
        shifted = copy.deepcopy(plan)
        for item in cast("list[dict[str, Any]]", shifted["traffic"]):
            item["start_s"] += self._late_s.get(item["label"], 0.0)
        return super().execute(shifted, on_event=on_event, cancel=cancel)


def lateness(pocket: nl.Run, library: nl.Run) -> dict[str, float]:
    """How much later each flow began in the pocket kernel than in the library kernel, in s: what its programs took."""
    found = {}
    for (label, own), (_, theirs) in zip(pocket.pings.groupby("flow"), library.pings.groupby("flow"), strict=True):
        # The first one also waits for its thread to begin.
        found[label] = float((own.t_s.to_numpy() - theirs.t_s.to_numpy())[min(1, len(own) - 1)])
    firsts = [run.streams.groupby("flow").first_s.min() for run in (pocket, library)]
    for label in firsts[0].index:
        # Less is the timers' grain, which the engine has by itself.
        late_s = float(firsts[0][label] - firsts[1][label])
        if late_s > 2e-7:
            found[label] = late_s
    return found


def explanation(scenario: nl.Scenario, pocket: nl.Run, library: nl.Run) -> str | None:
    """What the difference between two runs is due to, shown by a run without it; None where nothing known explains it."""
    late_s = lateness(pocket, library)

    def differs(from_run: nl.Run, late: dict[str, float]) -> bool:
        return bool(differences(from_run, nl.run(from_run.scenario, engine=AsInPocket(late), progress=False)))

    if not differs(pocket, {}):
        return "the same with the pocket kernel's timers"
    if not differs(pocket, late_s):
        return "the same with the pocket kernel's timers and its programs' moments"
    between = nl.Scenario.from_dict({**scenario.to_dict(), "interval_s": scenario.interval_s * OTHER_MOMENTS})
    if not differs(nl.run(between, engine="pocket", progress=False), late_s):
        return "the same with these when no sample falls on a packet's moment"
    return None
