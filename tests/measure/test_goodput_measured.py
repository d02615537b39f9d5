"""In real runs too, goodputs of flows with the same start and end sum to no more than their link carries."""

from __future__ import annotations

import random

import pytest

import netlab as nl
from netlab.base.headers import FRAME_BYTES

pytestmark = pytest.mark.pocket

BUCKET_FRAMES = 4 / 3
DURATION_S = 4


@pytest.mark.parametrize(("seed", "udp_flows"), [(1, 0), (2, 0), (3, 1), (4, 3)])
def test_the_sum_never_exceeds_what_the_link_carries(seed: int, udp_flows: int) -> None:
    """Within what the link's bucket lets pass at once, and for datagrams within the longest latency of the path."""
    draw = random.Random(seed)  # noqa: S311 (no secret)
    pairs = draw.randint(3, 8)
    rate_mbps, delay_ms, queue_packets = draw.choice([2, 5, 10]), draw.choice([1, 10, 25]), draw.choice([5, 20, 60])
    topology = nl.topologies.dumbbell(pairs=pairs, rate_mbps=rate_mbps, delay_ms=delay_ms, queue_packets=queue_packets)
    traffic = [
        nl.Udp(f"h{k}", f"h{k + pairs}", rate_mbps=draw.uniform(0.2, 1) * rate_mbps)
        if k <= udp_flows
        else nl.Tcp(f"h{k}", f"h{k + pairs}", congestion=draw.choice(["reno", "cubic"]))
        for k in range(1, pairs + 1)
    ]
    run = nl.run(topology, traffic, duration_s=DURATION_S, seed=seed, progress=False)
    frame_s = FRAME_BYTES * 8 / (rate_mbps * 1e6)
    # All data of a frame counts, so the link carries most with the largest share of data.
    limit_mbps = rate_mbps * 1448 / FRAME_BYTES
    latest_s = delay_ms / 1000 + (queue_packets + 2) * frame_s if udp_flows else 0.0
    shared_s = DURATION_S - 2 * delay_ms / 1000 - 0.1
    bound_mbps = limit_mbps * (1 + (BUCKET_FRAMES * frame_s + latest_s) / shared_s)
    total_mbps = run.flows.goodput_mbps.sum()
    assert total_mbps <= bound_mbps, f"sum {total_mbps:.6g} Mbit/s, bound {bound_mbps:.6g}, link {limit_mbps:.6g}"
    assert total_mbps > 0.5 * limit_mbps
