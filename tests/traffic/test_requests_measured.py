"""Requests and responses through the library kernel, against what the path and TCP allow."""

from __future__ import annotations

import numpy as np
import pytest

import netlab as nl
from netlab.base.headers import TCP_TIMESTAMPS_BYTES

pytestmark = pytest.mark.pocket

RATE_MBPS, DELAY_MS = 10.0, 20.0
HEADER_BYTES = 14 + 20 + 20 + TCP_TIMESTAMPS_BYTES


def path(**fields: object) -> nl.Topology:
    usual = {"rate_mbps": RATE_MBPS, "delay_ms": DELAY_MS, "queue_packets": 100}
    return nl.topologies.dumbbell(pairs=1, **{**usual, **fields})  # type: ignore[arg-type]


def on_the_wire_ms(num_bytes: int) -> float:
    """The time in ms in which the bottleneck sends a segment with so many bytes of data."""
    return (num_bytes + HEADER_BYTES) * 8 / RATE_MBPS / 1000


def test_a_response_of_one_segment_takes_a_round_trip_and_its_time_on_the_wire() -> None:
    traffic = [nl.Requests("h1", "h2", response_bytes=1448, request_bytes=100, count=5, think_s=0.3)]
    run = nl.run(path(), traffic, duration_s=5, engine="library", progress=False)
    expected_ms = 2 * DELAY_MS + on_the_wire_ms(1448) + on_the_wire_ms(100)
    # Two ACKs of the new connection precede the first request and its response.
    expected = [expected_ms + 2 * on_the_wire_ms(0), *[expected_ms] * 4]
    assert (run.requests.completion_s * 1000).tolist() == pytest.approx(expected, rel=1e-4)
    assert run.requests.request.tolist() == [0, 1, 2, 3, 4]
    assert run.requests.start_s[0] == pytest.approx(2 * DELAY_MS / 1000, rel=0.05), "one round trip to connect"
    pauses_s = np.diff(run.requests.start_s) - run.requests.completion_s[:-1]
    assert pauses_s.tolist() == pytest.approx([0.3] * 4, abs=1e-6)
    assert run.requests.response_bytes.tolist() == [1448] * 5


def test_response_takes_a_round_trip_for_each_doubling_of_the_window() -> None:
    # 10, 20 and 40 segments fit into one, two and three rounds (RFC 6928 and RFC 5681).
    for segments, rounds in ((10, 1), (30, 2), (70, 3)):
        network = path(rate_mbps=1000)
        traffic = [nl.Requests("h1", "h2", response_bytes=1448 * segments, count=1)]
        run = nl.run(network, traffic, duration_s=2, engine="library", progress=False)
        assert run.requests.completion_s[0] == pytest.approx(rounds * 2 * DELAY_MS / 1000, rel=0.04)


def test_requests_at_fixed_moments_leave_all_clients_at_once() -> None:
    network = nl.topologies.dumbbell(pairs=2, rate_mbps=RATE_MBPS, delay_ms=DELAY_MS, queue_packets=100)
    traffic = [
        nl.Requests(*pair, response_bytes=3000, count=4, interval_s=0.5) for pair in (("h1", "h3"), ("h2", "h4"))
    ]
    requests = nl.run(network, traffic, duration_s=3, engine="library", progress=False).requests
    for number, group in requests[requests.request > 0].groupby("request"):
        assert group.start_s.tolist() == [0.5 * number] * 2


def test_a_loss_of_the_last_segment_is_counted_for_its_response() -> None:
    run = nl.run(
        path(loss_rate=0.03), [nl.Requests("h1", "h2", response_bytes=30_000, think_s=0.01)],
        duration_s=30, engine="library", progress=False,
    )  # fmt: skip
    flow = run.flows.iloc[0]
    assert run.requests.retransmits.sum() == flow.retransmits > 10
    assert run.requests.timeouts.sum() == flow.timeouts
    slow = run.requests[run.requests.retransmits > 0].completion_s.mean()
    assert slow > 1.3 * run.requests[run.requests.retransmits == 0].completion_s.mean()
    complete = run.requests.completion_s.notna()
    assert flow.received_bytes == complete.sum() * 30_000


@pytest.mark.parametrize("engine", ["library", "pocket"])
def test_a_response_that_the_end_cuts_off_has_the_bytes_that_arrived(engine: str) -> None:
    traffic = [nl.Requests("h1", "h2", response_bytes=10**7, duration_s=2.5)]
    run = nl.run(path(rate_mbps=2, queue_packets=20), traffic, duration_s=3, engine=engine, progress=False)
    (row,) = run.requests.to_dict("records")
    assert np.isnan(row["completion_s"])
    # Two round trips pass before the first byte.
    expected_bytes = (2.5 - 4 * DELAY_MS / 1000) * 2e6 / 8 * 1448 / (1448 + HEADER_BYTES)
    assert row["response_bytes"] == pytest.approx(expected_bytes, rel=0.02)
    assert row["retransmits"] > 0, "slow start overflows a queue of 20 packets"


def incast(servers: int, **words: object) -> nl.Run:
    """Servers that answer at once through one port of 1 Gbit/s."""
    names = [f"s{number}" for number in range(servers)]
    links = [nl.Link(name, "r1", delay_ms=0.025) for name in names]
    links.append(nl.Link("r1", "client", rate_mbps=1000, delay_ms=0.025, queue_packets=128))
    network = nl.Topology(hosts=[*names, "client"], routers=["r1"], links=links)
    traffic = [nl.Requests("client", name, response_bytes=32_000, count=4, interval_s=0.5) for name in names]
    return nl.run(network, traffic, duration_s=4, engine="library", progress=False, **words)  # type: ignore[arg-type]


def test_too_many_servers_that_answer_at_once_wait_for_a_timeout() -> None:
    few, many = incast(8).requests, incast(32).requests
    assert few.timeouts.sum() == 0 and few.completion_s.max() < 0.004
    # Linux's timer is at least 200 ms (TCP_RTO_MIN).
    assert many.timeouts.sum() > 0 and many.completion_s.max() > 0.2
    quick = incast(32, sysctls={"net.ipv4.tcp_rto_min_us": 5000}).requests
    assert quick.timeouts.sum() > 0 and quick.completion_s.max() < 0.05
