"""A program that computes without end does not stop the network for ever."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import netlab as nl
from netlab_engines import cpu_use, guests
from netlab_engines.lab import endless_programs
from netlab_engines.lab.endless_programs import COMPUTING_S, NOTICE, EndlessPrograms
from netlab_engines.lab.script import run_script
from tests.lab.running_scripts import Running
from tests.waiting import wait_for

NETWORK = """
    import time
    from mininet.net import Mininet
    net = Mininet()
    h1, h2 = net.addHost("h1"), net.addHost("h2")
    net.addLink(h1, h2)
    net.start()
"""
SCRIPT = """
    for host in (h1, h2):
        host.cmd("while true; do a=1; done &")
    begin = time.time()
    time.sleep(0.5)
    print("slept", 0.5 <= time.time() - begin < 2)
    print(h2.cmd("ping -c 2 -i 0.2 10.0.0.1"))
    print("timeout", h1.cmd("timeout 0.5 bash -c 'while :; do :; done'; echo $?").strip())
    print("user", h1.cmd("timeout 0.3 python3 -c 'while True: pass'; echo $?").strip())
    net.stop()
    print("stopped")
"""


class Guest:
    """A guest whose programs compute or not, as a test says."""

    def __init__(self) -> None:
        self.computes = True
        self.pauses = 0

    def computed_only(self) -> bool:
        return self.computes

    def pause_program(self) -> None:
        self.pauses += 1


def test_programs_are_paused_after_a_long_computation(clock: SimpleNamespace) -> None:
    guest = Guest()
    notices: list[str] = []
    watch = EndlessPrograms(guest, notices.append)  # type: ignore[arg-type]
    watch.check()
    clock.s += COMPUTING_S - 0.1
    watch.check()
    assert (guest.pauses, notices) == (0, [])
    clock.s += 0.2
    watch.check()
    watch.check()
    assert (guest.pauses, notices) == (2, [NOTICE])
    guest.computes = False
    watch.check()
    assert guest.pauses == 2
    guest.computes = True
    watch.check()
    assert (guest.pauses, notices) == (3, [NOTICE]), "once is enough"


def test_work_of_the_network_between_two_computations_counts(clock: SimpleNamespace) -> None:
    guest = Guest()
    notices: list[str] = []
    watch = EndlessPrograms(guest, notices.append)  # type: ignore[arg-type]
    for step in range(100):
        guest.computes = step % 10 != 0
        watch.check()
        clock.s += 0.5
    assert (guest.pauses, notices) == (0, [])


@pytest.mark.parametrize(("capabilities", "asked"), [({"pause", "veth"}, True), ({"veth"}, False)])
def test_programs_of_a_kernel_that_cannot_pause_them_are_left_alone(capabilities: set[str], asked: bool) -> None:
    guest = object.__new__(guests.Guest)
    guest.kernel = SimpleNamespace(capabilities=capabilities)  # type: ignore[assignment]
    guest._cpu_use = SimpleNamespace(is_of_programs=lambda: True)  # type: ignore[assignment]
    assert guest.computed_only() is asked


COMPUTING, IDLE = "while True: pass", "import time; time.sleep(100)"


@pytest.fixture
def kernel_and_program(request: pytest.FixtureRequest) -> Iterator[int]:
    kernel, program = request.param
    code = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {program!r}]); print(flush=True); {kernel}"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process.pid
        os.killpg(process.pid, signal.SIGKILL)


INTERVAL_S = 0.1
STARTS = 10
"""Intervals in which both programs start, which is computing, too."""


@pytest.mark.parametrize(
    ("kernel_and_program", "expected"),
    [((IDLE, COMPUTING), True), ((IDLE, IDLE), False), ((COMPUTING, IDLE), False)],
    indirect=["kernel_and_program"],
)
def test_only_programs_that_compute_are_found(kernel_and_program: int, expected: bool) -> None:
    use = cpu_use.CpuUse(kernel_and_program)

    def computes() -> bool:
        time.sleep(INTERVAL_S)
        return use.is_of_programs()

    for _ in range(STARTS):
        computes()
    if expected:
        # On a busy machine a program may get less of the CPU than it takes in some intervals.
        assert wait_for(computes)
    else:
        assert not any(computes() for _ in range(STARTS))


def test_a_process_that_has_ended_does_not_compute() -> None:
    use = cpu_use.CpuUse(2**22 + 1)
    assert [use.is_of_programs() for _ in range(3)] == [False] * 3


@pytest.mark.pocket
def test_a_script_with_busy_loops_runs_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(endless_programs, "COMPUTING_S", 0.5)
    (tmp_path / "case.py").write_text(textwrap.dedent(NETWORK) + textwrap.dedent(SCRIPT))
    parts: list[str] = []
    finished = run_script([str(tmp_path / "case.py")], write=parts.append, directory=tmp_path, wall_limit_s=200)
    printed = "".join(parts)
    assert finished.code == 0, printed
    assert "slept True" in printed and "2 packets transmitted, 2 received, 0% packet loss" in printed
    assert "timeout 124" in printed and "user 124" in printed and printed.endswith("stopped\n")
    assert capfd.readouterr().err.count(NOTICE) == 1


@pytest.mark.pocket
def test_a_script_with_a_busy_loop_cleans_up_at_ctrl_c(tmp_path: Path) -> None:
    busy = """
    h1.cmd("while true; do a=1; done &")
    print("started", flush=True)
    try:
        time.sleep(10 ** 4)
    finally:
        open("finally.txt", "w").write(h2.cmd("ping -c 1 10.0.0.1"))
        net.stop()
    """
    running = Running(tmp_path, NETWORK + busy)
    running.wait_for_text("started\n")
    running.send(signal.SIGINT)
    assert running.end() == 128 + signal.SIGINT, running.printed
    assert "1 packets transmitted, 1 received" in (tmp_path / "finally.txt").read_text()


@pytest.mark.pocket
def test_a_live_network_goes_on_beside_a_busy_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endless_programs, "COMPUTING_S", 0.5)
    with nl.live(nl.Topology(hosts=["h1", "h2"], links=[nl.Link("h1", "h2")])) as lab:
        lab["h1"].start("while :; do :; done")
        assert "1 received" in lab["h2"].run("ping -c 1 h1")
        ended: Any = lab["h2"].run("timeout 0.5 sh -c 'while :; do :; done'")
        assert ended.exit_code == 124
