"""The full model of Padhye and others beside the kernel's Reno, where it holds and where it does not."""

from __future__ import annotations

import pytest

import netlab as nl
from tests.figures import agrees

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
