"""Framing of a link, and a sender that overloads it (`epfl` section 1, `siit`), against theory with stated tolerances."""

from __future__ import annotations

import pytest

import netlab as nl
from netlab.theory import udp_goodput_limit_mbps, udp_loss_rate
from netlab_course.chapters import udp_loss
from netlab_course.chapters.opening import judging_checks
from netlab_course.chapters.udp_loss import experiments
from tests.agreement import agrees

pytestmark = pytest.mark.pocket

chapter = udp_loss.begin()
own = chapter.own


@pytest.mark.parametrize("framing", ["tc", "ethernet"])
@pytest.mark.parametrize("payload_bytes", [64, 1000, 1472])
def test_a_link_counts_the_bytes_of_its_framing(framing: str, payload_bytes: int) -> None:
    """UDP goodput at an overloaded link within 0.1 % of the framing limit."""
    flow = nl.Udp("h1", "h3", rate_mbps=6, payload_bytes=payload_bytes, spacing="even", duration_s=1)
    run = nl.run(chapter.settings.three_pcs(framing), [flow], duration_s=2)
    expected_mbps = udp_goodput_limit_mbps(chapter.settings.RATE_MBPS, payload_bytes, framing)
    agrees("goodput (Mbit/s)", run.flows.goodput_mbps[0], expected_mbps, relative=0.001)


def test_a_sender_does_not_wait_for_its_own_interface() -> None:
    """A flow that overloads its first link loses what does not fit, ends in time and leaves the next one alone."""
    common = {"rate_mbps": 125, "payload_bytes": 1470, "spacing": "even", "duration_s": 1}
    steps = [nl.Udp("h1", "h2", start_s=start_s, **common) for start_s in (0, 1.1)]
    cable = nl.Topology(hosts=["h1", "h2"], links=[nl.Link("h1", "h2", rate_mbps=100, queue_packets=100)])
    run = nl.run(cable, steps, duration_s=2.2)
    for _, flow in run.flows.iterrows():
        agrees("sent datagrams", flow.sent_datagrams, 125e6 / (1470 * 8), absolute=1)
        agrees("goodput (Mbit/s)", flow.goodput_mbps, udp_goodput_limit_mbps(100, 1470), relative=0.001)


def test_the_measurement_that_the_exercise_asks_for_passes_its_check() -> None:
    link = nl.Link("h1", "h2", rate_mbps=own.rate_mbps, queue_packets=own.queue_packets)
    flow = nl.Udp("h1", "h2", rate_mbps=1.2 * own.rate_mbps, payload_bytes=own.payload_bytes)
    run = nl.run(nl.Topology(hosts=["h1", "h2"], links=[link]), [flow], duration_s=5)
    assert "all 7 conditions hold" in str(judging_checks(chapter)["overload"].judge(run))
    counted = own.rate_mbps * own.payload_bytes / run.flows.goodput_mbps.iloc[0]
    agrees("bytes", counted, own.payload_bytes + 42, relative=0.001)


def test_three_seconds_of_a_little_too_much_lose_nothing_and_ten_do() -> None:
    """4 % above the limit fill a queue of 100 packets in 4 s; the second half of 10 s loses as the long run does."""
    network = chapter.settings.three_pcs("tc")
    short = nl.run(network, [nl.Udp("h1", "h3", rate_mbps=5)], duration_s=3).flows.iloc[0]
    assert short.sent_datagrams == short.received_datagrams
    step = nl.Udp("h1", "h3", rate_mbps=5, spacing="even", duration_s=10)
    long = nl.run(network, [step], duration_s=11, interval_s=1)
    agrees("late loss", experiments.second_half_loss(long)[0], udp_loss_rate(5, 5), absolute=0.0005)
    expected = udp_loss_rate(5, 5, queue_packets=100, duration_s=10)
    agrees("whole loss", long.flows.loss_rate[0], expected, absolute=0.001)


def test_ping_waits_for_the_filling_queue() -> None:
    """Each echo lies 0 to 4 ms above the line; some are back before the queue is full."""
    network = chapter.settings.three_pcs("tc")
    run = nl.run(network, [nl.Udp("h1", "h3", rate_mbps=5.2), nl.Ping("h1", "h3", interval_s=0.217)], duration_s=10)
    echoes = run.pings.dropna()
    waits_ms = experiments.wait_ms(echoes["t_s"], 5.2, udp_goodput_limit_mbps(5, 1000))
    assert (waits_ms < 150).sum() >= 5
    for echo_ms, wait_ms in zip(echoes["rtt_ms"], waits_ms, strict=True):
        agrees("round trip (ms)", echo_ms, wait_ms + 2, absolute=2)


@pytest.mark.parametrize("payload_bytes", [128, 1000, 1472])
def test_the_slowest_datagram_waits_for_a_full_queue_and_2019_bytes_on_the_link(payload_bytes: int) -> None:
    flow = nl.Udp("h1", "h3", rate_mbps=1.1 * udp_goodput_limit_mbps(5, payload_bytes), payload_bytes=payload_bytes)
    run = nl.run(chapter.settings.three_pcs("tc"), [flow], duration_s=6)
    expected_ms = (100 * (payload_bytes + 42) + 2019) * 8 / 5000
    agrees("slowest datagram (ms)", run.flows["delay_max_ms"].iloc[0], expected_ms, relative=0.002)


def test_a_short_burst_finds_the_hidden_rate_and_loses_nothing() -> None:
    probe = experiments.Prober(own)
    agrees("rate (Mbit/s)", probe(60, 0.01) * 1042 / 1000, own.hidden_mbps, relative=0.001)
    assert "lost datagrams: 0 of 50 allowed" in probe.report(own.hidden_mbps)


def test_two_exact_beats_share_by_their_phase() -> None:
    """A modest sender with 6 and 9 Mbit/s gets min(1, beat / 1.667 ms) within 2 %, not its equal chance."""
    clocks = [
        nl.Udp(src, "h3", rate_mbps=rate_mbps, spacing="even", start_s=11 * step, duration_s=10)
        for step, other_mbps in enumerate((6, 9))
        for src, rate_mbps in (("h1", 1), ("h2", other_mbps))
    ]
    run = nl.run(chapter.settings.three_pcs("tc"), clocks, duration_s=22, interval_s=1)
    table = experiments.clockwork_table(run, [6, 9])
    for _, row in table.iterrows():
        agrees("goodput (Mbit/s)", row["h1 gets"], row["phases"], relative=0.02)
        assert abs(row["phases"] - row["equal chances"]) > 0.05
