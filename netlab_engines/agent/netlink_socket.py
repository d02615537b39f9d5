"""Configure links, addresses, routes and queues of a network namespace over a netlink socket instead of by programs."""

import os
import socket
import struct
from collections.abc import Iterable

from netlab.base.errors import RunError
from netlab_engines.agent.namespaces import enter_namespace
from netlab_engines.netlink import wire
from netlab_engines.netlink.ip_lines import Interfaces

SOL_NETLINK = 270
NETLINK_CAP_ACK = 10
NETLINK_EXT_ACK = 11
NLMSGERR_ATTR_MSG = 1
ANSWER_BYTES = 1 << 16
ERROR = struct.Struct("=i")


class NetlinkSocket:
    """A netlink socket that configures the network namespace of the process or thread `pid`; `interfaces` has the
    numbers of the interfaces that were made by it.
    """

    def __init__(self, pid: int) -> None:
        """Open a netlink socket in the network namespace of the process or thread with the id `pid`. Raises OSError if
        that fails.
        """
        self.interfaces = Interfaces()
        with enter_namespace(pid):
            self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, wire.NETLINK_ROUTE)
        self._socket.bind((0, 0))
        for option in (NETLINK_CAP_ACK, NETLINK_EXT_ACK):
            self._socket.setsockopt(SOL_NETLINK, option, 1)

    def send(self, lines: Iterable[tuple[str, bytes]]) -> None:
        """Send netlink messages to the kernel in their order and wait for its answers. Each item of `lines` is the
        equivalent command line of `ip` or `tc`, for error messages, and the message. Raises RunError, which shows the
        line, if the kernel refuses a message.
        """
        for part in wire.batches(lines):
            self._send_batch(part)

    def _send_batch(self, lines: wire.Lines) -> None:
        """Send these messages, each with its command line, in one system call and wait until the kernel has answered
        the last. Raises RunError with the command line of the first one that the kernel refuses.
        """
        self._socket.send(wire.batch([message for _line, message in lines]))
        while True:
            data, offset = self._socket.recv(ANSWER_BYTES), 0
            while offset < len(data):
                length, kind, _flags, number, _pid = wire.HEADER.unpack_from(data, offset)
                body = data[offset + wire.HEADER.size : offset + length]
                offset += (length + 3) & ~3
                if kind != wire.NLMSG_ERROR:
                    continue
                (error,) = ERROR.unpack_from(body)
                if error:
                    raise RunError(
                        f"The kernel refused `{lines[number][0]}`: {os.strerror(-error)}{_kernel_text(body)}."
                    )
                if number == len(lines) - 1:
                    return

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()


def _kernel_text(body: bytes) -> str:
    """Return the kernel's own text from the body of a netlink error message, as " (text)" with a leading space; "" if
    the body has only an error number.
    """
    message = dict(wire.attributes(body[ERROR.size + wire.HEADER.size :])).get(NLMSGERR_ATTR_MSG, b"")
    text = message.rstrip(b"\0").decode(errors="replace")
    return f" ({text})" if text else ""
