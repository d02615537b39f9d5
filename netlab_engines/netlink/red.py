"""The queue disciplines RED and CHOKe, and the arithmetic of their average queue length.

The arithmetic is iproute2's: the weight and the idle table follow from burst and bandwidth (tc-red(8); S. Floyd and V.
Jacobson, Random Early Detection Gateways for Congestion Avoidance, 1993).
"""

import math
import struct
from dataclasses import dataclass

from netlab.base.errors import NetlabError
from netlab_engines.netlink.qdiscs import Qdisc
from netlab_engines.netlink.units import U32, whole_bytes_per_s, xmit_ticks
from netlab_engines.netlink.wire import TCA_OPTIONS, attribute, u32

MAX_WLOG = 32
RED_IDLE_CELLS = 512
"""RED's average is 0 after the time of this number of cells of the idle table (iproute2, tc/tc_red.c)."""

_RED = struct.Struct("=IIIBBBB")


@dataclass(frozen=True)
class AverageLength:
    """The average length of a queue with RED or CHOKe, by which packets are dropped: none below the lower threshold,
    all above the upper one, and in between a share that grows up to `probability`.
    """

    low_bytes: int
    """The lower threshold of the average in bytes."""
    high_bytes: int
    """The upper threshold of the average in bytes."""
    burst_packets: int
    """The burst that may pass while the average is low, in packets; with the rate, it sets the weight of the average."""
    probability: float
    """The probability of a drop at the upper threshold, in (0, 1]."""
    bandwidth_bps: int
    """The rate of the link in bit/s."""
    packet_bytes: int = 1000
    """The mean length of a packet in bytes."""

    def encode(self) -> tuple[tuple[int, int, int], bytes, bytes]:
        """Return a tuple of three logarithms (the number log for the weight 2**-log, the one for the probability, and
        log2 of the length in ticks of a cell of the idle table), the netlink attribute with that table, and the one
        with the probability. Raises NetlabError if the kernel cannot represent the average.
        """
        weight_log = red_weight_log(self.low_bytes, self.burst_packets, self.packet_bytes)
        cell_log, table = red_idle_table(weight_log, self.packet_bytes, whole_bytes_per_s(self.bandwidth_bps))
        probability_log = red_probability_log(self.low_bytes, self.high_bytes, self.probability)
        # A probability of 1 becomes 0 here, as in iproute2: the kernel then uses its log.
        share = int(self.probability * 2**32) & U32
        return (weight_log, probability_log, cell_log), attribute(2, table), u32(3, share)

    def line(self, *, ecn: bool) -> str:
        """Return the options of `tc` that describe the average, except the thresholds; with "ecn" if `ecn`."""
        return (
            f"avpkt {self.packet_bytes}b burst {self.burst_packets} probability {self.probability} "
            f"bandwidth {self.bandwidth_bps}bit{' ecn' * ecn}"
        )


def red(limit_bytes: int, average: AverageLength, *, ecn: bool) -> Qdisc:
    """Return the qdisc of Random Early Detection (RED), not attached to an interface, for a queue of `limit_bytes`: as
    the average length says, it drops or, if `ecn`, marks packets. Raises NetlabError if the kernel cannot represent the
    average.
    """
    logs, table, share = average.encode()
    parms = _RED.pack(limit_bytes, average.low_bytes, average.high_bytes, *logs, 0)
    # A value and a mask of its valid bits: ecn, harddrop, adaptive, nodrop.
    flags = struct.pack("=II", int(ecn), 0xF)
    return Qdisc(
        "red",
        f"red limit {limit_bytes}b min {average.low_bytes}b max {average.high_bytes}b {average.line(ecn=ecn)}",
        attribute(TCA_OPTIONS, attribute(1, parms), table, share, attribute(4, flags)),
    )


def choke(limit_packets: int, average: AverageLength, *, ecn: bool) -> Qdisc:
    """Return the qdisc of CHOKe, not attached to an interface, for a queue of `limit_packets`: it drops or, if `ecn`,
    marks packets as RED does, and also drops an arriving packet together with a queued one of the same flow. The
    thresholds of the average must be whole packets of the mean length. Raises NetlabError if the kernel cannot
    represent the average.
    """
    low_packets, high_packets = average.low_bytes // average.packet_bytes, average.high_bytes // average.packet_bytes
    logs, table, share = average.encode()
    parms = _RED.pack(limit_packets, low_packets, high_packets, *logs, int(ecn))
    return Qdisc(
        "choke",
        f"choke limit {limit_packets} min {low_packets} max {high_packets} {average.line(ecn=ecn)}",
        attribute(TCA_OPTIONS, attribute(1, parms), table, share),
    )


def red_weight_log(low_bytes: int, burst_packets: int, packet_bytes: int) -> int:
    """Return the number log, from 1 to 31, for which 2**-log is the averaging weight of RED with the lower threshold
    `low_bytes` in bytes, bursts of `burst_packets` packets, and packets of `packet_bytes` bytes: the largest weight
    with which such a burst does not raise the average above the threshold. Raises NetlabError if there is none.

    >>> red_weight_log(12617, 21, 1000)
    4
    """
    target = burst_packets + 1 - low_bytes / packet_bytes
    if target < 1:
        raise NetlabError(f"RED: a burst of {burst_packets} packets is too small for a threshold of {low_bytes} bytes.")
    weight = 0.5
    for log in range(1, MAX_WLOG):
        if target <= (1 - (1 - weight) ** burst_packets) / weight:
            return log
        weight /= 2
    raise NetlabError(f"RED: a burst of {burst_packets} packets is too large for a threshold of {low_bytes} bytes.")


def red_max_weight_log(packet_bytes: int, bandwidth_bps: int) -> int:
    """Return the largest number that `red_weight_log` may have, so that the kernel has an idle table for it, for
    packets of `packet_bytes` bytes on a link of `bandwidth_bps` bit/s; with larger ones the average falls too slowly.

    >>> red_max_weight_log(1000, 1000), red_max_weight_log(1000, 10_000_000)
    (8, 21)
    """
    packet_ticks = xmit_ticks(whole_bytes_per_s(bandwidth_bps), packet_bytes)
    logs = range(MAX_WLOG - 1, 1, -1)
    return next((log for log in logs if _red_cell_log(log, packet_ticks) is not None), 1)


def red_probability_log(low_bytes: int, high_bytes: int, probability: float) -> int:
    """Return the number of times that `probability`, divided by the distance of the thresholds `low_bytes` and
    `high_bytes` in bytes, must be doubled until it exceeds 1. Raises NetlabError if the probability is too small.
    """
    share = probability / (high_bytes - low_bytes)
    for log in range(MAX_WLOG):
        if share > 1:
            return log
        share *= 2
    raise NetlabError(
        f"RED: a probability of {probability} is too small for thresholds of {low_bytes} and {high_bytes} bytes."
    )


def red_idle_table(weight_log: int, packet_bytes: int, bytes_per_s: int) -> tuple[int, bytes]:
    """Return RED's idle table, from which the kernel computes how far the average falls while the queue is empty: a
    tuple of the log2 of a cell's length in ticks of 64 ns, and the 256 cells as bytes, each the log2 of a fall, at most
    31. The average has the weight 2**-`weight_log`, packets have `packet_bytes` bytes, and the rate is in bytes/s.
    Raises NetlabError if the average falls too slowly for a table.
    """
    packet_ticks = xmit_ticks(bytes_per_s, packet_bytes)
    if not packet_ticks:
        # A packet takes less than a microsecond: iproute2 divides by zero and leaves the table empty.
        return 0, bytes([*[0] * 255, 31])
    cell_log = _red_cell_log(weight_log, packet_ticks)
    if cell_log is None:
        raise NetlabError(
            f"RED: an average with a weight of 2**-{weight_log} falls too slowly for a rate of {bytes_per_s} bytes/s."
        )
    per_tick = _red_fall(weight_log, packet_ticks)
    cells = [min(31, int((cell << cell_log) * per_tick) & 0xFF) for cell in range(1, 255)]
    return cell_log, bytes([0, *cells, 31])


def _red_fall(weight_log: int, packet_ticks: int) -> float:
    """Return the negative natural logarithm of the factor by which RED's average, of weight 2**-`weight_log`, decreases
    in a tick of 64 ns without packets, if a packet takes `packet_ticks` ticks.
    """
    return -math.log(1 - 1 / (1 << weight_log)) / packet_ticks


def _red_cell_log(weight_log: int, packet_ticks: int) -> int | None:
    """Return the log2 of the length in ticks of 64 ns of a cell of RED's idle table, for an average of weight
    2**-`weight_log` and packets that take `packet_ticks` ticks; None if the longest cell is too short.
    """
    if not packet_ticks:
        return 0
    average_ticks = 31 / _red_fall(weight_log, packet_ticks)
    return next((log for log in range(MAX_WLOG) if average_ticks / (1 << log) < RED_IDLE_CELLS), None)
