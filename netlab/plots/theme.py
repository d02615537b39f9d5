"""What all figures share: colours, the template, the form that a notebook gets, the roles of traces.

What was measured is a marker, what theory says is a dashed line, what somebody published is an open diamond:
the three stay apart without colour, on a white or a dark page. Colours, greys and gridlines are mid-tones for
the same reason.
"""

from __future__ import annotations

import hashlib
import html
import math
import re
from typing import Any

import numpy as np
import plotly.graph_objects as go
import plotly.io as pio
from numpy.typing import NDArray
from plotly.io.base_renderers import MimetypeRenderer

Array = NDArray[np.float64]

TEXT = "#7c7c7c"  # contrast 4.2 on white and 4.5 on JupyterLab's dark page
GRID = "rgba(128,128,128,0.25)"
COLOURS = ("#2a84c6", "#d55e00", "#1a9a6c", "#b665a1", "#b8860b", "#808080")
SYMBOLS = ("circle", "square-open", "triangle-up", "cross", "triangle-down-open", "star")
DASHES = ("solid", "dot", "dashdot", "longdashdot", "longdash")  # "dash" is theory's alone


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
            "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": TEXT, "activecolor": COLOURS[0]},
        }
    )


pio.templates["netlab"] = _template()


class _NotebookRenderer(MimetypeRenderer):  # type: ignore[misc]
    """Plotly's own form, which JupyterLab draws, and HTML for pages without it (nbviewer, nbconvert)."""

    def to_mimebundle(self, fig_dict: dict[str, Any]) -> dict[str, Any]:
        bundle: dict[str, Any] = pio.renderers["plotly_mimetype"].to_mimebundle(fig_dict)
        return {**bundle, "text/html": page_html(fig_dict), "text/plain": in_words(fig_dict)}


def in_words(figure: go.Figure | dict[str, Any]) -> str:
    """Say what a figure shows: title, axes, and each series with its range; for those who cannot see it.

    >>> figure = go.Figure(go.Scatter(x=[1, 2], y=[3.0, 5.0], name="measured"))
    >>> in_words(figure.update_layout(title_text="Goodput", xaxis_title_text="Rate (Mbit/s)"))
    'Figure: Goodput. Across: Rate (Mbit/s). measured: 2 points, from 3 to 5.'
    """
    drawn = go.Figure(figure)
    parts = [f"Figure: {drawn.layout.title.text or 'without a title'}"]
    titles = [axis.title.text for axis in drawn.select_xaxes() if axis.title.text]
    parts += [f"Across: {', '.join(dict.fromkeys(titles))}"] if titles else []
    titles = [axis.title.text for axis in drawn.select_yaxes() if axis.title.text]
    parts += [f"Up: {', '.join(dict.fromkeys(titles))}"] if titles else []
    for trace in drawn.data:
        values = [float(y) for y in (trace.y if getattr(trace, "y", None) is not None else ()) if _is_number(y)]
        if not trace.name or role(trace) == "earlier" or not values:
            continue
        spread = f"from {min(values):.4g} to {max(values):.4g}" if min(values) < max(values) else f"at {values[0]:.4g}"
        parts.append(f"{trace.name}: {len(values)} point{'s' if len(values) > 1 else ''}, {spread}")
    return re.sub(r"<[^>]*>", " ", ". ".join(parts)) + "."


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.number)) and math.isfinite(value)


def page_html(figure: go.Figure | dict[str, Any]) -> str:
    """A figure as HTML that loads Plotly from the web; equal text for equal figures, so that notebooks agree."""
    drawn = go.Figure(figure)
    drawn.update_traces(uid=None)  # random
    name = hashlib.sha256(drawn.to_json().encode()).hexdigest()[:12]
    # Plotly's logo would bring the same id into the page once for each figure.
    config = {"displaylogo": False}
    page = str(pio.to_html(drawn, config, full_html=False, include_plotlyjs="cdn", div_id=f"figure-{name}"))
    return f'<div role="figure" aria-label="{html.escape(in_words(drawn))}">{page}</div>'


pio.renderers["netlab"] = _NotebookRenderer()
if str(pio.renderers.default).startswith("plotly_mimetype"):  # Colab, VS Code and terminals have ways of their own
    pio.renderers.default = "netlab"


def hover(name: str, x_label: str, y_label: str) -> str:
    """Template of the text over a point, with its two values."""
    return f"<b>{name}</b><br>{x_label}: %{{x:.4g}}<br>{y_label}: %{{y:.4g}}<extra></extra>"


def role(trace: Any) -> str | None:
    """What a trace shows: measured, theory, published, residual, or earlier."""
    return (trace.meta or {}).get("role")


def finite(values: Any) -> list[float | None]:
    """A list for Plotly with gaps where there is no value."""
    return [float(value) if math.isfinite(value) else None for value in values]
