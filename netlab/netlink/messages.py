"""Messages and attributes beyond those of `netlab.netlink`."""

from __future__ import annotations

import struct

from netlab.netlink import wire
from netlab.netlink.wire import attribute, u32

__all__ = [
    "NESTED", "NLM_F_CREATE", "NLM_F_EXCL", "NLM_F_REPLACE", "RTM_DELLINK", "RTM_DELQDISC", "RTM_DELROUTE", "RTM_NEWADDR",
    "RTM_NEWLINK", "RTM_NEWNEIGH", "RTM_NEWQDISC", "RTM_NEWROUTE", "RTM_NEWTFILTER", "UnknownLineError", "attribute", "batch",
    "message", "nest", "text", "u32", "u64",
]  # fmt: skip

RTM_NEWLINK = 16
RTM_DELLINK = 17
RTM_NEWADDR = 20
RTM_NEWROUTE = 24
RTM_DELROUTE = 25
RTM_NEWNEIGH = 28
RTM_NEWQDISC = wire.RTM_NEWQDISC
RTM_DELQDISC = 37
RTM_NEWTFILTER = 44

NLM_F_REPLACE = 0x100
NLM_F_EXCL = 0x200
NLM_F_CREATE = 0x400

NESTED = wire.NLA_F_NESTED


class UnknownLineError(ValueError):
    """A line of `ip` with a word that netlab does not write."""


def nest(kind: int, *parts: bytes) -> bytes:
    """An attribute that holds others."""
    return attribute(kind, b"".join(parts))


def u64(kind: int, value: int) -> bytes:
    """An attribute of 64 bits."""
    return attribute(kind, struct.pack("=Q", value))


def text(kind: int, value: str) -> bytes:
    """An attribute that is a text with a zero behind it.

    >>> text(3, "h1-eth0").hex()
    '0c00030068312d6574683000'
    """
    return attribute(kind, value.encode() + b"\0")


def message(kind: int, flags: int, body: bytes) -> bytes:
    """A whole message; `body` is the family's fixed part and the attributes."""
    return wire.message(kind, wire.NLM_F_REQUEST | flags, body, sequence=0)


def batch(messages: list[bytes]) -> bytes:
    """Messages as one request: numbered from 0, and only the last one is acknowledged (refusals always are told)."""
    last = len(messages) - 1
    numbered = []
    for number, each in enumerate(messages):
        length, kind, flags, _sequence, pid = wire.HEADER.unpack_from(each)
        flags |= wire.NLM_F_ACK if number == last else 0
        numbered.append(wire.HEADER.pack(length, kind, flags, number, pid) + each[wire.HEADER.size :])
    return b"".join(numbered)
