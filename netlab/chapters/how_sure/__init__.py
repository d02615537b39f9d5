"""The chapter on measuring: `begin` opens it."""

from netlab.chapters.how_sure import check, settings
from netlab.chapters.how_sure.panel import panel
from netlab.chapters.opening import opener

begin = opener("how_sure", settings, check.Checks, panel)

__all__ = ["begin"]
