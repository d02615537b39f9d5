"""Measured series beside their theory, with the residuals beneath."""

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

from netlab.base.errors import NetlabError
from netlab.plots.theme import COLOURS, TEXT, Array, finite, hover, points, theory_line, told
from netlab.plots.words import role

Residual = Literal["percent", "absolute"]

GROUPS_IN_A_ROW = 3  # of a legend, at the width of a laptop's output
MAX_LEGEND_LINE_PX = 620  # a legend of more is set as columns
SMALLEST_RESIDUAL_RANGE = 1.0  # per cent; a strip that blows up 0.001 % teaches nothing
MIN_STRIP_SHARE = 0.2  # of the strip on each side of 0
STRIP_LINE = 11  # letters; a longer title of the strip would stand out above it
EARLIER = "earlier runs"


@dataclass(frozen=True)
class _Series:
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
        """Tell whether the two theories are the same curve."""
        return all(
            len(mine) == len(theirs) and np.allclose(mine, theirs, rtol=1e-9, equal_nan=True)
            for mine, theirs in ((self.theory_x, other.theory_x), (self.theory_y, other.theory_y))
        )


class Comparison:
    """Series of measurements, each beside its theory, with a strip of residuals beneath; a notebook shows it.

    Parameters
    ----------
    x_label, y_label : str
        Axis titles with units, such as "Goodput (Mbit/s)".
    title : str
        What the figure shows.
    residual : {"percent", "absolute"}
        Measured minus theory, as per cent of theory or in y's own unit (for quantities that are often zero).
    log_x, log_y : bool
        Logarithmic axes.
    cases : sequence of str, optional
        Names instead of numbers on the x axis: x is 0 for the first case, 1 for the second, and so on, and theory
        is a bar at each. `<br>` breaks a line.

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
        """Add a series.

        Parameters
        ----------
        name : str
            What it is, such as "cubic"; "measured" where there is only one.
        measured_x, measured_y : array
            What was measured.
        theory_x : array
            Where theory is drawn; not needed to be where it was measured.
        theory_y : array or callable
            Theory at `theory_x`, or the formula itself, which makes the residuals exact; an array is
            interpolated.
        published : pair of arrays, optional
            x and y of published measurements.
        details : sequence of str, optional
            A line for each measured point that its hover text adds.
        half_widths : array, optional
            Half the width of each measured point's interval, in y's unit; drawn as a bar.
        theory_name : str
            The theory's own name, such as "square root", where more than one exists; the residuals then have it too.

        Returns
        -------
        Comparison
            The same one.

        Raises
        ------
        NetlabError
            If x and y, or the measured points and their `details` or `half_widths`, differ in number.
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
        shown = None if published is None else _pair("published", *published)
        self._series.append(_Series(name, x, y, line_x, line_y, at_x, shown, lines, halves, theory_name))
        self._figure = None
        return self

    @property
    def figure(self) -> go.Figure:
        """The figure, drawn when first asked for; a later `add` draws it anew, so add series before anything else."""
        if self._figure is None:
            self._figure = self._drawn()
        return self._figure

    def still(
        self,
        *,
        x: tuple[float, float] | None = None,
        y: tuple[float, float] | None = None,
        residual: float | None = None,
    ) -> go.Figure:
        """Fix the axes for a panel: a slider must not move the scale by which the eye compares.

        Parameters
        ----------
        x, y : pair of float, optional
            From where to where, in the unit of the axis; above 0 on a logarithmic one. Left out, an axis follows what it shows.
        residual : float, optional
            How far the strip reaches on both sides of 0, in its own unit.

        Returns
        -------
        plotly Figure
            That of this comparison; add series before.
        """
        figure = self.figure
        if x is not None:
            figure.update_xaxes(range=np.log10(x).tolist() if self._log_x else list(x))
        if y is not None:
            figure.update_yaxes(range=np.log10(y).tolist() if self._log_y else list(y), row=1, col=1)
        if residual is not None:
            figure.update_yaxes(**_strip_scale(residual, residual), row=2, col=1)
        # What is shown now is not what the data span.
        return label_decades(figure, **{letter: span for letter, span in (("x", x), ("y", y)) if span is not None})

    def _ipython_display_(self) -> None:
        self.figure._ipython_display_()

    def __repr__(self) -> str:
        return f"Comparison({self._y_label!r} by {self._x_label!r} of {', '.join(s.name for s in self._series) or 'nothing'})"

    def _drawn(self) -> go.Figure:
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
            # A series and its theory stand one above the other, so that no line break comes between them.
            groups = Counter(trace.legendgroup for trace in listed)
            legend_rows = max(groups.values()) * math.ceil(len(groups) / GROUPS_IN_A_ROW)
            figure.update_layout(legend={"traceorder": "grouped", "tracegroupgap": 4})
        figure.update_layout(margin_t=62 + 22 * legend_rows, height=442 + 22 * legend_rows)
        self._scale_strip(figure)
        return label_decades(figure)

    def _draw_series(self, figure: go.Figure, number: int, series: _Series) -> None:
        # Theory has the colour of its series.
        colour = COLOURS[number % len(COLOURS)]
        gap = self._gap(series)
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
                **told("published", "published", self._x_label, self._y_label),
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
            error_y={**bars, "array": finite(self._half(series))} if has_bars else None,
            row=2,
            col=1,
        )

    def _draw_theory(self, figure: go.Figure, series: _Series, colour: str) -> None:
        bars = {
            "mode": "markers",
            "marker": {"symbol": "line-ew-open", "size": 30, "color": colour, "line": {"width": 2}},
        }
        same = [other for other in self._series if series.has_the_theory_of(other)]
        # Drawn once, where two have the same: the second would hide the first.
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

    def _theory_label(self, same: list[_Series]) -> str:
        """Return the legend's words for a theory that these series have in common."""
        if len(same) == len(self._series):
            return same[0].theory_name
        return f"{same[0].theory_name}, {' and '.join(series.name for series in same)}"

    def _gap(self, series: _Series) -> Array:
        # A difference of equal values is what their last bits make of it, which is another number on another processor.
        largest = np.max(np.abs(series.y), initial=0.0, where=np.isfinite(series.y))
        places = 12 - math.floor(math.log10(largest)) if largest > 0 else 12
        gap = [round(value, places) if math.isfinite(value) else value for value in series.y - series.theory_at_x]
        return self._in_strip(series, np.array(gap) + 0.0)  # 0.0 for -0.0

    def _half(self, series: _Series) -> Array:
        return np.abs(self._in_strip(series, np.asarray(series.half_widths or [0.0] * len(series.y))))

    def _in_strip(self, series: _Series, values: Array) -> Array:
        with np.errstate(divide="ignore", invalid="ignore"):
            return values / series.theory_at_x * 100 if self._residual == "percent" else values

    def _hovertext(self, series: _Series, gap: Array) -> list[str]:
        unit = " %" if self._residual == "percent" else ""
        return [
            f"<b>{series.name}</b><br>{self._x_label}: {_short(x)}<br>{self._y_label}: {_short(y)}"
            f"<br>{series.theory_name}: {_short(expected)}<br>residual: {_signed(apart)}{unit}{detail}"
            for x, y, expected, apart, detail in zip(
                series.x, series.y, series.theory_at_x, gap, series.details, strict=True
            )
        ]

    def _scale_strip(self, figure: go.Figure) -> None:
        low = high = 0.0
        for series in self._series:
            gap, half = self._gap(series), self._half(series)
            low = float(np.min(gap - half, initial=low, where=np.isfinite(gap)))
            high = float(np.max(gap + half, initial=high, where=np.isfinite(gap)))
        if self._residual == "percent":
            least = SMALLEST_RESIDUAL_RANGE
        else:
            least = 0.01 * max(float(np.abs(series.theory_y).max(initial=0.0)) for series in self._series) or 0.8
        least = max(least, MIN_STRIP_SHARE * max(-low, high))
        scale = _strip_scale(1.25 * max(-low, least), 1.25 * max(high, least))
        title = {"text": self._strip_title(), "font": {"size": 12}}
        figure.update_yaxes(title=title, zerolinecolor=TEXT, **scale, row=2, col=1)

    def _strip_title(self) -> str:
        """Return the title of the strip's axis, broken so that it is no longer than the axis."""
        names = {series.theory_name for series in self._series}
        (name,) = names if len(names) == 1 else ("theory",)
        _, bracket, unit = self._y_label.rpartition(" (")
        unit = "(%)" if self._residual == "percent" else f"({unit}" if bracket else ""
        words = f"Residual {'' if name == 'theory' else f'to {name} '}{unit}"
        return "<br>".join(textwrap.wrap(words, STRIP_LINE, break_long_words=False))


def _strip_scale(below: float, above: float) -> dict[str, Any]:
    """Return range and ticks of a strip that reaches so far below and above 0."""
    tick = _round_below(0.9 * max(below, above))
    ticks = [-tick] * (below >= tick) + [0] + [tick] * (above >= tick)
    return {"range": [-below, above], "tickvals": ticks}


def faded(figure: go.Figure, age: int) -> list[Any]:
    """Return a figure's measured and theory traces as background for a newer one: the fainter, the more runs (1 or more) came since.

    The first measured trace of the latest run (age 1) has the legend's entry for all of them.
    """
    kept = []
    listed = age == 1
    for trace in figure.data:
        part = role(trace)
        if part in ("measured", "theory", "residual"):
            quiet = type(trace)(trace.to_plotly_json())
            entry = listed and part == "measured"
            quiet.update(
                opacity=0.45 / age if part != "theory" else 0.3 / age, showlegend=entry, meta={"role": "earlier"}
            )
            if entry:
                # The entry has a legend group of its own, so that a click on it does not hide the newest run.
                quiet.update(name=EARLIER, legendgroup=EARLIER, legendrank=1002)
                listed = False
            kept.append(quiet)
    return kept


def label_decades(figure: go.Figure, **spans: tuple[float, float]) -> go.Figure:
    """Give logarithmic axes ticks whose labels are whole numbers, few enough to be read; return the figure.

    An axis shows what its data span, or what `spans` says for `x` or `y`.

    Plotly's own label the steps between 10 and 100 with one digit each: 2 3 4 5 6 7 8 9.
    """
    for letter in "xy":
        if figure.layout[f"{letter}axis"].type != "log":
            continue
        shown = spans.get(letter) or [
            value for trace in figure.data if trace.yaxis in (None, "y") for value in trace[letter] if value
        ]
        low, high = min(shown), max(shown)
        decades = math.log10(high / low)
        digits = (1, 2, 5) if decades < 2.3 else (1, 3) if decades < 4.6 else (1,)
        powers = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1)
        steps = (float(f"{digit}e{power}") for power in powers for digit in digits)
        # Plotly shows a little more than the data have.
        ticks = [step for step in steps if low / 1.3 <= step <= high * 1.3]
        axes = figure.select_xaxes() if letter == "x" else [figure.layout.yaxis]
        for axis in axes:
            axis.update(tickvals=ticks, ticktext=[_tick_label(tick) for tick in ticks])
    return figure


def _tick_label(value: float) -> str:
    if 1e-4 <= value < 1e5:
        return f"{value:g}"
    digit, power = f"{value:.0e}".split("e")
    return f"{'' if digit == '1' else f'{digit}·'}10<sup>{int(power)}</sup>"


def _round_below(value: float) -> float:
    """The largest of 1, 2 and 5 times a power of ten that is not above `value`.

    >>> _round_below(0.9), _round_below(1.0), _round_below(37)
    (0.5, 1.0, 20.0)
    """
    power = math.floor(math.log10(value))
    return max(
        float(f"{digit}e{p}") for p in (power - 1, power) for digit in (1, 2, 5) if float(f"{digit}e{p}") <= value
    )


def _pair(name: str, x: ArrayLike, y: ArrayLike) -> tuple[Array, Array]:
    xs, ys = np.atleast_1d(np.asarray(x, dtype=float)), np.atleast_1d(np.asarray(y, dtype=float))
    if xs.shape != ys.shape:
        raise NetlabError(f"The {name} x and y must have the same length, got {xs.size} and {ys.size}.")
    return xs, ys


def _evaluate(formula: Callable[[Any], Any], x: Array) -> Array:
    """The formula at each x, also where it cannot take an array."""
    try:
        values = np.asarray(formula(x), dtype=float)
        if values.shape == x.shape:
            return values
    except (TypeError, ValueError):
        pass
    return np.array([float(formula(float(value))) for value in x])


def _short(value: float) -> str:
    return f"{value:.4g}" if math.isfinite(value) else "none"


def _signed(value: float) -> str:
    return f"{value:+.2g}" if math.isfinite(value) else "none"
