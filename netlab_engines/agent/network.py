"""Build the network of a plan with Mininet's nodes, links and names.

Mininet itself starts a bash and a pty per node and several processes per link. Here a node is only a namespace, and the
configuration goes to the kernel over a netlink socket, in one batch per namespace.
"""

import os
import socket
import sys
import time
from pathlib import Path
from typing import Any

from netlab_engines.agent.replacements import provide_distutils

if sys.version_info >= (3, 12):
    provide_distutils()

from mininet.link import Intf, Link
from mininet.net import Mininet
from mininet.node import Node, Switch

from netlab.base.errors import RunError
from netlab.plan import Plan
from netlab_engines.agent.medium import RING_FRAMES, Medium, open_tap
from netlab_engines.agent.namespaces import create_namespace, enter_namespace, is_running
from netlab_engines.agent.netlink_socket import NetlinkSocket
from netlab_engines.netlink.ip_lines import node_lines
from netlab_engines.netlink.qdiscs import Queueing
from netlab_engines.planning import messages
from netlab_engines.planning.settings import QUEUES_AT_NS
from netlab_engines.protocol.requests import AgentPlan
from netlab_engines.sockets.moments import sleep_until_ns

LINK_PATIENCE_S = 10.0


class NamespaceNode:
    """A Mininet node without a shell: only namespaces, kept open by the thread whose id is `pid`, in which `popen`
    starts programs.
    """

    name: str

    @classmethod
    def setup(cls) -> None:
        """Do nothing, in place of Mininet's look for programs such as ifconfig, which these nodes do not need."""

    def startShell(self, mnopts: str | None = None) -> None:  # noqa: N802 (Mininet's name)
        """Create the node's namespaces, with its name as the host name, and set `pid` to the id of the thread that
        keeps them open; no shell is started, and `mnopts` is ignored. Raises OSError if the kernel refuses.
        """
        self.pid = create_namespace(self.name)


class PlanHost(NamespaceNode, Node):  # type: ignore[misc]
    """A host or a router of the plan, as a namespace."""


class PlanBridge(NamespaceNode, Switch):  # type: ignore[misc]
    """A learning switch of the plan: a Linux bridge in a namespace of its own."""

    def start(self, _controllers: Any = None) -> None:
        """Do nothing: `Network.configure` sets the bridge up. The controllers are ignored."""


class BatchedLink(Link):  # type: ignore[misc]
    """A Mininet link whose veth pair is made together with all others (`messages.veth_messages`), or which has the two
    TAPs of a medium.
    """

    @classmethod
    def makeIntfPair(cls, *_arguments: Any, **_keywords: Any) -> None:  # noqa: N802 (Mininet's name)
        """Do nothing and ignore all arguments, in place of Mininet's making of a veth pair: `Network` makes the pairs
        of all links together.
        """


class PlannedIntf(Intf):  # type: ignore[misc]
    """A Mininet interface that is configured from the plan, not by ifconfig."""

    def config(self, **params: Any) -> dict[str, Any]:
        """Return an empty dict and ignore `params`: `Network.configure` sets addresses in place of Mininet's
        ifconfig.
        """
        return {}


def mininet_network(plan: Plan, host: type[Node], switch: type[Node], interface: type[Intf]) -> Mininet:
    """Return a Mininet object, not built, with the nodes, links and addresses of a plan, for its prompt and names. Its
    hosts and routers have the class `host`, its switches `switch` and its interfaces `interface`, and these classes
    decide what is made in the kernel.
    """
    # Without this Mininet would change the limits of the whole machine; here the plan sets those of the namespaces.
    Mininet.inited = True
    net = Mininet(build=False, controller=None, link=BatchedLink, intf=interface)
    for name in [*plan["hosts"], *plan["routers"]]:
        net.addHost(name, cls=host, ip=None)
    for number, name in enumerate(plan["switches"], start=1):
        net.addSwitch(name, cls=switch, dpid=f"{number:x}", inNamespace=True)
    for forward, backward in zip(plan["directions"][::2], plan["directions"][1::2], strict=True):
        addr1, addr2 = (plan["macs"][way["interface"]] for way in (forward, backward))
        net.addLink(forward["src"], forward["dst"], addr1=addr1, addr2=addr2)
    for own in plan["addresses"]:
        found = net[own["node"]].nameToIntf[own["interface"]]
        found.ip, _, found.prefixLen = own["address"].partition("/")
    return net


class Network:
    """The running network of a plan in the guest: its namespaces by the name of the node (`nodes`), its links and its
    shared media.
    """

    def __init__(self, plan: AgentPlan) -> None:
        """Set the kernel settings of the whole guest, and make the namespaces, veth pairs and TAPs of the plan in the
        kernel; `configure` sets addresses and queues. Raises RunError if the kernel refuses a setting, a message or a
        TAP, and OSError if it refuses a namespace.
        """
        self.plan = plan
        for key, value in plan["machine_sysctls"].items():
            set_sysctl(key, value, "the guest")
        self.media: list[Medium] = []
        self.nodes: dict[str, Any] = dict(mininet_network(plan, PlanHost, PlanBridge, PlannedIntf).items())
        self._routing = {name: NetlinkSocket(node.pid) for name, node in self.nodes.items()}
        self._files: dict[str, int] = {}
        for name, interface in self._taps():
            self._files[interface] = open_tap(interface, self.pid(name))
            with enter_namespace(self.pid(name)):
                self._routing[name].interfaces.note(interface, socket.if_nametoindex(interface))
        self._make_links()

    def _taps(self) -> list[tuple[str, str]]:
        """Return a list of pairs of names, of the node and of the interface, for each end of the links with a shared
        medium, in the order of the plan's directions.
        """
        return [(d["src"], d["interface"]) for d in self.plan["directions"] if d["shape"]["medium"] is not None]

    def _make_links(self) -> None:
        """Make all veth pairs of the plan, in one batch of messages per node. Raises RunError if the kernel refuses
        one.
        """
        spaces = {name: os.open(f"/proc/{node.pid}/ns/net", os.O_RDONLY) for name, node in self.nodes.items()}
        numbers = {name: routing.interfaces for name, routing in self._routing.items()}
        for name, lines in messages.veth_messages(self.plan, numbers, spaces.__getitem__).items():
            self._routing[name].send(lines)
        for space in spaces.values():
            os.close(space)

    def configure(self, ip_lines: dict[str, list[str]], queueing: dict[str, list[Queueing]]) -> None:
        """Set the kernel settings, addresses, routes, neighbours, offloads and queues of all nodes, wait until all
        links are up, and start the shared media; to be called once. By the node's name, `ip_lines` has further
        arguments of `ip`, one command per text, and `queueing` the queues and filters in their order. In virtual time
        the queues are made at a round time. Raises RunError if the kernel refuses one or a link stays down.
        """
        lines: dict[str, list[str]] = {name: [] for name in self.nodes}
        for name, interface in self._taps():
            mac = self.plan["macs"][interface]
            lines[name].append(f"link set dev {interface} address {mac} txqueuelen {RING_FRAMES}")
        for name, own_lines in node_lines(self.plan).items():
            lines[name] += own_lines
        for name, node in self.nodes.items():
            with enter_namespace(node.pid):
                for key, value in messages.node_sysctls(self.plan, name).items():
                    set_sysctl(key, value, name)
            routing = self._routing[name]
            routing.send(
                messages.configuration_messages([*lines[name], *ip_lines.get(name, [])], [], routing.interfaces)
            )
        if self.plan["clock"] == "virtual":
            sleep_until_ns(-(-time.monotonic_ns() // QUEUES_AT_NS) * QUEUES_AT_NS)
        for name, routing in self._routing.items():
            routing.send(messages.configuration_messages([], queueing.get(name, []), routing.interfaces))
        for routing in self._routing.values():
            routing.close()
        self._wait_for_links()
        hops = self.plan["directions"]
        self.media = [
            Medium(forward, backward, self._files, self.plan["seed"])
            for forward, backward in zip(hops[::2], hops[1::2], strict=True)
            if forward["shape"]["medium"] is not None
        ]
        for medium in self.media:
            medium.start()

    def _wait_for_links(self) -> None:
        """Wait until all interfaces of the plan's links are up and have a carrier. Raises RunError, which names the
        interface, after LINK_PATIENCE_S s.
        """
        # A veth learns of its peer's carrier up to a second later; until then it drops packets.
        deadline_s = time.monotonic() + LINK_PATIENCE_S
        interfaces: dict[str, list[str]] = {}
        for hop in self.plan["directions"]:
            interfaces.setdefault(hop["src"], []).append(hop["interface"])
        for name, own in interfaces.items():
            with enter_namespace(self.pid(name)):
                for interface in own:
                    while not is_running(interface):
                        if time.monotonic() > deadline_s:
                            raise RunError(f"The interface {interface} did not come up.")
                        time.sleep(0.02)

    def write_names(self) -> None:
        """Replace /etc/hosts by lines with the first address and the name of each node that has an address, and
        localhost, so that programs find nodes by name.
        """
        lines = {"localhost": "127.0.0.1"}
        for item in self.plan["addresses"]:
            lines.setdefault(item["node"], item["address"].partition("/")[0])
        Path("/etc/hosts").write_text("".join(f"{address} {name}\n" for name, address in lines.items()))

    def pid(self, name: str) -> int:
        """Return the id of the thread or process that keeps the namespace of the node `name` open."""
        return int(self.nodes[name].pid)


def set_sysctl(key: str, value: str, where: str) -> None:
    """Set the sysctl `key`, such as "net.ipv4.ip_forward", to the text `value` in the network namespace of the calling
    thread. `where` names the place in the RunError that is raised if the kernel refuses.
    """
    try:
        Path("/proc/sys", key.replace(".", "/")).write_text(value)
    except OSError as error:
        raise RunError(f"The setting {key} = {value} was refused in {where}: {error.strerror}.") from None
