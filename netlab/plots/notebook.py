"""Formats of a figure in a notebook's output: Plotly's own, HTML, and text."""

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
from netlab.plots.rounding import round_numbers
from netlab.plots.words import description, in_words

CDN = "https://cdn.plot.ly/plotly-{}.min.js"
BELOW_TITLE, GAP, TITLE_LINE = 38, 8, 10
"""Pixels from a figure's upper edge to its legend, with a title of one line and without; and of each further line, for
which Plotly moves the first one up by as much."""
MAX_TITLE_LETTERS = 44
"""The letters of a title that fit next to the side bar in a window of 900 pixels."""
LAB_HEIGHT = 360
"""The height in pixels that JupyterLab gives to a figure without one."""
AROUND_PLOT_PX = 150
"""The pixels above and below the plot of a figure with a title, a legend of one line and a title below."""
LETTER_WIDTH, AXIS_TITLE_PX = 0.55, 17
"""The mean width of a letter as a share of the size of its font, and the font size in pixels of an axis' title."""


class _NotebookRenderer(MimetypeRenderer):  # type: ignore[misc]
    """The renderer of figures in notebooks: Plotly's own format for JupyterLab, and HTML for pages without it."""

    def to_mimebundle(self, fig_dict: dict[str, Any]) -> dict[str, Any]:
        """Return a figure's dict in all formats of a notebook's output, by MIME type; add the page's script once."""
        fig_dict = add_description(prepare(fig_dict))
        bundle: dict[str, Any] = pio.renderers["plotly_mimetype"].to_mimebundle(fig_dict)
        # The tool bar would cover the title of a narrow figure; a double click resets the zoom.
        for form in bundle.values():
            form.setdefault("config", {})["displayModeBar"] = False
        page.show_once()
        return {**bundle, "text/html": page_html(fig_dict), "text/plain": in_words(fig_dict)}


def prepare(fig_dict: dict[str, Any]) -> dict[str, Any]:
    """Return a figure's dict as shown: numbers rounded, long titles broken, markers whole, legend below the title."""
    fig_dict = round_numbers(fig_dict)
    fig_dict = {**fig_dict, "layout": break_titles(fig_dict["layout"])}
    # The edge of the plot would cut a marker at 0 in half.
    data = [{"cliponaxis": False, **trace} if trace["type"] == "scatter" else trace for trace in fig_dict["data"]]
    return place_legend({**fig_dict, "data": data})


def add_description(fig_dict: dict[str, Any]) -> dict[str, Any]:
    """Return a figure's dict with its description in `layout.meta` (if a dict), for the page's script that names it."""
    layout = fig_dict["layout"]
    meta = layout.get("meta", {})
    if not isinstance(meta, dict):
        # The meta data is the student's: texts of the figure may refer to it.
        return fig_dict
    return {**fig_dict, "layout": {**layout, "meta": {**meta, "description": description(fig_dict)}}}


def place_legend(fig_dict: dict[str, Any]) -> dict[str, Any]:
    """Return a figure's dict with its legend attached below the title, and the plot below the legend, as high as the
    legend is at any width; the same dict if the legend has a place of its own. Attached to the plot, a legend would
    grow over the title on a narrow page, and stay over the curves when a page becomes wider.
    """
    layout = fig_dict["layout"]
    usual = layout.get("template", {}).get("layout", {}).get("legend", {})
    placed = {"x", "y", "xref", "yref", "xanchor", "yanchor", "orientation"} & layout.get("legend", {}).keys()
    if usual.get("orientation") != "h" or placed:
        return fig_dict
    title = layout.get("title", {}).get("text")
    above = BELOW_TITLE + TITLE_LINE * title.count("<br>") if title else GAP
    place = {"yref": "container", "y": 1 - above / layout.get("height", LAB_HEIGHT), "yanchor": "top"}
    return {**fig_dict, "layout": {**layout, "legend": {**layout.get("legend", {}), **place}}}


def break_titles(layout: dict[str, Any]) -> dict[str, Any]:
    """Return a figure's layout in which its title and the titles of its vertical axes have two lines if one is too long."""
    broken = {**layout, **_broken_title(layout, MAX_TITLE_LETTERS)}
    plot_px = layout.get("height", LAB_HEIGHT) - AROUND_PLOT_PX
    for name in (name for name in layout if name.startswith("yaxis")):
        axis = layout[name]
        low, high = axis.get("domain", (0.0, 1.0))
        letter_px = LETTER_WIDTH * axis.get("title", {}).get("font", {}).get("size", AXIS_TITLE_PX)
        broken[name] = {**axis, **_broken_title(axis, int((high - low) * plot_px / letter_px))}
    return broken


def _broken_title(part: dict[str, Any], letters: int) -> dict[str, Any]:
    """Return the title of a layout or an axis with at most `letters` letters in a line where possible, as a dict with
    the key "title"; an empty dict if there is no title, or if it has line breaks of its own.
    """
    title = part.get("title", {}).get("text")
    return {"title": {**part["title"], "text": break_title(title, letters)}} if title and "<br>" not in title else {}


def break_title(title: str, letters: int = MAX_TITLE_LETTERS) -> str:
    """Return a title with `<br>` in it if it has more than `letters` letters, where possible after a punctuation mark.

    Both lines of a title that has up to twice as many letters fit, if it has a space near its middle.

    >>> break_title("Reno, drop-tail: h1 1.11, h2 3.60 Mbit/s; h2 waits 127 ms")
    'Reno, drop-tail: h1 1.11, h2 3.60 Mbit/s;<br>h2 waits 127 ms'
    """
    spaces = [at for at, letter in enumerate(title) if letter == " "]
    if len(title) <= letters or not spaces:
        return title

    def fitness(at: int) -> tuple[bool, int, int]:
        """Return for a break at index `at`: do both lines fit, how strong is the mark before it, how equal are both."""
        longer = max(at, len(title) - at - 1)
        return longer <= letters, ",:.;".find(title[at - 1]), -longer

    best = max(spaces, key=fitness)
    return f"{title[:best]}<br>{title[best + 1 :]}"


def page_html(figure: go.Figure | dict[str, Any]) -> str:
    """Return a figure as HTML that loads Plotly from the web; equal figures give the same text."""
    drawn = go.Figure(figure)
    # A page would give a figure without a height more than JupyterLab does, and its legend a place further down.
    drawn.update_layout(height=drawn.layout.height or LAB_HEIGHT)
    drawn = go.Figure(prepare(drawn.to_dict()))
    drawn.update_traces(uid=None)  # random
    name = hashlib.sha256(drawn.to_json().encode()).hexdigest()[:12]
    # Plotly's logo would repeat the same id for each figure of the page.
    config = {"displaylogo": False, "displayModeBar": False}
    # "cdn" hashes the script in Plotly's wheel, which is missing in a browser.
    script = CDN.format(get_plotlyjs_version()) if sys.platform == "emscripten" else "cdn"
    plot = str(pio.to_html(drawn, config, full_html=False, include_plotlyjs=script, div_id=f"figure-{name}"))
    return f'<div role="img" aria-label="{html.escape(description(drawn))}">{plot}</div>'


def notebook_forms(figure: go.Figure) -> dict[str, Any]:
    """Return a figure in all formats of a notebook's output, by their MIME types."""
    forms: dict[str, Any] = pio.renderers["netlab"].to_mimebundle(figure.to_dict())
    return forms


pio.renderers["netlab"] = _NotebookRenderer()
if str(pio.renderers.default).startswith("plotly_mimetype"):  # Colab, VS Code and terminals have their own renderers
    pio.renderers.default = "netlab"
if sys.platform == "emscripten":
    # Plotly requires nbformat to show a figure, although it does not use it; it is missing in a browser.
    importlib.import_module("plotly.io._renderers").nbformat = SimpleNamespace(__version__="5.10")  # type: ignore[attr-defined]
