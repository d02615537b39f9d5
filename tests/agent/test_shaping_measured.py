"""Each trap of shaping has a test that fails when the trap is sprung."""

from __future__ import annotations

import functools
import json

import pytest

import netlab as nl
from tests.agreement import agrees, tcp_limit_mbps, udp_limit_mbps

pytestmark = [pytest.mark.pocket, pytest.mark.usefixtures("in_pocket")]


def tc(run: nl.Run, what: str = "qdisc") -> list[dict[str, object]]:
    """Return the output of a command with `tc -j` in a run."""
    (text,) = [row.stdout for row in run.commands.itertuples() if what in row.command]
    found: list[dict[str, object]] = json.loads(text)
    return found


def read_back(link: nl.Link, node: str) -> dict[str, dict[str, object]]:
    """By kind, the options of the qdiscs that a direct link between h1 and h2 has at one of its ends."""
    topology = nl.Topology(hosts=["h1", "h2"], links=[link])
    run = nl.run(topology, [nl.Command(node, "tc -s -j qdisc show")], duration_s=0.5)
    return {str(qdisc["kind"]): qdisc for qdisc in tc(run)}


def test_tc_shows_the_intended_settings() -> None:
    """Rates are bits: `tc` reads ``mbps`` as megabytes, which would be eight times the rate."""
    link = nl.Link("h1", "h2", rate_mbps=5, delay_ms=10, queue_packets=42, loss_rate=0.25, reverse={"rate_mbps": 1})
    sending = read_back(link, "h1")
    assert sending["tbf"]["options"]["rate"] == 5_000_000 / 8
    assert sending["pfifo"]["options"]["limit"] == 42
    wire = read_back(link, "h2")
    assert wire["netem"]["options"]["delay"]["delay"] == 0.01
    assert wire["netem"]["options"]["loss-random"]["loss"] == 0.25
    assert wire["tbf"]["options"]["rate"] == 1_000_000 / 8


def test_packets_in_flight_do_not_count_against_the_queue() -> None:
    """A BDP of 430 packets through a queue of 10 loses nothing while the rate is not exceeded."""
    topology = nl.topologies.dumbbell(pairs=1, rate_mbps=50, delay_ms=100, queue_packets=10)
    run = nl.run(topology, [nl.Udp("h1", "h2", rate_mbps=45)], duration_s=1)
    assert run.flows.loss_rate[0] == 0


def test_the_wire_never_drops_of_itself() -> None:
    """Netem's own limit (1000 by default) is far below a BDP of 10 000 packets."""
    topology = nl.topologies.dumbbell(pairs=1, rate_mbps=500, delay_ms=250, queue_packets=100)
    run = nl.run(topology, [nl.Udp("h1", "h2", rate_mbps=450, payload_bytes=1400)], duration_s=0.5)
    assert run.flows.sent_datagrams[0] > 20_000
    assert run.flows.loss_rate[0] == 0


def test_delay_on_the_senders_link_does_not_throttle_tcp() -> None:
    """TCP's small-queue limit would hold a flow that waits in its own host's netem."""
    topology = nl.Topology(
        hosts=["h1", "h2"],
        routers=["r1"],
        links=[nl.Link("h1", "r1", delay_ms=50), nl.Link("r1", "h2", rate_mbps=100, queue_packets=1000)],
    )
    run = nl.run(topology, [nl.Tcp("h1", "h2")], duration_s=15)
    agrees("goodput (Mbit/s)", run.goodput_mbps(after_s=5).iloc[0], tcp_limit_mbps(100), relative=0.005)


def test_a_packet_is_a_packet_in_the_queue() -> None:
    """A full queue of 50 packets holds 50 frames of 1514 bytes, although the sender has segmentation offload."""
    topology = nl.topologies.dumbbell(pairs=1, rate_mbps=100, delay_ms=10, queue_packets=50)
    run = nl.run(topology, [nl.Tcp("h1", "h2"), nl.Command("h1", "ip -j link show h1-eth0")], duration_s=5)
    queue = run.queues[run.queues.interface == "r1-eth1"]
    assert queue.backlog_packets.max() <= 50
    assert queue.backlog_packets.max() > 40
    full = queue[queue.backlog_packets > 0]
    # The last segment of each write is short; an offloaded one would be 40 times too long.
    agrees("bytes a packet", (full.backlog_bytes / full.backlog_packets).mean(), 1514, relative=0.02)
    sent = queue.iloc[-1]
    agrees("bytes a packet sent", sent.sent_bytes / sent.sent_packets, 1514, relative=0.02)


def test_segmentation_offload_stays_on_above_a_gigabit() -> None:
    """At 10 Gbit/s the queue is given in bytes, and the settings show it."""
    topology = nl.topologies.dumbbell(pairs=1, rate_mbps=10_000, delay_ms=1, queue_packets=2000)
    run = nl.run(topology, [nl.Tcp("h1", "h2")], duration_s=1)
    lines = " ".join(run.settings["tc"]["r1"])
    assert "bfifo limit 3028000b" in lines
    agrees("goodput (Mbit/s)", run.goodput_mbps(after_s=0.5).iloc[0], tcp_limit_mbps(10_000), relative=0.005)
    queue = run.queues[(run.queues.interface == "r1-eth1") & (run.queues.backlog_packets > 0)].iloc[-1]
    assert queue.backlog_bytes / queue.backlog_packets > 30_000, "tbf split the segments after all"


def test_ethernet_framing_counts_38_bytes() -> None:
    """UDP and TCP limits with preamble, header, checksum and gap; small frames are padded."""
    for payload_bytes, offered_mbps, duration_s in ((1000, 8, 5), (32, 2, 2)):
        topology = nl.topologies.dumbbell(pairs=1, framing="ethernet")
        run = nl.run(topology, [nl.Udp("h1", "h2", rate_mbps=offered_mbps, payload_bytes=payload_bytes)], duration_s)
        wire_bytes = max(84, payload_bytes + 28 + 38)
        agrees("UDP (Mbit/s)", run.flows.goodput_mbps[0], 5 * payload_bytes / wire_bytes, relative=0.005)
    run = nl.run(nl.topologies.dumbbell(pairs=1, framing="ethernet"), [nl.Tcp("h1", "h2")], duration_s=15)
    agrees("TCP (Mbit/s)", run.goodput_mbps(after_s=5).iloc[0], 5 * 1448 / 1538, relative=0.005)


def test_the_first_packet_waits_for_no_arp() -> None:
    """The first echo is as quick as the others."""
    run = nl.run(nl.topologies.three_pcs(), [nl.Ping("h1", "h3", count=3), nl.Ping("h2", "h1", count=3)], duration_s=2)
    for flow, rows in run.pings.groupby("flow"):
        agrees(f"first RTT of {flow} (ms)", rows.rtt_ms.iloc[0], rows.rtt_ms.iloc[1], absolute=0.01)


def test_each_flow_has_its_own_congestion_control() -> None:
    """Two controls side by side, and what the namespace has is neither."""
    traffic = [
        nl.Tcp("h1", "h3", congestion="bbr"),
        nl.Tcp("h2", "h4", congestion="vegas"),
        nl.Command("h1", "ss -tin; sysctl -n net.ipv4.tcp_congestion_control", start_s=1),
    ]
    run = nl.run(nl.topologies.dumbbell(pairs=2), traffic, duration_s=3)
    assert " bbr " in run.commands.stdout[0]
    assert run.commands.stdout[0].split()[-1] == "cubic"


def test_random_loss_is_binomial() -> None:
    """1 % of 10 000 datagrams, within four standard deviations; and loss comes after the rate, not before."""
    topology = nl.topologies.dumbbell(pairs=1, rate_mbps=100, loss_rate=0.01)
    run = nl.run(topology, [nl.Udp("h1", "h2", rate_mbps=20)], duration_s=4)
    agrees("loss", run.flows.loss_rate[0], 0.01, absolute=4 * (0.01 * 0.99 / 10_000) ** 0.5)
    topology = nl.topologies.dumbbell(pairs=1, rate_mbps=5, loss_rate=0.2)
    run = nl.run(topology, [nl.Udp("h1", "h2", rate_mbps=7)], duration_s=12)
    agrees("goodput (Mbit/s)", run.flows.goodput_mbps[0], 0.8 * udp_limit_mbps(5), relative=0.02)


def test_bursty_loss_has_the_gilbert_elliott_mean() -> None:
    """The stationary share of the bad state is p / (p + r); and bursts are longer than chance would have them."""
    burst = {"enter_rate": 0.01, "leave_rate": 0.25}
    topology = nl.topologies.dumbbell(pairs=1, rate_mbps=100, burst_loss=burst)
    run = nl.run(topology, [nl.Udp("h1", "h2", rate_mbps=20)], duration_s=20)
    agrees("loss", run.flows.loss_rate[0], 0.01 / 0.26, relative=0.2)


def test_duplicates_are_counted_once() -> None:
    """10 % duplicates raise throughput, not goodput."""
    topology = nl.topologies.dumbbell(pairs=1, rate_mbps=100, duplicate_rate=0.1)
    run = nl.run(topology, [nl.Udp("h1", "h2", rate_mbps=10)], duration_s=10)
    flow = run.flows.iloc[0]
    agrees("duplicates", flow.duplicates / flow.sent_datagrams, 0.1, relative=0.1)
    agrees("goodput (Mbit/s)", flow.goodput_mbps, 10, relative=0.001)
    assert flow.loss_rate == 0


@pytest.mark.parametrize("reorder", [False, True])
def test_jitter_reorders_only_when_asked(reorder: bool) -> None:
    """Uniform jitter of 5 ms around 10 ms; packets every 1.6 ms overtake each other or do not."""
    topology = nl.topologies.dumbbell(pairs=1, rate_mbps=100, delay_ms=10, jitter_ms=5, reorder=reorder)
    run = nl.run(topology, [nl.Udp("h1", "h2", rate_mbps=5)], duration_s=10)
    flow = run.flows.iloc[0]
    assert (flow.reordered > 100) == reorder
    assert flow.jitter_ms > 0.5
    assert flow.loss_rate == 0


def test_a_queue_in_bytes() -> None:
    """20 000 bytes and no more."""
    topology = nl.topologies.dumbbell(pairs=1, queue_packets=None, queue_bytes=20_000)
    run = nl.run(topology, [nl.Udp("h1", "h2", rate_mbps=10)], duration_s=3)
    backlog = run.queues[run.queues.interface == "r1-eth1"].backlog_bytes
    assert 18_000 < backlog.max() <= 20_000


def test_each_direction_has_its_own_rate() -> None:
    """5 Mbit/s there, 1 Mbit/s back."""
    topology = nl.topologies.dumbbell(pairs=1, reverse={"rate_mbps": 1})
    run = nl.run(topology, [nl.Udp("h1", "h2", rate_mbps=8), nl.Udp("h2", "h1", rate_mbps=2)], duration_s=5)
    there, back = run.flows.goodput_mbps
    agrees("there (Mbit/s)", there, udp_limit_mbps(5), relative=0.01)
    agrees("back (Mbit/s)", back, udp_limit_mbps(1), relative=0.02)


@functools.cache
def delay_ms(aqm: str) -> float:
    """Return the mean RTT of a flow that fills a queue of 300 packets, and see that it keeps the link 85 % busy."""
    topology = nl.topologies.dumbbell(pairs=1, rate_mbps=10, delay_ms=10, queue_packets=300, aqm=aqm)
    run = nl.run(topology, [nl.Tcp("h1", "h2")], duration_s=20)
    assert run.goodput_mbps(after_s=5).iloc[0] > 0.85 * tcp_limit_mbps(10)
    return float(run.intervals[run.intervals.t_s > 5].rtt_ms.mean())


@pytest.mark.parametrize("aqm", ["red", "codel", "fq_codel", "pie", "cake"])
def test_active_queues_keep_the_delay_down(aqm: str) -> None:
    """Every discipline halves the queue of a full FIFO of 300 packets, or better, and keeps the link 85 % busy."""
    assert delay_ms(aqm) < delay_ms("fifo") / 2


@pytest.mark.parametrize("aqm", ["red", "codel", "fq_codel"])
def test_ecn_marks_instead_of_dropping(aqm: str) -> None:
    """With ECN on both sides the queue marks, the sender is told, and nothing is lost."""
    topology = nl.topologies.dumbbell(pairs=1, rate_mbps=10, queue_packets=500, aqm=aqm, aqm_options={"ecn": True})
    run = nl.run(topology, [nl.Tcp("h1", "h2", congestion="reno")], duration_s=15, sysctls={"net.ipv4.tcp_ecn": 1})
    queue = run.queues[run.queues.interface == "r1-eth1"].iloc[-1]
    assert queue.marks > 0
    assert queue.drops == 0
    assert run.flows.marks[0] > 0


def test_dctcp_keeps_a_shallow_queue() -> None:
    """DCTCP with a marking threshold: little queue, no loss, full link."""
    options = {"ecn": True, "min_packets": 10, "max_packets": 12, "probability": 1.0}
    topology = nl.topologies.dumbbell(
        pairs=1, rate_mbps=50, delay_ms=2, queue_packets=500, aqm="red", aqm_options=options
    )
    run = nl.run(topology, [nl.Tcp("h1", "h2", congestion="dctcp")], duration_s=10, sysctls={"net.ipv4.tcp_ecn": 1})
    later = run.queues[(run.queues.interface == "r1-eth1") & (run.queues.t_s > 2)]
    assert later.backlog_packets.max() < 60
    assert later.marks.iloc[-1] > 0
    agrees("goodput (Mbit/s)", run.goodput_mbps(after_s=2).iloc[0], tcp_limit_mbps(50), relative=0.03)


def test_tahoe_falls_to_one_segment_where_reno_halves() -> None:
    """The congestion windows after the first loss."""
    lowest = {}
    for congestion in ("tahoe", "reno"):
        topology = nl.topologies.dumbbell(pairs=1, rate_mbps=5, delay_ms=50, queue_packets=20)
        run = nl.run(topology, [nl.Tcp("h1", "h2", congestion=congestion)], duration_s=20, interval_s=0.01)
        assert run.flows.retransmits[0] > 0
        assert run.flows.timeouts[0] == 0, "a timeout would bring any control to one segment"
        settled = run.intervals[run.intervals.t_s > 8]
        lowest[congestion] = settled.cwnd_segments.min()
        peak = settled.cwnd_segments.max()
        assert settled.retransmits.max() > settled.retransmits.min(), "no loss in the settled part"
        if congestion == "reno":
            agrees("reno's lowest over highest window", lowest["reno"] / peak, 0.5, absolute=0.1)
    assert lowest["tahoe"] <= 2, lowest


def test_a_queue_counts_each_small_segment() -> None:
    """The queue sends as many packets as TCP sends segments, whatever their size."""
    topology = nl.topologies.dumbbell(pairs=1, rate_mbps=2, delay_ms=10, queue_packets=20)
    run = nl.run(topology, [nl.Tcp("h1", "h2", mss_bytes=300)], duration_s=10)
    sent = run.queues[run.queues["interface"] == "r1-eth1"].iloc[-1]
    frame_bytes = sent.sent_bytes / sent.sent_packets
    agrees("bytes of a frame in the queue", frame_bytes, 300 + 66, relative=0.002)
