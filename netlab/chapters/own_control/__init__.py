"""The chapter "Your own congestion control": its settings, its checks and its panel."""

from netlab.chapters.opening import opener
from netlab.chapters.own_control import check, settings
from netlab.chapters.own_control.panel import panel

begin = opener("own_control", settings, check.Checks, panel)

__all__ = ["begin"]
