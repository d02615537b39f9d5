"""The chapter on load and delay: `begin` opens it."""

from netlab.chapters.load_and_delay import check, settings
from netlab.chapters.load_and_delay.panel import panel
from netlab.chapters.opening import opener

begin = opener("load_and_delay", settings, check.Checks, panel)

__all__ = ["begin"]
