"""Routes: followed hop by hop, interface by interface, as the nodes themselves would."""

from __future__ import annotations

import ipaddress
from collections import deque
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import netlab as nl
from netlab.base.errors import ScenarioError
from netlab.network.routing import Paths, aggregate_prefixes, plan_addresses
from tests.examples import examples
from tests.networks import networks


class Follower:
    """Forwards by nothing but the agent's plan and the wires: what the configured kernels do."""

    def __init__(self, topology: nl.Topology) -> None:
        self.topology = topology
        self.plan = plan_addresses(topology.wiring())
        self.owner = {item["address"].partition("/")[0]: item["node"] for item in self.plan["addresses"]}
        self.interface = {item["address"].partition("/")[0]: item["interface"] for item in self.plan["addresses"]}
        self.told = {(n["node"], n["interface"], n["address"]) for n in self.plan["neighbours"]}
        self.leads_to: dict[str, tuple[str, str]] = {
            way.interface: (way.dst, way.dst_interface) for way in topology.hops()
        }

    def wired(self, start: str, node: str) -> dict[str, int]:
        """Interfaces of hosts and routers that a frame from interface `start` of `node` reaches, and over how many links."""
        found: dict[str, int] = {}
        ahead: deque[tuple[str, int]] = deque([(start, 0)])
        seen = {start}
        while ahead:
            out, crossed = ahead.popleft()
            other, arrived = self.leads_to[out]
            if other not in self.topology.switches:
                found.setdefault(arrived, crossed + 1)
                continue
            for way in self.topology.hops():
                if way.src == other and way.interface not in seen and way.interface != arrived:
                    seen.add(way.interface)
                    ahead.append((way.interface, crossed + 1))
        return found

    def known_neighbours(self, node: str) -> set[str]:
        """Addresses of neighbours for which `node` need not ask."""
        return {address for at, _, address in self.told if at == node}

    def follow(self, src: str, dst: str, address: str = "") -> tuple[list[str], int]:
        """Hosts and routers on the way to an address of `dst`, its first if none is given, and the number of links."""
        address = address or next(first for first, node in self.owner.items() if node == dst)
        here, hops, crossed = src, [src], 0
        while here != dst:
            assert len(hops) <= len(self.topology.nodes), f"loop: {hops}"
            assert here == src or here in self.topology.routers, f"through a host: {hops}"
            own = [item for item in self.plan["addresses"] if item["node"] == here]
            direct = [i for i in own if ipaddress.ip_address(address) in ipaddress.ip_interface(i["address"]).network]
            if direct:
                next_address = address
            else:
                able = [r for r in self.plan["routes"] if r["node"] == here and in_prefix(address, r["to"])]
                assert able, f"{here} has no route to {address}"
                longest = max(ipaddress.ip_network(r["to"]).prefixlen for r in able)
                via = [r["via"] for r in able if ipaddress.ip_network(r["to"]).prefixlen == longest]
                assert len(via) == 1, f"{here} has {len(via)} routes to {address}"
                next_address = via[0]
            leaving = next(i for i in own if in_prefix(next_address, str(ipaddress.ip_interface(i["address"]).network)))
            reached = self.wired(leaving["interface"], here)
            assert self.interface[next_address] in reached, f"{here} cannot reach {next_address}"
            crossed += reached[self.interface[next_address]]
            assert (here, leaving["interface"], next_address) in self.told, f"{here} would ask for {next_address}"
            here = self.owner[next_address]
            hops.append(here)
        return hops, crossed


def in_prefix(address: str, prefix: str) -> bool:
    return ipaddress.ip_address(address) in ipaddress.ip_network(prefix)


def fewest_router_hops(topology: nl.Topology, src: str, dst: str) -> int:
    """By breadth first over wires, switches being free."""
    follower = Follower(topology)
    node_of = {way.interface: way.src for way in topology.hops()}
    neighbours: dict[str, set[str]] = {}
    for way in topology.hops():
        if way.src not in topology.switches:
            neighbours.setdefault(way.src, set()).update(
                node_of[name] for name in follower.wired(way.interface, way.src)
            )
    distance = {src: 0}
    ahead = deque([src])
    while ahead:
        here = ahead.popleft()
        if here != src and here not in topology.routers:
            continue
        for other in neighbours[here] - distance.keys():
            distance[other] = distance[here] + 1
            ahead.append(other)
    return distance[dst]


@examples(60)
@given(topology=networks())
def test_any_host_reaches_any_host_over_the_fewest_routers(topology: nl.Topology) -> None:
    follower = Follower(topology)
    for src in topology.hosts:
        for dst in topology.hosts:
            hops, crossed = follower.follow(src, dst)
            assert hops[-1] == dst
            assert len(hops) == len(set(hops))
            assert len(hops) - 1 == fewest_router_hops(topology, src, dst), f"{src} to {dst} takes {hops}"
            path = topology.path(src, dst)
            assert [name for name in path if name not in topology.switches] == hops
            ways = topology.path_hops(src, dst)
            assert len(ways) == crossed == len(path) - 1
            assert [way.dst for way in ways] == path[1:]


@examples(60)
@given(topology=networks())
def test_addresses_are_unique_and_neighbours_get_the_right_ones(topology: nl.Topology) -> None:
    plan = plan_addresses(topology.wiring())
    addresses = [item["address"] for item in plan["addresses"]]
    assert len(set(addresses)) == len(addresses)
    assert len(set(plan["macs"].values())) == len(plan["macs"]) == 2 * len(topology.links)
    at = {item["address"].partition("/")[0]: item for item in plan["addresses"]}
    own = {item["interface"]: ipaddress.ip_interface(item["address"]) for item in plan["addresses"]}
    for item in plan["neighbours"]:
        result = at[item["address"]]
        assert result["node"] != item["node"]
        assert item["mac"] == plan["macs"][result["interface"]]
        assert ipaddress.ip_address(item["address"]) in own[item["interface"]].network
    linked = {end for link in topology.links for end in (link.a, link.b)} - {*topology.switches}
    assert {item["node"] for item in plan["addresses"]} == linked


@examples(30)
@given(topology=networks())
def test_the_plan_is_the_same_each_time(topology: nl.Topology) -> None:
    assert plan_addresses(topology.wiring()) == plan_addresses(nl.Topology.from_dict(topology.to_dict()).wiring())


def test_a_direct_link_next_to_a_switch_is_not_taken_for_the_switch() -> None:
    """The subnet named first carries the packets, and the path says so, with that way's delay and rate."""
    topology = nl.Topology(
        hosts=["h1", "h2"],
        routers=["r1", "r2"],
        switches=["s1"],
        links=[
            nl.Link("h1", "r1"),
            nl.Link("r1", "s1", rate_mbps=1),
            nl.Link("s1", "r2"),
            nl.Link("r1", "r2", rate_mbps=100),
            nl.Link("r2", "h2"),
        ],
    )
    assert Follower(topology).follow("h1", "h2") == (["h1", "r1", "r2", "h2"], 4)
    assert topology.path("h1", "h2") == ["h1", "r1", "s1", "r2", "h2"]
    assert topology.bottleneck_mbps("h1", "h2") == 1


def test_first_of_two_parallel_links_is_used() -> None:
    links = [
        nl.Link("h1", "r1"),
        nl.Link("r1", "r2", rate_mbps=2),
        nl.Link("r1", "r2", rate_mbps=9),
        nl.Link("r2", "h2"),
    ]
    topology = nl.Topology(["h1", "h2"], ["r1", "r2"], links=links)
    assert [way.interface for way in topology.path_hops("h1", "h2")] == ["h1-eth0", "r1-eth1", "r2-eth2"]
    assert [way.interface for way in topology.path_hops("h2", "h1")] == ["h2-eth0", "r2-eth0", "r1-eth0"]
    assert topology.bottleneck_mbps("h1", "h2") == 2
    assert topology.routes([("h1", "h2")]) == {"h1-h2": ["h1-eth0", "r1-eth1", "r2-eth2"]}
    rates_mbps = topology.capacities_mbps()
    assert [rates_mbps[interface] for interface in ("r1-eth1", "r1-eth2", "r2-eth0", "r2-eth1")] == [2, 9, 2, 9]
    assert nl.theory.bottleneck(topology.path_hops("h1", "h2")) == 1


def test_addresses_are_numbered_by_link() -> None:
    plan = plan_addresses(nl.topologies.chain([5, 5], [0, 0]).wiring())
    assert [(item["interface"], item["address"]) for item in plan["addresses"]] == [
        ("h1-eth0", "10.0.1.1/24"),
        ("r1-eth0", "10.0.1.2/24"),
        ("r1-eth1", "10.0.2.1/24"),
        ("h2-eth0", "10.0.2.2/24"),
    ]
    assert plan["routes"] == [
        {"node": "h1", "to": "0.0.0.0/0", "via": "10.0.1.2"},
        {"node": "h2", "to": "0.0.0.0/0", "via": "10.0.2.1"},
    ]
    assert plan["macs"]["h2-eth0"] == "02:00:00:00:00:04"


@pytest.mark.parametrize(
    ("src", "dst", "sentence"),
    [
        ("h1", "h9", "there is no node 'h9'; nodes are h1, h2, h3, r1, s1"),
        ("s1", "h1", "s1 is a switch and has no address; name a host or a router"),
        ("h1", "h3", "there is no path from h1 to h3; join them with links and routers"),
        ("h1", "h2", "there is no path from h1 to h2; join them with links and routers"),
    ],
)
def test_missing_path_is_reported_in_a_sentence(src: str, dst: str, sentence: str) -> None:
    """h3 has no link, h2 a network of its own."""
    links: list[Any] = [nl.Link("h1", "r1"), nl.Link("s1", "h2")]
    topology = nl.Topology(["h1", "h2", "h3"], ["r1"], ["s1"], links)
    with pytest.raises(ScenarioError) as caught:
        topology.path(src, dst)
    assert caught.value.problems == [sentence]


def test_a_host_does_not_forward() -> None:
    topology = nl.Topology(["h1", "h2", "h3"], links=[nl.Link("h1", "h2"), nl.Link("h2", "h3")])
    assert topology.path("h1", "h2") == ["h1", "h2"]
    with pytest.raises(ScenarioError, match="no path from h1 to h3"):
        topology.path("h1", "h3")


def test_a_switch_carries_254_interfaces() -> None:
    hosts = [f"h{i}" for i in range(1, 256)]
    full = nl.Topology(hosts[:-1], switches=["s1"], links=[nl.Link(host, "s1") for host in hosts[:-1]])
    assert full.problems() == []
    over = nl.Topology(hosts, switches=["s1"], links=[nl.Link(host, "s1") for host in hosts])
    assert over.problems() == ["255 interfaces share one switched network; 254 is the most"]


def test_a_large_dumbbell_needs_one_route_a_host_and_a_few_a_router() -> None:
    plan = plan_addresses(nl.topologies.dumbbell(1000).wiring())
    assert len(plan["neighbours"]) == 2 * (2 * 1000 + 1)
    at: dict[str, int] = {}
    for route in plan["routes"]:
        at[route["node"]] = at.get(route["node"], 0) + 1
    assert {at[host] for host in at if host.startswith("h")} == {1}
    assert at["r1"] < 2 * 11  # two for each bit of a subnet's number at most
    assert at["r2"] < 2 * 11


@given(
    gateways=st.dictionaries(st.integers(1, 70), st.sampled_from(["10.9.0.1", "10.9.0.2"])),
    own=st.sets(st.integers(1, 70), max_size=8),
)
def test_shared_routes_lead_each_subnet_where_its_own_route_would(gateways: dict[int, str], own: set[int]) -> None:
    """Exactly one of them holds each other subnet, and none holds a number that is not a subnet's."""
    next_at = {number: gateway for number, gateway in gateways.items() if number not in own}
    shared = [(ipaddress.ip_network(prefix), gateway) for prefix, gateway in aggregate_prefixes(next_at, own)]
    for number in range(129):
        able = [gateway for prefix, gateway in shared if ipaddress.ip_address(f"10.0.{number}.7") in prefix]
        if number in next_at:
            assert able == [next_at[number]]
        elif number not in own:
            assert not able
    assert len(shared) <= len(next_at)


# Hosts with several links ------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", ["h3", "r2"])
def test_a_host_with_two_links_is_reached_at_each_address(first: str) -> None:
    """h2 has a link to r2 and a link of its own to h3, on which there is no router."""
    links = [nl.Link("h1", "r1"), nl.Link("r1", "r2"), nl.Link("h2", "h3"), nl.Link("r2", "h2")]
    if first == "r2":
        links[2:] = links[:1:-1]
    topology = nl.Topology(["h1", "h2", "h3"], ["r1", "r2"], links=links)
    follower = Follower(topology)
    behind_r2 = "h2-eth1" if first == "h3" else "h2-eth0"
    at = {interface: address for address, interface in follower.interface.items() if follower.owner[address] == "h2"}
    for address in at.values():
        assert follower.follow("h1", "h2", address) == (["h1", "r1", "r2", "h2"], 3)
    assert Paths(topology.wiring()).address("h1", "h2") == at[behind_r2]
    assert Paths(topology.wiring()).address("h3", "h2") in follower.known_neighbours("h3")
    assert topology.path("h1", "h2") == ["h1", "r1", "r2", "h2"]
    assert topology.path("h3", "h2") == ["h3", "h2"]


def test_the_nearest_address_is_taken() -> None:
    """h2's first link is two routers away from h1, its second is h1's own network."""
    links = [nl.Link("h2", "r2"), nl.Link("r2", "r1"), nl.Link("r1", "s1"), nl.Link("h1", "s1"), nl.Link("h2", "s1")]
    topology = nl.Topology(["h1", "h2"], ["r1", "r2"], ["s1"], links)
    assert topology.path("h1", "h2") == ["h1", "s1", "h2"]
    assert topology.path("r2", "h2") == ["r2", "h2"]
    assert topology.path("h2", "h1") == ["h2", "s1", "h1"]
    follower = Follower(topology)
    assert follower.follow("h1", "h2", "10.0.1.1")[0] == ["h1", "r1", "r2", "h2"]


def test_host_that_alone_joins_two_networks_is_reached_at_both_addresses() -> None:
    topology = nl.Topology(
        ["h1", "h2", "h3"],
        ["r1", "r2"],
        links=[nl.Link("h1", "r1"), nl.Link("r1", "h2"), nl.Link("h2", "r2"), nl.Link("r2", "h3")],
    )
    follower = Follower(topology)
    for src in ("h1", "h3"):
        for address in ("10.0.2.2", "10.0.3.1"):
            assert follower.follow(src, "h2", address)[0] == [src, {"h1": "r1", "h3": "r2"}[src], "h2"]
    with pytest.raises(ScenarioError, match="no path from h1 to h3"):
        topology.path("h1", "h3")


@examples(60)
@given(topology=networks(), data=st.data())
def test_any_host_is_reached_at_any_address_over_no_other_host(topology: nl.Topology, data: st.DataObject) -> None:
    """With links between hosts and from hosts to more routers and switches."""
    ends = [*topology.hosts, *topology.routers, *topology.switches]
    more = [
        nl.Link(host, other) for host in topology.hosts if (other := data.draw(st.sampled_from([*ends, host]))) != host
    ]
    several = nl.Topology(topology.hosts, topology.routers, topology.switches, [*topology.links, *more])
    follower, paths = Follower(several), Paths(several.wiring())
    for src in several.hosts:
        for address, dst in follower.owner.items():
            if dst in several.hosts:
                follower.follow(src, dst, address)
                nearest = follower.follow(src, dst, paths.address(src, dst))
                assert [hop.dst for hop in paths.hops(src, dst) if hop.dst not in several.switches] == nearest[0][1:]
                assert len(paths.hops(src, dst)) == nearest[1]
                assert len(nearest[0]) <= len(follower.follow(src, dst, address)[0])
