"""The chapter on congestion collapse: its checks and its panel."""

from netlab.chapters.congestion_collapse import check
from netlab.chapters.congestion_collapse.panel import panel

__all__ = ["check", "panel"]
