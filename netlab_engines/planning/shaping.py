"""Translate one direction of a link to `ip` and `tc`: queue and rate limit at the sender, the wire at the receiver.

The three parts are in three places:

- The queue that the student set and its rate limit, a `tbf`, are on the sending interface. The bucket holds 1.33 frames.
  So a frame leaves after the serialization time of the one before it, and `tbf` splits segments of up to 64 kB, which
  segmentation offload (GSO) leaves whole, before they enter the queue. (With a bucket of exactly one frame, each timer that
  is a few hundred nanoseconds late would cost that time for good: 3 % at 1 Gbit/s.)
- The wire (propagation delay, jitter, loss, duplication) is a `netem` on an intermediate device behind the receiving
  interface. There packets in flight do not count in the queue or in TCP's small-queue limit.
- A bucket lets the first frame pass at once, but a wire takes its serialization time. So `netem` also has the rate. It never
  has a queue, because frames arrive no faster than that rate; it only delays each by its serialization time.
"""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, cast

from netlab.base.headers import (
    ETHERNET_HEADER_BYTES,
    ETHERNET_WIRE_BYTES,
    FRAME_BYTES,
    IP_HEADER_BYTES,
    MIN_WIRE_FRAME_BYTES,
    OFFLOAD_ABOVE_MBPS,
    TCP_HEADER_BYTES,
)
from netlab.base.units import BITS_PER_BYTE, mbps_to_bps, ms_to_us
from netlab.plan import Item, PlannedHop, Shape
from netlab_engines.netlink import classes, disciplines
from netlab_engines.netlink.classes import ClassElement
from netlab_engines.netlink.qdiscs import AttachedQdisc, Queueing, ingress, netem, redirect, tbf
from netlab_engines.netlink.queue_spec import QueueSpec

LATENESS_BYTES = 504
# 64 kB of data and the headers of each frame in it, which `tc` counts too; with a smaller bucket `tbf` would split the segment.
MAX_SEGMENT_BYTES = 80_000
SEGMENT_HEADER_BYTES = ETHERNET_HEADER_BYTES + IP_HEADER_BYTES + TCP_HEADER_BYTES
ETHERNET_OVERHEAD_BYTES = ETHERNET_WIRE_BYTES - ETHERNET_HEADER_BYTES
WIRE_LIMIT_PACKETS = 10_000_000
BUCKET_LIMIT_BYTES = 10**9
DRAINING_MBPS = 100_000
IN_ORDER_RATE_BPS = 10**12
REAL_CLOCK_BURST_S = 0.01
# A late timer sends a burst into the wire. If the wire were not a little faster than the queue, the burst would wait there for ever
# and add 4 to 5 ms to the RTT at 5 Mbit/s, 9 ms at 100 Mbit/s.
REAL_CLOCK_WIRE_HEADROOM = 1.02


def keeps_gso(shape: Shape) -> bool:
    """Return whether a direction with this shape passes offloaded segments of up to 64 kB as one packet: as the user
    has set it, else at rates above OFFLOAD_ABOVE_MBPS; never with IP framing.
    """
    if shape["framing"] == "ip":
        return False
    chosen = shape["segmentation_offload"]
    if chosen is None:
        return shape["rate_mbps"] is not None and shape["rate_mbps"] > OFFLOAD_ABOVE_MBPS
    return bool(chosen)


def has_wire(shape: Shape) -> bool:
    """Return whether a direction with this shape needs a wire, which is a `netem` on a device of its own: it has a
    rate, delay, jitter, loss or duplication.
    """
    return bool(
        shape["rate_mbps"]
        or shape["delay_ms"]
        or shape["jitter_ms"]
        or shape["loss_rate"]
        or shape["burst_loss"]
        or shape["duplicate_rate"]
    )


def queue_qdiscs(interface: str, shape: Shape, clock: str) -> list[AttachedQdisc | ClassElement]:
    """Return the queueing for the sending interface with the name `interface` of a direction with this shape, in a list
    from the root inwards: the rate limit, the queue, and the queue's classes and filters; [] without a rate. `clock` is
    "virtual" or "real", on which the bucket of the rate limit holds at least REAL_CLOCK_BURST_S s of data.
    """
    rate_mbps = shape["rate_mbps"]
    if rate_mbps is None:
        return []
    overhead_bytes, min_bytes = _framing(shape)
    burst_bytes = (MAX_SEGMENT_BYTES if keeps_gso(shape) else FRAME_BYTES + overhead_bytes) + LATENESS_BYTES
    if clock == "real":
        # Timers of the machine's clock are late; with a bucket of one frame that time would be lost.
        burst_bytes = max(burst_bytes, round(mbps_to_bps(rate_mbps) / BITS_PER_BYTE * REAL_CLOCK_BURST_S))
    # The inner queue has the limit that the student set; tbf's own, in bytes, must only not be smaller.
    # tbf itself adds the wire's framing: newer kernels refuse a size table (`stab`) on an inner queue, and a size table at the
    # root does not apply to segments that tbf splits. But tbf cannot subtract bytes, so a size table makes it count IP packets
    # without Ethernet headers, and segmentation offload is off (`hosts_with_unsafe_gso`).
    bucket = tbf(
        mbps_to_bps(rate_mbps), burst_bytes, BUCKET_LIMIT_BYTES, overhead_bytes=overhead_bytes, min_bytes=min_bytes
    )
    spec = QueueSpec(rate_mbps, shape["queue_packets"], shape["queue_bytes"], shape["aqm_options"], keeps_gso(shape))
    at_root = AttachedQdisc(interface, bucket, overhead_bytes=-ETHERNET_HEADER_BYTES if shape["framing"] == "ip" else 0)
    queue = disciplines.qdisc(shape["aqm"], spec)
    inside = [] if queue.classes is None else classes.class_elements(interface, queue.classes)
    return [at_root, AttachedQdisc(interface, queue, inner=True), *inside]


def wire_qdisc(
    device: str, shape: Shape, clock: str, seed: int | None = None, *, every_option: bool = False
) -> AttachedQdisc:
    """Return the `netem` on the device with the name `device` that delays, loses and duplicates packets of a direction
    with this shape, and delays each by its serialization time at the direction's rate (not if jitter may reorder).
    `clock` is "virtual" or "real", on which that rate is a little higher. Its random draws follow from `seed` (None:
    from the kernel's own seed). If `every_option`, a missing rate is set to 0, as a change of an existing wire
    requires.
    """
    delay_ms, jitter_ms, rate_mbps = shape["delay_ms"], shape["jitter_ms"], shape["rate_mbps"]
    rate_bps = None
    if not (jitter_ms and shape["reorder"]):
        if rate_mbps is not None:
            rate_bps = mbps_to_bps(rate_mbps * (REAL_CLOCK_WIRE_HEADROOM if clock == "real" else 1))
        elif jitter_ms:
            # A rate makes netem send packets in their order.
            rate_bps = IN_ORDER_RATE_BPS
    if every_option and rate_bps is None:
        rate_bps = 0
    wire = netem(
        WIRE_LIMIT_PACKETS,
        delay_us=ms_to_us(delay_ms) if delay_ms or jitter_ms else None,
        jitter_us=ms_to_us(jitter_ms),
        loss_rate=shape["loss_rate"],
        burst_loss=_burst_loss(shape),
        duplicate_rate=shape["duplicate_rate"],
        rate_bps=rate_bps,
        overhead_bytes=_wire_overhead_bytes(shape) if rate_mbps is not None else 0,
        seed=seed if is_random(shape) else None,
    )
    return AttachedQdisc(device, wire)


def wire_seeds(directions: list[PlannedHop], seed: int) -> list[int]:
    """Return the seed of the random draws of each direction's wire, a number of 64 bits, in the order of `directions`;
    it follows from the run's `seed`, the direction's nodes and, among several links of the same nodes, its position,
    and not from other links.
    """
    parallel: Counter[tuple[str, str]] = Counter()
    found = []
    for direction in directions:
        ends = src, dst = direction["src"], direction["dst"]
        found.append(random.Random(f"{seed} {src} {dst} {parallel[ends]}").getrandbits(64))  # noqa: S311 (no secret)
        parallel[ends] += 1
    return found


def is_random(shape: Shape) -> bool:
    """Return whether the wire of a direction with this shape makes random draws, for jitter, loss or duplication."""
    return bool(shape["jitter_ms"] or shape["burst_loss"] or shape["loss_rate"] or shape["duplicate_rate"])


def _burst_loss(shape: Shape) -> tuple[float, float, float, float] | None:
    """Return the four probabilities of bursty loss of a direction with this shape: to enter and to leave the bad state,
    and of a loss in the bad and in the good state, in this order; None if it has none.
    """
    burst = shape["burst_loss"]
    if not burst:
        return None
    return burst["enter_rate"], burst["leave_rate"], burst.get("bad_loss_rate", 1.0), burst.get("good_loss_rate", 0.0)


def _framing(shape: Shape) -> tuple[int, int]:
    """Return the bytes that the rate limit of a direction with this shape adds to each packet's length (which includes
    the Ethernet header), and the smallest length in bytes that it counts; both are 0 except for Ethernet framing.
    """
    return (ETHERNET_OVERHEAD_BYTES, MIN_WIRE_FRAME_BYTES) if shape["framing"] == "ethernet" else (0, 0)


def _wire_overhead_bytes(shape: Shape) -> int:
    """Return the bytes that the wire of a direction with this shape adds to the length of each packet, which includes
    the Ethernet header; negative with IP framing, to leave the header out.
    """
    return -ETHERNET_HEADER_BYTES if shape["framing"] == "ip" else _framing(shape)[0]


def redirection(interface: str, device: str) -> list[Queueing]:
    """Return the two commands of `tc` that send all packets which arrive at the interface with the name `interface`
    through the wire on the device with the name `device`.
    """
    return [ingress(interface), redirect(interface, device)]


def wire_device(interface: str) -> str:
    """Return the name of the wire's device for the receiving interface with the name `interface`.

    >>> wire_device("r12-eth3")
    'wire3'
    """
    return "wire" + interface.rpartition("-eth")[2]


def capture_ends(direction: PlannedHop) -> list[tuple[str, str, bool, str]]:
    """Return the two capture points of a direction, in a list: one where packets leave its sending interface, one where
    they arrive at the receiving node, after the wire if it has one. Each is a tuple of the node's name, the device's,
    whether packets that leave that device (else those that arrive) are captured, and the name of the capture's file.
    """
    leaving, arriving = direction["interface"], direction["dst_interface"]
    wired = has_wire(direction["shape"])
    device = wire_device(arriving) if wired else arriving
    return [(direction["src"], leaving, True, f"{leaving}.out"), (direction["dst"], device, wired, f"{arriving}.in")]


def shape_network(
    directions: list[PlannedHop], clock: str, without_offload: list[str], seed: int
) -> tuple[dict[str, list[str]], dict[str, list[Queueing]]]:
    """Return the lines of `ip` (without that word) and the queueing that shape all directions, two dicts of lists in
    order by the name of the node on which they are to be made; nodes without any are left out. Segmentation offload is
    switched off for the hosts in `without_offload`. `clock` is "virtual" or "real", and the random draws of the wires
    follow from the run's `seed`.
    """
    ip_lines: dict[str, list[str]] = {}
    queueing: dict[str, list[Queueing]] = {}
    for direction, own_seed in zip(directions, wire_seeds(directions, seed), strict=True):
        src, dst, shape = direction["src"], direction["dst"], direction["shape"]
        queueing.setdefault(src, []).extend(queue_qdiscs(direction["interface"], shape, clock))
        if has_wire(shape):
            device = wire_device(direction["dst_interface"])
            ip_lines.setdefault(dst, []).extend([f"link add name {device} type ifb", f"link set dev {device} up"])
            queueing.setdefault(dst, []).append(wire_qdisc(device, shape, clock, own_seed))
            queueing[dst].extend(redirection(direction["dst_interface"], device))
    for name in without_offload:
        for direction in directions:
            if direction["src"] == name:
                ip_lines.setdefault(name, []).append(f"link set dev {direction['interface']} gso_max_segs 1")
    return ip_lines, queueing


def hosts_with_unsafe_gso(
    directions: list[PlannedHop], hosts: list[str], clock: str, segment_bytes: Mapping[str, int]
) -> list[str]:
    """Return the names of those of `hosts` whose segmentation offload must be off, because a queue or wire of the
    directions would treat many frames as one packet. `clock` is "virtual" or "real"; `segment_bytes` has the smallest
    segment size in bytes by the name of each host whose traffic sets one.

    An offloaded segment (GSO, up to 64 kB) may leave a host only if, on every path from it, no queue and no wire comes
    before a `tbf` that splits the segment (or before the receiver). A `tbf` splits segments that its bucket cannot
    hold, so it does not split two small ones.
    """
    small = {host for host, size_bytes in segment_bytes.items() if _two_fit_the_bucket(size_bytes)}
    leaving: dict[str, list[PlannedHop]] = {}
    for direction in directions:
        leaving.setdefault(direction["src"], []).append(direction)
    return [
        host
        for host in hosts
        if _meets_wire_offloaded(host, leaving, set(hosts), clock == "virtual" and host not in small)
    ]


def segment_bytes_by_host(traffic: Sequence[Item]) -> dict[str, int]:
    """Return the smallest segment size in bytes that the traffic sets (`mss_bytes`), by the name of the sending host;
    hosts whose traffic sets none are absent.
    """
    smallest: dict[str, int] = {}
    for item in cast("Sequence[dict[str, Any]]", traffic):
        size_bytes = item.get("mss_bytes")
        if size_bytes is not None:
            smallest[item["src"]] = min(size_bytes, smallest.get(item["src"], size_bytes))
    return smallest


def _two_fit_the_bucket(mss_bytes: int) -> bool:
    """Return whether the bucket of a rate limit holds two segments of `mss_bytes` of data, so that `tbf` would not
    split them.
    """
    return 2 * (mss_bytes + SEGMENT_HEADER_BYTES) <= FRAME_BYTES + LATENESS_BYTES


def _meets_wire_offloaded(host: str, leaving: dict[str, list[PlannedHop]], hosts: set[str], tbf_splits: bool) -> bool:
    """Return whether an offloaded segment of the host with the name `host` can reach a queue or a wire unsplit, on any
    path through switches and routers. `leaving` has the directions that leave each node, by its name; `hosts` are the
    names of all hosts, at which paths end; `tbf_splits` is whether a `tbf` splits this host's segments.
    """
    seen, ahead = {host}, [host]
    while ahead:
        for direction in leaving.get(ahead.pop(), []):
            shape = direction["shape"]
            if shape["medium"] is not None:
                # Segments cannot enter a TAP whole: it takes single frames.
                continue
            if shape["rate_mbps"] is not None:
                if not keeps_gso(shape):
                    if not tbf_splits or shape["framing"] == "ip":
                        return True
                    continue
            elif has_wire(shape) and not shape["segmentation_offload"]:
                return True
            if direction["dst"] not in seen and direction["dst"] not in hosts:
                seen.add(direction["dst"])
                ahead.append(direction["dst"])
    return False
