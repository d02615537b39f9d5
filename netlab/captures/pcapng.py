"""Captures as pcapng files (draft-ietf-opsawg-pcapng): an interface for each end of a link."""

import json
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from netlab.captures.filters import Filter
from netlab.captures.frames import Bytes, Frames, Integers, Mask, distinct_sizes, join, records

SUFFIX = ".pcapng"
SECTION, INTERFACE, ENHANCED = 0x0A0D0D0A, 1, 6
BYTE_ORDER = 0x1A2B3C4D
LINK_ETHERNET = 1
OPTION_END, OPTION_COMMENT, IF_NAME, IF_TSRESOL, EPB_FLAGS, SHB_USERAPPL = 0, 1, 2, 9, 2, 4
INBOUND, OUTBOUND = 1, 2
_BLOCK = struct.Struct("<II")
_MIN_BYTES = 12
PART_FRAMES = 4096
_HEAD = np.dtype([(name, "<u4") for name in ("kind", "size", "interface", "high", "low", "kept", "length")])
_TAIL = np.dtype(
    [("flags", "<u2"), ("flags_bytes", "<u2"), ("flag", "<u4"), ("end", "<u2"), ("end_bytes", "<u2"), ("size", "<u4")]
)


class Origin(NamedTuple):
    """The start of a run on the clock of its packets, in ns since the epoch, and the node of each IPv4 address."""

    ns: int
    nodes: dict[str, str]


class CaptureFile(NamedTuple):
    """The content of a pcapng file: `origin`, `frames`, the names of its `interfaces`, and for each frame the index of
    its `interface` in that list and whether it `departs` from there (else it arrives).
    """

    origin: Origin
    frames: Frames
    interfaces: list[str]
    interface: NDArray[np.uint32]
    departs: Mask


def write_pcapng(
    path: Path, ends: Mapping[str, tuple[Frames, Frames]], snap_bytes: int, origin: Origin, keep: Filter
) -> int:
    """Write a capture to the file `path`, in order of time, and return the number of frames written. `ends` has by
    interface the frames that departed and those that arrived; `keep` returns a mask of those to write for their
    headers. `snap_bytes`, the most bytes kept of a frame, and `origin` are noted in the file.
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
        # A part at a time, so that what is made stays in the processor's cache.
        for begin in range(0, len(order), PART_FRAMES):
            part = order[begin : begin + PART_FRAMES]
            _packet_blocks(frames.take(part), interface[part], side[part]).tofile(file)
    return len(frames)


def _frame_blocks(raw: bytes, at: int) -> Integers:
    """Return the offsets of the blocks of frames in `raw`, a pcapng file's content, from offset `at` to its end.

    Each tells where the next one is, and following them one by one takes longer than all else that is read. So the places are
    guessed from what a block begins with, and taken if each ends where the next begins.
    """
    words = np.frombuffer(raw, "<u4", offset=at, count=(len(raw) - at) // 4)
    guessed = np.flatnonzero(words[:-1] == ENHANCED)
    ends = guessed + words[guessed + 1] // 4
    if len(guessed) and guessed[0] == 0 and np.array_equal(ends[:-1], guessed[1:]) and ends[-1] == len(words):
        return at + 4 * guessed
    return np.array([place for kind, place in _blocks(raw, at) if kind == ENHANCED], np.int64)


def _blocks(raw: bytes, at: int) -> Iterator[tuple[int, int]]:
    """Yield kind and offset of each pcapng block from offset `at` on; ValueError or struct.error for a damaged file."""
    while at < len(raw):
        kind, size = _BLOCK.unpack_from(raw, at)
        if size < _MIN_BYTES:
            raise ValueError(size)
        yield kind, at
        at += size


def _packet_blocks(frames: Frames, interface: Integers, flag: Integers) -> Bytes:
    """Return the bytes of an enhanced packet block per frame, with its interface's number and INBOUND or OUTBOUND."""
    padded = frames.size_bytes + -frames.size_bytes % 4
    sizes = _HEAD.itemsize + padded + _TAIL.itemsize
    starts = np.cumsum(sizes) - sizes
    out = np.zeros(int(sizes.sum()), np.uint8)
    head, tail = np.zeros(len(frames), _HEAD), np.zeros(len(frames), _TAIL)
    head["kind"], head["size"], head["interface"] = ENHANCED, sizes, interface
    head["high"], head["low"] = frames.t_ns >> 32, frames.t_ns & 0xFFFFFFFF
    head["kept"], head["length"] = frames.size_bytes, frames.length_bytes
    tail["flags"], tail["flags_bytes"], tail["flag"], tail["size"] = EPB_FLAGS, 4, flag, sizes
    heads, tails = (rows.view(np.uint8).reshape(len(frames), -1) for rows in (head, tail))
    for num_bytes in distinct_sizes(frames.size_bytes):
        chosen = np.flatnonzero(frames.size_bytes == num_bytes)
        size = int(sizes[chosen[0]])
        rows = np.zeros((len(chosen), size), np.uint8)
        rows[:, : _HEAD.itemsize] = heads[chosen]
        if num_bytes:
            rows[:, _HEAD.itemsize : _HEAD.itemsize + num_bytes] = sliding_window_view(frames.data, num_bytes)[
                frames.starts[chosen]
            ]
        rows[:, size - _TAIL.itemsize :] = tails[chosen]
        sliding_window_view(out, size, writeable=True)[starts[chosen]] = rows
    return out


def _option(code: int, value: bytes) -> bytes:
    """Return the bytes of the pcapng option with this code and value, padded to a multiple of four bytes."""
    return struct.pack("<HH", code, len(value)) + value + bytes(-len(value) % 4)


def _block(kind: int, body: bytes) -> bytes:
    """Return the bytes of a pcapng block of the type number `kind`; its `body` is already padded to four bytes."""
    size = 12 + len(body)
    return struct.pack("<II", kind, size) + body + struct.pack("<I", size)


def read_pcapng(raw: bytes) -> CaptureFile:
    """Return the content of a pcapng file that `write_pcapng` wrote, from its bytes. Raises ValueError, IndexError,
    struct.error, TypeError when it is something else.
    """
    interfaces: list[str] = []
    origin, frames_at = Origin(0, {}), len(raw)
    if _BLOCK.unpack_from(raw)[0] != SECTION:
        raise ValueError(raw[:4])
    for kind, at in _blocks(raw, 0):
        if kind == SECTION:
            (length,) = struct.unpack_from("<H", raw, at + 26)
            origin = Origin(**json.loads(raw[at + 28 : at + 28 + length]))
        elif kind == INTERFACE:
            length = struct.unpack_from("<H", raw, at + 18)[0]
            interfaces.append(raw[at + 20 : at + 20 + length].decode())
        elif kind == ENHANCED:
            # All others stand before the frames.
            frames_at = at
            break
    data, starts = np.frombuffer(raw, np.uint8), _frame_blocks(raw, frames_at)
    heads = records(data, starts, _HEAD)
    tails = records(data, starts + heads["size"] - _TAIL.itemsize, _TAIL)
    frames = Frames(
        heads["high"].astype(np.int64) << 32 | heads["low"],
        heads["length"].astype(np.int64),
        data,
        starts + _HEAD.itemsize,
        heads["kept"].astype(np.int64),
    )
    return CaptureFile(origin, frames, interfaces, heads["interface"], tails["flag"] & 3 == OUTBOUND)
