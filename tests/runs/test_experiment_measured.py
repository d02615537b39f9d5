"""Measurement against theory, with stated tolerances."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import netlab as nl
from tests.agreement import MSS_BYTES, agrees, tcp_limit_mbps, udp_limit_mbps

pytestmark = pytest.mark.pocket


FRAME_BITS = 1514 * 8
ECHO_BITS = (56 + 8 + 20 + 14) * 8


@pytest.mark.parametrize("ratio", [0.2, 0.5, 0.9, 1.0, 1.1, 2.0, 4.0])
def test_udp_delivers_the_smaller_of_offered_and_framing_limit(ratio: float) -> None:
    """Goodput and loss within 0.5 % from a fifth of the bottleneck to four times it."""
    rate_mbps, duration_s, queue_packets = 5.0, 60.0, 20
    topology = nl.topologies.dumbbell(pairs=1, rate_mbps=rate_mbps, queue_packets=queue_packets)
    run = nl.run(topology, [nl.Udp("h1", "h2", rate_mbps=ratio * rate_mbps)], duration_s=duration_s, interval_s=1)
    flow = run.flows.iloc[0]
    expected_mbps = min(ratio * rate_mbps, udp_limit_mbps(rate_mbps))
    agrees("goodput (Mbit/s)", flow.goodput_mbps, expected_mbps, relative=0.005)
    agrees("loss", flow.loss_rate, 1 - expected_mbps / (ratio * rate_mbps), absolute=0.005)
    # Sharper: the queue's packets are late, not lost.
    delivered = min(duration_s * expected_mbps * 1e6 / 8000 + queue_packets, flow.sent_datagrams)
    if ratio > udp_limit_mbps(1):
        agrees("received datagrams", flow.received_datagrams, delivered, absolute=3)


@pytest.mark.parametrize(("rate_mbps", "duration_s"), [(1, 120), (10, 40), (100, 20), (1000, 8)])
def test_single_tcp_flow_reaches_the_framing_limit(rate_mbps: float, duration_s: float) -> None:
    """Goodput after slow start within 0.5 % at 1, 10, 100 and 1000 Mbit/s."""
    round_trip_packets = rate_mbps * 1e6 * 0.020 / FRAME_BITS
    topology = nl.topologies.dumbbell(
        pairs=1, rate_mbps=rate_mbps, delay_ms=10, queue_packets=max(20, round(2 * round_trip_packets))
    )
    run = nl.run(topology, [nl.Tcp("h1", "h2")], duration_s=duration_s)
    measured_mbps = run.goodput_mbps(after_s=duration_s / 4).iloc[0]
    agrees("goodput (Mbit/s)", measured_mbps, tcp_limit_mbps(rate_mbps), relative=0.005)


def test_ping_takes_twice_the_delay_and_the_serialisation() -> None:
    """RTT within 0.1 ms over a path of three shaped links."""
    rates_mbps, delays_ms = [10, 2, 50], [3, 10, 0.5]
    run = nl.run(nl.topologies.chain(rates_mbps, delays_ms), [nl.Ping("h1", "h2", count=25)], duration_s=6)
    expected_ms = 2 * sum(d + ECHO_BITS / (r * 1e3) for r, d in zip(rates_mbps, delays_ms, strict=True))
    assert len(run.pings) == 25
    for rtt_ms in run.pings.rtt_ms:
        agrees("RTT (ms)", rtt_ms, expected_ms, absolute=0.1)


@settings(max_examples=12, derandomize=True)
@given(
    links=st.lists(
        st.tuples(st.sampled_from([2, 5, 10, 20, 50, 100]), st.sampled_from([0, 1, 2.5, 10, 30])),
        min_size=1,
        max_size=6,
    )
)
def test_random_chains(links: list[tuple[float, float]]) -> None:
    """TCP goodput within 2 % of the bottleneck's framing limit, RTT of the idle path within 1 %, on 1 to 6 links."""
    rates_mbps, delays_ms = [rate for rate, _ in links], [delay for _, delay in links]
    bottleneck_mbps = min(rates_mbps)
    rtt_ms = 2 * sum(d + ECHO_BITS / (r * 1e3) for r, d in links)
    queue = max(100, round(2 * bottleneck_mbps * 1e3 * rtt_ms / FRAME_BITS))
    topology = nl.topologies.chain(rates_mbps, delays_ms, queue_packets=queue)
    # Bytes count when they are in order: a gap that is open at an edge of the window hides up to a queue's worth of time.
    duration_s = max(20, 200 / bottleneck_mbps + rtt_ms / 5)
    traffic = [nl.Ping("h1", "h2", count=5, interval_s=1), nl.Tcp("h1", "h2", start_s=6)]
    run = nl.run(topology, traffic, duration_s=duration_s + 6)
    for measured_ms in run.pings.rtt_ms:
        agrees(f"RTT (ms) over {links}", measured_ms, rtt_ms, relative=0.01)
    measured_mbps = run.goodput_mbps(after_s=6 + duration_s / 3)["h1-h2 cubic"]
    agrees(f"goodput (Mbit/s) over {links}", measured_mbps, tcp_limit_mbps(bottleneck_mbps), relative=0.02)


@pytest.mark.parametrize(
    ("rates_mbps", "expected_loss"), [((1, 0.5), 0.0), ((1, 4), 1 - 4.79846 / 5), ((1, 9), 1 - 4.79846 / 10)]
)
def test_competing_udp_flows_lose_in_proportion(rates_mbps: tuple[float, float], expected_loss: float) -> None:
    """Two flows into 5 Mbit/s (`epfl` A1 to A3): both lose the same share, within 2 percentage points."""
    traffic = [nl.Udp(src, "h3", rate_mbps=rate) for src, rate in zip(("h1", "h2"), rates_mbps, strict=True)]
    run = nl.run(nl.topologies.three_pcs(), traffic, duration_s=60, interval_s=1)
    for flow in run.flows.itertuples():
        agrees(f"loss of {flow.flow}", flow.loss_rate, expected_loss, absolute=0.02)


def test_a_window_below_the_bdp_limits_the_flow() -> None:
    """Goodput is window / RTT."""
    window_bytes, rtt_s = 65_536, 0.1
    topology = nl.topologies.dumbbell(pairs=1, rate_mbps=100, delay_ms=50)
    run = nl.run(topology, [nl.Tcp("h1", "h2", window_bytes=window_bytes)], duration_s=20)
    agrees("goodput (Mbit/s)", run.goodput_mbps(after_s=2).iloc[0], window_bytes * 8e-6 / rtt_s, relative=0.03)


def test_small_segments_cost_headers() -> None:
    """The framing limit with 500 bytes a segment."""
    run = nl.run(nl.topologies.dumbbell(pairs=1), [nl.Tcp("h1", "h2", mss_bytes=500)], duration_s=30)
    agrees("goodput (Mbit/s)", run.goodput_mbps(after_s=5).iloc[0], 5 * 500 / (500 + 66), relative=0.005)


def test_num_bytes_arrive_exactly() -> None:
    """A transfer of a number of bytes delivers that number, shared over its streams."""
    run = nl.run(nl.topologies.dumbbell(pairs=1), [nl.Tcp("h1", "h2", num_bytes=1_000_003, streams=4)], duration_s=30)
    assert run.flows.received_bytes.iloc[0] == 1_000_003
    assert sorted(run.streams.received_bytes) == [250_000, 250_001, 250_001, 250_001]
    assert run.intervals.t_s.max() < 5


def test_flows_start_and_stop_at_their_own_times() -> None:
    """Each of two flows has the link to itself before and after the other."""
    traffic = [nl.Tcp("h1", "h3", duration_s=20), nl.Tcp("h2", "h4", start_s=10)]
    run = nl.run(nl.topologies.dumbbell(pairs=2), traffic, duration_s=40)
    first, second = run.flows.flow
    assert run.intervals[run.intervals.flow == second].t_s.min() > 10
    assert run.intervals[run.intervals.flow == first].t_s.max() <= 20 + 0.1
    agrees("first alone", run.goodput_mbps(2, 10)[first], tcp_limit_mbps(5), relative=0.01)
    agrees("second alone", run.goodput_mbps(25, 40)[second], tcp_limit_mbps(5), relative=0.01)


def test_throughput_counts_headers() -> None:
    """IP bits are goodput times (MSS + 52) / MSS while nothing is lost."""
    run = nl.run(
        nl.topologies.dumbbell(pairs=1, queue_packets=1000), [nl.Tcp("h1", "h2", window_bytes=20_000)], duration_s=10
    )
    flow = run.flows.iloc[0]
    assert flow.retransmits == 0
    agrees(
        "throughput / goodput", flow.throughput_mbps / flow.goodput_mbps, (MSS_BYTES + 52) / MSS_BYTES, relative=0.005
    )


def test_a_dead_link_is_a_measurement_not_a_crash() -> None:
    """Everything is lost: UDP and ping say so in numbers, TCP in a sentence."""
    traffic = [nl.Tcp("h1", "h3"), nl.Udp("h2", "h4", rate_mbps=1), nl.Ping("h1", "h3")]
    run = nl.run(nl.topologies.dumbbell(pairs=2, loss_rate=1.0), traffic, duration_s=5)
    tcp, udp, ping = (row for _, row in run.flows.iterrows())
    assert tcp.goodput_mbps == 0
    assert "delivered nothing" in tcp.error
    assert (udp.loss_rate, ping.loss_rate) == (1, 1)
    assert run.pings.rtt_ms.isna().all()


def test_a_portfolio_of_three_flows_fills_its_bottleneck() -> None:
    """The 9-host topology, 60 s, three flows over L1 and L2: together the limit of L2."""
    traffic = [nl.Tcp("h1", "h4"), nl.Tcp("h2", "h5"), nl.Tcp("h3", "h6")]
    run = nl.run(nl.topologies.portfolio(), traffic, duration_s=60)
    agrees("sum (Mbit/s)", run.goodput_mbps(after_s=5).sum(), tcp_limit_mbps(30), relative=0.01)


def test_intervals_down_to_a_millisecond() -> None:
    """Series of 1 ms add up to the total."""
    run = nl.run(nl.topologies.dumbbell(pairs=1, rate_mbps=100), [nl.Tcp("h1", "h2")], duration_s=1, interval_s=0.001)
    received_bytes = (run.intervals.goodput_mbps * 1e6 / 8 * 0.001).sum()
    agrees("bytes", received_bytes, run.flows.received_bytes[0], relative=0.001)
    assert run.intervals.t_s.diff().dropna().round(6).eq(0.001).all()


@pytest.mark.parametrize("rate_mbps", [0.01, 1, 100, 1000])
@pytest.mark.parametrize("spacing", ["even", "random"])
def test_pacing_is_exact(rate_mbps: float, spacing: str) -> None:
    """The number of datagrams sent is rate x time to within one datagram, from 10 kbit/s to 1 Gbit/s."""
    duration_s = {0.01: 60, 1: 10, 100: 1, 1000: 0.2}[rate_mbps]
    traffic = [nl.Udp("h1", "h2", rate_mbps=rate_mbps, spacing=spacing)]
    run = nl.run(nl.topologies.dumbbell(pairs=1, rate_mbps=2000), traffic, duration_s=duration_s)
    expected = rate_mbps * 1e6 * duration_s / 8000
    agrees("datagrams", run.flows.sent_datagrams[0], expected, absolute=1, relative=1e-4)
    assert run.flows.loss_rate[0] == 0
