"""Sweeps and the cache of runs, with an engine that measures nothing but counts how often it was asked."""

from __future__ import annotations

import os
from concurrent import futures
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

import netlab as nl
from netlab import engines
from netlab.base.errors import NetlabError, NotHereError, ScenarioError
from netlab.runs import cache as run_cache
from netlab.runs import sweeps
from netlab.runs.cache import RunCache
from netlab.runs.sweeps import SweepError
from netlab_engines import selection
from tests.runs.fake_engine import TOPOLOGY, FakeEngine, offered_mbps, udp

pytestmark = pytest.mark.usefixtures("own_cache")


def cached_files() -> list[Path]:
    return sorted(RunCache().directory.glob("*.json"))


def test_runs_come_in_the_order_and_under_the_labels_given(log: Path) -> None:
    """A list for an iterable, a dict for a mapping; scenarios may be dicts of a scenario file."""
    engine = FakeEngine(log)
    rates = [3, 1, 2]
    runs = nl.sweep((udp(rate) for rate in rates), engine=engine)
    assert [offered_mbps(run) for run in runs] == rates
    labelled = nl.sweep({f"{rate} Mbit/s": udp(rate).to_dict() for rate in rates}, engine=engine)
    assert {label: offered_mbps(run) for label, run in labelled.items()} == {f"{rate} Mbit/s": rate for rate in rates}


def test_a_second_sweep_runs_nothing_and_gives_the_same_numbers(log: Path) -> None:
    """From the cache, table by table and with all settings; `fresh=True` runs all again."""
    engine = FakeEngine(log)
    scenarios = [udp(rate) for rate in (1, 2, 3)]
    first = nl.sweep(scenarios, engine=engine)
    assert engine.runs() == 3
    again = nl.sweep(scenarios, engine=engine)
    assert engine.runs() == 3
    for one, other in zip(first, again, strict=True):
        assert one.settings == other.settings
        pd.testing.assert_frame_equal(one.flows, other.flows)
    nl.sweep(scenarios, engine=engine, fresh=True)
    assert engine.runs() == 6


def test_equal_scenarios_run_once_and_other_seeds_run_again(log: Path) -> None:
    """Two equal scenarios are one measurement with two labels."""
    engine = FakeEngine(log)
    assert len(nl.sweep([udp(1), udp(1), udp(1, seed=2)], engine=engine)) == 3
    assert engine.runs() == 2


def test_another_kernel_clock_or_code_makes_another_key(monkeypatch: pytest.MonkeyPatch, log: Path) -> None:
    """Everything that changes a number is part of the key."""
    engine = FakeEngine(log)
    keys = {run_cache.key(udp(1), run_cache.conditions(engine))}
    engine.clock = "real"
    keys.add(run_cache.key(udp(1), run_cache.conditions(engine)))

    for kernel_hash in ("one", "two"):
        engine.kernel_hash = kernel_hash
        keys.add(run_cache.key(udp(1), run_cache.conditions(engine)))
    monkeypatch.setattr(run_cache, "code_hash", lambda: "edited")
    keys.add(run_cache.key(udp(1), run_cache.conditions(engine)))
    keys.add(run_cache.key(udp(1, sysctls={"net.ipv4.tcp_sack": 0}), run_cache.conditions(engine)))
    assert len(keys) == 6


@pytest.mark.parametrize("damage", [b"", b"{}", b'{"flows": [', b'{"settings": 3, "flows": 4}', b"\xff\x00\xff"])
def test_a_damaged_entry_is_measured_again(log: Path, damage: bytes) -> None:
    """The sweep neither fails nor uses numbers of the file."""
    engine = FakeEngine(log)
    first = nl.sweep([udp(1)], engine=engine)
    (entry,) = cached_files()
    entry.write_bytes(damage)
    again = nl.sweep([udp(1)], engine=engine)
    assert engine.runs() == 2
    pd.testing.assert_frame_equal(first[0].flows, again[0].flows)
    nl.sweep([udp(1)], engine=engine)
    assert engine.runs() == 2


def test_prune_removes_least_recently_used_runs(log: Path) -> None:
    """The cache stays within its limit, and a run that was used lately survives older writing."""
    engine = FakeEngine(log)
    nl.sweep([udp(rate) for rate in (1, 2, 3)], engine=engine)
    for age, entry in enumerate(cached_files()):
        os.utime(entry, (1e9 - age, 1e9 - age))
    nl.sweep([udp(1)], engine=engine)
    size = max(entry.stat().st_size for entry in cached_files())
    (RunCache().directory / ".half-written").write_bytes(b"x" * size)
    os.utime(RunCache().directory / ".half-written", (1.0, 1.0))
    RunCache(limit_bytes=round(1.5 * size)).prune()
    assert [path.suffix for path in RunCache().directory.iterdir()] == [".json"]
    nl.sweep([udp(1)], engine=engine)
    assert engine.runs() == 3


def test_failure_leaves_the_other_runs(log: Path) -> None:
    """A single error at the end names the failed runs and holds the finished ones, which are also cached."""
    engine = FakeEngine(log, fails_above_mbps=2)
    with pytest.raises(SweepError, match="1 of 3 runs failed.*\n.*fast: 9 Mbit/s is too much") as caught:
        nl.sweep({"slow": udp(1), "fast": udp(9), "middle": udp(2)}, engine=engine)
    assert list(caught.value.runs) == ["slow", "middle"]
    assert list(caught.value.failures) == ["fast"]
    assert len(cached_files()) == 2


def test_mistakes_stop_a_sweep_before_it_starts(log: Path) -> None:
    """Every mistake in every scenario at once."""
    engine = FakeEngine(log)
    with pytest.raises(ScenarioError) as caught:
        nl.sweep({"good": udp(1), "bad": udp(-1), "worse": udp(1, seed=-1)}, engine=engine)
    assert [problem.split(":")[0] for problem in caught.value.problems] == ["scenario bad", "scenario worse"]
    assert engine.runs() == 0


def test_mistake_shared_by_all_scenarios_is_reported_once() -> None:
    with pytest.raises(ScenarioError, match="scenario 1 and 2 more: .*rate_mbps") as raised:
        nl.sweep({number: udp(-1, seed=number) for number in (1, 2, 3)})
    assert len(raised.value.problems) == 1


def test_error_of_netlab_itself_is_reported_with_its_traceback() -> None:
    broken = TypeError("unsupported operand")
    try:
        raise broken
    except TypeError:
        pass
    error = SweepError({}, {"fast": NetlabError("9 Mbit/s is too much"), "slow": broken})
    first, fast, slow, _empty, *trace = str(error).splitlines()
    assert first.startswith("2 of 2 runs failed")
    assert fast == "  - fast: 9 Mbit/s is too much" and slow == "  - slow: TypeError: unsupported operand"
    assert trace[0] == "Traceback (most recent call last):" and "raise broken" in "".join(trace)
    assert "Traceback" not in str(SweepError({}, {"fast": NetlabError("9 Mbit/s is too much")}))


def test_progress_counts_runs_and_those_from_the_cache(log: Path) -> None:
    """A caller's function hears of the cached runs first, then of each run."""
    engine = FakeEngine(log)
    nl.sweep([udp(1)], engine=engine)
    heard: list[tuple[int, int]] = []
    nl.sweep([udp(1), udp(2), udp(3)], engine=engine, progress=lambda done, total: heard.append((done, total)))
    assert heard == [(1, 3), (2, 3), (3, 3)]


def test_runs_of_a_machine_with_other_conditions_are_not_kept(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The result of a worker with another kernel or netlab is returned, but not cached as this machine's."""
    engine = FakeEngine(log)
    real = sweeps._run_task
    monkeypatch.setattr(sweeps, "_run_task", lambda *words: ("elsewhere", real(*words)[1]))
    assert len(nl.sweep([udp(1)], engine=engine)) == 1
    assert cached_files() == []


def test_a_sweep_without_a_writable_cache_still_runs(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A warning says that the next sweep will take as long."""
    monkeypatch.setenv("NETLAB_CACHE", "/proc/no-such-place")
    with pytest.warns(UserWarning, match="will not be there the next time.*NETLAB_CACHE"):
        assert len(nl.sweep([udp(1)], engine=FakeEngine(log))) == 1


def test_a_full_disk_is_reported_once_for_all_runs_of_a_sweep(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_cache: object, key: str, _run: Any) -> None:
        raise NetlabError(f"{key}.json cannot be written: No space left on device")

    monkeypatch.setattr(RunCache, "store", refuse)
    with pytest.warns(UserWarning, match="No space left on device") as warned:
        assert len(nl.sweep([udp(1), udp(2), udp(3)], engine=FakeEngine(log))) == 3
    assert len(warned) == 1


@pytest.mark.parametrize("executor", [futures.ThreadPoolExecutor, futures.ProcessPoolExecutor])
def test_any_executor_will_do_and_stays_open(log: Path, executor: type[futures.Executor]) -> None:
    """Threads or processes; whoever made an executor closes it."""
    engine = FakeEngine(log)
    with executor(max_workers=2) as pool:  # type: ignore[call-arg]
        runs = nl.sweep([udp(1), udp(2)], engine=engine, executor=pool)
        assert pool.submit(int, "7").result() == 7
    assert [offered_mbps(run) for run in runs] == [1, 2]
    assert engine.runs() == 2


@pytest.mark.slow
def test_a_sweep_on_dask(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The executor of a Dask cluster: two worker processes, runs kept here, failures as everywhere."""
    distributed = pytest.importorskip("distributed")
    # The workers must be able to import the fake engine.
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2]))
    engine = FakeEngine(log, fails_above_mbps=3)
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, worker_dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        runs = nl.sweep([udp(1), udp(2), udp(3)], engine=engine, executor=client.get_executor())
        assert [offered_mbps(run) for run in runs] == [1, 2, 3]
        assert len(cached_files()) == 3
        with pytest.raises(SweepError, match="too much for a fake"):
            nl.sweep([udp(1), udp(9)], engine=engine, executor=client.get_executor())
    assert engine.runs() == 4


def test_without_a_wish_each_scenario_of_a_sweep_has_the_engine_of_a_single_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plain = udp(1)
    command = nl.Scenario(TOPOLOGY, [nl.Command("h1", "true"), nl.Udp("h1", "h2", rate_mbps=1)], duration_s=10)

    def decide(wanted: Any = None, plans: Any = ()) -> str:
        return "pocket" if any(item["kind"] == "command" for own in plans for item in own["traffic"]) else "library"

    monkeypatch.setattr(engines, "decide", decide)

    def choose(wanted: Any = None, plans: Any = ()) -> SimpleNamespace:
        return SimpleNamespace(name=wanted or decide(wanted, plans), clock="virtual")

    monkeypatch.setattr(engines, "choose", choose)
    monkeypatch.setattr(run_cache, "conditions", lambda engine: f"conditions of {engine.name}")
    tasks = sweeps._tasks({"a": plain, "b": command}, None).values()
    assert [(task.engine, task.conditions) for task in tasks] == [
        ("library", "conditions of library"),
        ("pocket", "conditions of pocket"),
    ]


@pytest.mark.parametrize(
    ("clock", "rates_mbps", "lanes"),
    [
        ("virtual", [5], 2),
        ("real", [5], 24),
        ("real", [20], 8),
        ("real", [5, 20], 8),
        ("real", [100], 2),
        ("real", [None], 2),
    ],
)
def test_in_real_time_runs_over_slow_links_wait_for_the_clock_together(
    monkeypatch: pytest.MonkeyPatch, clock: str, rates_mbps: list[float | None], lanes: int
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: {0, 1})
    tasks = [
        sweeps._Task(
            nl.Scenario(nl.Topology(hosts=["h1", "h2"], links=[nl.Link("h1", "h2", rate_mbps=rate)]), [nl.Tcp("h1", "h2")]),
            "any", clock, "here",
        )
        for rate in rates_mbps
    ]  # fmt: skip
    assert sweeps._parallel_runs(tasks) == lanes


def test_impossible_sweep_is_reported_before_anything_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    class RefusingExecutor:
        name, clock = "native", "real"

        def refuse(self, plan: Any) -> None:
            raise NotHereError("no tahoe")

        def execute(self, *_words: Any, **_more: Any) -> None:
            raise AssertionError("nothing must start")

    monkeypatch.setattr(run_cache, "conditions", lambda _engine: "here")
    with pytest.raises(NotHereError, match="no tahoe"):
        nl.sweep([udp(1)], engine=RefusingExecutor(), progress=False)


def test_sweep_without_its_kernel_is_reported_as_a_lack_of_the_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Chapters skip a cell that ends with this error and go on; any other error stops them."""
    monkeypatch.delenv("NETLAB_ENGINE", raising=False)
    monkeypatch.delenv("NETLAB_KERNEL", raising=False)
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    monkeypatch.setattr(selection, "_library_refusal", lambda plans: "no blocking sockets." if plans else "")
    monkeypatch.setattr(selection, "_pocket_refusal", lambda: "there is no pocket kernel")
    with pytest.raises(NotHereError, match="no blocking sockets.*there is no pocket kernel"):
        nl.sweep([udp(1)], progress=False)
