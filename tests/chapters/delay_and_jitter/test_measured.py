"""The statements in the chapter's prose, measured again with other seeds and settings."""

from __future__ import annotations

import pytest

from netlab_course.chapters.delay_and_jitter import experiments
from tests.agreement import agrees

pytestmark = pytest.mark.pocket


def test_tcp_in_ten_seconds_is_slow_start_and_udp_does_not_notice() -> None:
    table = experiments.by_delay([300, 3000])
    for row in table.itertuples():
        expected = experiments.tcp_in_ten_seconds_mbps(row.delay_ms)
        agrees(f"TCP at {row.delay_ms} ms (Mbit/s)", row.tcp_mbps, expected, relative=0.01)
        agrees("UDP (Mbit/s)", row.udp_mbps, 54.2, relative=0.001)


def test_netem_drops_what_its_buffer_cannot_hold() -> None:
    (measured,) = experiments.netem_losses([500])
    agrees("loss rate", measured, experiments.netem_loss(500), absolute=0.002)
    assert experiments.netem_loss(200) == 0


def test_reordering_costs_the_old_tcp_most_of_the_link_and_order_costs_nothing() -> None:
    found = experiments.summary(experiments.tcp_with_jitter([10], seeds=[11, 12])).set_index("TCP")
    assert (found["dropped"] == 0).all()
    goodput = found["goodput (Mbit/s)"]
    assert goodput["three duplicate ACKs (1990s)"] < 0.25 * goodput["delay varies, order kept"]
    assert goodput["SACK, RACK and DSACK (today)"] > 0.97 * goodput["delay varies, order kept"]
    assert found["sent again (%)"]["three duplicate ACKs (1990s)"] > 10
