"""Same scenario, same figures; another seed, others."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator

import pytest

import netlab as nl


@pytest.fixture
def busy_neighbour() -> Iterator[None]:
    """A process per CPU that does nothing but compute."""
    spinners = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    yield
    for spinner in spinners:
        spinner.kill()
        spinner.wait()


def measured(run: nl.Run) -> str:
    """All that a result file holds, but for the wall time and the date."""
    data = run.to_dict()
    for word in ("wall_s", "date"):
        data["settings"].pop(word)
    return json.dumps(data, sort_keys=True)


def lossy(seed: int, congestion: str = "cubic") -> nl.Run:
    topology = nl.topologies.dumbbell(pairs=2, rate_mbps=20, loss_rate=0.01, jitter_ms=2)
    traffic = [nl.Tcp("h1", "h3", congestion=congestion), nl.Udp("h2", "h4", rate_mbps=2), nl.Ping("h1", "h3")]
    return nl.run(topology, traffic, duration_s=5, seed=seed)


def test_ten_runs_are_equal(request: pytest.FixtureRequest) -> None:
    """Ten runs, the last five while every CPU is busy elsewhere."""
    topology = nl.topologies.dumbbell(pairs=2)
    traffic = [nl.Tcp("h1", "h3"), nl.Tcp("h2", "h4", congestion="reno"), nl.Ping("h1", "h3")]
    runs = [measured(nl.run(topology, traffic, duration_s=10)) for _ in range(5)]
    request.getfixturevalue("busy_neighbour")
    runs += [measured(nl.run(topology, traffic, duration_s=10)) for _ in range(5)]
    assert len(set(runs)) == 1, f"{len(set(runs))} different results of 10 runs"


@pytest.mark.parametrize("congestion", ["cubic", "bbr"])
def test_a_seed_fixes_loss_jitter_and_bbr(congestion: str) -> None:
    """Equal with the same seed, different with another."""
    first, again, other = lossy(7, congestion), lossy(7, congestion), lossy(8, congestion)
    assert measured(first) == measured(again)
    assert list(first.flows.received_bytes.dropna()) != list(other.flows.received_bytes.dropna())
