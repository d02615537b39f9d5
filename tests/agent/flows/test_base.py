"""What every flow does: it ends at its own time, and what goes wrong in a thread is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from netlab.agent import flows
from netlab.agent.flows.base import Flow
from netlab.base.errors import RunError, ThroughputError
from tests.agent.flows.places import PORT, place


def item(kind: str = "recorded", label: str = "h1-h2", **more: Any) -> Any:
    return {"kind": kind, "label": label, "src": "h1", "dst": "h2", "start_s": 0.0, "duration_s": None, **more}


class Recorded(Flow[Any]):
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
    assert Flow(item(start_s=start_s, duration_s=own_s), place(tmp_path)).end_s == expected_s


@pytest.mark.parametrize("error", [OSError(101, "Network is unreachable"), ThroughputError("no such option")])
def test_what_fails_in_a_thread_is_the_flows_error(tmp_path: Path, error: Exception) -> None:
    flow = Flow(item(), place(tmp_path))

    def fail() -> None:
        raise error

    flow._start(fail)
    flow._start(fail)
    for thread in flow._threads:
        thread.join()
    assert flow.totals() == {"flow": "h1-h2", "error": f"{error}; {error}"}


def test_flows_do_not_share_ports(tmp_path: Path, recorded: None) -> None:
    plan: Any = {**place(tmp_path).plan, "traffic": [item(takes=n) for n in (3, 0, 1, 1)]}
    made: Any = flows.make_flows(plan, place(tmp_path).network, place(tmp_path).keeper)
    assert [flow.port - PORT for flow in made] == [0, 3, 3, 4]


def test_an_unknown_kind_is_refused_with_those_that_are_known(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=rf"h1-h2: .*kind of traffic: got 'quic'; allowed: {', '.join(flows.RUNNERS)}"):
        flows.make_flows({"traffic": [item("quic")]}, place(tmp_path).network, place(tmp_path).keeper)


@pytest.mark.parametrize("error", [OSError(98, "Address already in use"), ThroughputError("no 'nosuch' here")])
def test_a_flow_that_cannot_be_set_up_is_named(tmp_path: Path, recorded: None, error: Exception) -> None:
    plan: Any = {**place(tmp_path).plan, "traffic": [item(takes=1), item(label="second", takes=1, refuse=error)]}
    with pytest.raises(RunError) as caught:
        flows.make_flows(plan, place(tmp_path).network, place(tmp_path).keeper)
    assert str(caught.value) == f"second could not be set up: {error}"
