"""TCP beside UDP (`epfl` B1 to B3, `siit` task 8) and under random loss: measurement against theory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import netlab as nl
from netlab_course.chapters import tcp_beside_udp
from netlab_course.chapters.opening import judging_checks
from netlab_course.chapters.tcp_beside_udp import settings
from netlab_course.checks import Status
from tests.agreement import agrees
from tests.chapters.checking import names_of_cells

pytestmark = pytest.mark.pocket


@pytest.fixture(scope="module")
def page() -> dict[str, Any]:
    """The networks, traffic and scenarios that the chapter's cells define."""
    return names_of_cells("10_tcp_beside_udp", "network", "lossy", "cable-flows")


@pytest.mark.parametrize("video_mbps", settings.NUMBERS.values("beside_mbps"))
def test_the_check_wants_the_scenario_that_the_chapters_cell_makes(page: dict[str, Any], video_mbps: float) -> None:
    assert page["video_scenario"](video_mbps).to_dict() == settings.video_scenario(video_mbps).to_dict()


@pytest.mark.parametrize("video_mbps", [0.5, 2.0])
def test_tcp_takes_what_udp_leaves(video_mbps: float) -> None:
    run = nl.run(settings.video_scenario(video_mbps))
    agrees("TCP (Mbit/s)", run.goodput_mbps(10).iloc[2], settings.left_mbps(1 + video_mbps, 5, 1000), relative=0.02)


def test_beside_too_much_udp_tcp_is_silent_and_a_fair_queue_saves_it() -> None:
    """9 Mbit/s of video: below 50 kbit/s with a drop-tail queue; with a fair one the max-min share of 1.979 on the link."""
    assert nl.run(settings.video_scenario(9)).goodput_mbps(10).iloc[2] < 0.05
    fair = nl.run(settings.video_scenario(9, aqm="fq_codel")).goodput_mbps(10)
    agrees("TCP (Mbit/s)", fair.iloc[2], (5 - 1.042) / 2 * 1448 / 1514, relative=0.02)
    agrees("sensor (Mbit/s)", fair.iloc[0], 1, relative=0.03)


def test_tables_show_tcp_without_goodput_behind_a_fifo_queue_that_drops() -> None:
    """fq drops what comes when its room is full: a connection that never opens has no intervals, and stands at 0."""
    run = nl.run(settings.video_scenario(9, aqm="fq"))
    table = settings.fair_table(run, 9).set_index("flow")
    assert list(table.index) == ["sensor", "video", "TCP"]
    agrees("TCP (Mbit/s)", float(table.loc["TCP", "Mbit/s"]), 0, absolute=0.05)
    agrees("TCP, max-min fair (Mbit/s)", float(table.loc["TCP", "max-min fair"]), 1.893, absolute=0.006)
    assert float(table.loc["sensor", "Mbit/s"]) < 0.6
    agrees("TCP (Mbit/s)", settings.goodputs({"run": run})["TCP"].iloc[0], 0, absolute=0.05)


@pytest.mark.parametrize(("aqm", "queue_packets"), [("sfq", 20), ("sfq", 100), ("fq_codel", 20), ("fq_codel", 1000)])
def test_the_queues_that_drop_from_the_longest_protect_whatever_their_room(aqm: str, queue_packets: int) -> None:
    run = nl.run(settings.video_scenario(9, aqm=aqm, queue_packets=queue_packets))
    table = settings.fair_table(run, 9)
    for got, fair in zip(table["Mbit/s"], table["max-min fair"], strict=True):
        agrees("goodput (Mbit/s)", float(got), float(fair), relative=0.02)


def test_the_square_root_holds_for_few_losses_and_the_waiting_sender_for_many(page: dict[str, Any]) -> None:
    """Eight connections each: within 15 % at 2 %; from a half of it to three times it at 50 and 60 %."""
    few = nl.run(page["lossy"](0.02, 60)).streams["goodput_mbps"].mean()
    agrees("goodput at 0.02 (Mbit/s)", few, nl.theory.mathis_mbps(1448, 60, 0.02), relative=0.15)
    for loss_rate, duration_s in ((0.5, 2000), (0.6, 4000)):
        many = nl.run(page["lossy"](loss_rate, duration_s)).streams["goodput_mbps"].mean()
        assert nl.theory.mathis_mbps(1448, 60, loss_rate) > 10 * many
        waiting = nl.theory.backoff_mbps(1448, 60, loss_rate)
        agrees("log of the ratio", np.log(many / waiting), np.log(1.2), absolute=0.9)


@pytest.mark.parametrize("udp_flows", [1, 4])
def test_waiting_senders_lose_nothing_and_share_by_queue_occupancy(page: dict[str, Any], udp_flows: int) -> None:
    flows = [nl.Tcp("h1", "h2"), *[page["iperf_udp"]()] * udp_flows]
    run = nl.run(page["cable"], flows, duration_s=3, interval_s=0.5)
    row = settings.crowd_row(run)
    tcp_mbps, udp_mbps = settings.crowd_theory_mbps(udp_flows)
    assert row["dropped"] == 0
    agrees("TCP (Mbit/s)", row["TCP"], tcp_mbps, relative=0.05)
    agrees("each UDP flow (Mbit/s)", row["each UDP"], udp_mbps, relative=0.05)
    assert 94 < row["total"] < 96


def test_a_sender_that_never_waits_starves_tcp_on_the_same_cable(page: dict[str, Any]) -> None:
    flows = [nl.Tcp("h1", "h2"), page["iperf_udp"](send_buffer_bytes=None)]
    row = settings.crowd_row(nl.run(page["cable"], flows, duration_s=3, interval_s=0.5))
    assert row["dropped"] > 0 and row["TCP"] < 5


def test_fq_protects_when_its_limit_exceeds_the_flow_limit() -> None:
    """By default a flow may have 100 packets; with 1000 for a flow the same room is filled by one, and TCP gets nothing."""
    room = {"rate_mbps": 5, "aqm": "fq", "queue_packets": 1000}
    saved, starved = (
        nl.run(nl.topologies.three_pcs(**room, **more), settings.senders(9), duration_s=30, interval_s=1)
        for more in ({}, {"aqm_options": {"flow_packets": 1000}})
    )
    check = judging_checks(tcp_beside_udp.begin())["my_run"]
    verdict = check.judge(saved)
    assert verdict.status is Status.PASSED
    assert "protects only where it has room for more" in str(verdict)
    assert check.judge(starved).status is Status.FAILED


@pytest.mark.parametrize("video_mbps", tcp_beside_udp.settings.NUMBERS.values("beside_mbps"))
def test_tcp_gets_more_than_is_left_with_every_copys_video(video_mbps: float) -> None:
    """The smallest number of seeds that is asked for; what is left lies below the interval."""
    table = nl.repeat(settings.video_scenario(video_mbps), seeds=8, progress=False)
    mean, half = nl.interval(table.loc[table["kind"] == "tcp", "goodput_mbps"])
    assert settings.left_mbps(1 + video_mbps, 5, 1000) < mean - half
