"""Wrong intervals that known mistakes give for measured values, each with the message about the mistake."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import pandas as pd

from netlab.runs.replications import interval
from netlab_course.rounded_intervals import interval_of

Slip = tuple[tuple[float, float], str]
"""A wrong interval (mean and half width) and the message about it, which continues a sentence."""


def statistical_slips(values: pd.Series[float]) -> Iterator[Slip]:
    """Yield the wrong intervals of values that follow from a wrong formula for the half width, or from its edges."""
    number, middle, scatter = len(values), float(values.mean()), float(values.std())
    _, half = interval(values)
    root = number**0.5
    yield (
        (middle, scatter),
        "this half width is the standard deviation: how far single runs scatter, not how sure their mean is",
    )
    yield (middle, float(values.std(ddof=0))), "this half width is a standard deviation, not how sure the mean is"
    yield (
        (middle, scatter / root),
        "this half width is the standard error: Student's t is missing, which makes 95 % of it",
    )
    yield (middle, 1.96 * scatter / root), f"1.96 holds for very many values; for {number} it is Student's t"
    yield (middle, 2 * half), "this is the whole width, from one edge to the other"
    yield (middle - half, middle + half), "these are the two edges; asked for are the mean and half of the width"


def slips_of_table(
    table: pd.DataFrame,
    values: pd.Series[float],
    instead: Mapping[str, Callable[[pd.DataFrame], pd.Series[float]]],
    unit: str,
    factors: Sequence[float],
) -> Iterator[Slip]:
    """Yield the wrong intervals of a table of `netlab.repeat` whose right values, in `unit`, are `values`: by a wrong
    formula, of the wrong values that `instead` has by their messages, in a unit with one of `factors`, and of a column of
    all flows or of one.
    """
    yield from statistical_slips(values)
    mean, half = interval(values)
    yield (float(values.median()), half), "this is the median, and the interval is of the mean"
    for sentence, wrong in instead.items():
        yield interval(wrong(table)), sentence
    for factor in factors:
        asked = f"{unit} is asked for" if unit else "a number without a unit is asked for"
        yield (factor * mean, factor * half), f"this is {factor:g} times the interval: {asked}"
    rows_by_flow = table.groupby("flow").indices
    for column, cells in table.select_dtypes("number").items():
        numbers = cells.to_numpy(dtype=float)
        yield interval_of(numbers), f"this is the column {column} of all flows together"
        for flow, rows in rows_by_flow.items():
            yield interval_of(numbers[rows]), f"this is the column {column} of the flow {flow}"
