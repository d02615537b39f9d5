"""What all figures share: colours, the template, the form that a notebook gets, the roles of traces.

What was measured is a marker, what theory says is a dashed line, what somebody published is an open diamond:
the three stay apart without colour, on a white or a dark page. Colours, greys and gridlines are mid-tones for
the same reason.
"""

from __future__ import annotations

import hashlib
import math
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
SYMBOLS = ("circle", "square", "triangle-up", "x", "cross", "star")
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


def hover(name: str, x_label: str, y_label: str) -> str:
    """Template of the text over a point, with its two values."""
    return f"<b>{name}</b><br>{x_label}: %{{x:.4g}}<br>{y_label}: %{{y:.4g}}<extra></extra>"


def role(trace: Any) -> str | None:
    """What a trace shows: measured, theory, published, residual, or earlier."""
    return (trace.meta or {}).get("role")


def finite(values: Any) -> list[float | None]:
    """A list for Plotly with gaps where there is no value."""
    return [float(value) if math.isfinite(value) else None for value in values]
