"""In real runs: a transfer begins with the call of connect and ends with its last byte."""

from __future__ import annotations

import math

import pytest

import netlab as nl
from tests.completion import HANDSHAKE_WITHOUT_LAST_ACK

ENGINES = [pytest.param("pocket", marks=pytest.mark.pocket), pytest.param("library", marks=pytest.mark.library)]
RATE_MBPS = 10
DELAY_MS = 50
SYN_BYTES = 74
ACK_BYTES = 66


def path(**words: float) -> nl.Topology:
    return nl.Topology(
        ["h1", "h2"], links=[nl.Link("h1", "h2", rate_mbps=RATE_MBPS, **{"delay_ms": DELAY_MS, **words})]
    )


def sent_s(frame_bytes: int) -> float:
    return frame_bytes * 8 / (RATE_MBPS * 1e6)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_segment_needs_three_delays_from_the_call_of_connect(engine: str) -> None:
    """SYN, its answer, then the data right behind the last ACK of the handshake: nothing waits for the receiver."""
    transfer = nl.Tcp("h1", "h2", num_bytes=1448, start_s=0.5)
    flow = nl.run(path(), [transfer], duration_s=2, engine=engine, progress=False).flows.iloc[0]
    expected_s = 3 * DELAY_MS / 1000 + 2 * sent_s(SYN_BYTES) + sent_s(ACK_BYTES) + sent_s(1514)
    assert flow.completion_s == pytest.approx(expected_s, abs=2e-4)
    assert flow.goodput_mbps == pytest.approx(1448 * 8 / 1e6 / flow.completion_s)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_lost_last_ack_of_the_handshake_does_not_stop_the_sender(engine: str) -> None:
    """The listener repeats its SYN-ACK after 1 s; the sender's own timers are sooner, and what they send is an ACK too."""
    topology, traffic = HANDSHAKE_WITHOUT_LAST_ACK
    capture = nl.Capture("r1", "h2", filter="tcp")
    run = nl.run(topology, traffic, duration_s=3, engine=engine, captures=[capture], progress=False)
    arrived = run.packets[(run.packets.dst == "h2") & ~run.packets.departs]
    handshake = arrived[arrived.t_s < 0.3]
    assert list(handshake["flags"]) == ["S"], "its ACK and the data behind it must be lost, or nothing is tested"
    assert run.flows.completion_s[0] < 0.9


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "words", [{"loss_rate": 1.0}, {"delay_ms": 700}], ids=["SYN lost", "ends before the handshake"]
)
def test_a_connection_that_is_never_accepted_delivered_nothing(engine: str, words: dict[str, float]) -> None:
    transfer = nl.Tcp("h1", "h2", num_bytes=1448)
    flow = nl.run(path(**words), [transfer], duration_s=2, engine=engine, progress=False).flows.iloc[0]
    assert flow.error == "1 of 1 connections delivered nothing before the flow's end"
    assert (flow.goodput_mbps, flow.received_bytes) == (0, 0)
    assert math.isnan(flow.completion_s)
