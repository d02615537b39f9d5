"""The interface of all kinds of traffic: fields, endpoints, and requirements on the path between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, cast

from netlab.base.arguments import unknown_fields
from netlab.base.errors import ScenarioError
from netlab.base.rules import Range, Rule, violations
from netlab.base.values import to_python
from netlab.plan import Item


class Traffic:
    """An item of traffic; each kind is a frozen dataclass that extends it, with a row in `netlab.traffic.KINDS`."""

    kind: ClassVar[str]
    required: ClassVar[Mapping[str, Any]] = {}
    """The fields that must be given, each with a placeholder with which the other fields can be checked."""
    end_fields: ClassVar[Sequence[str]] = ("src", "dst")
    """The fields that name its endpoints."""
    allows_switches: ClassVar[bool] = False
    """True if the endpoints may be switches, which have no address."""
    crossings: ClassVar[int] = 0
    """The number of times that the last packet of a flow crosses the path: 1 one way, 2 there and back."""
    rules: ClassVar[Mapping[str, Rule]] = {"start_s": Range(0), "duration_s": Range(0, above=True, optional=True)}
    """The rule of each field that can be checked on its own."""

    def __new__(cls, *_values: Any, **keywords: Any) -> Traffic:
        """Return a new item without values; raise ScenarioError for a name in `keywords` that is not a field of the kind."""
        allowed = [field.name for field in fields(cast("Any", cls))]
        unknown = unknown_fields(cls.kind, keywords, allowed)
        if unknown:
            raise ScenarioError(unknown)
        return super().__new__(cls)

    def __post_init__(self) -> None:
        """Turn NumPy's numbers in the fields into Python's own."""
        for name in (field.name for field in fields(cast("Any", self))):
            object.__setattr__(self, name, to_python(getattr(self, name)))

    @property
    def start_s(self) -> float:
        """The start of the traffic in s after the run's start."""
        raise NotImplementedError

    @property
    def ends(self) -> dict[str, str]:
        """The names of the traffic's endpoints, by field, such as `src` and `dst`."""
        return {name: getattr(self, name) for name in self.end_fields}

    @property
    def label(self) -> str:
        """A short name for tables and legends, such as "h1-h2 ping"."""
        return f"{'-'.join(map(str, self.ends.values()))} {self.kind}"

    @property
    def saves(self) -> Sequence[str]:
        """Names of the files that the traffic writes, which become artifacts of the run."""
        return ()

    def problems(self, where: str) -> list[str]:
        """Return a message for each mistake in the fields, after the prefix `where`; an empty list without any."""
        return [f"{where}: {sentence}" for sentence in self._mistakes()]

    def _mistakes(self) -> Iterator[str]:
        """Yield a message for each mistake, without `where`; a kind extends this with mistakes that its `rules` do not cover."""
        return violations(self.rules, self)

    def without_rate(self) -> str | None:
        """Return the message about a path without any rate if such traffic would never pause there, else None."""
        return None

    @staticmethod
    def kernel_needs(item: Item) -> set[str]:
        """Return the kernel capabilities (names in `netlab_engines.kernels.parts.PARTS`) that a plan's item needs."""
        del item
        return set()

    def to_dict(self) -> dict[str, Any]:
        """Return the item as the dict in a scenario file: its `kind` and all of its fields."""
        own = {field.name: getattr(self, field.name) for field in fields(cast("Any", self))}
        return {"kind": self.kind, **own}

    def to_plan(self, label: str, all_items: Sequence[Traffic]) -> Item:
        """Return the item in the plan's form: its fields and `label`, which is unique in the run. Kinds add their
        choices, which may depend on `all_items`, all traffic of the run.
        """
        del all_items
        return cast("Item", {**self.to_dict(), "label": label})


@dataclass(frozen=True)
class Flow(Traffic):
    """Traffic from the node `src` to the node `dst`."""

    src: str
    dst: str
    required: ClassVar[Mapping[str, Any]] = {"src": "", "dst": ""}
