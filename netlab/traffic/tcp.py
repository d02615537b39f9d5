"""Bulk data over TCP."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, cast

from netlab.base.arguments import explain_bad_construction
from netlab.base.errors import closest_word, one_of
from netlab.base.headers import MSS_BYTES
from netlab.base.rules import MAX_COUNT, Range, Rule, violations
from netlab.base.values import is_integer, short_repr
from netlab.network.congestion import CONGESTION_CONTROLS
from netlab.plan import FlowItem, Item, StreamState, Totals
from netlab.traffic.base import Flow, Traffic
from netlab.traffic.own import CLASS_PREFIX, is_own, own_name, own_problems

MAX_STREAMS = 1000
MIN_WINDOW_BYTES = 2000
WINDOW_SEGMENTS = 2
"""A receive window of less than two full segments makes the receiver delay each acknowledgement until its timer ends
(RFC 1122, section 4.2.3.2); the timer, not the window, would limit the flow.
"""

MAX_INITIAL_SEGMENTS = 45
"""Linux's first receive window is 65 535 bytes, which hold at most 45 full segments."""

CONTROL_METHODS = ("on_start", "on_ack", "on_loss", "on_timeout")


class TcpItem(FlowItem):
    """A `Tcp` in the plan; None means no limit, or Linux's default."""

    duration_s: float | None
    num_bytes: int | None
    congestion: str
    streams: int
    window_bytes: int | None
    mss_bytes: int | None
    initial_window_segments: int | None


class StreamTotals(StreamState):
    """The counters of a connection at its end. Its times, in s after the run's start, are the call of connect, the
    arrival of its first bytes, and its end (the arrival of its last byte if `num_bytes` was given). `throughput_bytes`
    counts headers and all segments.
    """

    stream: int
    connect_s: float
    first_s: float
    last_s: float
    throughput_bytes: float


class TcpTotals(Totals):
    """The totals of a TCP flow: those of its connections that delivered data."""

    streams: list[StreamTotals]


@explain_bad_construction('nl.Tcp("h1", "h2")')
@dataclass(frozen=True)
class Tcp(Flow):
    """Bulk data over TCP from `src` to `dst`, as fast as the congestion control lets it.

    Parameters
    ----------
    src, dst : str
        Hosts.
    start_s : float
        Start in s after the run's start.
    duration_s : float or None
        Time for which the flow sends, in s; None is until the run ends.
    num_bytes : int or None
        Stop after so many bytes were delivered (per flow, shared evenly by its streams), or at the run's end. How long that
        took is `completion_s` of the run's flows.
    congestion : str, or a class or an object
        reno, cubic, bbr, dctcp, vegas, westwood, htcp or tahoe; `netlab.network.congestion` says what each goes by. A class of
        your own with some of `on_start`, `on_ack`, `on_loss` and `on_timeout` chooses the window itself, in the library kernel
        (docs/how-to/own_control.md).
    streams : int
        Number of parallel connections, 1 to 1000.
    window_bytes : int or None
        Largest receive window in bytes, at least 2000 and two segments; None leaves it to the kernel's autotuning.
    mss_bytes : int or None
        Data bytes in a full segment, 76 to 1448; None is what the path's MTU allows (1448).
    initial_window_segments : int or None
        Segments that the sender may send before the first acknowledgement, 1 to 45; None is Linux's own, 10 (RFC 6928). It is a
        property of the sender's route (`ip route ... initcwnd`), so all flows between the same two hosts have the same.
    """

    start_s: float = 0.0
    duration_s: float | None = None
    num_bytes: int | None = None
    congestion: Any = "cubic"
    streams: int = 1
    window_bytes: int | None = None
    mss_bytes: int | None = None
    initial_window_segments: int | None = None
    kind: ClassVar[str] = "tcp"
    rules: ClassVar[Mapping[str, Rule]] = {
        **Flow.rules,
        "streams": Range(1, MAX_STREAMS, whole=True),
        "window_bytes": Range(MIN_WINDOW_BYTES, 2**30 - 1, whole=True, optional=True),
        "mss_bytes": Range(76, MSS_BYTES, whole=True, optional=True),
        "initial_window_segments": Range(1, MAX_INITIAL_SEGMENTS, whole=True, optional=True),
    }

    @property
    def label(self) -> str:
        """The flow's name, such as "h1-h2 cubic", followed by the number of streams if there are several."""
        name = own_name(self.congestion) if is_own(self.congestion) else self.congestion
        return f"{self.src}-{self.dst} {name}" + (f" ×{self.streams}" if self.streams > 1 else "")

    @staticmethod
    def kernel_needs(item: Item) -> set[str]:
        """Return what a plan's item needs of the kernel: its congestion control, by name, unless a user's class."""
        return set() if "own" in item else {cast("TcpItem", item)["congestion"]}

    def to_dict(self) -> dict[str, Any]:
        """Return the item as the dict in a scenario file, with only the name of a user's class."""
        own = {"congestion": CLASS_PREFIX + own_name(self.congestion)} if is_own(self.congestion) else {}
        return {**super().to_dict(), **own}

    def to_plan(self, label: str, all_items: Sequence[Traffic]) -> Item:
        """Return the item in the plan's form; a user's own class or object is under `own`, `congestion` is its name."""
        found = super().to_plan(label, all_items)
        if is_own(self.congestion):
            own = {"congestion": own_name(self.congestion), "own": (self.congestion,)}
            return cast("Item", {**found, **own})
        return found

    def _mistakes(self) -> Iterator[str]:
        """Yield a message for each mistake in the congestion control, the sizes and the numbers."""
        yield from super()._mistakes()
        congestion = self.congestion
        if is_own(congestion):
            yield from own_problems("congestion", congestion, CONTROL_METHODS)
        elif isinstance(congestion, str) and congestion.startswith(CLASS_PREFIX):
            name = congestion.removeprefix(CLASS_PREFIX)
            yield f"congestion: {name} is a class, which a file cannot hold; run it from Python: congestion={name}"
        elif not isinstance(congestion, str) or congestion not in CONGESTION_CONTROLS:
            own = [] if isinstance(congestion, str) else [f"or your own class with {', '.join(CONTROL_METHODS)}"]
            quotes = f"; a class goes without quotes: congestion={congestion}" if _is_like_a_class(congestion) else ""
            yield f"congestion: {one_of(congestion, [*CONGESTION_CONTROLS, *own])}{quotes}"
        min_bytes = self.streams if is_integer(self.streams) and self.streams > 1 else 1
        yield from violations({"num_bytes": Range(min_bytes, MAX_COUNT, whole=True, optional=True)}, self)
        invalid = {name for name, rule in self.rules.items() if rule.problem(name, getattr(self, name))}
        mss_bytes = MSS_BYTES if "mss_bytes" in invalid or self.mss_bytes is None else self.mss_bytes
        window_bytes = None if "window_bytes" in invalid else self.window_bytes
        if window_bytes is not None and window_bytes < WINDOW_SEGMENTS * mss_bytes:
            yield (
                f"window_bytes must hold {WINDOW_SEGMENTS} segments of {mss_bytes} bytes, so it is "
                f"{WINDOW_SEGMENTS * mss_bytes} at least, got {short_repr(window_bytes)}; for a smaller window choose a "
                "smaller mss_bytes"
            )

    def without_rate(self) -> str | None:
        """Return the message about a path on which no link has a rate, unless `num_bytes` ends the flow."""
        if self.num_bytes is not None:
            return None
        return (
            f"no link between {self.src} and {self.dst} has a rate_mbps, so TCP would never "
            "pause; give one link a rate, or the flow a num_bytes"
        )


def _is_like_a_class(value: object) -> bool:
    """Return whether a wrong congestion control is a text that could be the name of a user's class."""
    return (
        isinstance(value, str)
        and value.isidentifier()
        and value[0].isupper()
        and not closest_word(value, list(CONGESTION_CONTROLS))
    )


def conflicting_initial_windows(items: Sequence[Traffic | None]) -> list[str]:
    """Return a message for each pair of hosts with flows of different initial windows; None in `items` is ignored."""
    found: dict[tuple[str, str], tuple[int, int | None]] = {}
    problems = {}
    for number, item in enumerate(items, start=1):
        if isinstance(item, Tcp) and isinstance(item.src, str) and isinstance(item.dst, str):
            own = item.initial_window_segments
            first, other = found.setdefault((item.src, item.dst), (number, own))
            if own != other:
                problems[item.src, item.dst] = (
                    f"traffic {first} and {number} (tcp): initial_window_segments are {other} and {own}; Linux keeps one for all "
                    f"flows from {item.src} to {item.dst}: give them the same"
                )
    return list(problems.values())
