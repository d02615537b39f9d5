"""What one direction of a link becomes in `ip` and `tc`: queue and rate on the sending side, the wire on the receiving.

Three things in three places:

- The queue that the student set and its rate limit, a `tbf`, sit on the sending interface. The bucket holds one frame and
  a third, so that a frame leaves when the one before it has had its time, and so that `tbf` splits segments of up to
  64 kB, which segmentation offload (GSO) leaves whole, before they queue. (With exactly one frame, each of a timer's few
  hundred nanoseconds of lateness is lost for good: 3 % at 1 Gbit/s.)
- The wire (propagation delay, jitter, loss, duplication) is a `netem` on an intermediate device behind the receiving
  interface. There, packets in flight count against no queue, and TCP's small-queue limit does not see them.
- A bucket lets the first frame go at once; a wire takes its serialisation time. So `netem` also gets the rate. It holds no
  queue, because frames reach it no faster than that rate; it only makes each of them as late as its bits are long.
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
    SMALLEST_WIRE_FRAME_BYTES,
    TCP_HEADER_BYTES,
)
from netlab.base.units import BITS_PER_BYTE, mbps_to_bps, ms_to_us
from netlab.netlink import classes
from netlab.netlink.classes import Part
from netlab.netlink.qdiscs import Attached, Queueing, ingress, netem, redirected, tbf
from netlab.network import queues
from netlab.network.queue_spec import QueueSpec
from netlab.protocol.plan import Hop, Item, Shape

LATENESS_BYTES = 504
# 64 kB of data and the headers of each frame in it, which `tc` counts too; a smaller bucket would split it after all.
LARGEST_SEGMENT_BYTES = 80_000
SEGMENT_HEADER_BYTES = ETHERNET_HEADER_BYTES + IP_HEADER_BYTES + TCP_HEADER_BYTES
ETHERNET_OVERHEAD_BYTES = ETHERNET_WIRE_BYTES - ETHERNET_HEADER_BYTES
OFFLOAD_ABOVE_MBPS = 1000
WIRE_LIMIT_PACKETS = 10_000_000
BUCKET_LIMIT_BYTES = 10**9
DRAINING_MBPS = 100_000
IN_ORDER_RATE_BPS = 10**12
REAL_CLOCK_BURST_S = 0.01
# What a late timer lets through at once would stand before the wire for ever, were the wire not a little faster than the queue:
# 4 to 5 ms of RTT at 5 Mbit/s, 9 ms at 100 Mbit/s.
REAL_CLOCK_WIRE_HEADROOM = 1.02


def offloads(shape: Shape) -> bool:
    """Whether this direction leaves segmentation offload in force: segments of up to 64 kB pass as one packet."""
    if shape["framing"] == "ip":
        return False
    chosen = shape["segmentation_offload"]
    if chosen is None:
        return shape["rate_mbps"] is not None and shape["rate_mbps"] > OFFLOAD_ABOVE_MBPS
    return bool(chosen)


def has_wire(shape: Shape) -> bool:
    """Whether this direction needs a `netem`."""
    return bool(
        shape["rate_mbps"]
        or shape["delay_ms"]
        or shape["jitter_ms"]
        or shape["loss_rate"]
        or shape["burst_loss"]
        or shape["duplicate_rate"]
    )


def queue_qdiscs(interface: str, shape: Shape, clock: str) -> list[Attached | Part]:
    """The rate limit, the queue inside it and its classes on the sending `interface`; none for an unlimited link."""
    rate_mbps = shape["rate_mbps"]
    if rate_mbps is None:
        return []
    overhead_bytes, least_bytes = _framing(shape)
    burst_bytes = (LARGEST_SEGMENT_BYTES if offloads(shape) else FRAME_BYTES + overhead_bytes) + LATENESS_BYTES
    if clock == "real":
        # Timers come late by the machine's clock; a bucket of one frame would lose that time.
        burst_bytes = max(burst_bytes, round(mbps_to_bps(rate_mbps) / BITS_PER_BYTE * REAL_CLOCK_BURST_S))
    # The limit is given to the inner queue; tbf's own, in bytes, must only not be smaller.
    # A wire's framing is set in tbf itself: newer kernels refuse a size table (`stab`) on an inner queue, and one at the root is
    # lost on the segments that tbf splits. But tbf takes no bytes away, so IP packets are counted by a size table, and
    # segmentation offload is off (`hosts_without_offload`).
    bucket = tbf(
        mbps_to_bps(rate_mbps), burst_bytes, BUCKET_LIMIT_BYTES, overhead_bytes=overhead_bytes, least_bytes=least_bytes
    )
    asked = QueueSpec(rate_mbps, shape["queue_packets"], shape["queue_bytes"], shape["aqm_options"], offloads(shape))
    at_root = Attached(interface, bucket, overhead_bytes=-ETHERNET_HEADER_BYTES if shape["framing"] == "ip" else 0)
    queue = queues.discipline(shape["aqm"]).qdisc(asked)
    inside = [] if queue.classes is None else classes.parts(interface, queue.classes)
    return [at_root, Attached(interface, queue, inner=True), *inside]


def wire_qdisc(
    device: str, shape: Shape, clock: str, seed: int | None = None, *, every_option: bool = False
) -> Attached:
    """The wire on the intermediate `device`; what it draws follows from `seed`, where one is given.

    `every_option` says no rate, too, which a change has to.
    """
    delay_ms, jitter_ms, rate_mbps = shape["delay_ms"], shape["jitter_ms"], shape["rate_mbps"]
    rate_bps = None
    if not (jitter_ms and shape["reorder"]):
        if rate_mbps is not None:
            rate_bps = mbps_to_bps(rate_mbps * (REAL_CLOCK_WIRE_HEADROOM if clock == "real" else 1))
        elif jitter_ms:
            # With a rate, netem sends each packet after the one before it: that is what keeps the order.
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
        seed=seed if draws(shape) else None,
    )
    return Attached(device, wire)


def wire_seeds(directions: list[Hop], seed: int) -> list[int]:
    """Where the draws of each direction start: a run's other links do not move them."""
    parallel: Counter[tuple[str, str]] = Counter()
    found = []
    for direction in directions:
        ends = src, dst = direction["src"], direction["dst"]
        found.append(random.Random(f"{seed} {src} {dst} {parallel[ends]}").getrandbits(64))  # noqa: S311 (no secret)
        parallel[ends] += 1
    return found


def draws(shape: Shape) -> bool:
    """Whether the wire leaves anything to chance."""
    return bool(shape["jitter_ms"] or shape["burst_loss"] or shape["loss_rate"] or shape["duplicate_rate"])


def _burst_loss(shape: Shape) -> tuple[float, float, float, float] | None:
    burst = shape["burst_loss"]
    if not burst:
        return None
    return burst["enter_rate"], burst["leave_rate"], burst.get("bad_loss_rate", 1.0), burst.get("good_loss_rate", 0.0)


def _framing(shape: Shape) -> tuple[int, int]:
    """Bytes that `tbf` adds to each packet, and bytes that it counts for a packet at least."""
    return (ETHERNET_OVERHEAD_BYTES, SMALLEST_WIRE_FRAME_BYTES) if shape["framing"] == "ethernet" else (0, 0)


def _wire_overhead_bytes(shape: Shape) -> int:
    """Bytes that each packet counts on the wire beyond those of the queue disciplines."""
    return -ETHERNET_HEADER_BYTES if shape["framing"] == "ip" else _framing(shape)[0]


def redirection(interface: str, device: str) -> list[Queueing]:
    """What leads all that arrives at `interface` over the wire `device`."""
    return [ingress(interface), redirected(interface, device)]


def wire_device(interface: str) -> str:
    """Name of the wire device behind a receiving interface: ``h1-eth0`` gets ``wire0``.

    >>> wire_device("r12-eth3")
    'wire3'
    """
    return "wire" + interface.rpartition("-eth")[2]


def capture_ends(direction: Hop) -> list[tuple[str, str, bool, str]]:
    """Where the packets of a direction are seen: what leaves `src`, and what arrives at `dst`, behind the wire where there is one.

    Of each end the node, the device, whether it leaves that, and how the end's file is called.
    """
    leaving, arriving = direction["interface"], direction["dst_interface"]
    wired = has_wire(direction["shape"])
    device = wire_device(arriving) if wired else arriving
    return [(direction["src"], leaving, True, f"{leaving}.out"), (direction["dst"], device, wired, f"{arriving}.in")]


def shape_network(
    directions: list[Hop], clock: str, without_offload: list[str], seed: int
) -> tuple[dict[str, list[str]], dict[str, list[Queueing]]]:
    """The `ip` lines and the qdiscs of every node; for the hosts in `without_offload`, segmentation offload is off.

    What wires draw follows from `seed`.
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


def hosts_without_offload(
    directions: list[Hop], hosts: list[str], clock: str, segment_bytes: Mapping[str, int]
) -> list[str]:
    """Hosts whose segmentation offload must be off, because something would count or lose many frames as one packet.

    An offloaded segment (GSO, up to 64 kB) may leave a host only where every way out of it is without effect on packets
    up to a `tbf` that splits it (or up to the receiver). A `tbf` splits what its bucket cannot hold: not two small
    segments; `segment_bytes` says by host how small they are, where its traffic chose their size.
    """
    small = {host for host, size_bytes in segment_bytes.items() if _two_fit_the_bucket(size_bytes)}
    leaving: dict[str, list[Hop]] = {}
    for direction in directions:
        leaving.setdefault(direction["src"], []).append(direction)
    return [
        host
        for host in hosts
        if _meets_wire_offloaded(host, leaving, set(hosts), clock == "virtual" and host not in small)
    ]


def segment_bytes_by_host(traffic: Sequence[Item]) -> dict[str, int]:
    """The smallest segments that each host sends, where its traffic chooses a size (`mss_bytes`)."""
    smallest: dict[str, int] = {}
    for item in cast("Sequence[dict[str, Any]]", traffic):
        size_bytes = item.get("mss_bytes")
        if size_bytes is not None:
            smallest[item["src"]] = min(size_bytes, smallest.get(item["src"], size_bytes))
    return smallest


def _two_fit_the_bucket(mss_bytes: int) -> bool:
    return 2 * (mss_bytes + SEGMENT_HEADER_BYTES) <= FRAME_BYTES + LATENESS_BYTES


def _meets_wire_offloaded(host: str, leaving: dict[str, list[Hop]], hosts: set[str], splits: bool) -> bool:
    seen, ahead = {host}, [host]
    while ahead:
        for direction in leaving.get(ahead.pop(), []):
            shape = direction["shape"]
            if shape["medium"] is not None:
                # A TAP takes frames, one by one.
                continue
            if shape["rate_mbps"] is not None:
                if not offloads(shape):
                    if not splits or shape["framing"] == "ip":
                        return True
                    continue
            elif has_wire(shape) and not shape["segmentation_offload"]:
                return True
            if direction["dst"] not in seen and direction["dst"] not in hosts:
                seen.add(direction["dst"])
                ahead.append(direction["dst"])
    return False
