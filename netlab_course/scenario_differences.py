"""Differences between the scenario of a student's repeated measurement and the one that an exercise asks for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import pandas as pd

from netlab.runs.scenario import Scenario
from netlab_course.conditions import traffic_in_words

MAX_DIFFERENCES = 3


def repeats(table: pd.DataFrame, wanted: Scenario) -> bool:
    """Return whether a table of `netlab.repeat` was measured in the scenario `wanted`; its seeds may differ, and its
    duration may be longer.
    """
    return not any(differences(table.attrs["scenario"], wanted.to_dict()))


def differences(given: Mapping[str, Any], asked: Mapping[str, Any]) -> Iterator[str]:
    """Yield a text for each difference between a student's scenario and the one asked for, both as dicts of a scenario
    file: in nodes, links, traffic, changes and sysctls, and a shorter duration.

    >>> link = {"a": "h1", "b": "h2", "rate_mbps": 5}
    >>> asked = {"topology": {"links": [link]}, "traffic": [{"kind": "udp", "rate_mbps": 9}], "duration_s": 30}
    >>> given = {"topology": {"links": [{**link, "delay_ms": 1}]}, "traffic": [{"kind": "udp", "rate_mbps": 4}], "duration_s": 9}
    >>> list(differences(given, asked))
    ['link h1-h2: delay_ms=1, not asked for', 'traffic 1 (udp): rate_mbps=4, not 9', 'duration_s=9, less than 30']
    """
    there, wanted = given["topology"], asked["topology"]
    for name in ("hosts", "routers", "switches"):
        yield from _name_differences(there.get(name, []), wanted.get(name, []), name)
    yield from _list_differences(
        there.get("links", []), wanted.get("links", []), "link", lambda item: f"{item['a']}-{item['b']}"
    )
    yield from _list_differences(
        given.get("traffic", []), asked.get("traffic", []), "traffic", lambda item: f"({item['kind']})"
    )
    yield from _list_differences(given.get("changes", []), asked.get("changes", []), "change", lambda _item: "")
    yield from _field_differences(given.get("sysctls", {}), asked.get("sysctls", {}), "sysctls")
    if given["duration_s"] < asked["duration_s"]:
        yield f"duration_s={given['duration_s']:g}, less than {asked['duration_s']:g}"


def scenario_in_words(given: Mapping[str, Any], asked: Scenario) -> str:
    """Return a text on a student's scenario (the dict of its file), its traffic, the rates of its links and its duration,
    and on its first three differences from the scenario `asked`.
    """
    rates = [link["rate_mbps"] for link in given["topology"]["links"] if link.get("rate_mbps") is not None]
    links = f"links of {', '.join(f'{rate:g}' for rate in dict.fromkeys(rates))} Mbit/s; " if rates else ""
    traffic = traffic_in_words(SimpleNamespace(scenario=given))
    return f"{traffic}; {links}{given['duration_s']:g} s. It differs in {first_differences(given, asked)}"


def first_differences(given: Mapping[str, Any], asked: Scenario) -> str:
    """Return a text on the first three differences of a student's scenario (the dict of its file) from the scenario
    `asked`, and on the number of others; "" if there is none.
    """
    found = list(differences(given, asked.to_dict()))
    more = f"; {len(found) - MAX_DIFFERENCES} more differences" if len(found) > MAX_DIFFERENCES else ""
    return "; ".join(found[:MAX_DIFFERENCES]) + more


def _name_differences(given: Sequence[str], asked: Sequence[str], kind: str) -> Iterator[str]:
    """Yield a text on the names of nodes that are missing, one on those that were not asked for, or one on a different
    order; `kind` is the nodes' plural, such as "hosts".
    """
    missing = [name for name in asked if name not in given]
    extra = [name for name in given if name not in asked]
    if missing:
        yield f"{kind} that are missing: {', '.join(missing)}"
    if extra:
        yield f"{kind} that were not asked for: {', '.join(extra)}"
    if not missing and not extra and list(given) != list(asked):
        yield f"{kind} {', '.join(given)}, not {', '.join(asked)}"


def _list_differences(
    given: Sequence[Mapping[str, Any]], asked: Sequence[Mapping[str, Any]], kind: str, name: Callable[[Any], str]
) -> Iterator[str]:
    """Yield a text for each difference between two lists of dicts of a scenario file; `kind` is "link", "traffic" or
    "change", and `name` returns the name of an entry. Of lists of different lengths, only links are compared further.
    """
    if len(given) != len(asked):
        yield f"{kind}: {len(given)} entries, not {len(asked)}"
        # An entry more or less moves the entries behind it, so that places say nothing about which links belong together.
        named = {name(item): item for item in given} if kind == "link" else {}
        asked = [item for item in asked if name(item) in named]
        given = [named[name(item)] for item in asked]
    for number, (item, wanted) in enumerate(zip(given, asked, strict=False), start=1):
        where = f"link {name(item)}" if kind == "link" else f"{kind} {number} {name(item)}".rstrip()
        yield from _field_differences(item, wanted, where)


def _field_differences(given: Mapping[str, Any], asked: Mapping[str, Any], where: str) -> Iterator[str]:
    """Yield a text for each field that differs between two entries (dicts) of a scenario; `where` names the entry in
    the text, such as "link h1-h2".
    """
    for field_name in dict.fromkeys((*given, *asked)):
        seen, wanted = given.get(field_name), asked.get(field_name)
        if seen != wanted:
            should = "not asked for" if wanted is None else f"not {wanted}"
            yield f"{where}: {field_name}={seen}, {should}"
