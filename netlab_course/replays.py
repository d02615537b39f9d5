"""Repetition of a student's runs by a check: with the same seed a run gives the same numbers, so invented ones differ."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from netlab import engines
from netlab.base.errors import NetlabError
from netlab.measure.results import Run
from netlab.runs.replications import Interval, interval, table_of
from netlab.runs.scenario import Scenario
from netlab.runs.sweeps import sweep
from netlab.traffic.own import CLASS_PREFIX
from netlab_course import cell_history
from netlab_course.answers import with_unit

TOGETHER = 3
"""The number of seeds of a table that are run again at once, and the least number."""
MAX_S = 3.0
"""The time in s after which no more seeds are run again: most tables of a class take less for all of their seeds."""
MAX_BELOW = 0.01
"""The relative error by which a measured time may be below one that nothing can beat."""
OTHER_SEEDS = 20
"""The number of runs with which a table with seeds of the student's choice is compared."""
MAX_DISTANCE = 1.5
"""The distance of both means in half widths of their difference, which honest seeds exceed in 1 of about 300 tables."""
AS_MEASURED = "hand over the table as nl.repeat(...) returned it."
_OFF = 1e-6
_COMPARED_TABLES = ("flows", "intervals", "queues", "requests")
"""The tables of a run that are compared when it is run again."""
_ROUNDED_OFF = 0.005
"""The relative error up to which a value that differs may have been rounded."""
Replay = Callable[[Mapping[int, Scenario]], Mapping[int, Run]]
"""Runs scenarios again, by seed."""


def run_again(scenarios: Mapping[int, Scenario]) -> dict[int, Run]:
    """Run scenarios, given by seed, or take their runs from the cache, and return them by seed; none if they cannot be
    run here or a clock in real time would give other numbers. A grader makes all runs itself and does not call this.
    """
    if engines.clock() != "virtual":
        return {}
    try:
        return sweep(scenarios, progress=False)
    except NetlabError:
        return {}


def invented_value(
    table: pd.DataFrame, values: Callable[[pd.DataFrame], pd.Series[float]], replay: Replay
) -> tuple[int, float, float] | None:
    """Run seeds of a table of `netlab.repeat` again, the three whose values are furthest from the median first, then three
    drawn ones, and then others for MAX_S seconds; return the first whose value differs, with the table's value and the
    repeated one. None if all agree, or if the scenario cannot be repeated. `values` returns a value for each seed of a
    table.
    """
    described = _repeatable_scenario(table)
    if described is None:
        return None
    given = {int(seed): float(values(table[table["seed"] == seed]).iloc[0]) for seed in table["seed"].unique()}
    furthest = _furthest_first(given)
    others = furthest[TOGETHER:]
    random.Random(str(sorted(given.items()))).shuffle(others)  # noqa: S311 (of equal tables the same are drawn)
    seeds = furthest[:TOGETHER] + others
    began_s = time.monotonic()
    for first in range(0, len(seeds), TOGETHER):
        if first > TOGETHER and time.monotonic() - began_s >= MAX_S:
            break
        runs = replay({seed: replace(described, seed=seed) for seed in seeds[first : first + TOGETHER]})
        if not runs:
            break
        for seed, run in runs.items():
            (again,) = values(table_of(table.attrs["scenario"], {seed: run}))
            if not np.isclose(given[seed], again, rtol=_OFF, equal_nan=True):
                return seed, given[seed], float(again)
    return None


def doubt_about_tables(
    tables: Mapping[str, pd.DataFrame],
    values: Callable[[pd.DataFrame], pd.Series[float]],
    unit: str,
    replay: Replay,
    number: float | None = None,
) -> str:
    """Return a sentence on the first of some tables of `netlab.repeat`, given by name, with gaps between its seeds, with a
    value that is another one when it is measured again (see `invented_value`) or with seeds that were chosen by their
    results (see `mean_of_other_seeds`); "" if there is none. The values have the unit `unit`, and so has `number`, with
    which their mean is compared (None: with nothing).
    """
    for name, table in tables.items():
        gaps = seeds_in_a_row_problem(table, name)
        if gaps:
            return gaps
        if not _own_classes_named(table.attrs["scenario"]) and _repeatable_scenario(table) is None:
            return f"the scenario of {name} cannot be run again: {AS_MEASURED}"
        differing = invented_value(table, values, replay)
        if differing is not None:
            seed, given, again = differing
            told = (
                f"{with_unit(given, unit, again)} in {name}, and {with_unit(again, unit, given)} when it is run again"
            )
            classes = ", with your classes as they are now" if _own_classes(table.attrs["scenario"]) else ""
            rounded = " Was it rounded?" if math.isclose(given, again, rel_tol=_ROUNDED_OFF) else ""
            return f"seed {seed} has {told}{classes}: {AS_MEASURED}{rounded}"
        other = mean_of_other_seeds(table, values, replay, number)
        if other is not None:
            own = interval(values(table))
            return (
                f"the mean of {name} is {own} {unit}".rstrip()
                + f", and that of the seeds 1 to {OTHER_SEEDS} is {other}: choose seeds before you see their results."
            )
    return ""


def mean_of_other_seeds(
    table: pd.DataFrame,
    values: Callable[[pd.DataFrame], pd.Series[float]],
    replay: Replay,
    number: float | None = None,
) -> Interval | None:
    """Run the scenario of a table of `netlab.repeat` with the seeds 1 to OTHER_SEEDS, and return the interval of these
    values if it disagrees with the interval of the table's: both are farther apart than chance explains, or they lie on
    opposite sides of `number` (None: no side matters). None if both agree, the table's own seeds begin with 1, or the
    scenario cannot be repeated.
    """
    if table["seed"].min() == 1:
        return None
    described = _repeatable_scenario(table)
    if described is None:
        return None
    runs = replay({seed: replace(described, seed=seed) for seed in range(1, OTHER_SEEDS + 1)})
    if len(runs) < OTHER_SEEDS:
        return None
    own, other = interval(values(table)), interval(values(table_of(table.attrs["scenario"], runs)))
    allowed = MAX_DISTANCE * float(np.hypot(own.half_width, other.half_width)) + _OFF * abs(other.mean)
    differs = abs(own.mean - other.mean) > allowed
    if number is not None:
        differs |= _side(own, number) * _side(other, number) < 0
    return other if differs else None


def seeds_in_a_row_problem(table: pd.DataFrame, name: str) -> str:
    """Return a sentence on a table of `netlab.repeat`, called `name`, with gaps between its seeds, because a seed that was
    left out may have had a large or small value; "" if it has none.
    """
    seeds = table["seed"]
    has_gaps = seeds.max() - seeds.min() + 1 != seeds.nunique()
    return f"{name} must have seeds in a row, such as seeds=12: some are left out." if has_gaps else ""


def unexpected_pilot(table: pd.DataFrame, name: str) -> str:
    """Return a sentence on a pilot, called `name` and made by `netlab.repeat`, whose seeds are not 1, 2, 3 and so on: a
    scatter that plans the runs must not be chosen; "" if they are.
    """
    seeds = sorted(int(seed) for seed in table["seed"].unique())
    if seeds == list(range(1, len(seeds) + 1)):
        return ""
    return f"{name} must have the seeds 1 to {len(seeds)} (seeds={len(seeds)}), whatever they bring, got {', '.join(map(str, seeds))}."


def _side(found: Interval, number: float) -> int:
    """Return 1 if an interval lies above a number, -1 if it lies below, and 0 if it holds it."""
    return int(found.mean - found.half_width > number) - int(found.mean + found.half_width < number)


def _own_classes(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the classes of the notebook, by name, that control a flow in the dict of a scenario."""
    found = {name: cell_history.notebook_value(name) for name in _own_classes_named(document)}
    return {name: value for name, value in found.items() if isinstance(value, type)}


def _own_classes_named(document: Mapping[str, Any]) -> set[str]:
    """Return the names of the user's classes that control a flow in the dict of a scenario."""
    controls = {str(item.get("congestion", "")) for item in document.get("traffic", ())}
    return {control.removeprefix(CLASS_PREFIX) for control in controls if control.startswith(CLASS_PREFIX)}


def _repeatable_scenario(table: pd.DataFrame) -> Scenario | None:
    """Return the scenario of a table of `netlab.repeat`, with the notebook's own classes where it has the names of
    such; None if it cannot be repeated.
    """
    document = table.attrs["scenario"]
    classes = _own_classes(document)
    traffic = [
        {**item, "congestion": classes.get(str(item["congestion"]).removeprefix(CLASS_PREFIX), item["congestion"])}
        if "congestion" in item
        else item
        for item in document.get("traffic", ())
    ]
    try:
        return Scenario.from_dict({**document, "traffic": traffic})
    except NetlabError:
        return None


def _furthest_first(given: Mapping[int, float]) -> list[int]:
    """Return the seeds of measured values, given by seed, in the order of the distances of these from their median: a
    value that was edited so that the mean changes is far from it. Those that are not finite come first.
    """
    middle = float(np.nanmedian(list(given.values()))) if not all(map(math.isnan, given.values())) else 0.0
    distances = {seed: abs(value - middle) if math.isfinite(value) else math.inf for seed, value in given.items()}
    return sorted(given, key=lambda seed: (-distances[seed], seed))


def differs_when_run_again(run: Run, replay: Replay) -> bool:
    """Return whether the flows, intervals, queues or requests of a run differ when its scenario is run again; False if it
    cannot be, or was run by another engine or with classes of the user's own.
    """
    try:
        scenario = Scenario.from_dict(run.scenario)
        again = replay({scenario.seed: scenario}).get(scenario.seed)
    except NetlabError:
        return False
    if again is None or again.settings.get("engine") != run.settings.get("engine"):
        return False
    return not all(_tables_agree(getattr(run, name), getattr(again, name)) for name in _COMPARED_TABLES)


def _tables_agree(given: pd.DataFrame, again: pd.DataFrame) -> bool:
    """Return whether two tables have equal numbers in the same columns."""
    one, other = given.select_dtypes("number"), again.select_dtypes("number")
    return one.shape == other.shape and bool(np.allclose(one, other, rtol=_OFF, equal_nan=True))
