"""A student's repeated measurement as an answer: its parts, the numbers in its figure, and its wrong forms."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from netlab.plots import Comparison
from netlab_course.answers import answer_in_words

_REFUTATION_PARTS = {
    "a number": r"(?<![^\W\d])\d",
    "a comparison": (
        r"[<>≤≥]|\b(?:above|below|under|over|beyond|beneath|within|between|outside|inside|less|lower|fewer|smaller|shorter|"
        r"slower|more|higher|greater|larger|longer|faster|most|least|exceed\w*|exclud\w*|includ\w*|contain\w*|hold\w*|"
        r"reach\w*|miss\w*|overlap\w*|cover\w*|equal\w*|differ\w*|sides?|than)\b"
    ),
    "something measured": (
        r"%|\b(?:intervals?|means?|averages?|edges?|theory|formula|values?|goodputs?|throughputs?|rates?|ratios?|shares?|"
        r"delays?|waits?|times?|losses|pings?|pages?|answers?|sums?|indexe?s?|[kMG]?bit/s|ms|us|per cent|percent)\b"
    ),
}
"""The parts of a refutation by their names, each with a pattern that is found in it; two of the three are enough."""
TABLE_NAME, INTERVAL_NAME, FIGURE_NAME = "the table of nl.repeat", "an interval", "a figure"
REFUTATION_NAME = "a sentence on what would refute it"


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
    """The student's sentence on the result that would refute the statement; "" where a figure is asked for."""

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
    table, given, third, verdict = answer
    if not (isinstance(table, pd.DataFrame) and {"seed", "flow"} <= set(table.columns)):
        return f"the first must be the table that nl.repeat(...) returns, got {answer_in_words(table)}."
    if "scenario" not in table.attrs:
        return "hand over the table as nl.repeat(...) returned it, with all of its rows: this one no longer knows its scenario."
    try:
        mean, half = (float(number) for number in given)
    except (TypeError, ValueError):
        return f"the second must be what nl.interval(...) returns, mean and half width, got {answer_in_words(given)}."
    figure, refutation = ({}, third) if REFUTATION_NAME in parts else (_parse_figure(third), "")
    if figure is None:
        return f"the third must be a figure, such as my_table.plot(...) returns, got {answer_in_words(third)}."
    if not isinstance(refutation, str):
        return f"the third must be {REFUTATION_NAME}, in quotes, got {answer_in_words(third)}."
    word = verdict.strip(" .!\n\t\"'").lower() if isinstance(verdict, str) else ""
    if word not in words:
        return f"the fourth must be one of {', '.join(map(repr, words))}, got {answer_in_words(verdict)}."
    return RepeatedMeasurement(table, (mean, half), figure, word, refutation)


def missing_refutation_parts(refutation: str) -> list[str]:
    """Return the names of the parts of a result that a refutation does not have, such as "a number"; it names a result
    if at most one of the three is missing.
    """
    return [part for part, words in _REFUTATION_PARTS.items() if not re.search(words, refutation, re.IGNORECASE)]


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
