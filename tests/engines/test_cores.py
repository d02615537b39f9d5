"""Guests have a CPU of their own, and leave it when something else computes there."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from netlab_engines import cores

SLEEPER = "import subprocess, sys; p = subprocess.Popen(['sleep', '60']); print(p.pid, flush=True); p.wait()"


class Machine:
    """A stand-in for what the system says of a guest: the clock, how long it waited for its CPU, where it runs."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, cpus: set[int]) -> None:
        self.now_s, self.waited_s, self.runs_on = 100.0, 0.0, 1
        self.kept: list[set[int]] = []
        monkeypatch.setattr(time, "monotonic", lambda: self.now_s)
        monkeypatch.setattr(cores, "family", lambda pid: [pid, pid + 1])
        monkeypatch.setattr(cores, "_waited_ns", lambda pid: int(self.waited_s * 1e9 / 2))
        monkeypatch.setattr(cores, "_runs_on", lambda pid: self.runs_on)
        monkeypatch.setattr(cores, "set_affinity", lambda pids, where: self.kept.append(where))
        monkeypatch.setattr(os, "sched_getaffinity", lambda _: cpus)

    def look(self, pin: cores.Pin, seconds: float, waiting: float) -> None:
        """Let time pass, of which the guest waits a part, in steps as whoever waits for it looks."""
        for _ in range(round(seconds / 0.1)):
            self.now_s += 0.1
            self.waited_s += 0.1 * waiting
            pin.check(1)


@pytest.fixture(autouse=True)
def own_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cores, "CPU_LOCKS", tmp_path / "cpus")


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(monkeypatch, {0, 1})


def test_a_guest_that_runs_alone_stays_where_it_is(machine: Machine) -> None:
    pin = cores.Pin()
    pin.take(0)
    machine.look(pin, 10, waiting=0.1)
    assert pin.cpu == 0
    assert machine.kept == []


def test_guest_whose_cpu_is_busy_runs_anywhere_and_releases_its_lock(machine: Machine) -> None:
    pin = cores.Pin()
    pin.take(0)
    machine.look(pin, 0.7, waiting=0.5)
    machine.look(pin, 0.5, waiting=0.5)
    assert machine.kept[0] == {0, 1}, "it may run anywhere"
    machine.look(pin, 1, waiting=0)
    assert machine.kept[1:] == [{1}], "and stays where it runs"
    assert pin.cpu == 1
    with cores.cpu_slot() as (free, _):
        assert free == 0, "another guest may have the old one and not the new one"


def test_the_old_lock_is_free_also_where_the_guest_has_its_descriptor(machine: Machine) -> None:
    pin = cores.Pin()
    lock = pin.take(0)
    assert lock is not None
    kept_by_the_guest = os.dup(lock)
    try:
        pin.take(1)
        with cores.cpu_slot(0) as (cpu, _):
            assert cpu == 0
    finally:
        os.close(kept_by_the_guest)
        pin.release()


def test_guest_is_moved_less_and_less_often_when_all_cpus_are_busy(machine: Machine) -> None:
    pin = cores.Pin()
    pin.take(0)
    machine.look(pin, 60, waiting=0.6)
    roamed = [where for where in machine.kept if len(where) == 2]
    assert 4 <= len(roamed) <= 12


def test_a_pause_is_not_taken_for_a_crowd(machine: Machine) -> None:
    """A live network waits for its student between two commands, and the numbers of before say nothing."""
    pin = cores.Pin()
    pin.take(0)
    machine.look(pin, 1, waiting=0)
    machine.now_s += 60
    machine.waited_s += 40
    machine.look(pin, 0.1, waiting=0)
    assert machine.kept == []


def test_on_one_cpu_and_without_one_of_its_own_nothing_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    alone = Machine(monkeypatch, {3})
    pin = cores.Pin()
    pin.take()
    assert pin.cpu == 3
    alone.look(pin, 10, waiting=0.9)
    without = cores.Pin()
    assert without.take() is None
    alone.look(without, 10, waiting=0.9)
    assert alone.kept == []


@pytest.fixture
def processes() -> Iterator[list[int]]:
    """A process and its child."""
    parent = subprocess.Popen([sys.executable, "-c", SLEEPER], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    yield [parent.pid, child]
    os.kill(child, 9)
    parent.wait()
    parent.stdout.close()


def test_the_whole_family_is_moved_and_the_system_tells_of_each(processes: list[int]) -> None:
    assert cores.family(processes[0]) == processes
    cpu = max(os.sched_getaffinity(0))
    cores.set_affinity([*processes, 2**22 + 1], {cpu})
    for pid in processes:
        assert os.sched_getaffinity(pid) == {cpu}
        assert (cores._waited_ns(pid) or 0) >= 0
        assert cores._runs_on(pid) in range(os.cpu_count() or 1)
    assert cores._waited_ns(2**22 + 1) is None
    assert cores._runs_on(2**22 + 1) is None


def test_each_cpu_is_given_to_one_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 3})
    with cores.cpu_slot() as (first, lock), cores.cpu_slot() as (second, _), cores.cpu_slot() as (third, none):
        assert {first, second} == {0, 3}
        assert lock is not None
        assert (third, none) == (-1, None)
        assert {path.name for path in (tmp_path / "cpus").iterdir()} == {"0", "3"}


def test_users_with_directories_of_their_own_take_cpus_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The locks are in one place whatever TMPDIR is, with an umask that leaves others nothing too."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    taken = []
    before = os.umask(0o077)
    try:
        with ExitStack() as stack:
            for user in ("ann", "bob"):
                (tmp_path / user).mkdir()
                monkeypatch.setenv("TMPDIR", str(tmp_path / user))
                taken.append(stack.enter_context(cores.cpu_slot())[0])
    finally:
        os.umask(before)
    assert sorted(taken) == [0, 1]
    assert stat.S_IMODE((tmp_path / "cpus").stat().st_mode) == 0o1777
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o644 for path in (tmp_path / "cpus").iterdir())


def test_process_that_sees_no_other_locks_varies_its_first_cpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Forty users in containers, none of whom sees another's locks, share two CPUs."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    first = []
    for user in range(40):
        monkeypatch.setattr(cores, "CPU_LOCKS", tmp_path / f"cpus-{user}")
        with cores.cpu_slot() as (cpu, _):
            first.append(cpu)
    assert 8 <= first.count(0) <= 32, "less likely than one in ten thousand with two equal chances"


def test_a_link_in_a_locks_place_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})
    (tmp_path / "cpus").mkdir()
    (tmp_path / "cpus" / "0").symlink_to(tmp_path / "victim")
    with cores.cpu_slot() as (cpu, _):
        assert cpu == -1
    assert not (tmp_path / "victim").exists()
