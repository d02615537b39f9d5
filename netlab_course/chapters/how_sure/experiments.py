"""Tables and figures of the chapter "How sure are you?"."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray
from plotly.subplots import make_subplots

from netlab.measure.results import Run
from netlab.plots.theme import COLOURS, SYMBOLS, TEXT, points
from netlab.runs.replications import interval
from netlab_course.chapters.how_sure.settings import LARGE_PACKETS, SMALL_PACKETS

Intervals = Sequence[tuple[float, float]]

_COVERING_STYLE = {"color": COLOURS[0], "symbol": "circle"}
_MISSING_STYLE = {"color": COLOURS[1], "symbol": "x"}


def miss_mask(found: Intervals, truth: float) -> NDArray[np.bool_]:
    """Return an array that says for each interval (mean and half width) whether it does not contain the true mean."""
    means, halves = np.asarray(found, dtype=float).T
    return np.asarray(np.abs(means - truth) > halves)


def strokes_figure(found: Intervals, truth: float, title: str) -> go.Figure:
    """Return a figure of intervals of a loss rate (mean and half width of each) as vertical bars in their order, with
    the true mean; those that miss it have another colour and symbol.
    """
    means, halves = np.asarray(found, dtype=float).T
    misses = miss_mask(found, truth)
    numbers = np.arange(1, len(means) + 1)
    figure = go.Figure(layout={"template": "netlab", "title_text": title, "height": 420})
    for name, chosen, look in (
        ("holds the true mean", ~misses, _COVERING_STYLE),
        ("misses it", misses, _MISSING_STYLE),
    ):
        if chosen.any():
            figure.add_scatter(
                x=numbers[chosen].tolist(),
                y=means[chosen].tolist(),
                error_y={"type": "data", "array": halves[chosen].tolist(), "thickness": 3, "width": 0},
                mode="markers",
                name=name,
                marker={**look, "size": 10},
                hovertemplate="interval %{x}: %{y:.4f} ± %{error_y.array:.4f}<extra></extra>",
            )
    figure.add_hline(y=truth, line={"dash": "dash", "width": 2, "color": TEXT})
    figure.add_annotation(x=1, xref="paper", xanchor="right", y=truth, yanchor="bottom", text="true", showarrow=False)
    figure.update_xaxes(title_text="Number of the interval", dtick=2, range=[0, len(means) + 2.5])
    return figure.update_yaxes(title_text="Loss rate", rangemode="tozero")


def rooms_table(small: pd.DataFrame, large: pd.DataFrame) -> pd.DataFrame:
    """Return a table of the loss rates in per cent and the mean delays in ms in two tables of `netlab.repeat`, with a
    small and a large queue, side by side, a row for each run.
    """
    tables = {f"room for {SMALL_PACKETS}": small, f"room for {LARGE_PACKETS}": large}
    return pd.DataFrame(
        {
            **{f"lost, {name}": 100 * table["loss_rate"] for name, table in tables.items()},
            **{f"delay, {name}": table["delay_ms"] for name, table in tables.items()},
        }
    )


def pairs_figure(small: pd.Series[float], large: pd.Series[float]) -> go.Figure:
    """Return a figure of the loss rates in per cent with a small and a large queue (series by seed), and below them
    their difference with its interval.
    """
    difference = small - large
    mean, half = interval(difference)
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.1)
    figure.update_layout(template="netlab", title_text="The same arrivals, two rooms", height=520)
    for number, (name, values) in enumerate(
        {f"room for {SMALL_PACKETS}": small, f"room for {LARGE_PACKETS}": large}.items()
    ):
        figure.add_scatter(
            x=values.index.tolist(),
            y=values.tolist(),
            name=name,
            mode="lines+markers",
            line={"color": COLOURS[number], "width": 1},
            marker={"symbol": SYMBOLS[number], "size": 10},
            row=1,
            col=1,
        )
    figure.add_scatter(
        x=difference.index.tolist(), y=difference.tolist(), name="difference", **points(2, 10), row=2, col=1
    )
    figure.add_hrect(y0=mean - half, y1=mean + half, fillcolor=COLOURS[2], opacity=0.25, line_width=0, row=2, col=1)
    figure.update_yaxes(title_text="Lost (%)", rangemode="tozero", row=1, col=1)
    figure.update_yaxes(title_text="Difference (%)", rangemode="tozero", row=2, col=1)
    return figure.update_xaxes(title_text="Seed", dtick=1, row=2, col=1)


def difference_table(small: pd.Series[float], others: pd.Series[float], large: pd.Series[float]) -> pd.DataFrame:
    """Return a table of the difference in per cent between the loss rates with the small and the large queue and its 95
    % interval, in two rows: with other seeds (`others` has the rates of the large queue with these) and with the same
    seeds.
    """
    found = [interval(small, others), interval(small - large)]
    return pd.DataFrame(
        {
            "the two rooms have": ["other seeds", "the same seeds"],
            "difference (%)": [each.mean for each in found],
            "half width (%)": [each.half_width for each in found],
            "holds 0": ["yes" if abs(each.mean) <= each.half_width else "no" for each in found],
        }
    )


def warm_up_table(runs: Sequence[Run], cuts_s: Sequence[float]) -> pd.DataFrame:
    """Return a table with a row for each of `cuts_s`, times in s: the mean round-trip time in ms of the runs' pings
    that were sent at or after it, and the half width of its 95 % interval over the runs.
    """
    rows = []
    for cut_s in cuts_s:
        mean, half = interval([run.pings.loc[run.pings["t_s"] >= cut_s, "rtt_ms"].mean() for run in runs])
        rows.append({"left out (s)": cut_s, "mean RTT (ms)": mean, "half width (ms)": half})
    return pd.DataFrame(rows)


def clockwork_table(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table of mean and half width over the seeds of the loss rate (0 to 1) of h1, a row for each case, from a
    table of `netlab.repeat` whose first column has the cases.
    """
    losses = table[table["src"] == "h1"].groupby(table.columns[0])["loss_rate"]
    found = {case: interval(values) for case, values in losses}
    return pd.DataFrame(
        [
            {table.columns[0]: case, "loss rate": each.mean, "half width": each.half_width}
            for case, each in found.items()
        ]
    )


def modest_table(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table of the loss rates in per cent of h1 and h2, and of h2's minus h1's (`difference`), a row for each
    seed, from a table of `netlab.repeat`.
    """
    wide = 100 * table.pivot_table(index="seed", columns="src", values="loss_rate")
    return wide.assign(difference=wide["h2"] - wide["h1"])
