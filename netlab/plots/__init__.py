"""Runs and theory as Plotly figures, all in one template."""

from netlab.plots.comparison import Comparison, faded
from netlab.plots.drawing import topology
from netlab.plots.series import time_series
from netlab.plots.theme import page_html

__all__ = ["Comparison", "faded", "page_html", "time_series", "topology"]
