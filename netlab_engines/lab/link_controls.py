"""Sliders for the fields of a network's links."""

from collections.abc import Mapping, Sequence
from typing import Any

import ipywidgets

from netlab.base.errors import ScenarioError, one_of
from netlab.base.values import is_number, short_repr
from netlab.network.link import LinkShape
from netlab.network.topology import Topology
from netlab.widgets.controls import log_slider, slider

Pair = tuple[str, str]
Controls = Mapping[Pair, "Sequence[str] | Mapping[str, tuple[float, float] | None]"]
"""The fields of each link that get a slider; a mapping also has the ends of each slider."""
Sliders = dict[tuple[Pair, str], ipywidgets.ValueWidget]

USUAL_FIELDS = ("rate_mbps", "delay_ms", "loss_rate", "queue_packets")
FIELDS = {
    "rate_mbps": ("rate", "Mbit/s"),
    "delay_ms": ("delay", "ms"),
    "jitter_ms": ("jitter", "ms"),
    "loss_rate": ("loss rate", ""),
    "queue_packets": ("queue", "packets"),
    "queue_bytes": ("queue", "bytes"),
}


def link_sliders(topology: Topology, controls: Controls | None) -> tuple[Sliders, list[str]]:
    """Return the sliders for fields of a network's links, a dict by (the pair of the link's node names, the field's
    name), and a list with a message for each slider that is not possible. `controls` has the names of fields by pair,
    or a mapping from them to the slider's two ends (None: chosen here); `controls` None means the fields USUAL_FIELDS that
    have a number, of all links with a rate. Without such a link, or for `controls` of another type, there are no
    sliders and one message.
    """
    with_rate = [link for link in topology.links if link.forward.is_shaped or link.backward.is_shaped]
    if not with_rate:
        return {}, ["no link has a rate_mbps, so nothing limits the traffic and there is no queue; give one a rate"]
    if controls is None:
        controls = {
            (one.a, one.b): [field for field in USUAL_FIELDS if not _problem(one.forward, field, None)]
            for one in with_rate
        }
    if not isinstance(controls, Mapping):
        return {}, [f"controls must be a dict such as {{('r1', 'h2'): ['rate_mbps']}}, got {short_repr(controls)}"]
    sliders: Sliders = {}
    problems: list[str] = []
    for pair, fields in controls.items():
        if not (isinstance(pair, tuple) and len(pair) == 2):
            problems.append(f"controls: a link is named by its two nodes, such as ('r1', 'h2'), got {short_repr(pair)}")
            continue
        try:
            forward, _ = shapes_from(topology, pair)
        except ScenarioError as error:
            problems += [f"controls: {problem}" for problem in error.problems]
            continue
        name = "-".join(pair)
        if isinstance(fields, str) or not isinstance(fields, (Mapping, Sequence)):
            problems.append(f"controls {name}: fields must be a list such as ['rate_mbps'], got {short_repr(fields)}")
            continue
        for field in fields:
            ends = fields[field] if isinstance(fields, Mapping) else None
            wrong = _problem(forward, field, ends)
            if wrong:
                problems.append(f"controls {name}: {wrong}")
            else:
                sliders[pair, field] = _slider(name, field, getattr(forward, field), ends)
    return sliders, problems


def shapes_from(topology: Topology, pair: Pair) -> tuple[LinkShape, LinkShape]:
    """Return the properties of the link between the two nodes of `pair`: those of the direction from the first node to
    the second, then those of the way back. Raises ScenarioError if there is no such link.
    """
    link = topology.links[topology.position(*pair, 1)]
    return (link.forward, link.backward) if pair[0] == link.a else (link.backward, link.forward)


def _problem(shape: LinkShape, field: str, ends: Any) -> str:
    """Return a sentence about why a slider from `ends[0]` to `ends[1]` (None: any) cannot set the field with this name
    of a link's direction, whose properties are `shape`; "" if it can.
    """
    if field not in FIELDS:
        return f"field: {one_of(field, tuple(FIELDS))}"
    value = getattr(shape, field)
    if shape.medium is not None:
        return f"the link is a shared medium ({shape.medium}), which cannot change"
    if not is_number(value):
        return f"{field} is {'not set' if value is None else 'a trace'}; give the link a number that the slider begins with"
    if ends is None:
        return ""
    if not (isinstance(ends, (tuple, list)) and len(ends) == 2 and all(map(is_number, ends)) and ends[0] < ends[1]):
        return f"{field}: the slider's ends must be two numbers such as (1, 20), got {short_repr(ends)}"
    if not ends[0] <= value <= ends[1]:
        return f"{field}={value:g} is not from {ends[0]:g} to {ends[1]:g}, the slider's ends"
    if field == "rate_mbps" and ends[0] <= 0:
        return f"{field}: the slider's lower end must be above 0, got {ends[0]:g}"
    return ""


def _slider(link: str, field: str, value: float, ends: tuple[float, float] | None) -> ipywidgets.ValueWidget:
    """Return the slider of the field with this name of a link, starting at `value` in the field's unit; `link`, such as
    "r1-h2", is part of its label. Its range is `ends`, or follows from the value if that is None; the scale of a rate
    is logarithmic.
    """
    name, unit = FIELDS[field]
    label = f"{link} {name}"
    if field == "rate_mbps":
        return log_slider(label, value, *(ends or (value / 10, value * 10)), 20, unit)
    if field == "loss_rate":
        low, high = ends or (0.0, max(0.1, 2 * value))
        control = slider(label, value, low, high, (high - low) / 100, unit)
        control.readout_format = ".3f"
        return control
    low, high = ends or (1 if field.startswith("queue") else 0, max(100, 4 * value))
    return slider(label, value, low, high, 1 if all(isinstance(one, int) for one in (low, high, value)) else 0.1, unit)
