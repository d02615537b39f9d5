"""One panel per chapter, made for its question."""

from netlab.panels.congestion_collapse import collapse_panel
from netlab.panels.udp_loss import udp_loss_panel

__all__ = ["collapse_panel", "udp_loss_panel"]
