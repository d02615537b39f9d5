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
from netlab_course.answers import answer_in_words, bare_word
from netlab_course.repeated_tables import as_repeated_table

_INTERVAL = r"intervals?|confidence|cis?|ki|\w*intervall\w*|konfidenz\w*|vertrauens\w*"
_MEASURED = (
    r"[kmg]?bit/s|ms|us|[kmg]?bytes?|segments?|packets?|per cent|percent|prozent|h\d|\d+(?:[.,]\d+)? ?s|"
    r"means?|averages?|edges?|theory|values?|goodputs?|throughputs?|rates?|ratios?|shares?|delays?|waits?|times?|loss(?:es)?|"
    r"pings?|pages?|answers?|sums?|index(?:es)?|takes?|needs?|lasts?|gets?|flows?|quer(?:y|ies)|calls?|downloads?|"
    r"transfers?|servers?|rtts?|tcp|udp|cubic|dctcp|"
    r"mittel\w*|durchschnitt\w*|r[aä]nd\w*|werte?|\w*durchsatz|\w*raten?|verhältnis\w*|anteile?|\w*verzögerung\w*|"
    r"\w*zeit(?:en)?|dauer\w*|\w*verluste?|\w*seiten?|\w*antwort\w*|summen?|braucht|brauchen|bekommt|erhält|anfragen?"
)
_COMPARISON = (
    r"above|below|under|over|beyond|beneath|within|between|outside|inside|less|lower|fewer|smaller|shorter|slower|more|"
    r"higher|greater|larger|longer|faster|most|least|exceed\w*|exclud\w*|includ\w*|contain\w*|holds?|reach\w*|miss\w*|"
    r"overlap\w*|cover\w*|equal\w*|differ\w*|sides?|than|from [\d.]+ to|"
    r"über|ueber|unter|oberhalb|unterhalb|darüber|darunter|zwischen|au(?:ß|ss)erhalb|innerhalb|jenseits|kleiner|größer|grösser|"
    r"groesser|höher|hoeher|niedriger|tiefer|mehr|weniger|länger|laenger|kürzer|schneller|langsamer|mindestens|höchstens|"
    r"\w*überschr\w*|\w*unterschr\w*|übersteig\w*|enth[aä]l\w*|umfass\w*|beinhalt\w*|\w*schlie(?:ß|ss)\w*|überdeck\w*|"
    r"überlapp\w*|weich\w*|abweich\w*|als|von [\d.,]+ bis"
)
_COMPARED = (
    r"theory|formula\w*|rules?|claim\w*|stated|statements?|numbers?|predict\w*|expect\w*|ideal|comput\w*|calculat\w*|"
    r"colleague\w*|says?|limits?|ratio|zero|"
    r"theorie\w*|formel\w*|regel\w*|behaupt\w*|genannt\w*|angegeben\w*|zahl|aussage|vorher\w*|berechnet\w*|erwart\w*|"
    r"kolleg\w*|sagt|grenzwert\w*|verhältnis\w*|null"
)
_PRONOUN = r"(?:it|es) (?:(?:\w+ ){1,4}(?:lie|be|stay|end|reach|liegen|sein)|lies|is|liegt|ist)(?!\w)"
"""A beginning in which "it" is the interval."""
_ASKED = r"which (?:interval|result)s?|welches (?:intervall|ergebnis)|one value for each seed"
"""Words of the exercises, which a copy of their text has."""
MAX_WORDS_BETWEEN = 7
"""The number of words by which a comparison and what it compares with may be apart: verbs come last in German."""
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


def missing_refutation_parts(refutation: str) -> list[str]:
    """Return the names of the parts of a result that a refutation, in English or German, does not have, such as "a
    comparison"; none if it says where an interval lies, or compares something measured with a number or with theory.
    A person judges what it says.
    """
    words = refutation.lower()
    interval, measured = (_places(pattern, words) for pattern in (_INTERVAL, _MEASURED))
    comparison = [*_places(_COMPARISON, words), *_places("[<>≤≥]", words, whole=False)]
    compared = [*_places(_COMPARED, words), *_places(r"(?<![^\W\d])\d", words, whole=False)]
    if interval and (comparison or compared):
        return []
    near = any(abs(one - other) <= MAX_WORDS_BETWEEN for one in comparison for other in compared)
    # The check asks where the interval would have to lie, so "it" is the interval.
    pronoun = re.match(_PRONOUN, words)
    parts = {
        "something measured": interval or measured or pronoun or "%" in words,
        "a comparison": comparison,
        "a number or theory to compare with": near,
    }
    return [part for part, found in parts.items() if not found]


def is_question(refutation: str) -> bool:
    """Return whether a refutation is a question, such as that of the exercise, and names no result."""
    return refutation.rstrip(" \t\n\"')»”’.").endswith("?") or bool(_places(_ASKED, refutation.lower()))


def _places(pattern: str, text: str, *, whole: bool = True) -> list[int]:
    """Return the index, from 0, of each word of a text in which a pattern is found; with `whole` it must be the whole
    word, or whole words.
    """
    pattern = rf"(?<!\w)(?:{pattern})(?!\w)" if whole else pattern
    return [len(text[: place.start()].split()) for place in re.finditer(pattern, text)]


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
