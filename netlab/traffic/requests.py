"""Requests and responses over persistent TCP connections."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypedDict, cast

from netlab.base.arguments import explain_bad_construction
from netlab.base.errors import one_of
from netlab.base.rules import MAX_COUNT, Range, Rule, violations
from netlab.base.values import is_integer
from netlab.network.congestion import CONGESTION_CONTROLS
from netlab.plan import FlowItem, Item
from netlab.traffic.base import Flow
from netlab.traffic.own import is_own, own_name
from netlab.traffic.tcp import MAX_STREAMS, TcpTotals


class RequestsItem(FlowItem):
    """A `Requests` in the plan; a `duration_s` or `count` of None means until the run ends."""

    duration_s: float | None
    response_bytes: int
    request_bytes: int
    count: int | None
    think_s: float
    interval_s: float | None
    connections: int
    congestion: str


class Response(TypedDict):
    """The counters of a request and its response: the number of the request in the flow, from 0, and of its connection;
    the times in s after the run's start at which the request was sent and the last byte of the response arrived (None:
    not yet); and the retransmissions and timeouts of the server's connection before the request.
    """

    number: int
    stream: int
    start_s: float
    end_s: float | None
    retransmits: int
    timeouts: int


class ConnectionEnd(TypedDict):
    """The counters at the end of a connection, by its number: the bytes that have arrived at the client, and the
    retransmissions and timeouts of the server.
    """

    stream: int
    received_bytes: int
    retransmits: int
    timeouts: int


class RequestsTotals(TcpTotals):
    """The totals of a flow of requests: those of its connections, on which the server sends, its responses, and the
    counters of all connections, also of those that no whole response has crossed.
    """

    responses: list[Response]
    ends: list[ConnectionEnd]


@explain_bad_construction('nl.Requests("client", "server", response_bytes=32_000, count=10)')
@dataclass(frozen=True)
class Requests(Flow):
    """Requests of the client `src` to the server `dst`, which answers each, over TCP connections that stay open.

    A connection carries one request at a time: the client sends it, waits for the last byte of the response, thinks for
    `think_s` and sends the next one. Request number n uses connection n modulo `connections`. `run.requests` has a row for
    each response. Several flows with the same `interval_s` ask their servers at the same instants.

    Parameters
    ----------
    src, dst : str
        The hosts of the client and of the server.
    response_bytes : int
        Bytes of each response, at least 1.
    request_bytes : int
        Bytes of each request, at least 1.
    count : int or None
        The number of requests of all connections together, at least one for each; None is until the flow's end.
    think_s : float
        Time in s from the last byte of a response to the next request on the same connection, 0 or more.
    interval_s : float or None
        Request number n is sent `start_s` + n * `interval_s` after the run's start, or later if its connection is not free;
        None sends a request as soon as its connection is free.
    connections : int
        Number of TCP connections, 1 to 1000. All are opened at `start_s`; the first request of each is sent once its
        connection is open, one round trip later.
    congestion : str
        The congestion control of both ends, as for `Tcp`.
    start_s, duration_s : float
        As for `Tcp`. A response that is not complete at the end counts as not arrived.
    """

    response_bytes: int = 0
    request_bytes: int = 100
    count: int | None = None
    think_s: float = 0.0
    interval_s: float | None = None
    connections: int = 1
    congestion: str = "cubic"
    start_s: float = 0.0
    duration_s: float | None = None
    kind: ClassVar[str] = "requests"
    required: ClassVar[Mapping[str, Any]] = {"src": "", "dst": "", "response_bytes": 1}
    rules: ClassVar[Mapping[str, Rule]] = {
        **Flow.rules,
        "response_bytes": Range(1, MAX_COUNT, whole=True),
        "request_bytes": Range(1, MAX_COUNT, whole=True),
        "think_s": Range(0),
        "interval_s": Range(0, above=True, optional=True),
        "connections": Range(1, MAX_STREAMS, whole=True),
    }

    @property
    def label(self) -> str:
        """The flow's name, such as "h1-h2 requests"."""
        return f"{self.src}-{self.dst} requests"

    @staticmethod
    def kernel_needs(item: Item) -> set[str]:
        """Return what a plan's item needs of the kernel: its congestion control, by name."""
        return {cast("RequestsItem", item)["congestion"]}

    def _mistakes(self) -> Iterator[str]:
        """Yield a message for each mistake in the fields, with a number of requests that is too small for the connections."""
        yield from super()._mistakes()
        min_count = self.connections if is_integer(self.connections) and self.connections > 1 else 1
        yield from violations({"count": Range(min_count, MAX_COUNT, whole=True, optional=True)}, self)
        if is_own(self.congestion):
            yield (
                f"congestion: {own_name(self.congestion)} is a class, which only nl.Tcp takes; here it is one of "
                f"{', '.join(CONGESTION_CONTROLS)}"
            )
        elif not isinstance(self.congestion, str) or self.congestion not in CONGESTION_CONTROLS:
            yield f"congestion: {one_of(self.congestion, list(CONGESTION_CONTROLS))}"

    def without_rate(self) -> str | None:
        """Return the message about a path on which no link has a rate, unless requests have a number or pauses."""
        if self.count is not None or self.think_s or self.interval_s:
            return None
        return (
            f"no link between {self.src} and {self.dst} has a rate_mbps, so the requests would never pause; give one link a "
            "rate, or the flow a count, a think_s or an interval_s"
        )
