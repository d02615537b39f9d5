"""The chapter on multiplexing: its settings, its checks and its panel."""

from netlab.chapters.multiplexing import check, settings
from netlab.chapters.multiplexing.panel import panel

__all__ = ["check", "panel", "settings"]
