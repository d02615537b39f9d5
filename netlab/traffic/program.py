"""Datagrams between two programs of the user's own."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, cast

from netlab.base.arguments import explain_bad_construction
from netlab.base.rules import MAX_COUNT, Range, violations
from netlab.plan import FlowItem, Item, Totals
from netlab.traffic.base import Flow, Traffic
from netlab.traffic.own import CLASS_PREFIX, own_name, own_problems

PROGRAM_METHODS = ("on_start", "on_datagram", "on_timer")


class ProgramItem(FlowItem):
    """A `Program` in the plan; None means no limit."""

    num_bytes: int | None
    duration_s: float | None


class ProgramTotals(Totals):
    """The totals of both programs of a flow. A delay is the time between reading and delivery of a piece.

    `first_s` and `last_s` are the moments of the first and the last delivery of new data, None where there was none.
    """

    sent_bytes: int
    sent_datagrams: int
    received_datagrams: int
    delivered_bytes: int
    duplicates: int
    missing_bytes: int
    wrong_bytes: int
    equal_datagrams: int | None
    """Datagrams that equal an earlier one; None of a sender that reads, whose bytes are all different."""
    delay_min_ms: float
    delay_mean_ms: float
    delay_max_ms: float
    first_s: float | None
    last_s: float | None


@explain_bad_construction('nl.Program("h1", "h2", sender=MySender, receiver=MyReceiver)')
@dataclass(frozen=True)
class Program(Flow):
    """Two programs of your own, one at each end, that send each other datagrams; in the library kernel (docs/how-to/own_control.md).

    Parameters
    ----------
    src, dst : str
        The sender's host and the receiver's host.
    sender, receiver : class or object
        Has some of `on_start(program)`, `on_datagram(now_s, data)` and `on_timer(now_s)`. Each run makes an object of a
        class, or a copy of an object.
    num_bytes : int or None
        Size of the data of the sender's application, which `program.read` returns in pieces; None is unlimited.
    start_s, duration_s : float
        As for `Tcp`.

    Notes
    -----
    A delivery is recognized by its content among the data that the sender read or, if it reads none, among those it
    sent. So a sender without `program.read` must make its datagrams different, for instance by a number; a delivery of
    equal bytes counts as a duplicate, and the run warns.
    """

    sender: Any = None
    receiver: Any = None
    num_bytes: int | None = None
    start_s: float = 0.0
    duration_s: float | None = None
    kind: ClassVar[str] = "program"
    required: ClassVar[Mapping[str, Any]] = {"src": "", "dst": "", "sender": None, "receiver": None}

    @property
    def label(self) -> str:
        """The flow's name with its sender's class, such as "h1-h2 MySender"."""
        return f"{self.src}-{self.dst} {own_name(self.sender)}"

    def to_dict(self) -> dict[str, Any]:
        """Return the item as the dict in a scenario file, with only the names of the user's classes."""
        names = {end: CLASS_PREFIX + own_name(getattr(self, end)) for end in ("sender", "receiver")}
        return {**super().to_dict(), **names}

    def to_plan(self, label: str, all_items: Sequence[Traffic]) -> Item:
        """Return the item in the plan's form, with both programs under `own`."""
        return cast("Item", {**super().to_plan(label, all_items), "own": (self.sender, self.receiver)})

    def _mistakes(self) -> Iterator[str]:
        """Yield a message for each mistake in the two programs and the other fields."""
        yield from super()._mistakes()
        for end in ("sender", "receiver"):
            program = getattr(self, end)
            if isinstance(program, str) and program.startswith(CLASS_PREFIX):
                yield f"{end} is a class, which a file cannot hold; run it from Python"
            else:
                yield from own_problems(end, program, PROGRAM_METHODS)
        yield from violations({"num_bytes": Range(1, MAX_COUNT, whole=True, optional=True)}, self)

    def without_rate(self) -> str | None:
        """Return the message about a path without any rate, where programs could answer each other for ever."""
        return (
            f"no link between {self.src} and {self.dst} has a rate_mbps, so programs could answer each other without end in no "
            "time; give one link a rate"
        )
