"""Sweeps and runs that Ctrl-C interrupts, with an engine that measures nothing."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from concurrent import futures
from contextlib import contextmanager
from pathlib import Path

import pytest

import netlab as nl
from netlab.base.errors import Interrupted
from netlab.engines import cancelled_error
from netlab.runs.sweeps import SweepInterrupted
from tests.runs.fake_engine import FakeEngine, udp

pytestmark = pytest.mark.usefixtures("own_cache")

PATIENCE_S = 60.0


class StuckEngine(FakeEngine):
    """Above `stuck_above_mbps` it never comes to an end but by being cancelled."""

    def __init__(self, log: Path, stuck_above_mbps: float) -> None:
        super().__init__(log)
        self.stuck_above_mbps = stuck_above_mbps
        self.stuck = threading.Event()
        self.stopped: list[float] = []

    def work(self, rate_mbps: float, cancel: threading.Event | None) -> None:
        if rate_mbps <= self.stuck_above_mbps:
            return
        self.stuck.set()
        assert cancel is not None and cancel.wait(PATIENCE_S), "the run was waited for instead of cancelled"
        self.stopped.append(rate_mbps)
        raise cancelled_error()


@contextmanager
def interrupted_after(*events: threading.Event) -> Iterator[None]:
    """Press Ctrl-C once when all these events have happened."""
    noticed = threading.Event()

    def handler(_signal: int, _frame: object) -> None:
        if not noticed.is_set():
            noticed.set()
            raise KeyboardInterrupt

    def interrupt() -> None:
        if all(event.wait(PATIENCE_S) for event in events):
            # A signal that comes just before the main thread falls asleep does not wake it.
            while not noticed.wait(0.01):
                os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(signal.SIGINT, handler)
    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        yield
    finally:
        thread.join()
        signal.signal(signal.SIGINT, before)


class FirstDone:
    """Hears of a sweep's progress; `event` is set when the first run has been counted, so all are submitted."""

    def __init__(self) -> None:
        self.event = threading.Event()

    def __call__(self, done: float, _whole: float) -> None:
        if done == 1:
            self.event.set()


def test_interruption_ends_running_guests_and_keeps_finished_runs(log: Path) -> None:
    """Ctrl-C while the second of two is in flight: the first is there, the next sweep runs only the other."""
    engine, first_done = StuckEngine(log, stuck_above_mbps=1), FirstDone()
    with futures.ThreadPoolExecutor(1) as pool:
        with (
            interrupted_after(first_done.event, engine.stuck),
            pytest.raises(SweepInterrupted, match="1 of 2 runs had finished") as caught,
        ):
            nl.sweep({"first": udp(1), "second": udp(2)}, engine=engine, executor=pool, progress=first_done)
        assert pool.submit(int, "7").result() == 7, "whoever made an executor closes it"
    assert list(caught.value.runs) == ["first"]
    assert engine.stopped == [2]
    quick = FakeEngine(log)
    ran = quick.runs()
    assert len(nl.sweep([udp(1), udp(2)], engine=quick)) == 2
    assert quick.runs() == ran + 1


@pytest.mark.parametrize("where", ["netlab.runs.sweeps._tasks", "netlab.runs.cache.RunCache.load"])
def test_interruption_before_the_first_run_is_reported_in_a_sentence(
    where: str, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While kernels and kept runs are read: a notebook shows the student's line, and none of pathlib's."""

    def stop(*_given: object) -> None:
        raise KeyboardInterrupt

    engine = FakeEngine(log)
    monkeypatch.setattr(where, stop)
    with pytest.raises(SweepInterrupted, match="0 of 1 runs") as caught:
        nl.repeat(udp(1), seeds=1, engine=engine)
    shown = caught.value._render_traceback_()
    assert len(shown) == 3 and "nl.repeat(udp(1)" in shown[0]


def test_interruption_promises_no_run_of_a_class_of_ones_own() -> None:
    assert (
        str(SweepInterrupted({}, 3, kept=False))
        == "the sweep was stopped; 0 of 3 runs had finished, and runs of classes of your own are not kept."
    )


def test_interruption_of_a_single_run_is_reported_in_a_sentence(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_given: object, **_named: object) -> None:
        raise KeyboardInterrupt

    engine = FakeEngine(log)
    monkeypatch.setattr(engine, "execute", stop)
    with pytest.raises(KeyboardInterrupt, match="the run was stopped") as caught:
        nl.run(udp(1), engine=engine)
    assert isinstance(caught.value, Interrupted) and len(caught.value._render_traceback_()) == 3


def test_interruption_leaves_none_of_the_sweeps_own_threads(log: Path) -> None:
    """Runs that have started are cancelled, and the others never start."""
    engine, first_done = StuckEngine(log, stuck_above_mbps=1), FirstDone()
    with interrupted_after(first_done.event, engine.stuck), pytest.raises(SweepInterrupted, match="1 of 4 runs"):
        nl.sweep([udp(1), udp(2), udp(3), udp(4)], engine=engine, progress=first_done)
    assert len(engine.stopped) == engine.runs() - 1
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("sweep")]
