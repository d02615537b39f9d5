"""The JSON data that host and guest exchange: the plan for the agent and the counters from the agent.

Both sides take their types from here, so that mypy sees when one of them changes alone. Times are in s after the run's
start, unless a name says otherwise.
"""

from typing import Any, Literal, TypedDict

Clock = Literal["virtual", "real"]
"""The clock of a run."""

# The plan ---------------------------------------------------------------------------------------------------


class Shape(TypedDict):
    """The properties of one direction of a link; the fields are those of a scenario's link."""

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


class Hop(TypedDict):
    """A direction of a link, from `interface` of `src` to `dst_interface` of `dst`; the two directions of a link are neighbours."""

    src: str
    dst: str
    interface: str
    dst_interface: str
    shape: Shape


class TraceSteps(TypedDict):
    """A rate over time, repeated: moments in s with the rate in Mbit/s from then on, and when they begin again."""

    steps: list[tuple[float, float]]
    duration_s: float


class Change(TypedDict):
    """A change of a direction of a link at a given time; the direction is given by its position in the plan.

    `shape` has the fields of its shape that get other values, where `rate_mbps` may be `TraceSteps`; `up` is None where a link stays
    as it is.
    """

    at_s: float
    direction: int
    shape: dict[str, Any]
    up: bool | None


class Address(TypedDict):
    """An interface's IPv4 address, with the length of its prefix."""

    node: str
    interface: str
    address: str


class _Metrics(TypedDict, total=False):
    initial_window_segments: int


class Route(_Metrics):
    """A node's way to the prefix `to`, through the neighbour whose address is `via`."""

    node: str
    to: str
    via: str


class Neighbour(TypedDict):
    """A node's entry for another one on its own subnet."""

    node: str
    address: str
    mac: str
    interface: str


class Addressing(TypedDict):
    """Addresses and routes; `macs` is by interface."""

    addresses: list[Address]
    macs: dict[str, str]
    routes: list[Route]
    neighbours: list[Neighbour]


class _Own(TypedDict, total=False):
    own: tuple[Any, ...]


class Item(_Own):
    """The fields of all kinds of traffic; `netlab.traffic` has the type of each kind, which extends this one.

    `own` has classes or objects of the user's, where the item calls some; these cross to no other process.
    """

    kind: str
    label: str
    start_s: float


class FlowItem(Item):
    """Traffic between two nodes; `address` is that of `dst` which is nearest to `src`."""

    src: str
    dst: str
    address: str


class CaptureItem(TypedDict):
    """Packets to be written down: `directions` are the positions of a link's two hops in the plan's."""

    name: str
    directions: list[int]
    snap_bytes: int


class Plan(Addressing):
    """The plan of a run. `drain_s` is the longest time that a packet sent at the very end may still be in flight."""

    hosts: list[str]
    routers: list[str]
    switches: list[str]
    directions: list[Hop]
    traffic: list[Item]
    duration_s: float
    interval_s: float
    drain_s: float
    seed: int
    sysctls: dict[str, str]
    captures: list[CaptureItem]
    changes: list[Change]


class AgentPlan(Plan):
    """The plan as the engine hands it to the agent: `clock` is virtual or real, `machine_sysctls` are the guest's own."""

    clock: str
    machine_sysctls: dict[str, str]


# The counters -----------------------------------------------------------------------------------------------


class Totals(TypedDict):
    """The totals of all kinds of traffic; `netlab.traffic` has the type of each kind, which extends this one."""

    flow: str
    error: str | None


class StreamState(TypedDict, total=False):
    """Counters and state of one TCP connection, from TCP_INFO of both ends; None where the kernel does not tell."""

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
    """The state of connection number `stream` of a flow at the end of an interval."""

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
    """A queue at the end of an interval; all but the backlog count from the start."""

    t_s: float
    interface: str
    backlog_bytes: int
    backlog_packets: int
    drops: int
    marks: int
    sent_bytes: int
    sent_packets: int


class StationTotals(TypedDict):
    """The counters of one station of a shared medium: delivered frames and collisions."""

    interface: str
    frames: int
    collisions: int
    errors: int
    given_up: int
    drops: int


class _Stations(TypedDict, total=False):
    stations: list[StationTotals]


class Counters(_Stations):
    """The counters of the agent; `stations` only if a link has a medium.

    `tc` has the lines given to `tc` by node, `unsaved` by name why a file
    that should have been among the artifacts is not.
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
    """The counters, and under `engine` what is to be known of how they came about.

    `artifacts` is a directory with the files that the run left, which the caller removes; None without any.
    """

    engine: dict[str, Any]
    artifacts: str | None
