"""A figure that grows while network time passes."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from netlab.errors import ScenarioError, one_of
from netlab.results import Run

AXES = {
    "goodput_mbps": "Goodput (Mbit/s)",
    "cwnd_segments": "Congestion window (segments)",
    "rtt_ms": "RTT (ms)",
    "backlog_packets": "Queue (packets)",
    "backlog_bytes": "Queue (bytes)",
    "drops": "Drops",
}
OF_QUEUES = ("backlog_packets", "backlog_bytes", "drops")
DEFAULT = ("goodput_mbps", "cwnd_segments", "backlog_packets")
ROW_PX = 180


def figure(quantities: tuple[str, ...] = DEFAULT) -> go.FigureWidget:
    """An empty figure with a row for each quantity.

    Raises
    ------
    ScenarioError
        When a quantity is not one of `AXES`.
    """
    unknown = [name for name in quantities if name not in AXES]
    if unknown or not quantities:
        raise ScenarioError([f"quantities: {one_of(name, list(AXES))}" for name in unknown or ["none"]])
    rows = make_subplots(rows=len(quantities), shared_xaxes=True, vertical_spacing=0.06)
    for row, name in enumerate(quantities, start=1):
        rows.update_yaxes(title_text=AXES[name], rangemode="tozero", row=row, col=1)
    rows.update_xaxes(title_text="Network time (s)", row=len(quantities), col=1)
    rows.update_layout(height=ROW_PX * len(quantities) + 60, margin={"l": 70, "r": 20, "t": 20, "b": 50})
    return go.FigureWidget(rows)


def fill(widget: Any, run: Run, quantities: tuple[str, ...]) -> None:
    """Draw all that was measured so far into a figure of these quantities."""
    lines = {trace.uid: trace for trace in widget.data}
    with widget.batch_update():
        for row, name in enumerate(quantities, start=1):
            table, key = (run.queues, "interface") if name in OF_QUEUES else (run.intervals, "flow")
            for label, own in table.groupby(key, sort=False):
                if name in OF_QUEUES and not own["backlog_packets"].any():
                    continue
                uid = f"{name} {label}"
                if uid not in lines:
                    widget.add_trace(go.Scatter(uid=uid, name=str(label), mode="lines"), row=row, col=1)
                    lines[uid] = widget.data[-1]
                lines[uid].x, lines[uid].y = own["t_s"].to_numpy(), own[name].to_numpy()
