"""From a described network to what must be configured: subnets, addresses, routes and neighbours."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

import networkx as nx

from netlab import plan
from netlab.errors import ScenarioError
from netlab.network.wiring import Hop, Wiring


@dataclass(frozen=True)
class Port:
    """An interface of a host or router in its subnet."""

    node: str
    interface: str
    subnet: int
    address: str
    mac: str


@dataclass
class Plan:
    """Everything the agent configures beside the shaping; addresses are IPv4, prefixes are /24."""

    ports: list[Port]
    macs: dict[str, str]
    routes: list[plan.Route]
    primary: dict[str, str] = field(default_factory=dict)

    def to_dict(self) -> plan.Addressing:
        """The plan as plain data for the agent."""
        neighbours: list[plan.Neighbour] = [
            {"node": at.node, "interface": at.interface, "address": other.address, "mac": other.mac}
            for at in self.ports
            for other in self.ports
            if at.subnet == other.subnet and at.node != other.node
        ]
        return {
            "addresses": [{"node": p.node, "interface": p.interface, "address": f"{p.address}/24"} for p in self.ports],
            "macs": self.macs,
            "routes": self.routes,
            "neighbours": neighbours,
            "primary": self.primary,
        }


class Paths:
    """The ways that packets take when they follow the routes of `make_plan`; for many questions about one network."""

    def __init__(self, wiring: Wiring) -> None:
        self._nodes = wiring
        self._plan = make_plan(wiring)
        self._port_at = {port.address: port for port in self._plan.ports}
        self._ports_of: dict[str, dict[int, Port]] = {}
        for port in self._plan.ports:
            # Of two interfaces in one subnet the kernel uses the one it was told of first.
            self._ports_of.setdefault(port.node, {}).setdefault(port.subnet, port)
        self._next_hop = {(route["node"], route["to"]): self._port_at[route["via"]] for route in self._plan.routes}
        self._cables, self._crossed = _cables(wiring)

    def hops(self, src: str, dst: str) -> list[Hop]:
        """The hops that a packet from `src` to `dst` takes, in order; none from a node to itself.

        Raises
        ------
        ScenarioError
            When a name is unknown or a switch, or no path exists.
        """
        for name in (src, dst):
            if name not in self._nodes.nodes:
                raise ScenarioError([f"there is no node {name!r}; nodes are {', '.join(self._nodes.nodes)}"])
            if name in self._nodes.switches:
                raise ScenarioError([f"{name} is a switch and has no address; name a host or a router"])
        no_path = ScenarioError([f"there is no path from {src} to {dst}; join them with links and routers"])
        if src not in self._ports_of or dst not in self._ports_of:
            raise no_path
        target = self._port_at[self._plan.primary[dst]]
        crossed: list[Hop] = []
        here = src
        while here != dst:
            following = target
            if target.subnet not in self._ports_of[here]:
                gateway = self._next_hop.get((here, _prefix(target.subnet)))
                if gateway is None:
                    raise no_path
                following = gateway
            leaving = self._ports_of[here][following.subnet]
            stops = nx.shortest_path(self._cables, leaving.interface, following.interface)
            crossed.extend(self._crossed[pair] for pair in itertools.pairwise(stops))
            here = following.node
        return crossed


def make_plan(wiring: Wiring) -> Plan:
    """Number the subnets, give out addresses and find the routes, the same way for the same wiring.

    Each set of links joined by switches is one subnet, 10.A.B.0/24 with A·256 + B its number from 1. Routes follow the
    fewest hops; among equals, the link named first in the wiring.
    """
    subnet_of = _subnets(wiring)
    ports: list[Port] = []
    macs: dict[str, str] = {}
    used = dict.fromkeys(set(subnet_of.values()), 0)
    for number, hop in enumerate(wiring.hops, start=1):
        macs[hop.interface] = f"02:00:00:00:{number >> 8:02x}:{number & 0xFF:02x}"
        if hop.src in wiring.switches:
            continue
        subnet = subnet_of[hop.interface]
        used[subnet] += 1
        if used[subnet] > 254:
            raise ScenarioError([f"{used[subnet]} interfaces share one switched network; 254 is the most"])
        address = f"10.{subnet >> 8}.{subnet & 0xFF}.{used[subnet]}"
        ports.append(Port(hop.src, hop.interface, subnet, address, macs[hop.interface]))
    primary: dict[str, str] = {}
    for port in ports:
        primary.setdefault(port.node, port.address)
    return Plan(ports, macs, _routes(wiring, ports), primary)


def _prefix(subnet: int) -> str:
    return f"10.{subnet >> 8}.{subnet & 0xFF}.0/24"


def _cables(wiring: Wiring) -> tuple[nx.Graph, dict[tuple[str, str], Hop]]:
    """Which interface is wired to which, all ports of a switch being one place, and the direction of each such step."""
    graph = nx.Graph()
    steps: dict[tuple[str, str], Hop] = {}
    for hop in wiring.hops:
        ends = [
            f"switch {node}" if node in wiring.switches else interface
            for node, interface in ((hop.src, hop.interface), (hop.dst, hop.dst_interface))
        ]
        graph.add_edge(*ends)
        steps[ends[0], ends[1]] = hop
    return graph, steps


def _subnets(wiring: Wiring) -> dict[str, int]:
    joined = nx.Graph()
    for forward, backward in zip(wiring.hops[::2], wiring.hops[1::2], strict=True):
        joined.add_edge(forward.interface, backward.interface)
        for end in (forward, backward):
            if end.src in wiring.switches:
                joined.add_edge(end.interface, f"switch {end.src}")
    numbers: dict[str, int] = {}
    for number, members in enumerate(nx.connected_components(joined), start=1):
        numbers.update((name, number) for name in members if not name.startswith("switch "))
    return numbers


def _routes(wiring: Wiring, ports: list[Port]) -> list[plan.Route]:
    attached: dict[int, list[Port]] = {}
    own: dict[str, set[int]] = {}
    for port in ports:
        attached.setdefault(port.subnet, []).append(port)
        own.setdefault(port.node, set()).add(port.subnet)
    routers = set(wiring.routers)
    between = nx.Graph()
    for port in ports:
        if port.node in routers:
            between.add_edge(port.node, port.subnet)
    routes: list[plan.Route] = []
    for subnet in attached:
        distance = nx.single_source_shortest_path_length(between, subnet) if subnet in between else {}
        for node, subnets in own.items():
            if subnet in subnets:
                continue
            gateways = [
                port
                for mine in sorted(subnets)
                for port in attached[mine]
                if port.node in routers and port.node != node and port.node in distance
            ]
            if gateways:
                nearest = min(gateways, key=lambda port: distance[port.node])
                routes.append({"node": node, "to": _prefix(subnet), "via": nearest.address})
    return routes
