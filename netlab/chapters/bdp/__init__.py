"""The chapter on the bandwidth-delay product: its checks and its panel."""

from netlab.chapters.bdp import check
from netlab.chapters.bdp.panel import panel

__all__ = ["check", "panel"]
