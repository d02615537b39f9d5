"""The chapter on reliable transfer: `begin` opens it."""

from netlab.chapters.opening import opener
from netlab.chapters.reliable_transfer import check, settings
from netlab.chapters.reliable_transfer.panel import panel

begin = opener("reliable_transfer", settings, check.Checks, panel)

__all__ = ["begin"]
