"""Read queue statistics from the kernel, with one netlink dump per namespace and sample and without a process."""

import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass

from netlab.plan import PlannedHop, QueueSample
from netlab_engines.agent.namespaces import enter_namespace
from netlab_engines.netlink import disciplines, wire
from netlab_engines.netlink.qdiscs import QUEUE_HANDLE

TCA_STATS_BASIC = 1
TCA_STATS_QUEUE = 3
TCA_STATS_APP = 4


_BASIC_COUNTERS = struct.Struct("=QI")
_QUEUE = struct.Struct("=IIIII")


@dataclass
class QdiscSample:
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
        """Return this qdisc's counters as a row (a dict) of a run's queue samples: "backlog_bytes" and
        "backlog_packets" (now), and "drops", "marks", "sent_bytes" and "sent_packets" (since it was made); `interface`
        and `t_s`, a time in s from the run's start, are copied into the row.
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
        """Look up the kernel's numbers of the interfaces with these names and open the netlink socket, both in the
        network namespace of the calling thread. Raises OSError if there is no interface with one of the names.
        """
        self.indices = {socket.if_nametoindex(name): name for name in interfaces}
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, wire.NETLINK_ROUTE)
        self._socket.bind((0, 0))
        self._request = wire.message(wire.RTM_GETQDISC, wire.NLM_F_DUMP, wire.TCMSG.pack(0, 0, 0, 0, 0))

    def read(self) -> dict[str, QdiscSample]:
        """Return the present counters and backlog of the queue of each interface, a QdiscSample by the interface's name: sent
        bytes and packets of the rate limit, and kind, backlog, drops and marks of the queue in it. An interface without
        a rate limit (tbf) and without a queue of netlab's is absent. Raises OSError if the kernel refuses.

        Backlog, drops and marks come from the queue discipline, the counters of sent bytes and packets from the rate
        limit.
        """
        found: dict[str, QdiscSample] = {}
        for qdisc in self._dump():
            name = self.indices.get(qdisc.interface_index)
            if name is None:
                continue
            if qdisc.kind == "tbf":
                outer = found.setdefault(name, QdiscSample(qdisc.interface_index))
                outer.sent_bytes, outer.sent_packets = qdisc.sent_bytes, qdisc.sent_packets
            elif qdisc.handle == QUEUE_HANDLE:
                inner = found.setdefault(name, QdiscSample(qdisc.interface_index))
                inner.kind = qdisc.kind
                inner.backlog_bytes, inner.backlog_packets = qdisc.backlog_bytes, qdisc.backlog_packets
                inner.drops, inner.marks = qdisc.drops, qdisc.marks
        return found

    def _dump(self) -> list[QdiscSample]:
        """Ask the kernel for all qdiscs of all interfaces of the socket's namespace and return them in the kernel's
        order. Raises OSError if the kernel refuses.
        """
        self._socket.send(self._request)
        found: list[QdiscSample] = []
        while True:
            for kind, body in wire.messages(self._socket.recv(1 << 16)):
                if kind == wire.NLMSG_DONE:
                    return found
                if kind == wire.NLMSG_ERROR:
                    raise OSError("the kernel refused to list its queues")
                if kind == wire.RTM_NEWQDISC:
                    found.append(parse_qdisc(body))


def parse_qdisc(body: bytes) -> QdiscSample:
    """Return the qdisc that one netlink message RTM_NEWQDISC describes; `body` is the message without its header: a
    `tcmsg` and its attributes. A counter that the message lacks is 0.
    """
    _family, index, handle, parent, _info = wire.TCMSG.unpack_from(body)
    qdisc = QdiscSample(index, "", handle, parent)
    application = b""
    for kind, value in wire.attributes(body[wire.TCMSG.size :]):
        if kind == wire.TCA_KIND:
            qdisc.kind = value.rstrip(b"\0").decode()
        elif kind == wire.TCA_STATS2:
            for inner, data in wire.attributes(value):
                if inner == TCA_STATS_BASIC:
                    qdisc.sent_bytes, qdisc.sent_packets = _BASIC_COUNTERS.unpack_from(data)
                elif inner == TCA_STATS_QUEUE:
                    qdisc.backlog_packets, qdisc.backlog_bytes, qdisc.drops, _, _ = _QUEUE.unpack_from(data)
                elif inner == TCA_STATS_APP:
                    application = data
    qdisc.marks = disciplines.marks(qdisc.kind, application)
    return qdisc


def queue_readers(pid_of: Callable[[str], int], directions: list[PlannedHop]) -> list[QueueReader]:
    """Return one queue reader for each node that sends into one of these directions of links, in a list in the order of
    the nodes' first directions; it reads the queues of the interfaces with which the node sends into them. `pid_of`
    returns the pid of a node's namespace by the node's name. Raises OSError if an interface is missing.
    """
    shaped: dict[str, list[str]] = {}
    for direction in directions:
        shaped.setdefault(direction["src"], []).append(direction["interface"])
    readers = []
    for name, interfaces in shaped.items():
        with enter_namespace(pid_of(name)):
            readers.append(QueueReader(interfaces))
    return readers
