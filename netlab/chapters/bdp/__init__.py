"""The chapter on the bandwidth-delay product."""

from netlab.chapters.bdp import check, settings
from netlab.chapters.bdp.panel import panel
from netlab.chapters.opening import opener

begin = opener("bdp", settings, check.Checks, panel)

__all__ = ["begin"]
