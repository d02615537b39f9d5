"""`tc` lines as the netlink messages that iproute2 would send.

The arithmetic is iproute2's, so that a queue is the same whoever makes it: times in ticks of 64 ns for netem, RED's
weight and idle table from its burst and bandwidth (tc-red(8); S. Floyd and V. Jacobson, Random Early Detection
Gateways for Congestion Avoidance, 1993). A test holds the messages against those of a real `tc`.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable

from netlab.netlink.messages import (
    NESTED,
    NLM_F_CREATE,
    NLM_F_EXCL,
    RTM_NEWQDISC,
    RTM_NEWTFILTER,
    UnknownLineError,
    attribute,
    message,
    nest,
    text,
    u32,
    u64,
)
from netlab.netlink.wire import TCA_KIND, TCA_OPTIONS, TCMSG

TC_H_ROOT = 0xFFFFFFFF
QUEUE_HANDLE = 0x20000
QUEUE_PARENT = 0x10000
TC_H_INGRESS = 0xFFFFFFF1
INGRESS_HANDLE = 0xFFFF0000
ETH_P_ALL = 3
TC_ACT_STOLEN = 4
TCA_EGRESS_REDIR = 1
LINKLAYER_ETHERNET = 1
TICKS_PER_US = 15.625
"""A tick of the kernel's packet scheduler is 64 ns."""
U32 = 0xFFFFFFFF
CELL_LOG = 3
LARGEST_WLOG = 32

EVERYTHING = ["parent", "ffff:", "protocol", "all", "prio", "1", "matchall"]

_RATESPEC = struct.Struct("=BBHhHI")
_TBF = struct.Struct("=12s12sIII")
_NETEM = struct.Struct("=IIIIII")
_NETEM_RATE = struct.Struct("=IiIi")
_GEMODEL = struct.Struct("=IIII")
_RED = struct.Struct("=IIIBBBB")
_SFQ = struct.Struct("=IiIIII48x")
_MIRRED = struct.Struct("=IIiiiiI")

Index = Callable[[str], int]


def tc_line(line: str, index: Index) -> bytes:
    """The message of one line.

    Parameters
    ----------
    line : str
        What `tc -batch` would read.
    index : callable
        The number of an interface of this node.

    Raises
    ------
    UnknownLineError
        For a line, or a word in it, that netlab does not write.
    """
    words = line.split()
    try:
        if words[:3] == ["qdisc", "add", "dev"]:
            return _qdisc(words[4:], index(words[3]))
        if words[:3] == ["filter", "add", "dev"]:
            return _filter(words[4:], index(words[3]), index)
    except (IndexError, ValueError, KeyError):
        pass
    raise UnknownLineError(f"`tc {line}` is not a line that netlab has a message for")


def _filter(words: list[str], index: int, index_of: Index) -> bytes:
    if words[: len(EVERYTHING)] != EVERYTHING:
        raise ValueError(words)
    action = words[len(EVERYTHING) :]
    # The protocol is in network order, below the priority.
    info = 1 << 16 | ETH_P_ALL << 8
    options = nest(TCA_OPTIONS, _redirect(action, index_of) if action else b"")
    body = TCMSG.pack(0, index, 0, INGRESS_HANDLE, info) + text(TCA_KIND, "matchall") + options
    return message(RTM_NEWTFILTER, NLM_F_CREATE | NLM_F_EXCL, body)


def _redirect(words: list[str], index_of: Index) -> bytes:
    if words[:-1] != ["action", "mirred", "egress", "redirect", "dev"]:
        raise ValueError(words)
    action = _MIRRED.pack(0, 0, TC_ACT_STOLEN, 0, 0, TCA_EGRESS_REDIR, index_of(words[-1]))
    return nest(2, nest(1, text(1, "mirred"), attribute(2 | NESTED, attribute(2, action))))


def _qdisc(words: list[str], index: int) -> bytes:
    if words == ["ingress"]:
        body = TCMSG.pack(0, index, INGRESS_HANDLE, TC_H_INGRESS, 0) + text(TCA_KIND, "ingress")
        return message(RTM_NEWQDISC, NLM_F_CREATE | NLM_F_EXCL, body)
    if words[0] == "root":
        parent, words = TC_H_ROOT, words[1:]
    elif words[0] == "parent":
        parent, words = _handle(words[1]), words[2:]
    else:
        raise ValueError(words)
    if words[0] != "handle":
        raise ValueError(words)
    handle, kind, options = _handle(words[1]), words[2], words[3:]
    body = TCMSG.pack(0, index, handle, parent, 0) + text(TCA_KIND, kind) + _KINDS[kind](options)
    return message(RTM_NEWQDISC, NLM_F_CREATE | NLM_F_EXCL, body)


def _handle(word: str) -> int:
    major, _, minor = word.partition(":")
    return int(major, 16) << 16 | (int(minor, 16) if minor else 0)


def _pairs(words: list[str], flags: tuple[str, ...] = ()) -> dict[str, str]:
    """Words by name: a flag stands alone, any other has its value behind it."""
    found: dict[str, str] = {}
    at = 0
    while at < len(words):
        if words[at] in flags:
            found[words[at]] = ""
            at += 1
        else:
            found[words[at]] = words[at + 1]
            at += 2
    return found


def _only(found: dict[str, str], *known: str) -> None:
    if any(name not in known for name in found):
        raise ValueError(found)


def _bytes(word: str) -> int:
    return int(word.removesuffix("b"))


def _bytes_per_s(word: str) -> int:
    if not word.endswith("bit"):
        raise ValueError(word)
    for suffix, scale in (("gbit", 10**9), ("mbit", 10**6), ("kbit", 10**3), ("bit", 1)):
        if word.endswith(suffix):
            return int(int(word.removesuffix(suffix)) * scale / 8)
    raise ValueError(word)


def _us(word: str) -> int:
    return int(word.removesuffix("us"))


def _ticks(us: float) -> int:
    return int(us * TICKS_PER_US)


def _xmit_ticks(rate: int, size: int) -> int:
    """Ticks in which `size` bytes leave at `rate` bytes/s: of whole microseconds, and of a rate of 32 bits."""
    return _ticks(int(1e6 * (size / min(rate, U32))))


def _fifo(words: list[str]) -> bytes:
    found = _pairs(words)
    _only(found, "limit")
    return attribute(TCA_OPTIONS, struct.pack("=I", _bytes(found["limit"])))


def _tbf(words: list[str]) -> bytes:
    found = _pairs(words)
    _only(found, "rate", "burst", "limit", "overhead", "mpu")
    rate, burst, limit = _bytes_per_s(found["rate"]), _bytes(found["burst"]), _bytes(found["limit"])
    spec = _RATESPEC.pack(
        CELL_LOG, LINKLAYER_ETHERNET, int(found.get("overhead", 0)), -1, int(found.get("mpu", 0)), min(rate, U32)
    )
    # Without iproute2's table of times by size: with a link layer given, the kernel does not read it.
    parts = [attribute(1, _TBF.pack(spec, bytes(12), limit, _xmit_ticks(rate, burst), 0)), u32(6, burst)]
    if rate > U32:
        parts.append(u64(4, rate))
    return nest(TCA_OPTIONS, *parts)


def _netem(words: list[str]) -> bytes:
    limit, latency, jitter, loss, duplicate = 0, 0, 0, 0, 0
    parts: list[bytes] = []
    rest = list(words)

    def number_follows() -> bool:
        return bool(rest) and rest[0][0].isdigit()

    while rest:
        word = rest.pop(0)
        if word == "limit":
            limit = int(rest.pop(0))
        elif word == "delay":
            latency = _ticks(_us(rest.pop(0)))
            if number_follows():
                jitter = _ticks(_us(rest.pop(0)))
        elif word == "loss":
            model = rest.pop(0)
            if model == "random":
                loss = _share(rest.pop(0))
            elif model == "gemodel":
                p, r, not_h, k1 = (_share(rest.pop(0)) for _ in range(4))
                parts.append(nest(5 | NESTED, attribute(2, _GEMODEL.pack(p, r, U32 - not_h, k1))))
            else:
                raise ValueError(words)
        elif word == "duplicate":
            duplicate = _share(rest.pop(0))
        elif word == "rate":
            rate = _bytes_per_s(rest.pop(0))
            overhead = int(rest.pop(0)) if number_follows() else 0
            if rate > U32:
                parts.append(u64(8, rate))
            parts.append(attribute(6, _NETEM_RATE.pack(min(rate, U32), overhead, 0, 0)))
        else:
            raise ValueError(words)
    return attribute(TCA_OPTIONS, _NETEM.pack(latency, limit, loss, 0, duplicate, jitter) + b"".join(parts))


def _share(word: str) -> int:
    """A percentage as a share of 2**32 - 1."""
    return round(float(word.removesuffix("%")) / 100 * U32)


def _red(words: list[str]) -> bytes:
    found = _pairs(words, ("ecn",))
    _only(found, "limit", "min", "max", "avpkt", "burst", "probability", "bandwidth", "ecn")
    low, high = _bytes(found["min"]), _bytes(found["max"])
    packet_bytes, probability = _bytes(found["avpkt"]), float(found["probability"])
    weight_log = red_weight_log(low, int(found["burst"]), packet_bytes)
    cell_log, table = red_idle_table(weight_log, packet_bytes, _bytes_per_s(found["bandwidth"]))
    ecn = int("ecn" in found)
    parms = _RED.pack(
        _bytes(found["limit"]), low, high, weight_log, red_probability_log(low, high, probability), cell_log, 0
    )
    # A value and which of its bits count: ecn, harddrop, adaptive, nodrop.
    flags = struct.pack("=II", ecn, 0xF)
    # A probability of 1 is 0 there, as with iproute2: the kernel then takes the one of `parms`.
    share = int(probability * 2**32) & U32
    return nest(TCA_OPTIONS, attribute(1, parms), attribute(2, table), u32(3, share), attribute(4, flags))


def red_weight_log(low_bytes: int, burst_packets: int, packet_bytes: int) -> int:
    """RED's averaging weight 2**-log: the largest with which a burst of so many packets does not pass the lower threshold.

    >>> red_weight_log(12617, 21, 1000)
    4
    """
    wanted = burst_packets + 1 - low_bytes / packet_bytes
    if wanted < 1:
        raise ValueError("the burst is too small")
    weight = 0.5
    for log in range(1, LARGEST_WLOG):
        if wanted <= (1 - (1 - weight) ** burst_packets) / weight:
            return log
        weight /= 2
    raise ValueError("the burst is too large")


def red_probability_log(low_bytes: int, high_bytes: int, probability: float) -> int:
    """How often `probability` over the thresholds' distance can be doubled before it exceeds 1."""
    share = probability / (high_bytes - low_bytes)
    for log in range(LARGEST_WLOG):
        if share > 1:
            return log
        share *= 2
    raise ValueError("the probability is too small")


def red_idle_table(weight_log: int, packet_bytes: int, bytes_per_s: int) -> tuple[int, bytes]:
    """How far the average falls while the queue is idle: the cells' length as a logarithm, and 256 cells."""
    packet_ticks = _xmit_ticks(bytes_per_s, packet_bytes)
    if not packet_ticks:
        # Less than a microsecond a packet: iproute2 divides by zero and leaves the table empty.
        return 0, bytes([*[0] * 255, 31])
    per_tick = -math.log(1 - 1 / (1 << weight_log)) / packet_ticks
    cell_log = next(log for log in range(LARGEST_WLOG) if 31 / per_tick / (1 << log) < 512)
    cells = [min(31, int((cell << cell_log) * per_tick) & 0xFF) for cell in range(1, 255)]
    return cell_log, bytes([0, *cells, 31])


def _codel(words: list[str]) -> bytes:
    found = _pairs(words, ("ecn", "noecn"))
    _only(found, "limit", "target", "interval", "ecn", "noecn")
    parts = [u32(2, int(found["limit"]))]
    parts += [u32(kind, _us(found[name])) for kind, name in ((3, "interval"), (1, "target")) if name in found]
    parts += _ecn(4, found)
    return nest(TCA_OPTIONS, *parts)


def _fq_codel(words: list[str]) -> bytes:
    found = _pairs(words, ("ecn", "noecn"))
    _only(found, "limit", "target", "interval", "flows", "ecn", "noecn")
    parts = [u32(2, int(found["limit"]))]
    parts += [u32(5, int(found["flows"]))] if "flows" in found else []
    parts += [u32(kind, _us(found[name])) for kind, name in ((3, "interval"), (1, "target")) if name in found]
    parts += _ecn(4, found)
    return nest(TCA_OPTIONS, *parts)


def _pie(words: list[str]) -> bytes:
    found = _pairs(words, ("ecn", "noecn"))
    _only(found, "limit", "target", "ecn", "noecn")
    parts = [u32(2, int(found["limit"]))]
    parts += [u32(1, _us(found["target"]))] if "target" in found else []
    parts += _ecn(6, found)
    return nest(TCA_OPTIONS, *parts)


def _ecn(kind: int, found: dict[str, str]) -> list[bytes]:
    return [u32(kind, int("ecn" in found))] if "ecn" in found or "noecn" in found else []


def _cake(words: list[str]) -> bytes:
    if words[:4] != ["unlimited", "besteffort", "raw", "no-split-gso"]:
        raise ValueError(words)
    found = _pairs(words[4:])
    _only(found, "memlimit", "rtt")
    # No rate, one tin, no ATM, no overhead, raw frames.
    parts = [u64(2, 0), u32(3, 3), u32(4, 0), u32(6, 0), u32(12, 0)]
    if "rtt" in found:
        interval_us = _us(found["rtt"])
        # iproute2 takes a twentieth of the RTT as the target.
        parts += [u32(7, interval_us), u32(8, max(1, interval_us // 20))]
    parts += [u32(9, 0), u32(10, _bytes(found["memlimit"])), u32(17, 0)]
    return nest(TCA_OPTIONS, *parts)


def _fq(words: list[str]) -> bytes:
    found = _pairs(words, ("nopacing",))
    _only(found, "limit", "flow_limit", "maxrate", "nopacing")
    parts = [u32(1, int(found["limit"]))]
    parts += [u32(2, int(found["flow_limit"]))] if "flow_limit" in found else []
    parts += [u32(5, 0)] if "nopacing" in found else []
    parts += [u32(7, min(_bytes_per_s(found["maxrate"]), U32))] if "maxrate" in found else []
    return nest(TCA_OPTIONS, *parts)


def _sfq(words: list[str]) -> bytes:
    found = _pairs(words)
    _only(found, "limit", "depth", "flows")
    # struct tc_sfq_qopt_v1: quantum, perturbation, limit, divisor, flows, depth, and RED's part, which stays off.
    return attribute(
        TCA_OPTIONS, _SFQ.pack(0, 0, int(found["limit"]), 0, int(found["flows"]), int(found.get("depth", 0)))
    )


def _fq_pie(words: list[str]) -> bytes:
    found = _pairs(words, ("ecn", "noecn"))
    _only(found, "limit", "flows", "target", "ecn", "noecn")
    parts = [u32(1, int(found["limit"]))]
    parts += [u32(2, int(found["flows"]))] if "flows" in found else []
    parts += [u32(3, _us(found["target"]))] if "target" in found else []
    parts += _ecn(10, found)
    return nest(TCA_OPTIONS | NESTED, *parts)


def _dualpi2(words: list[str]) -> bytes:
    if words:
        raise ValueError(words)
    return b""


def change(index: int, kind: str, options: bytes) -> bytes:
    """New options for the queue behind an interface's rate limit, as `netlab.agent.shaping.queue_options` has them."""
    body = TCMSG.pack(0, index, QUEUE_HANDLE, QUEUE_PARENT, 0) + text(TCA_KIND, kind)
    return message(RTM_NEWQDISC, 0, body + attribute(TCA_OPTIONS | NESTED, options))


_KINDS: dict[str, Callable[[list[str]], bytes]] = {
    "pfifo": _fifo,
    "bfifo": _fifo,
    "tbf": _tbf,
    "netem": _netem,
    "red": _red,
    "codel": _codel,
    "fq_codel": _fq_codel,
    "pie": _pie,
    "cake": _cake,
    "fq": _fq,
    "sfq": _sfq,
    "fq_pie": _fq_pie,
    "dualpi2": _dualpi2,
}
