"""What a planned network is told, node by node: the one description, for the agent and for the library kernel alike."""

from collections.abc import Callable, Mapping

from netlab.agent.settings import STATIC_SYSCTLS
from netlab.netlink import links
from netlab.netlink.ip_lines import Interfaces, ip_line
from netlab.netlink.qdiscs import Queueing
from netlab.netlink.wire import Lines
from netlab.protocol.plan import Plan


def pairs(plan: Plan, interfaces: Mapping[str, Interfaces], space: Callable[[str], int]) -> dict[str, Lines]:
    """Every veth pair, by the node that makes it; links with a medium are none.

    `interfaces` gives the new ones their numbers, `space` the descriptor of a node's namespace, both by the node's
    name.
    """
    macs = plan["macs"]
    found: dict[str, Lines] = {}
    for forward, backward in zip(plan["directions"][::2], plan["directions"][1::2], strict=True):
        if forward["shape"]["medium"] is not None:
            continue
        near, far = forward["interface"], backward["interface"]
        here, there = forward["src"], forward["dst"]
        made = links.veth(
            interfaces[here].make(near), near, macs[near], interfaces[there].make(far), far, macs[far], space(there)
        )
        found.setdefault(here, []).append((f"link add name {near} type veth peer name {far}", made))
    return found


def settings(plan: Plan, name: str) -> dict[str, str]:
    """The kernel settings of a node."""
    forward = {"net.ipv4.ip_forward": "1"} if name in plan["routers"] else {}
    return {**STATIC_SYSCTLS, **plan["sysctls"], **forward}


def configuration(ip_lines: list[str], queueing: list[Queueing], own: Interfaces) -> Lines:
    """A node's interfaces, addresses, routes and neighbours, then its queues.

    Raises UnknownLineError for an `ip` line that is none of netlab's.
    """
    messages = [(f"ip {line}", ip_line(line, own)) for line in ip_lines]
    return messages + [(f"tc {each.line}", each.message(own)) for each in queueing]
