"""Queue disciplines of links: a table with a row for each, read by the host and by the guest.

A row has the discipline's options, their form for the kernel, the place of the ECN marks in its statistics, and the
kernel symbols that it needs. To add one, write its row; if the pocket kernel lacks it, also add a line to
`kernel/recipe/pocket.config`.
"""

import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from netlab.base.errors import one_of
from netlab.base.headers import FRAME_BYTES
from netlab.base.rules import Choice, Flag, Range, Ranges, Rule
from netlab.base.units import mbps_to_bps, ms_to_us
from netlab.base.values import is_integer, is_number, shown
from netlab.netlink import classes, qdiscs, wire
from netlab.netlink.qdiscs import Classes, Option, Qdisc, number, of_options
from netlab.network.queue_spec import QueueSpec

MOST_PACKETS = 1_000_000
SHORTEST_MS = 0.001
LONGEST_MS = 60_000
MOST_FLOWS = 65_536
LARGEST_RED_PACKETS = 9_000
FASTEST_RED_MBPS = 30_000
"""The limit of RED's bandwidth, which `tc` keeps in 32 bits of bytes/s. (RED uses it only to age the average while the link is idle.)"""
RED_PACKET_BYTES = 1000
"""RED's mean packet size (tc-red(8), avpkt)."""
FASTEST_FLOW_MBPS = 30_000
"""The limit of fq's rate for a flow, kept in 32 bits of bytes/s."""
LONGEST_DUALPI2_MS = 4_000
"""The limit of DualPI2's times, kept in 32 bits of nanoseconds."""
SFQ_DEPTH_PACKETS = 127
"""The largest number of packets that SFQ keeps of a flow, whatever its room (SFQ_MAX_DEPTH)."""
SFQ_FLOWS = 65_408
"""The largest number of flows that SFQ can distinguish (SFQ_MAX_FLOWS); with fewer it would limit the room to depth times flows."""

MAX_CHOKE_PACKETS = 131_072
"""The size of CHOKe's table of waiting packets (CHOKE_MAX_QUEUE)."""
MAX_DRR_CLASSES = 256
DRR_CLASSES = 16
MIN_QUANTUM_BYTES, MAX_QUANTUM_BYTES = 64, 10_000_000
ETS_QUANTA_BYTES = (FRAME_BYTES, FRAME_BYTES)
CLASSIFIERS = ("port", "flow")
"""The ways to sort packets into classes."""

TCA_CAKE_STATS_TIN_STATS = 10
TCA_CAKE_TIN_STATS_ECN_MARKED_PACKETS = 8
DUALPI2_L4S_ECT = 1
DUALPI2_ANY_ECT = 3


TIME = Range(SHORTEST_MS, LONGEST_MS)
DUALPI2_TIME = Range(SHORTEST_MS, LONGEST_DUALPI2_MS)
FLOWS = Range(1, MOST_FLOWS, whole=True)
QUANTUM = Range(MIN_QUANTUM_BYTES, MAX_QUANTUM_BYTES, whole=True)


@dataclass(frozen=True)
class Discipline:
    """A queue discipline."""

    name: str
    """The name in a link's `aqm`."""
    about: str
    """A sentence on how it works."""
    source: str
    """The paper, RFC or manual that describes it."""
    counts: str
    """The unit of its limit: packets, bytes, packets or bytes, or kernel memory."""
    qdisc: Callable[[QueueSpec], Qdisc]
    """Returns the qdisc with its options for a requested queue."""
    options: Mapping[str, Rule] = field(default_factory=dict)
    """The options that `aqm_options` may have, each with its rule."""
    marks: Callable[[bytes], int] = lambda _statistics: 0
    """Returns the number of packets marked with ECN from the discipline's own statistics (the tc_*_xstats of linux/pkt_sched.h)."""
    conflict: Callable[[Mapping[str, Any]], str | None] = lambda _options: None
    """Returns a message if options that are valid one by one contradict each other, else None."""
    room: tuple[int, int] = (1, MOST_PACKETS)
    """The smallest and the largest room in packets."""
    since: tuple[int, ...] = ()
    """The first Linux version with it; empty if every supported kernel has it."""

    @property
    def symbol(self) -> str:
        """The kernel's configuration symbol."""
        return f"CONFIG_NET_SCH_{self.name.upper()}" if self.module else "CONFIG_NET_SCHED"

    @property
    def module(self) -> str:
        """The name of the kernel module; "" for fifo, which every kernel has."""
        return "" if self.name == "fifo" else f"sch_{self.name}"

    def problems(self, options: object, queue_packets: object, queue_bytes: object) -> Iterator[str]:
        """Yield a message for each mistake in a link's `aqm_options` and in its room."""
        if not isinstance(options, Mapping):
            yield f"aqm_options must be a mapping, got {shown(options)}"
            return
        for name, value in options.items():
            if name not in self.options:
                yield f"aqm_options of {self.name}: {one_of(name, list(self.options) or ['none'])}"
            elif problem := self.options[name].problem(name, value):
                yield f"aqm_options: {problem}"
        together = self.conflict(options)
        if together is not None:
            yield f"aqm_options: {together}"
        if self.counts == "packets" and queue_bytes is not None:
            yield f"aqm={self.name!r} limits its queue in packets; give queue_packets instead of queue_bytes"
        least, most = self.room
        if is_integer(queue_packets) and 1 <= queue_packets <= MOST_PACKETS and not least <= queue_packets <= most:  # type: ignore[operator]
            yield f"aqm={self.name!r} needs room for {least} to {most} packets, got queue_packets={queue_packets}"


def _counter(place: int) -> Callable[[bytes], int]:
    """Return a function that reads the 32-bit counter at that offset, or returns 0 where a kernel's statistics are shorter."""

    def read(statistics: bytes) -> int:
        if len(statistics) < 4 * (place + 1):
            return 0
        return int(struct.unpack_from("=I", statistics, 4 * place)[0])

    return read


def _cake_marks(statistics: bytes) -> int:
    """Return the ECN marks of CAKE, summed over its tins."""
    marks = 0
    for kind, tins in wire.attributes(statistics):
        if kind == TCA_CAKE_STATS_TIN_STATS:
            for _tin, tin in wire.attributes(tins):
                for inner, value in wire.attributes(tin):
                    if inner == TCA_CAKE_TIN_STATS_ECN_MARKED_PACKETS:
                        marks += int(struct.unpack("=I", value)[0])
    return marks


def _fifo(spec: QueueSpec) -> Qdisc:
    # With segmentation offload one packet may be 45 frames, so the room is counted in bytes.
    in_bytes = spec.queue_bytes is not None or spec.offload
    return qdiscs.fifo(spec.bytes if in_bytes else spec.packets, in_bytes=in_bytes)


def _red(spec: QueueSpec) -> Qdisc:
    """Return RED; thresholds that are not set follow from the room: a quarter of it, and a third of that."""
    options = spec.options
    largest = options.get("max_packets", min(spec.bytes / FRAME_BYTES / 4, LARGEST_RED_PACKETS))
    low = options.get("min_packets", max(1, largest / 3))
    high = options.get("max_packets", 3 * low)
    bandwidth_bps = mbps_to_bps(min(spec.rate_mbps, FASTEST_RED_MBPS))
    return qdiscs.red(
        spec.bytes,
        round(low * FRAME_BYTES),
        round(high * FRAME_BYTES),
        _red_burst(low, high, bandwidth_bps),
        options.get("probability", 0.1),
        bandwidth_bps,
        ecn=bool(options.get("ecn")),
        packet_bytes=RED_PACKET_BYTES,
    )


def _red_burst(low_packets: float, high_packets: float, bandwidth_bps: int) -> int:
    """Return RED's burst in packets of 1000 bytes: (2 min + max) / 3, or the nearest that `tc` and the kernel can represent.

    >>> _red_burst(30, 90, 5_000_000), _red_burst(1, 3, 5_000_000), _red_burst(2, 1000, 1000)
    (50, 3, 32)
    """
    burst = max(1, round((2 * low_packets + high_packets) / 3))
    least = round(low_packets * FRAME_BYTES / RED_PACKET_BYTES) + 1
    # RED keeps the average in 32 bits: those of the upper threshold, and those of its weight 2**-log (see tc-red(8)).
    log = 31 - round(high_packets * FRAME_BYTES).bit_length()
    log = min(log, qdiscs.red_max_weight_log(RED_PACKET_BYTES, bandwidth_bps))
    while (
        burst > least
        and burst + 1 - low_packets * FRAME_BYTES / RED_PACKET_BYTES > (1 - (1 - 2**-log) ** burst) * 2**log
    ):
        burst = max(least, burst * 9 // 10)
    return max(burst, least)


def _choke_burst(low_packets: int, high_packets: int, bandwidth_bps: int) -> int:
    """Return CHOKe's burst in packets of 1000 bytes, as `tc` chooses it, or the nearest whose average fits into 32 bits."""
    burst = max(1, (2 * low_packets + high_packets) // 3)
    log = min(
        31 - (high_packets * RED_PACKET_BYTES).bit_length(),
        qdiscs.red_max_weight_log(RED_PACKET_BYTES, bandwidth_bps),
    )
    while burst > low_packets + 1 and burst + 1 - low_packets > (1 - (1 - 2**-log) ** burst) * 2**log:
        burst = max(low_packets + 1, burst * 9 // 10)
    return max(burst, low_packets + 1)


def _red_conflict(options: Mapping[str, Any]) -> str | None:
    low, high = options.get("min_packets"), options.get("max_packets")
    if is_number(low) and is_number(high) and not low < high:  # type: ignore[operator]
        return f"min_packets must be below max_packets, got {low!r} and {high!r}"
    return None


def _codel(spec: QueueSpec) -> Qdisc:
    times = spec.time("interval", 3, "interval_ms"), spec.time("target", 1, "target_ms")
    return of_options("codel", number("limit", 2, spec.packets), *times, spec.ecn(4) or Option("noecn", wire.u32(4, 0)))


def _fq_codel(spec: QueueSpec) -> Qdisc:
    times = spec.time("interval", 3, "interval_ms"), spec.time("target", 1, "target_ms")
    marks = spec.ecn(4) or Option("noecn", wire.u32(4, 0))
    return of_options("fq_codel", number("limit", 2, spec.packets), spec.count("flows", 5, "flows"), *times, marks)


def _pie(spec: QueueSpec) -> Qdisc:
    return of_options("pie", number("limit", 2, spec.packets), spec.time("target", 1, "target_ms"), spec.ecn(6))


def _fq_pie(spec: QueueSpec) -> Qdisc:
    limit, flows = number("limit", 1, spec.packets), spec.count("flows", 2, "flows")
    target = spec.time("target", 3, "target_ms")
    return of_options("fq_pie", limit, flows, target, spec.ecn(10), flags=wire.NLA_F_NESTED)


def _cake(spec: QueueSpec) -> Qdisc:
    rtt_ms = spec.options.get("rtt_ms")
    return qdiscs.cake(spec.bytes, None if rtt_ms is None else ms_to_us(rtt_ms))


def _fq(spec: QueueSpec) -> Qdisc:
    pacing = None if spec.options.get("pacing", True) else Option("nopacing", wire.u32(5, 0))
    rate_mbps = spec.options.get("flow_rate_mbps")
    return of_options(
        "fq",
        number("limit", 1, spec.packets),
        spec.count("flow_limit", 2, "flow_packets"),
        pacing,
        None if rate_mbps is None else qdiscs.flow_rate(mbps_to_bps(rate_mbps)),
    )


def _sfq(spec: QueueSpec) -> Qdisc:
    return qdiscs.sfq(spec.packets, SFQ_FLOWS, spec.options.get("flow_packets"))


def _dualpi2(spec: QueueSpec) -> Qdisc:
    coupling = spec.options.get("coupling")
    mask, word = (DUALPI2_ANY_ECT, "any_ect") if spec.options.get("any_ecn") else (DUALPI2_L4S_ECT, "l4s_ect")
    return of_options(
        "dualpi2",
        number("limit", 1, spec.packets),
        spec.time("target", 3, "target_ms"),
        spec.time("tupdate", 4, "tupdate_ms"),
        spec.time("step_thresh", 8, "step_ms"),
        spec.count("min_qlen_step", 9, "step_packets"),
        None if coupling is None else Option(f"coupling_factor {coupling}", wire.u8(10, coupling)),
        Option(word, wire.u8(14, mask)),
        # `tbf` has already split large segments.
        Option("no_split_gso", wire.u8(15, 0)),
        flags=wire.NLA_F_NESTED,
    )


def _choke(spec: QueueSpec) -> Qdisc:
    """Return CHOKe; thresholds that are not set follow from the room, as in `_red`."""
    options, room_packets = spec.options, min(spec.packets, MAX_CHOKE_PACKETS)
    high = options.get("max_packets", max(3, min(room_packets // 4, LARGEST_RED_PACKETS)))
    low = options.get("min_packets", max(2, high // 3))
    high = max(high, low + 1)
    bandwidth_bps = mbps_to_bps(min(spec.rate_mbps, FASTEST_RED_MBPS))
    return qdiscs.choke(
        max(room_packets, high),
        low,
        high,
        _choke_burst(low, high, bandwidth_bps),
        options.get("probability", 0.02),
        bandwidth_bps,
        ecn=bool(options.get("ecn")),
        packet_bytes=RED_PACKET_BYTES,
    )


def _classes(spec: QueueSpec, count: int, quantum_bytes: tuple[int, ...], *, repeats: bool) -> Classes:
    return Classes(count, spec.packets, quantum_bytes, spec.options.get("classify") == "flow", repeats)


def _drr(spec: QueueSpec) -> Qdisc:
    quanta = tuple(spec.options.get("quanta_bytes", (FRAME_BYTES,) * spec.options.get("classes", DRR_CLASSES)))
    return classes.drr(_classes(spec, len(quanta), quanta, repeats=True))


def _drr_conflict(options: Mapping[str, Any]) -> str | None:
    if "classes" in options and "quanta_bytes" in options:
        return "give quanta_bytes, one for each class, or classes, which have equal quanta; not both"
    return None


def _ets(spec: QueueSpec) -> Qdisc:
    strict, quanta = _ets_bands(spec.options)
    made = classes.ets(strict, quanta)
    return replace(made, classes=_classes(spec, strict + len(quanta), (), repeats=False))


def _ets_bands(options: Mapping[str, Any]) -> tuple[int, tuple[int, ...]]:
    quanta = tuple(options.get("quanta_bytes", () if "strict" in options else ETS_QUANTA_BYTES))
    return options.get("strict", 0 if "quanta_bytes" in options else 1), quanta


def _ets_conflict(options: Mapping[str, Any]) -> str | None:
    """Return a message if ets would have no band, or more bands than the kernel allows."""
    if not {"strict", "quanta_bytes"} & set(options):
        return None
    strict, quanta = options.get("strict", 0), options.get("quanta_bytes", ())
    if not is_integer(strict) or not isinstance(quanta, (list, tuple)):
        return None
    if 1 <= strict + len(quanta) <= classes.MAX_ETS_BANDS:
        return None
    return f"strict and the number of quanta_bytes must give 1 to {classes.MAX_ETS_BANDS} bands together, got {strict} and {len(quanta)}"


DISCIPLINES: dict[str, Discipline] = {
    row.name: row
    for row in (
        Discipline(
            "fifo",
            "First in, first out; what finds no room is dropped (drop-tail).",
            "tc-pfifo(8)",
            "packets or bytes",
            _fifo,
        ),
        Discipline(
            "red",
            "Random Early Detection: drops or marks with a probability that grows with the average queue.",
            "Floyd and Jacobson, IEEE/ACM Transactions on Networking 1(4), 1993",
            "bytes",
            _red,
            {
                # RED uses 32 bits for the threshold, the weight of the average and the probability together.
                "min_packets": Range(1, 3_000),
                "max_packets": Range(2, 10_000),
                "probability": Range(0.01, 1),
                "ecn": Flag(),
            },
            marks=_counter(3),
            conflict=_red_conflict,
        ),
        Discipline(
            "codel",
            "Controlled Delay: drops or marks while packets have waited longer than a target for a whole interval.",
            "RFC 8289",
            "packets",
            _codel,
            {"target_ms": TIME, "interval_ms": TIME, "ecn": Flag()},
            marks=_counter(6),
        ),
        Discipline(
            "fq_codel",
            "A queue for each flow, served in turn, each under CoDel.",
            "RFC 8290",
            "packets",
            _fq_codel,
            {"target_ms": TIME, "interval_ms": TIME, "ecn": Flag(), "flows": FLOWS},
            marks=_counter(3),
        ),
        Discipline(
            "pie",
            "Proportional Integral controller Enhanced: a drop probability that is steered towards a target delay.",
            "RFC 8033",
            "packets",
            _pie,
            {"target_ms": TIME, "ecn": Flag()},
            marks=_counter(9),
        ),
        Discipline(
            "fq_pie",
            "A queue for each flow, served in turn, each under PIE.",
            "tc-fq_pie(8)",
            "packets",
            _fq_pie,
            {"target_ms": TIME, "ecn": Flag(), "flows": FLOWS},
            marks=_counter(4),
        ),
        Discipline(
            "cake",
            "Common Applications Kept Enhanced: a queue for each flow, under a CoDel that is set by the RTT expected.",
            "Høiland-Jørgensen, Täht and Morton, IEEE LANMAN 2018",
            "kernel memory",
            _cake,
            {"rtt_ms": TIME},
            marks=_cake_marks,
        ),
        Discipline(
            "dualpi2",
            "DualQ Coupled AQM: a shallow queue with a step of marks for L4S, and PI2 for all others, coupled to share fairly.",
            "RFC 9332",
            "packets",
            _dualpi2,
            {
                "target_ms": DUALPI2_TIME,
                "tupdate_ms": Range(1, LONGEST_DUALPI2_MS),
                "step_ms": DUALPI2_TIME,
                "step_packets": Range(0, MOST_PACKETS, whole=True),
                "coupling": Range(1, 255, whole=True),
                "any_ecn": Flag(),
            },
            marks=_counter(6),
            # Merged into net-next on 2025-07-23 ("DUALPI2 patch", Chia-Yu Chang), after 6.16 had been closed to features.
            since=(6, 17),
        ),
        Discipline(
            "fq",
            "Fair queueing: a queue for each flow, served in turn; a flow may be paced, nothing is marked.",
            "tc-fq(8)",
            "packets",
            _fq,
            {
                "flow_packets": Range(1, MOST_PACKETS, whole=True),
                "flow_rate_mbps": Range(0.001, FASTEST_FLOW_MBPS),
                "pacing": Flag(),
            },
        ),
        Discipline(
            "sfq",
            "Stochastic Fairness Queueing: flows are hashed into queues that are served in turn; the longest one is cut.",
            "McKenney, IEEE INFOCOM 1990",
            "packets",
            _sfq,
            {"flow_packets": Range(16, SFQ_DEPTH_PACKETS, whole=True)},
            room=(2, MOST_PACKETS),
        ),
        Discipline(
            "choke",
            "CHOKe: RED that also drops an arriving packet and a random waiting one if both are of one flow, against flows that do "
            "not slow down.",
            "Pan, Prabhakar and Psounis, IEEE INFOCOM 2000",
            "packets",
            _choke,
            {
                # tc-choke(8): with 1, no weight of the average allows a burst.
                "min_packets": Range(2, 3_000, whole=True),
                "max_packets": Range(3, 10_000, whole=True),
                "probability": Range(0.01, 1),
                "ecn": Flag(),
            },
            marks=_counter(3),
            conflict=_red_conflict,
            room=(4, MAX_CHOKE_PACKETS),
        ),
        Discipline(
            "drr",
            "Deficit Round Robin: classes served in turn, each by its quantum of bytes; each has room for all of queue_packets.",
            "Shreedhar and Varghese, IEEE/ACM Transactions on Networking 4(3), 1996",
            "packets",
            _drr,
            {
                "classes": Range(1, MAX_DRR_CLASSES, whole=True),
                "quanta_bytes": Ranges(QUANTUM, MAX_DRR_CLASSES),
                "classify": Choice(CLASSIFIERS),
            },
            conflict=_drr_conflict,
        ),
        Discipline(
            "ets",
            "Enhanced Transmission Selection: strict bands, each before all later ones, then bands that share the rest by quanta; "
            "each has room for all of queue_packets.",
            "IEEE 802.1Qaz; tc-ets(8)",
            "packets",
            _ets,
            {
                "strict": Range(0, classes.MAX_ETS_BANDS, whole=True),
                "quanta_bytes": Ranges(QUANTUM, classes.MAX_ETS_BANDS),
                "classify": Choice(CLASSIFIERS),
            },
            conflict=_ets_conflict,
        ),
    )
}
"""The queue disciplines, by the name in a link's `aqm`."""


def discipline(name: object) -> Discipline:
    """Return the row of a discipline.

    Raises ValueError with the allowed names if there is none of that name.
    """
    if not isinstance(name, str) or name not in DISCIPLINES:
        raise ValueError(f"aqm: {one_of(name, list(DISCIPLINES))}")
    return DISCIPLINES[name]


def marks(kind: str, statistics: bytes) -> int:
    """Return the number of packets that a qdisc of that kind has marked with ECN; 0 for a kind that links do not have, such as `tbf`."""
    row = DISCIPLINES.get(kind)
    return 0 if row is None else row.marks(statistics)
