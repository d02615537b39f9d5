"""Queue disciplines with their options, each as a line of `tc` and as a netlink message.

Both are written next to each other, so that they cannot differ. The arithmetic is iproute2's, so that a queue is the
same as one that `tc` makes: times in ticks of 64 ns for netem. A test compares the messages with those of a real `tc`.
`red` has RED and CHOKe, which need more of it.
"""

import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from netlab_engines.netlink import wire
from netlab_engines.netlink.units import U32, ticks, whole_bytes_per_s, xmit_ticks
from netlab_engines.netlink.wire import NLM_F_CREATE, NLM_F_EXCL, TCA_OPTIONS, attribute, message, text, u32, u64

TC_H_ROOT, TC_H_INGRESS = 0xFFFFFFFF, 0xFFFFFFF1
ROOT_HANDLE, QUEUE_HANDLE, INGRESS_HANDLE = 0x10000, 0x20000, 0xFFFF0000
ETH_P_ALL = 3
TC_ACT_STOLEN = 4
TCA_EGRESS_REDIR = 1
LINKLAYER_ETHERNET = 1
CELL_LOG = 3

_RATESPEC = struct.Struct("=BBHhHI")
_TBF = struct.Struct("=12s12sIII")
_NETEM = struct.Struct("=IIIIII")
_NETEM_RATE = struct.Struct("=IiIi")
_GEMODEL = struct.Struct("=IIII")
_SFQ = struct.Struct("=IiIIII48x")
_MIRRED = struct.Struct("=IIiiiiI")
_SIZE_SPEC = struct.Struct("=BBhiIIII")
TCA_STAB_BASE = 1

InterfaceIndex = Callable[[str], int]
"""Returns the number of a node's interface from its name."""


class Option(NamedTuple):
    """An option of a queue discipline, as words of `tc` and as a netlink attribute."""

    words: str
    """The option as in a line of `tc`."""
    data: bytes
    """The option as a netlink attribute."""


@dataclass(frozen=True)
class Classes:
    """The classes of a queue discipline such as DRR: their number, the capacity of their queues, and how packets are
    assigned to them.
    """

    count: int
    class_packets: int
    """The capacity of each class's queue in packets."""
    quantum_bytes: tuple[int, ...] = ()
    """DRR's quantum of each class; ETS has the quanta among its own options."""
    by_flow: bool = False
    """True if a hash of addresses, protocol and ports chooses the class; else the destination port does."""
    repeats: bool = True
    """True if ports beyond the number of classes start again with the first class; else they get the discipline's default."""


@dataclass(frozen=True)
class Qdisc:
    """A queue discipline with its options, as the end of a line of `tc` and as a netlink attribute; it has no place
    yet.
    """

    kind: str
    """Its name in the kernel, such as "fq_codel"."""
    words: str
    """The end of the line of `tc`, from the kind on."""
    options: bytes
    """The attribute TCA_OPTIONS."""
    classes: Classes | None = field(default=None, compare=False)
    """Its classes, which `netlink.classes` makes; None if it has no classes that are configured one by one."""


@dataclass(frozen=True)
class AttachedQdisc:
    """A queue discipline at its place on an interface: at its root (``1:``), or inside that one (``2:``)."""

    interface: str
    qdisc: Qdisc
    inner: bool = False
    """True if it is inside the discipline at the root."""
    changed: bool = False
    """True if it exists and gets new options."""
    overhead_bytes: int = 0
    """Bytes added to the length of each packet, in the queues inside it too; negative to leave out the link header."""

    @property
    def identity(self) -> object:
        """A value that is equal for two attached queue disciplines that differ only in options which the kernel can
        change without making them anew.
        """
        return self.qdisc.kind

    @property
    def line(self) -> str:
        """The line of `tc`, without that word, that makes the queue discipline on its interface or, if it is `changed`,
        sets its new options.
        """
        place = "parent 1: handle 2:" if self.inner else "root handle 1:"
        if self.overhead_bytes:
            place += f" stab overhead {self.overhead_bytes}"
        return f"qdisc {'change' if self.changed else 'add'} dev {self.interface} {place} {self.qdisc.words}"

    def message(self, index: InterfaceIndex) -> bytes:
        """Return the netlink message that makes the queue discipline at its place or, if it is `changed`, sets its new
        options, with the overhead of packets if there is one; its classes have messages of their own. `index` returns
        the number of an interface from its name.
        """
        parent, handle = (ROOT_HANDLE, QUEUE_HANDLE) if self.inner else (TC_H_ROOT, ROOT_HANDLE)
        flags = 0 if self.changed else NLM_F_CREATE | NLM_F_EXCL
        # A change without the size table would remove the overhead.
        sizes = _size_table(self.overhead_bytes) if self.overhead_bytes else b""
        return qdisc_message(index(self.interface), handle, parent, self.qdisc, flags, sizes)


class TcCommand(NamedTuple):
    """A line of `tc`, and the function that returns its netlink message; the function gets one that returns the number
    of an interface from its name.
    """

    line: str
    message: Callable[[InterfaceIndex], bytes]


class Queueing(Protocol):
    """A line of `tc` and the equivalent netlink message."""

    @property
    def line(self) -> str:
        """The line of `tc`, without that word, that makes the queue discipline, class or filter."""

    def message(self, index: InterfaceIndex, /) -> bytes:
        """Return the netlink message of the line; `index` returns the number of an interface from its name."""


def ingress(interface: str) -> TcCommand:
    """Return the command of `tc` that makes the ingress hook of the interface with the name `interface`, to which
    filters of arriving packets can be attached.
    """
    hook, flags = Qdisc("ingress", "ingress", b""), NLM_F_CREATE | NLM_F_EXCL
    return TcCommand(
        f"qdisc add dev {interface} ingress",
        lambda index: qdisc_message(index(interface), INGRESS_HANDLE, TC_H_INGRESS, hook, flags),
    )


def redirect(interface: str, device: str | None = None) -> TcCommand:
    """Return the command of `tc` that makes a filter for all packets that arrive at the interface with the name
    `interface`, which must have an ingress hook. It redirects them to the device with the name `device`, or, if that is
    None, does nothing with them.
    """

    def message_of(index: InterfaceIndex) -> bytes:
        """Return the netlink message that makes the filter; `index` returns the number of an interface from its
        name.
        """
        action = b""
        if device is not None:
            redirect = _MIRRED.pack(0, 0, TC_ACT_STOLEN, 0, 0, TCA_EGRESS_REDIR, index(device))
            own = text(1, "mirred"), attribute(2 | wire.NLA_F_NESTED, attribute(2, redirect))
            action = attribute(2, attribute(1, *own))
        # The protocol, in network byte order, is below the priority.
        place = wire.TCMSG.pack(0, index(interface), 0, INGRESS_HANDLE, 1 << 16 | ETH_P_ALL << 8)
        options = text(wire.TCA_KIND, "matchall") + attribute(TCA_OPTIONS, action)
        return message(wire.RTM_NEWTFILTER, NLM_F_CREATE | NLM_F_EXCL, place + options)

    action = "" if device is None else f" action mirred egress redirect dev {device}"
    return TcCommand(f"filter add dev {interface} parent ffff: protocol all prio 1 matchall{action}", message_of)


def removal(interface: str, *, arriving: bool = False) -> TcCommand:
    """Return the command of `tc` that removes the queue discipline for departing packets of the interface with the name
    `interface` or, if `arriving`, its ingress hook and filters.
    """
    handle, parent = (INGRESS_HANDLE, TC_H_INGRESS) if arriving else (0, TC_H_ROOT)
    where = "ingress" if arriving else "root"
    return TcCommand(
        f"qdisc del dev {interface} {where}", lambda index: qdisc_message(index(interface), handle, parent, None)
    )


def qdisc_message(
    index: int, handle: int, parent: int, qdisc: Qdisc | None, flags: int = 0, more: bytes = b""
) -> bytes:
    """Return the netlink message that makes a queue discipline with the handle `handle` below the handle `parent` on
    the interface with the number `index`, or that removes the one there if `qdisc` is None. `flags` are those of the
    message, such as NLM_F_REPLACE, and `more` are further attributes as bytes.
    """
    place = wire.TCMSG.pack(0, index, handle, parent, 0)
    if qdisc is None:
        return message(wire.RTM_DELQDISC, 0, place)
    return message(wire.RTM_NEWQDISC, flags, place + text(wire.TCA_KIND, qdisc.kind) + qdisc.options + more)


def _size_table(overhead_bytes: int) -> bytes:
    """Return the bytes of the netlink attribute with which a qdisc adds `overhead_bytes` to the length of each packet
    (tc-stab(8)); a negative number subtracts them.
    """
    return attribute(wire.TCA_STAB, attribute(TCA_STAB_BASE, _SIZE_SPEC.pack(0, 0, 0, overhead_bytes, 0, 0, 0, 0)))


def number(word: str, kind: int, value: int, unit: str = "") -> Option:
    """Return a qdisc's option whose value is the 32-bit number `value`: `word` is its name in `tc`, `kind` the number
    of its netlink attribute, and `unit` the unit after the value in `tc`.

    >>> number("target", 1, 5000, "us").words
    'target 5000us'
    """
    return Option(f"{word} {value}{unit}", u32(kind, value))


def qdisc_with_options(name: str, *options: Option | None, flags: int = 0) -> Qdisc:
    """Return a queue discipline of the kernel's kind `name` with these options; None stands for an option that is left
    to the kernel's default. `flags` are added to the number of the attribute with the options.

    >>> qdisc_with_options("pie", number("limit", 2, 100), None).words
    'pie limit 100'
    """
    given_options = [option for option in options if option is not None]
    words = " ".join([name, *(option.words for option in given_options if option.words)])
    return Qdisc(name, words, attribute(TCA_OPTIONS | flags, *(option.data for option in given_options)))


def fifo(limit: int, *, in_bytes: bool) -> Qdisc:
    """Return a first-in first-out queue, not attached to an interface, for `limit` bytes if `in_bytes`, or else for
    `limit` packets.
    """
    kind, unit = ("bfifo", "b") if in_bytes else ("pfifo", "")
    return Qdisc(kind, f"{kind} limit {limit}{unit}", attribute(TCA_OPTIONS, struct.pack("=I", limit)))


def tbf(rate_bps: int, burst_bytes: int, limit_bytes: int, *, overhead_bytes: int = 0, min_bytes: int = 0) -> Qdisc:
    """Return a rate limit of `rate_bps` bit/s (in whole bytes/s) by a token bucket of `burst_bytes` bytes, with a queue
    of `limit_bytes` bytes in front of it, as a qdisc that is not attached to an interface. `overhead_bytes` are added
    to the length of each packet, and each counts with at least `min_bytes` bytes.
    """
    rate = whole_bytes_per_s(rate_bps)
    spec = _RATESPEC.pack(CELL_LOG, LINKLAYER_ETHERNET, overhead_bytes, -1, min_bytes, min(rate, U32))
    # iproute2's table of times by size is left out: if the link layer is given, the kernel does not read it.
    parts = [attribute(1, _TBF.pack(spec, bytes(12), limit_bytes, xmit_ticks(rate, burst_bytes), 0))]
    parts.append(u32(6, burst_bytes))
    if rate > U32:
        parts.append(u64(4, rate))
    words = f"tbf rate {rate_bps}bit burst {burst_bytes}b limit {limit_bytes}b"
    if overhead_bytes:
        words += f" overhead {overhead_bytes} mpu {min_bytes}"
    return Qdisc("tbf", words, attribute(TCA_OPTIONS, *parts))


def netem(
    limit_packets: int,
    *,
    delay_us: int | None = None,
    jitter_us: int = 0,
    loss_rate: float = 0.0,
    burst_loss: tuple[float, float, float, float] | None = None,
    duplicate_rate: float = 0.0,
    rate_bps: int | None = None,
    overhead_bytes: int = 0,
    seed: int | None = None,
) -> Qdisc:
    """Return a wire for up to `limit_packets` packets as a `netem` qdisc, not attached to an interface: a random delay
    of mean `delay_us` and half width `jitter_us` in µs (None: none), loss (the fraction `loss_rate`, or instead of it
    the four rates of bursty loss: of entering and leaving the bad state, and of loss in the bad and the good state),
    duplication (a fraction), and the time of serialization at `rate_bps` bit/s (None: none) of each packet plus
    `overhead_bytes`. Draws follow from `seed` (None, and kernels before 6.6: the kernel's own).
    """
    words, parts = [f"netem limit {limit_packets}"], []
    if delay_us is not None:
        words.append(f"delay {delay_us}us" + (f" {jitter_us}us" if jitter_us else ""))
    if burst_loss is not None:
        words.append("loss gemodel " + " ".join(_percent(share) for share in burst_loss))
        enter, leave, bad, good = (_share(share) for share in burst_loss)
        parts.append(attribute(5 | wire.NLA_F_NESTED, attribute(2, _GEMODEL.pack(enter, leave, U32 - bad, good))))
    elif loss_rate:
        words.append(f"loss random {_percent(loss_rate)}")
    if duplicate_rate:
        words.append(f"duplicate {_percent(duplicate_rate)}")
    if rate_bps is not None:
        words.append(f"rate {rate_bps}bit" + (f" {overhead_bytes}" if overhead_bytes else ""))
        rate = whole_bytes_per_s(rate_bps)
        if rate > U32:
            parts.append(u64(8, rate))
        parts.append(attribute(6, _NETEM_RATE.pack(min(rate, U32), overhead_bytes, 0, 0)))
    if seed is not None:
        words.append(f"seed {seed}")
        parts.append(u64(14, seed))
    fixed = _NETEM.pack(
        ticks(delay_us or 0),
        limit_packets,
        0 if burst_loss is not None else _share(loss_rate),
        0,
        _share(duplicate_rate),
        ticks(jitter_us),
    )
    return Qdisc("netem", " ".join(words), attribute(TCA_OPTIONS, fixed + b"".join(parts)))


def cake(memory_bytes: int, rtt_us: int | None) -> Qdisc:
    """Return CAKE's qdisc, not attached to an interface, with a capacity of `memory_bytes` bytes for an expected
    round-trip time of `rtt_us` µs (None: CAKE's default; else CAKE's target is a twentieth of it), without a rate
    limit, with one tin, frames counted as they are, and segments not split.
    """
    parts = [u64(2, 0), u32(3, 3), u32(4, 0), u32(6, 0), u32(12, 0)]
    words = f"cake unlimited besteffort raw no-split-gso memlimit {memory_bytes}b"
    if rtt_us is not None:
        # iproute2 sets the target to a twentieth of the RTT.
        parts += [u32(7, rtt_us), u32(8, max(1, rtt_us // 20))]
        words += f" rtt {rtt_us}us"
    return Qdisc("cake", words, attribute(TCA_OPTIONS, *parts, u32(9, 0), u32(10, memory_bytes), u32(17, 0)))


def sfq(limit_packets: int, flows: int, depth_packets: int | None) -> Qdisc:
    """Return the qdisc of stochastic fairness queueing, not attached to an interface, for up to `flows` flows, with a
    total capacity of `limit_packets` packets and, for each flow, of `depth_packets` packets (None: the kernel's
    default).
    """
    # struct tc_sfq_qopt_v1: quantum, perturbation, limit, divisor, flows, depth, and RED's part, which stays off.
    options = _SFQ.pack(0, 0, limit_packets, 0, flows, depth_packets or 0)
    depth = "" if depth_packets is None else f" depth {depth_packets}"
    return Qdisc("sfq", f"sfq limit {limit_packets}{depth} flows {flows}", attribute(TCA_OPTIONS, options))


def flow_rate(rate_bps: int) -> Option:
    """Return the option of fq that limits the rate of each flow to `rate_bps` bit/s; the kernel gets at most 2**32 - 1
    bytes/s.
    """
    return Option(f"maxrate {rate_bps}bit", u32(7, min(whole_bytes_per_s(rate_bps), U32)))


def _share(rate: float) -> int:
    """Return a fraction of 1 as the same fraction of 2**32 - 1, rounded, as netem stores probabilities."""
    return round(rate * U32)


def _percent(rate: float) -> str:
    """Return a fraction of 1 as a percentage with ten decimals for `tc`, such as "2.0000000000%"."""
    # With all digits of 2**-32, the resolution of netem's draws.
    return f"{rate * 100:.10f}%"
