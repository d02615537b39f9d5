"""One panel per chapter, made for its question."""

from netlab.panels.bdp import bdp_panel
from netlab.panels.congestion_collapse import collapse_panel
from netlab.panels.multiplexing import multiplexing_panel
from netlab.panels.parallel_streams import streams_panel
from netlab.panels.udp_loss import udp_loss_panel

__all__ = ["bdp_panel", "collapse_panel", "multiplexing_panel", "streams_panel", "udp_loss_panel"]
