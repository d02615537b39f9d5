"""Items of traffic with one field changed, made from the rules of each kind: a new field with a rule is among them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields
from typing import Any

import netlab as nl
from netlab.base.errors import NotHereError
from netlab.base.rules import Choice, Range, Rule
from netlab.traffic import KINDS
from netlab.traffic.base import Traffic
from netlab_engines.library.requests import refuse_traffic

DURATION_S = 2
# The sender's own link is slower than any traffic that has a rate.
NETWORK = nl.Topology(
    ["h1", "h2"],
    ["r1"],
    links=[nl.Link("h1", "r1", rate_mbps=0.5, delay_ms=5, queue_packets=30), nl.Link("r1", "h2", delay_ms=5)],
)
STEPS = 4


def base(kind: str) -> dict[str, Any]:
    """Return the fields that an item of this kind must have, and for datagrams a spacing that other flows do not change."""
    return {**KINDS[kind].required, "src": "h1", "dst": "h2", **({"spacing": "even"} if kind == "udp" else {})}


def changed() -> Iterator[tuple[str, str, list[Traffic]]]:
    """Yield each kind and field with a rule, and the same item with different allowed values of that field."""
    for kind, cls in KINDS.items():
        defaults = {field.name: field.default for field in fields(cls)} | cls.required  # type: ignore[arg-type]
        for name in defaults:
            if name in cls.rules and kind not in ("program", "command"):
                items = [cls(**{**base(kind), name: value}) for value in values(cls.rules[name], defaults[name])]
                yield kind, name, [item for item in items if not scenario(item).problems()]


def values(rule: Rule, default: Any) -> Iterator[Any]:
    """Yield values that the rule allows, from its whole range, without the default."""
    if isinstance(rule, Choice):
        yield from (word for word in rule.words if word != default)
        return
    assert isinstance(rule, Range), rule
    low, high = max(rule.low, min(0.13, rule.high)), min(rule.high, max(10.0, 100 * rule.low))
    for step in range(STEPS + 1):
        value = low * (high / low) ** (step / STEPS)
        value = round(value) if rule.whole else value
        if value != default and rule.problem("", value) is None:
            yield value


def scenario(*traffic: Traffic) -> nl.Scenario:
    """Return the scenario with this traffic on the network of these tests."""
    return nl.Scenario(NETWORK, traffic, DURATION_S)


def in_one_scenario(items: Iterable[Traffic]) -> nl.Scenario:
    """Return a scenario of those items that may be in one and that the library kernel has."""
    chosen: list[Traffic] = []
    for item in items:
        if not scenario(*chosen, item).problems() and is_in_the_library_kernel(item):
            chosen.append(item)
    return scenario(*chosen)


def is_in_the_library_kernel(item: Traffic) -> bool:
    """Return whether the library kernel has all fields of an item."""
    try:
        refuse_traffic(scenario(item).plan()["traffic"])
    except NotHereError:
        return False
    return True
