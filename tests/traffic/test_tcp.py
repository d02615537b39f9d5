"""What a TCP flow may be told."""

from __future__ import annotations

import pytest

import netlab as nl
from tests.figures import agrees


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"window_bytes": 2895}, "must hold 2 segments of 1448 bytes, so it is 2896 at least, got 2895"),
        (
            {"window_bytes": 2000, "mss_bytes": 1001},
            "must hold 2 segments of 1001 bytes, so it is 2002 at least, got 2000",
        ),
        (
            {"window_bytes": 1999, "mss_bytes": 76},
            "window_bytes must be a whole number from 2000 to 1073741823, got 1999",
        ),
    ],
)
def test_a_window_of_less_than_two_segments_is_refused(fields: dict[str, int], said: str) -> None:
    (problem,) = nl.Tcp("h1", "h2", **fields).problems("traffic 1")
    assert said in problem


@pytest.mark.parametrize("fields", [{"window_bytes": 2896}, {"window_bytes": 2000, "mss_bytes": 1000}, {}])
def test_the_smallest_window_is_allowed(fields: dict[str, int]) -> None:
    assert nl.Tcp("h1", "h2", **fields).problems("traffic 1") == []


@pytest.mark.pocket
def test_the_smallest_window_is_honoured() -> None:
    """Two segments leave in each round trip."""
    topology = nl.Topology(["h1", "h2"], links=[nl.Link("h1", "h2", rate_mbps=100, delay_ms=10)])
    run = nl.run(topology, [nl.Tcp("h1", "h2", window_bytes=2896)], duration_s=10, progress=False)
    round_trip_s = 0.02 + 2 * 1514 * 8 / 100e6
    agrees("goodput (Mbit/s)", run.flows.goodput_mbps[0], 2896 * 8e-6 / round_trip_s, relative=0.01)
