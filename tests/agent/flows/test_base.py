"""Every flow ends at its own time, and errors in its threads are reported."""

from __future__ import annotations

import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import netlab as nl
from netlab.base.errors import RunError, ThroughputError
from netlab.base.location import IMPORT_ROOT
from netlab_engines.agent import flows
from netlab_engines.agent.failures import Failures
from netlab_engines.agent.flows.base import RunningFlow
from netlab_engines.base import run_in
from netlab_engines.guests import Guest
from netlab_engines.kernels.pocket_kernel import PocketKernel
from netlab_engines.paths import python_path
from tests.agent.flows.places import PORT, place


def item(kind: str = "recorded", label: str = "h1-h2", **more: Any) -> Any:
    return {"kind": kind, "label": label, "src": "h1", "dst": "h2", "start_s": 0.0, "duration_s": None, **more}


class Recorded(RunningFlow[Any]):
    """A flow that opens nothing, and takes as many ports as it is told."""

    def __init__(self, words: Any, where: Any) -> None:
        super().__init__(words, where)
        if "refuse" in words:
            raise words["refuse"]
        self.port, self.ports = where.port, words.get("takes", 0)


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(flows.RUNNERS, "recorded", Recorded)


@pytest.mark.parametrize(
    ("start_s", "own_s", "expected_s"), [(2.0, None, 10.0), (2.0, 3.0, 5.0), (2.0, 30.0, 10.0), (0.0, 0.5, 0.5)]
)
def test_a_flow_ends_after_its_own_duration_or_with_the_run(
    tmp_path: Path, start_s: float, own_s: float | None, expected_s: float
) -> None:
    assert RunningFlow(item(start_s=start_s, duration_s=own_s), place(tmp_path)).end_s == expected_s


@pytest.mark.parametrize("error", [OSError(101, "Network is unreachable"), ThroughputError("no such option")])
def test_failure_in_a_thread_is_the_flows_error(tmp_path: Path, error: Exception) -> None:
    flow = RunningFlow(item(), place(tmp_path))

    def fail() -> None:
        raise error

    flow._start(fail)
    flow._start(fail)
    for thread in flow._threads:
        thread.join()
    assert flow.totals() == {"flow": "h1-h2", "error": f"{error}; {error}"}


@pytest.mark.parametrize("error", [TypeError("no number"), SystemError("broken"), KeyboardInterrupt()])
def test_unexpected_error_in_a_thread_stops_the_flow_with_a_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    monkeypatch.setattr(threading, "excepthook", threading.excepthook)
    failures = Failures()
    failures.watch_threads()
    flow, stopped = RunningFlow(item(), place(tmp_path)), []
    monkeypatch.setattr(flow, "stop", lambda: stopped.append(True))

    def fail() -> None:
        raise error

    flow._start(fail)
    for thread in flow._threads:
        thread.join()
    assert stopped == [True] and flow.failed
    assert flow.totals() == {"flow": "h1-h2", "error": f"{type(error).__name__}: {error}"}
    with pytest.raises(RunError, match=f"h1-h2 failed in the guest: {type(error).__name__}") as caught:
        failures.check()
    assert "in fail\n    raise error" in str(caught.value)
    failures.check()


def test_repeated_error_is_reported_once() -> None:
    failures = Failures()
    for _ in range(3):
        failures.note("Sampling", OSError("no such device"))
    failures.note("Sampling", OSError("another"))
    with pytest.raises(RunError) as caught:
        failures.check()
    assert str(caught.value).count("failed in the guest") == 2
    failures.note("Sampling", OSError("another"))
    failures.check()


BREAKS = {
    "sockets/udp_sender.py": ("UdpSender.run", "h1-h2 udp failed in the guest: ZeroDivisionError"),
    "sockets/tcp.py": ("TcpReceiver.run", "h1-h2 cubic failed in the guest: ZeroDivisionError"),
    "agent/sampling.py": ("QueueReader.read", "ZeroDivisionError"),
}


@pytest.mark.pocket
@pytest.mark.parametrize("module", BREAKS)
def test_a_run_with_an_error_of_netlab_ends_with_its_cause(
    module: str, tmp_path: Path, pocket_kernel: PocketKernel
) -> None:
    broken, message = BREAKS[module]
    package = IMPORT_ROOT / "netlab_engines"
    copy, folder = tmp_path / package.name, module.partition("/")[0]
    (copy / folder).mkdir(parents=True)
    for source, target in ((package, copy), (package / folder, copy / folder)):
        for entry in source.iterdir():
            if entry.name not in (folder, "__pycache__") and not (target / entry.name).exists():
                (target / entry.name).symlink_to(entry)
    text = (package / module).read_text()
    (copy / module).unlink()
    (copy / module).write_text(f"{text}\n\ndef broken(*_given):\n    1 / 0\n\n\n{broken} = broken\n")
    network = nl.topologies.dumbbell(1, rate_mbps=5, delay_ms=10)
    scenario = nl.Scenario(network, [nl.Udp("h1", "h2", rate_mbps=1), nl.Tcp("h1", "h2")], duration_s=100)
    with closing(Guest(pocket_kernel, packages=[str(tmp_path), *python_path()])) as guest:
        guest.wait_until_ready()
        with pytest.raises(RunError, match=message) as caught:
            run_in(guest, scenario.plan(), None, None)
        assert "1 / 0" in str(caught.value)
        assert guest.request().tables(streams=0, queues=0)["now_s"] < 1


def test_flows_do_not_share_ports(tmp_path: Path, recorded: None) -> None:
    plan: Any = {**place(tmp_path).plan, "traffic": [item(takes=n) for n in (3, 0, 1, 1)]}
    created: Any = flows.make_flows(plan, place(tmp_path).network, place(tmp_path).artifacts)
    assert [flow.port - PORT for flow in created] == [0, 3, 3, 4]


def test_unknown_kind_is_refused_with_the_known_kinds(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=rf"h1-h2: .*kind of traffic: got 'quic'; allowed: {', '.join(flows.RUNNERS)}"):
        flows.make_flows({"traffic": [item("quic")]}, place(tmp_path).network, place(tmp_path).artifacts)


@pytest.mark.parametrize("error", [OSError(98, "Address already in use"), ThroughputError("no 'nosuch' here")])
def test_a_flow_that_cannot_be_set_up_is_named(tmp_path: Path, recorded: None, error: Exception) -> None:
    plan: Any = {**place(tmp_path).plan, "traffic": [item(takes=1), item(label="second", takes=1, refuse=error)]}
    with pytest.raises(RunError) as caught:
        flows.make_flows(plan, place(tmp_path).network, place(tmp_path).artifacts)
    assert str(caught.value) == f"second could not be set up: {error}"
