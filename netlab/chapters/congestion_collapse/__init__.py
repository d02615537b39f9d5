"""The chapter on congestion collapse: how its notebook opens it."""

from netlab.chapters.congestion_collapse import check, settings
from netlab.chapters.congestion_collapse.panel import panel
from netlab.chapters.opening import opener

begin = opener("congestion_collapse", settings, check.Checks, panel)

__all__ = ["begin"]
