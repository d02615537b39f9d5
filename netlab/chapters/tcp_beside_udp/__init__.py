"""The chapter on TCP beside UDP: how its notebook opens it."""

from netlab.chapters.opening import opener
from netlab.chapters.tcp_beside_udp import check, settings
from netlab.chapters.tcp_beside_udp.panel import panel

begin = opener("tcp_beside_udp", settings, check.Checks, panel)

__all__ = ["begin"]
