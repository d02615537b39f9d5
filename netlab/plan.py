"""The JSON data that host and guest exchange: the plan for the agent and the counters from the agent.

Both sides use these types, so that mypy notices if only one changes. Times are in s of the run, if not named otherwise.
"""

from typing import Any, Literal, TypedDict

Clock = Literal["virtual", "real"]
"""The clock of a run."""

FIRST_PORT = 5001
"""The destination port of the first connection of the traffic; each further connection has the next port."""

# The plan ---------------------------------------------------------------------------------------------------


class Shape(TypedDict):
    """The properties of one direction of a link in a plan; the fields are those of `netlab.network.link.LinkShape`."""

    rate_mbps: float | None
    delay_ms: float
    jitter_ms: float
    reorder: bool
    loss_rate: float
    burst_loss: dict[str, float] | None
    duplicate_rate: float
    queue_packets: int | None
    queue_bytes: int | None
    aqm: str
    aqm_options: dict[str, Any]
    framing: str
    segmentation_offload: bool | None
    medium: str | None
    medium_options: dict[str, Any]


class PlannedHop(TypedDict):
    """A direction of a link in a plan, from `interface` of the node `src` to `dst_interface` of `dst`; a plan lists
    both directions of a link in succession.
    """

    src: str
    dst: str
    interface: str
    dst_interface: str
    shape: Shape


class TraceSteps(TypedDict):
    """A rate over time, which is repeated."""

    steps: list[tuple[float, float]]
    """Times in s, each with the rate in Mbit/s from then on."""
    duration_s: float
    """The time after which the steps are repeated."""


class PlannedChange(TypedDict):
    """A change of a direction of a link at a given time."""

    at_s: float
    direction: int
    """The position of the direction in the plan."""
    shape: dict[str, Any]
    """The fields of the shape that change; `rate_mbps` may be `TraceSteps`."""
    up: bool | None
    """True to switch the direction on, False to switch it off, None for no change."""


class Address(TypedDict):
    """The IPv4 address of an interface, with the length of its prefix, such as 10.0.0.1/24."""

    node: str
    interface: str
    address: str


class _Metrics(TypedDict, total=False):
    """The optional fields of a route."""

    initial_window_segments: int


class Route(_Metrics):
    """A route of a node to the prefix `to`, through the neighbour whose address is `via`."""

    node: str
    to: str
    via: str


class Neighbour(TypedDict):
    """A static ARP entry of `node`: the IPv4 and the MAC address of another node on the subnet of `interface`."""

    node: str
    address: str
    mac: str
    interface: str


class Addressing(TypedDict):
    """The addresses and routes of a network; `macs` has the MAC address of each interface, by the interface's name."""

    addresses: list[Address]
    macs: dict[str, str]
    routes: list[Route]
    neighbours: list[Neighbour]


class _OwnClasses(TypedDict, total=False):
    """The optional field `own` of an item of traffic."""

    own: tuple[Any, ...]


class Item(_OwnClasses):
    """The common fields of all kinds of traffic in a plan: the kind, the unique label, and the start in s.

    `own`, if present, has the user's classes or objects that the item calls; they are not sent to other processes.
    """

    kind: str
    label: str
    start_s: float


class FlowItem(Item):
    """Traffic between two nodes; `address` is the address of `dst` on the interface that is nearest to `src`."""

    src: str
    dst: str
    address: str


class CaptureItem(TypedDict):
    """A capture of a link's packets in a plan; `name` is the file's name without its suffix."""

    name: str
    directions: list[int]
    """The positions of the link's two directions in the plan."""
    snap_bytes: int
    """The number of bytes of each packet to keep."""


class Plan(Addressing):
    """The plan of a run: everything that the agent needs. `drain_s` is the longest time in s that a packet sent at the
    end may stay in flight; `interval_s` is the length of a sampling interval.
    """

    hosts: list[str]
    routers: list[str]
    switches: list[str]
    directions: list[PlannedHop]
    traffic: list[Item]
    duration_s: float
    interval_s: float
    drain_s: float
    seed: int
    sysctls: dict[str, str]
    captures: list[CaptureItem]
    changes: list[PlannedChange]


# The counters -----------------------------------------------------------------------------------------------


class Totals(TypedDict):
    """The common totals of all kinds of traffic; `netlab.traffic` has the type of each kind, which extends this one."""

    flow: str
    error: str | None


class StreamState(TypedDict, total=False):
    """Counters and state of a TCP connection, from TCP_INFO of both ends; None for values that the kernel lacks."""

    received_bytes: int | None
    cwnd_segments: int | None
    ssthresh_segments: int | None
    rtt_ms: float | None
    rtt_min_ms: float | None
    retransmits: int | None
    delivery_rate_mbps: float | None
    sent_bytes: int | None
    segments_out: int | None
    segments_in: int | None
    marks: int | None
    timeouts: int | None
    ca_state: str | None


class StreamSample(StreamState):
    """The state of connection number `stream` of a flow, from 0, at the time `t_s` at the end of an interval."""

    flow: str
    stream: int
    t_s: float


class DatagramInterval(TypedDict):
    """Datagrams of a UDP flow that arrived in interval number `interval`, counted from 0 at the run's start."""

    flow: str
    interval: int
    bytes: int
    datagrams: int


class QueueSample(TypedDict):
    """The state of a queue at the end of an interval; all values except the backlog count from the run's start."""

    t_s: float
    interface: str
    backlog_bytes: int
    backlog_packets: int
    drops: int
    marks: int
    sent_bytes: int
    sent_packets: int


class StationTotals(TypedDict):
    """The counters of one station of a shared medium at the end of a run, in frames; `given_up` are those that were
    dropped after too many attempts, `drops` those that found a full queue.
    """

    interface: str
    frames: int
    collisions: int
    errors: int
    given_up: int
    drops: int


class _Stations(TypedDict, total=False):
    """The optional field `stations` of the counters."""

    stations: list[StationTotals]


class Counters(_Stations):
    """The counters of the agent; `stations` exists only if a link has a medium.

    `tc` has the lines of `tc` for each node. `unsaved` has the reason for each requested file that was not saved.
    """

    flows: list[Totals]
    streams: list[StreamSample]
    datagrams: list[DatagramInterval]
    queues: list[QueueSample]
    kernel: str
    python: str
    hosts_without_offload: list[str]
    tc: dict[str, list[str]]
    unsaved: dict[str, str]
    origin_ns: int
    packets_lost: int


class Outcome(Counters):
    """The counters of a run, the description of how it ran (`engine`), and the directory of its files."""

    engine: dict[str, Any]
    """The engine, its clock and its settings."""
    artifacts: str | None
    """A directory with the files that the run saved, which the caller removes; None if there are none."""
