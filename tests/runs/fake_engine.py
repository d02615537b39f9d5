"""An engine that measures nothing but counts how often it was asked, and scenarios for it."""

from __future__ import annotations

import threading
import uuid
from pathlib import Path
from typing import Any

import netlab as nl
from netlab.base.errors import RunError
from netlab.engines import OnProgress, Requirement

TOPOLOGY = nl.topologies.dumbbell(pairs=1)


def udp(rate_mbps: float, **settings: Any) -> nl.Scenario:
    """Return a scenario with one UDP flow; the fake engine delivers all of it."""
    return nl.Scenario(TOPOLOGY, [nl.Udp("h1", "h2", rate_mbps=rate_mbps)], duration_s=10, **settings)


class FakeEngine:
    """Delivers what is offered; leaves a file for each run in `log`; fails above `fails_above_mbps`."""

    name = "fake"
    clock = "virtual"

    def __init__(self, log: Path, fails_above_mbps: float = 1000.0) -> None:
        self.log = log
        self.fails_above_mbps = fails_above_mbps
        self.kernel_hash = "none"

    def fingerprint(self) -> str:
        return self.kernel_hash

    def requirements(self) -> list[Requirement]:
        return []

    def execute(
        self, plan: dict[str, Any], *, on_progress: OnProgress, cancel: threading.Event | None = None
    ) -> dict[str, Any]:
        del on_progress
        item = plan["traffic"][0]
        (self.log / uuid.uuid4().hex).touch()
        self.work(item["rate_mbps"], cancel)
        if item["rate_mbps"] > self.fails_above_mbps:
            raise RunError(f"{item['rate_mbps']:g} Mbit/s is too much for a fake.")
        count = round(item["rate_mbps"] * 1e6 * plan["duration_s"] / 8000)
        return {
            "flows": [
                {
                    "flow": item["label"],
                    "sent_datagrams": count,
                    "received_datagrams": count,
                    "sent_bytes": 1000 * count,
                    "received_bytes": 1000 * count,
                    "throughput_bytes": 1028 * count,
                    "timely_datagrams": count,
                    "timely_bytes": 1000 * count,
                    "timely_throughput_bytes": 1028 * count,
                    "timely_last_s": plan["duration_s"],
                    "first_s": 0.0,
                    "last_s": plan["duration_s"],
                    "duplicates": 0,
                    "reordered": 0,
                    "jitter_ms": 0.0,
                    "delay_min_ms": 1.0,
                    "delay_mean_ms": 1.0,
                    "delay_max_ms": 1.0,
                    "receiver_drops": 0,
                }
            ],
            "streams": [],
            "datagrams": [],
            "queues": [],
            "engine": {"engine": "fake", "clock": "virtual"},
            "kernel": "0",
            "python": "0",
            "tc": {},
        }

    def work(self, rate_mbps: float, cancel: threading.Event | None) -> None:
        """Takes no time."""

    def runs(self) -> int:
        return len(list(self.log.iterdir()))


def offered_mbps(run: nl.Run) -> float:
    return float(run.scenario["traffic"][0]["rate_mbps"])
