"""Networks and scenarios of the chapter on queues, as its cells build them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

import netlab as nl
from netlab_course.chapters.queues import settings

LAB_RED: Mapping[str, Any] = {"min_packets": 20, "max_packets": 23, "probability": 1.0}
ASK_FOR_ECN: Mapping[str, Any] = {"net.ipv4.tcp_ecn": 1}
PAGES = 6
DUALPI2: Mapping[str, Any] = {"aqm": "dualpi2", "aqm_options": {"any_ecn": True, "step_ms": 3}}


def marking(threshold_packets: int, rate_mbps: float = 20, base_rtt_ms: float = 20) -> nl.Topology:
    """The network whose queue marks all packets above a threshold, and none below."""
    step = {"min_packets": threshold_packets, "max_packets": threshold_packets + 1, "probability": 1.0, "ecn": True}
    return settings.one_link(rate_mbps, base_rtt_ms, aqm="red", aqm_options=step)


def lab(congestion: str, **queue: Any) -> nl.Scenario:
    """A setting of the published lab: two flows over 5 Mbit/s without propagation delay."""
    flows = [nl.Tcp(host, "h3", congestion=congestion) for host in ("h1", "h2")]
    return nl.Scenario(settings.one_link(5, 0, **queue), flows, duration_s=180, interval_s=0.5)


def dctcp_and_cubic(network: nl.Topology, sysctls: Mapping[str, Any], seed: int) -> nl.Scenario:
    """A DCTCP and a CUBIC flow that start at random moments of the first 2 s."""
    starts_s = np.random.default_rng(seed).uniform(0, 2, size=2).round(3)
    flows = [nl.Tcp("h1", "h3", congestion="dctcp", start_s=starts_s[0]), nl.Tcp("h2", "h3", start_s=starts_s[1])]
    return nl.Scenario(network, flows, duration_s=30, interval_s=0.1, sysctls=sysctls, seed=seed)


def beside_pages(queue: Mapping[str, Any], seed: int) -> nl.Scenario:
    """A download of h1, and pings and pages of h2 at random moments, all by CUBIC."""
    draw = np.random.default_rng(seed)
    starts_s = (5 + 2.1 * np.arange(PAGES) + draw.uniform(0, 1, PAGES)).round(3)
    pages = [nl.Tcp("h2", "h3", num_bytes=100_000, start_s=start_s) for start_s in starts_s]
    traffic = [nl.Tcp("h1", "h3", start_s=round(draw.uniform(0, 1), 3)), nl.Ping("h2", "h3", interval_s=0.05), *pages]
    return nl.Scenario(settings.one_link(**queue), traffic, duration_s=25, interval_s=0.1, seed=seed)
