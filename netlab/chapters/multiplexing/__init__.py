"""The chapter on multiplexing: its checks and its panel."""

from netlab.chapters.multiplexing import check
from netlab.chapters.multiplexing.panel import panel

__all__ = ["check", "panel"]
