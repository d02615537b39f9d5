"""A place for a flow without a guest: both of its hosts are this process, and addresses are of the loopback interface."""

from __future__ import annotations

import os
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from netlab.traffic.base import Traffic
from netlab_engines.agent.artifacts import ArtifactStore
from netlab_engines.agent.flows import connections, ping, udp
from netlab_engines.agent.flows.base import FlowContext, RunningFlow

# All of 127.0.0.0/8 is this machine's: each process of a test run has its own address, so ports do not meet.
ADDRESS = f"127.77.{os.getpid() // 256 % 256}.{os.getpid() % 256}"
PORT = 5001
PATIENCE_S = 60.0


class Network:
    """Nodes that are all this process."""

    def __init__(self, nodes: dict[str, Any] | None = None) -> None:
        self.nodes = nodes or {}

    def pid(self, name: str) -> int:
        return os.getpid()


def place(
    folder: Path, *, duration_s: float = 10.0, number: int = 1, nodes: dict[str, Any] | None = None
) -> FlowContext:
    """The place of a flow: from h1 to h2."""
    plan: Any = {"duration_s": duration_s, "interval_s": 0.1, "seed": 1}
    return FlowContext(plan, Network(nodes), ArtifactStore(folder), number, PORT)


def planned_item(traffic: Traffic, **changes: Any) -> Any:
    """Return the item of a plan for `traffic` alone, with `changes` of its fields, as a flow of this process gets it."""
    return {**traffic.to_plan(traffic.label, [traffic]), "address": ADDRESS, **changes}


def stay_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a flow open its sockets in this process's own namespace, which needs no privilege."""
    for module in (ping, connections, udp):
        monkeypatch.setattr(module, "enter_namespace", lambda _pid: nullcontext())


def run(flow: RunningFlow[Any], wait_s: float = PATIENCE_S) -> None:
    """Run a flow to its end; wait at most `wait_s` for what it has sent and has not arrived."""
    # Traffic begins a little later, so that its threads are there in time on a busy machine too.
    flow.launch(time.monotonic() + 0.3)
    # The last thread is what sends; the agent too looks for what is in flight only when all have sent.
    flow._threads[-1].join(PATIENCE_S)
    flow.finish(time.monotonic() + wait_s)
