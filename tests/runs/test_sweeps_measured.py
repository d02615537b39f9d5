"""A sweep of real guests: the same numbers as runs one by one, and instant the second time."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

import netlab as nl
from netlab.runs.cache import RunCache
from netlab.runs.sweeps import SweepInterrupted
from netlab_engines.kernels import library_kernel
from tests.agreement import agrees, udp_limit_mbps

pytestmark = [pytest.mark.pocket, pytest.mark.library]


@pytest.fixture(autouse=True, params=["pocket", "library"])
def _engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETLAB_ENGINE", request.param)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs of its own, with the kernels where they are."""
    monkeypatch.setattr("netlab.runs.cache.cache", SimpleNamespace(root=lambda: tmp_path))


def scenario(offered_mbps: float, duration_s: float = 10) -> nl.Scenario:
    topology = nl.topologies.dumbbell(pairs=1, rate_mbps=5, delay_ms=5, queue_packets=20)
    return nl.Scenario(topology, [nl.Udp("h1", "h2", rate_mbps=offered_mbps)], duration_s=duration_s, interval_s=1)


def command_line(pid: str) -> str:
    try:
        return Path("/proc", pid, "cmdline").read_text()
    except OSError:
        return ""


def test_a_sweep_agrees_with_theory_and_with_single_runs() -> None:
    """Side by side or alone, a guest gives the same numbers; from the cache too."""
    offered_mbps = (1, 4, 6, 10)
    runs = nl.sweep({rate: scenario(rate) for rate in offered_mbps})
    for rate, run in runs.items():
        agrees(f"goodput (Mbit/s) of {rate}", run.flows.goodput_mbps[0], min(rate, udp_limit_mbps(5)), relative=0.005)
    for again in (nl.run(scenario(6)), nl.sweep([scenario(6)])[0]):
        pd.testing.assert_frame_equal(again.flows, runs[6].flows)
        pd.testing.assert_frame_equal(again.intervals, runs[6].intervals)
        pd.testing.assert_frame_equal(again.queues, runs[6].queues)
    assert len(list(RunCache().directory.glob("*.json"))) == len(offered_mbps)


def test_interruption_leaves_no_guest_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C in the middle of runs of hours of network time: guests and their directories are gone when it returns."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    timer = threading.Timer(3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(SweepInterrupted):
        nl.sweep([scenario(rate, duration_s=36_000) for rate in (1, 2, 3)])
    assert not list(tmp_path.glob("netlab-*/run-*"))
    program = f"{library_kernel.find().path}\0{os.getpid()}"
    assert not [
        entry
        for entry in Path("/proc").iterdir()
        if entry.name.isdigit() and any(words in command_line(entry.name) for words in (f"uml_dir={tmp_path}", program))
    ]
