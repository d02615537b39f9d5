"""The netlink messages and kernel settings that configure each node of a plan, for the agent and for the library kernel."""

from collections.abc import Callable, Mapping

from netlab.plan import Plan
from netlab_engines.netlink import links
from netlab_engines.netlink.ip_lines import Interfaces, ip_line
from netlab_engines.netlink.qdiscs import Queueing
from netlab_engines.netlink.wire import Lines
from netlab_engines.planning.settings import STATIC_SYSCTLS


def veth_messages(plan: Plan, interfaces: Mapping[str, Interfaces], space: Callable[[str], int]) -> dict[str, Lines]:
    """Return the netlink messages that make the veth pairs of a plan's links, as pairs of a command line for errors and
    the message's bytes, in lists by the name of the node that sends them; links with a medium have no pair.
    `interfaces` gives each node's new interfaces their numbers, and `space` returns the file descriptor of a node's
    network namespace by the node's name.
    """
    macs = plan["macs"]
    found: dict[str, Lines] = {}
    for forward, backward in zip(plan["directions"][::2], plan["directions"][1::2], strict=True):
        if forward["shape"]["medium"] is not None:
            continue
        near, far = forward["interface"], backward["interface"]
        src, dst = forward["src"], forward["dst"]
        message = links.veth(
            interfaces[src].make(near), near, macs[near], interfaces[dst].make(far), far, macs[far], space(dst)
        )
        found.setdefault(src, []).append((f"link add name {near} type veth peer name {far}", message))
    return found


def node_sysctls(plan: Plan, name: str) -> dict[str, str]:
    """Return the kernel settings of the node with the name `name` in a plan: values as texts by the names of the
    sysctls, such as "net.ipv4.ip_forward", which is "1" for routers.
    """
    forward = {"net.ipv4.ip_forward": "1"} if name in plan["routers"] else {}
    return {**STATIC_SYSCTLS, **plan["sysctls"], **forward}


def configuration_messages(ip_lines: list[str], queueing: list[Queueing], own: Interfaces) -> Lines:
    """Return the netlink messages that configure one node, as pairs of a command line for errors and the message's
    bytes: first those of `ip_lines` (lines of `ip` without that word), then those of the queues and filters in
    `queueing`. `own` has the numbers of the node's interfaces, and gets those of interfaces that a line makes. Raises
    UnknownLineError for an `ip` line that netlab cannot translate, and KeyError for an interface that is not in `own`.
    """
    messages = [(f"ip {line}", ip_line(line, own)) for line in ip_lines]
    return messages + [(f"tc {each.line}", each.message(own)) for each in queueing]
