"""The table of published numbers, each with theory, our own measurement and, if needed, a second one that explains a difference."""

import csv
import math
import statistics
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from importlib import resources
from typing import Any

from netlab.base.progress_bar import Progress
from netlab.measure.results import Run
from netlab.runs.sweeps import sweep
from netlab_replication import labs
from netlab_replication.measurement import Measurement

UNITS = {"Mbit/s": 1.0, "kbit/s": 1e3, "Gbit/s": 1e-3, "byte/s": 125_000.0, "%": 100.0, "ms": 1.0}
"""The factor from Mbit/s, fractions and ms to each unit."""
WORTH_EXPLAINING = 0.03
ALWAYS_EXPLAINED = {("epfl", "udp-rate", "goodput"), ("epfl", "tcp-max", "goodput")}


@dataclass(frozen=True)
class PublishedRow:
    """A row of the table of published numbers, in its own unit; None for an empty number."""

    source: str
    table: str
    scenario: str
    flow: str
    quantity: str
    unit: str
    theory: float | None
    published: float | None

    @property
    def measurement(self) -> Measurement:
        """The measurement that reproduces this published row: its scenario, the value read from the run, and theory.
        Raises KeyError if no lab has one.
        """
        return labs.measurements()[self.source, self.table, self.scenario][self.flow, self.quantity]


@dataclass(frozen=True)
class Row:
    """A row of the report: the published row, theory's and our value in its unit, whether the conditions of theory are
    met, and a note.
    """

    published: PublishedRow
    theory: float | None
    holds: bool
    measured: float
    note: str = ""

    @property
    def netlab_error(self) -> float | None:
        """The signed relative difference of the measured value from netlab's theory, such as 0.03 for 3 % more; None without a
        theory.
        """
        return error(self.measured, self.theory)

    @property
    def published_error(self) -> float | None:
        """The signed relative difference of the published value from netlab's theory, such as 0.03 for 3 % more; None
        if either is missing.
        """
        return error(self.published.published, self.theory)

    @property
    def publisher_theory_error(self) -> float | None:
        """The signed relative difference of the published value from the theory that its publisher gives, such as 0.03
        for 3 % more; None if either is missing.
        """
        return error(self.published.published, self.published.theory)


@dataclass(frozen=True)
class Replication:
    """The contents of the report: its rows, the wall and network time in s of all runs, their number and settings."""

    rows: list[Row]
    wall_s: float
    network_s: float
    runs: int
    settings: dict[str, object] = field(default_factory=dict)

    def median_errors(self) -> tuple[float, float, int]:
        """Return the median of our absolute relative errors against netlab's theory, that of the publishers' errors,
        and the number of rows that count: the conditions of theory hold, and both have a number. Without such rows, the
        medians are NaN.
        """
        both = [
            (abs(row.netlab_error), abs(row.published_error))
            for row in self.rows
            if row.holds and row.netlab_error is not None and row.published_error is not None
        ]
        if not both:
            return math.nan, math.nan, 0
        netlab_errors, published_errors = zip(*both, strict=True)
        return statistics.median(netlab_errors), statistics.median(published_errors), len(both)


def error(value: float | None, expected: float | None) -> float | None:
    """Return the signed relative error of a value, `value` / `expected` - 1; None if either is missing (None) or the
    expected one is 0.

    >>> error(4.798, 4.69) is not None, error(1.0, None), error(0.1, 0.0)
    (True, None, None)
    """
    if value is None or expected is None or abs(expected) < 1e-9:
        return None
    return value / expected - 1


def published_rows() -> list[PublishedRow]:
    """Return all rows of the table of published numbers (published.csv), in its order."""
    return [
        PublishedRow(**{**row, **{name: float(row[name]) if row[name] else None for name in ("theory", "published")}})
        for row in _table("published.csv")
    ]


def references() -> dict[str, str]:
    """Return the reference of each source of the table of published numbers, a text with authors, title, course and
    year, by the source's name and in the table's order.
    """
    return {row["source"]: row["reference"] for row in _table("references.csv")}


def replicate(only: str | None = None, *, fresh: bool = True, progress: bool | Progress = True) -> Replication:
    """Measure all published rows (with `only`, those of this source), run the second scenario for each row whose
    difference needs an explanation, and return the rows with the settings and times of all runs. With `fresh`, stored
    results of earlier sweeps are ignored; `progress` is True for a progress bar, or a function that is told. Raises
    SweepError when runs failed.
    """
    began_s = time.monotonic()
    selected = [row for row in published_rows() if only in (None, row.source)]
    measured = [(row, row.measurement) for row in selected]
    runs = sweep({number: one.scenario for number, (_, one) in enumerate(measured)}, fresh=fresh, progress=progress)
    rows = [_row(row, measurement, runs[number]) for number, (row, measurement) in enumerate(measured)]
    doubtful = {
        number: (one, one.second_scenario)
        for number, (_, one) in enumerate(measured)
        if one.second_scenario is not None and needs_explanation(rows[number])
    }
    # fresh=False, because the first sweep has just measured some of these scenarios.
    tests = sweep({number: again for number, (_, again) in doubtful.items()}, progress=progress)
    for number, (one, _) in doubtful.items():
        value = (one.read_second or one.read)(tests[number]) * UNITS[rows[number].published.unit]
        rows[number] = replace(rows[number], note=one.explanation.format(value=value))
    distinct = {str(run.scenario): run for run in [*runs.values(), *tests.values()]}.values()
    return Replication(
        rows,
        time.monotonic() - began_s,
        sum(float(run.settings["network_s"]) for run in distinct),
        len(distinct),
        _settings(distinct),
    )


def needs_explanation(row: Row) -> bool:
    """Return whether a row needs a sentence: our value differs by more than 3 % from netlab's theory, or the published
    one from netlab's or the publisher's, or without netlab's theory both from each other, or it is in EXPLAINED_ANYHOW.
    """
    published_row = row.published
    if (published_row.source, published_row.table, published_row.quantity) in ALWAYS_EXPLAINED:
        return True
    errors = [row.netlab_error, row.published_error, row.publisher_theory_error]
    if row.theory is None:
        errors.append(error(row.measured, published_row.published))
    return any(miss is not None and abs(miss) > WORTH_EXPLAINING for miss in errors)


def _row(published_row: PublishedRow, measurement: Measurement, run: Run) -> Row:
    """Return the report's row for `published_row`, without a note: the value of theory (None: there is none)
    and the value read from the run, both in the unit of the published row.
    """
    unit = UNITS[published_row.unit]
    expected = None if measurement.theory is None else measurement.theory * unit
    return Row(published_row, expected, measurement.holds, measurement.read(run) * unit)


def _settings(runs: Iterable[Run]) -> dict[str, object]:
    """Return the settings of the runs that the report shows, by name: the engines as text, most used first, and clock,
    kernel, netlab and date of the first run; {} without runs.
    """
    seen = list(runs)
    if not seen:
        return {}
    engines = Counter(str(run.settings["engine"]) for run in seen)
    first = seen[0].settings
    return {
        "engine": " and ".join(f"{name} ({count} runs)" for name, count in engines.most_common()),
        **{name: first[name] for name in ("clock", "kernel", "netlab", "date")},
    }


def _table(name: str) -> list[dict[str, Any]]:
    """Return the rows of the CSV file `name` of this package, in order; each is a dictionary of texts by column."""
    text = resources.files("netlab_replication").joinpath(name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))
