"""Captures as pcapng files (draft-ietf-opsawg-pcapng): an interface for each end of a link."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from netlab.captures.filters import Keep
from netlab.captures.frames import Bytes, Frames, Integers, Mask, copy, join, records

SUFFIX = ".pcapng"
SECTION, INTERFACE, ENHANCED = 0x0A0D0D0A, 1, 6
BYTE_ORDER = 0x1A2B3C4D
LINK_ETHERNET = 1
OPTION_END, OPTION_COMMENT, IF_NAME, IF_TSRESOL, EPB_FLAGS, SHB_USERAPPL = 0, 1, 2, 9, 2, 4
INBOUND, OUTBOUND = 1, 2
_BLOCK = struct.Struct("<II")
_HEAD = np.dtype([(name, "<u4") for name in ("kind", "size", "interface", "high", "low", "kept", "length")])
_TAIL = np.dtype(
    [("flags", "<u2"), ("flags_bytes", "<u2"), ("flag", "<u4"), ("end", "<u2"), ("end_bytes", "<u2"), ("size", "<u4")]
)


class Origin(NamedTuple):
    """When a run began on the clock of its packets, in ns, and which node has which address."""

    ns: int
    nodes: dict[str, str]


class Captured(NamedTuple):
    """What a file has: its frames, of each the interface's name and whether it departs there."""

    origin: Origin
    frames: Frames
    interfaces: list[str]
    interface: NDArray[np.uint32]
    departs: Mask


def write_pcapng(
    path: Path, ends: Mapping[str, tuple[Frames, Frames]], snap_bytes: int, origin: Origin, keep: Keep
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
        Says which frames to write.

    Returns
    -------
    int
        Packets written.
    """
    blocks = [
        _block(
            SECTION,
            struct.pack("<IHHq", BYTE_ORDER, 1, 0, -1)
            + _option(OPTION_COMMENT, json.dumps(origin._asdict()).encode())
            + _option(SHB_USERAPPL, b"netlab")
            + _option(OPTION_END, b""),
        )
    ]
    parts, numbers, flags = [], [], []
    for number, (name, sides) in enumerate(ends.items()):
        options = _option(IF_NAME, name.encode()) + _option(IF_TSRESOL, b"\x09") + _option(OPTION_END, b"")
        blocks.append(_block(INTERFACE, struct.pack("<HHI", LINK_ETHERNET, 0, snap_bytes) + options))
        for flag, frames in zip((OUTBOUND, INBOUND), sides, strict=True):
            parts.append(frames.take(keep(frames.heads)))
            numbers.append(np.full(len(parts[-1]), number))
            flags.append(np.full(len(parts[-1]), flag))
    frames, interface, side = join(parts), np.concatenate(numbers), np.concatenate(flags)
    order = np.lexsort((side, interface, frames.t_ns))
    with path.open("wb") as file:
        file.write(b"".join(blocks))
        _enhanced(frames.take(order), interface[order], side[order]).tofile(file)
    return len(frames)


def _enhanced(frames: Frames, interface: Integers, flag: Integers) -> Bytes:
    """A block for each frame."""
    padded = frames.kept + -frames.kept % 4
    sizes = _HEAD.itemsize + padded + _TAIL.itemsize
    starts = np.cumsum(sizes) - sizes
    out = np.zeros(int(sizes.sum()), np.uint8)
    copy(frames.data, frames.starts, out, starts + _HEAD.itemsize, frames.kept)
    head, tail = np.zeros(len(frames), _HEAD), np.zeros(len(frames), _TAIL)
    head["kind"], head["size"], head["interface"] = ENHANCED, sizes, interface
    head["high"], head["low"] = frames.t_ns >> 32, frames.t_ns & 0xFFFFFFFF
    head["kept"], head["length"] = frames.kept, frames.length_bytes
    tail["flags"], tail["flags_bytes"], tail["flag"], tail["size"] = EPB_FLAGS, 4, flag, sizes
    for rows, at in ((head, starts), (tail, starts + _HEAD.itemsize + padded)):
        width = rows.itemsize
        copy(rows.view(np.uint8), np.arange(len(rows)) * width, out, at, np.full(len(rows), width))
    return out


def _option(code: int, value: bytes) -> bytes:
    return struct.pack("<HH", code, len(value)) + value + bytes(-len(value) % 4)


def _block(kind: int, body: bytes) -> bytes:
    size = 12 + len(body)
    return struct.pack("<II", kind, size) + body + struct.pack("<I", size)


def read_pcapng(raw: bytes) -> Captured:
    """Read what `write_pcapng` wrote.

    Raises
    ------
    ValueError, IndexError, struct.error, TypeError
        When it is something else.
    """
    interfaces: list[str] = []
    origin, at = Origin(0, {}), 0
    places: list[int] = []
    if _BLOCK.unpack_from(raw)[0] != SECTION:
        raise ValueError(raw[:4])
    while at < len(raw):
        kind, size = _BLOCK.unpack_from(raw, at)
        if size < 12:
            raise ValueError(size)
        if kind == ENHANCED:
            places.append(at)
        elif kind == SECTION:
            (length,) = struct.unpack_from("<H", raw, at + 26)
            origin = Origin(**json.loads(raw[at + 28 : at + 28 + length]))
        elif kind == INTERFACE:
            length = struct.unpack_from("<H", raw, at + 18)[0]
            interfaces.append(raw[at + 20 : at + 20 + length].decode())
        at += size
    data, starts = np.frombuffer(raw, np.uint8), np.array(places, np.int64)
    heads = records(data, starts, _HEAD)
    tails = records(data, starts + heads["size"] - _TAIL.itemsize, _TAIL)
    frames = Frames(
        heads["high"].astype(np.int64) << 32 | heads["low"],
        heads["length"].astype(np.int64),
        data,
        starts + _HEAD.itemsize,
        heads["kept"].astype(np.int64),
    )
    return Captured(origin, frames, interfaces, heads["interface"], tails["flag"] & 3 == OUTBOUND)
