"""The chapter on congestion collapse: its settings, its checks and its panel."""

from netlab.chapters.congestion_collapse import check, settings
from netlab.chapters.congestion_collapse.panel import panel

__all__ = ["check", "panel", "settings"]
