"""What every kind of traffic says of itself: its fields, its ends, and what it needs of the way between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, cast

from netlab.base.errors import ScenarioError, one_of
from netlab.base.values import is_integer, is_number, plain, shown
from netlab.protocol.plan import Item

MOST_COUNTED = 2**63 - 1
"""The most bytes or packets that a kernel can be asked for."""


class Traffic:
    """A kind of traffic; each is a frozen dataclass of its own, with a row in `netlab.traffic.KINDS`."""

    kind: ClassVar[str]
    required: ClassVar[Mapping[str, Any]] = {}
    """The fields that must be given, each with a stand-in beside which the others can be checked."""
    anywhere: ClassVar[bool] = False
    """Whether its ends may be switches, which have no address."""
    crossings: ClassVar[int] = 0
    """How often what leaves at the flow's very end still crosses the way: 1 there, 2 there and back."""

    def __new__(cls, *_given: Any, **named: Any) -> Traffic:
        """Refuse a field that the kind has not with those that it has; Python's own error names none."""
        allowed = [field.name for field in fields(cast("Any", cls))]
        unknown = [f"{cls.kind}: unknown field: {one_of(name, allowed)}" for name in named if name not in allowed]
        if unknown:
            raise ScenarioError(unknown)
        return super().__new__(cls)

    def __post_init__(self) -> None:
        for name in (field.name for field in fields(cast("Any", self))):
            object.__setattr__(self, name, plain(getattr(self, name)))

    @property
    def start_s(self) -> float:
        """Start in s after the run's start."""
        raise NotImplementedError

    @property
    def ends(self) -> dict[str, str]:
        """The nodes it names, by field."""
        raise NotImplementedError

    @property
    def label(self) -> str:
        """A short name for tables and legends."""
        raise NotImplementedError

    @property
    def saves(self) -> Sequence[str]:
        """Names of the files that it leaves among the run's artifacts."""
        return ()

    def problems(self, where: str) -> list[str]:
        """Every mistake in the fields, a sentence each."""
        raise NotImplementedError

    def without_rate(self) -> str | None:
        """What is wrong where no link on its way has a rate; None where that is no matter."""
        return None

    @staticmethod
    def kernel_needs(item: Item) -> set[str]:
        """Parts of the kernel that an item of this kind cannot do without, by the names of `netlab.kernel`'s capabilities."""
        del item
        return set()

    def to_dict(self) -> dict[str, Any]:
        """The item as a scenario file has it."""
        own = {field.name: getattr(self, field.name) for field in fields(cast("Any", self))}
        return {"kind": self.kind, **own}

    def planned(self, label: str, beside: Sequence[Traffic]) -> Item:
        """The item as the agent gets it: nothing left to choose. `beside` is all of the run's traffic."""
        del beside
        return cast("Item", {**self.to_dict(), "label": label})


@dataclass(frozen=True)
class Flow(Traffic):
    """Traffic from `src` to `dst`."""

    src: str
    dst: str
    required: ClassVar[Mapping[str, Any]] = {"src": "", "dst": ""}

    @property
    def ends(self) -> dict[str, str]:
        """The nodes it names, by field."""
        return {"src": self.src, "dst": self.dst}

    @property
    def label(self) -> str:
        """A short name for tables and legends."""
        return f"{self.src}-{self.dst} {self.kind}"


def time_problems(item: Traffic, where: str) -> Iterator[str]:
    """What is wrong with `start_s`, and with `duration_s` where the kind has one."""
    if not (is_number(item.start_s) and item.start_s >= 0):
        yield f"{where}: start_s must be a number of at least 0, got {shown(item.start_s)}"
    duration_s = getattr(item, "duration_s", None)
    if duration_s is not None and not (is_number(duration_s) and duration_s > 0):
        yield f"{where}: duration_s must be a number above 0, got {shown(duration_s)}"


def integer_problems(
    where: str, name: str, value: object, low: int, high: int | None, *, optional: bool = False
) -> Iterator[str]:
    """What is wrong with a field that must be a whole number from `low` to `high`, or None where it is `optional`."""
    if value is None and optional:
        return
    most = MOST_COUNTED if high is None else high
    if is_integer(value) and isinstance(value, int) and low <= value <= most:
        return
    too_large = isinstance(value, int) and value > most
    allowed = f"of at least {low}" if high is None and not too_large else f"from {low} to {most}"
    yield f"{where}: {name} must be a whole number {allowed}, got {shown(value)}"
