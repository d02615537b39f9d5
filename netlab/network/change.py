"""Changes of a link during a run: new properties, down, up."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from netlab import plan
from netlab.base.arguments import explain_bad_construction, quote_flag, quote_number
from netlab.base.errors import ScenarioError
from netlab.base.values import is_integer, is_number, read_list, short_repr, to_python
from netlab.network.link import Link, LinkShape, difference, field_problems, override_fields, takes_link_fields, to_json
from netlab.network.topology import Topology
from netlab.network.trace import Trace

OWN_FIELDS = ("at_s", "link", "number", "up", "reverse")
FIXED_FIELDS = ("medium", "medium_options")
"""Fields of a shared medium, which cannot change during a run."""


@explain_bad_construction('nl.Change(at_s=10, link=("r1", "h2"), rate_mbps=2)')
class Change:  # noqa: PLW1641 (compares by value and holds dicts: no hash)
    """A change of a link's properties at a moment of the run; those not named stay as they are.

    Packets in a queue stay there (a new discipline, `aqm`, starts with an empty queue). Packets on the wire keep the
    delay with which they left. A link that goes down loses the packets on its wire and in its queues, and all that are
    sent to it until it is up again; routes do not change.

    Parameters
    ----------
    at_s : float
        The moment in s after the run's start, at least 0 and before its end.
    link : pair of str
        The two nodes that the link joins.
    number : int
        The number of the link, from 1, if several links join the two nodes.
    up : bool or None
        False takes the link down, True brings it up, None leaves it as it is.
    reverse : mapping, optional
        Fields that are different from the second node of `link` towards the first; alone it changes that direction only.
    **direction
        Fields of `netlab.Link`, such as `rate_mbps=2, delay_ms=50, loss_rate=0.01`, both ways but for `reverse`.

    Examples
    --------
    >>> Change(at_s=10, link=("r1", "h2"), rate_mbps=2)
    Change(at_s=10, link=('r1', 'h2'), rate_mbps=2)
    """

    def __init__(
        self,
        *,
        at_s: float,
        link: Sequence[str],
        number: int = 1,
        up: bool | None = None,
        reverse: Mapping[str, Any] | None = None,
        **direction: Any,
    ) -> None:
        """Describe a change at `at_s` (in s) of link `number` (from 1) between two nodes: up or down, new fields in
        both directions (`direction`) and from the second node (`reverse`). ScenarioError for a Link or unknown field.
        """
        if problems := field_problems("change", direction, reverse):
            raise ScenarioError(problems)
        if isinstance(link, Link):
            raise ScenarioError([f"change: link must name the two nodes; write link=({link.a!r}, {link.b!r})"])
        self.at_s = to_python(at_s)
        self.link = cast("tuple[str, str]", tuple(link) if isinstance(link, (list, tuple)) else link)
        self.number = to_python(number)
        self.up = up
        self.direction: dict[str, Any] = to_python(direction)
        self.reverse: dict[str, Any] = to_python(reverse or {})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Change) and self.to_dict() == other.to_dict()

    def __repr__(self) -> str:
        words = {**self.to_dict(), "link": self.link, **self.direction}
        return f"Change({', '.join(f'{name}={value!r}' for name, value in words.items())})"

    def to_dict(self) -> dict[str, Any]:
        """Return the change as the dict in a scenario file, without what it leaves as it is."""
        return {
            "at_s": self.at_s,
            "link": list(self.link),
            **({} if self.number == 1 else {"number": self.number}),
            **({} if self.up is None else {"up": self.up}),
            **to_json(self.direction),
            **({"reverse": to_json(self.reverse)} if self.reverse else {}),
        }

    def words(self) -> str:
        """Return a short description of the change for plots, such as "r1-h2: 2 Mbit/s"."""
        forward, backward = _field_descriptions(self.direction), _field_descriptions(self.reverse)
        if backward and not forward and self.up is None:
            return f"{self.link[1]}→{self.link[0]}: {', '.join(backward)}"
        parts = [*forward, *([f"back {', '.join(backward)}"] if backward else [])]
        if self.up is not None:
            parts.append("up" if self.up else "down")
        return f"{'-'.join(self.link)}: {', '.join(parts)}"

    def problems(self, where: str, duration_s: float) -> list[str]:
        """Return a message, after `where`, for each mistake visible without the topology in a run of `duration_s` s."""
        found = []
        if not (is_number(self.at_s) and self.at_s >= 0):
            found.append(
                f"{where}: at_s must be a time in s from the run's start on, {quote_number('at_s', self.at_s)}"
            )
        elif is_number(duration_s) and self.at_s >= duration_s:
            found.append(f"{where}: at_s={self.at_s:g} is not within the run, which ends at {duration_s:g} s")
        if not _is_pair(self.link):
            found.append(
                f"{where}: link must name the two nodes that it joins, such as ('r1', 'h2'), got {short_repr(self.link)}"
            )
        if not (is_integer(self.number) and self.number >= 1):
            found.append(f"{where}: number must be a whole number from 1 on, {quote_number('number', self.number)}")
        if self.up is not None and not isinstance(self.up, bool):
            found.append(f"{where}: up must be True or False, {quote_flag('up', self.up)}")
        if self.up is None and not self.direction and not self.reverse:
            found.append(f"{where} changes nothing; name a field of the link such as rate_mbps=2, or up=False")
        fixed = [name for name in dict.fromkeys((*self.direction, *self.reverse)) if name in FIXED_FIELDS]
        found += [f"{where}: {name} cannot change while the network runs" for name in fixed]
        return found

    def apply(self, link: Link) -> Link:
        """Return a copy of a link with this change applied, except for `up`."""
        return changed_link(link, self.link[0], self.direction, self.reverse)


def changed_link(link: Link, first: str, direction: Mapping[str, Any], reverse: Mapping[str, Any]) -> Link:
    """Return a copy of a link with other fields: those of `direction` from the node `first` on, and those of both
    `direction` and `reverse` on the way back.
    """
    forward, backward = dict(direction), {**direction, **reverse}
    if first != link.a:
        forward, backward = backward, forward
    reverse = override_fields(vars(link.backward), backward)
    return Link(link.a, link.b, reverse=reverse, **override_fields(vars(link.forward), forward))


takes_link_fields(Change)


def read(value: object) -> tuple[list[Change], list[str]]:
    """Return the changes in `value`, a scenario file's list `changes`, and a message for each unreadable item."""
    return read_list(value, "changes", Change, ("at_s", "link"), _field_problems)


def _field_problems(words: Mapping[str, Any], where: str) -> list[str]:
    """Return a message, after the prefix `where`, for each wrong field in the dict of a change."""
    return field_problems(where, [name for name in words if name not in OWN_FIELDS], words.get("reverse"))


def problems(changes: object, topology: Topology | None, duration_s: float) -> list[str]:
    """Return a message for each mistake in a scenario's changes, for a run of `duration_s` seconds; if `topology` is
    None, those that can be found without it.
    """
    if not isinstance(changes, (list, tuple)):
        return [
            f"changes must be a list such as [netlab.Change(at_s=10, link=('r1', 'h2'), rate_mbps=2)], got {short_repr(changes)}"
        ]
    found: list[str] = []
    sound: list[tuple[str, Change]] = []
    for number, item in enumerate(changes, start=1):
        where = f"changes {number}"
        if not isinstance(item, Change):
            found.append(f"{where} must be a netlab.Change, got {short_repr(item)}")
            continue
        wrong = [*item.problems(where, duration_s), *_missing_link(where, item, topology)]
        found += wrong
        if not wrong:
            sound.append((where, item))
    return found if topology is None else [*found, *_link_problems(sound, topology)]


def _is_pair(link: object) -> bool:
    """Return whether a value is a tuple of two texts."""
    return isinstance(link, tuple) and len(link) == 2 and all(isinstance(end, str) for end in link)


def _missing_link(where: str, item: Change, topology: Topology | None) -> list[str]:
    """Return a list with a message, after the prefix `where`, if the topology lacks the link of a change, else []."""
    if topology is None or not _is_pair(item.link) or not is_integer(item.number):
        return []
    try:
        topology.position(*item.link, item.number)
    except ScenarioError as error:
        return [f"{where}: {problem}" for problem in error.problems]
    return []


def _link_problems(items: Iterable[tuple[str, Change]], topology: Topology) -> Iterable[str]:
    """Yield a message for each change of a shared medium, and each that makes its link invalid or contradicts another
    one at the same moment; `items` are changes with their prefixes for messages.
    """
    links = dict(enumerate(topology.links))
    settings: dict[tuple[float, int, str, str], tuple[str, Any]] = {}
    for where, item in sorted(items, key=lambda one: one[1].at_s):
        place = topology.position(*item.link, item.number)
        old = links[place]
        if old.forward.medium is not None:
            yield f"{where}: link {old.a}-{old.b} is a shared medium ({old.forward.medium}), which cannot change"
            continue
        new = item.apply(old)
        for way, old_shape, new_shape in (("", old.forward, new.forward), (", reverse", old.backward, new.backward)):
            reported = old_shape.problems("") + ([] if way == "" else new.forward.problems(""))
            wrong = [problem for problem in new_shape.problems("") if problem not in reported]
            yield from (f"{where}: link {old.a}-{old.b}{way}{problem}" for problem in wrong)
        wrong = []
        for key, value in _field_settings(item):
            first, other = settings.setdefault((item.at_s, place, *key), (where, value))
            if other != value:
                wrong.append(
                    f"{where}: {key[1]}={short_repr(value)} contradicts {short_repr(other)} of {first}, at the same moment "
                    f"({item.at_s:g} s) for the same link; keep one"
                )
        yield from dict.fromkeys(wrong)
        links[place] = new


def _field_settings(item: Change) -> Iterable[tuple[tuple[str, str], Any]]:
    """Yield ((the direction's first node, field), value) for each field that a change sets, ("", "up") for its `up`."""
    first, second = item.link
    if item.up is not None:
        yield ("", "up"), item.up
    for name, value in item.direction.items():
        yield (first, name), value
    for name, value in {**item.direction, **item.reverse}.items():
        yield (second, name), value


def shapes(topology: Topology, changes: Sequence[Change]) -> list[list[LinkShape]]:
    """Return the successive shapes of each direction during a run; directions are ordered as in `Topology.hops`."""
    found = [[hop.shape] for hop in topology.hops()]
    for _item, place, _old, new in _ordered_changes(topology, changes):
        for number, shape in ((2 * place, new.forward), (2 * place + 1, new.backward)):
            if shape != found[number][-1]:
                found[number].append(shape)
    return found


def plan_changes(topology: Topology, changes: Sequence[Change]) -> list[plan.PlannedChange]:
    """Return the changes in the plan's form: traces, as changes at 0 s, then each direction that differs, by time."""
    found: list[plan.PlannedChange] = []
    for number, hop in enumerate(topology.hops()):
        if isinstance(hop.shape.rate_mbps, Trace):
            found.append(_plan_change(0.0, number, {"rate_mbps": hop.shape.rate_mbps.to_plan()}, None))
    for item, place, old, new in _ordered_changes(topology, changes):
        for number, old_shape, new_shape in (
            (2 * place, old.forward, new.forward),
            (2 * place + 1, old.backward, new.backward),
        ):
            differing = planned_difference(old_shape, new_shape)
            if differing or item.up is not None:
                found.append(_plan_change(item.at_s, number, differing, item.up))
    return found


def planned_difference(old: LinkShape, new: LinkShape) -> dict[str, Any]:
    """Return the fields of `new` that differ from `old` in the plan's form, by name; `framing` is the counted one."""
    found = {
        name: value.to_plan() if isinstance(value, Trace) else value for name, value in difference(old, new).items()
    }
    # A trace may have its own framing, which ends with the trace.
    found.pop("framing", None)
    if new.counted_framing != old.counted_framing:
        found["framing"] = new.counted_framing
    return found


def _plan_change(at_s: float, direction: int, shape: Mapping[str, Any], up: bool | None) -> plan.PlannedChange:
    """Return a change of direction `direction` at `at_s` s in the plan's form: fields, and `up` (None: as before)."""
    return {"at_s": float(at_s), "direction": direction, "shape": dict(shape), "up": up}


def _ordered_changes(topology: Topology, changes: Sequence[Change]) -> Iterable[tuple[Change, int, Link, Link]]:
    """Yield the changes in order of time, each with its link's index, and the link before and after it."""
    links = dict(enumerate(topology.links))
    for item in sorted(changes, key=lambda one: one.at_s):
        place = topology.position(*item.link, item.number)
        old, links[place] = links[place], item.apply(links[place])
        yield item, place, old, links[place]


def _field_descriptions(values: Mapping[str, Any]) -> list[str]:
    """Return a short description for plots of each changed field, such as "2 Mbit/s"."""
    units = {"rate_mbps": "Mbit/s", "delay_ms": "ms", "jitter_ms": "ms jitter", "queue_packets": "packets"}
    found = []
    for name, value in values.items():
        if isinstance(value, Trace):
            found.append("rate by a trace")
        elif name == "loss_rate" and is_number(value):
            found.append(f"loss {value:g}")
        elif name in units and is_number(value):
            found.append(f"{value:g} {units[name]}")
        elif name == "rate_mbps" and value is None:
            found.append("no limit")
        else:
            found.append(name)
    return found
