"""Equal runs of a test session are executed once, and all others each time."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

import netlab as nl
from tests import shared_runs


class CountingEngine:
    """An engine that counts its runs; their outcome has a number that is not finite."""

    name = "counting"

    def __init__(self) -> None:
        self.runs = 0

    def fingerprint(self) -> str:
        return "1"

    def execute(self, plan: dict[str, Any]) -> dict[str, Any]:
        self.runs += 1
        saves = any(item.get("saves") for item in plan["traffic"])
        return {"artifacts": "a directory" if saves else None, "rtt_ms": math.inf, "run": self.runs}


class Own:
    def on_ack(self, ack: Any) -> None: ...


def plan(*, congestion: Any = "cubic", seed: int = 1, saves: str = "") -> Any:
    traffic = [nl.Tcp("h1", "h2", congestion=congestion), nl.Command("h1", "ss > sockets.txt", saves=saves or None)]
    return nl.Scenario(nl.topologies.dumbbell(1), traffic, duration_s=1, seed=seed).plan()


def test_only_an_equal_plan_without_files_and_own_classes_takes_a_kept_outcome(tmp_path: Path) -> None:
    engine = CountingEngine()
    execute = shared_runs.sharing(CountingEngine.execute, tmp_path)
    assert execute(engine, plan()) == execute(engine, plan()) == {"artifacts": None, "rtt_ms": math.inf, "run": 1}
    for other in (plan(seed=2), plan(congestion="reno")):
        execute(engine, other)
    assert engine.runs == 3
    for each in (plan(congestion=Own), plan(saves="sockets.txt")):
        before = engine.runs
        execute(engine, each)
        execute(engine, each)
        assert engine.runs == before + 2


def test_another_kernel_or_engine_runs_an_equal_plan_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = CountingEngine()
    execute = shared_runs.sharing(CountingEngine.execute, tmp_path)
    execute(engine, plan())
    monkeypatch.setattr(CountingEngine, "fingerprint", lambda _self: "2")
    execute(engine, plan())
    monkeypatch.setattr(engine, "name", "another")
    execute(engine, plan())
    assert engine.runs == 3


@pytest.mark.library
def test_a_shared_run_has_the_same_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = nl.Scenario(nl.topologies.dumbbell(1), [nl.Tcp("h1", "h2"), nl.Ping("h1", "h2")], duration_s=1)
    first = nl.run(scenario, progress=False)
    shared_runs.share(monkeypatch.setattr, tmp_path)
    made, kept = (nl.run(scenario, progress=False) for _ in range(2))
    assert len(list(tmp_path.iterdir())) == 1
    for table in ("flows", "intervals", "pings", "queues"):
        assert getattr(first, table).equals(getattr(made, table)) and getattr(made, table).equals(getattr(kept, table))


SOURCE = """\
print([name for name in dir() if name in ("os", "sys", "shared_runs", "_share_runs")])
import sys
print(sys.path)
from netlab_engines.library.engine import LibraryEngine
print(hasattr(LibraryEngine.execute, "__wrapped__"))
"""


def printed_by_kernel() -> list[str]:
    """Return the lines that `SOURCE` prints in a new kernel."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(SOURCE)])
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    return "".join(output.text for output in notebook.cells[0].outputs).splitlines()


@pytest.mark.slow
def test_a_kernel_shares_runs_only_if_its_environment_says_so_and_is_not_changed_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without = printed_by_kernel()
    monkeypatch.setenv(shared_runs.DIRECTORY, str(tmp_path))
    assert printed_by_kernel() == [*without[:2], "True"]
    assert without[0] == "[]" and without[2] == "False"
