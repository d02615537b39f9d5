"""Figures of a run over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from netlab.base.arguments import explain_bad_arguments
from netlab.base.errors import NetlabError
from netlab.base.values import short_repr
from netlab.network import change
from netlab.plots.theme import TEXT, finite, line, points, series_settings, theory_line

MAX_LABELS = 6
"""Further changes get a thin vertical line without a label."""
LABEL_PX, LABEL_FONT_PX = 17, 12
NARROW_PLOT_PX = 520
"""The smallest width of the plot at which labels of changes do not overlap."""
PX_AROUND_STRIPS = 130

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


@explain_bad_arguments("nl.plots.time_series(run)")
def time_series(
    run: Any,
    quantities: Sequence[str] | str = ("goodput_mbps", "cwnd_segments", "rtt_ms"),
    *,
    interfaces: Sequence[str] | str | None = None,
    theory: Mapping[str, float] | None = None,
    title: str = "",
) -> go.Figure:
    """Return a figure of a run over time: a strip per quantity that has values, a curve per flow, queues' backlog at
    `interfaces` (None: all that held a packet), dashed `theory`, a line at each change.

    Parameters
    ----------
    run : Run
        Any object with the tables `intervals` and `queues`, and `pings` if there are any.
    quantities : str or sequence of str
        Columns of `run.intervals`; a column without any value is left out. Pings are points in the strip of "rtt_ms".
    interfaces : str or sequence of str, optional
        Queues to draw, named by their links, such as "r1 to r2", or by interfaces, such as "r1-eth1"; by default those
        that ever held a packet, and none for an empty sequence.
    theory : mapping of quantity to float, optional
        Values drawn as dashed horizontal lines.
    title : str
        The figure's title; by default the names of the quantities.

    Returns
    -------
    Figure

    Raises
    ------
    NetlabError
        If a quantity or an interface is not in the run, or there is nothing to draw.
    """
    if isinstance(run, pd.DataFrame):
        raise NetlabError("time_series draws a whole run, and this is a table of one: nl.plots.time_series(run).")
    if not (hasattr(run, "intervals") and hasattr(run, "queues")):
        raise NetlabError(f"time_series draws a run, which is what nl.run(...) returns; got {short_repr(run)}.")
    intervals, queues = run.intervals, run.queues
    quantities = [quantities] if isinstance(quantities, str) else quantities
    interfaces = [interfaces] if isinstance(interfaces, str) else interfaces
    pings = getattr(run, "pings", None)
    if pings is not None and not pings["rtt_ms"].notna().any():
        pings = None
    strips = _quantities_with_values(intervals, quantities, always=("rtt_ms",) if pings is not None else ())
    if interfaces is None:
        most = queues.groupby("interface", sort=False)["backlog_packets"].max()
        interfaces = [str(interface) for interface in most.index[most > 0]]
    else:
        interfaces = [_interface(queues, each) for each in interfaces]
    rows = [*strips, *(["backlog_packets"] if interfaces else [])]
    if not rows:
        raise NetlabError("The run has no series to draw: it ended before its first interval.")

    figure = make_subplots(rows=len(rows), cols=1, shared_xaxes=True, vertical_spacing=0.16 / len(rows))
    for row, quantity in enumerate(strips, start=1):
        for series, (flow, frame) in enumerate(intervals.groupby("flow", sort=False)):
            if frame[quantity].notna().any():
                _add_curve(figure, row, frame, quantity, str(flow), line(series))
    series = intervals["flow"].nunique()
    if pings is not None and "rtt_ms" in rows:
        for flow, frame in pings.groupby("flow", sort=False):
            _add_curve(figure, rows.index("rtt_ms") + 1, frame, "rtt_ms", str(flow), points(series, 5))
            series += 1
    for interface in interfaces:
        frame = queues[queues["interface"] == interface]
        _add_curve(figure, len(rows), frame, "backlog_packets", f"queue {_link(frame, interface)}", line(series))
        series += 1
    span = [float(intervals["t_s"].min()), float(intervals["t_s"].max())]
    for quantity, value in (theory or {}).items():
        if quantity not in rows:
            continue
        label = LABELS.get(quantity, quantity)
        figure.add_scatter(
            x=span,
            y=[value, value],
            **theory_line(),
            **series_settings("theory", "theory", LABELS["t_s"], label),
            row=rows.index(quantity) + 1,
            col=1,
        )
    labelled: set[str] = set()
    for trace in figure.data:
        trace.showlegend = trace.name not in labelled
        labelled.add(trace.name)
    for row, quantity in enumerate(rows, start=1):
        label = LABELS.get(quantity, quantity).replace(" (", "<br>(")
        figure.update_yaxes(title_text=label, rangemode="tozero", row=row, col=1)
    figure.update_xaxes(title_text=LABELS["t_s"], row=len(rows), col=1)
    title = title or _title(rows)
    figure.update_layout(template="netlab", height=PX_AROUND_STRIPS + 160 * len(rows), title_text=title, hovermode="x")
    _mark_changes(figure, run, span)
    return figure


def _title(rows: Sequence[str]) -> str:
    """Return a figure's title from the quantities of its strips, without their units.

    >>> _title(["goodput_mbps", "rtt_ms", "backlog_packets"])
    'Goodput, RTT and queue over time'
    """
    first, *others = (LABELS.get(quantity, quantity).partition(" (")[0] for quantity in rows)
    names = [first, *(name if name.isupper() else name.lower() for name in others)]
    return f"{' and '.join([', '.join(names[:-1]), names[-1]] if others else names)} over time"


def _mark_changes(figure: go.Figure, run: Any, span: Sequence[float]) -> None:
    """Draw a thin vertical line at each change of a link up to the figure's end, described above the strips unless
    there are more than 6; `span` has the first and last time in s. The figure becomes higher by the labels.
    """
    changes, _ = change.read(getattr(run, "settings", {}).get("scenario", {}).get("changes", []))
    by_moment: dict[float, list[str]] = {}
    for item in changes:
        if item.at_s <= span[1]:
            by_moment.setdefault(float(item.at_s), []).append(item.words())
    labelled = 0 < len(by_moment) <= MAX_LABELS
    places = _label_places({at_s: "; ".join(words) for at_s, words in by_moment.items()}, span) if labelled else []
    lines = 1 + max((place.line for place in places), default=-1)
    strips_px = figure.layout.height - PX_AROUND_STRIPS
    share = strips_px / (strips_px + lines * LABEL_PX)
    for axis in figure.select_yaxes():
        axis.domain = [end * share for end in axis.domain]
    figure.update_layout(height=figure.layout.height + lines * LABEL_PX)
    top = {place.at_s: share + (1 - share) * (place.line + 0.5) / lines for place in places}
    for at_s in by_moment:
        figure.add_shape(
            type="line", x0=at_s, x1=at_s, y0=0, y1=top.get(at_s, share), xref="x", yref="paper",
            line={"color": TEXT, "width": 1},
        )  # fmt: skip
    for place in places:
        figure.add_annotation(
            x=place.at_s, y=top[place.at_s], xref="x", yref="paper", xanchor=place.anchor, yanchor="middle",
            xshift=3 if place.anchor == "left" else -3, showarrow=False, text=place.words,
            font={"size": LABEL_FONT_PX, "color": TEXT},
        )  # fmt: skip


class _LabelPlace(NamedTuple):
    """The place of a change's label: its line's time in s, its text, its row, its side next to the line."""

    at_s: float
    words: str
    line: int
    """The row of the label, from 0 next to the strips, upwards."""
    anchor: str


def _label_places(labels: Mapping[float, str], span: Sequence[float]) -> list[_LabelPlace]:
    """Return a place for each label, by its time in s: a row above the strips in which it covers neither another label
    nor its line. `span` has the first and last time of the figure in s.

    >>> [place.line for place in _label_places({1.0: "r1-h2: 2 Mbit/s", 2.0: "r1-h2: 5 Mbit/s", 8.0: "r1-h2: down"}, (0, 10))]
    [1, 0, 0]
    """
    px_per_s = NARROW_PLOT_PX / ((span[1] - span[0]) or 1.0)
    rightwards, leftwards = [], []
    for at_s, words in sorted(labels.items()):
        begin_px, width_px = (at_s - span[0]) * px_per_s, 0.58 * LABEL_FONT_PX * len(words) + 12
        if begin_px + width_px <= NARROW_PLOT_PX:
            rightwards.append((at_s, words, "left", begin_px, begin_px + width_px))
        else:
            leftwards.append((at_s, words, "right", begin_px - width_px, begin_px))
    occupied: list[tuple[int, float, float]] = []
    found = []
    # A label crosses the vertical lines of later labels on its side, which end below it: so place the outermost first.
    for at_s, words, anchor, left_px, right_px in [*rightwards[::-1], *leftwards]:
        below = [line for line, start_px, end_px in occupied if left_px < end_px and right_px > start_px]
        line = 1 + max(below, default=-1)
        occupied.append((line, left_px, right_px))
        found.append(_LabelPlace(at_s, words, line, anchor))
    return sorted(found)


def _quantities_with_values(intervals: pd.DataFrame, quantities: Sequence[str], always: Sequence[str]) -> list[str]:
    """Return the quantities with a value in `intervals`, or in `always`. Raises NetlabError for an unknown one."""
    for quantity in quantities:
        if quantity not in intervals:
            columns = ", ".join(column for column in intervals if column in LABELS)
            raise NetlabError(f"The run has no series {quantity!r}; it has {columns}.")
    return [quantity for quantity in quantities if quantity in always or intervals[quantity].notna().any()]


def _link(frame: pd.DataFrame, interface: str) -> str:
    """Return the name of a queue's link from its rows; of a run without link names, `interface`."""
    link = frame["link"].iloc[0] if "link" in frame and len(frame) else None
    return str(link) if link else interface


def _interface(queues: pd.DataFrame, name: str) -> str:
    """Return the interface of a queue, named so or by its link ("r1 to r2"). Raises NetlabError without one."""
    frames = dict(list(queues.groupby("interface", sort=False)))
    names = {_link(frame, str(interface)): str(interface) for interface, frame in frames.items()}
    if str(name) not in {*frames, *names}:
        raise NetlabError(f"The run has no queue at {name!r}; it has {', '.join(names) or 'none'}.")
    return names.get(name, name)


def _add_curve(
    figure: go.Figure, row: int, frame: pd.DataFrame, quantity: str, name: str, look: dict[str, Any]
) -> None:
    """Add the column `quantity` of `frame` over time to strip `row` (from 1), as series `name` with Plotly's `look`."""
    figure.add_scatter(
        x=frame["t_s"].tolist(),
        y=finite(frame[quantity]),
        legendgroup=name,
        **look,
        **series_settings("measured", name, LABELS["t_s"], LABELS.get(quantity, quantity)),
        row=row,
        col=1,
    )
