"""What all figures share: colours, the template, the form that a notebook gets, the roles of traces.

What was measured is a marker, what theory says is a dashed line, what somebody published is an open diamond:
the three stay apart without colour, on a white or a dark page. Colours, greys and gridlines are mid-tones for
the same reason.
"""

import base64
import hashlib
import html
import importlib
import math
import re
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import plotly.graph_objects as go
import plotly.io as pio
from numpy.typing import NDArray
from plotly.io.base_renderers import MimetypeRenderer
from plotly.offline import get_plotlyjs_version

Array = NDArray[np.float64]

# Contrast 4.54 on white. On JupyterLab's dark page it is 4.2, so its style sheet has another one there (`netlab.course.page_style`).
TEXT = "#767676"
TEXT_ON_DARK = "#969696"  # contrast 6.4 there
GRID = "rgba(128,128,128,0.25)"
CDN = "https://cdn.plot.ly/plotly-{}.min.js"
COLOURS = ("#2a84c6", "#d55e00", "#1a9a6c", "#b665a1", "#b8860b", "#808080")
INK = "#000000"
"""Of a name that stands on one of the colours."""
SYMBOLS = ("circle", "square-open", "triangle-up", "cross", "triangle-down-open", "star")
BELOW_TITLE, GAP = 38, 8
"""Pixels from a figure's upper edge to its legend, with a title and without."""
LAB_HEIGHT = 360
"""What JupyterLab gives to a figure without a height."""
DASHES = ("solid", "dot", "dashdot", "longdashdot", "longdash")  # "dash" is theory's alone


def rgb(colour: str) -> str:
    """A colour as browsers write it into a style.

    >>> rgb("#767676")
    'rgb(118, 118, 118)'
    """
    return f"rgb({', '.join(str(int(colour[at : at + 2], 16)) for at in (1, 3, 5))})"


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
        "minexponent": 6,
        "title": {"standoff": 8},
    }
    return go.layout.Template(
        layout={
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "separators": ".\u202f",  # 10 000, as textbooks write it
            "font": {"color": TEXT, "size": 14, "family": "system-ui, Helvetica, Arial, sans-serif"},
            "title": {"x": 0, "xref": "paper", "y": 1, "yanchor": "top", "pad": {"t": 14}, "font": {"size": 16}},
            "colorway": COLOURS,
            "xaxis": axis,
            "yaxis": axis,
            "legend": {"orientation": "h", "x": 0, "y": 1.0, "yanchor": "bottom", "bgcolor": "rgba(0,0,0,0)"},
            "margin": {"l": 70, "r": 20, "t": 80, "b": 60},
            "hoverlabel": {"align": "left"},
            "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": TEXT, "activecolor": COLOURS[0]},
            # Plotly's own lines are black, which a dark page hides, and its areas have no colour at all.
            "shapedefaults": {"line": {"color": TEXT}, "fillcolor": COLOURS[2]},
        }
    )


pio.templates["netlab"] = _template()
if pio.templates.default == "plotly":
    # What a student draws with `table.plot(...)` looks like the figures beside it, on a dark page too.
    pio.templates.default = "netlab"


class _NotebookRenderer(MimetypeRenderer):  # type: ignore[misc]
    """Plotly's own form, which JupyterLab draws, and HTML for pages without it (nbviewer, nbconvert)."""

    def to_mimebundle(self, fig_dict: dict[str, Any]) -> dict[str, Any]:
        fig_dict = hung(fig_dict)
        bundle: dict[str, Any] = pio.renderers["plotly_mimetype"].to_mimebundle(fig_dict)
        # The tool bar would lie over the title of a narrow figure; a double click resets what was zoomed.
        for form in bundle.values():
            form.setdefault("config", {})["displayModeBar"] = False
        return {**bundle, "text/html": page_html(fig_dict), "text/plain": in_words(fig_dict)}


def in_words(figure: go.Figure | dict[str, Any]) -> str:
    """Say what a figure shows, for those who cannot see it: title, axes, each series with its range, or nodes and links.

    >>> figure = go.Figure(go.Scatter(x=[1, 2], y=[3.0, 5.0], name="measured"))
    >>> in_words(figure.update_layout(title_text="Goodput", xaxis_title_text="Rate (Mbit/s)"))
    'Figure: Goodput. Across: Rate (Mbit/s). measured: 2 points, from 3 to 5.'
    """
    drawn = go.Figure(figure)
    parts = [f"Figure: {drawn.layout.title.text or 'without a title'}"]
    named = [trace for trace in drawn.data if trace.mode == "markers+text"] if _is_drawing(drawn) else []
    parts += _network_in_words(drawn, named) if named else _series_in_words(drawn)
    return re.sub(r"<[^>]*>", " ", ". ".join(parts)) + "."


def _is_drawing(drawn: go.Figure) -> bool:
    return all(axis.visible is False for axis in drawn.select_xaxes()) and all(
        trace.type == "scatter" for trace in drawn.data
    )


def _network_in_words(drawn: go.Figure, kinds: list[Any]) -> list[str]:
    """The nodes of a drawn network by kind, then its links with what stands beside them."""
    place = {(x, y): node for trace in kinds for x, y, node in zip(trace.x, trace.y, trace.text, strict=True)}
    beside = {(note.x, note.y): note.text.replace("<br>", ", ") for note in drawn.layout.annotations}
    links = []
    for trace in drawn.data:
        if trace.mode == "lines":
            (ax, bx), (ay, by) = trace.x, trace.y
            text = beside.get(((ax + bx) / 2, (ay + by) / 2), "")
            links.append(f"{place[ax, ay]}-{place[bx, by]}" + (f" ({text})" if text else ""))
    return [*(f"{trace.name}: {', '.join(trace.text)}" for trace in kinds), f"Links: {'; '.join(sorted(links))}"]


def _series_in_words(drawn: go.Figure) -> list[str]:
    titles = [axis.title.text for axis in drawn.select_xaxes() if axis.title.text]
    parts = [f"Across: {', '.join(dict.fromkeys(titles))}"] if titles else []
    titles = [axis.title.text for axis in drawn.select_yaxes() if axis.title.text]
    parts += [f"Up: {', '.join(dict.fromkeys(titles))}"] if titles else []
    shown = [(trace, _heights(trace)) for trace in drawn.data if trace.name and role(trace) != "earlier"]
    largest = max((abs(y) for trace, ys in shown if role(trace) != "residual" for y in ys), default=0.0)
    for trace, ys in shown:
        if not ys:
            continue
        axis = drawn.layout["yaxis" + (trace.yaxis or "y")[1:]]
        if axis.type == "log":
            low, high = f"{min(ys):.4g}", f"{max(ys):.4g}"
        else:
            # What a residual has beyond a hundredth of a per cent, or a thousandth of what was measured, is nothing to see.
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
    """Decimal places that leave so many significant digits of a figure's largest value."""
    return significant - 1 - math.floor(math.log10(largest)) if largest > 0 else significant


def _heights(trace: Any) -> list[float]:
    """The finite values that a trace shows upwards; arrays come from a notebook as base64."""
    values = getattr(trace, "y", None)
    if isinstance(values, dict):
        values = np.frombuffer(base64.b64decode(values["bdata"]), dtype=values["dtype"])
    numbers = [y for y in (values if values is not None else ()) if isinstance(y, (int, float, np.number))]
    return [float(y) for y in numbers if math.isfinite(y)]


def hung(fig_dict: dict[str, Any]) -> dict[str, Any]:
    """The figure with its legend hung up below its title, and the plot below the legend, as high as that is at any width.

    A legend that stands on the plot grows upwards over the title where the page is narrow. And after a page has become
    wider, Plotly leaves it where it stood for a plot that was lower: over the curves. From the top it grows downwards,
    and the plot makes room.
    """
    layout = fig_dict["layout"]
    usual = layout.get("template", {}).get("layout", {}).get("legend", {})
    placed = {"x", "y", "xref", "yref", "xanchor", "yanchor", "orientation"} & layout.get("legend", {}).keys()
    if usual.get("orientation") != "h" or placed:
        return fig_dict
    above = BELOW_TITLE if layout.get("title", {}).get("text") else GAP
    place = {"yref": "container", "y": 1 - above / layout.get("height", LAB_HEIGHT), "yanchor": "top"}
    return {**fig_dict, "layout": {**layout, "legend": {**layout.get("legend", {}), **place}}}


def page_html(figure: go.Figure | dict[str, Any]) -> str:
    """A figure as HTML that loads Plotly from the web; equal text for equal figures, so that notebooks agree."""
    drawn = go.Figure(hung(go.Figure(figure).to_dict()))
    drawn.update_traces(uid=None)  # random
    name = hashlib.sha256(drawn.to_json().encode()).hexdigest()[:12]
    # Plotly's logo would bring the same id into the page once for each figure.
    config = {"displaylogo": False, "displayModeBar": False}
    # "cdn" hashes the script in Plotly's wheel, which has none in a browser.
    script = CDN.format(get_plotlyjs_version()) if sys.platform == "emscripten" else "cdn"
    page = str(pio.to_html(drawn, config, full_html=False, include_plotlyjs=script, div_id=f"figure-{name}"))
    return f'<div role="figure" aria-label="{html.escape(in_words(drawn))}">{page}</div>'


pio.renderers["netlab"] = _NotebookRenderer()


def notebook_forms(figure: go.Figure) -> dict[str, Any]:
    """A figure in all forms that a notebook's output has, by their types."""
    forms: dict[str, Any] = pio.renderers["netlab"].to_mimebundle(figure.to_dict())
    return forms


if str(pio.renderers.default).startswith("plotly_mimetype"):  # Colab, VS Code and terminals have ways of their own
    pio.renderers.default = "netlab"
if sys.platform == "emscripten":
    # Plotly shows nothing without nbformat, uses nothing of it, and in a browser it cannot be had.
    importlib.import_module("plotly.io._renderers").nbformat = SimpleNamespace(__version__="5.10")  # type: ignore[attr-defined]


def points(number: int = 0, size: int = 9, **look: Any) -> dict[str, Any]:
    """How a figure's series shows points, by its number; `look` goes to the marker."""
    marker = {"symbol": SYMBOLS[number % len(SYMBOLS)], "size": size, "color": COLOURS[number % len(COLOURS)]}
    return {"mode": "markers", "marker": {**marker, **look}}


def line(number: int = 0, **look: Any) -> dict[str, Any]:
    """How a figure's series shows a line, by its number; `look` goes to the line."""
    usual = {"color": COLOURS[number % len(COLOURS)], "dash": DASHES[number % len(DASHES)], "width": 2}
    return {"mode": "lines", "line": {**usual, **look}}


def theory_line(**look: Any) -> dict[str, Any]:
    """How a figure shows theory, which belongs to no series or, with `color`, to one."""
    return line(dash="dash", **{"color": TEXT, **look})


def told(part: str, name: str, x_label: str, y_label: str) -> dict[str, Any]:
    """Name, role and hover text of a series."""
    return {"name": name, "hovertemplate": hover(name, x_label, y_label), "meta": {"role": part}}


def hover(name: str, x_label: str, y_label: str) -> str:
    """Template of the text over a point, with its two values."""
    return f"<b>{name}</b><br>{x_label}: %{{x:.4g}}<br>{y_label}: %{{y:.4g}}<extra></extra>"


def role(trace: Any) -> str | None:
    """What a trace shows: measured, theory, published, residual, or earlier."""
    return (trace.meta or {}).get("role")


def finite(values: Any) -> list[float | None]:
    """A list for Plotly with gaps where there is no value."""
    return [float(value) if math.isfinite(value) else None for value in values]
