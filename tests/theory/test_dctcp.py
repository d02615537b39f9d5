"""DCTCP's threshold and queue: the numbers of its paper, and where the queue runs empty."""

from __future__ import annotations

import math

import pytest

from netlab import theory


def test_dctcps_threshold_and_swing_are_those_of_its_paper():
    """Alizadeh et al. at 10 Gbit/s and 100 us: K above a seventh of 83 packets; two flows and K = 40 swing by 11 packets."""
    assert theory.dctcp_threshold_packets(10_000, 0.1, frame_bytes=1500) == pytest.approx(83.33 / 7, rel=1e-4)
    low, high = theory.dctcp_queue_packets(10_000, 0.1, 40, flows=2, frame_bytes=1500)
    assert high == 42
    assert high - low == pytest.approx(math.sqrt(2 * 2 * (83.333 + 40)) / 2, rel=1e-4)


def test_a_seventh_of_the_bdp_is_where_no_number_of_flows_empties_the_queue():
    """The paper minimises the lower end over N: at K = BDP / 7 it just does not fall below 0."""
    rate_mbps, rtt_ms = 1000, 10
    threshold = theory.dctcp_threshold_packets(rate_mbps, rtt_ms)
    lows = [theory.dctcp_queue_packets(rate_mbps, rtt_ms, threshold, flows)[0] for flows in range(1, 200)]
    assert min(lows) == pytest.approx(0, abs=0.02 * threshold)
    assert min(theory.dctcp_queue_packets(rate_mbps, rtt_ms, 0.8 * threshold, flows)[0] for flows in range(1, 200)) < 0


@pytest.mark.parametrize("wrong", [{"rate_mbps": 0}, {"rtt_ms": 0}, {"threshold_packets": -1}, {"flows": 0}])
def test_dctcp_queue_refuses_values_out_of_range(wrong):
    with pytest.raises(theory.TheoryError):
        theory.dctcp_queue_packets(**{"rate_mbps": 1, "rtt_ms": 1, "threshold_packets": 1, **wrong})
