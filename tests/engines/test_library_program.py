"""The library kernel's program: memory, damaged requests, kills, and what it may do."""

from __future__ import annotations

import os
import random
import signal
import struct
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pandas as pd
import pytest

import netlab as nl
from netlab.base.errors import RunCancelled, RunError
from netlab_engines.kernels import library_kernel
from netlab_engines.library import engine
from netlab_engines.library.wire_format import Answer, Request
from tests.engines.library_runs import begin, children, computed_s, dumbbell, frame, run, status_and_answers
from tests.waiting import wait_for

pytestmark = pytest.mark.library


def test_small_plans_run_in_a_quarter_of_the_memory_with_the_same_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    traffic = [nl.Tcp("h1", "h3"), nl.Udp("h2", "h4", rate_mbps=4)]
    small = nl.Scenario(
        nl.topologies.dumbbell(pairs=2, rate_mbps=10, delay_ms=10, queue_packets=50), traffic, duration_s=3
    )
    assert engine.is_small(small.plan())
    ours = nl.run(small, engine="library", progress=False)
    monkeypatch.setattr(engine, "is_small", lambda plan: False)
    other = nl.run(small, engine="library", progress=False)
    assert (ours.settings["memory_mb"], other.settings["memory_mb"]) == (256, 1024)
    for name in ("flows", "intervals", "queues", "streams"):
        pd.testing.assert_frame_equal(getattr(ours, name), getattr(other, name))


def test_an_unknown_request_ends_in_a_sentence_and_not_in_a_hang() -> None:
    status, frames = status_and_answers(begin() + frame(77))
    assert status == 1
    assert frames[-1][0] == Answer.FAILED and b"request 77 is not known" in frames[-1][1]


def test_a_short_request_is_refused() -> None:
    status, frames = status_and_answers(begin() + frame(Request.NODE) + frame(Request.FLOW, b"\0" * 10))
    assert status == 1 and b"needs" in frames[-1][1]


def test_too_little_memory_ends_in_the_kernels_own_words() -> None:
    status, frames = status_and_answers(
        begin(memory_mb=1) + frame(Request.NODE) + frame(Request.GO, struct.pack("<QQQQ", 1, 1, 0, 1))
    )
    assert status == 1
    assert frames[-1][0] == Answer.FAILED and b"stopped itself" in frames[-1][1]


def test_damaged_netlink_ends_in_a_sentence() -> None:
    chance = random.Random(3)  # noqa: S311 (no secret)
    for _ in range(20):
        body = struct.pack("=IHHII", 16 + 64, chance.randrange(16, 60), 0x405, 0, 0) + chance.randbytes(64)
        status, frames = status_and_answers(
            begin()
            + frame(Request.NODE)
            + frame(Request.NETLINK, body)
            + frame(Request.GO, struct.pack("<QQQQ", 1, 1, 0, 1))
        )
        assert status in (0, 1) and frames[-1][0] in (Answer.DONE, Answer.FAILED)


def test_a_sender_on_a_path_without_a_rate_is_ended_with_the_reason() -> None:
    """The program's timer looks at the clock after each 5 s of computing, six times; five of the looks are made here at once."""
    network = nl.Topology(hosts=["h1", "h2"], links=[nl.Link("h1", "h2")])
    plan = nl.Scenario(network, [nl.Tcp("h1", "h2", num_bytes=1)], 1.0).plan()
    cast("dict[str, Any]", plan["traffic"][0])["num_bytes"] = None

    def look_early() -> None:
        # By then the kernel has long started, and time stands still.
        assert wait_for(lambda: any(computed_s(pid) > 1 for pid in children()))
        for pid in children():
            for _ in range(5):
                os.kill(pid, signal.SIGPROF)
                time.sleep(0.1)  # a signal that is still pending counts once

    threading.Thread(target=look_early).start()
    with pytest.raises(RunError, match="Network time stands still.*Give the path a rate"):
        engine.LibraryEngine().execute(plan)


def test_a_cancelled_run_ends_at_once_and_leaves_no_process() -> None:
    cancel = threading.Event()
    threading.Timer(0.3, cancel.set).start()
    with pytest.raises(RunCancelled):
        run(
            dumbbell(rate_mbps=1000, queue_packets=1000),
            [nl.Tcp("h1", "h2", streams=8)],
            duration_s=1000,
            cancel=cancel,
        )
    assert children() == []


def test_killed_program_is_reported_as_killed() -> None:
    def kill() -> None:
        assert wait_for(children)
        for pid in children():
            os.kill(pid, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    with pytest.raises(RunError, match="without a result: it was killed"):
        run(dumbbell(rate_mbps=1000, queue_packets=1000), [nl.Tcp("h1", "h2")], duration_s=1000)
    killer.join()


@pytest.fixture
def starter() -> Iterator[subprocess.Popen[bytes]]:
    """A process that starts the program and waits."""
    code = (
        "import os, subprocess, sys, time\n"
        f"child = subprocess.Popen([{str(library_kernel.find().path)!r}, str(os.getpid())], stdin=subprocess.PIPE)\n"
        "print(child.pid, flush=True)\ntime.sleep(1000)\n"
    )
    process = subprocess.Popen(["python3", "-S", "-c", code], stdout=subprocess.PIPE)
    yield process
    process.kill()
    process.wait()


def test_program_ends_with_its_parent_process(starter: subprocess.Popen[bytes]) -> None:
    assert starter.stdout is not None
    pid = int(starter.stdout.readline())
    assert Path(f"/proc/{pid}").exists()
    starter.kill()
    starter.wait()
    assert wait_for(lambda: not _is_running(pid))


def _is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except OSError:
        return False


def test_without_its_parent_it_does_not_begin() -> None:
    done = subprocess.run(
        [str(library_kernel.find().path), "1"], stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    assert done.returncode == 2 and done.stdout == b""


def test_program_is_confined_to_its_pipes(tmp_path: Path) -> None:
    """If the machine has Landlock and seccomp, the program confines itself with both before it reads a plan."""
    status, frames = status_and_answers(
        begin() + frame(Request.NODE) + frame(Request.GO, struct.pack("<QQQQ", 10**6, 10**6, 0, 1))
    )
    _now, _jumps, confined = struct.unpack_from("<QQQ", frames[-1][1])
    assert status == 0
    seccomp = "Seccomp:" in Path("/proc/self/status").read_text()
    landlock = (
        "landlock" in Path("/sys/kernel/security/lsm").read_text()
        if Path("/sys/kernel/security/lsm").exists()
        else None
    )
    assert bool(confined & 2) == seccomp
    if landlock is not None:
        assert bool(confined & 1) == landlock


def test_program_opens_and_writes_no_file(tmp_path: Path) -> None:
    """In an empty, read-only directory, with no environment and no descriptor but its pipes."""
    tmp_path.chmod(0o555)
    status, frames = status_and_answers(
        begin() + frame(Request.NODE) + frame(Request.GO, struct.pack("<QQQQ", 10**6, 10**6, 0, 1)),
        cwd=tmp_path,
        env={},
    )
    assert status == 0 and frames[-1][0] == Answer.DONE
    assert list(tmp_path.iterdir()) == []
