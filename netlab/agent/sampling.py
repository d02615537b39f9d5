"""Queue statistics straight from the kernel: one netlink dump per namespace and sample, no process started."""

from __future__ import annotations

import socket
import struct
from dataclasses import dataclass

RTM_GETQDISC = 38
RTM_NEWQDISC = 36
NLM_F_REQUEST = 1
NLM_F_DUMP = 0x300
NLMSG_DONE = 3
NLMSG_ERROR = 2
NETLINK_ROUTE = 0
TCA_KIND = 1
TCA_XSTATS = 4
TCA_STATS2 = 7
TCA_STATS_BASIC = 1
TCA_STATS_QUEUE = 3
TCA_STATS_APP = 4
TCA_CAKE_STATS_TIN_STATS = 10
TCA_CAKE_TIN_STATS_ECN_MARKED_PACKETS = 8
QUEUE_HANDLE = 0x20000
MARKS_WORD = {"red": 3, "codel": 6, "fq_codel": 3, "pie": 9}
"""Which 32-bit word of a discipline's own statistics counts ECN marks."""

_HEADER = struct.Struct("=IHHII")
_TCMSG = struct.Struct("=BxxxiIII")
_ATTRIBUTE = struct.Struct("=HH")
_BASIC = struct.Struct("=QI")
_QUEUE = struct.Struct("=IIIII")


@dataclass
class Qdisc:
    """Counters of one qdisc since it was made; backlog is now."""

    interface_index: int
    kind: str
    handle: int
    parent: int
    sent_bytes: int = 0
    sent_packets: int = 0
    backlog_packets: int = 0
    backlog_bytes: int = 0
    drops: int = 0
    marks: int = 0


class QueueReader:
    """Reads all qdiscs of the namespace in which it was made.

    Parameters
    ----------
    interfaces : list of str
        Names of the interfaces whose queue is wanted.
    """

    def __init__(self, interfaces: list[str]) -> None:
        self.indices = {socket.if_nametoindex(name): name for name in interfaces}
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_ROUTE)
        self._socket.bind((0, 0))
        self._request = _HEADER.pack(
            _HEADER.size + _TCMSG.size, RTM_GETQDISC, NLM_F_REQUEST | NLM_F_DUMP, 1, 0
        ) + _TCMSG.pack(0, 0, 0, 0, 0)

    def read(self) -> dict[str, Qdisc]:
        """The queue of each interface: backlog, drops and marks of the inner discipline, sent of the rate limit."""
        found: dict[str, Qdisc] = {}
        for qdisc in self._dump():
            name = self.indices.get(qdisc.interface_index)
            if name is None:
                continue
            if qdisc.kind == "tbf":
                outer = found.setdefault(name, Qdisc(qdisc.interface_index, "", 0, 0))
                outer.sent_bytes, outer.sent_packets = qdisc.sent_bytes, qdisc.sent_packets
            elif qdisc.handle == QUEUE_HANDLE:
                inner = found.setdefault(name, Qdisc(qdisc.interface_index, "", 0, 0))
                inner.kind = qdisc.kind
                inner.backlog_bytes, inner.backlog_packets = qdisc.backlog_bytes, qdisc.backlog_packets
                inner.drops, inner.marks = qdisc.drops, qdisc.marks
        return found

    def _dump(self) -> list[Qdisc]:
        self._socket.send(self._request)
        found: list[Qdisc] = []
        while True:
            data = self._socket.recv(1 << 16)
            offset = 0
            while offset < len(data):
                length, kind, _flags, _sequence, _pid = _HEADER.unpack_from(data, offset)
                if kind == NLMSG_DONE:
                    return found
                if kind == NLMSG_ERROR:
                    raise OSError("the kernel refused to list its queues")
                if kind == RTM_NEWQDISC:
                    found.append(parse_qdisc(data[offset + _HEADER.size : offset + length]))
                offset += (length + 3) & ~3


def parse_qdisc(message: bytes) -> Qdisc:
    """Decode one RTM_NEWQDISC message (a `tcmsg` and its attributes)."""
    _family, index, handle, parent, _info = _TCMSG.unpack_from(message)
    qdisc = Qdisc(index, "", handle, parent)
    application = b""
    for kind, value in _attributes(message[_TCMSG.size :]):
        if kind == TCA_KIND:
            qdisc.kind = value.rstrip(b"\0").decode()
        elif kind == TCA_STATS2:
            for inner, data in _attributes(value):
                if inner == TCA_STATS_BASIC:
                    qdisc.sent_bytes, qdisc.sent_packets = _BASIC.unpack_from(data)
                elif inner == TCA_STATS_QUEUE:
                    qdisc.backlog_packets, qdisc.backlog_bytes, qdisc.drops, _, _ = _QUEUE.unpack_from(data)
                elif inner == TCA_STATS_APP:
                    application = data
    qdisc.marks = _marks(qdisc.kind, application)
    return qdisc


def _attributes(data: bytes) -> list[tuple[int, bytes]]:
    found = []
    offset = 0
    while offset + _ATTRIBUTE.size <= len(data):
        length, kind = _ATTRIBUTE.unpack_from(data, offset)
        if length < _ATTRIBUTE.size:
            break
        found.append((kind & 0x3FFF, data[offset + _ATTRIBUTE.size : offset + length]))
        offset += (length + 3) & ~3
    return found


def _marks(kind: str, application: bytes) -> int:
    """Packets marked with ECN, from the discipline's own statistics (the tc_*_xstats of linux/pkt_sched.h)."""
    if kind == "cake":
        return _cake_marks(application)
    place = MARKS_WORD.get(kind)
    if place is None or len(application) < 4 * (place + 1):
        return 0
    return int(struct.unpack_from("=I", application, 4 * place)[0])


def _cake_marks(application: bytes) -> int:
    marks = 0
    for kind, tins in _attributes(application):
        if kind == TCA_CAKE_STATS_TIN_STATS:
            for _tin, tin in _attributes(tins):
                for inner, value in _attributes(tin):
                    if inner == TCA_CAKE_TIN_STATS_ECN_MARKED_PACKETS:
                        marks += int(struct.unpack("=I", value)[0])
    return marks
