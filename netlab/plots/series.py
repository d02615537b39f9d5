"""A run over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from netlab.base.errors import NetlabError
from netlab.network import change
from netlab.plots.theme import TEXT, finite, line, points, theory_line, told

if TYPE_CHECKING:
    import pandas as pd

MOST_WORDS = 6
"""Of more changes the words would stand on each other."""

LABELS = {
    "goodput_mbps": "Goodput (Mbit/s)",
    "throughput_mbps": "Throughput (Mbit/s)",
    "delivery_rate_mbps": "Delivery rate (Mbit/s)",
    "cwnd_segments": "Window (segments)",
    "ssthresh_segments": "Slow-start threshold (segments)",
    "rtt_ms": "RTT (ms)",
    "retransmits": "Retransmits",
    "loss_rate": "Loss rate",
    "backlog_packets": "Queue (packets)",
    "backlog_bytes": "Queue (bytes)",
    "t_s": "Time (s)",
}


def time_series(
    run: Any,
    quantities: Sequence[str] | str = ("goodput_mbps", "cwnd_segments", "rtt_ms"),
    *,
    interfaces: Sequence[str] | str | None = None,
    theory: Mapping[str, float] | None = None,
    title: str = "",
) -> go.Figure:
    """A run over time: a strip per quantity with a line per flow, the backlog of the queues, a thin line at each change of a link.

    Parameters
    ----------
    run : Run
        Anything with the frames `intervals` and `queues`, and `pings` where there are some.
    quantities : str or sequence of str
        Columns of `run.intervals`; a column without any value is left out. Pings are points in the strip of "rtt_ms".
    interfaces : str or sequence of str, optional
        Queues to draw, such as "r1-eth1"; those that ever held a packet when left out, none for an empty
        sequence.
    theory : mapping of quantity to float, optional
        Values drawn as dashed horizontal lines.
    title : str
        What the figure shows.

    Returns
    -------
    Figure

    Raises
    ------
    NetlabError
        If a quantity or an interface is not in the run, or there is nothing to draw.
    """
    intervals, queues = run.intervals, run.queues
    quantities = [quantities] if isinstance(quantities, str) else quantities
    interfaces = [interfaces] if isinstance(interfaces, str) else interfaces
    pings = getattr(run, "pings", None)
    if pings is not None and not pings["rtt_ms"].notna().any():
        pings = None
    shown = _quantities_with_values(intervals, quantities, always=("rtt_ms",) if pings is not None else ())
    if interfaces is None:
        most = queues.groupby("interface", sort=False)["backlog_packets"].max()
        interfaces = [str(interface) for interface in most.index[most > 0]]
    else:
        _require_known(queues, interfaces)
    rows = [*shown, *(["backlog_packets"] if interfaces else [])]
    if not rows:
        raise NetlabError("The run has no series to draw: it ended before its first interval.")

    figure = make_subplots(rows=len(rows), cols=1, shared_xaxes=True, vertical_spacing=0.16 / len(rows))
    for row, quantity in enumerate(shown, start=1):
        for series, (flow, frame) in enumerate(intervals.groupby("flow", sort=False)):
            if frame[quantity].notna().any():
                _add(figure, row, frame, quantity, str(flow), line(series))
    for series, interface in enumerate(interfaces):
        frame = queues[queues["interface"] == interface]
        style = series + intervals["flow"].nunique()
        _add(figure, len(rows), frame, "backlog_packets", f"queue {interface}", line(style))
    if pings is not None and "rtt_ms" in rows:
        for series, (flow, frame) in enumerate(pings.groupby("flow", sort=False), start=intervals["flow"].nunique()):
            _add(figure, rows.index("rtt_ms") + 1, frame, "rtt_ms", str(flow), points(series, 5))
    span = [float(intervals["t_s"].min()), float(intervals["t_s"].max())]
    for quantity, value in (theory or {}).items():
        if quantity not in rows:
            continue
        label = LABELS.get(quantity, quantity)
        figure.add_scatter(
            x=span,
            y=[value, value],
            **theory_line(),
            **told("theory", "theory", LABELS["t_s"], label),
            row=rows.index(quantity) + 1,
            col=1,
        )
    labelled: set[str] = set()
    for trace in figure.data:
        trace.showlegend = trace.name not in labelled
        labelled.add(trace.name)
    _mark_changes(figure, run, span[1])
    for row, quantity in enumerate(rows, start=1):
        label = LABELS.get(quantity, quantity).replace(" (", "<br>(")
        figure.update_yaxes(title_text=label, rangemode="tozero", row=row, col=1)
    figure.update_xaxes(title_text=LABELS["t_s"], row=len(rows), col=1)
    figure.update_layout(template="netlab", height=130 + 160 * len(rows), title_text=title or None, hovermode="x")
    return figure


def _mark_changes(figure: go.Figure, run: Any, until_s: float) -> None:
    """A thin line at each moment at which a link changed, with what became of it in a few words."""
    changes, _ = change.read(getattr(run, "settings", {}).get("scenario", {}).get("changes", []))
    by_moment: dict[float, list[str]] = {}
    for item in changes:
        if item.at_s <= until_s:
            by_moment.setdefault(float(item.at_s), []).append(item.words())
    for at_s, words in by_moment.items():
        figure.add_vline(x=at_s, line={"color": TEXT, "width": 1}, row="all", col=1)
        if len(by_moment) <= MOST_WORDS:
            figure.add_annotation(
                x=at_s, y=1, yref="y domain", xanchor="right", yanchor="top", showarrow=False, textangle=-90,
                text="<br>".join(words), font={"size": 11, "color": TEXT},
            )  # fmt: skip


def _quantities_with_values(intervals: pd.DataFrame, quantities: Sequence[str], always: Sequence[str]) -> list[str]:
    for quantity in quantities:
        if quantity not in intervals:
            known = ", ".join(column for column in intervals if column in LABELS)
            raise NetlabError(f"The run has no series {quantity!r}; it has {known}.")
    return [quantity for quantity in quantities if quantity in always or intervals[quantity].notna().any()]


def _require_known(queues: pd.DataFrame, interfaces: Sequence[str]) -> None:
    known = list(queues["interface"].unique())
    for interface in interfaces:
        if interface not in known:
            raise NetlabError(f"The run has no queue at {interface!r}; it has {', '.join(known) or 'none'}.")


def _add(figure: go.Figure, row: int, frame: pd.DataFrame, quantity: str, name: str, look: dict[str, Any]) -> None:
    figure.add_scatter(
        x=frame["t_s"].tolist(),
        y=finite(frame[quantity]),
        legendgroup=name,
        **look,
        **told("measured", name, LABELS["t_s"], LABELS.get(quantity, quantity)),
        row=row,
        col=1,
    )
