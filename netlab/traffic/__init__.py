"""Description of traffic: TCP and UDP flows, requests, pings, programs and commands.

A kind of traffic is a module here (its fields), one in `netlab_engines.agent.flows` (what the guest does) and one in
`netlab.measure` (what its counters mean), each with a row in its package's table.
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, cast

from netlab.base.arguments import unknown_fields
from netlab.base.errors import one_of
from netlab.base.values import short_repr
from netlab.traffic.base import Flow, Traffic
from netlab.traffic.command import Command
from netlab.traffic.ping import Ping
from netlab.traffic.program import Program
from netlab.traffic.requests import Requests
from netlab.traffic.tcp import Tcp
from netlab.traffic.udp import Udp

KINDS: dict[str, type[Traffic]] = {
    Tcp.kind: Tcp,
    Udp.kind: Udp,
    Requests.kind: Requests,
    Ping.kind: Ping,
    Program.kind: Program,
    Command.kind: Command,
}

__all__ = [
    "KINDS", "Command", "Flow", "Ping", "Program", "Requests", "Tcp", "Traffic", "Udp", "class_names", "is_known", "read",
    "unique_labels",
]  # fmt: skip


def is_known(item: object) -> bool:
    """Return whether an object is traffic of a known kind."""
    return isinstance(item, Traffic) and KINDS.get(item.kind) is type(item)


def class_names() -> str:
    """Return the names of the traffic classes for a message, such as "netlab.Tcp, Udp or Ping".

    >>> class_names()
    'netlab.Tcp, Udp, Requests, Ping, Program or Command'
    """
    names = [cls.__name__ for cls in KINDS.values()]
    return f"netlab.{', '.join(names[:-1])} or {names[-1]}"


def read(document: object, where: str) -> tuple[Traffic | None, list[str]]:
    """Return the item of traffic in a scenario file (`document`), or None if it cannot be read, and a message, after
    the prefix `where`, for each unknown or missing field. (The item's `problems` checks values; here only if one is
    missing.)
    """
    if isinstance(document, Traffic):
        return document, []
    if not isinstance(document, Mapping):
        return None, [f"{where} must be an object with a kind, got {short_repr(document)}"]
    kind = document.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        return None, [f"{where}: kind: {one_of(kind, list(KINDS))}"]
    cls: Any = KINDS[kind]
    allowed = [field.name for field in fields(cls)]
    arguments = {name: value for name, value in document.items() if name in allowed}
    missing = [name for name in cls.required if name not in arguments]
    problems = unknown_fields(where, {name: value for name, value in document.items() if name != "kind"}, allowed)
    problems += [f"{where}: {name} is missing; a {kind} item needs {', '.join(cls.required)}" for name in missing]
    if missing:
        # Check the given fields also if others are missing, for which placeholders are used.
        problems += cls(**arguments, **{name: cls.required[name] for name in missing}).problems(where)
        return None, problems
    return cast("Traffic", cls(**arguments)), problems


def unique_labels(traffic: Sequence[Traffic]) -> list[str]:
    """Return a label for each item of traffic, in the same order; equal labels are numbered.

    >>> unique_labels([Tcp("h1", "h2"), Tcp("h1", "h2"), Ping("h1", "h2")])
    ['h1-h2 cubic', 'h1-h2 cubic (2)', 'h1-h2 ping']
    """
    seen: dict[str, int] = {}
    labels = []
    for item in traffic:
        label = item.label
        seen[label] = seen.get(label, 0) + 1
        labels.append(label if seen[label] == 1 else f"{label} ({seen[label]})")
    return labels
