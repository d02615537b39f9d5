"""Checks of repeated measurements of all chapters, and right answers to them with made-up tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest

import netlab as nl
from netlab.runs.replications import table_of
from netlab_course.repetition import Repetition
from tests.chapters.checking import all_chapters, checks_of
from tests.fake_runs import FakeRun


def repetitions(token: str) -> dict[str, Repetition]:
    return {
        f"{chapter.__name__.rsplit('.', 1)[-1]}-{token}": check
        for chapter in all_chapters()
        for check in checks_of(chapter, token)
        if isinstance(check, Repetition)
    }


def parameters(found: dict[str, Repetition]) -> list[Any]:
    return [pytest.param(check, id=name) for name, check in found.items()]


# A token changes the numbers of the scenario, but not the way in which an answer is judged.
PRINTED = repetitions("")
CHECKS = parameters(PRINTED)
WITH_FIGURE = {name: check for name, check in PRINTED.items() if check.with_figure}
WITH_REFUTATION = {name: check for name, check in PRINTED.items() if not check.with_figure}


def table(check: Repetition, seeds: Any = range(1, 11), scenario: nl.Scenario | None = None) -> pd.DataFrame:
    """Return a table as from `nl.repeat`, with random numbers, a row for each flow and seed."""
    if scenario is not None:
        return made_table(scenario, seeds)
    kept = (check.key, repr(check.scenario().to_dict()), tuple(seeds))
    if kept not in TABLES:
        TABLES[kept] = made_table(check.scenario(), seeds)
    return TABLES[kept].copy()


TABLES: dict[Any, pd.DataFrame] = {}
"""Tables of the exercises' own scenarios, by check, scenario and seeds; their numbers are always the same."""


def made_table(described: nl.Scenario, seeds: Any) -> pd.DataFrame:
    """Return a table of this scenario with random numbers, a row for each flow and seed."""
    numbers = np.random.default_rng(1)
    runs: dict[Any, Any] = {}
    traffic: list[Any] = [*described.traffic]
    for seed in seeds:
        rows = [
            {
                "flow": f"{item.src}-{item.dst} {item.kind} {place}",
                "kind": item.kind,
                "src": item.src,
                "dst": item.dst,
                "error": None,
                **{name: 10 ** numbers.uniform(1, 3) for name in ("goodput_mbps", "rtt_ms", "rtt_max_ms")},
                # Chapter 7 asks how many took more than 0.9 s, chapter 17 for the slowest answer to a query at 9.5 s.
                "completion_s": 9.5 + numbers.pareto(1.2) if item.kind == "requests" else 10 ** numbers.uniform(-1, 1),
                # Chapter 13 asks for a delay that is known to 3 %.
                "delay_ms": numbers.uniform(97, 103),
            }
            for place, item in enumerate(traffic)
        ]
        runs[seed] = FakeRun(pd.DataFrame(rows))
    return table_of(described.to_dict(), runs)  # type: ignore[arg-type]


def right_verdict(check: Repetition, found: pd.DataFrame) -> str:
    mean, half = nl.interval(check.values(found))
    if check.statement is not None:
        number, above = check.statement.number, check.statement.above
        if abs(number - mean) <= half:
            return "undecided"
        return "supported" if (mean > number) == above else "refuted"
    expected = check.expected(found)
    return "above" if expected > mean + half else "below" if expected < mean - half else "inside"


def figure(values: Any, half: float | None = None, title: str = "Goodput (Mbit/s)") -> go.Figure:
    made = go.Figure(go.Scatter(x=list(range(len(values))), y=list(values)))
    if half is not None:
        mean = float(np.mean(list(values)))
        made.add_hrect(y0=mean - half, y1=mean + half)
    return made.update_yaxes(title_text=title)


def refutation(check: Repetition) -> str:
    """Return a right condition that refutes the statement of a check."""
    assert check.statement is not None
    return f"high < {check.statement.number}" if check.statement.above else f"low > {check.statement.number}"


def work(check: Repetition, found: pd.DataFrame | None = None) -> list[Any]:
    found = table(check) if found is None else found
    values = check.values(found)
    third = figure(values, nl.interval(values).half_width, check.axis) if check.with_figure else refutation(check)
    return [found, nl.interval(values), third, right_verdict(check, found)]


def some_check() -> Repetition:
    return next(iter(WITH_FIGURE.values()))
