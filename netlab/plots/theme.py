"""The common look of all figures: colours, the template, markers and lines of series.

Measurements are markers, theory is a dashed line, published values are open diamonds: the three can be distinguished
without colour, on a white or a dark page. Colours, greys and gridlines are mid-tones for the same reason.
"""

import math
from typing import Any

import numpy as np
import plotly.graph_objects as go
import plotly.io as pio
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Contrast 4.54 on white. On JupyterLab's dark page it is 4.2, so its style sheet has another one there (`netlab_course.page_style`).
TEXT = "#767676"
TEXT_ON_DARK = "#969696"  # contrast 6.4 there
GRID = "rgba(128,128,128,0.25)"
COLOURS = ("#2a84c6", "#d55e00", "#1a9a6c", "#b665a1", "#b8860b", "#808080")
INK = "#000000"
"""The colour of a name that is printed on one of the colours."""
SYMBOLS = ("circle", "square-open", "triangle-up", "cross", "triangle-down-open", "star")
DASHES = ("solid", "dot", "dashdot", "longdashdot", "longdash")  # "dash" is theory's alone


def _template() -> go.layout.Template:
    """Return Plotly's template for all figures."""
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
            # Plotly's own lines are black, which is invisible on a dark page, and its areas have no colour.
            "shapedefaults": {"line": {"color": TEXT}, "fillcolor": COLOURS[2]},
        }
    )


pio.templates["netlab"] = _template()
if pio.templates.default == "plotly":
    # Figures of `table.plot(...)` get the same look, also on a dark page.
    pio.templates.default = "netlab"


def points(number: int = 0, size: int = 9, **look: Any) -> dict[str, Any]:
    """Return Plotly's settings for the points of series `number` (from 0), of `size` pixels; `look` is the marker's."""
    marker = {"symbol": SYMBOLS[number % len(SYMBOLS)], "size": size, "color": COLOURS[number % len(COLOURS)]}
    return {"mode": "markers", "marker": {**marker, **look}}


def line(number: int = 0, **look: Any) -> dict[str, Any]:
    """Return Plotly's settings for the line of series `number` (from 0); `look` changes the line, such as `dash`."""
    usual = {"color": COLOURS[number % len(COLOURS)], "dash": DASHES[number % len(DASHES)], "width": 2}
    return {"mode": "lines", "line": {**usual, **look}}


def theory_line(**look: Any) -> dict[str, Any]:
    """Return Plotly's settings for a line of theory, dashed and grey; `look` changes it, such as its `color`."""
    return line(dash="dash", **{"color": TEXT, **look})


def series_settings(part: str, name: str, x_label: str, y_label: str) -> dict[str, Any]:
    """Return Plotly's settings for a series' name, its role (`part`, see `words.role`) and its hover text."""
    return {"name": name, "hovertemplate": hover(name, x_label, y_label), "meta": {"role": part}}


def hover(name: str, x_label: str, y_label: str) -> str:
    """Return Plotly's template of the hover text of a point of the series `name`, with labels of both axes."""
    return f"<b>{name}</b><br>{x_label}: %{{x:.4g}}<br>{y_label}: %{{y:.4g}}<extra></extra>"


def finite(values: Any) -> list[float | None]:
    """Return values as a list for Plotly, with None (a gap) instead of those that are not finite."""
    return [float(value) if math.isfinite(value) else None for value in values]
