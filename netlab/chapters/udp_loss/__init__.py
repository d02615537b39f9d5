"""The chapter on UDP loss: its settings, its checks and its panel."""

from netlab.chapters.udp_loss import check, settings
from netlab.chapters.udp_loss.panel import panel

__all__ = ["check", "panel", "settings"]
