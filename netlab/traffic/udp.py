"""Datagrams at a constant rate."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, cast

from netlab.base.arguments import explain_bad_construction
from netlab.base.rules import Choice, Range, Rule
from netlab.plan import FlowItem, Item, Totals
from netlab.traffic.base import Flow, Traffic

HEADER_ROOM_BYTES = 32
MAX_PAYLOAD_BYTES = 1472
MIN_RATE_MBPS = 1e-6
MAX_RATE_MBPS = 100_000
MIN_SEND_BUFFER_BYTES = 10_000
MAX_SEND_BUFFER_BYTES = 2**28
SPACINGS = ("auto", "even", "random")


class WaitingItem(FlowItem, total=False):
    """The fields in the plan of a sender that waits when its send buffer, of this size in bytes, is full."""

    send_buffer_bytes: int


class UdpItem(WaitingItem):
    """A `Udp` in the plan; `spacing` is "even" or "random", and `duration_s` None means until the run ends."""

    rate_mbps: float
    payload_bytes: int
    duration_s: float | None
    spacing: str


class UdpTotals(Totals, total=False):
    """The counters of a UDP flow's sender and receiver, with times in s; empty if the flow did not start.

    `timely_*` counts data within its duration from the first arrival on, `throughput_bytes` headers and duplicates.
    """

    sent_bytes: int
    sent_datagrams: int
    received_bytes: int
    received_datagrams: int
    duplicates: int
    reordered: int
    jitter_ms: float
    delay_min_ms: float
    delay_mean_ms: float
    delay_max_ms: float
    receiver_drops: int
    first_s: float | None
    last_s: float | None
    throughput_bytes: int
    timely_bytes: int
    timely_datagrams: int
    timely_throughput_bytes: int
    timely_last_s: float | None


@explain_bad_construction('nl.Udp("h1", "h2", rate_mbps=1)')
@dataclass(frozen=True)
class Udp(Flow):
    """Datagrams from `src` to `dst` at a constant rate, whatever the network does with them.

    Parameters
    ----------
    src, dst : str
        Hosts.
    rate_mbps : float
        Rate of application data (payload) in Mbit/s, above 0.
    payload_bytes : int
        Data bytes in a datagram, 32 to 1472.
    start_s, duration_s : float
        As for `Tcp`.
    spacing : {"auto", "even", "random"}
        The moments of sending: "even" is an exact grid, "random" the same number at random moments (a seeded Poisson
        process). "auto" is even for the only UDP flow of a run and random otherwise: the grids of two flows lock in
        phase, as real clocks never do, and then one flow has all the losses.
    send_buffer_bytes : int or None
        Size of the socket's send buffer as Linux counts it, 10 000 to 2**28; Linux's own default is 212 992. Packets in
        the sender's own interface count against it with their bookkeeping; while it is full the sender waits, so the
        rate may not be reached. None is a buffer so large that the rate is kept and the queue drops. The sender stops
        at its end, even with data left to send. Only for engines that run the agent.
    """

    rate_mbps: float = math.nan
    payload_bytes: int = 1000
    start_s: float = 0.0
    duration_s: float | None = None
    spacing: str = "auto"
    send_buffer_bytes: int | None = None
    kind: ClassVar[str] = "udp"
    required: ClassVar[Mapping[str, Any]] = {"src": "", "dst": "", "rate_mbps": 1.0}
    crossings: ClassVar[int] = 1
    rules: ClassVar[Mapping[str, Rule]] = {
        **Flow.rules,
        "rate_mbps": Range(MIN_RATE_MBPS, MAX_RATE_MBPS),
        "payload_bytes": Range(HEADER_ROOM_BYTES, MAX_PAYLOAD_BYTES, whole=True),
        "spacing": Choice(SPACINGS),
        "send_buffer_bytes": Range(MIN_SEND_BUFFER_BYTES, MAX_SEND_BUFFER_BYTES, whole=True, optional=True),
    }

    def to_plan(self, label: str, all_items: Sequence[Traffic]) -> Item:
        """Return the item in the plan's form; "auto" spacing becomes "even" if no other item of `all_items`, all
        traffic of the run, is UDP, else "random".
        """
        spacing = self.spacing
        if spacing == "auto":
            spacing = "even" if sum(isinstance(other, Udp) for other in all_items) == 1 else "random"
        return cast("Item", {**super().to_plan(label, all_items), "spacing": spacing})

    def to_dict(self) -> dict[str, Any]:
        """Return the item as the dict in a scenario file, without `send_buffer_bytes` if it was not set."""
        return {
            name: value for name, value in super().to_dict().items() if (name, value) != ("send_buffer_bytes", None)
        }
