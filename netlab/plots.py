"""Runs and theory as Plotly figures, all in one template.

What was measured is a marker, what theory says is a dashed line, what somebody published is an open diamond:
the three stay apart without colour, on a white or a dark page. Colours, greys and gridlines are mid-tones for
the same reason.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np
import plotly.graph_objects as go
import plotly.io as pio
from numpy.typing import ArrayLike, NDArray
from plotly.io.base_renderers import MimetypeRenderer
from plotly.subplots import make_subplots

from netlab.errors import NetlabError

if TYPE_CHECKING:
    import pandas as pd

    from netlab.network.link import LinkShape
    from netlab.network.topology import Topology

Array = NDArray[np.float64]

TEXT = "#7c7c7c"  # contrast 4.2 on white and 4.5 on JupyterLab's dark page
GRID = "rgba(128,128,128,0.25)"
COLOURS = ("#2a84c6", "#d55e00", "#1a9a6c", "#b665a1", "#b8860b", "#808080")
SYMBOLS = ("circle", "square", "triangle-up", "x", "cross", "star")
DASHES = ("solid", "dot", "dashdot", "longdashdot", "longdash")  # "dash" is theory's alone
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
TYPICAL_WIDTH_PX = 800  # of a notebook's output on a laptop
PIXELS_PER_LINK = 115
SMALLEST_RESIDUAL_RANGE = 1.0  # per cent; a strip that blows up 0.001 % teaches nothing


def _template() -> go.layout.Template:
    axis = {
        "gridcolor": GRID,
        "zerolinecolor": GRID,
        "linecolor": TEXT,
        "tickcolor": TEXT,
        "showline": True,
        "ticks": "outside",
        "ticklen": 4,
        "automargin": True,
        "title": {"standoff": 8},
    }
    return go.layout.Template(
        layout={
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "font": {"color": TEXT, "size": 14, "family": "system-ui, Helvetica, Arial, sans-serif"},
            "title": {
                "x": 0,
                "xref": "paper",
                "y": 1,
                "yanchor": "top",
                "pad": {"t": 14},
                "font": {"size": 16},
            },
            "colorway": COLOURS,
            "xaxis": axis,
            "yaxis": axis,
            "legend": {"orientation": "h", "x": 0, "y": 1.0, "yanchor": "bottom", "bgcolor": "rgba(0,0,0,0)"},
            "margin": {"l": 70, "r": 20, "t": 80, "b": 60},
            "hoverlabel": {"align": "left"},
        }
    )


pio.templates["netlab"] = _template()


class _NotebookRenderer(MimetypeRenderer):  # type: ignore[misc]
    """Plotly's own form, which JupyterLab draws, and HTML for pages without it (nbviewer, nbconvert)."""

    def to_mimebundle(self, fig_dict: dict[str, Any]) -> dict[str, Any]:
        bundle: dict[str, Any] = pio.renderers["plotly_mimetype"].to_mimebundle(fig_dict)
        return {**bundle, "text/html": page_html(fig_dict)}


def page_html(figure: go.Figure | dict[str, Any]) -> str:
    """A figure as HTML that loads Plotly from the web; equal text for equal figures, so that notebooks agree."""
    drawn = go.Figure(figure)
    drawn.update_traces(uid=None)  # random
    name = hashlib.sha256(drawn.to_json().encode()).hexdigest()[:12]
    return str(pio.to_html(drawn, full_html=False, include_plotlyjs="cdn", div_id=f"figure-{name}"))


pio.renderers["netlab"] = _NotebookRenderer()
if str(pio.renderers.default).startswith("plotly_mimetype"):  # Colab, VS Code and terminals have ways of their own
    pio.renderers.default = "netlab"


def measured_against_theory(
    measured_x: ArrayLike,
    measured_y: ArrayLike,
    theory_x: ArrayLike,
    theory_y: ArrayLike | Callable[[Any], Any],
    *,
    x_label: str,
    y_label: str,
    title: str = "",
    name: str = "measured",
    published: tuple[ArrayLike, ArrayLike] | None = None,
    details: Sequence[str] | None = None,
    residual: str = "percent",
    log_x: bool = False,
    log_y: bool = False,
    figure: go.Figure | None = None,
) -> go.Figure:
    """A measurement beside its theory, with a strip of residuals beneath.

    Parameters
    ----------
    measured_x, measured_y : array
        What was measured.
    theory_x : array
        Where theory is drawn; not needed to be where it was measured.
    theory_y : array or callable
        Theory at `theory_x`, or the formula itself, which makes the residuals exact; an array is
        interpolated.
    x_label, y_label : str
        Axis titles with units, such as "Goodput (Mbit/s)".
    title : str
        What the figure shows.
    name : str
        What this series is, such as "cubic".
    published : pair of arrays, optional
        x and y of published measurements.
    details : sequence of str, optional
        A line for each measured point that its hover text adds.
    residual : {"percent", "absolute"}
        Measured minus theory, as per cent of theory or in y's own unit (for quantities that are often zero).
    log_x, log_y : bool
        Logarithmic axes.
    figure : Figure, optional
        A figure of this function to which the series is added.

    Returns
    -------
    Figure

    Raises
    ------
    NetlabError
        If x and y differ in length or `residual` is unknown.

    Examples
    --------
    >>> from netlab import theory
    >>> figure = measured_against_theory([1, 10], [1.0, 4.798], np.linspace(0.1, 10, 50),
    ...     lambda offered: theory.udp_goodput_mbps(offered, 5),
    ...     x_label="Offered rate (Mbit/s)", y_label="Goodput (Mbit/s)")
    >>> [trace.name for trace in figure.data]
    ['measured', 'theory', 'measured - theory']
    """
    if residual not in ("percent", "absolute"):
        raise NetlabError(f"residual must be percent or absolute, got {residual!r}.")
    x, y = _pair("measured", measured_x, measured_y)
    line_x = np.asarray(theory_x, dtype=float)
    if callable(theory_y):
        line_y, at_x = _evaluate(theory_y, line_x), _evaluate(theory_y, x)
    else:
        line_x, line_y = _pair("theory", line_x, theory_y)
        order = np.argsort(line_x)
        at_x = np.interp(x, line_x[order], line_y[order])
    first = figure is None
    figure = _with_strip() if figure is None else figure
    series = sum(_role(trace) == "measured" for trace in figure.data)
    if series == 1:  # "theory" alone no longer says whose
        figure.for_each_trace(
            lambda trace: trace.update(name=f"theory, {figure.data[0].name}"), selector={"name": "theory"}
        )
    colour, symbol = COLOURS[series % len(COLOURS)], SYMBOLS[series % len(SYMBOLS)]

    with np.errstate(divide="ignore", invalid="ignore"):
        gap = (y - at_x) / at_x * 100 if residual == "percent" else y - at_x
    unit = " %" if residual == "percent" else ""
    extra = [f"<br>{line}" for line in details] if details is not None else [""] * len(x)
    hover = [
        f"<b>{name}</b><br>{x_label}: {_short(a)}<br>{y_label}: {_short(b)}"
        f"<br>theory: {_short(c)}<br>residual: {_signed(d)}{unit}{more}"
        for a, b, c, d, more in zip(x, y, at_x, gap, extra, strict=True)
    ]
    marker = {"symbol": symbol, "size": 9, "color": colour}
    figure.add_scatter(
        x=x.tolist(),
        y=y.tolist(),
        mode="markers",
        name=name,
        legendgroup=name,
        marker=marker,
        hovertext=hover,
        hoverinfo="text",
        meta={"role": "measured"},
        row=1,
        col=1,
    )
    figure.add_scatter(
        x=line_x.tolist(),
        y=line_y.tolist(),
        mode="lines",
        name="theory" if first else f"theory, {name}",
        legendgroup=name if not first else None,
        line={"dash": "dash", "color": colour if not first else TEXT, "width": 2},
        hovertemplate=_hover("theory", x_label, y_label),
        meta={"role": "theory"},
        row=1,
        col=1,
    )
    if published is not None:
        px, py = _pair("published", *published)
        figure.add_scatter(
            x=px.tolist(),
            y=py.tolist(),
            mode="markers",
            name="published" if first else f"published, {name}",
            marker={"symbol": "diamond-open", "size": 13, "color": TEXT, "line": {"width": 2}},
            hovertemplate=_hover("published", x_label, y_label),
            meta={"role": "published"},
            row=1,
            col=1,
        )
    figure.add_scatter(
        x=x.tolist(),
        y=_finite(gap),
        mode="markers",
        name=f"{name} - theory",
        legendgroup=name,
        showlegend=False,
        marker={**marker, "size": 7},
        hovertext=hover,
        hoverinfo="text",
        meta={"role": "residual"},
        row=2,
        col=1,
    )

    figure.update_xaxes(type="log" if log_x else "linear", exponentformat="SI" if not log_x else "power")
    figure.update_xaxes(title_text=x_label, row=2, col=1)
    figure.update_yaxes(title_text=y_label, type="log" if log_y else "linear", row=1, col=1)
    if not log_y and min(np.nanmin(y, initial=0.0), np.nanmin(line_y, initial=0.0)) >= 0:
        figure.update_yaxes(rangemode="tozero", row=1, col=1)
    if title:
        figure.update_layout(title_text=title)
    legend_rows = 1 + sum(trace.showlegend is not False for trace in figure.data) // 4
    figure.update_layout(margin_t=56 + 24 * legend_rows, height=436 + 24 * legend_rows)
    _scale_strip(figure, residual, y_label)
    return figure


def over_cases(figure: go.Figure, names: Sequence[str]) -> go.Figure:
    """Give a figure of `measured_against_theory` named cases in place of numbers on its x axis; theory is a bar at each.

    Parameters
    ----------
    figure : Figure
        Its x values are 0 for the first case, 1 for the second, and so on; changed in place.
    names : sequence of str
        The cases; `<br>` breaks a line.

    Returns
    -------
    Figure
        The same one.
    """
    for trace in figure.data:
        if _role(trace) == "theory":
            bar = {"symbol": "line-ew-open", "size": 30, "color": trace.line.color, "line": {"width": 2}}
            trace.update(mode="markers", marker=bar)
    return figure.update_xaxes(tickvals=list(range(len(names))), ticktext=list(names))


def time_series(
    run: Any,
    quantities: Sequence[str] = ("goodput_mbps", "cwnd_segments", "rtt_ms"),
    *,
    interfaces: Sequence[str] | None = None,
    theory: Mapping[str, float] | None = None,
    title: str = "",
) -> go.Figure:
    """A run over time: a strip per quantity with a line per flow, and the backlog of the queues.

    Parameters
    ----------
    run : Run
        Anything with the frames `intervals` and `queues`.
    quantities : sequence of str
        Columns of `run.intervals`; a column without any value is left out.
    interfaces : sequence of str, optional
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
    shown = _quantities_with_values(intervals, quantities)
    interfaces = _busy_interfaces(queues) if interfaces is None else _known_interfaces(queues, interfaces)
    rows = [*shown, *(["backlog_packets"] if interfaces else [])]
    if not rows:
        raise NetlabError("The run has no series to draw: it ended before its first interval.")

    figure = make_subplots(rows=len(rows), cols=1, shared_xaxes=True, vertical_spacing=0.16 / len(rows))
    for row, quantity in enumerate(shown, start=1):
        for series, (flow, frame) in enumerate(intervals.groupby("flow", sort=False)):
            if frame[quantity].notna().any():
                _line(figure, row, frame, quantity, str(flow), series)
    for series, interface in enumerate(interfaces):
        frame = queues[queues["interface"] == interface]
        style = series + intervals["flow"].nunique()
        _line(figure, len(rows), frame, "backlog_packets", f"queue {interface}", style)
    span = [float(intervals["t_s"].min()), float(intervals["t_s"].max())]
    for quantity, value in (theory or {}).items():
        if quantity not in rows:
            continue
        label = LABELS.get(quantity, quantity)
        figure.add_scatter(
            x=span,
            y=[value, value],
            mode="lines",
            name="theory",
            line={"dash": "dash", "color": TEXT, "width": 2},
            hovertemplate=_hover("theory", LABELS["t_s"], label),
            meta={"role": "theory"},
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
    figure.update_layout(template="netlab", height=130 + 160 * len(rows), title_text=title or None, hovermode="x")
    return figure


def topology(network: Topology, title: str = "") -> go.Figure:
    """A drawing of a network with rate, delay and queue on its links.

    Hosts are circles, routers squares, switches diamonds. A link whose directions differ carries both.

    Parameters
    ----------
    network : Topology
        The network.
    title : str
        What the figure shows.

    Returns
    -------
    Figure
        The same for the same topology.

    Raises
    ------
    NetlabError
        If there is no node to draw.
    """
    if not network.nodes:
        raise NetlabError("A topology without nodes cannot be drawn; give it hosts.")
    place = _layout(network)
    figure = go.Figure()
    labels: list[Array] = []
    for link in sorted(network.links, key=lambda link: -abs(place[link.a][1] - place[link.b][1])):
        (ax, ay), (bx, by) = place[link.a], place[link.b]
        shaped = bool(_shape_words(link.forward) or _shape_words(link.backward))
        figure.add_scatter(
            x=[ax, bx],
            y=[ay, by],
            mode="lines",
            hoverinfo="skip",
            showlegend=False,
            line={"color": TEXT, "width": 3 if shaped else 1.5},
        )
        text = _link_text(link)
        if not text:
            continue
        xshift, yshift = _beside(link, text.split("<br>"), place, network, labels)
        figure.add_annotation(
            x=(ax + bx) / 2,
            y=(ay + by) / 2,
            text=text,
            showarrow=False,
            font={"size": 12, "color": TEXT},
            xshift=xshift,
            yshift=yshift,
        )
    kinds = (("host", network.hosts), ("router", network.routers), ("switch", network.switches))
    for (kind, names), symbol, colour in zip(kinds, ("circle", "square", "diamond"), COLOURS, strict=False):
        if not names:
            continue
        figure.add_scatter(
            x=[place[node][0] for node in names],
            y=[place[node][1] for node in names],
            mode="markers+text",
            name=kind,
            text=names,
            textfont={"color": "white", "size": 13},
            hoverinfo="text",
            hovertext=[_node_text(network, node, kind) for node in names],
            marker={"symbol": symbol, "size": 34 if symbol != "diamond" else 40, "color": colour},
        )
    height = 140 + PIXELS_PER_LINK * max(1.0, max(y for _, y in place.values()) - min(y for _, y in place.values()))
    figure.update_layout(
        template="netlab",
        title_text=title or None,
        height=height,
        margin={"l": 20, "r": 20, "b": 20},
        legend={"itemsizing": "trace", "itemclick": False, "itemdoubleclick": False},
    )
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False)
    return figure


def faded(figure: go.Figure, age: int) -> list[Any]:
    """The measured and theory traces of a figure as quiet background for a newer one; the older, the fainter.

    Parameters
    ----------
    figure : Figure
        A figure whose traces have a role, as those of `measured_against_theory`.
    age : int
        Runs that came since, 1 or more.

    Returns
    -------
    list of traces
        Copies without a legend entry.
    """
    kept = []
    for trace in figure.data:
        role = _role(trace)
        if role in ("measured", "theory", "residual"):
            quiet = type(trace)(trace.to_plotly_json())
            quiet.update(
                opacity=0.45 / age if role != "theory" else 0.3 / age,
                showlegend=False,
                meta={"role": "earlier"},
            )
            kept.append(quiet)
    return kept


def _quantities_with_values(intervals: pd.DataFrame, quantities: Sequence[str]) -> list[str]:
    for quantity in quantities:
        if quantity not in intervals:
            known = ", ".join(column for column in intervals if column in LABELS)
            raise NetlabError(f"The run has no series {quantity!r}; it has {known}.")
    return [quantity for quantity in quantities if intervals[quantity].notna().any()]


def _busy_interfaces(queues: pd.DataFrame) -> list[str]:
    most = queues.groupby("interface", sort=False)["backlog_packets"].max()
    return [str(interface) for interface in most.index[most > 0]]


def _known_interfaces(queues: pd.DataFrame, interfaces: Sequence[str]) -> list[str]:
    known = list(queues["interface"].unique())
    for interface in interfaces:
        if interface not in known:
            raise NetlabError(f"The run has no queue at {interface!r}; it has {', '.join(known) or 'none'}.")
    return list(interfaces)


def _hover(name: str, x_label: str, y_label: str) -> str:
    return f"<b>{name}</b><br>{x_label}: %{{x:.4g}}<br>{y_label}: %{{y:.4g}}<extra></extra>"


def _role(trace: Any) -> str | None:
    return (trace.meta or {}).get("role")


def _with_strip() -> go.Figure:
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, row_heights=[0.76, 0.24], vertical_spacing=0.06)
    return figure.update_layout(template="netlab", height=460)


def _scale_strip(figure: go.Figure, residual: str, y_label: str) -> None:
    gaps = [abs(gap) for trace in figure.data if _role(trace) == "residual" for gap in trace.y if gap is not None]
    largest = max(gaps, default=0.0)
    if residual == "percent":
        half = 1.25 * max(largest, SMALLEST_RESIDUAL_RANGE)
    else:
        values = [abs(v) for trace in figure.data if _role(trace) == "theory" for v in trace.y]
        half = 1.25 * max(largest, 0.01 * max(values, default=1.0)) or 1.0
    _, bracket, unit = y_label.rpartition(" (")
    text = "Residual (%)" if residual == "percent" else f"Residual{bracket}{unit if bracket else ''}"
    tick = _round_below(0.9 * half)
    figure.update_yaxes(
        title_text=text, range=[-half, half], zerolinecolor=TEXT, tickvals=[-tick, 0, tick], row=2, col=1
    )


def _round_below(value: float) -> float:
    """The largest of 1, 2 and 5 times a power of ten that is not above `value`.

    >>> _round_below(0.9), _round_below(1.0), _round_below(37)
    (0.5, 1.0, 20.0)
    """
    power = math.floor(math.log10(value))
    return max(
        float(f"{digit}e{p}") for p in (power - 1, power) for digit in (1, 2, 5) if float(f"{digit}e{p}") <= value
    )


def _line(figure: go.Figure, row: int, frame: pd.DataFrame, quantity: str, name: str, series: int) -> None:
    figure.add_scatter(
        x=frame["t_s"].tolist(),
        y=_finite(frame[quantity]),
        mode="lines",
        name=name,
        legendgroup=name,
        line={"color": COLOURS[series % len(COLOURS)], "dash": DASHES[series % len(DASHES)], "width": 2},
        hovertemplate=_hover(name, LABELS["t_s"], LABELS.get(quantity, quantity)),
        meta={"role": "measured"},
        row=row,
        col=1,
    )


def _layout(network: Topology) -> dict[str, tuple[float, float]]:
    """Places one apart per link, the longest way across the page and the first host on its left."""
    graph = nx.Graph(network.graph())
    if graph.number_of_nodes() == 1:
        return dict.fromkeys(network.nodes, (0.0, 0.0))
    pieces = [graph.subgraph(piece) for piece in nx.connected_components(graph)]
    place: dict[str, tuple[float, float]] = {}
    below = 0.0
    for piece in pieces:
        names = [node for node in network.nodes if node in piece]
        ordered = nx.Graph()  # in the topology's own order, so that the layout does not depend on sets
        ordered.add_nodes_from(names)
        ordered.add_edges_from((a, b) for a, b in graph.edges if a in piece)
        found = nx.kamada_kawai_layout(ordered)
        points = np.array([found[node] for node in names])
        points -= points.mean(axis=0)
        _, _, axes = np.linalg.svd(points)
        points = points @ axes.T
        for axis in range(points.shape[1]):
            if points[0, axis] * (1 if axis == 0 else -1) > 1e-9:
                points[:, axis] *= -1
        lengths = [np.linalg.norm(points[names.index(a)] - points[names.index(b)]) for a, b in ordered.edges]
        points = points / (np.mean(lengths) if lengths else 1.0)
        points[:, 1] += below - points[:, 1].max()
        below = points[:, 1].min() - 1
        place |= {node: (round(float(x), 6), round(float(y), 6)) for node, (x, y) in zip(names, points, strict=True)}
    return place


def _beside(
    link: Any,
    lines: Sequence[str],
    place: Mapping[str, tuple[float, float]],
    network: Topology,
    labels: list[Array],
) -> tuple[float, float]:
    """Shift in pixels that clears a link's label from its line, to its freer side; notes it in `labels`."""
    points = np.array(list(place.values()))
    pixels = np.array([TYPICAL_WIDTH_PX / max(np.ptp(points[:, 0]), 1.0), PIXELS_PER_LINK])
    at = {node: np.array(where) * pixels for node, where in place.items()}
    start, along = at[link.a], at[link.b] - at[link.a]
    normal = np.array([-along[1], along[0]]) / np.linalg.norm(along)
    half_box = np.array([3.4 * max(map(len, lines)), 8.0 * len(lines)])
    shift = normal * (6 + np.abs(normal) @ half_box)
    if shift[1] < -1e-9 or (abs(shift[1]) <= 1e-9 and shift[0] < 0):
        shift = -shift
    crowd = [*at.values(), *labels]
    for other in network.links:
        if other is not link:
            crowd += [at[other.a] + part * (at[other.b] - at[other.a]) for part in (0.25, 0.5, 0.75)]
    middle = start + along / 2
    room = [min(np.linalg.norm(middle + way - point) for point in crowd) for way in (shift, -shift)]
    best = shift if room[0] >= 0.9 * room[1] else -shift  # above, unless below is clearly freer
    labels.append(middle + best)
    return round(float(best[0]), 1), round(float(best[1]), 1)


def _link_text(link: Any) -> str:
    there, back = _shape_words(link.forward), _shape_words(link.backward)
    if there == back:
        return "<br>".join(there)
    return "<br>".join(
        f"{a}→{b}: {', '.join(words) or 'unlimited'}"
        for a, b, words in ((link.a, link.b, there), (link.b, link.a, back))
    )


def _shape_words(shape: LinkShape) -> list[str]:
    words = []
    if shape.rate_mbps is not None:
        giga = shape.rate_mbps >= 1000
        words.append(f"{shape.rate_mbps / 1000:g} Gbit/s" if giga else f"{shape.rate_mbps:g} Mbit/s")
    if shape.delay_ms:
        words.append(f"{shape.delay_ms:g} ms")
    if shape.loss_rate:
        words.append(f"loss {shape.loss_rate:g}")
    if shape.queue_packets is not None:
        words.append(f"{shape.queue_packets} packets")
    if shape.queue_bytes is not None:
        words.append(_volume_words(shape.queue_bytes))
    if shape.aqm != "fifo":
        words.append(shape.aqm)
    return words


def _volume_words(volume_bytes: int) -> str:
    for unit_bytes, unit in ((10**6, "MB"), (10**3, "kB")):
        if volume_bytes >= 10 * unit_bytes:
            return f"{volume_bytes / unit_bytes:g} {unit}"
    return f"{volume_bytes} bytes"


def _node_text(network: Topology, node: str, kind: str) -> str:
    ports = [f"{way.interface} → {way.dst}" for way in network.hops() if way.src == node]
    return "<br>".join([f"<b>{kind} {node}</b>", *ports])


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


def _finite(values: Any) -> list[float | None]:
    """A list for Plotly with gaps where there is no value."""
    return [float(value) if math.isfinite(value) else None for value in values]


def _short(value: float) -> str:
    return f"{value:.4g}" if math.isfinite(value) else "none"


def _signed(value: float) -> str:
    return f"{value:+.2g}" if math.isfinite(value) else "none"
