"""Differences between the scenario of a student's repeated measurement and the one that an exercise requires."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import pandas as pd

from netlab.network.link import Link, LinkShape, difference
from netlab.runs.scenario import Scenario
from netlab_course.conditions import traffic_in_words

MAX_DIFFERENCES = 3


def repeats(table: pd.DataFrame, required: Scenario) -> bool:
    """Return whether a table of `netlab.repeat` was measured in the scenario `required`; its seeds may differ, and its
    duration may be longer.
    """
    return not any(differences(table.attrs["scenario"], required.to_dict()))


def differences(given: Mapping[str, Any], required: Mapping[str, Any]) -> Iterator[str]:
    """Yield a text for each difference between a student's scenario and the required one, both as dicts of a scenario
    file: in nodes, links, traffic, changes and sysctls, and a shorter duration. The order of nodes and of links, and
    which end of a link comes first, make no difference.

    >>> link = {"a": "h1", "b": "h2", "rate_mbps": 5}
    >>> asked = {"topology": {"links": [link]}, "traffic": [{"kind": "udp", "rate_mbps": 9}], "duration_s": 30}
    >>> given = {"topology": {"links": [{**link, "delay_ms": 1}]}, "traffic": [{"kind": "udp", "rate_mbps": 4}], "duration_s": 9}
    >>> list(differences(given, asked))
    ['link h1-h2: delay_ms=1, not asked for', 'traffic 1 (udp): rate_mbps=4, not 9', 'duration_s=9, less than 30']
    """
    given_network, network = given["topology"], required["topology"]
    for name in ("hosts", "routers", "switches"):
        yield from _name_differences(given_network.get(name, []), network.get(name, []), name)
    yield from _link_differences(given_network.get("links", []), network.get("links", []))
    yield from _list_differences(
        given.get("traffic", []), required.get("traffic", []), "traffic", lambda item: f"({item['kind']})"
    )
    yield from _list_differences(given.get("changes", []), required.get("changes", []), "change", lambda _item: "")
    yield from _field_differences(given.get("sysctls", {}), required.get("sysctls", {}), "sysctls")
    if given["duration_s"] < required["duration_s"]:
        yield f"duration_s={given['duration_s']:g}, less than {required['duration_s']:g}"


def scenario_in_words(given: Mapping[str, Any], required: Scenario) -> str:
    """Return a text on a student's scenario (the dict of its file), its traffic, the rates of its links and its duration,
    and on its first three differences from the scenario `required`.
    """
    rates = [link["rate_mbps"] for link in given["topology"]["links"] if link.get("rate_mbps") is not None]
    links = f"links of {', '.join(f'{rate:g}' for rate in dict.fromkeys(rates))} Mbit/s; " if rates else ""
    traffic = traffic_in_words(SimpleNamespace(scenario=given))
    return f"{traffic}; {links}{given['duration_s']:g} s. It differs in {first_differences(given, required)}"


def first_differences(given: Mapping[str, Any], required: Scenario) -> str:
    """Return a text on the first three differences of a student's scenario (the dict of its file) from the scenario
    `required`, and on the number of others; "" if there is none.
    """
    found = list(differences(given, required.to_dict()))
    more = f"; {len(found) - MAX_DIFFERENCES} more differences" if len(found) > MAX_DIFFERENCES else ""
    return "; ".join(found[:MAX_DIFFERENCES]) + more


def _name_differences(given: Sequence[str], required: Sequence[str], kind: str) -> Iterator[str]:
    """Yield a text on the names of nodes that are missing, and one on superfluous ones; `kind` is the nodes' plural,
    such as "hosts".
    """
    missing = [name for name in required if name not in given]
    extra = [name for name in given if name not in required]
    if missing:
        yield f"{kind} that are missing: {', '.join(missing)}"
    if extra:
        yield f"{kind} that were not asked for: {', '.join(extra)}"


def _link_differences(given: Sequence[Mapping[str, Any]], required: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a text for each difference between the links of two networks, both as dicts of a scenario file. Those with
    the same ends belong together; of the others the first of both, the second of both and so on, if no link is missing
    or superfluous.
    """
    rest = list(given)
    partners = [_take_link(rest, right["a"], right["b"]) for right in required]
    if len(given) == len(required):
        # Only now is it known which links have no partner with the same ends.
        partners = [rest.pop(0) if partner is None else partner for partner in partners]
    else:
        yield f"link: {len(given)} in place of {len(required)}"
    for item, right in zip(partners, required, strict=True):
        if item is None:
            continue
        is_turned = (item["a"], item["b"]) == (right["b"], right["a"])
        seen, wanted = (_seen_from(link, right["a"]) for link in (item, right)) if is_turned else (item, right)
        yield from _field_differences(seen, wanted, f"link {seen['a']}-{seen['b']}")


def _take_link(links: list[Mapping[str, Any]], a: str, b: str) -> Mapping[str, Any] | None:
    """Remove the first link between the nodes `a` and `b` from `links`, dicts of a scenario file, and return it; None
    if there is none.
    """
    found = next((index for index, link in enumerate(links) if {link["a"], link["b"]} == {a, b}), None)
    return None if found is None else links.pop(found)


def _seen_from(link: Mapping[str, Any], end: str) -> dict[str, Any]:
    """Return a link, the dict of a scenario file, as the dict of the same link with `end` as its first end."""
    described = Link(**link)
    here, back = described.forward, described.backward
    if described.a != end:
        here, back = back, here
    other = described.b if described.a == end else described.a
    return Link(end, other, **difference(LinkShape(), here), reverse=difference(here, back)).to_dict()


def _list_differences(
    given: Sequence[Mapping[str, Any]], required: Sequence[Mapping[str, Any]], kind: str, name: Callable[[Any], str]
) -> Iterator[str]:
    """Yield a text for each difference between two lists of dicts of a scenario file; `kind` is "traffic" or "change",
    and `name` returns the name of an entry. If the lengths of the lists differ, their entries are not compared: positions
    say nothing about which belong together.
    """
    if len(given) != len(required):
        yield f"{kind}: {len(given)} in place of {len(required)}"
        return
    for number, (item, right) in enumerate(zip(given, required, strict=True), start=1):
        yield from _field_differences(item, right, f"{kind} {number} {name(item)}".rstrip())


def _field_differences(given: Mapping[str, Any], required: Mapping[str, Any], place: str) -> Iterator[str]:
    """Yield a text for each field that differs between two entries (dicts) of a scenario; `place` names the entry in
    the text, such as "link h1-h2".
    """
    for field_name in dict.fromkeys((*given, *required)):
        seen, right = given.get(field_name), required.get(field_name)
        if seen != right:
            expected = "not asked for" if right is None else f"not {right}"
            yield f"{place}: {field_name}={seen}, {expected}"
