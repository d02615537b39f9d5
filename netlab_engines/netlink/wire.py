"""Encode and decode netlink messages and attributes (linux/netlink.h, linux/rtnetlink.h)."""

import struct
from collections.abc import Iterable, Iterator

NETLINK_ROUTE = 0
NLMSG_ERROR, NLMSG_DONE = 2, 3
RTM_NEWLINK, RTM_DELLINK = 16, 17
RTM_NEWADDR = 20
RTM_NEWROUTE, RTM_DELROUTE = 24, 25
RTM_NEWNEIGH = 28
RTM_NEWQDISC, RTM_DELQDISC, RTM_GETQDISC = 36, 37, 38
RTM_NEWTCLASS = 40
RTM_NEWTFILTER = 44

NLM_F_REQUEST, NLM_F_ACK = 1, 4
NLM_F_REPLACE, NLM_F_EXCL, NLM_F_CREATE = 0x100, 0x200, 0x400
NLM_F_DUMP = 0x300
NLA_F_NESTED = 0x8000

TCA_KIND, TCA_OPTIONS, TCA_STATS2, TCA_STAB = 1, 2, 7, 8

HEADER = struct.Struct("=IHHII")
TCMSG = struct.Struct("=BxxxiIII")
_ATTRIBUTE = struct.Struct("=HH")
_KIND_MASK = 0x3FFF
MAX_BATCH_BYTES = 32_000


class UnknownLineError(ValueError):
    """A line of `ip` or `tc` with a word that netlab cannot translate."""


def attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the kind (a number, without its flags) and the value (bytes) of each netlink attribute in `data`, up to its
    end or to an invalid length.
    """
    offset = 0
    while offset + _ATTRIBUTE.size <= len(data):
        length, kind = _ATTRIBUTE.unpack_from(data, offset)
        if length < _ATTRIBUTE.size:
            return
        yield kind & _KIND_MASK, data[offset + _ATTRIBUTE.size : offset + length]
        offset += (length + 3) & ~3


def attribute(kind: int, *values: bytes) -> bytes:
    """Return the bytes of a netlink attribute with the number `kind` and the joined `values` as its value, padded with
    zeros to a multiple of four bytes.

    >>> attribute(1, b"fq").hex()
    '0600010066710000'
    """
    value = b"".join(values)
    packed = _ATTRIBUTE.pack(_ATTRIBUTE.size + len(value), kind) + value
    return packed + bytes(-len(packed) % 4)


def u8(kind: int, value: int) -> bytes:
    """Return the bytes of a netlink attribute with the number `kind`, whose value is an 8-bit number."""
    return attribute(kind, struct.pack("=B", value))


def u32(kind: int, value: int) -> bytes:
    """Return the bytes of a netlink attribute with the number `kind`, whose value is a 32-bit number."""
    return attribute(kind, struct.pack("=I", value))


def u64(kind: int, value: int) -> bytes:
    """Return the bytes of a netlink attribute with the number `kind`, whose value is a 64-bit number."""
    return attribute(kind, struct.pack("=Q", value))


def text(kind: int, value: str) -> bytes:
    """Return the bytes of a netlink attribute with the number `kind`, whose value is a text in UTF-8 with a zero byte
    at its end.

    >>> text(3, "h1-eth0").hex()
    '0c00030068312d6574683000'
    """
    return attribute(kind, value.encode() + b"\0")


def message(kind: int, flags: int, body: bytes) -> bytes:
    """Return the bytes of a whole netlink request: `kind` is its number, such as RTM_NEWLINK, `body` its fixed part and
    its attributes, and NLM_F_REQUEST is added to `flags`.
    """
    return HEADER.pack(HEADER.size + len(body), kind, NLM_F_REQUEST | flags, 0, 0) + body


def messages(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the kind (a number such as RTM_NEWQDISC) and the body (bytes after the header) of each netlink message in
    `data`, which was read from a socket and has whole messages.
    """
    offset = 0
    while offset < len(data):
        length, kind, _flags, _sequence, _pid = HEADER.unpack_from(data, offset)
        yield kind, data[offset + HEADER.size : offset + length]
        offset += (length + 3) & ~3


Lines = list[tuple[str, bytes]]
"""Messages, each with the equivalent line of `ip` or `tc`, which is shown in errors."""


def batches(lines: Iterable[tuple[str, bytes]]) -> Iterator[Lines]:
    """Yield the given netlink messages, each with its command line, in their order and in lists whose messages have at
    most MAX_BATCH_BYTES bytes in total; a longer message is alone.
    """
    ready: Lines = []
    length = 0
    for line, message in lines:
        if ready and length + len(message) > MAX_BATCH_BYTES:
            yield ready
            ready, length = [], 0
        ready.append((line, message))
        length += len(message)
    if ready:
        yield ready


def batch(requests: list[bytes]) -> bytes:
    """Return several netlink messages as the bytes of one request, with the sequence numbers 0, 1, 2, ... in their
    order; the kernel acknowledges only the last message, and reports an error for any.
    """
    last = len(requests) - 1
    numbered = []
    for number, each in enumerate(requests):
        length, kind, flags, _sequence, pid = HEADER.unpack_from(each)
        flags |= NLM_F_ACK if number == last else 0
        numbered.append(HEADER.pack(length, kind, flags, number, pid) + each[HEADER.size :])
    return b"".join(numbered)
