"""The chapter on the bandwidth-delay product: its settings, its checks and its panel."""

from netlab.chapters.bdp import check, settings
from netlab.chapters.bdp.panel import panel

__all__ = ["check", "panel", "settings"]
