"""ICMP echo."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, TypedDict

from netlab.base.arguments import explain_bad_construction
from netlab.base.rules import MAX_COUNT, Range, Rule
from netlab.plan import FlowItem, Totals
from netlab.traffic.base import Flow

MIN_INTERVAL_S = 0.001
MAX_INTERVAL_S = 86_400.0
MAX_PAYLOAD_BYTES = 1472


class PingItem(FlowItem):
    """A `Ping` in the plan; `count` None means until the run ends."""

    interval_s: float
    count: int | None
    payload_bytes: int


class Echo(TypedDict):
    """An echo request: its number from 1, its sending time, and its RTT (None without a reply)."""

    seq: int
    t_s: float
    rtt_ms: float | None


class PingTotals(Totals):
    """The totals of a ping: every echo request."""

    echoes: list[Echo]


@explain_bad_construction('nl.Ping("h1", "h2")')
@dataclass(frozen=True)
class Ping(Flow):
    """ICMP echo requests from `src` to `dst`.

    Parameters
    ----------
    src, dst : str
        Hosts or routers.
    interval_s : float
        Time between requests in s, from 0.001 to a day.
    count : int or None
        Number of requests; None is until the run ends.
    start_s : float
        First request, in s after the run's start.
    payload_bytes : int
        Data bytes after the ICMP header, 16 to 1472.
    """

    interval_s: float = 0.2
    count: int | None = None
    start_s: float = 0.0
    payload_bytes: int = 56
    kind: ClassVar[str] = "ping"
    crossings: ClassVar[int] = 2
    rules: ClassVar[Mapping[str, Rule]] = {
        **Flow.rules,
        "interval_s": Range(MIN_INTERVAL_S, MAX_INTERVAL_S),
        "count": Range(1, MAX_COUNT, whole=True, optional=True),
        "payload_bytes": Range(16, MAX_PAYLOAD_BYTES, whole=True),
    }
