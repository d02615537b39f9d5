"""Long queues, marks and queues for each flow (`epfl` section 4), against theory with stated tolerances."""

from __future__ import annotations

import math
from typing import Any

import pytest

import netlab as nl
from netlab import theory
from netlab.chapters import queues
from netlab.chapters.queues import experiments, settings
from tests.figures import agrees

pytestmark = pytest.mark.pocket


def test_the_published_round_trip_times_come_again() -> None:
    """RED's and DCTCP's within a tenth of `epfl`'s; 1000 packets wait between seven tenths of a full queue and a full one."""
    runs = experiments.lab_runs()
    for name in ("CUBIC, RED", "DCTCP, RED and ECN"):
        late = runs[name].intervals[runs[name].intervals["t_s"] > 60]
        agrees(f"RTT of {name} (ms)", late["rtt_ms"].mean(), experiments.PUBLISHED[name][2], relative=0.1)
    long_run = runs["CUBIC, 1000 packets"]
    full_ms = experiments.full_queue_wait_ms(1000, 5, 1514)
    assert 0.7 * full_ms < long_run.intervals.loc[long_run.intervals["t_s"] > 60, "rtt_ms"].mean() < full_ms


def test_only_who_asks_is_marked() -> None:
    """Linux's CUBIC sends 00 and loses; with tcp_ecn=1 it is marked, answers and loses nothing."""
    red = settings.one_link(5, 0, aqm="red", aqm_options={**settings.LAB_RED, "ecn": True})
    flows = [nl.Tcp("h1", "h3"), nl.Tcp("h2", "h3")]
    seen = {
        name: nl.run(red, flows, duration_s=5, sysctls=sysctls, captures=[nl.Capture("r1", "h3")])
        for name, sysctls in (("plain", {}), ("asks", settings.ASK_FOR_ECN))
    }
    table: Any = experiments.ecn_table(seen).set_index("")
    assert table.loc["plain", "sent again"] > 0
    assert not table.loc["plain", ["10", "11", "ACKs with ECE", "data with CWR"]].any()
    assert table.loc["asks", "sent again"] == table.loc["asks", "data 00"] == 0
    assert table.loc["asks", ["10", "11", "ACKs with ECE", "data with CWR"]].all()


def test_a_seventh_of_the_bdp_is_enough_for_dctcp_and_its_queue_swings_as_its_paper_says() -> None:
    own = queues.begin("anna").own
    threshold = math.ceil(theory.dctcp_threshold_packets(own.rate_mbps, own.base_rtt_ms))
    found = experiments.thresholds([threshold], own.rate_mbps, own.base_rtt_ms)
    limit_mbps = theory.tcp_goodput_limit_mbps(own.rate_mbps)
    agrees("goodput (Mbit/s)", found["goodput_mbps"][0], limit_mbps, relative=0.01)
    low, high = theory.dctcp_queue_packets(own.rate_mbps, own.base_rtt_ms, threshold)
    middle_ms = (low + high) / 2 * theory.transmission_delay_ms(1514, own.rate_mbps)
    agrees("mean wait (ms)", found["wait_ms"][0], middle_ms, relative=0.35)


def test_a_queue_for_each_flow_protects_a_page() -> None:
    found = experiments.compared().set_index("queue")
    assert (found["pages"] == experiments.PAGES).all()
    assert found["page_s"]["long drop-tail"] > 10 * found["page_s"]["fq_codel"]
    assert found["other_wait_ms"]["fq_codel"] < 2 < found["other_wait_ms"]["CoDel"] < 10
    assert found["full"]["drop-tail, 5"] < 0.92
    assert found["full"]["fq_codel"] > 0.96
