"""What the chapter "Multiplexing" measures on: its networks and the figures that its parts share. No answers are here."""

from __future__ import annotations

LIMIT_PACKETS = (67, 100, 33)
"""What `simpleperf` sets before L1, L2 and L3."""

CROSSING = {
    "h1-h9": ["L1", "L2", "L3"],
    "h2-h7": ["L1"],
    "h3-h4": ["L1", "L2"],
    "h7-h5": ["L2"],
    "h8-h9": ["L3"],
    "h6-h9": ["L3"],
}
"""The six flows of part 6, each with its links."""

FAIR_QUEUE = {"aqm": "fq_codel", "aqm_options": {"target_ms": 20}}

START_WITHIN_S = 0.1
"""Flows that start together start at random moments within this time."""
