"""Panels whose sliders run an experiment again, and the sliders of live networks."""

from typing import Any

from netlab.base import packages
from netlab.widgets.controls import choice, control_grid, log_slider, slider, toggle
from netlab.widgets.panel import Panel, PanelParts, Settings, panel_maker

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"

__all__ = [
    "WIDGET_VIEW",
    "Panel",
    "PanelParts",
    "Settings",
    "choice",
    "control_grid",
    "live",
    "log_slider",
    "panel_maker",
    "slider",
    "toggle",
]


def __getattr__(name: str) -> Any:
    """Return `live` of the package `netlab_engines` on first use; raise AttributeError for other names."""
    if name == "live":
        return packages.load("netlab_engines.lab.live_panel").live
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
