"""Same scenario, same numbers; another seed, others."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import netlab as nl
from netlab_engines.agent import guest

pytestmark = [pytest.mark.pocket, pytest.mark.usefixtures("in_pocket")]


@pytest.fixture
def busy_neighbour() -> Iterator[None]:
    """A process per CPU that does nothing but compute."""
    spinners = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    yield
    for spinner in spinners:
        spinner.kill()
        spinner.wait()


def result_text(run: nl.Run) -> str:
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
    runs = [result_text(nl.run(topology, traffic, duration_s=5)) for _ in range(5)]
    request.getfixturevalue("busy_neighbour")
    runs += [result_text(nl.run(topology, traffic, duration_s=5)) for _ in range(5)]
    assert len(set(runs)) == 1, f"{len(set(runs))} different results of 10 runs"


@pytest.mark.parametrize("congestion", ["cubic", "bbr"])
def test_a_seed_fixes_loss_jitter_and_bbr(congestion: str) -> None:
    """Equal with the same seed, different with another."""
    first, again, other = lossy(7, congestion), lossy(7, congestion), lossy(8, congestion)
    assert result_text(first) == result_text(again)
    assert list(first.flows.received_bytes.dropna()) != list(other.flows.received_bytes.dropna())


def test_how_python_starts_does_not_matter(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Another version of Python draws other random numbers, reads the clock more often and sleeps while it starts."""
    one = result_text(lossy(7))
    other_start = tmp_path / "guest.py"
    start_up = "import os, time\nfor _ in range(500):\n    os.urandom(33), time.monotonic()\ntime.sleep(0.0012345)\n"
    other_start.write_text(Path(guest.__file__).read_text().replace("import ctypes\n", start_up + "import ctypes\n"))
    monkeypatch.setattr(guest, "__file__", str(other_start))
    assert result_text(lossy(7)) == one


def test_reading_the_clock_takes_no_time_and_waiting_by_reading_ends() -> None:
    """A program that looks at the clock changes nothing; one that looks until time has passed gets there."""
    script = (
        "import time; seen = {time.monotonic_ns() for _ in range(1000)}; "
        # Not to the tick of a millisecond, at which the kernel reads the clock too.
        "end = time.monotonic() + 0.0005\nwhile time.monotonic() < end: pass\n"
        "print(len(seen), round(time.monotonic() - end, 6))"
    )
    run = nl.run(nl.topologies.dumbbell(pairs=1), [nl.Command("h1", f"python3 -c '{script}'")], duration_s=1)
    assert run.commands.iloc[0]["stdout"].split() == ["1", "0.0"], run.commands.iloc[0]["stdout"]
