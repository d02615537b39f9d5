"""The words about a guest that has ended."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import subprocess
from pathlib import Path

import pytest

from netlab.base.errors import RunError
from netlab_engines import files, guests, native_guest
from netlab_engines.guests import AgentProcess, Guest, reason_of_end
from netlab_engines.kernels.pocket_kernel import PocketKernel
from netlab_engines.native_guest import NativeGuest


def test_end_of_the_log_is_reported_unless_the_guest_left_a_message(tmp_path: Path) -> None:
    log = tmp_path / "log"
    assert reason_of_end(tmp_path, log) == "The end of its log:\n(empty)"
    log.write_bytes(b"old\n" * 50 + b"[<0000>] address\n" + b"PocketKernel panic \xff\n")
    assert "PocketKernel panic" in reason_of_end(tmp_path, log)
    assert "address" not in reason_of_end(tmp_path, log)
    log.write_text("ptrace set fp regs failed\n")
    assert "too old for this machine's processor" in reason_of_end(tmp_path, log)
    log.write_text("ptrace: Operation not permitted\ncheck_ptrace : expected SIGSTOP, got status = 9\n")
    assert re.fullmatch(
        r"This system, .* seccomp and ptrace\. Run .*engine='library'\)\.", reason_of_end(tmp_path, log)
    )
    (tmp_path / files.CRASH).write_text("The overlay could not be mounted.")
    assert reason_of_end(tmp_path, log) == "The overlay could not be mounted."


@pytest.mark.pocket
def test_guest_that_cannot_start_its_program_reports_the_reason(pocket_kernel: PocketKernel) -> None:
    with pytest.raises(RunError, match=re.escape("ended. ModuleNotFoundError: No module named 'netlab.nothing'")):
        Guest(pocket_kernel, program="netlab.nothing").wait_until_ready()


LATE = (
    r"has not started within 0 s\. The usual reason is a busy machine; this one has a load average of 12\.3 on 2 CPUs\. "
    r"End other programs and runs, and try again; .* The end of its log:\nhalf of the boot$"
)
"""The words about an agent that has not started in time."""


@pytest.fixture
def busy(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with a load, and no patience."""
    monkeypatch.setattr(os, "getloadavg", lambda: (12.34, 5.0, 1.0))
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: {0, 1})
    for module in (guests, native_guest):
        monkeypatch.setattr(module, "BOOT_PATIENCE_S", 0.0)


@pytest.mark.usefixtures("busy")
def test_guest_that_does_not_start_in_time_reports_the_load_and_its_log() -> None:
    agent = AgentProcess()
    agent.log.write_text("half of the boot\n")
    agent.channel, other_end = socket.socketpair()
    with agent.channel, other_end, pytest.raises(RunError, match=f"^The pocket kernel {LATE}"):
        agent.wait_until_ready()
    assert agent.closed and not agent.directory.exists()


@pytest.mark.usefixtures("busy")
def test_agent_on_this_machines_kernel_that_does_not_connect_in_time_has_not_ended() -> None:
    agent = NativeGuest.__new__(NativeGuest)
    AgentProcess.__init__(agent)
    agent.log.write_text("half of the boot\n")
    with contextlib.closing(agent), agent._listen("waiting") as listener:
        agent.process = subprocess.Popen(["sleep", "60"])
        with pytest.raises(RunError, match=f"^The agent {LATE}"):
            agent._accept(listener)
        agent.process.kill()
        agent.process.wait()
        with pytest.raises(RunError, match=r"^The agent has ended\. The end of its log:\nhalf of the boot$"):
            agent._accept(listener)
