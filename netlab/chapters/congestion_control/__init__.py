"""The chapter on congestion control: its settings, its figures, its checks and its panel."""

from netlab.chapters.congestion_control import check, settings
from netlab.chapters.congestion_control.panel import panel
from netlab.chapters.opening import opener

begin = opener("congestion_control", settings, check.Checks, panel)

__all__ = ["begin"]
