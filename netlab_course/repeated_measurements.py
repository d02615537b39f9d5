"""A student's repeated measurement as an answer: its parts, the numbers in its figure, and its wrong forms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from netlab.plots import Comparison
from netlab_course.answers import answer_in_words, bare_word
from netlab_course.repeated_tables import as_repeated_table

TABLE_NAME, INTERVAL_NAME, FIGURE_NAME = "the table of nl.repeat", "an interval", "a figure"
REFUTATION_NAME = "a condition that refutes it"


@dataclass(frozen=True)
class RepeatedMeasurement:
    """A student's repeated measurement in parts: table, interval, verdict, and a figure or a refutation."""

    table: pd.DataFrame
    """The table that `netlab.repeat` returned."""
    interval: tuple[float, float]
    """Mean and half width, in the unit of the values."""
    figure: Mapping[str, Any]
    """The numbers in the figure, in the form of `figure_numbers`."""
    verdict: str
    """The position of theory relative to the interval, one of `VERDICTS`; or the verdict on the copy's statement, one of
    `STATEMENT_VERDICTS`.
    """
    refutation: str = ""
    """The student's condition on the interval that refutes the statement, such as "high < 25"; "" where a figure is asked
    for.
    """

    @property
    def scenario(self) -> dict[str, Any]:
        """The repeated scenario, in the form of `Scenario.to_dict`; the table has the same dict, so do not change it."""
        found: dict[str, Any] = self.table.attrs["scenario"]
        return found


def figure_numbers(figure: go.Figure) -> dict[str, Any]:
    """Return the numbers in a figure, by "traces" (a list for each x and y), "bars" (half lengths of error bars),
    "shapes" (edges x0, x1, y0, y1 of lines and areas across it) and "titles" (texts of its axes).
    """
    traces: list[list[float]] = []
    bars: list[float] = []
    for trace in figure.data:
        for name in ("x", "y"):
            traces.append(_numbers(getattr(trace, name, None)))
            error = getattr(trace, f"error_{name}", None)
            bars += _numbers(getattr(error, "array", None))
    shapes = [getattr(shape, name) for shape in figure.layout.shapes for name in ("x0", "x1", "y0", "y1")]
    titles = [
        str(axis.title.text or "") for axis in (*figure.select_xaxes(), *figure.select_yaxes()) if axis.title.text
    ]
    return {
        "traces": [numbers for numbers in traces if numbers],
        "bars": bars,
        "shapes": _numbers(shapes),
        "titles": titles,
    }


def _numbers(values: Any) -> list[float]:
    """Return the finite numbers among an iterable of values, as floats in their order; an empty list for None."""
    if values is None:
        return []
    found = pd.to_numeric(pd.Series(list(values), dtype=object), errors="coerce")
    return [float(value) for value in found if np.isfinite(value)]


def parse_answer(answer: object, parts: tuple[str, ...], words: tuple[str, ...]) -> RepeatedMeasurement | str:
    """Return a student's answer as a measurement, or a message about its wrong form. It must be a list or tuple of
    four: `parts` are their names in order, the third is a figure or a refutation, and the fourth is one of `words`.
    """
    if not isinstance(answer, (list, tuple)) or len(answer) != len(parts):
        return f"expected a list of four ({', '.join(parts)}), got {answer_in_words(answer)}."
    first, given, third, verdict = answer
    table = as_repeated_table(first, "the first")
    if isinstance(table, str):
        return table
    try:
        mean, half = (float(number) for number in given)
    except (TypeError, ValueError):
        return f"the second must be what nl.interval(...) returns, mean and half width, got {answer_in_words(given)}."
    figure, refutation = ({}, third) if REFUTATION_NAME in parts else (_parse_figure(third), "")
    if figure is None:
        return f"the third must be a figure, such as my_table.plot(...) returns, got {answer_in_words(third)}."
    if not isinstance(refutation, str):
        return f"the third must be {REFUTATION_NAME}, in quotes, got {answer_in_words(third)}."
    word = bare_word(verdict)
    if word not in words:
        return f"the fourth must be one of {', '.join(map(repr, words))}, got {answer_in_words(verdict)}."
    return RepeatedMeasurement(table, (mean, half), figure, word, refutation)


def _parse_figure(figure: object) -> dict[str, Any] | None:
    """Return the numbers in a figure in the form of `figure_numbers`; a dict in that form, from a grader, is returned
    as it is. None if it is not a figure.
    """
    if isinstance(figure, Comparison):
        figure = figure.figure
    if isinstance(figure, go.Figure):
        return figure_numbers(figure)
    if isinstance(figure, dict) and {"traces", "bars", "shapes", "titles"} <= figure.keys():
        return figure
    return None
