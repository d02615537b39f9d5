"""Guests have a CPU of their own."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from netlab_engines import cores, cpu_use

SLEEPER = "import subprocess, sys; p = subprocess.Popen(['sleep', '60']); print(p.pid, flush=True); p.wait()"


@pytest.fixture(autouse=True)
def own_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cores, "CPU_LOCKS", tmp_path / "cpus")


def test_the_old_lock_is_free_also_where_the_guest_has_its_descriptor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})
    pin = cores.Pin()
    lock = pin.take()
    assert (lock is not None, pin.cpu) == (True, 0)
    kept_by_the_guest = os.dup(lock)
    try:
        assert cores.Pin().take() is None
        pin.release()
        assert pin.cpu == -1
        with cores.cpu_slot() as (cpu, _):
            assert cpu == 0
    finally:
        os.close(kept_by_the_guest)


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


def test_all_processes_of_a_family_are_moved(processes: list[int]) -> None:
    assert cores.family(processes[0]) == processes
    cpu = max(os.sched_getaffinity(0))
    cores.set_affinity([*processes, 2**22 + 1], {cpu})
    for pid in processes:
        assert os.sched_getaffinity(pid) == {cpu}
        assert (cpu_use._scheduling_s(pid, 1) or 0) >= 0
    assert cpu_use._scheduling_s(2**22 + 1, 1) is None


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
    answers = []
    before = os.umask(0o077)
    try:
        with ExitStack() as stack:
            for user in ("ann", "bob"):
                (tmp_path / user).mkdir()
                monkeypatch.setenv("TMPDIR", str(tmp_path / user))
                answers.append(stack.enter_context(cores.cpu_slot())[0])
    finally:
        os.umask(before)
    assert sorted(answers) == [0, 1]
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
