"""The chapter on parallel streams: how its notebook opens it."""

from netlab.chapters.opening import opener
from netlab.chapters.parallel_streams import check, settings
from netlab.chapters.parallel_streams.panel import panel

begin = opener("parallel_streams", settings, check.Checks, panel)

__all__ = ["begin"]
