"""Scenarios: everything that determines a run's measurements, with its checks and its plan."""

from __future__ import annotations

import json
import math
import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, cast

from netlab import captures as capture_files
from netlab import traffic
from netlab.base.arguments import explain_bad_construction, quote_number, unknown_fields
from netlab.base.errors import ScenarioError, one_of
from netlab.base.headers import FRAME_BYTES, KERNEL_QUEUE_PACKETS, OFFLOAD_ABOVE_MBPS
from netlab.base.units import BITS_PER_BYTE, US_PER_S, mbps_to_bps, ms_to_s
from netlab.base.values import is_integer, is_number, short_repr, to_python
from netlab.captures import Capture
from netlab.network import change, media
from netlab.network.change import Change
from netlab.network.link import LinkShape
from netlab.network.routing import Paths, plan_addresses
from netlab.network.topology import Topology
from netlab.network.trace import Trace
from netlab.network.wiring import NetworkHop
from netlab.plan import Address, Addressing, Item, Plan, PlannedHop
from netlab.traffic import Flow, Tcp, Traffic
from netlab.traffic.tcp import conflicting_initial_windows

DEFAULT_INTERVAL_S = 0.1
MIN_INTERVAL_S = 0.001
MAX_RUN_S = 86_400.0
MAX_INTERVALS = 200_000
FRAME_BITS = FRAME_BYTES * BITS_PER_BYTE
SYSCTL_NAME = re.compile(r"net(\.[A-Za-z0-9_-]+)+")
SYSCTL_VALUE = re.compile(r"[ -~\t]+")

SCENARIO_FIELDS = ("topology", "traffic", "duration_s", "seed", "interval_s", "sysctls", "captures", "changes")
NO_TRAFFIC = "there is no traffic; add at least one of " + ", ".join(traffic.KINDS)

TCP_SYSCTLS = {
    # Large enough that the network limits a flow and not the host's memory; the kernel would derive them from `mem=`.
    "net.ipv4.tcp_rmem": "4096 131072 67108864",
    "net.ipv4.tcp_wmem": "4096 16384 67108864",
}


@explain_bad_construction('nl.Scenario(network, [nl.Tcp("h1", "h2")], duration_s=10)')
@dataclass(frozen=True)
class Scenario:
    """Everything that determines the measurements of a run: the network, its traffic, and the settings.

    Parameters
    ----------
    topology : Topology
    traffic : sequence of Tcp, Udp, Ping, Command or another kind in `netlab.traffic.KINDS`
    duration_s : float
        Network time in s, above 0 and at most a day.
    seed : int
        Determines everything random: losses, jitter, the guest's own random numbers.
    interval_s : float
        Length in s of the intervals of the time series, at least 0.001.
    sysctls : mapping
        Kernel settings of every node in addition to netlab's own, e.g. ``{"net.ipv4.tcp_sack": 0}``.
    captures : sequence of Capture
        Links whose packets are captured; the files are in ``run.artifacts``, the packets in ``run.packets``.
    changes : sequence of Change
        Changes of links while the traffic runs.
    """

    topology: Topology
    traffic: Sequence[Traffic]
    duration_s: float = 10.0
    seed: int = 1
    interval_s: float = DEFAULT_INTERVAL_S
    sysctls: Mapping[str, Any] = field(default_factory=dict)
    captures: Sequence[Capture] = ()
    changes: Sequence[Change] = ()

    def __post_init__(self) -> None:
        """Turn NumPy's numbers in the settings into Python's own, and mappings into dicts."""
        for name in ("duration_s", "seed", "interval_s", "sysctls"):
            object.__setattr__(self, name, to_python(getattr(self, name)))

    def to_dict(self) -> dict[str, Any]:
        """Return the scenario as the dict of its file, a key for each field; `captures` and `changes` only if any."""
        return {
            "topology": self.topology.to_dict(),
            "traffic": [item.to_dict() for item in self.traffic],
            "duration_s": self.duration_s,
            "seed": self.seed,
            "interval_s": self.interval_s,
            "sysctls": dict(self.sysctls),
            **({"captures": [asdict(item) for item in self.captures]} if self.captures else {}),
            **({"changes": [item.to_dict() for item in self.changes]} if self.changes else {}),
        }

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Scenario:
        """Return the scenario from the dict of its file. Raises ScenarioError with every mistake in any part of it."""
        if not isinstance(document, Mapping):
            raise ScenarioError([f"a scenario must be an object with topology and traffic, got {short_repr(document)}"])
        if document.keys() & {"hosts", "links"} and "topology" not in document:
            raise ScenarioError(
                ['this is a topology, which netlab live builds; a scenario is {"topology": ..., "traffic": [...]}']
            )
        problems = unknown_fields("scenario", document, SCENARIO_FIELDS)
        problems += [f"scenario: {name} is missing" for name in ("topology", "traffic") if name not in document]
        topology: Topology | None = None
        unread: list[str] = []
        if isinstance(document.get("topology"), Topology):
            topology = document["topology"]
        elif isinstance(document.get("topology"), Mapping):
            topology, unread = Topology.read(document["topology"])
        elif "topology" in document:
            unread = [f"topology must be an object with hosts and links, got {short_repr(document['topology'])}"]
        problems += unread
        items: list[Traffic | None] = []
        traffic_list = document.get("traffic", [])
        if isinstance(traffic_list, (list, tuple)):
            for number, item in enumerate(traffic_list, start=1):
                read, found = traffic.read(item, f"traffic {number}")
                items.append(read)
                problems += found
            if "traffic" in document and not traffic_list:
                problems.append(NO_TRAFFIC)
        else:
            problems.append(f"traffic must be a list, got {short_repr(traffic_list)}")
        rest = {name: document[name] for name in SCENARIO_FIELDS[2:-2] if name in document}
        for name, read_list in (("captures", capture_files.read), ("changes", change.read)):
            if name in document:
                rest[name], wrong = read_list(document[name])
                problems += wrong
        scenario = cls(topology or Topology(), [item for item in items if item is not None], **rest)
        # Also check the parts that could be read, so that one error lists all mistakes of the file.
        problems += scenario._problems(topology, items, complete=not unread)
        if problems:
            raise ScenarioError(problems)
        return scenario

    @classmethod
    def from_arguments(
        cls,
        network: Topology | Scenario | Mapping[str, Any],
        traffic: Sequence[Traffic] | None = None,
        duration_s: float | None = None,
        seed: int | None = None,
        interval_s: float | None = None,
        *,
        sysctls: Mapping[str, Any] | None = None,
        captures: Sequence[Capture] | None = None,
        changes: Sequence[Change] | None = None,
    ) -> Scenario:
        """Return the scenario for the arguments of `run` (None if left out): a network and its traffic, or a whole
        scenario alone. Raises ScenarioError with every mistake in it, or if other arguments follow a whole scenario.
        """
        rest: dict[str, Any] = {
            "traffic": traffic, "duration_s": duration_s, "seed": seed, "interval_s": interval_s,
            "sysctls": sysctls, "captures": captures, "changes": changes,
        }  # fmt: skip
        arguments = {name: value for name, value in rest.items() if value is not None}
        if isinstance(network, Scenario) or (isinstance(network, Mapping) and _is_whole(network)):
            conflicts: list[str] = []
            if arguments:
                words = ", ".join(f"{name}=..." for name in arguments)
                remedy = f"dataclasses.replace(scenario, {words})"
                if not isinstance(network, Scenario):
                    remedy = f"scenario | dict({words})"
                names = ", ".join(arguments)
                conflicts.append(f"a whole scenario cannot be combined with {names}; make another one: {remedy}")
            try:
                scenario = network if isinstance(network, Scenario) else cls.from_dict(network)
            except ScenarioError as error:
                raise ScenarioError([*error.problems, *conflicts]) from None
            if conflicts:
                raise ScenarioError(conflicts)
        else:
            topology = network_of(network) if isinstance(network, Mapping) else network
            scenario = cls(topology, **{"traffic": (), **arguments})
        scenario.validate()
        return scenario

    def validate(self) -> None:
        """Raise ScenarioError with all mistakes if there are any."""
        problems = self.problems()
        if problems:
            raise ScenarioError(problems)

    def problems(self) -> list[str]:
        """Return a message for each mistake in the scenario; an empty list if it can run."""
        if not isinstance(self.topology, Topology):
            return [f"topology must be a netlab.Topology, got {short_repr(self.topology)}"]
        if not isinstance(self.traffic, (list, tuple)):
            return [f"traffic must be a list such as [netlab.Tcp('h1', 'h2')], got {short_repr(self.traffic)}"]
        found = [
            f"traffic {number} must be a {traffic.class_names()}, got {short_repr(item)}"
            for number, item in enumerate(self.traffic, start=1)
            if not traffic.is_known(item)
        ]
        if not self.traffic:
            found.append(NO_TRAFFIC)
        items = [item if traffic.is_known(item) else None for item in self.traffic]
        return found + self._problems(self.topology, items, complete=True)

    def _problems(self, topology: Topology | None, items: Sequence[Traffic | None], *, complete: bool) -> list[str]:
        """Return a message for each mistake in the parts that could be read: `topology` is None or an item of `items`
        is None if it could not be read, and `complete` is False if parts of the topology could not.
        """
        found = topology.problems() if topology is not None else []
        paths = Paths(topology.wiring()) if topology is not None and complete and not found else None
        found += self._settings_problems()
        found += self._capture_problems(topology if paths is not None else None)
        found += change.problems(self.changes, topology if paths is not None else None, self.duration_s)
        saved_by: dict[str, int] = {}
        for number, item in enumerate(items, start=1):
            if item is None:
                continue
            where = f"traffic {number} ({item.kind})"
            wrong = item.problems(where)
            for name in () if wrong else item.saves:
                if saved_by.setdefault(name, number) != number:
                    found.append(f"{where}: saves: {name} is left by traffic {saved_by[name]} too; choose another name")
            found += wrong
            if topology is not None and topology.nodes:
                found += _end_problems(topology, paths, item, where)
            if is_number(item.start_s) and is_number(self.duration_s) and item.start_s >= self.duration_s > 0:
                found.append(f"{where}: it starts at {item.start_s:g} s, when the run of {self.duration_s:g} s is over")
        return found + conflicting_initial_windows(items)

    def _settings_problems(self) -> list[str]:
        """Return a message for each mistake in the duration, the interval, the seed and the sysctls."""
        found = []
        if not (is_number(self.duration_s) and 0 < self.duration_s <= MAX_RUN_S):
            found.append(
                f"duration_s must be above 0 and at most {MAX_RUN_S:g}, {quote_number('duration_s', self.duration_s)}"
            )
        if not (is_number(self.interval_s) and self.interval_s >= MIN_INTERVAL_S):
            found.append(
                f"interval_s must be a number of at least {MIN_INTERVAL_S}, {quote_number('interval_s', self.interval_s)}"
            )
        if not found and self.interval_s > self.duration_s:
            found.append(
                f"interval_s={self.interval_s:g} exceeds the run's duration_s={self.duration_s:g}; choose a shorter one"
            )
        if not found and self.duration_s / self.interval_s > MAX_INTERVALS:
            found.append(
                f"interval_s={self.interval_s:g} makes {self.duration_s / self.interval_s:.0f} intervals of a run of "
                f"{self.duration_s:g} s; {MAX_INTERVALS} is the most"
            )
        if not (is_integer(self.seed) and 0 <= self.seed < 2**64):
            found.append(f"seed must be a whole number from 0 to 2**64 - 1, {quote_number('seed', self.seed)}")
        if not isinstance(self.sysctls, Mapping):
            return [*found, f"sysctls must be a mapping of names to values, got {short_repr(self.sysctls)}"]
        for name, value in self.sysctls.items():
            if not (isinstance(name, str) and SYSCTL_NAME.fullmatch(name)):
                found.append(
                    f"sysctls: {short_repr(name)} must be a name that begins with net., such as net.ipv4.tcp_sack"
                )
            elif not (is_integer(value) or (isinstance(value, str) and SYSCTL_VALUE.fullmatch(value))):
                found.append(f"sysctls: {name} must be a whole number or a line of text, got {short_repr(value)}")
        return found

    def _capture_problems(self, topology: Topology | None) -> list[str]:
        """Return a message for each mistake in the captures; without a topology, those that can be found so."""
        if not isinstance(self.captures, (list, tuple)):
            return [f"captures must be a list such as [netlab.Capture('r1', 'h2')], got {short_repr(self.captures)}"]
        found: list[str] = []
        links = [] if topology is None else [{link.a, link.b} for link in topology.links]
        nodes = {} if topology is None else first_addresses(plan_addresses(topology.wiring())["addresses"])
        seen: set[str] = set()
        for number, item in enumerate(self.captures, start=1):
            where = f"captures {number}"
            if not isinstance(item, Capture):
                pair = item if isinstance(item, (tuple, list)) else (getattr(item, "a", "r1"), getattr(item, "b", "h2"))
                remedy = f"write nl.Capture({', '.join(map(repr, pair))})"
                found.append(f"{where} must be a netlab.Capture, got {short_repr(item)}; {remedy}")
                continue
            wrong = item.problems(where)
            found += wrong
            if wrong:
                continue
            if topology is not None:
                if {item.a, item.b} not in links:
                    found.append(f"{where}: there is no link {item.a}-{item.b}")
                try:
                    capture_files.parse_filter(item.filter, nodes)
                except ScenarioError as error:
                    found += [f"{where}: {problem}" for problem in error.problems]
            if item.label in seen:
                found.append(f"{where}: {item.label} is captured already; give it another name")
            seen.add(item.label)
        return found

    def plan(self) -> Plan:
        """Return the plan of the run, as plain data for the engine and the agent; the scenario must be valid."""
        topology = self.topology
        wiring = topology.wiring()
        paths = Paths(wiring)
        shapes = change.shapes(topology, self.changes)
        labels = traffic.unique_labels(self.traffic)
        slowest_s = {
            hop.interface: max(_slowest_s(shape, shapes[place ^ 1][0]) for shape in shapes[place])
            for place, hop in enumerate(wiring.hops)
        }
        return {
            "hosts": topology.hosts,
            "routers": topology.routers,
            "switches": topology.switches,
            "directions": [_planned_hop(hop, own) for hop, own in zip(wiring.hops, shapes, strict=True)],
            **self._addressing(paths),
            "traffic": [self._plan_item(item, label, paths) for item, label in zip(self.traffic, labels, strict=True)],
            "duration_s": float(self.duration_s),
            "interval_s": float(self.interval_s),
            "drain_s": self._drain_s(paths, slowest_s),
            "captures": [
                {"name": item.label, "directions": [2 * position, 2 * position + 1], "snap_bytes": item.snap_bytes}
                for item in self.captures
                for position in [topology.position(item.a, item.b)]
            ],
            "changes": change.plan_changes(topology, self.changes),
            "seed": self.seed,
            "sysctls": {**TCP_SYSCTLS, **{name: str(value) for name, value in self.sysctls.items()}},
        }

    def _addressing(self, paths: Paths) -> Addressing:
        """Return the network's addresses and routes, with a route for each pair of hosts that has an initial window."""
        found = paths.addressing()
        windows = {
            (item.src, item.dst): item.initial_window_segments
            for item in self.traffic
            if isinstance(item, Tcp) and item.initial_window_segments is not None
        }
        for (src, dst), segments in windows.items():
            to, via = f"{paths.address(src, dst)}/32", paths.next_address(src, dst)
            found["routes"].append({"node": src, "to": to, "via": via, "initial_window_segments": segments})
        return found

    def _plan_item(self, item: Traffic, label: str, paths: Paths) -> Item:
        """Return an item of traffic in the plan's form, with its label and, for a flow, the address of its end."""
        planned = item.to_plan(label, self.traffic)
        if not isinstance(item, Flow):
            return planned
        return cast("Item", {**planned, "address": paths.address(item.src, item.dst)})

    def _drain_s(self, paths: Paths, slowest_s: Mapping[str, float]) -> float:
        """Return 0.1 s more than the longest time in s that a flow's packet sent at the end can still take, there and,
        if it is answered, back; `slowest_s` has the longest time in s of each interface.
        """
        longest_s = 0.0
        for item in self.traffic:
            if not (isinstance(item, Flow) and item.crossings):
                continue
            crossed = paths.hops(item.src, item.dst)
            if item.crossings > 1:
                crossed += paths.hops(item.dst, item.src)
            longest_s = max(longest_s, sum(slowest_s[hop.interface] for hop in crossed))
        return longest_s + 0.1


def _slowest_s(shape: LinkShape, other: LinkShape) -> float:
    """Return the longest time in s that a packet takes through a full queue and the wire; `other` is the way back."""
    wire_s = ms_to_s(shape.delay_ms + 2 * shape.jitter_ms)
    if shape.medium is not None:
        # In a full queue, every frame waits for a frame of the other end.
        frame_us = sum(media.medium(shape.medium, way.medium_options).slowest_us for way in (shape, other))
        return wire_s + ((shape.queue_packets or KERNEL_QUEUE_PACKETS) + 1) * frame_us / US_PER_S
    if shape.rate_mbps is None:
        return wire_s
    queue_bits = (
        shape.queue_bytes * BITS_PER_BYTE
        if shape.queue_bytes is not None
        else (shape.queue_packets or KERNEL_QUEUE_PACKETS) * FRAME_BITS
    )
    bits = queue_bits + 2 * FRAME_BITS
    if isinstance(shape.rate_mbps, Trace):
        return wire_s + shape.rate_mbps.slowest_s(bits)
    return wire_s + bits / mbps_to_bps(shape.rate_mbps)


def _planned_hop(hop: NetworkHop, shapes: Sequence[LinkShape]) -> PlannedHop:
    """Return a direction of a link in the plan's form; `shapes` are its successive properties during the run. If its
    rate changes, its segmentation offload is decided once for the whole run.
    """
    planned = hop.to_dict()
    rates = [shape.slowest_mbps for shape in shapes if shape.is_shaped]
    changes = len(shapes) > 1 or isinstance(hop.shape.rate_mbps, Trace)
    if changes and rates and planned["shape"]["segmentation_offload"] is None:
        # Decide once for the whole run: a queue that counts frames cannot change to one that counts segments.
        planned["shape"]["segmentation_offload"] = min(rates) > OFFLOAD_ABOVE_MBPS
    return planned


def _end_problems(topology: Topology, paths: Paths | None, item: Traffic, where: str) -> list[str]:
    """Return a message, after the prefix `where`, if the endpoints of an item of traffic do not exist or are not
    connected (unchecked if `paths` is None), or if nothing would limit its rate.
    """
    allowed = topology.nodes if item.allows_switches else [*topology.hosts, *topology.routers]
    found = [f"{where}: {end}: {one_of(name, allowed)}" for end, name in item.ends.items() if name not in allowed]
    if found or not isinstance(item, Flow):
        return found
    if item.src == item.dst:
        return [f"{where}: src and dst are both {item.src}; traffic needs two ends"]
    if paths is None:
        return []
    try:
        hops = paths.hops(item.src, item.dst)
        paths.hops(item.dst, item.src)
    except ScenarioError as error:
        return [f"{where}: {problem}" for problem in error.problems]
    unlimited = item.without_rate()
    if unlimited is not None and all(math.isinf(hop.rate_mbps) for hop in hops):
        return [f"{where}: {unlimited}"]
    return []


def _is_whole(document: Mapping[str, Any]) -> bool:
    """Return whether a dict is that of a scenario file, not of a topology file."""
    return not document.keys() & {"hosts", "links"}


def network_of(network: Topology | Scenario | Mapping[str, Any]) -> Topology:
    """Return the topology of a topology, a scenario, or a file's dict of one. Raises ScenarioError if invalid."""
    if isinstance(network, Scenario):
        return network.topology
    if isinstance(network, Mapping):
        inner = network["topology"] if "topology" in network and _is_whole(network) else network
        return inner if isinstance(inner, Topology) else Topology.from_dict(inner)
    if not isinstance(network, Topology):
        raise ScenarioError([f"topology must be a netlab.Topology, got {short_repr(network)}"])
    return network


def first_addresses(addresses: Sequence[Address]) -> dict[str, str]:
    """Return the first IPv4 address of each node, by the node's name and without prefix length."""
    found: dict[str, str] = {}
    for item in addresses:
        found.setdefault(item["node"], item["address"].partition("/")[0])
    return found


def read_scenario(path: str | os.PathLike[str]) -> Scenario:
    """Return the scenario in a JSON file. Raises ScenarioError when it cannot be read, is not JSON, or has mistakes."""
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"), object_pairs_hook=_unique_pairs)
    except OSError as error:
        raise ScenarioError([f"{path} cannot be read: {error.strerror}"]) from None
    except UnicodeDecodeError:
        raise ScenarioError([f"{path} is not a text file"]) from None
    except json.JSONDecodeError as error:
        line = error.doc.split("\n")[error.lineno - 1].strip() if error.doc.strip() else "the file is empty"
        place = f"{error.msg} in line {error.lineno}, column {error.colno}: {short_repr(line)}"
        raise ScenarioError([f"{path} is not JSON: {place}"]) from None
    except (ValueError, RecursionError):
        raise ScenarioError([f"{path} holds a number too long or lists too deep to be read"]) from None
    return Scenario.from_dict(document)


def _unique_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the name-value pairs of a JSON object as a dict. Raises ScenarioError if a name occurs twice."""
    document = dict(pairs)
    if len(document) < len(pairs):
        twice = sorted(name for name, times in Counter(name for name, _ in pairs).items() if times > 1)
        raise ScenarioError([f"scenario: {short_repr(name)} is given twice in one object; keep one" for name in twice])
    return document
