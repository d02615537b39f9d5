"""UDP through one queue: the published and the hand-worked values, and every datagram accounted for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from netlab import theory


def test_udp_loss_is_the_published_one():
    """`epfl` Q7: 5 and 10 Mbit/s into 5 Mbit/s lose 4.03 and 52.03 %.

    Its 76.43 % at 20 Mbit/s contradicts its own goodput of 4.798 Mbit/s, which makes 76.01 %.
    """
    loss = theory.udp_loss_rate(np.array([5.0, 10.0, 20.0]), 5)
    assert loss * 100 == pytest.approx([4.03, 52.03, 76.01], abs=0.02)


def test_udp_loss_counts_the_queue_as_late_not_lost():
    """10 s of 10 Mbit/s are 12500 datagrams; 5997.6 are served in time, 100 more stand in the queue."""
    expected = 1 - (5e6 * 10 / (8 * 1042) + 100) / 12_500
    assert theory.udp_loss_rate(10, 5, queue_packets=100, duration_s=10) == pytest.approx(expected, rel=1e-12)


def test_udp_loss_is_zero_while_the_queue_can_hold_the_excess():
    assert theory.udp_loss_rate(5, 5, queue_packets=1000, duration_s=1) == 0


def test_udp_shares_are_the_published_ones():
    """`epfl` A2 and A3 by its own framing: 0.938 and 3.752, 0.469 and 4.221 Mbit/s."""
    assert theory.udp_shares_mbps([1, 0.5], 5) == pytest.approx([1, 0.5])
    assert theory.udp_shares_mbps([1, 4], 5, framing="ethernet") == pytest.approx([0.938, 3.752], abs=5e-4)
    assert theory.udp_shares_mbps([1, 9], 5, framing="ethernet") == pytest.approx([0.469, 4.221], abs=5e-4)


def test_udp_shares_count_each_flows_own_headers():
    """2 Mbit/s in datagrams of 100 and of 1000 bytes take 2.84 and 2.084 Mbit/s of the wire."""
    shares = theory.udp_shares_mbps([2, 2], 4, payload_bytes=[100, 1000])
    assert shares == pytest.approx([2 * 4 / 4.924] * 2)


@given(st.floats(0.01, 1e4), st.floats(0.01, 1e4), st.integers(32, 1472), st.sampled_from(["tc", "ethernet"]))
def test_udp_goodput_and_loss_account_for_every_datagram(offered, rate, payload, framing):
    goodput = theory.udp_goodput_mbps(offered, rate, payload, framing)
    assert goodput + offered * theory.udp_loss_rate(offered, rate, payload, framing) == pytest.approx(offered)
    assert theory.udp_shares_mbps([offered], rate, payload, framing) == pytest.approx([goodput])


def test_packets_leave_a_queue_in_proportion_to_their_number_in_it():
    """3 and 1 packets of 1000 bytes without headers in 8 Mbit/s; then equal numbers of unequal size, by hand."""
    assert theory.held_shares_mbps([3, 1], [1000, 1000], [1000, 1000], 8) == pytest.approx([6, 2])
    assert theory.held_shares_mbps([5, 5], [900, 50], [1000, 100], 11) == pytest.approx([9, 0.5])


def test_single_waiting_flow_has_the_link():
    alone = theory.held_shares_mbps([7], [1470], [theory.udp_wire_bytes(1470, "ethernet")], 100)
    assert alone == pytest.approx([theory.udp_goodput_limit_mbps(100, 1470, "ethernet")])


def test_a_queue_that_is_not_given_holds_nothing() -> None:
    assert theory.udp_loss_rate(10, 5, duration_s=0.1) == theory.udp_loss_rate(10, 5, queue_packets=0, duration_s=0.1)
    assert theory.udp_loss_rate(10, 5, duration_s=0.1) > theory.udp_loss_rate(10, 5, queue_packets=1, duration_s=0.1)
