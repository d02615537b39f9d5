"""Frames of a capture, many at once: a capture has hundreds of thousands of them, and each costs Python some
microseconds where it is looked at alone. So all are arrays: the captured bytes stay in one buffer, and a field of the
headers is read for all frames together.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from netlab.base.headers import (
    ETHERNET_HEADER_BYTES,
    IP_HEADER_BYTES,
    TCP_HEADER_BYTES,
    TCP_TIMESTAMPS_BYTES,
    UDP_HEADER_BYTES,
)
from netlab.base.units import NS_PER_S

COPY_BYTES = 1 << 20
"""The number of bytes that are copied at once."""
CUT_FRAMES = 1 << 14
"""The number of frames into which large segments are cut at once."""
Integers = NDArray[np.int64]
Bytes = NDArray[np.uint8]
Mask = NDArray[np.bool_]

TCP_BYTES = TCP_HEADER_BYTES - TCP_TIMESTAMPS_BYTES
"""Without options."""
IPV4 = 0x0800
ARP = 0x0806
TCP, UDP = 6, 17
SYN, ACK = 0x02, 0x10

RECORD = struct.Struct("=II")
NEXT_OFFSET = struct.Struct("=I")
GSO_TCP, GSO_UDP = 1, 5
MIN_EQUAL_DISTANCES = 16
"""The number of equally long packets in a row after which the next packets are examined together."""

# The kernel's tpacket3_hdr and, right before the frame, virtio_net_hdr.
RING_HEAD = np.dtype(
    [(name, "=u4") for name in ("following", "seconds", "ns", "kept", "length", "status")]
    + [("frame", "=u2"), ("net", "=u2")]
)
VIRTIO_HEAD = np.dtype(
    [("flags", "u1"), ("gso", "u1")] + [(name, "=u2") for name in ("head", "gso_bytes", "begin", "offset")]
)
IP_HEAD = np.dtype(
    [
        *(
            ("macs", "V12"),
            ("kind", ">u2"),
            ("version", "u1"),
            ("tos", "u1"),
            ("total", ">u2"),
            ("identification", ">u2"),
        ),
        *(("fragment", ">u2"), ("ttl", "u1"), ("protocol", "u1"), ("checksum", ">u2"), ("src", ">u4"), ("dst", ">u4")),
    ]
)
TCP_HEAD = np.dtype(
    [
        *(("src_port", ">u2"), ("dst_port", ">u2"), ("seq", ">u4"), ("ack", ">u4"), ("offset", "u1"), ("flags", "u1")),
        *((name, ">u2") for name in ("window", "checksum", "urgent")),
    ]
)
UDP_HEAD = np.dtype([(name, ">u2") for name in ("src_port", "dst_port", "size", "checksum")])


@dataclass(frozen=True)
class Frames:
    """Captured frames of one place, as arrays with an entry for each frame, in the order in which they were seen."""

    t_ns: Integers
    """The capture time of each frame in ns."""
    length_bytes: Integers
    """The original length of each frame."""
    data: Bytes
    """A buffer with the captured bytes of all frames."""
    starts: Integers
    """The offset of each frame in `data`."""
    size_bytes: Integers
    """The number of captured bytes of each frame."""

    def __len__(self) -> int:
        """Return the number of frames."""
        return len(self.t_ns)

    def take(self, which: Any) -> Frames:
        """Return the frames that `which`, a NumPy index or mask, chooses, in its order; the bytes are shared."""
        return Frames(self.t_ns[which], self.length_bytes[which], self.data, self.starts[which], self.size_bytes[which])

    def frame(self, number: int) -> bytes:
        """Return the captured bytes of frame `number`, counted from 0."""
        start = int(self.starts[number])
        return self.data[start : start + int(self.size_bytes[number])].tobytes()

    @cached_property
    def heads(self) -> Heads:
        """The Ethernet, IP, TCP and UDP headers of all frames."""
        return Heads(self)


class Heads:
    """Headers of frames: an array for each field with an entry for each frame, meaningless if the frame lacks it.

    Attributes
    ----------
    kind : array
        The EtherType in the Ethernet header.
    ip, tcp, udp : array of bool
        True for frames with an IPv4 packet, with the header of a TCP segment, with the header of a UDP datagram.
    protocol : array
        The number in the IP header, 0 in other frames.
    """

    def __init__(self, frames: Frames) -> None:
        """Read the Ethernet and IPv4 headers of all frames, and find TCP's and UDP's heads, which are read when used."""
        self._data, self._starts = frames.data, frames.starts
        first = records(frames.data, frames.starts, IP_HEAD)
        self.first = first
        self.kind = np.where(frames.size_bytes >= ETHERNET_HEADER_BYTES, first["kind"], 0)
        self.ip: Mask = (self.kind == IPV4) & (frames.size_bytes >= ETHERNET_HEADER_BYTES + IP_HEADER_BYTES)
        self.protocol = np.where(self.ip, first["protocol"], 0)
        self.ip_bytes: Integers = np.where(self.ip, (first["version"] & 0xF).astype(np.int64) * 4, IP_HEADER_BYTES)
        self.transport: Integers = ETHERNET_HEADER_BYTES + self.ip_bytes
        complete = self.ip & (first["fragment"] & 0x1FFF == 0)
        self.tcp: Mask = complete & (self.protocol == TCP) & (frames.size_bytes >= self.transport + TCP_BYTES)
        self.udp: Mask = complete & (self.protocol == UDP) & (frames.size_bytes >= self.transport + UDP_HEADER_BYTES)

    @cached_property
    def tcp_head(self) -> NDArray[Any]:
        """The TCP header of each frame, as an array of `TCP_HEAD` records; meaningless for a frame without TCP."""
        return records(self._data, self._starts + self.transport, TCP_HEAD)

    @cached_property
    def udp_head(self) -> NDArray[Any]:
        """The UDP header of each frame, as an array of `UDP_HEAD` records; meaningless for a frame without UDP."""
        return records(self._data, self._starts + self.transport, UDP_HEAD)

    @cached_property
    def tcp_bytes(self) -> Integers:
        """The length of each frame's TCP header in bytes, with options."""
        found: Integers = (self.tcp_head["offset"] >> 4).astype(np.int64) * 4
        return found

    @cached_property
    def payload_bytes(self) -> Integers:
        """The number of data bytes of TCP or UDP in each frame on the wire, even if not captured; else any number."""
        data: Integers = self.first["total"].astype(np.int64) - self.ip_bytes - self.tcp_bytes
        return (
            np.where(self.udp, self.udp_head["size"].astype(np.int64) - UDP_HEADER_BYTES, data)
            if self.udp.any()
            else data
        )

    def options(self, number: int) -> bytes:
        """Return the bytes of the TCP options of frame `number`, counted from 0."""
        start = int(self._starts[number] + self.transport[number])
        return self._data[start + TCP_BYTES : start + int(self.tcp_bytes[number])].tobytes()


def records(data: Bytes, at: Integers, form: np.dtype[Any]) -> NDArray[Any]:
    """Return the records of type `form` at offsets `at` of a buffer, at any alignment; zeros follow its last byte."""
    if not len(at):
        return np.empty(0, form)
    size = form.itemsize
    last = len(data) - size
    if last >= 0 and int(at.max()) <= last:
        structures: NDArray[Any] = sliding_window_view(data, size)[at].view(form)[:, 0]
        return structures
    found = np.zeros(len(at), form)
    inside = at <= last
    if inside.any():
        found[inside] = sliding_window_view(data, size)[at[inside]].view(form)[:, 0]
    cut = np.flatnonzero(~inside & (at < len(data)))
    if len(cut):
        # The buffer's last bytes alone are copied.
        begin = max(0, last + 1)
        end = np.concatenate([data[begin:], np.zeros(size, np.uint8)])
        found[cut] = sliding_window_view(end, size)[at[cut] - begin].view(form)[:, 0]
    return found


def distinct_sizes(sizes: Integers) -> list[int]:
    """Return each of the sizes once, in ascending order; they are few and small, so counting is faster than sorting."""
    return [int(size) for size in np.flatnonzero(np.bincount(sizes.astype(np.intp, copy=False)))]


def copy(source: Bytes, begins: Integers, target: Bytes, to: Integers, sizes: Integers) -> None:
    """Copy the ranges of `source` at `begins`, with these `sizes` in bytes, to the offsets `to` of `target`."""
    for size in distinct_sizes(sizes):
        if size > 0:
            chosen = np.flatnonzero(sizes == size)
            rows = sliding_window_view(target, size, writeable=True)
            # In parts: numpy copies what an index chooses once more.
            step = max(1, COPY_BYTES // size)
            for begin in range(0, len(chosen), step):
                part = chosen[begin : begin + step]
                rows[to[part]] = sliding_window_view(source, size)[begins[part]]


def join(parts: Sequence[Frames]) -> Frames:
    """Return all frames of several places in one object, one place after the other, with their bytes in one buffer."""
    moves = np.cumsum([0, *(len(part.data) for part in parts)])
    return Frames(
        np.concatenate([part.t_ns for part in parts]),
        np.concatenate([part.length_bytes for part in parts]),
        np.concatenate([part.data for part in parts]),
        np.concatenate([part.starts + move for part, move in zip(parts, moves, strict=False)]),
        np.concatenate([part.size_bytes for part in parts]),
    )


# From the agent's files ------------------------------------------------------------------------------------------


def read_ring(raw: bytes) -> Frames:
    """Return the frames in `raw`, the agent's copy of a packet ring, with large segments cut as they are on a wire."""
    parts: list[Integers] = []
    at = 0
    while at + RECORD.size <= len(raw):
        packets, size = RECORD.unpack_from(raw, at)
        parts += _packet_offsets(raw, at + RECORD.size, packets)
        at += RECORD.size + size
    places = np.concatenate(parts) if parts else np.empty(0, np.int64)
    data = np.frombuffer(raw, np.uint8)
    heads = records(data, places, RING_HEAD)
    starts = places + heads["frame"]
    virtio = records(data, starts - VIRTIO_HEAD.itemsize, VIRTIO_HEAD)
    frames = Frames(
        heads["seconds"].astype(np.int64) * NS_PER_S + heads["ns"],
        heads["length"].astype(np.int64),
        data,
        starts,
        heads["kept"].astype(np.int64),
    )
    return cut(frames, virtio["gso"] & 0x7F, virtio["gso_bytes"].astype(np.int64))


def _packet_offsets(raw: bytes, at: int, packets: int) -> list[Integers]:
    """Return the offsets of the `packets` packets of a ring block that begins at offset `at` of `raw`, as arrays to be
    concatenated. Each packet has the distance to the next, and many distances in a row are equal.
    """
    found: list[Integers] = []
    single: list[int] = []
    last_distance = alike = 0
    left = packets
    while left > 0:
        (following,) = NEXT_OFFSET.unpack_from(raw, at)
        alike = alike + 1 if following == last_distance else 0
        last_distance = following
        if alike < MIN_EQUAL_DISTANCES or not following:
            single.append(at)
            if not following:
                break
            at, left = at + following, left - 1
            continue
        # Take all packets for which the guess holds at once; the guess grows with the run.
        count = min(left, 4 * alike, (len(raw) - NEXT_OFFSET.size - at) // following + 1)
        others = np.ndarray(count, "=u4", raw, at, (following,)) != following
        run = int(others.argmax()) if others.any() else count
        found += [np.array(single, np.int64), at + following * np.arange(run)]
        single = []
        at, left, alike = at + following * run, left - run, alike + run
    return [*found, np.array(single, np.int64)]


def cut(frames: Frames, gso: NDArray[Any], payload_bytes: Integers) -> Frames:
    """Return the frames with each large segment replaced by the frames that a network card makes of it. `gso` is
    GSO_TCP or GSO_UDP for large segments, any other number for others; `payload_bytes` is the data of each new frame.
    """
    large = np.flatnonzero(np.isin(gso, (GSO_TCP, GSO_UDP)) & (payload_bytes > 0))
    segments = frames.take(large)
    if not (known := segments.heads.tcp | segments.heads.udp).all():
        large, segments = large[known], segments.take(known)
    if not len(large):
        return frames
    udp, payload_bytes = gso[large] == GSO_UDP, payload_bytes[large]
    head_bytes = segments.heads.transport + np.where(udp, UDP_HEADER_BYTES, segments.heads.tcp_bytes)
    left = np.maximum(0, segments.length_bytes - head_bytes)
    # `repeat` and `bincount` take only intp, which is 32 bits in a browser.
    counts = (-(-left // payload_bytes)).astype(np.intp)
    kept_bytes = np.minimum(head_bytes, segments.size_bytes)
    cut_bytes = counts * kept_bytes + np.minimum(segments.size_bytes - kept_bytes, left)

    # Captures may be large: all bytes are in one new buffer, without the large segments, and these are cut in parts.
    others = np.delete(np.arange(len(frames)), large)
    sizes = frames.size_bytes[others]
    at = int(sizes.sum())
    data = np.empty(at + int(cut_bytes.sum()), np.uint8)
    copy(frames.data, frames.starts[others], data, np.cumsum(sizes) - sizes, sizes)
    repeats = np.ones(len(frames), np.intp)
    repeats[large] = counts
    first = np.cumsum(repeats) - repeats
    found = Frames(
        np.repeat(frames.t_ns, repeats),
        np.repeat(frames.length_bytes, repeats),
        data,
        np.empty(int(repeats.sum()), np.int64),
        np.repeat(frames.size_bytes, repeats),
    )
    found.starts[first[others]] = np.cumsum(sizes) - sizes
    part_of = np.cumsum(counts) // CUT_FRAMES
    for part in np.split(np.arange(len(large)), np.flatnonzero(np.diff(part_of)) + 1):
        made = _cut_segments(
            segments.take(part), udp[part], payload_bytes[part], head_bytes[part], counts[part], data[at:]
        )
        places = _ranges(first[large[part]], counts[part])
        found.length_bytes[places], found.size_bytes[places] = made.length_bytes, made.size_bytes
        found.starts[places] = made.starts + at
        at += int(cut_bytes[part].sum())
    return found


def _cut_segments(
    segments: Frames, udp: Mask, payload_bytes: Integers, head_bytes: Integers, counts: NDArray[np.intp], data: Bytes
) -> Frames:
    """Return the frames that a network card makes of large segments, and write their bytes to the begin of `data`. Each
    other array has an entry for a segment: True for UDP, the data of a frame, the length of the headers, the number of
    frames.
    """
    heads = segments.heads
    # From here on a row is a frame; `segment` is the number of its large segment.
    segment = np.repeat(np.arange(len(segments)), counts)
    number = _ranges(np.zeros_like(counts), counts)
    offset, head_bytes, udp = number * payload_bytes[segment], head_bytes[segment], udp[segment]
    size = np.minimum(payload_bytes[segment], np.maximum(0, segments.length_bytes[segment] - head_bytes) - offset)
    head, transport = np.minimum(head_bytes, segments.size_bytes[segment]), heads.transport[segment]
    body = np.clip(segments.size_bytes[segment] - head - offset, 0, size)
    sizes = head + body
    starts = np.cumsum(sizes) - sizes
    copy(segments.data, segments.starts[segment], data, starts, head)
    copy(segments.data, segments.starts[segment] + head + offset, data, starts + head, body)

    lengths = head_bytes + size
    _write_integers(data, starts + ETHERNET_HEADER_BYTES + 2, lengths - ETHERNET_HEADER_BYTES, 2)
    identification = heads.first["identification"][segment].astype(np.int64) + number
    _write_integers(data, starts + ETHERNET_HEADER_BYTES + 4, identification, 2)
    _write_checksums(data, starts, heads.ip_bytes[segment])
    _write_integers(data, (starts + transport + 4)[udp], (UDP_HEADER_BYTES + size)[udp], 2)
    sequence = heads.tcp_head["seq"][segment].astype(np.int64) + offset
    _write_integers(data, (starts + transport + 4)[~udp], sequence[~udp], 4)
    # FIN and PSH belong to the last one, CWR to the first (RFC 3168, section 6.1.2).
    flags = starts + transport + 13
    data[flags[~udp & (number + 1 < counts[segment])]] &= 0xF6
    data[flags[~udp & (number > 0)]] &= 0x7F
    return Frames(segments.t_ns[segment], lengths, data, starts, sizes)


def _ranges(firsts: NDArray[np.intp], counts: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return, for each number in `firsts`, as many successive integers from it on as `counts` says, in one array."""
    found: NDArray[np.intp] = np.repeat(firsts - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
    return found


def _write_integers(data: Bytes, at: Integers, values: Integers, size: int) -> None:
    """Write each of `values` into `data` at its offset in `at`, as an integer of `size` bytes in network order."""
    for place in range(size):
        data[at + place] = (values >> (8 * (size - 1 - place))) & 0xFF


def _write_checksums(data: Bytes, starts: Integers, ip_bytes: Integers) -> None:
    """Write the IP header checksums of the frames at `starts` in `data`; `ip_bytes` has the headers' lengths."""
    at = starts + ETHERNET_HEADER_BYTES
    _write_integers(data, at + 10, np.zeros_like(at), 2)
    total = np.zeros_like(at)
    for place in range(0, int(ip_bytes.max(initial=0)), 2):
        chosen = place < ip_bytes
        first_byte = at[chosen] + place
        total[chosen] += data[first_byte].astype(np.int64) << 8 | data[first_byte + 1]
    for _ in range(2):
        total = (total & 0xFFFF) + (total >> 16)
    _write_integers(data, at + 10, ~total & 0xFFFF, 2)
