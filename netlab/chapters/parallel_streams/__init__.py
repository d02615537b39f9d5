"""The chapter on parallel streams: its settings, its checks and its panel."""

from netlab.chapters.parallel_streams import check, settings
from netlab.chapters.parallel_streams.panel import panel

__all__ = ["check", "panel", "settings"]
