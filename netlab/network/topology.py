"""Description of a network: hosts, routers, switches and the links between them."""

from __future__ import annotations

import importlib
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from netlab.base import packages
from netlab.base.arguments import explain_bad_construction, unknown_fields
from netlab.base.errors import ScenarioError, one_of
from netlab.base.values import short_repr
from netlab.network.link import SHAPE_FIELDS, Link, field_problems
from netlab.network.routing import Paths
from netlab.network.wiring import NetworkHop, Wiring, wire

NODE_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,8}")
"""`NAME-ethNN` must fit the 15 characters that Linux gives an interface."""

MAX_INTERFACE_NAME_LENGTH = 15
_MININET_FORM = "netlab_engines.lab.mininet_form"
RESERVED_NAME = re.compile(r"all|default|lo|wire[0-9]+")
"""Names that the kernel or the agent uses for devices and settings in a node's namespace."""


@explain_bad_construction('nl.Topology(hosts=["h1", "h2"], links=[nl.Link("h1", "h2", rate_mbps=5)])')
class Topology:  # noqa: PLW1641 (compares by value and holds lists: no hash)
    """A network: nodes by kind and the links between them.

    Interfaces are numbered per node in the order of `links`, as Mininet does: the first link of h1 is ``h1-eth0``, that
    of switch s1 ``s1-eth1``.
    Every link between routers or hosts is a subnet; hosts behind a switch share one.

    Parameters
    ----------
    hosts, routers, switches : sequence of str
        Node names, unique over all three: a letter, then letters, digits or ``_``, at most nine characters in all.
    links : sequence of Link or mapping

    Raises
    ------
    ScenarioError
        If a name or a link is wrong; it lists all mistakes. `problems` also finds those of the network as a whole (a loop of switches).

    Examples
    --------
    >>> network = Topology(hosts=["h1", "h2"], routers=["r1"],
    ...                    links=[Link("h1", "r1"), Link("r1", "h2", rate_mbps=5, delay_ms=10, queue_packets=100)])
    >>> network.path("h1", "h2")
    ['h1', 'r1', 'h2']
    """

    def __init__(
        self,
        hosts: Sequence[str] = (),
        routers: Sequence[str] = (),
        switches: Sequence[str] = (),
        links: Sequence[Link | Mapping[str, Any]] = (),
    ) -> None:
        """Describe a network by its nodes' names and its links (or dicts of them); ScenarioError has every mistake."""
        problems: list[str] = []
        self.hosts = _read_names("hosts", hosts, problems)
        self.routers = _read_names("routers", routers, problems)
        self.switches = _read_names("switches", switches, problems)
        self.links = _read_links(links, problems)
        problems += [*self._name_problems(), *self._link_problems()]
        if problems:
            raise ScenarioError(problems)

    @property
    def nodes(self) -> list[str]:
        """All node names: hosts, then routers, then switches."""
        return [*self.hosts, *self.routers, *self.switches]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Topology) and self.to_dict() == other.to_dict()

    def __repr__(self) -> str:
        return (
            f"Topology({len(self.hosts)} hosts, {len(self.routers)} routers, {len(self.switches)} switches, "
            f"{len(self.links)} links)"
        )

    def _repr_mimebundle_(self, **_settings: Any) -> dict[str, Any]:
        """Return the forms for a notebook, by MIME type: a drawing (if there are nodes), and a terminal's text."""
        text = {"text/plain": repr(self)}
        if not self.nodes:
            return text
        # Import by name, and only when needed: `netlab.plots` is above this package, and the guest has no Plotly.
        return {**importlib.import_module("netlab.plots.drawing").notebook_drawing(self), **text}

    def to_dict(self) -> dict[str, Any]:
        """Return the topology as the dict in a scenario file, with the keys hosts, routers, switches and links."""
        return {
            "hosts": list(self.hosts),
            "routers": list(self.routers),
            "switches": list(self.switches),
            "links": [link.to_dict() for link in self.links],
        }

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Topology:
        """Return the topology from its dict in a scenario file. Raises ScenarioError with every mistake."""
        if not isinstance(document, Mapping):
            raise ScenarioError([f"topology must be an object with hosts and links, got {short_repr(document)}"])
        topology, problems = cls.read(document)
        # Also check the part that could be read, so that one error lists all mistakes of the file.
        problems += topology.problems()
        if problems:
            raise ScenarioError(problems)
        return topology

    @classmethod
    def from_mininet(cls, topo: Any) -> Topology:
        """Return the topology of a Mininet `Topo`: its hosts, switches and links with `bw`, `delay`, `jitter`, `loss`
        and `max_queue_size`. Raises ScenarioError with every option of a link that netlab does not support.

        A host whose class has "Router" in its name is a router. Addresses are netlab's own.
        """
        hosts, routers, switches, links = packages.load(_MININET_FORM).nodes_and_links(topo)
        return cls(hosts, routers, switches, links)

    def to_mininet(self) -> str:
        """Return the text of a Mininet script that builds this network, to be run on a machine with root. Raises
        ScenarioError when a link has a property that Mininet's `TCLink` lacks.
        """
        return str(packages.load(_MININET_FORM).script(self.wiring(), self.links))

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> tuple[Topology, list[str]]:
        """Return the topology from what can be read of its dict in a scenario file, and a message for each mistake."""
        allowed = ("hosts", "routers", "switches", "links")
        problems = unknown_fields("topology", document, allowed)
        names = {kind: _read_names(kind, document.get(kind, []), problems) for kind in ("hosts", "routers", "switches")}
        given_links = document.get("links", [])
        if not isinstance(given_links, (list, tuple)):
            problems.append(f"topology: links must be a list, got {short_repr(given_links)}")
            given_links = []
        topology = cls()
        topology.hosts, topology.routers, topology.switches = names.values()
        topology.links = _read_links(given_links, problems)
        return topology, problems

    def unused_links(self) -> list[str]:
        """Return a message for each two nodes that several links join: all routes use the first."""
        joined = Counter(tuple(sorted((link.a, link.b))) for link in self.links)
        return [
            f"{count} links join {a} and {b}, and all traffic between them takes the first: is another link meant?"
            for (a, b), count in joined.items()
            if count > 1
        ]

    def problems(self) -> list[str]:
        """Return a message for each mistake, [] if there is none; loops and sizes are checked if all else is right."""
        found: list[str] = []
        if not self.hosts:
            found.append("the topology has no hosts; name at least two")
        found += [*self._name_problems(), *self._link_problems()]
        if not found:
            found.extend(self._switch_problems())
            found.extend(self._size_problems())
        return found

    def _link_problems(self) -> Iterable[str]:
        """Yield a message for each mistake in a link or in the names of its ends."""
        nodes = set(self.nodes)
        for link in self.links:
            where = f"link {link.a}-{link.b}"
            for end in dict.fromkeys((link.a, link.b)):
                if end not in nodes:
                    yield f"{where}: there is no node {end!r}; nodes are {', '.join(self.nodes) or 'none'}"
            if link.a == link.b:
                yield f"{where}: a link must join two different nodes"
            ways = (link.forward, link.backward)
            own, other = (way.problems("") for way in ways)
            yield from (where + problem for problem in own)
            # Report a mistake that `reverse` inherits only once.
            yield from (f"{where}, reverse{problem}" for problem in other if problem not in own)
            if not own + other:
                forward, backward = ((way.medium, {**way.medium_options, "rate_mbps": None}) for way in ways)
                if forward != backward:
                    yield f"{where}, reverse: both directions share one medium; of its options only rate_mbps may differ"

    def _name_problems(self) -> Iterable[str]:
        """Yield a message for each node's name that is not allowed or occurs twice."""
        seen: set[str] = set()
        for name in self.nodes:
            if not NODE_NAME.fullmatch(name):
                yield (
                    f"node name {short_repr(name)} must start with a letter and have at most 9 letters (a to z), digits or _ "
                    f"(Linux allows an interface {MAX_INTERFACE_NAME_LENGTH} characters)"
                )
            elif RESERVED_NAME.fullmatch(name):
                yield f"node name {name!r} is taken by the system itself; choose another, such as {name[0]}1"
            if name in seen:
                yield f"node {name} is named twice; every node needs a name of its own"
            seen.add(name)

    def _size_problems(self) -> Iterable[str]:
        """Yield a message if a node has too many links for interface names, or there are too many subnets or ports."""
        for interface in (hop.interface for hop in self.hops()):
            if len(interface) > MAX_INTERFACE_NAME_LENGTH:
                name = interface.partition("-")[0]
                yield (
                    f"node {name} has so many links that its interface {interface} exceeds the {MAX_INTERFACE_NAME_LENGTH} "
                    f"characters that Linux allows; give it a shorter name"
                )
                return
        try:
            Paths(self.wiring())
        except ScenarioError as error:
            yield from error.problems

    def _switch_problems(self) -> Iterable[str]:
        """Yield one message if switches form a loop."""
        pieces = {switch: {switch} for switch in self.switches}
        for link in self.links:
            a, b = pieces.get(link.a), pieces.get(link.b)
            if a is None or b is None:
                continue
            if a is b:
                yield "switches must not form a loop: frames would circle in it for ever; use routers there"
                return
            pieces |= dict.fromkeys(a | b, a | b)

    def wiring(self) -> Wiring:
        """Return the nodes and every hop between them, with the names of interfaces."""
        return wire(self.hosts, self.routers, self.switches, self.links)

    def hops(self) -> list[NetworkHop]:
        """Return both hops of every link, in the order of `links`: from `a` to `b`, then from `b` to `a`."""
        return list(self.wiring().hops)

    def position(self, a: str, b: str, number: int = 1) -> int:
        """Return the index in `links` of the link between the nodes `a` and `b`; if there are several, of that
        `number`, from 1. Raises ScenarioError when there is none.
        """
        found = [place for place, link in enumerate(self.links) if {link.a, link.b} == {a, b}]
        if not 1 <= number <= len(found):
            pairs = [f"{link.a}-{link.b}" for link in self.links]
            raise ScenarioError([f"link: {one_of(f'{a}-{b}' + (f' {number}' if number > 1 else ''), pairs)}"])
        return found[number - 1]

    def path(self, src: str, dst: str) -> list[str]:
        """Return the nodes that a packet from `src` to `dst` passes, both ends included. Raises ScenarioError when no
        path exists. A packet does not pass through a host.
        """
        return [src, *(hop.dst for hop in self.path_hops(src, dst))]

    def path_hops(self, src: str, dst: str) -> list[NetworkHop]:
        """Return the hops that a packet from `src` to `dst` takes, in order; the formulas of `netlab.theory` accept
        them as a path. Raises ScenarioError when no path exists.

        Examples
        --------
        >>> line = Topology(hosts=["h1", "h2"], routers=["r1"],
        ...                 links=[Link("h1", "r1"), Link("r1", "h2", rate_mbps=5, delay_ms=10)])
        >>> [(hop.interface, hop.rate_mbps, hop.delay_ms) for hop in line.path_hops("h1", "h2")]
        [('h1-eth0', inf, 0.0), ('r1-eth1', 5.0, 10.0)]
        """
        return Paths(self.wiring()).hops(src, dst)

    def bottleneck_mbps(self, src: str, dst: str) -> float:
        """Return the path's lowest rate in Mbit/s, infinite without any; ScenarioError if no path joins the nodes."""
        return min((hop.rate_mbps for hop in self.path_hops(src, dst)), default=math.inf)

    def capacities_mbps(self) -> dict[str, float]:
        """Return the rate in Mbit/s for each sending interface, one for each direction of each link; infinite where none is set.

        Examples
        --------
        >>> Topology(hosts=["h1", "h2"], links=[Link("h1", "h2", rate_mbps=5)]).capacities_mbps()
        {'h1-eth0': 5.0, 'h2-eth0': 5.0}
        """
        return {hop.interface: hop.rate_mbps for hop in self.hops()}

    def routes(self, pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
        """Return, for each pair of names, the interfaces that send packets from source to destination; the key is "source-destination".

        Examples
        --------
        >>> line = Topology(hosts=["h1", "h2"], routers=["r1"], links=[Link("h1", "r1"), Link("r1", "h2")])
        >>> line.routes([("h1", "h2")])
        {'h1-h2': ['h1-eth0', 'r1-eth1']}
        """
        paths = Paths(self.wiring())
        return {f"{src}-{dst}": [hop.interface for hop in paths.hops(src, dst)] for src, dst in pairs}


def topology_from_links(*links: Link) -> Topology:
    """Return the topology of links; a node's first letter is its kind: h(ost), r(outer), s(witch), else ScenarioError.

    >>> topology_from_links(Link("r1", "h2"), Link("h1", "r1")).nodes
    ['h1', 'h2', 'r1']
    """
    names = sorted({end for link in links for end in (link.a, link.b)}, key=lambda name: (len(name), name))
    hosts, routers, switches = ([name for name in names if name[0] == kind] for kind in "hrs")
    return Topology(hosts, routers, switches, links)


def _read_names(kind: str, value: object, problems: list[str]) -> list[str]:
    """Return the names in the field `kind` ("hosts", "routers" or "switches") of a topology; append a message to
    `problems` if its value is not a list of names.
    """
    names = list(value) if isinstance(value, Iterable) and not isinstance(value, (str, bytes, Mapping)) else [value]
    sound = [str(name) for name in names if isinstance(name, str)]
    if isinstance(value, str) or len(sound) < len(names):
        links = "; links have a name: links=[...]" if any(isinstance(name, Link) for name in names) else ""
        remedy = f"; {kind}=[{short_repr(value)}]" if isinstance(value, str) else links
        problems.append(f"topology: {kind} must be a list of names, got {short_repr(value)}{remedy}")
    return sound


def _read_links(links: Iterable[object], problems: list[str]) -> list[Link]:
    """Return the links that can be read, from objects or dicts; append a message to `problems` for each mistake."""
    found = []
    if isinstance(links, (Link, Mapping, str)) or not isinstance(links, Iterable):
        problems.append(f"topology: links must be a list such as [nl.Link('h1', 'r1')], got {short_repr(links)}")
        return []
    for position, link in enumerate(links, start=1):
        if isinstance(link, Link):
            found.append(link)
        elif not isinstance(link, Mapping):
            pair = short_repr(link)[1:-1] if isinstance(link, (tuple, list)) and len(link) == 2 else "'h1', 'r1'"
            problems.append(
                f"link {position} must be an object with a and b, got {short_repr(link)}; use nl.Link({pair})"
            )
        elif missing := [end for end in ("a", "b") if not isinstance(link.get(end), str)]:
            ends = " and ".join(missing)
            problems.append(f"link {position} must name the node at its end {ends}, got {short_repr(link)}")
        else:
            words = dict(link)
            a, b, reverse = words.pop("a"), words.pop("b"), words.pop("reverse", None)
            problems += field_problems(f"link {a}-{b}", words, reverse)
            forward, backward = (
                {name: value for name, value in part.items() if name in SHAPE_FIELDS}
                for part in (words, reverse if isinstance(reverse, Mapping) else {})
            )
            found.append(Link(a, b, reverse=backward, **forward))
    return found
