"""Run the traffic: every socket of every host in this one process, a thread per endpoint.

A socket stays in the namespace in which it was made, so one process can be all hosts. Switching between threads of one
process is what the guest does cheaply; switching between processes is not.
"""

from typing import Any

from netlab.agent.artifacts import ArtifactStore
from netlab.agent.flows.base import Flow, FlowContext
from netlab.agent.flows.command import CommandFlow
from netlab.agent.flows.ping import PingFlow
from netlab.agent.flows.tcp import TcpFlow
from netlab.agent.flows.udp import UdpFlow
from netlab.agent.network import Network
from netlab.base.errors import RunError, ThroughputError, one_of
from netlab.protocol.plan import AgentPlan

RUNNERS: dict[str, type[Flow[Any]]] = {"tcp": TcpFlow, "udp": UdpFlow, "ping": PingFlow, "command": CommandFlow}
FIRST_PORT = 5001

__all__ = ["RUNNERS", "Flow", "FlowContext", "make_flows"]


def make_flows(
    plan: AgentPlan, network: Network, keeper: ArtifactStore, number: int = 1, port: int = FIRST_PORT
) -> list[Flow[Any]]:
    """One object for each item of the plan's traffic, with its sockets open; the first has this number and port.

    Raises RunError when the agent does not know a kind, or cannot set an item up.
    """
    made: list[Flow[Any]] = []
    for item in plan["traffic"]:
        kind, label = item["kind"], item["label"]
        if kind not in RUNNERS:
            raise RunError(f"{label}: the agent does not know this kind of traffic: {one_of(kind, list(RUNNERS))}.")
        try:
            made.append(RUNNERS[kind](item, FlowContext(plan, network, keeper, number + len(made), port)))
        except (OSError, ThroughputError) as error:
            raise RunError(f"{label} could not be set up: {error}") from None
        port += made[-1].ports
    return made
