"""The guest cannot harm the host, and does not outlive its run."""

from __future__ import annotations

import os
import pathlib
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator

import pytest

import netlab as nl
from netlab.base import scratch
from netlab.base.errors import RunCancelled
from netlab_engines import launcher
from tests.waiting import wait_for

pytestmark = [pytest.mark.pocket, pytest.mark.usefixtures("in_pocket")]


ROOT = pathlib.Path(__file__).parent.parent.parent
TWO_HOSTS = nl.Topology(hosts=["h1", "h2"], links=[nl.Link("h1", "h2", rate_mbps=10, delay_ms=1)])
LONG = {
    # Slow enough to tell soon how far it is, long enough to compute for minutes.
    "topology": nl.topologies.dumbbell(pairs=4, rate_mbps=50, queue_packets=1000).to_dict(),
    "traffic": [nl.Tcp(f"h{i}", f"h{i + 4}").to_dict() for i in (1, 2, 3, 4)],
    "duration_s": 600,
    "interval_s": 1,
}


@pytest.fixture(autouse=True)
def own_scratch(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A scratch directory of this test's own, so that other runs on this machine are not mistaken for ours."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))


def guests() -> set[int]:
    """Processes that belong to a pocket kernel of this test."""
    found = set()
    mark = f"uml_dir={scratch.base()}".encode()
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and mark in (entry / "cmdline").read_bytes():
                found.add(int(entry.name))
        except OSError:
            continue
    return found


def run_directories() -> set[pathlib.Path]:
    return set((scratch.base() / f"netlab-{os.getuid()}").glob("run-*"))


@pytest.fixture
def treasure() -> Iterator[pathlib.Path]:
    """A user's file, in a home-like directory that the guest sees."""
    directory = pathlib.Path(subprocess.check_output(["mktemp", "-d", str(ROOT / "build-XXXXXX")], text=True).strip())
    file = directory / "thesis.txt"
    file.write_text("two years of work\n")
    yield file
    file.unlink(missing_ok=True)
    directory.rmdir()


@pytest.mark.parametrize(
    "attack",
    [
        "rm -rf {directory}",
        "echo gone > {file}",
        "chmod 000 {file}; mv {file} {directory}/stolen",
        "mkdir -p /tmp/h && mount -t hostfs -o / none /tmp/h && echo gone > /tmp/h{file}; rm -rf /tmp/h{directory}",
        "mount -t hostfs -o {directory} none /mnt && rm -rf /mnt/*; touch /mnt/intruder",
        "mount -o remount,rw /; ln -sf /etc/passwd {file}; truncate -s 0 {file}",
    ],
)
def test_commands_in_a_host_leave_the_users_files_alone(treasure: pathlib.Path, attack: str) -> None:
    """Delete, overwrite, rename, remount: the real file stays, byte by byte, and nothing appears next to it."""
    if "hostfs" in attack and launcher.landlock_version() == 0:
        pytest.skip("this host has no Landlock, and `netlab doctor` says so")
    command = attack.format(file=treasure, directory=treasure.parent)
    run = nl.run(TWO_HOSTS, [nl.Command("h1", f"cat {treasure}; {command}; true")], duration_s=1)
    assert "two years of work" in run.commands.stdout[0], "the guest did not see the file, so this proves nothing"
    assert treasure.read_text() == "two years of work\n"
    assert list(treasure.parent.iterdir()) == [treasure]


def test_a_finished_run_leaves_nothing() -> None:
    """No process, no directory."""
    before = run_directories()
    nl.run(TWO_HOSTS, [nl.Ping("h1", "h2")], duration_s=1)
    assert not guests()
    assert run_directories() <= before


def test_a_cancelled_run_leaves_nothing() -> None:
    """Cancelled when it has begun to tell how far it is."""
    cancel = threading.Event()
    before = run_directories()
    with pytest.raises(RunCancelled):
        nl.run(LONG, cancel=cancel, progress=lambda _done, _whole: cancel.set())
    assert not guests()
    assert run_directories() <= before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_guests_die_with_the_program_that_started_them(number: signal.Signals) -> None:
    """Ctrl-C, a polite end and the sudden death of a notebook's kernel."""
    program = textwrap.dedent(
        f"""
        import netlab as nl
        nl.run({LONG!r}, progress=lambda done, whole: print("in flight", flush=True))
        """
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=ROOT
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"in flight\n"
    assert guests()
    process.send_signal(number)
    process.wait(20)
    assert wait_for(lambda: not guests()), f"still there after {number.name}: {guests()}"
    # The next run removes what the killed program left.
    nl.run(TWO_HOSTS, [nl.Ping("h1", "h2")], duration_s=1)
    assert not run_directories()


def test_two_runs_side_by_side_do_not_meet() -> None:
    """Each gets its own directory and CPU, and the numbers of a run alone."""
    results: dict[int, nl.Run] = {}

    def one(number: int) -> None:
        results[number] = nl.run(TWO_HOSTS, [nl.Tcp("h1", "h2")], duration_s=10)

    threads = [threading.Thread(target=one, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({run.flows.received_bytes[0] for run in results.values()}) == 1
    assert len(results) == 3
