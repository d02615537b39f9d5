"""The full model of Padhye and others compared with the kernel's Reno, where it holds and where it does not."""

from __future__ import annotations

import math

import pytest

import netlab as nl
from tests.agreement import agrees

pytestmark = pytest.mark.pocket

RTT_MS = 20


def reno_mbps(loss_rate: float) -> float:
    """Goodput of one Reno flow over a fast link that loses single segments at random."""
    there = {"rate_mbps": 1000, "delay_ms": RTT_MS, "queue_packets": 5000, "loss_rate": loss_rate}
    link = nl.Link("h1", "h2", **there, reverse={"delay_ms": 0, "loss_rate": 0})
    run = nl.run(nl.Topology(["h1", "h2"], links=[link]), [nl.Tcp("h1", "h2", congestion="reno")], 60, interval_s=0.5)
    return float(run.goodput_mbps(5).iloc[0])


@pytest.mark.parametrize(("loss_rate", "tolerance"), [(0.001, 0.12), (0.01, 0.25)])
def test_reno_counts_what_is_acknowledged(loss_rate: float, tolerance: float) -> None:
    """b = 1; b = 2 is 40 % too low. The fewer losses a minute has, the more their number is luck."""
    measured = reno_mbps(loss_rate)
    agrees("goodput (Mbit/s)", measured, nl.theory.pftk_mbps(1448, RTT_MS, loss_rate), relative=tolerance)
    assert nl.theory.pftk_mbps(1448, RTT_MS, loss_rate, acked_segments=2) < 0.75 * measured


def test_at_a_tenth_lost_the_model_is_further_off_than_mathis() -> None:
    measured = reno_mbps(0.1)
    assert 2 < measured / nl.theory.pftk_mbps(1448, RTT_MS, 0.1) < 2.6
    agrees("goodput (Mbit/s)", measured * 1.5, nl.theory.mathis_mbps(1448, RTT_MS, 0.1), relative=0.15)


def test_distance_costs_cubic_a_quarter_power_and_reno_a_whole_one() -> None:
    """Flows alone over wires that lose 0.2 % of packets at random: rate as T**-1 for Reno, as T**-(1/4) for CUBIC far out."""
    rtts_ms = {"h1": 300, "h2": 600, "h3": 1200}
    back = {"delay_ms": 0, "loss_rate": 0}
    links = [nl.Link(host, "r1", delay_ms=rtt_ms, loss_rate=0.002, reverse=back) for host, rtt_ms in rtts_ms.items()]
    links.append(
        nl.Link("r1", "h4", rate_mbps=1000, queue_packets=5000, reverse={"rate_mbps": None, "queue_packets": None})
    )
    network = nl.Topology([*rtts_ms, "h4"], ["r1"], links=links)
    for congestion, exponent, tolerance in (("reno", 1.0, 0.15), ("cubic", 0.25, 0.15)):
        traffic = [nl.Tcp(host, "h4", congestion=congestion) for host in rtts_ms]
        run = nl.run(network, traffic, 900, interval_s=5)
        rates_mbps = run.goodput_mbps(60).to_numpy()
        measured = math.log(rates_mbps[0] / rates_mbps[-1]) / math.log(4)
        agrees(f"exponent of {congestion}", measured, exponent, absolute=tolerance)
