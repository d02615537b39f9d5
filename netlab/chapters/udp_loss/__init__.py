"""The chapter on UDP loss."""

from netlab.chapters.opening import opener
from netlab.chapters.udp_loss import check, settings
from netlab.chapters.udp_loss.panel import panel

begin = opener("udp_loss", settings, check.Checks, panel)

__all__ = ["begin"]
