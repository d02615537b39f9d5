"""Set by netlink what this machine's `tc` cannot say: Debian 12's, of 2022, knows no DualPI2."""

from __future__ import annotations

import os
import socket
import struct

from netlab import netlink

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
    body = netlink.TCMSG.pack(0, socket.if_nametoindex(interface), QUEUE_HANDLE, QUEUE_PARENT, 0)
    body += netlink.attribute(netlink.TCA_KIND, kind.encode() + b"\0")
    body += netlink.attribute(netlink.TCA_OPTIONS | netlink.NLA_F_NESTED, options)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, netlink.NETLINK_ROUTE) as kernel:
        kernel.bind((0, 0))
        kernel.send(netlink.message(netlink.RTM_NEWQDISC, netlink.NLM_F_REQUEST | netlink.NLM_F_ACK, body))
        for message_kind, answer in netlink.messages(kernel.recv(1 << 16)):
            if message_kind == netlink.NLMSG_ERROR:
                (error,) = struct.unpack_from("=i", answer)
                if error:
                    raise OSError(-error, f"{kind} on {interface}: {os.strerror(-error)}")
