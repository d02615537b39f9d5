"""The forms of a figure that a notebook's output has: Plotly's own, HTML, and text."""

import hashlib
import html
import importlib
import sys
from types import SimpleNamespace
from typing import Any

import plotly.graph_objects as go
import plotly.io as pio
from plotly.io.base_renderers import MimetypeRenderer
from plotly.offline import get_plotlyjs_version

from netlab.plots import page
from netlab.plots.rounding import rounded
from netlab.plots.words import description, in_words

CDN = "https://cdn.plot.ly/plotly-{}.min.js"
BELOW_TITLE, GAP = 38, 8
"""Pixels from a figure's upper edge to its legend, with a title and without."""
LAB_HEIGHT = 360
"""The height that JupyterLab gives to a figure without one."""


class _NotebookRenderer(MimetypeRenderer):  # type: ignore[misc]
    """Plotly's own form, which JupyterLab draws, and HTML for pages without it (nbviewer, nbconvert)."""

    def to_mimebundle(self, fig_dict: dict[str, Any]) -> dict[str, Any]:
        fig_dict = described(prepared(fig_dict))
        bundle: dict[str, Any] = pio.renderers["plotly_mimetype"].to_mimebundle(fig_dict)
        # The tool bar would lie over the title of a narrow figure; a double click resets what was zoomed.
        for form in bundle.values():
            form.setdefault("config", {})["displayModeBar"] = False
        page.show_once()
        return {**bundle, "text/html": page_html(fig_dict), "text/plain": in_words(fig_dict)}


def prepared(fig_dict: dict[str, Any]) -> dict[str, Any]:
    """Return the figure as a page shows it: rounded, with whole markers on its axes, and its legend below its title."""
    fig_dict = rounded(fig_dict)
    # The edge of the plot would cut a marker at 0 in half.
    data = [{"cliponaxis": False, **trace} if trace["type"] == "scatter" else trace for trace in fig_dict["data"]]
    return hung({**fig_dict, "data": data})


def described(fig_dict: dict[str, Any]) -> dict[str, Any]:
    """Return the figure with its description in `layout.meta`, from where the page's script takes its accessible name."""
    layout = fig_dict["layout"]
    meta = layout.get("meta", {})
    if not isinstance(meta, dict):
        # A student's own: texts of the figure may use it.
        return fig_dict
    return {**fig_dict, "layout": {**layout, "meta": {**meta, "description": description(fig_dict)}}}


def hung(fig_dict: dict[str, Any]) -> dict[str, Any]:
    """Return the figure with its legend hung up below its title, and the plot below the legend, as high as that is at any width.

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
    """Return a figure as HTML that loads Plotly from the web; equal text for equal figures, so that notebooks agree."""
    drawn = go.Figure(prepared(go.Figure(figure).to_dict()))
    drawn.update_traces(uid=None)  # random
    name = hashlib.sha256(drawn.to_json().encode()).hexdigest()[:12]
    # Plotly's logo would bring the same id into the page once for each figure.
    config = {"displaylogo": False, "displayModeBar": False}
    # "cdn" hashes the script in Plotly's wheel, which has none in a browser.
    script = CDN.format(get_plotlyjs_version()) if sys.platform == "emscripten" else "cdn"
    plot = str(pio.to_html(drawn, config, full_html=False, include_plotlyjs=script, div_id=f"figure-{name}"))
    return f'<div role="img" aria-label="{html.escape(description(drawn))}">{plot}</div>'


def notebook_forms(figure: go.Figure) -> dict[str, Any]:
    """Return a figure in all forms that a notebook's output has, by their types."""
    forms: dict[str, Any] = pio.renderers["netlab"].to_mimebundle(figure.to_dict())
    return forms


pio.renderers["netlab"] = _NotebookRenderer()
if str(pio.renderers.default).startswith("plotly_mimetype"):  # Colab, VS Code and terminals have ways of their own
    pio.renderers.default = "netlab"
if sys.platform == "emscripten":
    # Plotly shows nothing without nbformat, uses nothing of it, and in a browser it cannot be had.
    importlib.import_module("plotly.io._renderers").nbformat = SimpleNamespace(__version__="5.10")  # type: ignore[attr-defined]
