"""The queue that many flows need: the numbers of the paper."""

from __future__ import annotations

import math

import numpy as np
import pytest

from netlab import theory


def test_the_rule_gives_the_queue_of_the_papers_router():
    """Appenzeller et al., Cisco GSR 12410: 1291 packets in flight; with 100 to 400 flows 129, 91, 74 (rounded down) and 64 packets."""
    rate_mbps = 1291 * 1514 * 8 / 100e-3 / 1e6
    for flows, packets in ((100, 129), (200, 91), (300, 74), (400, 64)):
        assert theory.many_flows_queue_packets(rate_mbps, 100, flows) == pytest.approx(packets, abs=1)


def test_the_bound_is_that_of_the_papers_example():
    """10 000 flows and a hundredth of the bandwidth-delay product: 98.99 %."""
    assert theory.many_flows_utilization(1000.0, 100_000, 10_000) == pytest.approx(0.9899, abs=5e-5)


def test_more_room_never_hurts_and_arrays_keep_their_shape():
    rooms = np.linspace(0, 500, 50)
    bounds = theory.many_flows_utilization(rooms, 1291, 100)
    assert bounds.shape == rooms.shape and bounds[0] == 0 and (np.diff(bounds) > 0).all()
    assert type(theory.many_flows_utilization(100, 1291, 100)) is float
    # From four hundred flows to 401, the rule changes by sqrt(401 / 400).
    ratio = theory.many_flows_queue_packets(100, 100, 400) / theory.many_flows_queue_packets(100, 100, 401)
    assert ratio == pytest.approx(math.sqrt(401 / 400))


@pytest.mark.parametrize("wrong", [{"queue_packets": -1}, {"bdp_packets": 0}, {"flows": 0}])
def test_bound_refuses_values_out_of_range(wrong):
    with pytest.raises(theory.TheoryError):
        theory.many_flows_utilization(**{"queue_packets": 1, "bdp_packets": 1, "flows": 1, **wrong})


@pytest.mark.parametrize("wrong", [{"rate_mbps": 0}, {"rtt_ms": 0}, {"flows": 0}, {"frame_bytes": 0}])
def test_rule_refuses_values_out_of_range(wrong):
    with pytest.raises(theory.TheoryError):
        theory.many_flows_queue_packets(**{"rate_mbps": 1, "rtt_ms": 1, "flows": 1, **wrong})
