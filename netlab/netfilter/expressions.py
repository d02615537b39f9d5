"""Expressions: the steps of a rule, each an attribute of its own; a step that does not hold ends the rule."""

from __future__ import annotations

import struct

from netlab.netlink.wire import NLA_F_NESTED, attribute

EQUAL, UNEQUAL = 0, 1
AT_MOST, AT_LEAST = 3, 5
NETWORK_HEADER, TRANSPORT_HEADER = 1, 2
IN_NAME, OUT_NAME, PROTOCOL = 6, 7, 16
SOURCE, DESTINATION = 0, 1
DROP, ACCEPT, RETURN, JUMP = 0, 1, -5, -3
ICMP_UNREACHABLE, TCP_RESET = 0, 1

_LIST_ELEMENT = 1
_VERDICT_REGISTER = 0
_WITH_PORTS = 2
_NAME_BYTES = 16


def nest(kind: int, *parts: bytes) -> bytes:
    """An attribute that holds others, marked as such."""
    return attribute(kind | NLA_F_NESTED, b"".join(parts))


def be32(kind: int, value: int) -> bytes:
    """An attribute of 32 bits in the network's order, as all numbers are here.

    >>> be32(2, -5).hex()
    '08000200fffffffb'
    """
    return attribute(kind, struct.pack("!i", value))


def be64(kind: int, value: int) -> bytes:
    """An attribute of 64 bits in the network's order."""
    return attribute(kind, struct.pack("!Q", value))


def text(kind: int, value: str) -> bytes:
    """An attribute that is a text with a zero behind it."""
    return attribute(kind, value.encode() + b"\0")


def _expression(name: str, *parts: bytes) -> bytes:
    return nest(_LIST_ELEMENT, text(1, name), nest(2, *parts))


def _value(kind: int, data: bytes) -> bytes:
    return nest(kind, attribute(1, data))


def _compare(data: bytes, how: int) -> bytes:
    return _expression("cmp", be32(1, 1), be32(2, how), _value(3, data))


def _meta(key: int) -> bytes:
    return _expression("meta", be32(2, key), be32(1, 1))


def _payload(header: int, offset: int, length: int) -> bytes:
    return _expression("payload", be32(1, 1), be32(2, header), be32(3, offset), be32(4, length))


def _masked(mask: bytes) -> bytes:
    return _expression(
        "bitwise", be32(1, 1), be32(2, 1), be32(3, len(mask)), _value(4, mask), _value(5, bytes(len(mask)))
    )


def interface(key: int, name: str, how: int) -> bytes:
    """The packet comes from, or goes to, the interface of this name; `eth+` stands for all that begin so."""
    if name.endswith("+"):
        return _meta(key) + _compare(name[:-1].encode(), how) if name != "+" else b""
    return _meta(key) + _compare(name.encode().ljust(_NAME_BYTES, b"\0"), how)


def address(end: int, network: bytes, prefix: int, how: int) -> bytes:
    """The packet's source or destination lies in a network."""
    offset = 12 + 4 * end
    if prefix % 8 == 0 and prefix:
        return _payload(NETWORK_HEADER, offset, prefix // 8) + _compare(network[: prefix // 8], how)
    mask = struct.pack("!I", (0xFFFFFFFF << (32 - prefix)) & 0xFFFFFFFF)
    return _payload(NETWORK_HEADER, offset, 4) + _masked(mask) + _compare(network, how)


def protocol(number: int, how: int) -> bytes:
    """The packet is of a transport protocol."""
    return _meta(PROTOCOL) + _compare(bytes([number]), how)


def ports(end: int, first: int, last: int, how: int) -> bytes:
    """The packet's source or destination port is among these; TCP and UDP have them at the same place."""
    low, high = (struct.pack("!H", port) for port in (first, last))
    load = _payload(TRANSPORT_HEADER, 2 * end, 2)
    if first == last:
        return load + _compare(low, how)
    if how == EQUAL:
        return load + _compare(low, AT_LEAST) + _compare(high, AT_MOST)
    return load + _expression("range", be32(1, 1), be32(2, UNEQUAL), _value(3, low), _value(4, high))


def icmp_type(number: int, how: int) -> bytes:
    """The packet is an ICMP message of this type."""
    return _payload(TRANSPORT_HEADER, 0, 1) + _compare(bytes([number]), how)


def tcp_flags(mask: int, wanted: int, how: int) -> bytes:
    """Of the flags in `mask`, those in `wanted` are set and no other."""
    return _payload(TRANSPORT_HEADER, 13, 1) + _masked(bytes([mask])) + _compare(bytes([wanted]), how)


def states(bits: int, how: int) -> bytes:
    """The connection that the packet belongs to is in one of these states (bits in the machine's order)."""
    load = _expression("ct", be32(2, 0), be32(1, 1))
    return load + _masked(struct.pack("=I", bits)) + _compare(bytes(4), UNEQUAL if how == EQUAL else EQUAL)


def limit(rate: int, per_s: int, burst: int) -> bytes:
    """No more than `rate` packets in `per_s` seconds, after a burst."""
    return _expression("limit", be64(1, rate), be64(2, per_s), be32(3, burst), be32(4, 0), be32(5, 0))


def counter() -> bytes:
    """Count packets and bytes that come so far."""
    return _expression("counter")


def verdict(code: int, chain: str = "") -> bytes:
    """Accept, drop, return, or jump to a chain."""
    parts = [be32(1, code), *([text(2, chain)] if chain else [])]
    return _expression("immediate", be32(1, _VERDICT_REGISTER), nest(2, nest(2, *parts)))


def reject(kind: int, code: int) -> bytes:
    """Drop, and tell the sender."""
    return _expression("reject", be32(1, kind), attribute(2, bytes([code])))


def _load(values: list[bytes]) -> bytes:
    return b"".join(
        _expression("immediate", be32(1, register), _value(2, data)) for register, data in enumerate(values, 1)
    )


def translate(end: int, addresses: list[bytes], to_ports: list[int]) -> bytes:
    """Write another source or destination into the packet: one address or the two ends of a range; as many ports, or none."""
    loads = _load([*addresses, *(struct.pack("!H", port) for port in to_ports)])
    kinds = [3, 4][: len(addresses)] + [5, 6][: len(to_ports)]
    parts = [be32(kind, register) for register, kind in enumerate(kinds, 1)]
    flags = [be32(7, _WITH_PORTS)] if to_ports else []
    return loads + _expression("nat", be32(1, end), be32(2, 2), *parts, *flags)


def masquerade(to_ports: list[int]) -> bytes:
    """Write the address of the interface by which the packet leaves as its source."""
    parts = [be32(kind, register) for register, kind in enumerate([2, 3][: len(to_ports)], 1)]
    flags = [be32(1, _WITH_PORTS)] if to_ports else []
    return _load([struct.pack("!H", port) for port in to_ports]) + _expression("masq", *flags, *parts)


def redirect(to_ports: list[int]) -> bytes:
    """Write an address of this node as the packet's destination."""
    parts = [be32(kind, register) for register, kind in enumerate([1, 2][: len(to_ports)], 1)]
    flags = [be32(3, _WITH_PORTS)] if to_ports else []
    return _load([struct.pack("!H", port) for port in to_ports]) + _expression("redir", *parts, *flags)
