"""The chapter on short transfers: `begin` opens it."""

from netlab.chapters.opening import opener
from netlab.chapters.short_flows import check, settings
from netlab.chapters.short_flows.panel import panel

begin = opener("short_flows", settings, check.Checks, panel)

__all__ = ["begin"]
