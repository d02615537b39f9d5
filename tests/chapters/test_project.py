"""Numbers that the worked project quotes together with its own runs."""

from __future__ import annotations

import random

import pytest

import netlab as nl
from tests.agreement import agrees

pytestmark = pytest.mark.library
RATE_MBPS, RTT_MS, SENDERS, FLOWS = 10, 100, 4, 16


def scenario(seed: int, *, spread: bool) -> nl.Scenario:
    """The project's, with a flow for each window that is to be seen."""
    chance = random.Random(seed)  # noqa: S311 (no secret)
    hosts = [f"h{number}" for number in range(1, SENDERS + 1)]
    room = round(nl.theory.many_flows_queue_packets(RATE_MBPS, RTT_MS, FLOWS))
    links = [nl.Link("r1", "sink", rate_mbps=RATE_MBPS, queue_packets=room)]
    for place, host in enumerate(hosts):
        share = 0.5 + (place + 0.5) / SENDERS if spread else 1.0
        links.append(nl.Link(host, "r1", delay_ms=RTT_MS / 2 * share))
    traffic = [
        nl.Tcp(host, "sink", congestion="reno", start_s=round(chance.uniform(0, 2), 3))
        for host in hosts
        for _ in range(FLOWS // SENDERS)
    ]
    network = nl.Topology(hosts=[*hosts, "sink"], routers=["r1"], links=links)
    return nl.Scenario(network, traffic, duration_s=24, seed=seed, interval_s=0.1)


def togetherness(run: nl.Run) -> float:
    """Variance of the sum of all windows over the sum of their variances."""
    late = run.intervals[run.intervals["t_s"] > 8]
    windows = late.pivot_table(index="t_s", columns="flow", values="cwnd_segments")
    assert windows.shape[1] == FLOWS
    return float(windows.sum(axis=1).var() / windows.var().sum())


@pytest.mark.parametrize(("spread", "mean", "half_width"), [(True, 0.8, 0.05), (False, 1.7, 0.2)])
def test_flows_with_one_rtt_are_more_synchronized(spread: bool, mean: float, half_width: float) -> None:
    found = nl.interval([togetherness(nl.run(scenario(seed, spread=spread))) for seed in range(1, 9)])
    agrees("variance of the sum over the sum of variances", found.mean, mean, absolute=0.05)
    agrees("half width", found.half_width, half_width, absolute=0.05)
