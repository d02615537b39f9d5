"""Interfaces of a network and the hops between them, for routing and for the agent."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from netlab import plan
from netlab.network import media
from netlab.network.link import Link, LinkShape


@dataclass(frozen=True)
class NetworkHop:
    """A direction of a link: from `interface` of node `src` to `dst_interface` of node `dst`, with its properties."""

    src: str
    dst: str
    interface: str
    dst_interface: str
    shape: LinkShape

    @property
    def rate_mbps(self) -> float:
        """The rate in Mbit/s; infinite without one, of a trace the mean, of a medium the data frames' rate."""
        if self.shape.medium is not None:
            return float(media.medium(self.shape.medium, self.shape.medium_options).rate_mbps)
        return self.shape.mean_mbps

    @property
    def delay_ms(self) -> float:
        """The one-way propagation delay in ms."""
        return float(self.shape.delay_ms)

    def to_dict(self) -> plan.PlannedHop:
        """Return the hop in the plan's form."""
        return cast("plan.PlannedHop", {**vars(self), "shape": self.shape.to_plan()})


@dataclass(frozen=True)
class Wiring:
    """The nodes of a network by kind, and every hop between two of them, both hops of a link in succession."""

    hosts: Sequence[str]
    routers: Sequence[str]
    switches: Sequence[str]
    hops: Sequence[NetworkHop]

    @property
    def nodes(self) -> list[str]:
        """All node names: hosts, then routers, then switches."""
        return [*self.hosts, *self.routers, *self.switches]


def wire(hosts: Sequence[str], routers: Sequence[str], switches: Sequence[str], links: Sequence[Link]) -> Wiring:
    """Return the nodes and hops of a network; interfaces are numbered in the order of `links`, as Mininet does."""
    # Mininet numbers the ports of a switch from 1, as OpenFlow does, and all others from 0.
    next_port = {**dict.fromkeys([*hosts, *routers], 0), **dict.fromkeys(switches, 1)}
    hops = []
    for link in links:
        a_interface, b_interface = (f"{end}-eth{next_port[end]}" for end in (link.a, link.b))
        next_port[link.a] += 1
        next_port[link.b] += 1
        hops.append(NetworkHop(link.a, link.b, a_interface, b_interface, link.forward))
        hops.append(NetworkHop(link.b, link.a, b_interface, a_interface, link.backward))
    return Wiring(hosts, routers, switches, hops)


def queue_names(ends: Sequence[tuple[str, str, str]]) -> dict[str, str]:
    """Return names of queues, such as "home to isp, link 2", by interface; `ends` has (interface, src, dst) of each.

    >>> queue_names([("home-eth1", "home", "isp"), ("isp-eth0", "isp", "home")])
    {'home-eth1': 'home to isp', 'isp-eth0': 'isp to home'}
    """
    names: dict[str, str] = {}
    count = Counter[tuple[str, str]]()
    for interface, src, dst in ends:
        count[src, dst] += 1
        # Two nodes may have more links between them.
        names[interface] = f"{src} to {dst}" + (f", link {count[src, dst]}" if count[src, dst] > 1 else "")
    return names
