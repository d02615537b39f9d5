"""Captures in a run: times as on the wire, no packet missing, and the same numbers as without."""

import math
import shutil
import subprocess

import pandas as pd
import pytest

import netlab as nl
from netlab.base.errors import RunError, ScenarioError
from netlab.captures import PACKET_COLUMNS
from netlab_engines.planning.shaping import LATENESS_BYTES

pytestmark = [pytest.mark.pocket, pytest.mark.library]

FRAME_BYTES = 1514
ACK_BYTES = 66
SERVER_PORT = 5001


def network(rate_mbps: float = 5) -> nl.Topology:
    return nl.Topology(
        hosts=["h1", "h2"],
        routers=["r1"],
        links=[nl.Link("h1", "r1"), nl.Link("r1", "h2", rate_mbps=rate_mbps, delay_ms=10, queue_packets=100)],
    )


@pytest.fixture(scope="module", params=["pocket", "library"])
def captured(request: pytest.FixtureRequest) -> nl.Run:
    return capture_both(request.param)


def capture_both(engine: str) -> nl.Run:
    """A flow and an echo over two links, both captured."""
    captures = [nl.Capture("r1", "h2"), nl.Capture("h1", "r1", filter="tcp and host h1", name="first")]
    traffic = [nl.Tcp("h1", "h2"), nl.Ping("h1", "h2", count=5)]
    return nl.run(network(), traffic, duration_s=10, captures=captures, engine=engine)


def test_a_capture_changes_no_figure(captured: nl.Run) -> None:
    traffic = [nl.Tcp("h1", "h2"), nl.Ping("h1", "h2", count=5)]
    plain = nl.run(network(), traffic, duration_s=10, engine=captured.settings["engine"])
    for table in ("flows", "intervals", "queues"):
        # Each reading of the clock takes it a nanosecond on, and the capture's own thread reads it too.
        pd.testing.assert_frame_equal(getattr(captured, table), getattr(plain, table), rtol=1e-8, atol=1e-8)


def test_each_packet_arrives_one_wire_later_than_it_departs(captured: nl.Run) -> None:
    packets = captured.packets
    assert tuple(packets.columns) == (*PACKET_COLUMNS, "capture")
    data = packets[(packets.capture == "r1-h2.pcapng") & (packets.payload_bytes == 1448) & (packets.protocol == "tcp")]
    departed = data[(data.node == "r1") & data.departs].reset_index(drop=True)
    arrived = data[(data.node == "h2") & ~data.departs].reset_index(drop=True)
    assert len(departed) > 3000
    # A packet in flight at the end has departed and not arrived.
    assert 0 <= len(departed) - len(arrived) <= 10
    both = departed.iloc[: len(arrived)]
    assert (both.seq == arrived.seq).all()
    wire_s = arrived.t_s - both.t_s
    # The delay and the frame's own time at 5 Mbit/s. The handshake's last ACK and the first data leave the bucket at one moment;
    # the wire takes one after the other, and a link that stays full never makes that time up.
    alone_s = 0.010 + FRAME_BYTES * 8 / 5e6
    assert wire_s.min() == pytest.approx(alone_s + ACK_BYTES * 8 / 5e6, abs=20e-6)
    # The bucket holds a third of a frame more than one: a frame may leave that much before the wire is free.
    assert wire_s.max() <= alone_s + LATENESS_BYTES * 8 / 5e6 + 20e-6
    gaps_s = arrived.t_s.diff().iloc[1000:]
    assert gaps_s.min() == pytest.approx(FRAME_BYTES * 8 / 5e6, abs=20e-6), "no two arrive closer than a frame's time"


def test_no_packet_is_missing(captured: nl.Run) -> None:
    packets = captured.packets
    counted = captured.queues[captured.queues.interface == "r1-eth1"].sent_packets.max()
    departed = packets[(packets.capture == "r1-h2.pcapng") & (packets.node == "r1") & packets.departs]
    assert len(departed[departed.t_s <= 10]) == counted
    assert not captured.artifacts.unsaved


def test_a_link_without_a_rate_shows_frames_and_no_large_segments(captured: nl.Run) -> None:
    packets = captured.packets
    first = packets[packets.capture == "first.pcapng"]
    assert set(first.protocol) == {"tcp"}, "the filter kept nothing else"
    assert first.length_bytes.max() == FRAME_BYTES
    sent = first[(first.node == "h1") & first.departs & (first.payload_bytes > 0)]
    assert sent.payload_bytes.sum() == pytest.approx(captured.flows.sent_bytes[0], rel=1e-3)


def test_both_kernels_capture_the_same_packets() -> None:
    """Row by row, but for what each draws for itself: where sequence numbers begin, and the sender's port."""
    tables = []
    for engine in ("pocket", "library"):
        packets = capture_both(engine).packets
        client = packets.dst_port == SERVER_PORT
        server = packets.src_port == SERVER_PORT
        begin, other = packets.seq[client].iloc[0], packets.seq[server].iloc[0]
        for rows, seq, ack in ((client, begin, other), (server, other, begin)):
            packets.loc[rows, "seq"] = (packets.seq[rows] - seq) % 2**32
            packets.loc[rows, "ack"] = (packets.ack[rows] - ack) % 2**32
        packets.loc[client, "src_port"] = packets.loc[server, "dst_port"] = 0
        # Events within the same microsecond at two places may be in either order.
        tables.append(packets.sort_values(["capture", "node", "departs", "t_s"], kind="stable").reset_index(drop=True))
    pocket, library = tables
    assert len(pocket) > 20_000
    pd.testing.assert_frame_equal(pocket.drop(columns="t_s"), library.drop(columns="t_s"))
    assert (pocket.t_s - library.t_s).abs().max() < 5e-6


def test_captures_of_large_segments_are_cut_alike_in_both_kernels() -> None:
    sizes = []
    for engine in ("pocket", "library"):
        fast = nl.Topology(hosts=["h1", "h2"], links=[nl.Link("h1", "h2", rate_mbps=2000, delay_ms=1)])
        capture = nl.Capture("h1", "h2")
        found = nl.run(fast, [nl.Tcp("h1", "h2")], duration_s=0.1, captures=[capture], engine=engine)
        sizes.append(found.packets.groupby(["node", "departs"]).length_bytes.agg(["count", "sum", "max"]))
    pd.testing.assert_frame_equal(*sizes)
    assert sizes[0]["max"].max() == FRAME_BYTES and sizes[0]["count"].sum() > 10_000


@pytest.mark.library
def test_the_library_kernel_refuses_more_than_a_run_may_leave() -> None:
    with pytest.raises(RunError, match="more than 67108864 bytes.*snap_bytes"):
        nl.run(
            network(100),
            [nl.Tcp("h1", "h2")],
            duration_s=10,
            captures=[nl.Capture("r1", "h2", snap_bytes=1514)],
            engine="library",
        )


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed (apt-get install tshark)")
def test_tshark_counts_the_same_packets(captured: nl.Run) -> None:
    command = [
        "tshark",
        "-r",
        str(captured.artifacts["r1-h2.pcapng"]),
        "-T",
        "fields",
        "-e",
        "frame.len",
        "-e",
        "tcp.seq_raw",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    packets = captured.packets
    ours = packets[packets.capture == "r1-h2.pcapng"]
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    assert [int(line[0]) for line in lines] == list(ours.length_bytes)
    assert [line[1] for line in lines] == ["" if math.isnan(seq) else str(int(seq)) for seq in ours.seq]


def test_mistakes_of_captures_are_named_with_the_others() -> None:
    with pytest.raises(ScenarioError) as caught:
        nl.run(
            network(),
            [nl.Ping("h1", "h9")],
            captures=[nl.Capture("h1", "h2"), nl.Capture("r1", "h2", filter="tpc"), nl.Capture("h1", "h2")],
        )
    text = str(caught.value)
    for words in ("no link h1-h2", "'tpc'", "captured already", "h9"):
        assert words in text


def test_a_scenario_file_may_have_captures() -> None:
    words = {
        "topology": network().to_dict(),
        "traffic": [{"kind": "ping", "src": "h1", "dst": "h2", "count": 2}],
        "duration_s": 2,
        "captures": [{"a": "r1", "b": "h2", "filter": "icmp"}],
    }
    run = nl.run(words)
    assert len(run.packets) == 8, "two requests and two replies, at both ends"
    assert run.scenario["captures"][0]["filter"] == "icmp"
    with pytest.raises(ScenarioError, match="unknown field"):
        nl.run({**words, "captures": [{"a": "r1", "b": "h2", "snap": 3}]})
