"""The chapter on Wi-Fi: what a notebook opens."""

from netlab.chapters.opening import opener
from netlab.chapters.wifi import check, settings
from netlab.chapters.wifi.panel import panel

begin = opener("wifi", settings, check.Checks, panel)

__all__ = ["begin"]
