"""The fields of a TCP flow."""

from __future__ import annotations

import pytest

import netlab as nl
from tests.agreement import agrees


@pytest.mark.parametrize(
    ("fields", "message"),
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
def test_a_window_of_less_than_two_segments_is_refused(fields: dict[str, int], message: str) -> None:
    (problem,) = nl.Tcp("h1", "h2", **fields).problems("traffic 1")
    assert message in problem


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


@pytest.mark.parametrize("wrong", [0, 46, 2.5, "10"])
def test_an_initial_window_is_a_whole_number_that_the_receiver_can_take(wrong: object) -> None:
    (problem,) = nl.Tcp("h1", "h2", initial_window_segments=wrong).problems("traffic 1")  # type: ignore[arg-type]
    assert "initial_window_segments must be a whole number from 1 to 45" in problem


def test_flows_between_two_hosts_have_one_initial_window() -> None:
    three = [nl.Tcp("h1", "h2", initial_window_segments=3), nl.Tcp("h2", "h1"), nl.Tcp("h1", "h2")]
    (problem,) = nl.Scenario(nl.Topology(["h1", "h2"], links=[nl.Link("h1", "h2", rate_mbps=10)]), three).problems()
    assert "traffic 1 and 3 (tcp): initial_window_segments are 3 and None" in problem


def _near_and_far() -> nl.Topology:
    """h2 is next to h1 on a switch, h3 behind a router; 50 ms there and 50 ms back."""
    links = [
        nl.Link("h1", "s1", rate_mbps=100),
        nl.Link("h2", "s1", delay_ms=50),
        nl.Link("s1", "r1"),
        nl.Link("r1", "h3", delay_ms=50),
    ]
    return nl.Topology(["h1", "h2", "h3"], ["r1"], ["s1"], links=links)


@pytest.mark.parametrize(
    "engine",
    [pytest.param("library", marks=pytest.mark.library), pytest.param("pocket", marks=pytest.mark.pocket)],
)
def test_the_initial_window_is_what_leaves_before_the_first_acknowledgement(engine: str) -> None:
    """A transfer of 30 segments: with 30 one round, with Linux's own 10 two, with 3 four; next to the sender and behind a router."""
    flows = [
        nl.Tcp("h1", "h2", num_bytes=30 * 1448, initial_window_segments=30),
        nl.Tcp("h1", "h3", num_bytes=30 * 1448, initial_window_segments=3, start_s=1),
        nl.Tcp("h3", "h1", num_bytes=30 * 1448, start_s=2),
    ]
    run = nl.run(_near_and_far(), flows, duration_s=3, engine=engine, progress=False)
    for completion_s, initial_window in zip(run.flows["completion_s"], (30, 3, 10), strict=True):
        expected_ms = nl.theory.short_flow_ms(30 * 1448, 100, 100, initial_window)
        agrees("completion (ms)", 1000 * completion_s, expected_ms, absolute=2)
