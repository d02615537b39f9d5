"""The encoding of the queue disciplines: a link's queue as a qdisc with its options, and the marks in a qdisc's statistics."""

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from netlab.base.headers import FRAME_BYTES
from netlab.base.units import mbps_to_bps, ms_to_us
from netlab.network.queues import MAX_CHOKE_PACKETS
from netlab_engines.netlink import classes, qdiscs, red, wire
from netlab_engines.netlink.qdiscs import Classes, Option, Qdisc, number, qdisc_with_options
from netlab_engines.netlink.queue_spec import QueueSpec

MAX_RED_PACKETS = 9_000
MAX_RED_MBPS = 30_000
"""The limit of RED's bandwidth, which `tc` keeps in 32 bits of bytes/s. (RED uses it only to age the average while the link is idle.)"""
RED_PACKET_BYTES = 1000
"""RED's mean packet size (tc-red(8), avpkt)."""
SFQ_FLOWS = 65_408
"""The largest number of flows that SFQ can distinguish (SFQ_MAX_FLOWS); with fewer it would limit the room to depth times flows."""
DRR_CLASSES = 16
ETS_QUANTA_BYTES = (FRAME_BYTES, FRAME_BYTES)
TCA_CAKE_STATS_TIN_STATS = 10
TCA_CAKE_TIN_STATS_ECN_MARKED_PACKETS = 8
DUALPI2_L4S_ECT = 1
DUALPI2_ANY_ECT = 3


@dataclass(frozen=True)
class Encoding:
    """The kernel's form of a queue discipline: how to make its qdisc, and how to read its counter of ECN marks."""

    qdisc: Callable[[QueueSpec], Qdisc]
    """Returns the qdisc with its options for the queue that a link asks for."""
    marks: Callable[[bytes], int] = lambda _statistics: 0
    """Returns the packets marked with ECN, from the discipline's own statistics (the tc_*_xstats of linux/pkt_sched.h)."""


def qdisc(aqm: str, spec: QueueSpec) -> Qdisc:
    """Return the qdisc, with its options, of the discipline with netlab's name `aqm`, such as "fq_codel", for the queue
    that a link asks for. Raises KeyError for an unknown name.
    """
    return ENCODINGS[aqm].qdisc(spec)


def marks(kind: str, statistics: bytes) -> int:
    """Return the number of packets that a qdisc of the kind `kind`, such as "fq_codel", has marked with ECN, from the
    bytes of its own statistics (the kernel's TCA_STATS_APP); 0 for a kind that no link has, such as "tbf".
    """
    encoding = ENCODINGS.get(kind)
    return 0 if encoding is None else encoding.marks(statistics)


def _time(spec: QueueSpec, word: str, kind: int, option: str) -> Option | None:
    """Return a qdisc's option in µs from the option with the name `option` of the link, which is in ms; None if the
    link does not set it. `word` is its name in `tc`, `kind` the number of its netlink attribute.
    """
    return number(word, kind, ms_to_us(spec.options[option]), "us") if option in spec.options else None


def _count(spec: QueueSpec, word: str, kind: int, option: str) -> Option | None:
    """Return a qdisc's option from the option with the name `option` of the link, a whole number; None if the link does
    not set it. `word` is its name in `tc`, `kind` the number of its netlink attribute.
    """
    return number(word, kind, spec.options[option]) if option in spec.options else None


def _ecn(spec: QueueSpec, kind: int) -> Option | None:
    """Return the qdisc's option that switches ECN marks on, whose netlink attribute has the number `kind`; None if the
    link does not ask for ECN.
    """
    return Option("ecn", wire.u32(kind, 1)) if spec.options.get("ecn") else None


def _counter(place: int) -> Callable[[bytes], int]:
    """Return a function that returns the counter at the index `place`, from 0, of the 32-bit words of a qdisc's
    statistics, given as bytes; it returns 0 if a kernel's statistics are shorter.
    """

    def read(statistics: bytes) -> int:
        """Return the counter at the index `place` in the bytes of a qdisc's statistics; 0 if they are too short."""
        if len(statistics) < 4 * (place + 1):
            return 0
        return int(struct.unpack_from("=I", statistics, 4 * place)[0])

    return read


def _cake_marks(statistics: bytes) -> int:
    """Return the number of packets that a CAKE qdisc has marked with ECN, summed over its tins, from the bytes of its
    statistics.
    """
    marks = 0
    for kind, tins in wire.attributes(statistics):
        if kind == TCA_CAKE_STATS_TIN_STATS:
            for _tin, tin in wire.attributes(tins):
                for inner, value in wire.attributes(tin):
                    if inner == TCA_CAKE_TIN_STATS_ECN_MARKED_PACKETS:
                        marks += int(struct.unpack("=I", value)[0])
    return marks


def _fifo(spec: QueueSpec) -> Qdisc:
    """Return a fifo qdisc for the queue that a link asks for; its limit is in bytes if the link gives bytes or uses
    segmentation offload, and else in packets.
    """
    # With segmentation offload one packet may be 45 frames, so the room is counted in bytes.
    in_bytes = spec.queue_bytes is not None or spec.offload
    return qdiscs.fifo(spec.bytes if in_bytes else spec.packets, in_bytes=in_bytes)


def _red(spec: QueueSpec) -> Qdisc:
    """Return RED's qdisc for the queue that a link asks for. By default, the upper threshold is a quarter of the
    queue's capacity (at most MAX_RED_PACKETS frames), the lower one a third of the upper, the probability 0.1, and
    packets are dropped, not marked.
    """
    options = spec.options
    largest = options.get("max_packets", min(spec.bytes / FRAME_BYTES / 4, MAX_RED_PACKETS))
    low = options.get("min_packets", max(1, largest / 3))
    high = options.get("max_packets", 3 * low)
    bandwidth_bps = mbps_to_bps(min(spec.rate_mbps, MAX_RED_MBPS))
    average = red.AverageLength(
        round(low * FRAME_BYTES),
        round(high * FRAME_BYTES),
        _red_burst(low, high, bandwidth_bps),
        options.get("probability", 0.1),
        bandwidth_bps,
        RED_PACKET_BYTES,
    )
    return red.red(spec.bytes, average, ecn=bool(options.get("ecn")))


def _red_burst(low_packets: float, high_packets: float, bandwidth_bps: int) -> int:
    """Return RED's burst in packets of 1000 bytes, (2 low + high) / 3 rounded, or the nearest value that `tc` and the
    kernel can represent, for the thresholds `low_packets` and `high_packets` in full frames on a link of
    `bandwidth_bps` bit/s.

    >>> _red_burst(30, 90, 5_000_000), _red_burst(1, 3, 5_000_000), _red_burst(2, 1000, 1000)
    (50, 3, 32)
    """
    burst = max(1, round((2 * low_packets + high_packets) / 3))
    return _nearest_burst(burst, low_packets * FRAME_BYTES, round(high_packets * FRAME_BYTES), bandwidth_bps)


def _choke_burst(low_packets: int, high_packets: int, bandwidth_bps: int) -> int:
    """Return CHOKe's burst in packets, (2 low + high) / 3 as `tc` chooses it, or the nearest value whose average fits
    into 32 bits, for the thresholds `low_packets` and `high_packets`, in packets of 1000 bytes, on a link of
    `bandwidth_bps` bit/s.
    """
    burst = max(1, (2 * low_packets + high_packets) // 3)
    return _nearest_burst(burst, low_packets * RED_PACKET_BYTES, high_packets * RED_PACKET_BYTES, bandwidth_bps)


def _nearest_burst(burst: int, low_bytes: float, high_bytes: int, bandwidth_bps: int) -> int:
    """Return the largest of some values up to `burst`, each a tenth smaller than the one before, in packets of 1000
    bytes, for which RED can represent the weight of its average, for the thresholds `low_bytes` and `high_bytes` on a
    link of `bandwidth_bps` bit/s; at least one more than the lower threshold in such packets, even if that is above
    `burst`.
    """
    low_packets = low_bytes / RED_PACKET_BYTES
    least = round(low_packets) + 1
    # RED keeps the average in 32 bits: those of the upper threshold, and those of its weight 2**-log (see tc-red(8)).
    log = min(31 - high_bytes.bit_length(), red.red_max_weight_log(RED_PACKET_BYTES, bandwidth_bps))
    while burst > least and burst + 1 - low_packets > (1 - (1 - 2**-log) ** burst) * 2**log:
        burst = max(least, burst * 9 // 10)
    return max(burst, least)


def _codel(spec: QueueSpec) -> Qdisc:
    """Return CoDel's qdisc for the queue that a link asks for: its capacity in packets, interval and target (in ms in
    the link's options, the kernel's defaults if not set), and ECN marks only if the link asks for them.
    """
    times = _time(spec, "interval", 3, "interval_ms"), _time(spec, "target", 1, "target_ms")
    return qdisc_with_options(
        "codel", number("limit", 2, spec.packets), *times, _ecn(spec, 4) or Option("noecn", wire.u32(4, 0))
    )


def _fq_codel(spec: QueueSpec) -> Qdisc:
    """Return FQ-CoDel's qdisc for the queue that a link asks for: its capacity in packets, number of flows, interval
    and target (in ms in the link's options; the kernel's defaults if not set); it marks with ECN unless the link
    forbids that.
    """
    times = _time(spec, "interval", 3, "interval_ms"), _time(spec, "target", 1, "target_ms")
    # tc-fq_codel(8): unlike codel, it marks unless told not to.
    marks = spec.options.get("ecn", True)
    switch = Option("ecn" if marks else "noecn", wire.u32(4, int(marks)))
    return qdisc_with_options(
        "fq_codel", number("limit", 2, spec.packets), _count(spec, "flows", 5, "flows"), *times, switch
    )


def _pie(spec: QueueSpec) -> Qdisc:
    """Return PIE's qdisc for the queue that a link asks for: its capacity in packets, its target (in ms in the link's
    options; the kernel's default if not set), and ECN marks only if the link asks for them.
    """
    return qdisc_with_options(
        "pie", number("limit", 2, spec.packets), _time(spec, "target", 1, "target_ms"), _ecn(spec, 6)
    )


def _fq_pie(spec: QueueSpec) -> Qdisc:
    """Return FQ-PIE's qdisc for the queue that a link asks for: its capacity in packets, number of flows and target (in
    ms in the link's options; the kernel's defaults if not set), and ECN marks only if the link asks for them.
    """
    limit, flows = number("limit", 1, spec.packets), _count(spec, "flows", 2, "flows")
    target = _time(spec, "target", 3, "target_ms")
    return qdisc_with_options("fq_pie", limit, flows, target, _ecn(spec, 10), flags=wire.NLA_F_NESTED)


def _cake(spec: QueueSpec) -> Qdisc:
    """Return CAKE's qdisc for the queue that a link asks for, with its capacity in bytes and the link's expected
    round-trip time (in ms in its options; CAKE's default if not set).
    """
    rtt_ms = spec.options.get("rtt_ms")
    return qdiscs.cake(spec.bytes, None if rtt_ms is None else ms_to_us(rtt_ms))


def _fq(spec: QueueSpec) -> Qdisc:
    """Return the qdisc of fq, fair queueing, for the queue that a link asks for: its capacity in packets, the limit in
    packets and the highest rate in Mbit/s of each flow (the kernel's defaults if not set), and pacing of flows unless
    the link switches it off.
    """
    pacing = None if spec.options.get("pacing", True) else Option("nopacing", wire.u32(5, 0))
    rate_mbps = spec.options.get("flow_rate_mbps")
    return qdisc_with_options(
        "fq",
        number("limit", 1, spec.packets),
        _count(spec, "flow_limit", 2, "flow_packets"),
        pacing,
        None if rate_mbps is None else qdiscs.flow_rate(mbps_to_bps(rate_mbps)),
    )


def _sfq(spec: QueueSpec) -> Qdisc:
    """Return SFQ's qdisc for the queue that a link asks for, with its capacity in packets, SFQ_FLOWS flows, and the
    link's limit in packets per flow (the kernel's default if not set).
    """
    return qdiscs.sfq(spec.packets, SFQ_FLOWS, spec.options.get("flow_packets"))


def _dualpi2(spec: QueueSpec) -> Qdisc:
    """Return DualPI2's qdisc for the queue that a link asks for: its capacity in packets; target, update interval, step
    threshold and coupling factor (the kernel's defaults if not set); and ECT(1) alone, or with the option "any_ecn" any
    ECN codepoint, as the sign of L4S traffic. It does not split segments.
    """
    coupling = spec.options.get("coupling")
    mask, word = (DUALPI2_ANY_ECT, "any_ect") if spec.options.get("any_ecn") else (DUALPI2_L4S_ECT, "l4s_ect")
    return qdisc_with_options(
        "dualpi2",
        number("limit", 1, spec.packets),
        _time(spec, "target", 3, "target_ms"),
        _time(spec, "tupdate", 4, "tupdate_ms"),
        _time(spec, "step_thresh", 8, "step_ms"),
        _count(spec, "min_qlen_step", 9, "step_packets"),
        None if coupling is None else Option(f"coupling_factor {coupling}", wire.u8(10, coupling)),
        Option(word, wire.u8(14, mask)),
        # `tbf` has already split large segments.
        Option("no_split_gso", wire.u8(15, 0)),
        flags=wire.NLA_F_NESTED,
    )


def _choke(spec: QueueSpec) -> Qdisc:
    """Return CHOKe's qdisc for the queue that a link asks for, of at most MAX_CHOKE_PACKETS packets. By default, the
    upper threshold is a quarter of that capacity, at most MAX_RED_PACKETS, the lower one a third of the upper, and the
    probability 0.02; both are raised where they would be too small or equal, and ECN marks replace drops only if the
    link asks for them.
    """
    options, class_packets = spec.options, min(spec.packets, MAX_CHOKE_PACKETS)
    high = options.get("max_packets", max(3, min(class_packets // 4, MAX_RED_PACKETS)))
    low = options.get("min_packets", max(2, high // 3))
    high = max(high, low + 1)
    bandwidth_bps = mbps_to_bps(min(spec.rate_mbps, MAX_RED_MBPS))
    average = red.AverageLength(
        low * RED_PACKET_BYTES,
        high * RED_PACKET_BYTES,
        _choke_burst(low, high, bandwidth_bps),
        options.get("probability", 0.02),
        bandwidth_bps,
        RED_PACKET_BYTES,
    )
    return red.choke(max(class_packets, high), average, ecn=bool(options.get("ecn")))


def _classes(spec: QueueSpec, count: int, quantum_bytes: tuple[int, ...], *, repeats: bool) -> Classes:
    """Return `count` classes for the queue that a link asks for, each with the queue's capacity in packets; a hash of
    the flow chooses the class if the link's "classify" is "flow", else the destination port. `quantum_bytes` are DRR's
    quanta in bytes (() for ETS); if `repeats`, ports beyond the last class start again with the first.
    """
    return Classes(count, spec.packets, quantum_bytes, spec.options.get("classify") == "flow", repeats)


def _drr(spec: QueueSpec) -> Qdisc:
    """Return DRR's qdisc for the queue that a link asks for, with a class for each of the link's quanta in bytes;
    without quanta as many classes as the link asks for (default: DRR_CLASSES) with a quantum of one frame each.
    """
    quanta = tuple(spec.options.get("quanta_bytes", (FRAME_BYTES,) * spec.options.get("classes", DRR_CLASSES)))
    return classes.drr(_classes(spec, len(quanta), quanta, repeats=True))


def _ets(spec: QueueSpec) -> Qdisc:
    """Return ETS's qdisc for the queue that a link asks for, with the link's bands, each a class with the queue's
    capacity in packets; by default one strict band and two that share the rest.
    """
    strict, quanta = _ets_bands(spec.options)
    qdisc = classes.ets(strict, quanta)
    return replace(qdisc, classes=_classes(spec, strict + len(quanta), (), repeats=False))


def _ets_bands(options: Mapping[str, Any]) -> tuple[int, tuple[int, ...]]:
    """Return the number of ETS's strict bands and the quanta, in bytes, of its other bands from a link's options; by
    default one strict band and ETS_QUANTA_BYTES. If the link sets only one of the two, there are no bands of the other
    kind.
    """
    quanta = tuple(options.get("quanta_bytes", () if "strict" in options else ETS_QUANTA_BYTES))
    return options.get("strict", 0 if "quanta_bytes" in options else 1), quanta


ENCODINGS = {
    "fifo": Encoding(_fifo),
    "red": Encoding(_red, _counter(3)),
    "codel": Encoding(_codel, _counter(6)),
    "fq_codel": Encoding(_fq_codel, _counter(3)),
    "pie": Encoding(_pie, _counter(9)),
    "fq_pie": Encoding(_fq_pie, _counter(4)),
    "cake": Encoding(_cake, _cake_marks),
    "dualpi2": Encoding(_dualpi2, _counter(6)),
    "fq": Encoding(_fq),
    "sfq": Encoding(_sfq),
    "choke": Encoding(_choke, _counter(3)),
    "drr": Encoding(_drr),
    "ets": Encoding(_ets),
}
"""The encoding of each row of `netlab.network.queues.DISCIPLINES`, by its name."""
