"""Plotly figures of runs and theory, all in one template."""

from typing import Any

from netlab.base.errors import unknown_name
from netlab.plots.comparison import Comparison, faded_traces
from netlab.plots.drawing import topology
from netlab.plots.notebook import page_html
from netlab.plots.packets import in_flight, time_sequence
from netlab.plots.series import time_series

__all__ = ["Comparison", "faded_traces", "in_flight", "page_html", "time_sequence", "time_series", "topology"]


def __dir__() -> list[str]:
    """Return the names of the figures and functions, for completion."""
    return __all__


def __getattr__(name: str) -> Any:
    """Raise AttributeError for a name that `netlab.plots` lacks, with the nearest one."""
    raise unknown_name("netlab.plots", name, __all__)
