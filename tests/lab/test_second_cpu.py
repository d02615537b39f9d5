"""A guest's programs run on a CPU of their own while it is free, with the same results."""

from __future__ import annotations

import os
import re
import textwrap
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from netlab_engines import cores
from netlab_engines.lab.script import run_script

SYSTEM_CALLS = """
    from mininet.net import Mininet
    net = Mininet()
    h1 = net.addHost("h1")
    net.start()
    print(h1.cmd("dd if=/dev/zero of=/dev/null bs=1 count=200000 && echo done"))
    net.stop()
"""
RESULTS = """
    from mininet.link import TCLink
    from mininet.net import Mininet
    net = Mininet(link=TCLink)
    h1, h2 = net.addHost("h1"), net.addHost("h2")
    net.addLink(h1, h2, bw=10, delay="5ms")
    net.start()
    h1.cmd("python3 -m http.server 8000 >/dev/null 2>&1 &")
    print(h2.cmd("ping -c 5 -i 0.2 10.0.0.1"))
    h1.cmd("iperf3 -s -D")
    print(h2.cmd("iperf3 -c 10.0.0.1 -t 2 -f k"))
    print(h2.cmd("curl -s http://10.0.0.1:8000/ | wc -l; date +%s.%N"))
    net.stop()
"""
MANY_PROGRAMS = """
    from mininet.net import Mininet
    net = Mininet()
    h1 = net.addHost("h1")
    net.start()
    for _ in range(3):
        h1.cmd("for i in $(seq 50); do sleep 100 & done; sleep 0.1; kill -9 $(jobs -p); wait")
        print("started again:", h1.cmd("ls / | grep -c etc").strip())
    net.stop()
"""

needs_two_cpus = pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two CPUs")


@pytest.fixture(autouse=True)
def own_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each guest have a CPU, also while other tests' guests run."""
    monkeypatch.setattr(cores, "CPU_LOCKS", tmp_path / "cpus")


def printed_by(text: str, directory: Path) -> str:
    """Run a script and return what it prints."""
    (directory / "case.py").write_text(textwrap.dedent(text))
    printed: list[str] = []
    run_script([str(directory / "case.py")], write=printed.append, directory=directory)
    return "".join(printed)


def bound_to(pid: int) -> set[int]:
    """The CPUs on which a process may run; none if it has ended."""
    try:
        return os.sched_getaffinity(pid)
    except OSError:
        return set()


def guests() -> list[int]:
    """The processes that this one has started, in any of its threads."""
    found: list[int] = []
    for path in Path("/proc/self/task").glob("*/children"):
        with suppress(OSError):
            found += map(int, path.read_text().split())
    return found


def has_a_program_on_another_cpu(guest: int) -> bool:
    """Return whether a guest's kernel, with this pid, and one of its programs are bound to one CPU each, which differ."""
    kernel, *programs = map(bound_to, cores.family(guest))
    return any(len(kernel) == len(program) == 1 and kernel != program for program in programs)


@needs_two_cpus
def test_programs_run_on_a_second_cpu(tmp_path: Path) -> None:
    seen: list[bool] = []
    ended = threading.Event()

    def look() -> None:
        while not ended.wait(0.005):
            seen.extend(map(has_a_program_on_another_cpu, guests()))

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        assert "done" in printed_by(SYSTEM_CALLS, tmp_path)
    finally:
        ended.set()
        watcher.join()
    assert any(seen)


@needs_two_cpus
def test_results_do_not_depend_on_the_number_of_cpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_two = printed_by(RESULTS, tmp_path)
    monkeypatch.setattr(cores, "program_cpus", list)
    assert printed_by(RESULTS, tmp_path) == with_two
    assert "5 received" in with_two
    assert "receiver" in with_two


def test_processes_of_killed_programs_are_used_again_or_ended(tmp_path: Path) -> None:
    assert re.findall(r"^started again: (.*)", printed_by(MANY_PROGRAMS, tmp_path), re.MULTILINE) == ["1", "1", "1"]


@pytest.mark.parametrize(("cpus", "offered"), [(1, 0), (2, 2), (16, 16), (500, cores.MAX_PROGRAM_CPUS)])
def test_a_second_cpu_is_offered_where_there_is_one(monkeypatch: pytest.MonkeyPatch, cpus: int, offered: int) -> None:
    allowed = set(range(7, 7 + cpus))
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: allowed)
    found = cores.program_cpus()
    assert len(set(found)) == len(found) == offered
    assert set(found) <= allowed
