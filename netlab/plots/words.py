"""Text alternatives of figures, for readers who cannot see them."""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Iterable
from typing import Any

import numpy as np
import plotly.graph_objects as go

from netlab.base.values import is_number

MAX_NAMES = 8
"""Names after this many are counted, not listed: nobody listens to a longer sentence."""


def in_words(figure: go.Figure | dict[str, Any]) -> str:
    """Return a text alternative of a figure: title, axes, each series with its range, or nodes and links.

    >>> figure = go.Figure(go.Scatter(x=[1, 2], y=[3.0, 5.0], name="measured"))
    >>> in_words(figure.update_layout(title_text="Goodput", xaxis_title_text="Rate (Mbit/s)"))
    'Figure: Goodput. Across: Rate (Mbit/s). measured: 2 points, from 3 to 5.'
    """
    drawn = go.Figure(figure)
    parts = [f"Figure: {drawn.layout.title.text or 'without a title'}"]
    named = _named_nodes(drawn)
    parts += _network_in_words(drawn, named) if named else _series_in_words(drawn)
    return _without_tags(". ".join(parts)) + "."


def description(figure: go.Figure | dict[str, Any]) -> str:
    """Return a figure's accessible name: its title, and a sentence on its axes and series, without any value of the series.

    >>> figure = go.Figure(go.Scatter(x=[1, 2], y=[3.0, 5.0], name="measured"))
    >>> figure = figure.update_layout(title_text="Two rates", xaxis_title_text="Rate (Mbit/s)", yaxis_title_text="Goodput (Mbit/s)")
    >>> description(figure)
    'Two rates. Figure of Goodput (Mbit/s) against Rate (Mbit/s), with measured.'
    """
    drawn = go.Figure(figure)
    named = _named_nodes(drawn)
    sentence = _drawing_sentence(drawn, named) if named else _axes_sentence(drawn)
    title = drawn.layout.title.text
    return _without_tags(f"{title}. {sentence}." if title else f"{sentence}.")


def role(trace: Any) -> str | None:
    """Return what a trace shows: measured, theory, published, residual, or earlier; None if it does not say."""
    return trace.meta.get("role") if isinstance(trace.meta, dict) else None


def _without_tags(text: str) -> str:
    """Return a text in which each of Plotly's tags, and white space of any length, is one space."""
    return " ".join(re.sub(r"<[^>]*>", " ", text).split())


def _named_nodes(drawn: go.Figure) -> list[Any]:
    """Return the traces with the nodes of a drawn network; an empty list for other figures."""
    hidden = all(axis.visible is False for axis in drawn.select_xaxes())
    if not (hidden and drawn.data and all(trace.type == "scatter" for trace in drawn.data)):
        return []
    nodes = [trace for trace in drawn.data if trace.mode == "markers+text"]
    places = {place for trace in nodes for place in _points(trace)}
    if not all(is_number(x) and is_number(y) for x, y in places):
        return []
    links = [_points(trace) for trace in drawn.data if trace.mode == "lines"]
    each_named = all(len(_names(trace)) == len(_points(trace)) for trace in nodes)
    return nodes if each_named and all(len(ends) == 2 and places.issuperset(ends) for ends in links) else []


def _names(trace: Any) -> list[str]:
    """Return the texts of a trace's points; an empty list where one text is for all points."""
    return [] if trace.text is None or isinstance(trace.text, str) else [str(text) for text in trace.text]


def _points(trace: Any) -> list[tuple[Any, Any]]:
    """Return the x and y values of each point of a trace."""
    return list(zip(_values(trace.x), _values(trace.y), strict=False))


def _network_in_words(drawn: go.Figure, kinds: list[Any]) -> list[str]:
    """Return phrases with a drawn network's nodes by kind, from the traces `kinds`, and its labelled links."""
    place = {at: node for trace in kinds for at, node in zip(_points(trace), _names(trace), strict=True)}
    notes = [note for note in drawn.layout.annotations if note.text and is_number(note.x) and is_number(note.y)]
    links = []
    for trace in drawn.data:
        if trace.mode == "lines":
            one, other = _points(trace)
            middle = ((one[0] + other[0]) / 2, (one[1] + other[1]) / 2)
            labels = [re.sub(",?<br>", ", ", note.text) for note in notes if math.dist((note.x, note.y), middle) < 1e-6]
            links.append(f"{place[one]}-{place[other]}" + (f" ({labels[0]})" if labels else ""))
    nodes = [f"{trace.name or 'nodes'}: {', '.join(_names(trace))}" for trace in kinds]
    return [*nodes, f"Links: {'; '.join(sorted(links))}"] if links else nodes


def _drawing_sentence(drawn: go.Figure, kinds: list[Any]) -> str:
    """Return a sentence with the nodes and links of a drawn network, from the traces `kinds` of its nodes."""
    return f"Drawing of a network: {'; '.join(_network_in_words(drawn, kinds))}"


def _axes_sentence(drawn: go.Figure) -> str:
    """Return a sentence that names the axes and the series of a figure, but no residuals and no earlier runs."""
    strips = {f"y{trace.yaxis[1:] if trace.yaxis else ''}" for trace in drawn.data if role(trace) == "residual"}
    up: list[str] = []
    below: list[str] = []
    for axis in drawn.select_yaxes():
        if axis.title.text:
            (below if axis.plotly_name.replace("axis", "") in strips else up).append(axis.title.text)
    across = [axis.title.text for axis in drawn.select_xaxes() if axis.title.text]
    if not across:
        labels = next((axis.ticktext for axis in drawn.select_xaxes() if axis.ticktext), None)
        across = [_join_names(labels)] if labels else []
    kinds = {trace.type for trace in drawn.data} - {"scatter", "scattergl"}
    sentence = f"Figure of {_join_names(up) if up else _join_names(sorted(kinds)) or 'series'}"
    if across:
        sentence += f" {'against' if up else 'over'} {_join_names(across)}"
    hidden = ("residual", "earlier")
    series = [trace.name for trace in drawn.data if trace.name and role(trace) not in hidden]
    if series:
        sentence += f", with {_join_names(series)}"
    if any(role(trace) == "earlier" for trace in drawn.data):
        sentence += "; earlier runs are fainter"
    return sentence + (f"; below, {_join_names(below)}" if below else "")


def _join_names(texts: Iterable[str]) -> str:
    """Return names as text, joined with commas, each once; those after the first 8 are counted.

    >>> _join_names(["cwnd", "RTT", "cwnd", "queue"])
    'cwnd, RTT and queue'
    """
    names = list(dict.fromkeys(_without_tags(str(text)) for text in texts))
    if len(names) > MAX_NAMES:
        return f"{', '.join(names[:MAX_NAMES])} and {len(names) - MAX_NAMES} more"
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)


def _series_in_words(drawn: go.Figure) -> list[str]:
    """Return phrases for the axes' titles and for each named series but earlier runs, with its points and range."""
    titles = [axis.title.text for axis in drawn.select_xaxes() if axis.title.text]
    parts = [f"Across: {', '.join(dict.fromkeys(titles))}"] if titles else []
    titles = [axis.title.text for axis in drawn.select_yaxes() if axis.title.text]
    parts += [f"Up: {', '.join(dict.fromkeys(titles))}"] if titles else []
    flat = [trace for trace in drawn.data if "yaxis" in trace]
    series = [(trace, _heights(trace)) for trace in flat if trace.name and role(trace) != "earlier"]
    largest = max((abs(y) for trace, ys in series if role(trace) != "residual" for y in ys), default=0.0)
    for trace, ys in series:
        if not ys:
            continue
        axis = drawn.layout["yaxis" + (trace.yaxis or "y")[1:]]
        if axis.type == "log":
            low, high = f"{min(ys):.4g}", f"{max(ys):.4g}"
        else:
            # A residual is visible to a hundredth of a per cent, or to a thousandth of the measured values.
            if role(trace) != "residual":
                digits = _digits(max(map(abs, ys)), 4)
            elif "%" in (axis.title.text or ""):
                digits = 2
            else:
                digits = _digits(largest, 3)
            low, high = (f"{round(y, digits) + 0.0:.4g}" for y in (min(ys), max(ys)))
        points = f"{len(ys)} point{'s' if len(ys) > 1 else ''}"
        parts.append(f"{trace.name}: {points}, {f'from {low} to {high}' if low != high else f'at {low}'}")
    return parts


def _digits(largest: float, significant: int) -> int:
    """Return the number of decimal places with which the largest value of a figure has `significant` digits."""
    return significant - 1 - math.floor(math.log10(largest)) if largest > 0 else significant


def _heights(trace: Any) -> list[float]:
    """Return the finite y values of a trace."""
    numbers = [y for y in _values(getattr(trace, "y", None)) if isinstance(y, (int, float, np.number))]
    return [float(y) for y in numbers if math.isfinite(y)]


def _values(values: Any) -> list[Any]:
    """Return the values of a field of a trace as a list, from an array, a list, None or the base64 of a notebook."""
    if isinstance(values, dict):
        values = np.frombuffer(base64.b64decode(values["bdata"]), dtype=values["dtype"])
    if isinstance(values, np.ndarray) and values.dtype.kind in "iuf":
        return list(values.tolist())
    return [] if values is None else list(values)
