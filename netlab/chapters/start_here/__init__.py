"""The first pages: what one can do here, and how the other chapters work."""

from netlab.chapters.opening import opener
from netlab.chapters.start_here import check, settings
from netlab.chapters.start_here.panel import panel

begin = opener("start_here", settings, check.Checks, panel)

__all__ = ["begin"]
