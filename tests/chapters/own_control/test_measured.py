"""The chapter's measurements against Little's law, with stated tolerances."""

from __future__ import annotations

import pytest

from netlab.chapters.own_control import experiments
from tests.figures import agrees

pytestmark = pytest.mark.library


def test_fixed_windows_lie_where_littles_law_says() -> None:
    """RTT and goodput within 2 % where the link is full, within 8 % where segments wait for the next to be acknowledged."""
    found = experiments.fixed_windows((10, 50, 200))
    for row in found.itertuples():
        relative = 0.02 if row.window > 33 else 0.08
        agrees(f"RTT of {row.window} (ms)", row.rtt_ms, experiments.rtt_ms(row.window), relative=relative)
        agrees(f"goodput of {row.window}", row.goodput_mbps, experiments.goodput_mbps(row.window), relative=relative)
