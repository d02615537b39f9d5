"""The look that all figures share: colours, the template, points and lines of series.

What was measured is a marker, what theory says is a dashed line, what somebody published is an open diamond:
the three stay apart without colour, on a white or a dark page. Colours, greys and gridlines are mid-tones for
the same reason.
"""

import math
from typing import Any

import numpy as np
import plotly.graph_objects as go
import plotly.io as pio
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Contrast 4.54 on white. On JupyterLab's dark page it is 4.2, so its style sheet has another one there (`netlab.course.page_style`).
TEXT = "#767676"
TEXT_ON_DARK = "#969696"  # contrast 6.4 there
GRID = "rgba(128,128,128,0.25)"
COLOURS = ("#2a84c6", "#d55e00", "#1a9a6c", "#b665a1", "#b8860b", "#808080")
INK = "#000000"
"""Of a name that stands on one of the colours."""
SYMBOLS = ("circle", "square-open", "triangle-up", "cross", "triangle-down-open", "star")
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


def finite(values: Any) -> list[float | None]:
    """A list for Plotly with gaps where there is no value."""
    return [float(value) if math.isfinite(value) else None for value in values]
