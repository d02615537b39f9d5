"""Netlink messages and their attributes."""

from __future__ import annotations

import struct

RTM_NEWLINK = 16
RTM_NEWADDR = 20
RTM_NEWROUTE = 24
RTM_NEWNEIGH = 28
RTM_NEWQDISC = 36
RTM_NEWTFILTER = 44

NLM_F_REQUEST = 0x1
NLM_F_ACK = 0x4
NLM_F_REPLACE = 0x100
NLM_F_EXCL = 0x200
NLM_F_CREATE = 0x400

NESTED = 0x8000

_HEADER = struct.Struct("=IHHII")
_ATTRIBUTE = struct.Struct("=HH")
_PADDING = (b"", b"\0\0\0", b"\0\0", b"\0")


def attribute(kind: int, data: bytes) -> bytes:
    """One attribute: its length and kind, its data, zeros up to a multiple of four.

    >>> attribute(3, b"h1-eth0\\0").hex()
    '0c00030068312d6574683000'
    """
    return _ATTRIBUTE.pack(len(data) + 4, kind) + data + _PADDING[len(data) % 4]


def nest(kind: int, *parts: bytes) -> bytes:
    """An attribute that holds others."""
    return attribute(kind, b"".join(parts))


def u32(kind: int, value: int) -> bytes:
    """An attribute of 32 bits."""
    return _U32.pack(8, kind, value)


def u64(kind: int, value: int) -> bytes:
    """An attribute of 64 bits."""
    return attribute(kind, struct.pack("=Q", value))


def text(kind: int, value: str) -> bytes:
    """An attribute that is a text with a zero behind it."""
    return attribute(kind, value.encode() + b"\0")


_U32 = struct.Struct("=HHI")


def message(kind: int, flags: int, body: bytes, sequence: int = 0) -> bytes:
    """A whole message; `body` is the family's fixed part and the attributes."""
    return _HEADER.pack(_HEADER.size + len(body), kind, NLM_F_REQUEST | flags, sequence, 0) + body


def batch(messages: list[bytes]) -> bytes:
    """Messages as one request: numbered from 0, and only the last one is acknowledged (refusals always are told)."""
    last = len(messages) - 1
    numbered = []
    for number, each in enumerate(messages):
        length, kind, flags, _sequence, pid = _HEADER.unpack_from(each)
        flags |= NLM_F_ACK if number == last else 0
        numbered.append(_HEADER.pack(length, kind, flags, number, pid) + each[_HEADER.size :])
    return b"".join(numbered)
