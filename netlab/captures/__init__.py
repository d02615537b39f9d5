"""Captures: what the agent wrote of a link becomes a pcapng file and a table.

A capture has two interfaces, the link's two ends. A frame that leaves an end is stamped when its first bit goes onto the
wire, a frame that arrives when its last bit has come (a departure behind a queue may be early by up to a third of a
frame's time, which its rate limit has in reserve). Segments that left a host as one and would be cut by its network card
(segmentation offload) are cut here: on a wire no frame exceeds the MTU.
"""

from netlab.captures.capture import DEFAULT_SNAP_BYTES, Capture, finish, finish_run, nodes_by_address, read
from netlab.captures.filters import parse_filter
from netlab.captures.pcapng import SUFFIX, Origin
from netlab.captures.table import PACKET_COLUMNS, read_packets

__all__ = [
    "DEFAULT_SNAP_BYTES", "PACKET_COLUMNS", "SUFFIX", "Capture", "Origin", "finish", "finish_run", "nodes_by_address",
    "parse_filter", "read", "read_packets",
]  # fmt: skip
