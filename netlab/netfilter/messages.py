"""Messages about tables, chains and rules, and what the kernel tells of them."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass

from netlab.netfilter.expressions import be32, be64, nest, text
from netlab.netlink import wire
from netlab.netlink.wire import NLM_F_DUMP, NLM_F_REQUEST, attribute, attributes

NETLINK_NETFILTER = 12
IPV4 = 2
SUBSYSTEM = 10
BATCH_BEGIN, BATCH_END = 0x10, 0x11
NEW_TABLE, NEW_CHAIN, GET_CHAIN, DELETE_CHAIN, NEW_RULE, GET_RULE, DELETE_RULE, ZERO_RULE = 0, 3, 4, 5, 6, 7, 8, 25
CREATE, APPEND = 0x400, 0x800
MOST_COMMENT_BYTES = 250

_HEADER = struct.Struct("!BBH")
_COMMENT = 0
_VERDICTS = {"DROP": 0, "ACCEPT": 1}


@dataclass(frozen=True)
class Hook:
    """Where in the kernel a built-in chain sees packets, and when: lower priorities come first."""

    kind: str
    number: int
    priority: int


BUILT_IN = {
    "filter": {"INPUT": Hook("filter", 1, 0), "FORWARD": Hook("filter", 2, 0), "OUTPUT": Hook("filter", 3, 0)},
    "nat": {
        "PREROUTING": Hook("nat", 0, -100),
        "INPUT": Hook("nat", 1, 100),
        "OUTPUT": Hook("nat", 3, -100),
        "POSTROUTING": Hook("nat", 4, 100),
    },
}
"""The tables and their chains, as iptables has them."""


@dataclass(frozen=True)
class Chain:
    """A chain as the kernel tells of it; `policy` is empty for a user's."""

    table: str
    name: str
    policy: str
    packets: int
    count_bytes: int
    uses: int


@dataclass(frozen=True)
class Told:
    """A rule as the kernel tells of it: its number for the kernel, the line that made it, and what it has counted."""

    chain: str
    handle: int
    line: str
    packets: int
    count_bytes: int


def _message(kind: int, flags: int, *parts: bytes) -> bytes:
    body = _HEADER.pack(IPV4, 0, 0) + b"".join(parts)
    return wire.message(SUBSYSTEM << 8 | kind, NLM_F_REQUEST | flags, body)


def batch(inside: Iterable[bytes]) -> bytes:
    """Messages as one request: the kernel does all of it or nothing."""
    mark = _HEADER.pack(0, 0, SUBSYSTEM)
    whole = [
        wire.message(BATCH_BEGIN, NLM_F_REQUEST, mark),
        *inside,
        wire.message(BATCH_END, NLM_F_REQUEST, mark),
    ]
    numbered = []
    for number, each in enumerate(whole):
        length, kind, flags, _sequence, pid = wire.HEADER.unpack_from(each)
        numbered.append(wire.HEADER.pack(length, kind, flags, number, pid) + each[wire.HEADER.size :])
    return b"".join(numbered)


def new_table(table: str) -> bytes:
    """Make a table, or leave it as it is."""
    return _message(NEW_TABLE, 0, text(1, table), be32(2, 0))


def new_chain(table: str, chain: str, hook: Hook | None = None, policy: str = "") -> bytes:
    """Make a chain; or, without a hook, give one that is there a policy."""
    parts = [text(1, table), text(3, chain)]
    if hook:
        parts.append(text(7, hook.kind))
    if policy:
        parts.append(be32(5, _VERDICTS[policy]))
    if hook:
        parts.append(nest(4, be32(1, hook.number), be32(2, hook.priority)))
    return _message(NEW_CHAIN, CREATE, *parts)


def zeroed(table: str, chain: str) -> bytes:
    """Let a built-in chain count from nothing; one that is new does not count before."""
    return _message(NEW_CHAIN, CREATE, text(1, table), text(3, chain), nest(8, be64(1, 0), be64(2, 0)))


def delete_chain(table: str, chain: str) -> bytes:
    """Delete a chain that nothing jumps to."""
    return _message(DELETE_CHAIN, 0, text(1, table), text(3, chain))


def new_rule(
    table: str, chain: str, expressions: bytes, line: str = "", before: int | None = None, first: bool = False
) -> bytes:
    """A rule at the chain's end; `first` at its beginning, or `before` the rule of a handle. Its line is kept as a comment.

    Raises
    ------
    ValueError
        When the line is too long to be kept.
    """
    parts = [text(1, table), text(2, chain), nest(4, expressions)]
    if before is not None:
        parts.append(be64(6, before))
    if line:
        kept = line.encode() + b"\0"
        if len(kept) > MOST_COMMENT_BYTES:
            raise ValueError(f"a rule may be {MOST_COMMENT_BYTES - 1} characters long, this one has {len(kept) - 1}")
        parts.append(attribute(7, bytes([_COMMENT, len(kept)]) + kept))
    return _message(NEW_RULE, CREATE | (0 if first or before is not None else APPEND), *parts)


def delete_rule(table: str, chain: str, handle: int | None = None) -> bytes:
    """Delete a rule, or all of a chain's."""
    return _message(DELETE_RULE, 0, text(1, table), text(2, chain), *([be64(3, handle)] if handle is not None else []))


def list_chains() -> bytes:
    """Ask for all chains."""
    return _message(GET_CHAIN, NLM_F_DUMP)


def list_rules(table: str, zero: bool = False, chain: str = "") -> bytes:
    """Ask for the rules of a table; `zero` sets what they have counted to nothing."""
    parts = [text(1, table), *([text(2, chain)] if chain else [])]
    return _message(ZERO_RULE if zero else GET_RULE, NLM_F_DUMP, *parts)


def _text(data: bytes) -> str:
    return data.rstrip(b"\0").decode(errors="replace")


def _counted(data: bytes, packets_kind: int, bytes_kind: int) -> tuple[int, int]:
    found = {kind: int.from_bytes(value, "big") for kind, value in attributes(data)}
    return found.get(packets_kind, 0), found.get(bytes_kind, 0)


def read_chain(body: bytes) -> Chain:
    """A chain of a dump."""
    found = dict(attributes(body[_HEADER.size :]))
    policy = ""
    if 4 in found:
        code = int.from_bytes(found.get(5, b"\1"), "big")
        policy = next((name for name, number in _VERDICTS.items() if number == code), "")
    packets, count_bytes = _counted(found.get(8, b""), 2, 1)
    return Chain(
        _text(found[1]), _text(found[3]), policy, packets, count_bytes, int.from_bytes(found.get(6, b""), "big")
    )


def read_rule(body: bytes) -> Told:
    """A rule of a dump; one that another program made has no line."""
    found = dict(attributes(body[_HEADER.size :]))
    packets = count_bytes = 0
    for _, element in attributes(found.get(4, b"")):
        inside = dict(attributes(element))
        if _text(inside.get(1, b"")) == "counter":
            packets, count_bytes = _counted(inside.get(2, b""), 2, 1)
    comment = found.get(7, b"")
    line = _text(comment[2 : 2 + comment[1]]) if len(comment) > 2 and comment[0] == _COMMENT else ""
    return Told(_text(found[2]), int.from_bytes(found[3], "big"), line, packets, count_bytes)
