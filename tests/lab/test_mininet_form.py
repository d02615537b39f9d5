"""Networks come from Mininet and go back to it."""

import ast

import pytest

import netlab_engines.agent.network  # noqa: F401
from netlab.base.errors import ScenarioError
from netlab.network import topologies
from netlab.network.link import Link
from netlab.network.topology import Topology
from netlab_engines.agent import script  # noqa: F401 (stands in for what Mininet wants of old Pythons)

from mininet.node import Node  # isort: skip
from mininet.topo import LinearTopo, Topo  # isort: skip


class LinuxRouter(Node):
    pass


class Dumbbell(Topo):
    def build(self) -> None:
        for name in ("h1", "h2"):
            self.addHost(name)
        self.addNode("r1", cls=LinuxRouter, ip="10.0.0.1/24")
        self.addSwitch("s1")
        self.addLink("s1", "h1", bw=100)
        self.addLink("s1", "r1")
        self.addLink("r1", "h2", bw=5, delay="10ms", loss=2, max_queue_size=100, use_htb=True)


def test_a_topo_is_read_with_its_options_in_netlabs_units() -> None:
    read = Topology.from_mininet(Dumbbell())
    assert (read.hosts, read.routers, read.switches) == (["h1", "h2"], ["r1"], ["s1"])
    assert {(link.a, link.b) for link in read.links} == {("s1", "h1"), ("s1", "r1"), ("r1", "h2")}
    slow = next(link for link in read.links if link.b == "h2").forward
    assert (slow.rate_mbps, slow.delay_ms, slow.loss_rate, slow.queue_packets) == (5, 10, 0.02, 100)
    assert read.problems() == []


def test_mininets_own_topologies_are_read() -> None:
    read = Topology.from_mininet(LinearTopo(k=3, lopts={"bw": 10, "delay": "2000us"}))
    assert len(read.switches) == 3
    assert read.links[0].forward.delay_ms == 2
    assert read.problems() == []


def test_an_option_without_a_like_is_refused_by_name() -> None:
    topo = Topo()
    for name in ("h1", "h2"):
        topo.addHost(name)
    topo.addLink("h1", "h2", gro=True, delay="long")
    with pytest.raises(ScenarioError) as caught:
        Topology.from_mininet(topo)
    assert len(caught.value.problems) == 2


def read_script(text: str) -> Topology:
    tree = ast.parse(text)
    space: dict[str, object] = {}
    exec(compile(tree, "network.py", "exec"), space)  # noqa: S102 (our own script)
    return Topology.from_mininet(space["Network"]())


@pytest.mark.parametrize(
    "topology",
    [
        topologies.dumbbell(pairs=2, rate_mbps=5, delay_ms=10, queue_packets=100),
        Topology(["h1", "h2"], links=[Link("h1", "h2", rate_mbps=8, reverse={"rate_mbps": 1, "delay_ms": 3})]),
        Topology(["h1", "h2"], switches=["s1"], links=[Link("h1", "s1"), Link("s1", "h2", loss_rate=0.01)]),
    ],
)
def test_a_script_that_was_written_reads_back_as_the_same_network(topology: Topology) -> None:
    read = read_script(topology.to_mininet())
    for kind in ("hosts", "routers", "switches"):
        assert sorted(getattr(read, kind)) == sorted(getattr(topology, kind))
    wires = [{(hop.interface, hop.dst_interface): hop.shape for hop in one.wiring().hops} for one in (read, topology)]
    assert wires[0] == wires[1], "each interface leads where it led, with the same properties"


@pytest.mark.parametrize(
    ("link", "message"),
    [
        (Link("h1", "h2", rate_mbps=5, aqm="codel"), "codel"),
        (Link("h1", "h2", medium="802.11g"), "shared medium such as '802.11g'"),
        (Link("h1", "h2", duplicate_rate=0.1), "no duplicates"),
    ],
)
def test_features_that_mininet_lacks_are_reported(link: Link, message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        Topology(["h1", "h2"], links=[link]).to_mininet()


def test_a_script_that_was_written_lets_mininet_know_the_addresses() -> None:
    text = topologies.dumbbell(pairs=1).to_mininet()
    assert "interface.updateIP()" in text, "pingAll asks for them, and would ping None"
