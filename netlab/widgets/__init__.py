"""Interactive widgets: panels that run an experiment again, and live networks that change while they run."""

from netlab.widgets.controls import choice, in_columns, log_slider, slider, toggle
from netlab.widgets.live_panel import LivePanel, live
from netlab.widgets.panel import Panel, PanelParts, Settings, panel_maker

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"

__all__ = [
    "WIDGET_VIEW",
    "LivePanel",
    "Panel",
    "PanelParts",
    "Settings",
    "choice",
    "in_columns",
    "live",
    "log_slider",
    "panel_maker",
    "slider",
    "toggle",
]
