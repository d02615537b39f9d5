"""Descriptions of captures, and the files that they produce."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from netlab.base.arguments import explain_bad_construction, unknown_fields
from netlab.base.errors import ScenarioError
from netlab.base.rules import Range, violations
from netlab.base.values import read_list, short_repr
from netlab.captures.filters import parse_filter
from netlab.captures.frames import read_ring
from netlab.captures.pcapng import SUFFIX, Origin, write_pcapng
from netlab.plan import Outcome, Plan

DEFAULT_SNAP_BYTES = 96
SNAP_BYTES = Range(54, 65_535, whole=True)
"""From Ethernet, IPv4 and TCP headers without options on."""


@explain_bad_construction('nl.Capture("r1", "h2")')
@dataclass(frozen=True)
class Capture:
    """A request to record the packets of a link during a run, as a pcapng file.

    Parameters
    ----------
    a, b : str
        The link's nodes. With several links between them, the first.
    snap_bytes : int
        Bytes to keep of each packet, 54 to 65535, from its Ethernet header on.
    filter : str
        The packets to keep: tcp, udp, icmp, arp, `host ADDRESS`, `port NUMBER`, joined by and, or, not and parentheses. Empty is all.
    name : str
        The file's name without .pcapng; empty is `a-b`.

    Examples
    --------
    >>> Capture("r1", "h2", filter="tcp and port 5001").problems("captures 1")
    []
    """

    a: str
    b: str
    snap_bytes: int = DEFAULT_SNAP_BYTES
    filter: str = ""
    name: str = ""

    @property
    def label(self) -> str:
        """The name of the capture's file without the suffix .pcapng."""
        return self.name or f"{self.a}-{self.b}"

    def problems(self, where: str) -> list[str]:
        """Return a message for each mistake in the fields, after the prefix `where`; an empty list if there is none."""
        found = [
            f"{where}: {end} must be the name of a node, got {short_repr(name)}"
            for end, name in (("a", self.a), ("b", self.b))
            if not isinstance(name, str)
        ]
        found += [f"{where}: {problem}" for problem in violations({"snap_bytes": SNAP_BYTES}, self)]
        if (
            not isinstance(self.name, str)
            or not re.fullmatch(r"[A-Za-z0-9_.-]{0,100}", self.name)
            or self.name.startswith(".")
        ):
            found.append(f"{where}: name must consist of letters, digits, -, _ and ., got {short_repr(self.name)}")
        try:
            parse_filter(self.filter)
        except ScenarioError as error:
            found += [f"{where}: {problem}" for problem in error.problems]
        return found


def read(value: object) -> tuple[list[Capture], list[str]]:
    """Return the captures in `value`, a scenario file's list `captures`, and a message for each unreadable item."""
    names = tuple(entry.name for entry in fields(Capture))

    def field_problems(words: Mapping[str, object], where: str) -> list[str]:
        """Return a message, after the prefix `where`, for each key of `words` that is not a field of a capture."""
        return unknown_fields(where, words, names)

    return read_list(value, "captures", Capture, ("a", "b"), field_problems)


def finish(folder: Path, items: Sequence[tuple[Capture, str, Sequence[str]]], origin: Origin) -> list[Path]:
    """Write `NAME.pcapng` in `folder` for each capture from the agent's files `NAME.INTERFACE.out` and `.in` there,
    remove those, and return the new paths. `items` has (capture, NAME, two interfaces), `origin` goes into them.
    """
    addresses = {node: address for address, node in reversed(origin.nodes.items())}
    paths = []
    for item, name, interfaces in items:
        ends = {}
        for interface in interfaces:
            raws = [folder / f"{name}.{interface}.{side}" for side in ("out", "in")]
            departed, arrived = (read_ring(raw.read_bytes()) for raw in raws)
            ends[interface] = (departed, arrived)
            for raw in raws:
                raw.unlink()
        paths.append(folder / f"{name}{SUFFIX}")
        write_pcapng(paths[-1], ends, item.snap_bytes, origin, parse_filter(item.filter, addresses))
    return paths


def finish_run(captures: Sequence[Capture], plan: Plan, outcome: Outcome) -> None:
    """Write the pcapng files of a run's captures to the directory `artifacts` of its outcome, and add a message for
    each to the outcome's `unsaved` if packets are missing. Do nothing if the run has no captures or no such directory.
    """
    if not captures or outcome["artifacts"] is None:
        return
    items = [
        (item, item.label, [plan["directions"][number]["interface"] for number in item_plan["directions"]])
        for item, item_plan in zip(captures, plan["captures"], strict=True)
    ]
    paths = finish(Path(outcome["artifacts"]), items, Origin(outcome["origin_ns"], nodes_by_address(plan)))
    if outcome["packets_lost"]:
        reason = f"{outcome['packets_lost']} packets came faster than a capture's ring holds; the rest is there"
        outcome["unsaved"].update({f"{path.name}, whole": reason for path in paths})


def nodes_by_address(plan: Plan) -> dict[str, str]:
    """Return the names of a plan's nodes by their IPv4 addresses without prefix lengths, such as {"10.0.0.1": "h1"}."""
    return {item["address"].partition("/")[0]: item["node"] for item in plan["addresses"]}
