"""Figures of measurements with their theory, and a strip of residuals below."""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike
from plotly.subplots import make_subplots

from netlab.base.arguments import explain_bad_construction
from netlab.base.errors import NetlabError
from netlab.plots.theme import COLOURS, TEXT, Array, finite, hover, points, series_settings, theory_line
from netlab.plots.words import role

Residual = Literal["percent", "absolute"]

GROUPS_IN_A_ROW = 3  # entries of a legend in the width of a laptop's output
MAX_LEGEND_LINE_PX = 620  # a wider legend is arranged in columns
MIN_RESIDUAL_RANGE = 1.0  # per cent; an enlarged difference of 0.001 % would mislead
MIN_STRIP_SHARE = 0.2  # of the strip on each side of 0
STRIP_LINE = 11  # letters; a longer title would be higher than the strip
EARLIER_RUNS_LABEL = "earlier runs"


@dataclass(frozen=True)
class _Series:
    """A series of a comparison: its measured points, its theory as a curve and at the measured points, its published
    points (x, y) or None, the hover text of each point, and half the width of each confidence interval or None.
    """

    name: str
    x: Array
    y: Array
    theory_x: Array
    theory_y: Array
    theory_at_x: Array
    published: tuple[Array, Array] | None
    details: list[str]
    half_widths: list[float] | None
    theory_name: str

    def has_the_theory_of(self, other: _Series) -> bool:
        """Return whether the theory curves of this series and of `other` are the same."""
        return all(
            len(own_values) == len(other_values) and np.allclose(own_values, other_values, rtol=1e-9, equal_nan=True)
            for own_values, other_values in ((self.theory_x, other.theory_x), (self.theory_y, other.theory_y))
        )


@explain_bad_construction('nl.plots.Comparison("Offered rate (Mbit/s)", "Goodput (Mbit/s)")')
class Comparison:
    """A figure of measurements with their theory and a strip of residuals below; a notebook shows it.

    Parameters
    ----------
    x_label, y_label : str
        Axis titles with units, such as "Goodput (Mbit/s)".
    title : str
        The title of the figure.
    residual : {"percent", "absolute"}
        Measured minus theory, in per cent of theory or in the unit of y (for quantities that are often zero).
    log_x, log_y : bool
        Logarithmic axes.
    cases : sequence of str, optional
        Names instead of numbers on the x axis: x is 0 for the first case, 1 for the second, and so on, and theory is a
        bar at each. `<br>` starts a new line.

    Raises
    ------
    NetlabError
        If `residual` is unknown.

    Examples
    --------
    >>> from netlab import theory
    >>> comparison = Comparison("Offered rate (Mbit/s)", "Goodput (Mbit/s)").add(
    ...     "measured", [1, 10], [1.0, 4.798],
    ...     np.linspace(0.1, 10, 50), lambda offered: theory.udp_goodput_mbps(offered, 5))
    >>> [trace.name for trace in comparison.figure.data]
    ['measured', 'theory', 'measured - theory']
    """

    def __init__(
        self,
        x_label: str,
        y_label: str,
        title: str = "",
        *,
        residual: Residual = "percent",
        log_x: bool = False,
        log_y: bool = False,
        cases: Sequence[str] | None = None,
    ) -> None:
        """Begin a figure without series: axis titles, `cases` in the place of numbers for x, logarithmic axes, and
        residuals in per cent of theory or ("absolute") in the unit of y. Raises NetlabError for another `residual`.
        """
        if residual not in ("percent", "absolute"):
            raise NetlabError(f"residual must be percent or absolute, got {residual!r}.")
        self._x_label, self._y_label, self._title = x_label, y_label, title
        self._residual, self._log_x, self._log_y = residual, log_x, log_y
        self._cases = None if cases is None else list(cases)
        self._series: list[_Series] = []
        self._figure: go.Figure | None = None

    def add(
        self,
        name: str,
        measured_x: ArrayLike,
        measured_y: ArrayLike,
        theory_x: ArrayLike,
        theory_y: ArrayLike | Callable[[Any], Any],
        *,
        published: tuple[ArrayLike, ArrayLike] | None = None,
        details: Sequence[str] | None = None,
        half_widths: ArrayLike | None = None,
        theory_name: str = "theory",
    ) -> Comparison:
        """Add the series `name`: measured points, `details` for hover texts and `half_widths` of intervals in y's unit,
        theory called `theory_name` at `theory_x` (values or a formula), and published (x, y); return this comparison.

        Parameters
        ----------
        name : str
            The name in the legend, such as "cubic"; "measured" if there is only one series.
        measured_x, measured_y : array
            The measured points.
        theory_x : array
            The points at which theory is drawn; they may differ from the measured ones.
        theory_y : array or callable
            Theory at `theory_x`; or the formula, with which the residuals are exact (an array is interpolated).
        published : pair of arrays, optional
            Published measurements: x and y.
        details : sequence of str, optional
            Text for each measured point, which its hover text adds.
        half_widths : array, optional
            Half the width of each measured point's confidence interval in the unit of y; drawn as a bar.
        theory_name : str
            The theory's name, such as "square root", if there are several; the residuals get it too.

        Returns
        -------
        Comparison
            The same object.

        Raises
        ------
        NetlabError
            If x and y, or the measured points and their `details` or `half_widths`, have different lengths.
        """
        x, y = _pair("measured", measured_x, measured_y)
        line_x = np.asarray(theory_x, dtype=float)
        if callable(theory_y):
            line_y, at_x = _evaluate(theory_y, line_x), _evaluate(theory_y, x)
        else:
            line_x, line_y = _pair("theory", line_x, theory_y)
            order = np.argsort(line_x)
            at_x = np.interp(x, line_x[order], line_y[order])
        lines = [f"<br>{line}" for line in details] if details is not None else [""] * len(x)
        if len(lines) != len(x):
            raise NetlabError(f"There must be a detail for each of the {len(x)} measured points, got {len(lines)}.")
        halves = None if half_widths is None else np.asarray(half_widths, dtype=float).tolist()
        if halves is not None and len(halves) != len(x):
            raise NetlabError(
                f"There must be a half width for each of the {len(x)} measured points, got {len(halves)}."
            )
        published_points = None if published is None else _pair("published", *published)
        self._series.append(_Series(name, x, y, line_x, line_y, at_x, published_points, lines, halves, theory_name))
        self._figure = None
        return self

    @property
    def figure(self) -> go.Figure:
        """The figure, drawn at first access (NetlabError without series); `add` discards it, so change it last."""
        if self._figure is None:
            self._figure = self._draw()
        return self._figure

    def fix_axes(
        self,
        *,
        x: tuple[float, float] | None = None,
        y: tuple[float, float] | None = None,
        residual: float | None = None,
    ) -> go.Figure:
        """Fix the ranges (low, high) of the axes and ± `residual` of the strip (None: no change); return the figure.

        Parameters
        ----------
        x, y : pair of float, optional
            The range in the unit of the axis; above 0 on a logarithmic one. If None, the axis follows the data.
        residual : float, optional
            The range of the strip on both sides of 0, in the unit of the residual.

        Returns
        -------
        plotly Figure
            The figure of this comparison; add all series before.
        """
        figure = self.figure
        if x is not None:
            figure.update_xaxes(range=np.log10(x).tolist() if self._log_x else list(x))
        if y is not None:
            figure.update_yaxes(range=np.log10(y).tolist() if self._log_y else list(y), row=1, col=1)
        if residual is not None:
            figure.update_yaxes(**_strip_scale(residual, residual), row=2, col=1)
        # Label the fixed range, not the range of the data.
        return label_decades(figure, **{letter: span for letter, span in (("x", x), ("y", y)) if span is not None})

    def _ipython_display_(self) -> None:
        """Show the figure in a notebook's output."""
        self.figure._ipython_display_()

    def __repr__(self) -> str:
        return f"Comparison({self._y_label!r} by {self._x_label!r} of {', '.join(s.name for s in self._series) or 'nothing'})"

    def _draw(self) -> go.Figure:
        """Return a new figure of all series: both strips, axes, legend. Raises NetlabError if there is no series."""
        if not self._series:
            raise NetlabError("There is nothing to compare yet; add a series with .add(...).")
        figure = make_subplots(rows=2, cols=1, shared_xaxes=True, row_heights=[0.73, 0.27], vertical_spacing=0.06)
        figure.update_layout(template="netlab")
        for number, series in enumerate(self._series):
            self._draw_series(figure, number, series)
        figure.update_xaxes(type="log" if self._log_x else "linear", exponentformat="power" if self._log_x else "SI")
        figure.update_xaxes(title_text=self._x_label, row=2, col=1)
        if self._cases is not None:
            figure.update_xaxes(tickvals=list(range(len(self._cases))), ticktext=self._cases)
        figure.update_yaxes(title_text=self._y_label, type="log" if self._log_y else "linear", row=1, col=1)
        if not self._log_y and any(
            min(np.nanmin(series.y, initial=0.0), np.nanmin(series.theory_y, initial=0.0)) >= 0
            for series in self._series
        ):
            figure.update_yaxes(rangemode="tozero", row=1, col=1)
        if self._title:
            figure.update_layout(title_text=self._title)
        listed = [trace for trace in figure.data if trace.showlegend is not False]
        if sum(50 + 7.5 * len(trace.name) for trace in listed) <= MAX_LEGEND_LINE_PX:
            legend_rows = 1
            figure.update_layout(legend={"traceorder": "normal"})
        else:
            # A series is listed above its theory, so that no row break separates them.
            groups = Counter(trace.legendgroup for trace in listed)
            legend_rows = max(groups.values()) * math.ceil(len(groups) / GROUPS_IN_A_ROW)
            figure.update_layout(legend={"traceorder": "grouped", "tracegroupgap": 4})
        figure.update_layout(margin_t=62 + 22 * legend_rows, height=442 + 22 * legend_rows)
        self._scale_strip(figure)
        return label_decades(figure)

    def _draw_series(self, figure: go.Figure, number: int, series: _Series) -> None:
        """Add series number `number`, with its theory, published points and residuals, to the figure."""
        # Theory has the colour of its series.
        colour = COLOURS[number % len(COLOURS)]
        gap = self._residuals(series)
        hovertext = self._hovertext(series, gap)
        bars, has_bars = {"type": "data", "thickness": 2, "width": 8}, series.half_widths is not None
        figure.add_scatter(
            x=series.x.tolist(),
            y=series.y.tolist(),
            name=series.name,
            legendgroup=series.name,
            **points(number),
            hovertext=hovertext,
            hoverinfo="text",
            meta={"role": "measured"},
            error_y={**bars, "array": series.half_widths} if has_bars else None,
            row=1,
            col=1,
        )
        self._draw_theory(figure, series, colour)
        if series.published is not None:
            x, y = series.published
            figure.add_scatter(
                x=x.tolist(),
                y=y.tolist(),
                legendgroup="published",
                legendrank=1001,  # behind every series: between two it would seem to belong to one
                showlegend=not any(role(trace) == "published" for trace in figure.data),
                **points(size=13, symbol="diamond-open", color=TEXT, line={"width": 2}),
                **series_settings("published", "published", self._x_label, self._y_label),
                row=1,
                col=1,
            )
        figure.add_scatter(
            x=series.x.tolist(),
            y=finite(gap),
            name=f"{series.name} - {series.theory_name}",
            legendgroup=series.name,
            showlegend=False,
            **points(number, 7),
            hovertext=hovertext,
            hoverinfo="text",
            meta={"role": "residual"},
            error_y={**bars, "array": finite(self._half_widths(series))} if has_bars else None,
            row=2,
            col=1,
        )

    def _draw_theory(self, figure: go.Figure, series: _Series, colour: str) -> None:
        """Add the theory of a series to the figure in this colour, unless an earlier series has the same theory."""
        bars = {
            "mode": "markers",
            "marker": {"symbol": "line-ew-open", "size": 30, "color": colour, "line": {"width": 2}},
        }
        same = [other for other in self._series if series.has_the_theory_of(other)]
        # Draw the same theory only once: a second curve would hide the first.
        if same[0] is series:
            figure.add_scatter(
                x=series.theory_x.tolist(),
                y=series.theory_y.tolist(),
                name=self._theory_label(same),
                legendgroup=series.name,
                hovertemplate=hover(series.theory_name, self._x_label, self._y_label),
                meta={"role": "theory"},
                row=1,
                col=1,
                **{**theory_line(color=colour), **({} if self._cases is None else bars)},
            )

    def _theory_label(self, series_list: list[_Series]) -> str:
        """Return the legend's text of the theory of these series: its name, with theirs unless all series share it."""
        if len(series_list) == len(self._series):
            return series_list[0].theory_name
        return f"{series_list[0].theory_name}, {' and '.join(series.name for series in series_list)}"

    def _residuals(self, series: _Series) -> Array:
        """Return the residual of each measured point in the unit of the strip: per cent, or that of y."""
        # The difference of nearly equal values depends on their last bits, which differ between processors: round it.
        largest = np.max(np.abs(series.y), initial=0.0, where=np.isfinite(series.y))
        places = 12 - math.floor(math.log10(largest)) if largest > 0 else 12
        gap = [round(value, places) if math.isfinite(value) else value for value in series.y - series.theory_at_x]
        return self._in_strip(series, np.array(gap) + 0.0)  # 0.0 for -0.0

    def _half_widths(self, series: _Series) -> Array:
        """Return half the width of each point's confidence interval in the unit of the strip; 0 without."""
        return np.abs(self._in_strip(series, np.asarray(series.half_widths or [0.0] * len(series.y))))

    def _in_strip(self, series: _Series, values: Array) -> Array:
        """Return differences in the unit of y, one for each measured point, in the unit of the strip."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return values / series.theory_at_x * 100 if self._residual == "percent" else values

    def _hovertext(self, series: _Series, gap: Array) -> list[str]:
        """Return the hover text of each measured point, with its residual from `gap`."""
        unit = " %" if self._residual == "percent" else ""
        return [
            f"<b>{series.name}</b><br>{self._x_label}: {_number_text(x)}<br>{self._y_label}: {_number_text(y)}"
            f"<br>{series.theory_name}: {_number_text(expected)}<br>residual: {_signed_text(apart)}{unit}{detail}"
            for x, y, expected, apart, detail in zip(
                series.x, series.y, series.theory_at_x, gap, series.details, strict=True
            )
        ]

    def _scale_strip(self, figure: go.Figure) -> None:
        """Set the range, ticks and title of the figure's strip so that all residuals with their intervals fit."""
        low = high = 0.0
        for series in self._series:
            gap, half = self._residuals(series), self._half_widths(series)
            low = float(np.min(gap - half, initial=low, where=np.isfinite(gap)))
            high = float(np.max(gap + half, initial=high, where=np.isfinite(gap)))
        if self._residual == "percent":
            least = MIN_RESIDUAL_RANGE
        else:
            least = 0.01 * max(float(np.abs(series.theory_y).max(initial=0.0)) for series in self._series) or 0.8
        least = max(least, MIN_STRIP_SHARE * max(-low, high))
        scale = _strip_scale(1.25 * max(-low, least), 1.25 * max(high, least))
        title = {"text": self._strip_title(), "font": {"size": 12}}
        figure.update_yaxes(title=title, zerolinecolor=TEXT, **scale, row=2, col=1)

    def _strip_title(self) -> str:
        """Return the title of the strip's axis, "Residual to", the theory's name and the unit, in lines that fit it."""
        names = {series.theory_name for series in self._series}
        (name,) = names if len(names) == 1 else ("theory",)
        _, bracket, unit = self._y_label.rpartition(" (")
        unit = "(%)" if self._residual == "percent" else f"({unit}" if bracket else ""
        words = f"Residual {'' if name == 'theory' else f'to {name} '}{unit}"
        return "<br>".join(textwrap.wrap(words, STRIP_LINE, break_long_words=False))


def _strip_scale(below: float, above: float) -> dict[str, Any]:
    """Return Plotly's range and ticks for a strip that extends from `-below` to `above`, in its unit."""
    tick = _round_below(0.9 * max(below, above))
    ticks = [-tick] * (below >= tick) + [0] + [tick] * (above >= tick)
    return {"range": [-below, above], "tickvals": ticks}


def faded_traces(figure: go.Figure, age: int) -> list[Any]:
    """Return copies of a figure's measured, theory and residual traces as background for a newer figure, fainter the
    more runs are newer: `age` is their number, from 1. At age 1 the first measured one has the legend's entry for all.
    """
    copies = []
    needs_entry = age == 1
    for trace in figure.data:
        part = role(trace)
        if part in ("measured", "theory", "residual"):
            copy = type(trace)(trace.to_plotly_json())
            entry = needs_entry and part == "measured"
            copy.update(
                opacity=0.45 / age if part != "theory" else 0.3 / age, showlegend=entry, meta={"role": "earlier"}
            )
            if entry:
                # Use a separate legend group, so that a click on the entry does not hide the newest run.
                copy.update(name=EARLIER_RUNS_LABEL, legendgroup=EARLIER_RUNS_LABEL, legendrank=1002)
                needs_entry = False
            copies.append(copy)
    return copies


def label_decades(figure: go.Figure, **spans: tuple[float, float]) -> go.Figure:
    """Label the ticks of a figure's logarithmic axes with few, whole numbers (Plotly labels 20 as 2), in place; return
    the figure. An axis' range is that of its data, or the one in `spans` (for `x`, `y`).
    """
    for letter in "xy":
        if figure.layout[f"{letter}axis"].type != "log":
            continue
        limits = spans.get(letter) or [
            value for trace in figure.data if trace.yaxis in (None, "y") for value in trace[letter] if value
        ]
        low, high = min(limits), max(limits)
        decades = math.log10(high / low)
        digits = (1, 2, 5) if decades < 2.3 else (1, 3) if decades < 4.6 else (1,)
        powers = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1)
        steps = (float(f"{digit}e{power}") for power in powers for digit in digits)
        # Plotly extends the axis a little beyond the data.
        ticks = [step for step in steps if low / 1.3 <= step <= high * 1.3]
        axes = figure.select_xaxes() if letter == "x" else [figure.layout.yaxis]
        for axis in axes:
            axis.update(tickvals=ticks, ticktext=[_tick_label(tick) for tick in ticks])
    return figure


def _tick_label(value: float) -> str:
    """Return a tick's number as text, with a power of ten if it is very small or large."""
    if 1e-4 <= value < 1e5:
        return f"{value:g}"
    digit, power = f"{value:.0e}".split("e")
    return f"{'' if digit == '1' else f'{digit}·'}10<sup>{int(power)}</sup>"


def _round_below(value: float) -> float:
    """Return the largest of 1, 2 and 5 times a power of ten that is not above `value`.

    >>> _round_below(0.9), _round_below(1.0), _round_below(37)
    (0.5, 1.0, 20.0)
    """
    power = math.floor(math.log10(value))
    return max(
        float(f"{digit}e{p}") for p in (power - 1, power) for digit in (1, 2, 5) if float(f"{digit}e{p}") <= value
    )


def _pair(name: str, x: ArrayLike, y: ArrayLike) -> tuple[Array, Array]:
    """Return x and y as arrays of floats; raise NetlabError, with `name`, if their lengths differ."""
    xs, ys = np.atleast_1d(np.asarray(x, dtype=float)), np.atleast_1d(np.asarray(y, dtype=float))
    if xs.shape != ys.shape:
        raise NetlabError(f"The {name} x and y must have the same length, got {xs.size} and {ys.size}.")
    return xs, ys


def _evaluate(formula: Callable[[Any], Any], x: Array) -> Array:
    """Return the formula's value at each x, also if it does not accept arrays."""
    try:
        values = np.asarray(formula(x), dtype=float)
        if values.shape == x.shape:
            return values
    except (TypeError, ValueError):
        pass
    return np.array([float(formula(float(value))) for value in x])


def _number_text(value: float) -> str:
    """Return a number with four digits, or "none" for NaN and infinity."""
    return f"{value:.4g}" if math.isfinite(value) else "none"


def _signed_text(value: float) -> str:
    """Return a number with its sign and two digits, or "none" for NaN and infinity."""
    return f"{value:+.2g}" if math.isfinite(value) else "none"
