"""A run whose network time stands still ends by itself; a slow one does not."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

import netlab as nl
from netlab.base.errors import EngineError, RunError
from netlab_engines import cpu_use, stall
from netlab_engines.stall import VARIABLE, Watchdog


def test_a_stopped_clock_is_noticed_after_the_limit_and_not_before(clock: SimpleNamespace) -> None:
    watchdog = Watchdog(60, lambda: 0.0)
    for _ in range(1000):
        clock.s += 30
        watchdog.check()
        watchdog.advance(clock.s - 100)
    for _ in range(30):
        clock.s += 2
        watchdog.check()
    clock.s += 2
    with pytest.raises(RunError, match=r"stood still at about 3e\+04 s for 60 s.*set NETLAB_STALL_S to more seconds"):
        watchdog.check()


def test_time_in_which_the_guest_waits_for_a_cpu_does_not_count(clock: SimpleNamespace) -> None:
    waited_s = 5.0
    watchdog = Watchdog(60, lambda: waited_s)
    for _ in range(300):
        clock.s += 2
        waited_s += 1.7
        if clock.s < 290:
            watchdog.check()
    with pytest.raises(RunError):
        watchdog.check()


@pytest.mark.parametrize(("text", "limit_s"), [(None, 60), ("", 60), ("5", 5), ("0.5", 0.5), ("0", None)])
def test_the_limit_can_be_set(text: str | None, limit_s: float | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    if text is not None:
        monkeypatch.setenv(VARIABLE, text)
    assert stall.limit_s() == limit_s


@pytest.mark.parametrize("text", ["x", "-1", "nan", "inf", "1 min"])
def test_a_limit_that_is_no_number_is_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, text)
    with pytest.raises(EngineError, match="must be a number of seconds of at least 0"):
        stall.limit_s()


def test_waiting_is_read_from_the_system() -> None:
    assert 0 <= cpu_use.waited_s(os.getpid()) < 1e6


def network() -> nl.Topology:
    return nl.Topology(["h1", "h2"], links=[nl.Link("h1", "h2", rate_mbps=10)])


@pytest.mark.pocket
@pytest.mark.parametrize("interval_s", [0.1, 2.0])
def test_a_program_that_computes_for_ever_ends_the_run(interval_s: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "2")
    endless = nl.Command("h1", "sleep 3; python3 -c 'while True: pass'")
    with pytest.raises(RunError, match=r"Network time has stood still at about (2.94|3) s for 2 s") as caught:
        nl.run(network(), [endless], 10, interval_s=interval_s, engine="pocket", progress=False)
    assert "Traceback" not in str(caught.value)


@pytest.mark.pocket
def test_a_program_that_computes_for_less_than_the_limit_is_waited_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(VARIABLE, "60")
    busy = nl.Command("h1", "python3 -c 'sum(range(10_000_000)); print(1)'")
    run = nl.run(network(), [busy], 1, engine="pocket", progress=False)
    assert run.commands.stdout[0].strip() == "1"


@pytest.mark.pocket
def test_progress_is_reported_in_fifty_steps_at_any_interval() -> None:
    messages: list[float] = []
    traffic = [nl.Tcp("h1", "h2"), nl.Ping("h1", "h2")]
    run = nl.run(
        network(), traffic, 10, interval_s=5, engine="pocket", progress=lambda done, _whole: messages.append(done)
    )
    assert 40 <= len(messages) <= 60 and messages == sorted(messages)
    library = nl.run(network(), traffic, 10, interval_s=5, engine="library", progress=False)
    for name in ("flows", "intervals", "queues", "pings"):
        assert getattr(run, name).equals(getattr(library, name)), name
