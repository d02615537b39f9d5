"""A guest that waited gives the bytes of one that was booted just now."""

import json
import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

import netlab as nl
from netlab import kernel
from netlab.engines import warm
from netlab.engines.guests import Guest

pytestmark = pytest.mark.pocket


def measured(seed: int) -> str:
    network = nl.topologies.dumbbell(pairs=2, rate_mbps=5, delay_ms=10, queue_packets=100, loss_rate=0.001)
    traffic = [nl.Tcp("h1", "h3"), nl.Tcp("h2", "h4", congestion="bbr"), nl.Udp("h1", "h4", rate_mbps=1)]
    run = nl.run(network, traffic, duration_s=20, seed=seed)
    tables = run.to_dict()
    tables.pop("settings")
    return json.dumps(tables)


@pytest.fixture
def spare(monkeypatch: pytest.MonkeyPatch) -> warm._Spare:
    own = warm._Spare()
    monkeypatch.setattr(warm, "_spare", own)
    return own


@pytest.mark.parametrize("wait_s", [0, 1, 5])
def test_a_run_is_the_same_however_long_its_guest_waited(
    spare: warm._Spare, wait_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NETLAB_WARM", "1")
    cold = measured(seed=5)
    spare._runs = 5
    spare.prepare(kernel.find())
    assert spare._making is not None
    spare._making.join()
    assert spare._guest is not None
    time.sleep(wait_s)
    assert measured(seed=5) == cold
    assert measured(seed=6) != cold
    spare.drop()


def test_without_the_variable_nothing_is_booted_ahead(spare: warm._Spare, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NETLAB_WARM", raising=False)
    spare._runs = 5
    spare.prepare(kernel.find())
    assert spare._making is None
    assert spare._guest is None


def test_a_single_run_makes_no_guest_for_another(spare: warm._Spare, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETLAB_WARM", "1")
    # A plugin of pytest's brings it in, as a notebook does.
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    spare.prepare(kernel.find())
    assert spare._making is None


def test_a_guest_that_died_while_it_waited_is_replaced(spare: warm._Spare) -> None:
    spare._guest = Guest(kernel.find())
    os.kill(spare._guest.process.pid, 9)
    spare._guest.process.wait()
    fresh = spare.take(kernel.find())
    assert fresh.process.poll() is None
    fresh.close()


def test_a_guest_that_waits_goes_with_its_process() -> None:
    code = """
        import time
        from netlab import kernel
        from netlab.engines.guests import Guest
        guest = Guest(kernel.find())
        print(guest.process.pid, flush=True)
        time.sleep(1000)
    """
    with subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        guest_pid = int(child.stdout.readline())
        child.kill()
    for _ in range(100):
        if not Path(f"/proc/{guest_pid}").exists():
            return
        time.sleep(0.1)
    raise AssertionError(f"the guest {guest_pid} outlived its process")
