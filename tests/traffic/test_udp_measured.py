"""The effects of the fields of a UDP flow, compared with theory."""

from __future__ import annotations

import pytest

import netlab as nl
from tests.agreement import agrees

pytestmark = pytest.mark.library


def measured_run(**fields: object) -> nl.Run:
    """Return a run of one flow with these fields over a link of 5 Mbit/s."""
    network = nl.topologies.dumbbell(pairs=1, rate_mbps=5, delay_ms=10, queue_packets=100)
    traffic = [nl.Udp("h1", "h2", **{"rate_mbps": 10, **fields})]  # type: ignore[arg-type]
    return nl.run(network, traffic, duration_s=10, engine="library", progress=False)


@pytest.mark.parametrize("payload_bytes", [100, 500, 1472])
def test_small_datagrams_lose_more_of_a_link_to_headers(payload_bytes: int) -> None:
    goodput_mbps = measured_run(payload_bytes=payload_bytes).flows.goodput_mbps[0]
    expected_mbps = nl.theory.udp_goodput_limit_mbps(5, payload_bytes)
    agrees("goodput (Mbit/s)", goodput_mbps, expected_mbps, relative=0.002)


@pytest.mark.parametrize(("frame_bytes", "in_the_bucket"), [(100, 20), (200, 10), (500, 4), (1500, 1)])
def test_a_burst_fills_the_queue_and_the_bucket_of_the_rate(frame_bytes: int, in_the_bucket: int) -> None:
    # The bucket holds 2018 bytes of whole frames, which wait behind the queue of 5.
    network = nl.Topology(["h1", "h2"], links=[nl.Link("h1", "h2", rate_mbps=1, queue_packets=5)])
    burst = nl.Udp("h1", "h2", rate_mbps=100, payload_bytes=frame_bytes - 42, duration_s=40 * frame_bytes * 8e-8)
    run = nl.run(network, [burst], duration_s=3, engine="library", progress=False)
    assert run.flows.received_datagrams[0] == 5 + in_the_bucket
