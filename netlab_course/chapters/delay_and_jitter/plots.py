"""Figures of the chapter "Delay and jitter"."""

import textwrap

import pandas as pd
import plotly.graph_objects as go

from netlab.plots.theme import COLOURS, points

SEED_OFFSET = 0.09  # of the way from one TCP to the next: the seeds of a jitter lie side by side
NAME_LINE = 13
"""The letters of a line of a TCP's name below the axis."""


def jitter(table: pd.DataFrame, title: str) -> go.Figure:
    """Return a figure of the goodput in Mbit/s of each run in a table of `experiments.jitter_table`, by variant of TCP;
    a marker for each seed, a symbol for each jitter.
    """
    figure = go.Figure()
    names = list(dict.fromkeys(table.tcp))
    widths = [group.groupby("tcp").size().max() for _, group in table.groupby("jitter_ms", sort=True)]
    left = -SEED_OFFSET * (sum(widths) - 1) / 2
    for number, (jitter_ms, group) in enumerate(table.groupby("jitter_ms", sort=True)):
        figure.add_scatter(
            x=(group.tcp.map(names.index) + left + SEED_OFFSET * group.groupby("tcp").cumcount()).tolist(),
            y=group.goodput_mbps,
            name=f"± {jitter_ms:g} ms",
            customdata=group.tcp,
            hovertemplate="%{customdata}: %{y:.2f} Mbit/s<extra></extra>",
            **points(number, 8, line={"width": 2, "color": COLOURS[number]}),
        )
        left += SEED_OFFSET * widths[number]
    figure.update_layout(template="netlab", title_text=title, height=400, yaxis_title_text="Goodput (Mbit/s)")
    # Plotly would turn long names, and leave out those that then overlap.
    ticks = ["<br>".join(textwrap.wrap(name, NAME_LINE)) for name in names]
    figure.update_xaxes(tickvals=list(range(len(names))), ticktext=ticks, tickangle=0)
    figure.update_yaxes(rangemode="tozero")
    return figure
