"""Test which of the kernel's parts that netlab needs work on this machine: send the kernel the messages with which the
agent builds a network.

Each test has a network namespace of its own with a loopback device, which accepts every queue discipline. So tests do
not affect each other or the machine. If root runs a test, the kernel loads the module of the part, if it has one.
"""

import os
import socket
from collections.abc import Callable

from netlab.base.errors import RunError
from netlab.network.congestion import CONGESTION_CONTROLS
from netlab.network.queues import DISCIPLINES
from netlab_engines.agent.namespaces import create_namespace
from netlab_engines.agent.netlink_socket import NetlinkSocket
from netlab_engines.netlink import disciplines, links
from netlab_engines.netlink.ip_lines import ip_line
from netlab_engines.netlink.qdiscs import AttachedQdisc, Queueing, ingress, netem, redirect, tbf
from netlab_engines.netlink.queue_spec import QueueSpec
from netlab_engines.netlink.wire import Lines

EXAMPLE = QueueSpec(rate_mbps=10, queue_packets=100)


def kernel_errors() -> dict[str, str | None]:
    """Test each part of the kernel (devices, qdiscs, congestion controls) that netlab needs and return the kernel's
    error message by the name of the part, as in `netlab_engines.kernels.parts.PARTS`: "" for a part that works, None
    for one that cannot be tested because another is missing. To be run as root.
    """
    found: dict[str, str | None] = {
        "veth": _error_of(_veth),
        "ifb": _error_of(_ifb),
        "tbf": _qdisc_error(AttachedQdisc("lo", tbf(10_000_000, 2000, 100_000))),
        "netem": _qdisc_error(AttachedQdisc("lo", netem(1000, delay_us=1000))),
        "ingress": _qdisc_error(ingress("lo")),
    }
    found["matchall"] = None if found["ingress"] else _qdisc_error(ingress("lo"), redirect("lo"))
    found["mirred"] = None if found["matchall"] != "" else _qdisc_error(ingress("lo"), redirect("lo", "lo"))
    found |= {
        row.name: _qdisc_error(AttachedQdisc("lo", disciplines.qdisc(row.name, EXAMPLE)))
        for row in DISCIPLINES.values()
    }
    return found | {name: _control_error(name) for name in CONGESTION_CONTROLS}


def _error_of(messages: Callable[[NetlinkSocket, int], Lines]) -> str:
    """Send messages to a new network namespace, which stays open as long as this process runs, and return the text of
    the kernel's error, or "" if it accepts all. `messages` is called with the namespace's netlink socket and the id of
    the thread that keeps the namespace open, and returns the messages, each with the command line that it stands for.
    """
    holder = create_namespace()
    routing = NetlinkSocket(holder)
    try:
        routing.send(messages(routing, holder))
    except RunError as error:
        return str(error)
    finally:
        routing.close()
    return ""


def _qdisc_error(*queueing: Queueing) -> str:
    """Set up the given qdiscs and filters, in their order, on the loopback device of a new network namespace, and
    return the text of the kernel's error, or "" if it accepts all.
    """
    return _error_of(lambda routing, _holder: [(each.line, each.message(routing.interfaces)) for each in queueing])


def _ifb(routing: NetlinkSocket, _holder: int) -> Lines:
    """Return the message, with its command line, that makes an ifb device `wire0` in the namespace of the socket
    `routing`; nothing is sent.
    """
    line = "link add name wire0 type ifb"
    return [(line, ip_line(line, routing.interfaces))]


def _veth(_routing: NetlinkSocket, holder: int) -> Lines:
    """Return the message, with its command line, that makes a veth pair whose two ends are in the namespace of the
    thread with the id `holder`; nothing is sent, and a new file descriptor of the namespace, which the message has,
    stays open.
    """
    # The descriptor stays open, because the kernel uses it when it receives the message.
    namespace = os.open(f"/proc/{holder}/ns/net", os.O_RDONLY)
    pair = links.veth(2, "a", "02:00:00:00:00:01", 3, "b", "02:00:00:00:00:02", namespace)
    return [("link add name a type veth peer name b", pair)]


def _control_error(name: str) -> str:
    """Return the text of the kernel's error if a TCP socket of this process asks for the congestion control `name`, or
    "" if the kernel has it.
    """
    try:
        with socket.socket() as sock:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name.encode())
    except OSError as error:
        return str(error)
    return ""
