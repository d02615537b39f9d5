"""Netlink attributes, and the messages with which the kernel's queues are listed and set (linux/rtnetlink.h)."""

from __future__ import annotations

import struct
from collections.abc import Iterator

NETLINK_ROUTE = 0
RTM_NEWQDISC = 36
RTM_GETQDISC = 38
NLMSG_ERROR = 2
NLMSG_DONE = 3
NLM_F_REQUEST = 1
NLM_F_ACK = 4
NLM_F_DUMP = 0x300
TCA_KIND = 1
TCA_OPTIONS = 2
TCA_STATS2 = 7
NLA_F_NESTED = 0x8000

HEADER = struct.Struct("=IHHII")
TCMSG = struct.Struct("=BxxxiIII")
_ATTRIBUTE = struct.Struct("=HH")
_KIND_MASK = 0x3FFF


def attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Kind and value of each attribute; ends where the data does, or where a length cannot be right."""
    offset = 0
    while offset + _ATTRIBUTE.size <= len(data):
        length, kind = _ATTRIBUTE.unpack_from(data, offset)
        if length < _ATTRIBUTE.size:
            return
        yield kind & _KIND_MASK, data[offset + _ATTRIBUTE.size : offset + length]
        offset += (length + 3) & ~3


def attribute(kind: int, value: bytes) -> bytes:
    """One attribute, padded to four bytes.

    >>> attribute(1, b"fq").hex()
    '0600010066710000'
    """
    packed = _ATTRIBUTE.pack(_ATTRIBUTE.size + len(value), kind) + value
    return packed + bytes(-len(packed) % 4)


def u32(kind: int, value: int) -> bytes:
    """An attribute of 32 bits."""
    return attribute(kind, struct.pack("=I", value))


def u8(kind: int, value: int) -> bytes:
    """An attribute of 8 bits."""
    return attribute(kind, struct.pack("=B", value))


def message(kind: int, flags: int, body: bytes, sequence: int = 1) -> bytes:
    """A message with its header."""
    return HEADER.pack(HEADER.size + len(body), kind, flags, sequence, 0) + body


def messages(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Kind and body of each message in what was read from the socket."""
    offset = 0
    while offset < len(data):
        length, kind, _flags, _sequence, _pid = HEADER.unpack_from(data, offset)
        yield kind, data[offset + HEADER.size : offset + length]
        offset += (length + 3) & ~3
