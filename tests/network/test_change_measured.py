"""Links that change while traffic runs, and links that follow a trace: measured, against theory."""

import numpy as np
import pytest

import netlab as nl
from netlab import theory
from tests.engines.parity import differences

PAYLOAD_BYTES = 1000
KERNELS = [pytest.param("library", marks=pytest.mark.library), pytest.param("pocket", marks=pytest.mark.pocket)]
every_kernel = pytest.mark.parametrize("engine", KERNELS)


def line(**fields):
    fields = {"rate_mbps": 10, "delay_ms": 5, "queue_packets": 100, **fields}
    return nl.Topology(hosts=["h1", "h2"], routers=["r1"], links=[nl.Link("h1", "r1"), nl.Link("r1", "h2", **fields)])


def run(network, traffic, duration_s, *changes, engine, **words):
    return nl.run(network, traffic, duration_s, changes=changes, engine=engine, progress=False, **words)


def by_second(run, flow=None):
    """Goodput of a flow, the first where none is named, in each second."""
    rows = run.intervals[run.intervals.flow == (flow or run.flows.flow[0])]
    return rows.groupby(np.ceil(rows.t_s - 1e-6)).goodput_mbps.mean().to_numpy()


def flood(mbps=30):
    return nl.Udp("h1", "h2", rate_mbps=mbps, payload_bytes=PAYLOAD_BYTES, spacing="even")


def limit(mbps):
    return theory.udp_goodput_limit_mbps(mbps, PAYLOAD_BYTES)


@every_kernel
def test_datagrams_follow_the_steps_of_a_rate_second_by_second(engine):
    measured = by_second(
        run(
            line(),
            [flood()],
            8,
            nl.Change(at_s=2, link=("r1", "h2"), rate_mbps=2),
            nl.Change(at_s=5, link=("r1", "h2"), rate_mbps=20),
            engine=engine,
        )
    )
    # The seconds in which a step falls, seen behind a delay of 5 ms, hold a little of the rate before.
    expected = [limit(rate) for rate in (10, 10, 2, 2, 2, 20, 20, 20)]
    assert measured[[1, 3, 4, 6, 7]] == pytest.approx([expected[k] for k in (1, 3, 4, 6, 7)], rel=0.005)
    assert measured == pytest.approx(expected, rel=0.03)


@every_kernel
def test_tcp_follows_the_steps_of_a_rate(engine):
    measured = by_second(
        run(line(), [nl.Tcp("h1", "h2")], 20, nl.Change(at_s=10, link=("r1", "h2"), rate_mbps=2), engine=engine)
    )
    assert measured[3:10].mean() == pytest.approx(theory.tcp_goodput_limit_mbps(10), rel=0.01)
    assert measured[14:].mean() == pytest.approx(theory.tcp_goodput_limit_mbps(2), rel=0.01)


@every_kernel
def test_pings_see_a_new_delay_at_its_moment(engine):
    pings = run(
        line(rate_mbps=None, queue_packets=None),
        [nl.Ping("h1", "h2", interval_s=0.1)],
        4,
        nl.Change(at_s=1.05, link=("r1", "h2"), delay_ms=20),
        nl.Change(at_s=2.05, link=("r1", "h2"), reverse={"delay_ms": 40}),
        nl.Change(at_s=3.05, link=("h2", "r1"), reverse={"delay_ms": 1}),
        engine=engine,
    ).pings
    for low_s, high_s, rtt_ms in ((0, 1, 10), (1.1, 2, 40), (2.1, 3, 60), (3.1, 4, 41)):
        # The last one before a step may come back after it.
        seen = pings[(pings.t_s >= low_s) & (pings.t_s < high_s - 0.15)].rtt_ms
        assert len(seen) >= 7
        assert seen.to_numpy() == pytest.approx(rtt_ms, abs=0.01)


@every_kernel
def test_a_ping_through_an_empty_queue_takes_the_time_of_the_new_rate(engine):
    network = line(rate_mbps=10)
    pings = run(
        network,
        [nl.Ping("h1", "h2", interval_s=0.1)],
        2,
        nl.Change(at_s=1.05, link=("r1", "h2"), rate_mbps=1),
        engine=engine,
    ).pings
    slow = line(rate_mbps=1)
    before_ms, after_ms = (theory.ping_rtt_ms(each.path_hops("h1", "h2")) for each in (network, slow))
    assert pings.rtt_ms[:10].to_numpy() == pytest.approx(before_ms, abs=0.01)
    assert pings.rtt_ms[11:].to_numpy() == pytest.approx(after_ms, abs=0.01)


@every_kernel
def test_a_queue_keeps_what_is_in_it_when_its_rate_changes(engine):
    # 100 packets of 1042 bytes at 1 Mbit/s take 0.83 s; at 20 Mbit/s 42 ms.
    traffic = [nl.Udp("h1", "h2", rate_mbps=40, payload_bytes=PAYLOAD_BYTES, duration_s=0.03, spacing="even")]
    network = line(rate_mbps=1, queue_packets=200)
    slow = run(network, traffic, 3, engine=engine)
    fast = run(network, traffic, 3, nl.Change(at_s=0.05, link=("r1", "h2"), rate_mbps=20), engine=engine)
    assert slow.flows.received_datagrams[0] == fast.flows.received_datagrams[0] == fast.flows.sent_datagrams[0]
    assert fast.queues.drops.max() == 0
    taken_s = fast.flows.delay_max_ms[0] / 1000
    sent_at_once = fast.flows.sent_datagrams[0] * 1042 * 8
    # 1 Mbit/s for 50 ms, the rest at 20 Mbit/s; the slowest datagram left at 30 ms.
    assert taken_s == pytest.approx(0.05 + (sent_at_once - 0.05e6) / 20e6 + 0.005 - 0.03, abs=0.003)


@every_kernel
def test_a_link_that_goes_down_loses_what_is_on_it_and_tcp_goes_on_when_it_is_up(engine):
    measured = run(
        line(),
        [nl.Tcp("h1", "h2"), nl.Ping("h1", "h2", interval_s=0.1)],
        12,
        nl.Change(at_s=5, link=("r1", "h2"), up=False),
        nl.Change(at_s=7, link=("r1", "h2"), up=True),
        engine=engine,
    )
    tcp, ping = measured.flows.flow
    goodput = by_second(measured, tcp)
    assert goodput[6] == 0
    assert goodput[10:] == pytest.approx(theory.tcp_goodput_limit_mbps(10), rel=0.03)
    assert measured.flows.timeouts[0] >= 1
    assert measured.flows.retransmits[0] > 50
    lost = measured.pings[measured.pings.rtt_ms.isna()]
    # The lost pings are those of the two seconds, and those in the queue when the link went down.
    assert 20 <= len(lost) <= 23
    assert lost.t_s.min() > 4.8
    assert lost.t_s.max() < 7
    down = measured.queues[(measured.queues.interface == "r1-eth1") & (measured.queues.t_s.between(5.05, 6.95))]
    assert down.backlog_packets.max() == 0
    assert ping


@every_kernel
def test_a_capture_on_a_link_that_goes_down_ends_and_goes_on_when_it_is_up(engine):
    link = ("r1", "h2")
    cut, mended = nl.Change(at_s=2, link=link, up=False), nl.Change(at_s=4, link=link, up=True)
    pings, captures = [nl.Ping("h1", "h2", interval_s=0.1)], [nl.Capture(*link)]
    for_good = run(line(), pings, 3, cut, engine=engine, captures=captures)
    assert list(for_good.packets.node.value_counts()) == [30 + 20, 2 * 20], (
        "r1 sends on, and h2 has requests and replies no more"
    )
    for_a_while = run(line(), pings, 6, cut, mended, engine=engine, captures=captures)
    seen_s = for_a_while.packets.query("node == 'h2'").t_s
    assert len(seen_s) == 2 * 40
    assert not seen_s.between(2, 4, inclusive="neither").any()


@every_kernel
def test_datagrams_that_are_sent_into_a_link_that_is_down_are_lost_and_counted(engine):
    measured = run(
        line(rate_mbps=None, queue_packets=None, delay_ms=0),
        [nl.Udp("h1", "h2", rate_mbps=1, payload_bytes=PAYLOAD_BYTES, spacing="even")],
        8,
        nl.Change(at_s=2, link=("h2", "r1"), up=False),
        nl.Change(at_s=4, link=("r1", "h2"), up=True),
        engine=engine,
    )
    assert by_second(measured) == pytest.approx([1, 1, 0, 0, 1, 1, 1, 1], abs=0.02)
    assert measured.flows.loss_rate[0] == pytest.approx(0.25, abs=0.002)
    assert measured.flows.error[0] is None


@every_kernel
def test_a_full_queue_carries_what_its_trace_can_second_by_second(engine):
    trace = nl.Trace.named("walk_4g")
    # The pocket kernel takes a second of computing for one of these, and parity holds it to the library kernel's.
    duration_s = 60 if engine == "library" else 8
    flows = [flood(1.1 * trace.range_mbps[1])]
    measured = by_second(run(line(rate_mbps=trace, delay_ms=0), flows, duration_s, engine=engine))
    expected = [limit(trace.mean_mbps(second, second + 1)) for second in range(duration_s)]
    assert np.abs(measured / expected - 1).max() < 0.01


@every_kernel
def test_an_outage_stops_a_link_and_no_more(engine):
    trace = nl.Trace([(0, 8), (1, 0), (3, 8)], 4)
    measured = run(line(rate_mbps=trace), [flood(20)], 12, engine=engine)
    expected = [limit(8), 0, 0, limit(8)] * 3
    # 5 ms of each second are the delay's.
    assert by_second(measured) == pytest.approx(expected, abs=0.01 * limit(8))


@every_kernel
def test_a_wire_does_not_fall_behind_a_rate_that_goes_up_and_down(engine):
    trace = nl.Trace([(0, 10), (0.05, 1), (0.1, 10), (0.13, 4)], 0.2)
    measured = run(line(rate_mbps=trace, delay_ms=0, queue_packets=1), [flood(12)], 20, engine=engine)
    # A frame at 1 Mbit/s takes 8.3 ms, and one waits: the same at the end as at the beginning.
    assert measured.flows.delay_max_ms[0] < 3 * 8.4


@every_kernel
def test_a_link_may_get_a_rate_and_lose_it(engine):
    measured = run(
        line(rate_mbps=None, queue_packets=None),
        [flood(30)],
        6,
        nl.Change(at_s=2, link=("r1", "h2"), rate_mbps=4),
        nl.Change(at_s=4, link=("r1", "h2"), rate_mbps=None),
        engine=engine,
    )
    assert by_second(measured)[[1, 3, 5]] == pytest.approx([30, limit(4), 30], rel=0.01)
    # The link has a queue from then on.
    assert measured.queues[measured.queues.interface == "r1-eth1"].t_s.min() == pytest.approx(2, abs=0.11)


@every_kernel
def test_losses_begin_at_their_moment(engine):
    pings = run(
        line(),
        [nl.Ping("h1", "h2", interval_s=0.01)],
        20,
        nl.Change(at_s=10, link=("r1", "h2"), loss_rate=0.2, reverse={"loss_rate": 0}),
        engine=engine,
    ).pings
    assert pings[pings.t_s < 9.9].rtt_ms.notna().all()
    assert pings[pings.t_s > 10].rtt_ms.isna().mean() == pytest.approx(0.2, abs=0.05)


@pytest.mark.pocket
@pytest.mark.library
def test_a_network_that_changes_is_the_same_in_both_kernels():
    scenario = nl.Scenario(
        line(rate_mbps=nl.Trace([(0, 10), (1.003, 3), (2.007, 6)])),
        [nl.Tcp("h1", "h2"), nl.Tcp("h2", "h1", start_s=0.5, congestion="reno")],
        8,
        changes=[
            nl.Change(at_s=2.5, link=("r1", "h2"), delay_ms=20),
            nl.Change(at_s=3.5, link=("r1", "h2"), rate_mbps=4, queue_packets=30),
            nl.Change(at_s=5, link=("h1", "r1"), up=False),
            nl.Change(at_s=5.5, link=("h1", "r1"), up=True),
        ],
    )
    pocket, library = (nl.run(scenario, engine=engine, progress=False) for engine in ("pocket", "library"))
    assert differences(pocket, library) == []


@every_kernel
def test_a_trace_of_mahimahi_carries_its_lines_in_ip_packets(tmp_path, engine):
    """A line is an IP packet of 1500 bytes, so UDP with 1472 has 1472 / 1500 of the rate, and TCP with 1448 bytes 1448 / 1500.

    2 s of 12 Mbit/s and 2 s of 6 Mbit/s; from 8 s on a plain rate, which counts as `tc` does.
    """
    path = tmp_path / "up"
    path.write_text("".join(f"{ms}\n" for ms in [*range(1, 2001), *range(2002, 4001, 2)]))
    trace = nl.Trace.from_mahimahi(path)
    network = line(rate_mbps=trace)
    change = nl.Change(at_s=8, link=("r1", "h2"), rate_mbps=12)
    datagrams = nl.Udp("h1", "h2", rate_mbps=14, payload_bytes=1472, spacing="even")
    measured = by_second(run(network, [datagrams], 12, change, engine=engine))
    expected = [11.776, 11.776, 5.888, 5.888] * 2 + [12 * 1472 / 1514] * 4
    assert measured[1:12] == pytest.approx(expected[1:], rel=0.006)
    small = nl.Udp("h1", "h2", rate_mbps=11, payload_bytes=100, spacing="even")
    assert by_second(run(network, [small], 2, engine=engine))[1] == pytest.approx(12 * 100 / 128, rel=0.006)
    segments = by_second(run(line(rate_mbps=nl.Trace([(0, 12)], framing="ip")), [nl.Tcp("h1", "h2")], 6, engine=engine))
    # The second after a loss delivers data of the second before it, so the mean of some seconds is not the rate of the link.
    assert np.median(segments[1:]) == pytest.approx(12 * 1448 / 1500, rel=0.006)
