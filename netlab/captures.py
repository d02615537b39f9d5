"""Captures: what the agent wrote of a link becomes a pcapng file and a table.

A capture has two interfaces, the link's two ends. What leaves an end is stamped when the first of its bits goes onto the
wire, what arrives when the last has come (a departure behind a queue may be early by up to a third of a frame's time, which its rate
limit has in reserve). Segments that left a host as one and would be cut by its network card
(segmentation offload) are cut here: on a wire no frame exceeds the MTU.
"""

from __future__ import annotations

import ipaddress
import json
import re
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from netlab.errors import NetlabError, ScenarioError
from netlab.values import is_integer, shown

DEFAULT_SNAP_BYTES = 96
LARGEST_SNAP_BYTES = 65_535
SMALLEST_SNAP_BYTES = 54
"""Ethernet, IPv4 and TCP headers without options."""

PACKET_COLUMNS = (
    "t_s",
    "node",
    "interface",
    "departs",
    "src",
    "dst",
    "protocol",
    "src_port",
    "dst_port",
    "seq",
    "ack",
    "flags",
    "window_bytes",
    "ecn",
    "length_bytes",
    "payload_bytes",
)
"""A row for each packet at each end.

`t_s` counts from the run's start; `departs` says whether it leaves this end or arrives at it. `ecn` has the two bits of the
IP header (RFC 3168: 0 not capable, 1 ECT(1), 2 ECT(0), 3 congestion experienced). `window_bytes` is scaled as the connection
agreed, nan where its SYN was not captured. `length_bytes` counts the Ethernet header, `payload_bytes` TCP's or UDP's data."""

RECORD = struct.Struct("=II")
PACKET = struct.Struct("=IIIIIIHH")
VIRTIO = struct.Struct("=BBHHHH")
GSO_TCP, GSO_UDP = 1, 5
ETHERNET_BYTES = 14
IPV4 = 0x0800
ARP = 0x0806
OPTION_WINDOW_SCALE = 3
PROTOCOLS = {1: "icmp", 6: "tcp", 17: "udp"}
FLAGS = "FSRPAUEC"
NS = 1_000_000_000
SUFFIX = ".pcapng"


@dataclass(frozen=True)
class Capture:
    """Write down the packets of a link while a run goes on.

    Parameters
    ----------
    a, b : str
        The link's nodes. With several links between them, the first.
    snap_bytes : int
        Bytes to keep of each packet, 54 to 65535, from its Ethernet header on.
    filter : str
        Which packets to keep: tcp, udp, icmp, arp, `host ADDRESS`, `port NUMBER`, joined by and, or, not and parentheses. Empty is all.
    name : str
        The file's name without .pcapng; empty is `a-b`.

    Examples
    --------
    >>> Capture("r1", "h2", filter="tcp and port 5001").problems("captures 1")
    []
    """

    a: str
    b: str
    snap_bytes: int = DEFAULT_SNAP_BYTES
    filter: str = ""
    name: str = ""

    @property
    def label(self) -> str:
        """The file's name without its ending."""
        return self.name or f"{self.a}-{self.b}"

    def problems(self, where: str) -> list[str]:
        """Every mistake in the fields, a sentence each."""
        found = []
        if not (is_integer(self.snap_bytes) and SMALLEST_SNAP_BYTES <= self.snap_bytes <= LARGEST_SNAP_BYTES):
            found.append(
                f"{where}: snap_bytes must be a whole number from {SMALLEST_SNAP_BYTES} to {LARGEST_SNAP_BYTES}, "
                f"got {shown(self.snap_bytes)}"
            )
        if (
            not isinstance(self.name, str)
            or not re.fullmatch(r"[A-Za-z0-9_.-]{0,100}", self.name)
            or self.name.startswith(".")
        ):
            found.append(f"{where}: name must consist of letters, digits, -, _ and ., got {shown(self.name)}")
        try:
            parse_filter(self.filter)
        except ScenarioError as error:
            found += [f"{where}: {problem}" for problem in error.problems]
        return found


class Origin(NamedTuple):
    """When a run began on the clock of its packets, in ns, and which node has which address."""

    ns: int
    nodes: dict[str, str]


class Packet(NamedTuple):
    """A packet at one end: when (ns), how long it was, and its first bytes."""

    t_ns: int
    length_bytes: int
    data: bytes


# From the agent's files ------------------------------------------------------------------------------------------


def read_ring(data: bytes) -> Iterator[Packet]:
    """Packets of what the agent copied from its ring, each as it would be on the wire."""
    at = 0
    while at + RECORD.size <= len(data):
        packets, size = RECORD.unpack_from(data, at)
        block, at = at + RECORD.size, at + RECORD.size + size
        for _ in range(packets):
            following, seconds, ns, kept, length, _status, frame, _net = PACKET.unpack_from(data, block)
            start = block + frame
            _flags, gso, _head, gso_bytes, _begin, _offset = VIRTIO.unpack_from(data, start - VIRTIO.size)
            packet = Packet(seconds * NS + ns, length, data[start : start + kept])
            if gso & 0x7F in (GSO_TCP, GSO_UDP) and gso_bytes:
                yield from cut(packet, gso_bytes, udp=gso & 0x7F == GSO_UDP)
            else:
                yield packet
            if not following:
                break
            block += following


def cut(packet: Packet, payload_bytes: int, *, udp: bool) -> Iterator[Packet]:
    """The frames that a network card makes of one large segment."""
    data = packet.data
    ip_bytes = (data[ETHERNET_BYTES] & 0xF) * 4
    transport = ETHERNET_BYTES + ip_bytes
    head_bytes = transport + (8 if udp else (data[transport + 12] >> 4) * 4)
    left, number, offset = packet.length_bytes - head_bytes, 0, 0
    (identification,) = struct.unpack_from("!H", data, ETHERNET_BYTES + 4)
    (sequence,) = struct.unpack_from("!I", data, transport + 4)
    while left > 0:
        size = min(payload_bytes, left)
        left -= size
        frame = bytearray(data[:head_bytes])
        struct.pack_into("!H", frame, ETHERNET_BYTES + 2, head_bytes - ETHERNET_BYTES + size)
        struct.pack_into("!H", frame, ETHERNET_BYTES + 4, (identification + number) & 0xFFFF)
        _write_checksum(frame, ip_bytes)
        if udp:
            struct.pack_into("!H", frame, transport + 4, 8 + size)
        else:
            struct.pack_into("!I", frame, transport + 4, (sequence + offset) & 0xFFFFFFFF)
            if left:
                # FIN and PSH belong to the last one, CWR to the first (RFC 3168, section 6.1.2).
                frame[transport + 13] &= ~0x09
            if number:
                frame[transport + 13] &= ~0x80
        body = data[head_bytes + offset : head_bytes + offset + min(size, max(0, len(data) - head_bytes))]
        yield Packet(packet.t_ns, head_bytes + size, bytes(frame) + body)
        number += 1
        offset += size


def _write_checksum(frame: bytearray, ip_bytes: int) -> None:
    struct.pack_into("!H", frame, ETHERNET_BYTES + 10, 0)
    total = sum(struct.unpack_from(f"!{ip_bytes // 2}H", frame, ETHERNET_BYTES))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    struct.pack_into("!H", frame, ETHERNET_BYTES + 10, ~total & 0xFFFF)


# Filters ---------------------------------------------------------------------------------------------------------

Keep = Callable[[bytes], bool]
_WORD = re.compile(r"\s*([()]|[^\s()]+)")
FILTER_WORDS = "tcp, udp, icmp, arp, host ADDRESS, port NUMBER, and, or, not, ( )"


def parse_filter(text: str, addresses: Mapping[str, str] | None = None) -> Keep:
    """What decides whether to keep a frame.

    Parameters
    ----------
    text : str
        See `Capture`.
    addresses : mapping, optional
        Addresses of nodes by name, which may then stand behind `host`.

    Raises
    ------
    ScenarioError
        When a word is not known or out of place.
    """
    if not isinstance(text, str):
        raise ScenarioError([f"filter must be a text such as 'tcp and port 80', got {shown(text)}"])
    words = _WORD.findall(text)
    if not words:
        return lambda _frame: True
    keep, rest = _either(words, addresses)
    if rest:
        raise _misplaced(rest[0])
    return keep


def _misplaced(word: str) -> ScenarioError:
    return ScenarioError([f"filter: {word!r} is not expected there; allowed: {FILTER_WORDS}"])


def _either(words: list[str], addresses: Mapping[str, str] | None) -> tuple[Keep, list[str]]:
    keep, words = _both(words, addresses)
    while words[:1] == ["or"]:
        other, words = _both(words[1:], addresses)
        keep = _any_of(keep, other)
    return keep, words


def _both(words: list[str], addresses: Mapping[str, str] | None) -> tuple[Keep, list[str]]:
    keep, words = _one(words, addresses)
    while words[:1] == ["and"]:
        other, words = _one(words[1:], addresses)
        keep = _all_of(keep, other)
    return keep, words


def _any_of(one: Keep, two: Keep) -> Keep:
    return lambda frame: one(frame) or two(frame)


def _all_of(one: Keep, two: Keep) -> Keep:
    return lambda frame: one(frame) and two(frame)


def _one(words: list[str], addresses: Mapping[str, str] | None) -> tuple[Keep, list[str]]:
    if not words:
        raise ScenarioError([f"filter: something is missing at its end; allowed: {FILTER_WORDS}"])
    word, rest = words[0], words[1:]
    if word == "not":
        keep, rest = _one(rest, addresses)
        return (lambda frame: not keep(frame)), rest
    if word == "(":
        keep, rest = _either(rest, addresses)
        if rest[:1] != [")"]:
            raise ScenarioError(["filter: a parenthesis is not closed"])
        return keep, rest[1:]
    if word in ("tcp", "udp", "icmp"):
        return (lambda frame: (head := _head(frame)) is not None and head["protocol"] == word), rest
    if word == "arp":
        return (lambda frame: frame[12:14] == ARP.to_bytes(2, "big")), rest
    if word == "port" and rest and rest[0].isdigit():
        port = int(rest[0])
        return (
            lambda frame: (head := _head(frame)) is not None and port in (head.get("src_port"), head.get("dst_port"))
        ), rest[1:]
    if word == "host" and rest:
        address = (addresses or {}).get(rest[0], rest[0])
        if addresses is not None:
            try:
                ipaddress.IPv4Address(address)
            except ValueError:
                raise ScenarioError([f"filter: host must be a node or an IPv4 address, got {rest[0]!r}"]) from None
        return (lambda frame: (head := _head(frame)) is not None and address in (head["src"], head["dst"])), rest[1:]
    raise _misplaced(word)


# Headers ---------------------------------------------------------------------------------------------------------


def _head(frame: bytes) -> dict[str, Any] | None:
    """Fields of a frame that holds an IPv4 packet, by the names of `PACKET_COLUMNS`; None for another."""
    if len(frame) < ETHERNET_BYTES + 20 or frame[12:14] != b"\x08\x00":
        return None
    ip_bytes = (frame[14] & 0xF) * 4
    (total,) = struct.unpack_from("!H", frame, 16)
    protocol = frame[23]
    found: dict[str, Any] = {
        "src": ".".join(map(str, frame[26:30])),
        "dst": ".".join(map(str, frame[30:34])),
        "protocol": PROTOCOLS.get(protocol, str(protocol)),
        "ecn": frame[15] & 3,
    }
    at = ETHERNET_BYTES + ip_bytes
    first = struct.unpack_from("!H", frame, 20)[0] & 0x1FFF == 0
    if protocol == 6 and first and len(frame) >= at + 20:
        src_port, dst_port, seq, ack, offset, flags, window = struct.unpack_from("!HHIIBBH", frame, at)
        found.update(
            src_port=src_port,
            dst_port=dst_port,
            seq=seq,
            ack=ack if flags & 0x10 else None,
            flags="".join(letter for bit, letter in enumerate(FLAGS) if flags >> bit & 1),
            window_bytes=window,
            window_scale=_window_scale(frame[at + 20 : at + (offset >> 4) * 4]) if flags & 2 else None,
            payload_bytes=total - ip_bytes - (offset >> 4) * 4,
        )
    elif protocol == 17 and first and len(frame) >= at + 8:
        src_port, dst_port, size = struct.unpack_from("!HHH", frame, at)
        found.update(src_port=src_port, dst_port=dst_port, payload_bytes=size - 8)
    return found


def _window_scale(options: bytes) -> int:
    """The window scale option of a SYN (RFC 7323, section 2.2), 0 without one."""
    at = 0
    while at + 2 < len(options):
        if options[at] == OPTION_WINDOW_SCALE:
            return options[at + 2]
        at += 1 if options[at] == 1 else max(2, options[at + 1])
    return 0


def _scale_windows(heads: list[dict[str, Any]]) -> None:
    """Turn the words of the headers into bytes: they count in 2**scale bytes, as both ends' SYN said; None without them."""
    scales: dict[tuple[Any, ...], int] = {}
    for head in heads:
        if head.get("window_scale") is not None:
            scales[head["src"], head["src_port"], head["dst"], head["dst_port"]] = head["window_scale"]
    for head in heads:
        if "window_bytes" in head and head.pop("window_scale") is None:
            ends = (head["src"], head["src_port"], head["dst"], head["dst_port"])
            own, other = scales.get(ends, -1), scales.get((*ends[2:], *ends[:2]), -1)
            # 0 is an end that does not scale; then neither does.
            head["window_bytes"] = None if -1 in (own, other) else head["window_bytes"] << (own if other else 0)


# pcapng (draft-ietf-opsawg-pcapng) -------------------------------------------------------------------------------

SECTION, INTERFACE, ENHANCED = 0x0A0D0D0A, 1, 6
BYTE_ORDER = 0x1A2B3C4D
LINK_ETHERNET = 1
OPTION_END, OPTION_COMMENT, IF_NAME, IF_TSRESOL, EPB_FLAGS, SHB_USERAPPL = 0, 1, 2, 9, 2, 4
INBOUND, OUTBOUND = 1, 2
_ENHANCED = struct.Struct("<IIIIIII")
_FLAGS_AND_END = struct.Struct("<HHIHHI")


def write_pcapng(
    path: Path,
    ends: Mapping[str, tuple[Sequence[Packet], Sequence[Packet]]],
    snap_bytes: int,
    origin: Origin,
    keep: Keep,
) -> int:
    """Write a capture.

    Parameters
    ----------
    path : Path
    ends : mapping
        For each interface what departed from it and what arrived at it.
    snap_bytes : int
    origin : Origin
        Noted in the file.
    keep : callable
        Says of a frame whether to write it.

    Returns
    -------
    int
        Packets written.
    """
    rows = []
    blocks = [
        _block(
            SECTION,
            struct.pack("<IHHq", BYTE_ORDER, 1, 0, -1)
            + _option(OPTION_COMMENT, json.dumps(origin._asdict()).encode())
            + _option(SHB_USERAPPL, b"netlab")
            + _option(OPTION_END, b""),
        )
    ]
    for number, (name, (departed, arrived)) in enumerate(ends.items()):
        options = _option(IF_NAME, name.encode()) + _option(IF_TSRESOL, b"\x09") + _option(OPTION_END, b"")
        blocks.append(_block(INTERFACE, struct.pack("<HHI", LINK_ETHERNET, 0, snap_bytes) + options))
        for flag, packets in ((OUTBOUND, departed), (INBOUND, arrived)):
            rows += [(packet.t_ns, number, flag, packet) for packet in packets if keep(packet.data)]
    rows.sort(key=lambda row: row[:3])
    for t_ns, number, flag, packet in rows:
        kept = len(packet.data)
        padding = -kept % 4
        size = _ENHANCED.size + kept + padding + _FLAGS_AND_END.size
        blocks.append(
            _ENHANCED.pack(ENHANCED, size, number, t_ns >> 32, t_ns & 0xFFFFFFFF, kept, packet.length_bytes)
            + packet.data
            + bytes(padding)
            + _FLAGS_AND_END.pack(EPB_FLAGS, 4, flag, OPTION_END, 0, size)
        )
    path.write_bytes(b"".join(blocks))
    return len(rows)


def _option(code: int, value: bytes) -> bytes:
    return struct.pack("<HH", code, len(value)) + value + bytes(-len(value) % 4)


def _block(kind: int, body: bytes) -> bytes:
    size = 12 + len(body)
    return struct.pack("<II", kind, size) + body + struct.pack("<I", size)


def finish(folder: Path, items: Sequence[tuple[Capture, str, Sequence[str]]], origin: Origin) -> list[Path]:
    """Make a pcapng file of what the agent wrote for each capture, and remove the agent's files.

    Parameters
    ----------
    folder : Path
        Where they are.
    items : sequence
        Each capture, the name that its files begin with, and its interfaces.
    origin : Origin

    Returns
    -------
    list of Path
        The pcapng files.
    """
    addresses = {node: address for address, node in reversed(origin.nodes.items())}
    made = []
    for item, name, interfaces in items:
        ends = {}
        for interface in interfaces:
            raws = [folder / f"{name}.{interface}.{side}" for side in ("out", "in")]
            departed, arrived = (list(read_ring(raw.read_bytes())) for raw in raws)
            ends[interface] = (departed, arrived)
            for raw in raws:
                raw.unlink()
        made.append(folder / f"{name}{SUFFIX}")
        write_pcapng(made[-1], ends, item.snap_bytes, origin, parse_filter(item.filter, addresses))
    return made


def read_packets(path: Path) -> pd.DataFrame:
    """The packets of a pcapng file as a table.

    Parameters
    ----------
    path : Path
        A file that netlab wrote.

    Returns
    -------
    pandas.DataFrame
        See `PACKET_COLUMNS`; `src` and `dst` are nodes where the address is known.

    Raises
    ------
    NetlabError
        When the file is not such a capture.
    """
    try:
        data = path.read_bytes()
        rows = list(_rows(data))
        _scale_windows(rows)
    except OSError as error:
        raise NetlabError(f"{path} cannot be read: {error.strerror}.") from None
    except (struct.error, IndexError, ValueError, TypeError):
        raise NetlabError(f"{path} is not a capture that netlab wrote.") from None
    return pd.DataFrame.from_records(rows, columns=list(PACKET_COLUMNS))


def _rows(data: bytes) -> Iterator[dict[str, Any]]:
    interfaces: list[str] = []
    origin, at = Origin(0, {}), 0
    if struct.unpack_from("<I", data)[0] != SECTION:
        raise ValueError(data[:4])
    while at < len(data):
        kind, size = struct.unpack_from("<II", data, at)
        if size < 12:
            raise ValueError(size)
        if kind == SECTION:
            (length,) = struct.unpack_from("<H", data, at + 26)
            origin = Origin(**json.loads(data[at + 28 : at + 28 + length]))
        elif kind == INTERFACE:
            length = struct.unpack_from("<H", data, at + 18)[0]
            interfaces.append(data[at + 20 : at + 20 + length].decode())
        elif kind == ENHANCED:
            _kind, _size, number, high, low, kept, length = _ENHANCED.unpack_from(data, at)
            frame = data[at + _ENHANCED.size : at + _ENHANCED.size + kept]
            flag = struct.unpack_from("<I", data, at + size - 12)[0]
            head = _head(frame) or {"protocol": "arp" if frame[12:14] == b"\x08\x06" else "other"}
            for end in ("src", "dst"):
                head[end] = origin.nodes.get(head.get(end, ""), head.get(end))
            yield {
                "t_s": ((high << 32 | low) - origin.ns) / NS,
                "node": interfaces[number].partition("-eth")[0],
                "interface": interfaces[number],
                "departs": flag & 3 == OUTBOUND,
                "length_bytes": length,
                **head,
            }
        at += size
