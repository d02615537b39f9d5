"""The packets of a link are written as it would be on the wire, and read back the same."""

import itertools
import shutil
import struct
import subprocess
import tracemalloc
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from netlab import captures
from netlab.base.errors import NetlabError, ScenarioError
from netlab.base.units import NS_PER_S
from netlab.captures import Capture
from netlab.captures import frames as frames_module
from netlab.captures.frames import GSO_TCP, GSO_UDP, RECORD, RING_HEAD, VIRTIO_HEAD, Frames, cut, read_ring
from netlab.captures.pcapng import write_pcapng
from tests.examples import examples

BLOCK_BYTES = 44
"""The bytes of a pcapng block without the packet."""


def frames_of(packets: list[tuple[int, int, bytes]]) -> Frames:
    """Frames of times in ns, lengths, and first bytes."""
    kept = np.array([len(data) for _t, _length, data in packets], np.int64)
    return Frames(
        np.array([t_ns for t_ns, _length, _data in packets], np.int64),
        np.array([length for _t, length, _data in packets], np.int64),
        np.frombuffer(b"".join(data for _t, _length, data in packets), np.uint8),
        np.cumsum(kept) - kept,
        kept,
    )


def ipv4(protocol: int, src: str, dst: str, body: bytes, ecn: int = 0) -> bytes:
    head = struct.pack(
        "!BBHHHBBH4s4s", 0x45, ecn, 20 + len(body), 7, 0x4000, 64, protocol, 0, address(src), address(dst)
    )
    return bytes(12) + b"\x08\x00" + head + body


def address(text: str) -> bytes:
    return bytes(map(int, text.split(".")))


def tcp(payload: int, flags: int = 0x10, seq: int = 1000, src_port: int = 40000, dst_port: int = 5001) -> bytes:
    head = struct.pack("!HHIIBBHHH", src_port, dst_port, seq, 77, 5 << 4, flags, 512, 0, 0)
    return ipv4(6, "10.0.0.1", "10.0.0.2", head + bytes(payload), ecn=2)


def opening(src_port: int, dst_port: int, flags: int, scale: int | None) -> bytes:
    """A SYN, with its window scale option or without."""
    options = b"" if scale is None else b"\x02\x04\x05\xb4\x01\x03\x03" + bytes([scale])
    head = struct.pack("!HHIIBBHHH", src_port, dst_port, 9, 77, (20 + len(options)) // 4 << 4, flags, 512, 0, 0)
    ends = ("10.0.0.1", "10.0.0.2") if flags == 2 else ("10.0.0.2", "10.0.0.1")
    return ipv4(6, *ends, head + options)


def udp(payload: int, dst_port: int = 53) -> bytes:
    return ipv4(17, "10.0.0.1", "10.0.0.3", struct.pack("!HHHH", 1234, dst_port, 8 + payload, 0) + bytes(payload))


ARP = bytes(12) + b"\x08\x06" + bytes(28)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("", ["tcp", "udp", "arp"]),
        ("tcp", ["tcp"]),
        ("not tcp", ["udp", "arp"]),
        ("udp and port 53", ["udp"]),
        ("port 53 or port 5001", ["tcp", "udp"]),
        ("arp or ( udp and not host h3 )", ["arp"]),
        ("host 10.0.0.3", ["udp"]),
        ("host h2", ["tcp"]),
    ],
)
def test_filter_keeps_matching_packets(text: str, kept: list[str]) -> None:
    keep = captures.parse_filter(text, {"h2": "10.0.0.2", "h3": "10.0.0.3"})
    frames = {"tcp": tcp(0), "udp": udp(9), "arp": ARP}
    heads = frames_of([(0, len(frame), frame) for frame in frames.values()]).heads
    assert [name for name, it_is in zip(frames, keep(heads), strict=True) if it_is] == kept


@pytest.mark.parametrize("text", ["tpc", "port", "port http", "tcp and", "( tcp", "tcp udp", "host h9"])
def test_invalid_filter_is_refused_with_the_allowed_ones(text: str) -> None:
    with pytest.raises(ScenarioError, match="filter"):
        captures.parse_filter(text, {"h2": "10.0.0.2"})


def test_every_mistake_of_a_capture_is_named() -> None:
    found = Capture("r1", "h2", snap_bytes=10, filter="tpc", name="../x").problems("captures 1")
    assert len(found) == 3
    assert all(problem.startswith("captures 1: ") for problem in found)


def test_a_large_segment_is_cut_into_the_frames_of_the_wire() -> None:
    packets = [(5, 42, ARP), (6, 54 + 3000, tcp(3000, flags=0x99)[:96]), (7, 42 + 2000, udp(2000)), (8, 42, ARP)]
    found = cut(frames_of(packets), np.array([0, GSO_TCP, GSO_UDP, 0]), np.array([0, 1448, 1472, 0]))
    assert found.t_ns.tolist() == [5, 6, 6, 6, 7, 7, 8]
    assert found.length_bytes.tolist() == [42, 1502, 1502, 158, 1514, 570, 42]
    assert found.size_bytes.tolist() == [42, 96, 54, 54, 1514, 570, 42], "of the data only what was captured"
    heads, segments = found.heads, slice(1, 4)
    assert heads.tcp_head["seq"][segments].tolist() == [1000, 2448, 3896]
    assert heads.tcp_head["flags"][segments].tolist() == [0x90, 0x10, 0x19], (
        "CWR belongs to the first, FIN and PSH to the last"
    )
    assert heads.payload_bytes[1:6].tolist() == [1448, 1448, 104, 1472, 528]
    assert found.frame(4)[42:] == udp(2000)[42:1514]
    assert heads.first["identification"][segments].tolist() == [7, 8, 9]
    for number in range(1, 6):
        words = struct.unpack("!10H", found.frame(number)[14:34])
        assert sum(words) % 0xFFFF == 0, "the IP header's checksum is right"


def ring(packets: list[tuple[int, bytes, int, int]]) -> bytes:
    """A block as the kernel writes it: time in ns, frame, gso type, gso size."""
    block = b""
    for t_ns, frame, gso, size in packets:
        kept = frame[:96]
        virtio = np.array([(0, gso, 0, size, 0, 0)], VIRTIO_HEAD).tobytes()
        start = RING_HEAD.itemsize + 52 + len(virtio)
        length = -(-(start + len(kept)) // 16) * 16
        head = np.array(
            [(length, t_ns // NS_PER_S, t_ns % NS_PER_S, len(kept), len(frame), 0, start, start)], RING_HEAD
        ).tobytes()
        block += (head + bytes(52) + virtio + kept).ljust(length, b"\0")
    return RECORD.pack(len(packets), len(block)) + block


def test_packets_come_out_of_the_ring_in_order_and_cut() -> None:
    data = ring([(NS_PER_S + 5, udp(100), 0, 0), (NS_PER_S + 9, tcp(2000), GSO_TCP, 1448)]) + ring(
        [(2 * NS_PER_S, ARP, 0, 0)]
    )
    found = read_ring(data)
    assert list(zip(found.t_ns.tolist(), found.length_bytes.tolist(), strict=True)) == [
        (NS_PER_S + 5, 142),
        (NS_PER_S + 9, 1502),
        (NS_PER_S + 9, 606),
        (2 * NS_PER_S, 42),
    ]
    assert found.frame(0) == udp(100)[:96]


def test_long_runs_of_equal_packets_come_out_of_the_ring_completely() -> None:
    sizes = [300] * 40 + [5, 300] * 20 + [7] * 17 + [300] * 300
    data = ring([(NS_PER_S + number, udp(size), 0, 0) for number, size in enumerate(sizes)]) * 2
    found = read_ring(data)
    assert (found.t_ns - NS_PER_S).tolist() == list(range(len(sizes))) * 2
    assert found.length_bytes.tolist() == [size + 42 for size in sizes] * 2


def test_packets_whose_data_look_like_a_block_are_read_all_the_same(tmp_path: Path) -> None:
    frame = udp(2) + struct.pack("<II", 6, 32) * 12
    packets = frames_of([(number, len(frame), frame[: 92 + number % 3]) for number in range(9)])
    path = tmp_path / "x.pcapng"
    write_pcapng(path, {"r1-eth1": (packets, frames_of([]))}, 96, captures.Origin(0, {}), captures.parse_filter(""))
    assert (captures.read_packets(path).t_s * NS_PER_S).round().tolist() == list(range(9))


def test_a_capture_without_packets_is_a_table_without_rows(tmp_path: Path) -> None:
    path = tmp_path / "x.pcapng"
    nothing = read_ring(b"")
    write_pcapng(path, {"r1-eth1": (nothing, nothing)}, 96, captures.Origin(0, {}), captures.parse_filter("port 80"))
    table = captures.read_packets(path)
    assert table.empty
    assert tuple(table.columns) == captures.PACKET_COLUMNS


@pytest.fixture
def capture_file(tmp_path: Path) -> Path:
    path = tmp_path / "r1-h2.pcapng"
    nothing = frames_of([])
    departed = frames_of([(10 * NS_PER_S + 500_000_000, 1514, tcp(1460)[:96]), (11 * NS_PER_S, 142, udp(100)[:96])])
    arrived = frames_of([(10 * NS_PER_S + 520_000_000, 1514, tcp(1460)[:96])])
    origin = captures.Origin(10 * NS_PER_S, {"10.0.0.1": "h1", "10.0.0.2": "h2"})
    write_pcapng(
        path, {"r1-eth1": (departed, nothing), "h2-eth0": (nothing, arrived)}, 96, origin, captures.parse_filter("")
    )
    return path


def test_table_has_the_time_and_the_end_of_each_packet(capture_file: Path) -> None:
    table = captures.read_packets(capture_file)
    assert tuple(table.columns) == captures.PACKET_COLUMNS
    first, second, third = table.to_dict(orient="records")
    assert (first["t_s"], first["node"], first["departs"]) == (0.5, "r1", True)
    assert (second["t_s"], second["node"], second["departs"]) == (pytest.approx(0.52), "h2", False)
    assert (first["src"], first["dst"], first["seq"], first["ecn"], first["payload_bytes"]) == (
        "h1",
        "h2",
        1000,
        2,
        1460,
    )
    assert (third["protocol"], third["length_bytes"], third["dst"]) == ("udp", 142, "10.0.0.3")


@pytest.mark.parametrize(("scales", "bytes_"), [((7, 5), 512 << 7), ((7, None), 512), ((None, 5), 512), (None, None)])
def test_windows_are_in_bytes_as_both_ends_agreed(
    tmp_path: Path, scales: tuple[int | None, int | None] | None, bytes_: int | None
) -> None:
    frames = [] if scales is None else [opening(40000, 5001, 2, scales[0]), opening(5001, 40000, 18, scales[1])]
    packets = frames_of([(k, len(frame), frame) for k, frame in enumerate([tcp(10), *frames])])
    path = tmp_path / "x.pcapng"
    origin = captures.Origin(0, {})
    write_pcapng(path, {"r1-eth1": (packets, frames_of([]))}, 96, origin, captures.parse_filter(""))
    window = captures.read_packets(path).window_bytes[0]
    assert window == bytes_ if bytes_ is not None else pd.isna(window)


def test_a_file_that_is_no_capture_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.pcapng"
    path.write_bytes(bytes(range(256)))
    with pytest.raises(NetlabError, match="not a capture"):
        captures.read_packets(path)


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed (apt-get install tshark)")
def test_tshark_reads_the_file_as_we_do(capture_file: Path) -> None:
    fields = ["frame.time_epoch", "frame.interface_name", "frame.len", "frame.cap_len", "ip.proto", "tcp.seq_raw"]
    command = ["tshark", "-r", str(capture_file), "-T", "fields", *(word for name in fields for word in ("-e", name))]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    assert rows == [
        ["10.500000000", "r1-eth1", "1514", "96", "6", "1000"],
        ["10.520000000", "h2-eth0", "1514", "96", "6", "1000"],
        ["11.000000000", "r1-eth1", "142", "96", "17", ""],
    ]


@given(
    st.lists(st.tuples(st.integers(0, 9_000), st.booleans(), st.booleans(), st.integers(14, 9_100)), max_size=12),
    st.integers(1, 1_500),
    st.integers(1, 50),
)
@examples(60)
def test_segments_are_cut_together_as_each_alone(
    packets: list[tuple[int, bool, bool, int]], payload_bytes: int, frames_at_once: int
) -> None:
    whole = []
    for num_bytes, is_udp, is_large, snap in packets:
        headers = (udp(num_bytes) if is_udp else tcp(num_bytes))[: 42 if is_udp else 54]
        whole.append((headers + bytes(number % 251 for number in range(num_bytes)), is_large, snap))
    kinds = [(GSO_UDP if packet[23] == 17 else GSO_TCP) if is_large else 0 for packet, is_large, _snap in whole]
    captured = [(time_ns, len(packet), packet[:snap]) for time_ns, (packet, _large, snap) in enumerate(whole)]
    payloads = np.full(len(whole), payload_bytes, np.int64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frames_module, "CUT_FRAMES", frames_at_once)
        together = rows_of(cut(frames_of(captured), np.array(kinds), payloads))
    alone = [
        rows_of(cut(frames_of([packet]), np.array([kind]), payloads[:1]))
        for packet, kind in zip(captured, kinds, strict=True)
    ]
    assert together == list(itertools.chain.from_iterable(alone))


def rows_of(frames: Frames) -> list[tuple[int, int, bytes]]:
    """Return a tuple for each frame: its time in ns, its length on the wire and its captured bytes."""
    return [
        (int(t_ns), int(length), frames.frame(number))
        for number, (t_ns, length) in enumerate(zip(frames.t_ns, frames.length_bytes, strict=True))
    ]


def peak_bytes(packet: bytes, length_bytes: int, count: int, gso: int) -> tuple[int, int]:
    """Cut a capture of `count` equal packets, of which `packet` was captured; return the peak of the memory that this
    takes, and the size of the capture file that comes of it.
    """
    data = np.frombuffer(packet * count, np.uint8)
    starts = np.arange(count, dtype=np.int64) * len(packet)
    lengths, sizes = np.full(count, length_bytes, np.int64), np.full(count, len(packet), np.int64)
    frames = Frames(np.arange(count, dtype=np.int64), lengths, data, starts, sizes)
    tracemalloc.start()
    try:
        found = cut(frames, np.full(count, gso), np.full(count, 1448, np.int64))
        peak = tracemalloc.get_traced_memory()[1]
        assert found.heads.tcp.all()
    finally:
        tracemalloc.stop()
    return peak, int((found.size_bytes + -found.size_bytes % 4 + BLOCK_BYTES).sum())


def test_headers_are_read_without_a_copy_of_the_capture() -> None:
    peak, file_bytes = peak_bytes(tcp(8_000), 8_054, 2_000, 0)
    assert peak < 0.2 * file_bytes


@pytest.mark.parametrize(("data_bytes", "snap_bytes", "count"), [(8_000, 9_000, 4_000), (60_000, 96, 4_000)])
def test_large_segments_are_cut_in_the_memory_of_the_file_that_they_become(
    data_bytes: int, snap_bytes: int, count: int
) -> None:
    packet = tcp(data_bytes)
    peak, file_bytes = peak_bytes(packet[:snap_bytes], len(packet), count, GSO_TCP)
    assert peak < 1.3 * file_bytes


@pytest.mark.parametrize("kept", [0, 10, 14, 30, 34, 50, 54, 60])
def test_a_frame_that_ends_with_the_buffer_is_read_as_one_in_its_midst(kept: int) -> None:
    packet = tcp(100)
    sizes = np.array([len(packet)])
    last = Frames(np.array([1]), sizes, np.frombuffer(packet[:kept], np.uint8), np.array([0]), np.array([kept])).heads
    padded = np.frombuffer(packet[:kept] + bytes(200), np.uint8)
    midst = Frames(np.array([1]), sizes, padded, np.array([0]), np.array([kept])).heads
    for name in ("kind", "ip", "tcp", "udp", "protocol", "ip_bytes", "tcp_head", "udp_head"):
        assert getattr(last, name).tolist() == getattr(midst, name).tolist(), name
