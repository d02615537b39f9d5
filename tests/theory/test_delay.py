"""Delays add up hop by hop, and formulas read a topology's own hops."""

from __future__ import annotations

import pytest

from netlab import theory
from netlab.network.link import Link
from netlab.network.topology import Topology


def test_delays_add_up_hop_by_hop():
    """`simpleperf` path h1-h9: 80 ms of propagation, and 98 bytes pass 40, 30 and 20 Mbit/s twice."""
    path = [theory.Hop(), theory.Hop(40, 10), theory.Hop(30, 20), theory.Hop(20, 10), theory.Hop()]
    serialisation = 2 * 98 * 8 / 1000 * (1 / 40 + 1 / 30 + 1 / 20)
    assert theory.ping_rtt_ms(path) == pytest.approx(80 + serialisation)
    assert theory.bottleneck(path) == 3
    one_way = theory.ping_rtt_ms(path, back=[])
    assert one_way == pytest.approx(40 + serialisation / 2)


def test_a_segment_carries_its_size_there_and_its_acknowledgement_back():
    path = [theory.Hop(5, 10), theory.Hop(1, 20), theory.Hop(5, 10)]
    frames_ms = sum((512 + 66 + 66) * 8 / rate / 1e3 for rate in (5, 1, 5))
    assert theory.segment_rtt_ms(path, 512) == pytest.approx(80 + frames_ms)
    assert theory.segment_rtt_ms(path, 512, back=[]) == pytest.approx(40 + (512 + 66) * 8 * 1.4 / 1e3)


def test_nodal_delay_is_the_sum_of_its_four_parts():
    parts = (0.01, theory.queueing_delay_ms(3028, 5), theory.transmission_delay_ms(1514, 5), 10)
    whole = theory.nodal_delay_ms(1514, theory.Hop(5, 10), backlog_bytes=3028, processing_ms=0.01)
    assert whole == pytest.approx(sum(parts))
    assert theory.transmission_delay_ms(1500, 10) == pytest.approx(1.2)
    assert theory.propagation_delay_ms(2500, 250_000) == 10


def test_the_formulas_read_the_hops_of_a_topology() -> None:
    """Without a rate a link takes no time but its delay."""
    line = Topology(["h1", "h2"], ["r1"], links=[Link("h1", "r1"), Link("r1", "h2", rate_mbps=5, delay_ms=10)])
    path = line.path_hops("h1", "h2")
    assert theory.ping_rtt_ms(path) == theory.ping_rtt_ms([theory.Hop(), theory.Hop(5, 10)])
    assert theory.bottleneck(path) == 1
