"""The chapter's own figures."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from netlab.plots.theme import COLOURS, SYMBOLS


def jitter(table: pd.DataFrame, title: str) -> go.Figure:
    """Goodput of each run against what TCP was; a marker for each seed, a symbol for each jitter.

    Parameters
    ----------
    table : DataFrame
        What `experiments.tcp_with_jitter` returns.
    title : str
        What the figure shows.
    """
    figure = go.Figure()
    for number, (jitter_ms, group) in enumerate(table.groupby("jitter_ms", sort=True)):
        figure.add_scatter(
            x=[_in_lines(name) for name in group.tcp],
            y=group.goodput_mbps,
            mode="markers",
            name=f"± {jitter_ms:g} ms",
            marker={"color": COLOURS[number], "symbol": SYMBOLS[number], "size": 11, "line": {"width": 2}},
            hovertemplate="%{x}: %{y:.2f} Mbit/s<extra></extra>",
        )
    figure.update_layout(template="netlab", title_text=title, height=400, yaxis_title_text="Goodput (Mbit/s)")
    figure.update_yaxes(rangemode="tozero")
    return figure


def _in_lines(name: str) -> str:
    """A name for an axis, broken after its comma and before what is in brackets."""
    return name.replace(", ", ",<br>").replace(" (", "<br>(")
