"""Queue disciplines of links: a table with a row for each, read by the host and by the guest.

A row has the discipline's options and the kernel symbols that it needs. To add one, write its row, and its encoding in
`netlab_engines/netlink/disciplines.py`; if the pocket kernel lacks it, also add a line to `netlab_kernel/recipe/pocket.config`.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from netlab.base.errors import one_of
from netlab.base.rules import Choice, Flag, Range, Ranges, Rule
from netlab.base.values import is_integer, is_number, short_repr

MAX_PACKETS = 1_000_000
MIN_TIME_MS = 0.001
MAX_TIME_MS = 60_000
MAX_FLOWS = 65_536
MAX_FLOW_MBPS = 30_000
"""The limit of fq's rate for a flow, kept in 32 bits of bytes/s."""
MAX_DUALPI2_MS = 4_000
"""The limit of DualPI2's times, kept in 32 bits of nanoseconds."""
SFQ_DEPTH_PACKETS = 127
"""The largest number of packets that SFQ keeps of a flow, whatever its room (SFQ_MAX_DEPTH)."""

MAX_CHOKE_PACKETS = 131_072
"""The size of CHOKe's table of waiting packets (CHOKE_MAX_QUEUE)."""
MAX_DRR_CLASSES = 256
MAX_ETS_BANDS = 16
"""TCQ_ETS_MAX_BANDS."""
MIN_QUANTUM_BYTES, MAX_QUANTUM_BYTES = 64, 10_000_000
CLASSIFIERS = ("port", "flow")
"""The ways to sort packets into classes."""


TIME = Range(MIN_TIME_MS, MAX_TIME_MS)
DUALPI2_TIME = Range(MIN_TIME_MS, MAX_DUALPI2_MS)
FLOWS = Range(1, MAX_FLOWS, whole=True)
QUANTUM = Range(MIN_QUANTUM_BYTES, MAX_QUANTUM_BYTES, whole=True)


@dataclass(frozen=True)
class Discipline:
    """A queue discipline that a link may have."""

    name: str
    """The name in a link's `aqm`."""
    description: str
    """A sentence on how it works."""
    source: str
    """The paper, RFC or manual that describes it."""
    counts: str
    """The unit of its limit: packets, bytes, packets or bytes, or kernel memory."""
    options: Mapping[str, Rule] = field(default_factory=dict)
    """The options that `aqm_options` may have, each with its rule."""
    conflict: Callable[[Mapping[str, Any]], str | None] = lambda _options: None
    """Returns a message if options that are valid one by one contradict each other, else None."""
    queue_limits: tuple[int, int] = (1, MAX_PACKETS)
    """The smallest and the largest possible queue in packets."""
    since: tuple[int, ...] = ()
    """The first Linux version with it; empty if every supported kernel has it."""

    @property
    def symbol(self) -> str:
        """The symbol in the kernel's configuration that includes it, such as CONFIG_NET_SCH_RED."""
        return f"CONFIG_NET_SCH_{self.name.upper()}" if self.module else "CONFIG_NET_SCHED"

    @property
    def module(self) -> str:
        """The name of the kernel module; "" for fifo, which every kernel has."""
        return "" if self.name == "fifo" else f"sch_{self.name}"

    def problems(self, options: object, queue_packets: object, queue_bytes: object) -> Iterator[str]:
        """Yield a message for each mistake in a link's `aqm_options` (`options`), and for an impossible room."""
        if not isinstance(options, Mapping):
            yield f"aqm_options must be a mapping, got {short_repr(options)}"
            return
        for name, value in options.items():
            if name not in self.options:
                yield f"aqm_options of {self.name}: {one_of(name, list(self.options) or ['none'])}"
            elif problem := self.options[name].problem(name, value):
                yield f"aqm_options: {problem}"
        conflict = self.conflict(options)
        if conflict is not None:
            yield f"aqm_options: {conflict}"
        if self.counts == "packets" and queue_bytes is not None:
            yield f"aqm={self.name!r} limits its queue in packets; give queue_packets instead of queue_bytes"
        least, most = self.queue_limits
        if is_integer(queue_packets) and 1 <= queue_packets <= MAX_PACKETS and not least <= queue_packets <= most:  # type: ignore[operator]
            yield f"aqm={self.name!r} needs room for {least} to {most} packets, got queue_packets={queue_packets}"


def _red_conflict(options: Mapping[str, Any]) -> str | None:
    """Return a message if RED's lower threshold is not below the upper one, else None."""
    low, high = options.get("min_packets"), options.get("max_packets")
    if is_number(low) and is_number(high) and not low < high:  # type: ignore[operator]
        return f"min_packets must be below max_packets, got {low!r} and {high!r}"
    return None


def _drr_conflict(options: Mapping[str, Any]) -> str | None:
    """Return a message if both the number of DRR's classes and their quanta are given, else None."""
    if "classes" in options and "quanta_bytes" in options:
        return "give quanta_bytes, one for each class, or classes, which have equal quanta; not both"
    return None


def _ets_conflict(options: Mapping[str, Any]) -> str | None:
    """Return a message if ETS would have no band, or more bands than the kernel allows, else None."""
    if not {"strict", "quanta_bytes"} & set(options):
        return None
    strict, quanta = options.get("strict", 0), options.get("quanta_bytes", ())
    if not is_integer(strict) or not isinstance(quanta, (list, tuple)):
        return None
    if 1 <= strict + len(quanta) <= MAX_ETS_BANDS:
        return None
    return f"strict and the number of quanta_bytes must give 1 to {MAX_ETS_BANDS} bands together, got {strict} and {len(quanta)}"


DISCIPLINES: dict[str, Discipline] = {
    row.name: row
    for row in (
        Discipline(
            "fifo",
            "First in, first out; what finds no room is dropped (drop-tail).",
            "tc-pfifo(8)",
            "packets or bytes",
        ),
        Discipline(
            "red",
            "Random Early Detection: drops or marks with a probability that grows with the average queue.",
            "Floyd and Jacobson, IEEE/ACM Transactions on Networking 1(4), 1993",
            "bytes",
            {
                # RED uses 32 bits for the threshold, the weight of the average and the probability together.
                "min_packets": Range(1, 3_000),
                "max_packets": Range(2, 10_000),
                "probability": Range(0.01, 1),
                "ecn": Flag(),
            },
            conflict=_red_conflict,
        ),
        Discipline(
            "codel",
            "Controlled Delay: drops or marks while packets have waited longer than a target for a whole interval.",
            "RFC 8289",
            "packets",
            {"target_ms": TIME, "interval_ms": TIME, "ecn": Flag()},
        ),
        Discipline(
            "fq_codel",
            "A queue for each flow, served in turn, each under CoDel; it marks packets that allow it unless `ecn` is False.",
            "RFC 8290; tc-fq_codel(8)",
            "packets",
            {"target_ms": TIME, "interval_ms": TIME, "ecn": Flag(), "flows": FLOWS},
        ),
        Discipline(
            "pie",
            "Proportional Integral controller Enhanced: a drop probability that is steered towards a target delay.",
            "RFC 8033",
            "packets",
            {"target_ms": TIME, "ecn": Flag()},
        ),
        Discipline(
            "fq_pie",
            "A queue for each flow, served in turn, each under PIE.",
            "tc-fq_pie(8)",
            "packets",
            {"target_ms": TIME, "ecn": Flag(), "flows": FLOWS},
        ),
        Discipline(
            "cake",
            "Common Applications Kept Enhanced: a queue for each flow, under a CoDel that is set by the RTT expected.",
            "Høiland-Jørgensen, Täht and Morton, IEEE LANMAN 2018",
            "kernel memory",
            {"rtt_ms": TIME},
        ),
        Discipline(
            "dualpi2",
            "DualQ Coupled AQM: a shallow queue with a step of marks for L4S, and PI2 for all others, coupled to share fairly.",
            "RFC 9332",
            "packets",
            {
                "target_ms": DUALPI2_TIME,
                "tupdate_ms": Range(1, MAX_DUALPI2_MS),
                "step_ms": DUALPI2_TIME,
                "step_packets": Range(0, MAX_PACKETS, whole=True),
                "coupling": Range(1, 255, whole=True),
                "any_ecn": Flag(),
            },
            # Merged into net-next on 2025-07-23 ("DUALPI2 patch", Chia-Yu Chang), after 6.16 had been closed to features.
            since=(6, 17),
        ),
        Discipline(
            "fq",
            "Fair queueing: a queue for each flow, served in turn; a flow may be paced, nothing is marked.",
            "tc-fq(8)",
            "packets",
            {
                "flow_packets": Range(1, MAX_PACKETS, whole=True),
                "flow_rate_mbps": Range(0.001, MAX_FLOW_MBPS),
                "pacing": Flag(),
            },
        ),
        Discipline(
            "sfq",
            "Stochastic Fairness Queueing: flows are hashed into queues that are served in turn; the longest one is cut.",
            "McKenney, IEEE INFOCOM 1990",
            "packets",
            {"flow_packets": Range(16, SFQ_DEPTH_PACKETS, whole=True)},
            queue_limits=(2, MAX_PACKETS),
        ),
        Discipline(
            "choke",
            "CHOKe: RED that also drops an arriving packet and a random waiting one if both are of one flow, against flows that do "
            "not slow down.",
            "Pan, Prabhakar and Psounis, IEEE INFOCOM 2000",
            "packets",
            {
                # tc-choke(8): with 1, no weight of the average allows a burst.
                "min_packets": Range(2, 3_000, whole=True),
                "max_packets": Range(3, 10_000, whole=True),
                "probability": Range(0.01, 1),
                "ecn": Flag(),
            },
            conflict=_red_conflict,
            queue_limits=(4, MAX_CHOKE_PACKETS),
        ),
        Discipline(
            "drr",
            "Deficit Round Robin: classes served in turn, each by its quantum of bytes; each has room for all of queue_packets.",
            "Shreedhar and Varghese, IEEE/ACM Transactions on Networking 4(3), 1996",
            "packets",
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
            {
                "strict": Range(0, MAX_ETS_BANDS, whole=True),
                "quanta_bytes": Ranges(QUANTUM, MAX_ETS_BANDS),
                "classify": Choice(CLASSIFIERS),
            },
            conflict=_ets_conflict,
        ),
    )
}
"""The queue disciplines, by the name in a link's `aqm`."""


def discipline(name: object) -> Discipline:
    """Return the row of the queue discipline `name`. Raises ValueError with the allowed names if there is none."""
    if not isinstance(name, str) or name not in DISCIPLINES:
        raise ValueError(f"aqm: {one_of(name, list(DISCIPLINES))}")
    return DISCIPLINES[name]
