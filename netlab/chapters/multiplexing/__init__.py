"""The chapter on multiplexing: its settings, its checks and its panel."""

from netlab.chapters.multiplexing import check, settings
from netlab.chapters.multiplexing.panel import panel
from netlab.chapters.opening import opener

begin = opener("multiplexing", settings, check.Checks, panel)

__all__ = ["begin"]
