"""Run the traffic: this process has every socket of every host and a thread per endpoint.

A socket stays in the namespace in which it was made, so one process can act for all hosts. In the guest a switch
between threads of one process is cheap; a switch between processes is not.
"""

from typing import Any

from netlab.base.errors import RunError, ThroughputError, one_of
from netlab.plan import FIRST_PORT
from netlab_engines.agent.artifacts import ArtifactStore
from netlab_engines.agent.flows.base import FlowContext, RunningFlow
from netlab_engines.agent.flows.command import CommandFlow
from netlab_engines.agent.flows.ping import PingFlow
from netlab_engines.agent.flows.requests import RequestsFlow
from netlab_engines.agent.flows.tcp import TcpFlow
from netlab_engines.agent.flows.udp import UdpFlow
from netlab_engines.agent.network import Network
from netlab_engines.protocol.requests import AgentPlan

RUNNERS: dict[str, type[RunningFlow[Any]]] = {
    "tcp": TcpFlow,
    "udp": UdpFlow,
    "requests": RequestsFlow,
    "ping": PingFlow,
    "command": CommandFlow,
}

__all__ = ["RUNNERS", "FlowContext", "RunningFlow", "make_flows"]


def make_flows(
    plan: AgentPlan, network: Network, artifacts: ArtifactStore, number: int = 1, port: int = FIRST_PORT
) -> list[RunningFlow[Any]]:
    """Return a flow with open sockets, not started, for each item of the plan's traffic, in the plan's order. The first
    flow has the number `number`, each later one the next; `port` is the first free port, from which flows take as many
    as they need. Files that commands save go to `artifacts`. Raises RunError if the kind of an item is unknown or an
    item cannot be set up.
    """
    flows: list[RunningFlow[Any]] = []
    for item in plan["traffic"]:
        kind, label = item["kind"], item["label"]
        if kind not in RUNNERS:
            raise RunError(f"{label}: the agent does not know this kind of traffic: {one_of(kind, list(RUNNERS))}.")
        try:
            flows.append(RUNNERS[kind](item, FlowContext(plan, network, artifacts, number + len(flows), port)))
        except (OSError, ThroughputError) as error:
            raise RunError(f"{label} could not be set up: {error}") from None
        port += flows[-1].ports
    return flows
