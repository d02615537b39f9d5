"""Links that change while traffic runs, and links that follow a trace: measured, against theory."""

import numpy as np
import pytest

import netlab as nl
from netlab import theory

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
    # Those of the two seconds, and those that stood in the queue when it was cut.
    assert 20 <= len(lost) <= 23
    assert lost.t_s.min() > 4.8
    assert lost.t_s.max() < 7
    down = measured.queues[(measured.queues.interface == "r1-eth1") & (measured.queues.t_s.between(5.05, 6.95))]
    assert down.backlog_packets.max() == 0
    assert ping


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
    # It has a queue from then on.
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
