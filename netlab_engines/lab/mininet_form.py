"""Conversion from and to Mininet: read a `Topo`, write a script.

Mininet need not be installed: only methods of the given `Topo` are called, and the script is text.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from netlab.base.errors import ScenarioError
from netlab.base.location import PACKAGE
from netlab.base.values import short_repr
from netlab.network.link import Link, LinkShape
from netlab.network.routing import plan_addresses
from netlab.network.trace import Trace
from netlab.network.wiring import Wiring

MS = {"us": 1e-3, "ms": 1.0, "s": 1e3, "": 1e-3}
"""Factors from the unit of a time in `tc` to ms; `tc` reads a time without a unit as microseconds."""

TIME = re.compile(r"\s*([0-9.]+)\s*(us|usecs?|ms|msecs?|s|secs?|)\s*")
IGNORED_ARGUMENTS = {
    "addr1", "addr2", "cls", "cls1", "cls2", "fast", "ifname", "intf", "intfName1", "intfName2", "ip", "latency_ms", "mac", "node1",
    "node2", "params1", "params2", "port1", "port2", "speedup", "use_hfsc", "use_htb", "use_tbf",
}  # fmt: skip


def nodes_and_links(topo: Any) -> tuple[list[str], list[str], list[str], list[Link]]:
    """Return a tuple of the names of hosts, of routers (hosts whose class has "router" in its name) and of switches,
    and the links with their properties, of `topo`, a Mininet `Topo`; links are in the order in which they were added.
    Raises ScenarioError with a list of all options that netlab does not support.
    """
    problems: list[str] = []
    hosts: list[str] = []
    routers: list[str] = []
    for name in topo.hosts():
        kind = topo.nodeInfo(name).get("cls")
        (routers if kind is not None and "router" in getattr(kind, "__name__", str(kind)).lower() else hosts).append(
            name
        )
    links = []
    for a, b, options in _sort_by_ports(topo.links(sort=False, withInfo=True)):
        # A `Topo` stores a link's ends in the order of their names; `node1` is the end that was given first.
        first, second = options.get("node1", a), options.get("node2", b)
        where = f"link {first}-{second}"
        both = _shape(options, where, problems)
        forward = {**both, **_shape(options.get("params1") or {}, where, problems)}
        backward = {**both, **_shape(options.get("params2") or {}, where, problems)}
        links.append(Link(first, second, reverse=backward if backward != forward else None, **forward))
    if problems:
        raise ScenarioError(problems)
    return hosts, routers, list(topo.switches()), links


MininetLink = tuple[str, str, dict[str, Any]]


def _sort_by_ports(links: list[MininetLink]) -> list[MininetLink]:
    """Return the links of a Mininet `Topo`, each as two node names and its options, in the order in which they were
    added, which their port numbers show (in the given order if these contradict each other).
    """

    def ends(link: MininetLink) -> list[tuple[str, int]]:
        """Return the two ends of a link, each as the node's name and its port number."""
        a, b, options = link
        return [(options.get("node1", a), options.get("port1", 0)), (options.get("node2", b), options.get("port2", 0))]

    left, found = list(links), []
    while left:
        lowest: dict[str, int] = {}
        for node, port in (end for link in left for end in ends(link)):
            lowest[node] = min(port, lowest.get(node, port))
        ready = [link for link in left if all(lowest[node] == port for node, port in ends(link))]
        # Ports that were given by hand may contradict each other; then any order is as good.
        found += ready or left
        left = [link for link in left if link not in found]
    return found


def _shape(options: Mapping[str, Any], where: str, problems: list[str]) -> dict[str, Any]:
    """Return the fields of `netlab.Link` that stand for the options of a Mininet link, both by name; options without a
    meaning here (IGNORED_ARGUMENTS), and without a rate those of the queue, are left out. For each option that netlab does not
    support, append a message that begins with `where` to `problems`.
    """
    found: dict[str, Any] = {}
    for word, value in options.items():
        if value is None or value is False or word in IGNORED_ARGUMENTS:
            continue
        if word == "bw":
            found["rate_mbps"] = float(value)
        elif word in ("delay", "jitter"):
            time = TIME.fullmatch(str(value))
            if time is None:
                problems.append(f"{where}: {word} must be a time such as '5ms', got {short_repr(value)}")
                continue
            unit = {"usec": "us", "msec": "ms", "sec": "s"}.get(time[2].rstrip("s"), time[2])
            found[f"{word}_ms"] = float(time[1]) * MS[unit]
        elif word == "loss":
            # Mininet's loss is in per cent.
            found["loss_rate"] = float(value) / 100
        elif word == "max_queue_size":
            found["queue_packets"] = int(value)
        elif word == "enable_red":
            found["aqm"] = "red"
        elif word == "enable_ecn":
            found.update(aqm="red", aqm_options={"ecn": True})
        else:
            problems.append(f"{where}: netlab has nothing like Mininet's {word}={short_repr(value)}; take it out")
    if found.get("rate_mbps") is None:
        # Without a rate there is no queue: there, Mininet's limit is netem's own.
        for word in ("queue_packets", "aqm", "aqm_options"):
            found.pop(word, None)
    return found


def script(wiring: Wiring, links: Sequence[Link]) -> str:
    """Return the text of a Mininet script that builds the nodes of `wiring` and these links, with the addresses and
    routes that netlab gives them. Raises ScenarioError with a list of all properties that Mininet's `TCLink` lacks,
    such as bursts of loss, duplicates and queue disciplines other than RED.
    """
    problems: list[str] = []
    nodes = [f'        self.addHost("{name}", ip=None)' for name in wiring.hosts]
    nodes += [f'        self.addHost("{name}", cls=Router, ip=None)' for name in wiring.routers]
    nodes += [
        f'        self.addSwitch("{name}", cls=LinuxBridge, dpid="{number:x}")'
        for number, name in enumerate(wiring.switches, start=1)
    ]
    lines = []
    for link in links:
        where = f"link {link.a}-{link.b}"
        forward, backward = (_options(shape, where, problems) for shape in (link.forward, link.backward))
        own = [f"{word}={value!r}" for word, value in forward.items()]
        if forward != backward:
            own = [f"params1={forward!r}", f"params2={backward!r}"]
        lines.append(f"        self.addLink({', '.join([repr(link.a), repr(link.b), *own])})".replace("'", '"'))
    if problems:
        raise ScenarioError(list(dict.fromkeys(problems)))
    plan = plan_addresses(wiring)
    set_up = [
        f'    ("{item["node"]}", "ip address add {item["address"]} dev {item["interface"]}"),'
        for item in plan["addresses"]
    ]
    set_up += [f'    ("{item["node"]}", "ip route replace {item["to"]} via {item["via"]}"),' for item in plan["routes"]]
    return (
        (PACKAGE / "network" / "mininet_script.txt")
        .read_text()
        .format(nodes="\n".join(nodes), links="\n".join(lines), lines="\n".join(set_up))
    )


def _options(shape: LinkShape, where: str, problems: list[str]) -> dict[str, Any]:
    """Return the options of Mininet's `TCLink` for one direction of a link with the properties `shape`, by name and in
    its units (Mbit/s, texts in ms, per cent, packets); for each property that Mininet lacks, append a message that
    begins with `where` to `problems`.
    """
    found: dict[str, Any] = {}
    if isinstance(shape.rate_mbps, Trace):
        problems.append(f"{where}: Mininet's TCLink has no rate that changes with time")
    elif shape.rate_mbps is not None:
        found["bw"] = shape.rate_mbps
    for word in ("delay", "jitter"):
        value = getattr(shape, f"{word}_ms")
        if value:
            found[word] = f"{value:g}ms"
    if shape.loss_rate:
        found["loss"] = round(shape.loss_rate * 100, 10)
    if shape.queue_packets is not None:
        found["max_queue_size"] = shape.queue_packets
    if shape.aqm == "red":
        found["enable_red"] = True
        if shape.aqm_options.get("ecn"):
            found["enable_ecn"] = True
    elif shape.aqm != "fifo":
        problems.append(f"{where}: Mininet's TCLink has no aqm={shape.aqm!r}")
    if shape.queue_bytes is not None:
        problems.append(
            f"{where}: Mininet's TCLink counts its queue in packets; give queue_packets instead of queue_bytes"
        )
    if shape.medium is not None:
        problems.append(f"{where}: Mininet's TCLink has no shared medium such as {shape.medium!r}")
    if shape.burst_loss or shape.duplicate_rate:
        problems.append(f"{where}: Mininet's TCLink has no bursts of loss and no duplicates")
    return found
