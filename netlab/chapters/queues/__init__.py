"""The chapter on queue management: `begin` opens it."""

from netlab.chapters.opening import opener
from netlab.chapters.queues import check, settings
from netlab.chapters.queues.panel import panel

begin = opener("queues", settings, check.Checks, panel)

__all__ = ["begin"]
