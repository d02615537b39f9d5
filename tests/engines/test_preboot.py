"""A guest that waited gives the bytes of one that was booted just now."""

import functools
import json
import os
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import netlab as nl
from netlab_engines import preboot
from netlab_engines.kernels import pocket_kernel
from tests.waiting import wait_for

pytestmark = [pytest.mark.pocket, pytest.mark.usefixtures("in_pocket")]


def measured(seed: int) -> str:
    network = nl.topologies.dumbbell(pairs=2, rate_mbps=5, delay_ms=10, queue_packets=100, loss_rate=0.001)
    traffic = [nl.Tcp("h1", "h3"), nl.Tcp("h2", "h4", congestion="bbr"), nl.Udp("h1", "h4", rate_mbps=1)]
    run = nl.run(network, traffic, duration_s=10, seed=seed)
    tables = run.to_dict()
    tables.pop("settings")
    return json.dumps(tables)


@functools.cache
def measured_cold(seed: int) -> str:
    """Return what a guest measures that has just been booted."""
    return measured(seed)


@pytest.fixture
def prebooted(monkeypatch: pytest.MonkeyPatch) -> Iterator[preboot.PrebootedGuest]:
    own = preboot.PrebootedGuest()
    monkeypatch.setattr(preboot, "_guest", own)
    monkeypatch.setenv("NETLAB_WARM", "1")
    yield own
    own.drop()


@pytest.mark.parametrize("wait_s", [0, 1, 5])
def test_a_run_is_the_same_however_long_its_guest_waited(prebooted: preboot.PrebootedGuest, wait_s: float) -> None:
    cold = measured_cold(seed=5)
    prebooted.prepare(pocket_kernel.find())
    assert prebooted._future is not None
    waiting = prebooted._future.result()
    assert waiting is not None
    if wait_s:
        waiting.wait_until_ready()
        time.sleep(wait_s)
    assert measured(seed=5) == cold
    assert waiting.closed, "the run took the guest that waited"
    prebooted.drop()
    assert measured_cold(seed=6) != cold


def test_a_script_boots_ahead_from_its_second_run_on_and_a_notebook_from_its_first(
    prebooted: preboot.PrebootedGuest, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = pocket_kernel.find()
    with prebooted.guest(here):
        pass
    assert prebooted._future is None
    with prebooted.guest(here):
        pass
    assert prebooted._future is not None
    prebooted.drop()
    prebooted._runs = 0
    monkeypatch.setattr(preboot, "is_in_notebook", lambda: True)
    with prebooted.guest(here):
        pass
    assert prebooted._future is not None


def test_no_guest_is_prebooted_while_other_runs_go_on_or_if_disabled(
    prebooted: preboot.PrebootedGuest, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = pocket_kernel.find()
    prebooted._runs = 5
    with prebooted.guest(here):
        with prebooted.guest(here):
            pass
        assert prebooted._future is None
    assert prebooted._future is not None
    prebooted.drop()
    monkeypatch.setenv("NETLAB_WARM", "0")
    with prebooted.guest(here):
        pass
    assert prebooted._future is None


def test_a_guest_that_died_while_it_waited_is_replaced(prebooted: preboot.PrebootedGuest) -> None:
    prebooted.prepare(pocket_kernel.find())
    assert prebooted._future is not None
    waiting = prebooted._future.result()
    assert waiting is not None
    os.kill(waiting.process.pid, 9)
    waiting.process.wait()
    with prebooted.guest(pocket_kernel.find()) as fresh:
        assert fresh.process.poll() is None
    assert waiting.closed


def test_a_guest_that_was_not_needed_for_long_goes(
    prebooted: preboot.PrebootedGuest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preboot, "IDLE_S", 0.5)
    prebooted.prepare(pocket_kernel.find())
    assert prebooted._future is not None
    waiting = prebooted._future.result()
    assert waiting is not None
    assert wait_for(lambda: waiting.closed), "it waits for ever"


@pytest.mark.parametrize("delay_s", [0.0, 1.5])
def test_a_script_that_ends_leaves_no_guest_and_no_directory(tmp_path: Path, delay_s: float) -> None:
    code = f"""
        import time
        from netlab_engines.kernels import pocket_kernel
        from netlab_engines import preboot
        preboot._guest.prepare(pocket_kernel.find())
        time.sleep({delay_s})
        guest = preboot._guest._future.result()
        print(guest.process.pid, guest.directory)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True, text=True, check=True, env={**os.environ, "TMPDIR": str(tmp_path), "NETLAB_WARM": "1"},
    )  # fmt: skip
    pid, directory = done.stdout.split()
    assert not Path(f"/proc/{pid}").exists()
    assert not Path(directory).exists()


def test_a_guest_that_waits_goes_with_its_process() -> None:
    code = """
        import time
        from netlab_engines.kernels import pocket_kernel
        from netlab_engines.guests import Guest
        guest = Guest(pocket_kernel.find())
        print(guest.process.pid, flush=True)
        time.sleep(1000)
    """
    with subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        guest_pid = int(child.stdout.readline())
        child.kill()
    assert wait_for(lambda: not Path(f"/proc/{guest_pid}").exists()), f"the guest {guest_pid} outlived its process"
