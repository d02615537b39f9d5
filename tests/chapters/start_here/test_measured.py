"""The first page's numbers against theory, with stated tolerances."""

from __future__ import annotations

import pytest

import netlab as nl
from netlab_course.chapters import start_here
from netlab_course.chapters.opening import judging_checks
from netlab_course.checks import right_number
from tests.agreement import agrees, tcp_limit_mbps

pytestmark = pytest.mark.pocket

chapter = start_here.begin()


def test_ping_and_download_take_the_times_that_the_check_expects() -> None:
    """RTT within 0.1 %; goodput after the start within 0.2 %; the queue adds 5 to 130 ms."""
    network = chapter.settings.three_hosts()
    ping = nl.run(network, [nl.Ping("h2", "h3", count=2)], duration_s=3).flows.iloc[0]
    agrees("RTT (ms)", ping.rtt_ms, right_number(judging_checks(chapter)["rtt"]), relative=0.001)
    run = nl.run(network, [nl.Tcp("h1", "h3")], duration_s=10)
    agrees("goodput (Mbit/s)", run.goodput_mbps(after_s=3).iloc[0], tcp_limit_mbps(10), relative=0.002)
    assert 55 < run.flows.rtt_ms.iloc[0] < 180
