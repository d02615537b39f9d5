"""Read queue statistics from the kernel, with one netlink dump per namespace and sample and without a process."""

import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass

from netlab.plan import Hop, QueueSample
from netlab_engines.agent.namespaces import enter_namespace
from netlab_engines.netlink import disciplines, wire
from netlab_engines.netlink.qdiscs import QUEUE_HANDLE

TCA_STATS_BASIC = 1
TCA_STATS_QUEUE = 3
TCA_STATS_APP = 4


_BASIC = struct.Struct("=QI")
_QUEUE = struct.Struct("=IIIII")


@dataclass
class Qdisc:
    """The counters of one qdisc since it was made, and its present backlog; by default all are 0."""

    interface_index: int = 0
    kind: str = ""
    handle: int = 0
    parent: int = 0
    sent_bytes: int = 0
    sent_packets: int = 0
    backlog_packets: int = 0
    backlog_bytes: int = 0
    drops: int = 0
    marks: int = 0

    def sample(self, interface: str, t_s: float) -> QueueSample:
        """Return a row of the run's queue samples for this qdisc on `interface` at the time `t_s`, in s after the run's
        start.
        """
        return {
            "t_s": t_s,
            "interface": interface,
            "backlog_bytes": self.backlog_bytes,
            "backlog_packets": self.backlog_packets,
            "drops": self.drops,
            "marks": self.marks,
            "sent_bytes": self.sent_bytes,
            "sent_packets": self.sent_packets,
        }


class QueueReader:
    """A reader of the queues of the given interfaces, over a netlink socket in the namespace in which it was made."""

    def __init__(self, interfaces: list[str]) -> None:
        """Look up the numbers of the interfaces and open the socket, both in the current namespace. Raises OSError if
        an interface is missing.
        """
        self.indices = {socket.if_nametoindex(name): name for name in interfaces}
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, wire.NETLINK_ROUTE)
        self._socket.bind((0, 0))
        self._request = wire.message(wire.RTM_GETQDISC, wire.NLM_F_DUMP, wire.TCMSG.pack(0, 0, 0, 0, 0))

    def read(self) -> dict[str, Qdisc]:
        """Return the counters and backlog of the queue of each interface by its name; interfaces without a rate limit
        or queue are absent.

        Backlog, drops and marks come from the queue discipline, the counters of sent bytes and packets from the rate
        limit.
        """
        found: dict[str, Qdisc] = {}
        for qdisc in self._dump():
            name = self.indices.get(qdisc.interface_index)
            if name is None:
                continue
            if qdisc.kind == "tbf":
                outer = found.setdefault(name, Qdisc(qdisc.interface_index))
                outer.sent_bytes, outer.sent_packets = qdisc.sent_bytes, qdisc.sent_packets
            elif qdisc.handle == QUEUE_HANDLE:
                inner = found.setdefault(name, Qdisc(qdisc.interface_index))
                inner.kind = qdisc.kind
                inner.backlog_bytes, inner.backlog_packets = qdisc.backlog_bytes, qdisc.backlog_packets
                inner.drops, inner.marks = qdisc.drops, qdisc.marks
        return found

    def _dump(self) -> list[Qdisc]:
        """Ask the kernel for all qdiscs of the namespace and return them. Raises OSError if it refuses."""
        self._socket.send(self._request)
        found: list[Qdisc] = []
        while True:
            for kind, body in wire.messages(self._socket.recv(1 << 16)):
                if kind == wire.NLMSG_DONE:
                    return found
                if kind == wire.NLMSG_ERROR:
                    raise OSError("the kernel refused to list its queues")
                if kind == wire.RTM_NEWQDISC:
                    found.append(parse_qdisc(body))


def parse_qdisc(body: bytes) -> Qdisc:
    """Return the qdisc of one RTM_NEWQDISC message, whose `body` is a `tcmsg` and its attributes; missing counters are
    0.
    """
    _family, index, handle, parent, _info = wire.TCMSG.unpack_from(body)
    qdisc = Qdisc(index, "", handle, parent)
    application = b""
    for kind, value in wire.attributes(body[wire.TCMSG.size :]):
        if kind == wire.TCA_KIND:
            qdisc.kind = value.rstrip(b"\0").decode()
        elif kind == wire.TCA_STATS2:
            for inner, data in wire.attributes(value):
                if inner == TCA_STATS_BASIC:
                    qdisc.sent_bytes, qdisc.sent_packets = _BASIC.unpack_from(data)
                elif inner == TCA_STATS_QUEUE:
                    qdisc.backlog_packets, qdisc.backlog_bytes, qdisc.drops, _, _ = _QUEUE.unpack_from(data)
                elif inner == TCA_STATS_APP:
                    application = data
    qdisc.marks = disciplines.marks(qdisc.kind, application)
    return qdisc


def queue_readers(pid_of: Callable[[str], int], directions: list[Hop]) -> list[QueueReader]:
    """Return a reader of the queues of each node that sends into one of these directions; `pid_of` returns the pid of a
    node's namespace.
    """
    shaped: dict[str, list[str]] = {}
    for direction in directions:
        shaped.setdefault(direction["src"], []).append(direction["interface"])
    readers = []
    for name, interfaces in shaped.items():
        with enter_namespace(pid_of(name)):
            readers.append(QueueReader(interfaces))
    return readers
