"""The statements in the chapter's prose, measured again with other seeds and settings."""

from __future__ import annotations

from typing import Any

import pytest

import netlab as nl
from netlab_course.chapters.delay_and_jitter import experiments
from tests.agreement import agrees
from tests.chapters.checking import names_of_cells

pytestmark = pytest.mark.pocket


@pytest.fixture(scope="module")
def page() -> dict[str, Any]:
    """The networks and scenarios that the chapter's cells define."""
    return names_of_cells("04_delay_and_jitter", "network", "jitter-udp", "variants", "jitter-runs")


@pytest.mark.parametrize("delay_ms", [300, 3000])
def test_tcp_in_ten_seconds_is_slow_start_and_udp_does_not_notice(page: dict[str, Any], delay_ms: float) -> None:
    udp = nl.Udp("h1", "h2", rate_mbps=54.2, payload_bytes=1470)
    cable = page["cable"](delay_ms)
    tcp_mbps = nl.run(cable, [nl.Tcp("h1", "h2")], duration_s=10).flows["goodput_mbps"][0]
    agrees("TCP (Mbit/s)", tcp_mbps, experiments.tcp_mbps(delay_ms), relative=0.01)
    udp_mbps = nl.run(cable, [udp], duration_s=1).flows["goodput_mbps"][0]
    agrees("UDP (Mbit/s)", udp_mbps, 54.2, relative=0.001)


def test_netem_drops_what_its_buffer_cannot_hold() -> None:
    netem = nl.Command("h1", "tc qdisc add dev h1-eth0 root netem delay 500ms")
    udp = nl.Udp("h1", "h2", rate_mbps=54.2, payload_bytes=1470, start_s=0.5, duration_s=2)
    wire = nl.Topology(["h1", "h2"], links=[nl.Link("h1", "h2")])
    flows = nl.run(wire, [netem, udp], duration_s=3).flows.set_index("kind")
    agrees("loss rate", flows["loss_rate"]["udp"], experiments.netem_loss(500), absolute=0.002)
    assert experiments.netem_loss(200) == 0


def test_reordering_costs_the_old_tcp_most_of_the_link_and_order_costs_nothing(page: dict[str, Any]) -> None:
    runs = nl.sweep(page["cases"](jitters_ms=[10], seeds=[11, 12]))
    found = experiments.summary(experiments.jitter_table(runs)).set_index("TCP")
    assert (found["dropped"] == 0).all()
    goodput = found["goodput (Mbit/s)"]
    assert goodput["three duplicate ACKs (1990s)"] < 0.25 * goodput["delay varies, order kept"]
    assert goodput["SACK, RACK and DSACK (today)"] > 0.97 * goodput["delay varies, order kept"]
    assert found["sent again (%)"]["three duplicate ACKs (1990s)"] > 10


def test_goodput_by_jitter_has_a_column_for_each_jitter_in_ascending_order(page: dict[str, Any]) -> None:
    large, small = (
        experiments.jitter_table(nl.sweep(page["cases"](jitters_ms=[jitter_ms], seeds=[1]))) for jitter_ms in (10, 2)
    )
    table = experiments.goodput_by_jitter(large, small)
    assert list(table) == ["± 2 ms", "± 10 ms"]
    assert list(table.index) == list(page["variants"])
    expected = large.set_index("tcp")["goodput_mbps"]
    assert table["± 10 ms"].to_dict() == pytest.approx(expected.to_dict())
