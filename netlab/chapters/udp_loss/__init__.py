"""The chapter on UDP loss: its checks and its panel."""

from netlab.chapters.udp_loss import check
from netlab.chapters.udp_loss.panel import panel

__all__ = ["check", "panel"]
