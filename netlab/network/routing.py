"""Addressing of a network: subnets, addresses, routes and neighbours."""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from netlab import plan
from netlab.base.errors import ScenarioError
from netlab.network.wiring import NetworkHop, Wiring

MAX_ADDRESSES = 254
MAX_SUBNETS = 65_535
NUMBER_BITS = 16
"""The bits of a subnet's number in its prefix 10.A.B.0/24."""

ANY_ADDRESS = "0.0.0.0/0"

_Key = TypeVar("_Key", int, str)
Gateway = str
"""The address of the next node."""


@dataclass(frozen=True)
class Port:
    """An interface of a host or router, with its subnet's number (from 1), its IPv4 and its MAC address."""

    node: str
    interface: str
    subnet: int
    address: str
    mac: str


class Paths:
    """The addresses and routes of a network, and the paths of packets that follow them; for many queries."""

    def __init__(self, wiring: Wiring) -> None:
        """Number the subnets of a network and assign addresses. Raises ScenarioError if there are too many."""
        self._wiring = wiring
        self._routers = frozenset(wiring.routers)
        self._switches = frozenset(wiring.switches)
        self._node_names = frozenset(wiring.nodes)
        self._hop_from = {hop.interface: hop for hop in wiring.hops}
        self._from_switch: dict[str, list[NetworkHop]] = {}
        for hop in wiring.hops:
            if hop.src in self._switches:
                self._from_switch.setdefault(hop.src, []).append(hop)
        self._ports = _ports(wiring)
        self._ports_of = _group_ports(self._ports, lambda port: port.node)
        self._port_on: dict[str, dict[int, Port]] = {}
        for port in self._ports:
            # If a node has two interfaces in one subnet, the kernel uses the one that was configured first.
            self._port_on.setdefault(port.node, {}).setdefault(port.subnet, port)
        self._subnets = sorted({port.subnet for port in self._ports})
        self._router_ports = _group_ports(
            (port for port in self._ports if port.node in self._routers), lambda port: port.subnet
        )
        # Subnets with the same routers have the same distance from everywhere, and most have one router.
        self._routers_on = {
            subnet: frozenset(port.node for port in self._router_ports.get(subnet, ())) for subnet in self._subnets
        }
        # The ports of routers next to each node, in the order of the node's subnets: of several at the same distance the first is taken.
        self._gateways = {
            node: [port for subnet in sorted(own) for port in self._router_ports.get(subnet, ()) if port.node != node]
            for node, own in self._port_on.items()
        }
        self._distances_to: dict[frozenset[str], dict[str, int]] = {}
        self._gateway_of: dict[tuple[str, frozenset[str]], Port | None] = {}

    def hops(self, src: str, dst: str) -> list[NetworkHop]:
        """Return the hops of a packet from `src` to `address(src, dst)`, in order; none from a node to itself. Raises
        ScenarioError when a name is unknown or a switch, or no path exists.
        """
        return self._nearest_address(src, dst)[1]

    def address(self, src: str, dst: str) -> str:
        """Return the IPv4 address of the node `dst` that is nearest to `src`: over the fewest nodes; among several,
        that of the interface at which a packet arrives, then that of the first interface. Raises ScenarioError when a
        name is unknown or a switch, or no path exists.
        """
        return self._nearest_address(src, dst)[0]

    def next_address(self, src: str, dst: str) -> Gateway:
        """Return the next address from `src` to `address(src, dst)`, a router's or `dst`'s; ScenarioError if none."""
        return self._nearest_address(src, dst)[2]

    def _nearest_address(self, src: str, dst: str) -> tuple[str, list[NetworkHop], Gateway]:
        """Return `dst`'s nearest address to `src`, the hops to it, the next node's address; ScenarioError if none."""
        for name in (src, dst):
            if name not in self._node_names:
                raise ScenarioError([f"there is no node {name!r}; nodes are {', '.join(self._wiring.nodes)}"])
            if name in self._switches:
                raise ScenarioError([f"{name} is a switch and has no address; name a host or a router"])
        targets = self._ports_of.get(dst, [])
        if src == dst and targets:
            return targets[0].address, [], targets[0].address
        ways = [(target, self._ports_on_way(src, target)) for target in self._one_per_distance(src, targets)]
        passable = [(target, passed) for target, passed in ways if passed is not None]
        if not passable:
            raise ScenarioError([f"there is no path from {src} to {dst}; join them with links and routers"])
        target, passed = min(passable, key=lambda way: (len(way[1]), way[1][-1][1] is not way[0]))
        crossed: list[NetworkHop] = []
        for leaving, entered in passed:
            crossed.extend(self._hops_between(leaving.interface, entered.interface))
        return target.address, crossed, passed[0][1].address

    def _ports_on_way(self, src: str, target: Port) -> list[tuple[Port, Port]] | None:
        """Return the sending and receiving ports of each step from `src` to a port; None without a route by routers."""
        node = src
        passed: list[tuple[Port, Port]] = []
        while node != target.node:
            if passed and node not in self._routers:
                return None
            following = self._next_port(node, target)
            if following is None:
                return None
            passed.append((self._port_on[node][following.subnet], following))
            node = following.node
        return passed

    def addressing(self) -> plan.Addressing:
        """Return the addresses, MAC addresses, routes and ARP entries of all nodes, in the plan's form."""
        by_subnet = _group_ports(self._ports, lambda port: port.subnet)
        return {
            "addresses": [
                {"node": port.node, "interface": port.interface, "address": f"{port.address}/24"}
                for port in self._ports
            ],
            "macs": {hop.interface: _mac(number) for number, hop in enumerate(self._wiring.hops, start=1)},
            "routes": self._routes(),
            "neighbours": [
                {"node": interface.node, "interface": interface.interface, "address": peer.address, "mac": peer.mac}
                for interface in self._ports
                for peer in by_subnet[interface.subnet]
                if interface.node != peer.node
            ],
        }

    def _hops_between(self, src: str, dst: str) -> list[NetworkHop]:
        """Return the hops from interface `src` to `dst` of one subnet, in order: over one link, or through its switches."""
        ahead = deque([[self._hop_from[src]]])
        while ahead:
            crossed = ahead.popleft()
            last = crossed[-1]
            if last.dst_interface == dst:
                return crossed
            for hop in self._from_switch.get(last.dst, ()):
                if hop.interface != last.dst_interface and (hop.dst in self._switches or hop.dst_interface == dst):
                    ahead.append([*crossed, hop])
        raise AssertionError(f"{src} and {dst} are in one subnet")

    def _next_port(self, node: str, target: Port) -> Port | None:
        """Return the port to which `node` sends a packet for the port `target`; None where it has no route."""
        if target.subnet in self._port_on.get(node, ()):
            return target
        gateway = self._gateway(node, target.subnet)
        if gateway is not None:
            return gateway
        if target.node in self._routers:
            return None
        # A host answers at each of its addresses (Linux is a weak host, RFC 1122, section 3.3.4.2), so an address in a
        # subnet without a router is reached through the host's other subnets.
        others = [port for port in self._ports_of[target.node] if port.subnet != target.subnet]
        neighbouring = [port for port in others if port.subnet in self._port_on.get(node, ())]
        if neighbouring:
            return neighbouring[0]
        near = [
            (self._distances(self._routers_on[port.subnet])[found.node], found)
            for port in others
            if (found := self._gateway(node, port.subnet))
        ]
        return min(near, key=lambda way: way[0])[1] if near else None

    def _one_per_distance(self, node: str, targets: Sequence[Port]) -> list[Port]:
        """Return the first of each group of ports at the same distance from `node`, such as those of a router."""
        first: dict[Any, Port] = {}
        for target in targets:
            adjacent = target.subnet in self._port_on.get(node, ())
            first.setdefault(target.subnet if adjacent else self._routers_on[target.subnet] or target.subnet, target)
        return list(first.values())

    def _routes(self) -> list[plan.Route]:
        """Return the routes, node by node: a host's default over its only router, else prefixes, then addresses."""
        found: list[plan.Route] = []
        several = [port for port in self._ports if port.node not in self._routers and len(self._port_on[port.node]) > 1]
        for node in self._ports_of:
            if node not in self._routers and len(self._gateways[node]) == 1:
                found.append({"node": node, "to": ANY_ADDRESS, "via": self._gateways[node][0].address})
                continue
            next_at = {
                subnet: gateway.address
                for subnet in self._subnets
                if subnet not in self._port_on[node] and (gateway := self._gateway(node, subnet)) is not None
            }
            found += [
                {"node": node, "to": to, "via": via} for to, via in aggregate_prefixes(next_at, self._port_on[node])
            ]
            found += [
                {"node": node, "to": f"{target.address}/32", "via": following.address}
                for target in several
                if target.node != node
                and target.subnet not in self._port_on[node]
                and self._gateway(node, target.subnet) is None
                and (following := self._next_port(node, target)) is not None
            ]
        return found

    def _gateway(self, node: str, subnet: int) -> Port | None:
        """Return the router's port next to `node` that is nearest to subnet number `subnet`; None if no way exists."""
        routers = self._routers_on[subnet]
        if not routers or node not in self._gateways:
            return None
        key = (node, routers)
        if key not in self._gateway_of:
            far = self._distances(routers)
            able = [port for port in self._gateways[node] if port.node in far]
            self._gateway_of[key] = min(able, key=lambda port: far[port.node], default=None)
        return self._gateway_of[key]

    def _distances(self, routers: frozenset[str]) -> dict[str, int]:
        """Return each router's number of hops to the nearest of `routers`; without those that cannot reach one."""
        if routers not in self._distances_to:
            far = dict.fromkeys(routers, 0)
            ahead = deque(sorted(routers))
            while ahead:
                node = ahead.popleft()
                for port in self._gateways[node]:
                    if port.node not in far:
                        far[port.node] = far[node] + 1
                        ahead.append(port.node)
            self._distances_to[routers] = far
        return self._distances_to[routers]


def plan_addresses(wiring: Wiring) -> plan.Addressing:
    """Return a network's addresses, MACs, routes and ARP entries, always the same; ScenarioError if too many.

    Each set of links joined by switches is one subnet, 10.A.B.0/24, with A·256 + B its number from 1. Routes follow the
    fewest hops; among equals, the link that is first in the topology. Subnets behind the same neighbour share a route
    where their numbers allow it, and a host with a single neighbouring router has only a default route. Every two ports
    that can exchange frames are static neighbours, so that no ARP is needed.
    """
    return Paths(wiring).addressing()


def _mac(number: int) -> str:
    """Return the MAC address of the interface with this number in the wiring, from 1."""
    return f"02:00:00:{number >> 16:02x}:{number >> 8 & 0xFF:02x}:{number & 0xFF:02x}"


def _ports(wiring: Wiring) -> list[Port]:
    """Return the ports of all hosts and routers with addresses. Raises ScenarioError if there are too many."""
    subnet_of = _subnets(wiring)
    switches = frozenset(wiring.switches)
    used: dict[int, int] = {}
    ports = []
    for number, hop in enumerate(wiring.hops, start=1):
        if hop.src in switches:
            continue
        subnet = subnet_of[hop.interface]
        if subnet > MAX_SUBNETS:
            raise ScenarioError([f"the topology has more than {MAX_SUBNETS} networks; that is the most"])
        used[subnet] = used.get(subnet, 0) + 1
        address = f"10.{subnet >> 8}.{subnet & 0xFF}.{used[subnet]}"
        ports.append(Port(hop.src, hop.interface, subnet, address, _mac(number)))
    for interfaces in used.values():
        if interfaces > MAX_ADDRESSES:
            raise ScenarioError([f"{interfaces} interfaces share one switched network; {MAX_ADDRESSES} is the most"])
    return ports


def _subnets(wiring: Wiring) -> dict[str, int]:
    """Return the number of each interface's subnet, from 1 in the links' order; switches join links to one."""
    switches = frozenset(wiring.switches)
    joined: dict[str, str] = {}

    def root(name: str) -> str:
        """Return the representative of the set that contains an interface or switch (union-find)."""
        while joined.setdefault(name, name) != name:
            joined[name] = joined[joined[name]]
            name = joined[name]
        return name

    ends = {hop.interface: f"switch {hop.src}" if hop.src in switches else hop.interface for hop in wiring.hops}
    for hop in wiring.hops:
        joined[root(ends[hop.interface])] = root(ends[hop.dst_interface])
    numbers: dict[str, int] = {}
    return {name: numbers.setdefault(root(end), len(numbers) + 1) for name, end in ends.items()}


def aggregate_prefixes(next_at: dict[int, Gateway], own: Iterable[int]) -> list[tuple[str, Gateway]]:
    """Return the fewest prefixes, each with its gateway, that are equivalent to `next_at`, the gateway for each
    subnet's number; they may cover the node's own subnets `own`.

    A subnet of the node's own has a longer prefix than any that covers it, so the kernel prefers it. A number without a
    subnet is never covered: a packet to an unused address must be dropped and not circulate.

    Examples
    --------
    >>> aggregate_prefixes({2: "10.0.1.2", 3: "10.0.1.2", 4: "10.0.1.2", 6: "10.0.5.1"}, own={1, 5})
    [('10.0.2.0/23', '10.0.1.2'), ('10.0.4.0/23', '10.0.1.2'), ('10.0.6.0/24', '10.0.5.1')]
    """
    # Each block of 2**k numbers has one gateway, or None if all its subnets are the node's own.
    blocks: dict[int, Gateway | None] = {**dict.fromkeys(own), **next_at}
    found: list[tuple[int, int, Gateway]] = []
    for bits in range(NUMBER_BITS + 1):
        larger: dict[int, Gateway | None] = {}
        for number, gateway in blocks.items():
            if number ^ 1 in blocks:
                other = blocks[number ^ 1]
                if gateway is None or other is None or gateway == other:
                    larger[number >> 1] = gateway if gateway is not None else other
                    continue
            if gateway is not None:
                found.append((number << bits, 24 - bits, gateway))
        blocks = larger
    return [(f"10.{first >> 8}.{first & 0xFF}.0/{length}", gateway) for first, length, gateway in sorted(found)]


def _group_ports(ports: Iterable[Port], key_of: Callable[[Port], _Key]) -> dict[_Key, list[Port]]:
    """Return the ports in lists, by the key that `key_of` returns for each."""
    found: dict[_Key, list[Port]] = {}
    for port in ports:
        found.setdefault(key_of(port), []).append(port)
    return found
