"""Set by netlink what this machine's `tc` cannot say: Debian 12's, of 2022, knows no DualPI2."""

from __future__ import annotations

import os
import socket
import struct

from netlab.netlink import wire

QUEUE_PARENT = 0x10000
QUEUE_HANDLE = 0x20000


def change(interface: str, kind: str, options: bytes) -> None:
    """Set options of the queue behind an interface's rate limit, in the present namespace.

    Parameters
    ----------
    interface : str
    kind : str
        The discipline, as the kernel names it.
    options : bytes
        Attributes, as TCA_OPTIONS holds them.

    Raises
    ------
    OSError
        When the kernel refuses them, or there is no such queue.
    """
    body = wire.TCMSG.pack(0, socket.if_nametoindex(interface), QUEUE_HANDLE, QUEUE_PARENT, 0)
    body += wire.attribute(wire.TCA_KIND, kind.encode() + b"\0")
    body += wire.attribute(wire.TCA_OPTIONS | wire.NLA_F_NESTED, options)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, wire.NETLINK_ROUTE) as kernel:
        kernel.bind((0, 0))
        kernel.send(wire.message(wire.RTM_NEWQDISC, wire.NLM_F_REQUEST | wire.NLM_F_ACK, body))
        for message_kind, answer in wire.messages(kernel.recv(1 << 16)):
            if message_kind == wire.NLMSG_ERROR:
                (error,) = struct.unpack_from("=i", answer)
                if error:
                    raise OSError(-error, f"{kind} on {interface}: {os.strerror(-error)}")
