"""The classes of a queue discipline such as DRR: each has a queue of its own, and filters assign packets to them.

Each part has its line of `tc` and the equivalent message next to each other, with the same bytes as iproute2's (see
`qdiscs`).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from netlab.plan import FIRST_PORT
from netlab_engines.netlink import wire
from netlab_engines.netlink.qdiscs import QUEUE_HANDLE, Classes, InterfaceIndex, Option, Qdisc, fifo, qdisc_with_options
from netlab_engines.netlink.wire import NLM_F_CREATE, NLM_F_EXCL, TCA_OPTIONS, attribute, message, text, u8, u32

CLASS_QUEUE_HANDLE = 0x10
"""The queue of class 2:1 is 11:, that of 2:2 is 12:, and so on."""
ICMP = 1
ETH_P_IP = 0x0800
ICMP_PRIORITY, FLOW_PRIORITY = 1, 2
MAP, HASH = 0, 1
KEYS = ("src", "dst", "proto", "proto-src", "proto-dst")
"""The keys of tc-flow(8), in the order of its bits."""
DESTINATION_PORT = 1 << KEYS.index("proto-dst")
EVERY_KEY = (1 << len(KEYS)) - 1


@dataclass(frozen=True)
class ClassElement:
    """A class, the queue of a class, or a filter, at its place on an interface, as a line of `tc` and as a netlink
    message.
    """

    interface: str
    words: str
    """The end of the line of `tc`, from the place on."""
    message_type: int
    """The kind of netlink message that makes it."""
    place: tuple[int, int, int]
    """Handle, parent and info of the message."""
    body: bytes
    """Its attributes."""
    changed: bool = False
    """True if the part exists and gets new options."""

    @property
    def line(self) -> str:
        """The line of `tc`, without that word, that makes the element or, if it is `changed`, sets its new options."""
        what = {wire.RTM_NEWTCLASS: "class", wire.RTM_NEWQDISC: "qdisc", wire.RTM_NEWTFILTER: "filter"}[
            self.message_type
        ]
        return f"{what} {'change' if self.changed else 'add'} dev {self.interface} {self.words}"

    def message(self, index: InterfaceIndex) -> bytes:
        """Return the netlink message that makes the element or, if it is `changed`, sets its new options; `index`
        returns the number of an interface from its name.
        """
        flags = 0 if self.changed else NLM_F_CREATE | NLM_F_EXCL
        handle, parent, info = self.place
        return message(
            self.message_type, flags, wire.TCMSG.pack(0, index(self.interface), handle, parent, info) + self.body
        )

    @property
    def identity(self) -> object:
        """A tuple that is equal for two elements that differ only in options which the kernel can change without making
        them anew: the kind of message and the place, and for a filter, which cannot be changed, all its attributes.
        """
        return (self.message_type, self.place, self.body if self.message_type == wire.RTM_NEWTFILTER else b"")


def class_elements(interface: str, classes: Classes) -> list[ClassElement]:
    """Return the classes of the queue `2:` on the interface with the name `interface`, then the queue of each class,
    then the filters that assign packets to classes, in the order in which they must be made.
    """
    return [*_classes(interface, classes), *_class_queues(interface, classes), *_filters(interface, classes)]


def _classes(interface: str, classes: Classes) -> Iterator[ClassElement]:
    """Yield the classes of the queue `2:` on the interface with the name `interface`, one for each of DRR's quanta;
    none for ETS, which makes its classes itself.
    """
    for number, quantum_bytes in enumerate(classes.quantum_bytes, start=1):
        body = text(wire.TCA_KIND, "drr") + attribute(TCA_OPTIONS, u32(1, quantum_bytes))
        words = f"parent 2: classid 2:{number:x} drr quantum {quantum_bytes}b"
        yield ClassElement(interface, words, wire.RTM_NEWTCLASS, (QUEUE_HANDLE | number, QUEUE_HANDLE, 0), body)


def _class_queues(interface: str, classes: Classes) -> Iterator[ClassElement]:
    """Yield the queue of each class of the queue `2:` on the interface with the name `interface`: a fifo for
    `classes.class_packets` packets with the handle 11:, 12:, ... (hexadecimal).
    """
    queue = fifo(classes.class_packets, in_bytes=False)
    for number in range(1, classes.count + 1):
        handle = CLASS_QUEUE_HANDLE + number
        words = f"parent 2:{number:x} handle {handle:x}: {queue.words}"
        place = (handle << 16, QUEUE_HANDLE | number, 0)
        yield ClassElement(interface, words, wire.RTM_NEWQDISC, place, text(wire.TCA_KIND, queue.kind) + queue.options)


def _filters(interface: str, classes: Classes) -> Iterator[ClassElement]:
    """Yield two filters of the queue `2:` on the interface with the name `interface`: one that puts ICMP packets into
    the last class, and one that chooses the class of all other IPv4 packets by a hash of their addresses, protocol and
    ports (`classes.by_flow`) or by their destination port, of which FIRST_PORT has the first class.
    """
    # ICMP gets a fixed class: without ports, its class would follow from an address in the kernel's memory (cls_flow.c).
    last = QUEUE_HANDLE | classes.count
    selector = struct.pack("=BBBxHHhhI", 1, 0, 1, 0, 0, 0, 0, 0) + struct.pack(">II", 0x00FF0000, ICMP << 16)
    key = selector + struct.pack("=ii", 8, 0)
    body = text(wire.TCA_KIND, "u32") + attribute(TCA_OPTIONS, u32(1, last), attribute(5, key))
    words = f"parent 2: protocol ip prio {ICMP_PRIORITY} u32 match ip protocol {ICMP} 0xff flowid 2:{classes.count:x}"
    yield ClassElement(interface, words, wire.RTM_NEWTFILTER, _filter_place(ICMP_PRIORITY), body)
    if classes.by_flow:
        options = [u32(1, EVERY_KEY), u32(8, classes.count), u32(3, QUEUE_HANDLE | 1), u32(2, HASH)]
        words = f"hash keys {','.join(KEYS)} divisor {classes.count}"
    else:
        addend = -FIRST_PORT & 0xFFFFFFFF
        divisor = [u32(8, classes.count)] if classes.repeats else []
        options = [u32(1, DESTINATION_PORT), u32(5, addend), *divisor, u32(3, QUEUE_HANDLE | 1), u32(2, MAP)]
        words = f"map key proto-dst addend {addend:#x}" + (f" divisor {classes.count}" if classes.repeats else "")
    body = text(wire.TCA_KIND, "flow") + attribute(TCA_OPTIONS, *options)
    words = f"parent 2: protocol ip prio {FLOW_PRIORITY} handle 1 flow {words} baseclass 2:1"
    handle, parent, info = _filter_place(FLOW_PRIORITY)
    yield ClassElement(interface, words, wire.RTM_NEWTFILTER, (handle | 1, parent, info), body)


def _filter_place(priority: int) -> tuple[int, int, int]:
    """Return the handle (0), the parent and the info, in this order, of the message for a filter of the queue `2:` for
    IPv4 packets with this priority; filters with lower numbers are tried first.
    """
    # The protocol, in network byte order, is below the priority.
    return 0, QUEUE_HANDLE, priority << 16 | struct.unpack("=H", struct.pack(">H", ETH_P_IP))[0]


def ets(strict: int, quanta_bytes: tuple[int, ...]) -> Qdisc:
    """Return the qdisc of Enhanced Transmission Selection, not attached to an interface: `strict` bands with strict
    priority, then a band for each of `quanta_bytes`, which share the rest of the rate in proportion to these numbers of
    bytes.

    Packets that match no filter are in the last band.

    >>> ets(1, (3000, 1500)).words
    'ets bands 3 strict 1 quanta 3000 1500'
    """
    bands = strict + len(quanta_bytes)
    quanta = attribute(3 | wire.NLA_F_NESTED, *(u32(4, each) for each in quanta_bytes))
    return qdisc_with_options(
        "ets",
        Option(f"bands {bands}", u8(1, bands)),
        Option(f"strict {strict}", u8(2, strict)) if strict else None,
        Option(f"quanta {' '.join(map(str, quanta_bytes))}", quanta) if quanta_bytes else None,
        flags=wire.NLA_F_NESTED,
    )


def drr(classes: Classes) -> Qdisc:
    """Return the qdisc of Deficit Round Robin, not attached to an interface: its classes are served in turn, each with
    up to its quantum in bytes.
    """
    return Qdisc("drr", "drr", b"", classes)
