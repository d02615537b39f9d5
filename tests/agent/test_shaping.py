"""Shaping: which words `ip` and `tc` are given, and in which of the three places."""

from __future__ import annotations

import re
from dataclasses import asdict
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import netlab as nl
from netlab.network.link import LinkShape
from netlab_engines.planning.shaping import (
    MAX_SEGMENT_BYTES,
    REAL_CLOCK_BURST_S,
    REAL_CLOCK_WIRE_HEADROOM,
    has_wire,
    hosts_with_unsafe_gso,
    queue_qdiscs,
    shape_network,
    wire_device,
    wire_qdisc,
)
from tests.examples import examples
from tests.networks import networks

CLOCKS = ("virtual", "real")


def shape(**fields: Any) -> dict[str, Any]:
    """A direction as the agent gets it."""
    return asdict(LinkShape(**fields))


def lines_of_network(
    topology: nl.Topology, clock: str = "virtual"
) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """The `ip` and `tc` lines of a topology."""
    directions = [way.to_dict() for way in topology.hops()]
    ip_lines, queueing = shape_network(
        directions, clock, hosts_with_unsafe_gso(directions, topology.hosts, clock, {}), 1
    )
    return ip_lines, {node: [each.line for each in own] for node, own in queueing.items() if own}


def student_queue(**fields: Any) -> str:
    """The words of the student's queue."""
    return queue_qdiscs("r1-eth0", shape(rate_mbps=5, **fields), "virtual")[1].qdisc.words


@examples(60)
@given(topology=networks(), clock=st.sampled_from(CLOCKS))
def test_rates_are_in_bits_and_lines_are_single(topology: nl.Topology, clock: str) -> None:
    """`tc` reads `mbps` as megabytes: no line has a unit of rate but `bit`."""
    ip_lines, tc_lines = lines_of_network(topology, clock)
    lines = [line for lines in tc_lines.values() for line in lines]
    for line in lines:
        assert "bps" not in line
        assert "\n" not in line
        for rate in re.findall(r"(?:rate|bandwidth) (\S+)", line):
            assert re.fullmatch(r"[1-9][0-9]*bit", rate), line
        for time in re.findall(r"(?:delay|target|interval|rtt) (\S+)", line):
            assert re.fullmatch(r"[0-9]+us", time), line
    assert set(ip_lines) | set(tc_lines) <= set(topology.nodes)


@examples(60)
@given(topology=networks(), clock=st.sampled_from(CLOCKS))
def test_queue_rate_and_wire_are_in_three_places(topology: nl.Topology, clock: str) -> None:
    """Queue and rate at the sender's interface, never a netem; the wire behind the receiver's, on a device of its own."""
    ip_lines, tc_lines = lines_of_network(topology, clock)
    for way in topology.hops():
        words = way.shape
        at_sender = [line for line in tc_lines.get(way.src, []) if f" dev {way.interface} " in line]
        roots = [line for line in at_sender if "root" in line]
        assert not any("netem" in line for line in at_sender)
        assert len(roots) == (words.rate_mbps is not None)
        assert all(" tbf " in line for line in roots)
        device = "wire" + way.dst_interface.rpartition("-eth")[2]
        at_receiver = [line for line in tc_lines.get(way.dst, []) if f" dev {device} " in line]
        netems = [line for line in at_receiver if " netem " in line]
        assert len(netems) == has_wire(asdict(words))
        assert all("limit 10000000" in line for line in netems), "netem's own limit must never drop"
        if netems:
            assert f"link add name {device} type ifb" in ip_lines[way.dst]
            redirects = [line for line in tc_lines[way.dst] if f"redirect dev {device}" in line]
            assert len(redirects) == 1
            assert f" dev {way.dst_interface} " in redirects[0]


def test_an_unlimited_link_without_delay_gets_nothing() -> None:
    assert lines_of_network(nl.Topology(["h1", "h2"], links=[nl.Link("h1", "h2")])) == ({}, {})


def test_the_epfl_bottleneck_word_for_word() -> None:
    """5 Mbit/s behind r1, 10 ms, 100 packets, one way."""
    topology = nl.Topology(
        ["h1", "h2"],
        ["r1"],
        links=[
            nl.Link("h1", "r1"),
            nl.Link(
                "r1",
                "h2",
                rate_mbps=5,
                delay_ms=10,
                queue_packets=100,
                reverse={"rate_mbps": None, "queue_packets": None, "delay_ms": 0},
            ),
        ],
    )
    assert lines_of_network(topology) == (
        {"h2": ["link add name wire0 type ifb", "link set dev wire0 up"]},
        {
            "r1": [
                "qdisc add dev r1-eth1 root handle 1: tbf rate 5000000bit burst 2018b limit 1000000000b",
                "qdisc add dev r1-eth1 parent 1: handle 2: pfifo limit 100",
            ],
            "h2": [
                "qdisc add dev wire0 root handle 1: netem limit 10000000 delay 10000us rate 5000000bit",
                "qdisc add dev h2-eth0 ingress",
                "filter add dev h2-eth0 parent ffff: protocol all prio 1 matchall action mirred egress redirect dev wire0",
            ],
        },
    )


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, "pfifo limit 1000"),
        ({"queue_packets": 7}, "pfifo limit 7"),
        ({"queue_bytes": 30_000}, "bfifo limit 30000b"),
        ({"queue_packets": 10, "segmentation_offload": True}, "bfifo limit 15140b"),
        (
            {"queue_packets": 120, "aqm": "red"},
            "red limit 181680b min 15140b max 45420b avpkt 1000b burst 17 probability 0.1 bandwidth 5000000bit",
        ),
        (
            {
                "queue_packets": 100,
                "aqm": "red",
                "aqm_options": {"min_packets": 5, "max_packets": 15, "probability": 0.02, "ecn": True},
            },
            "red limit 151400b min 7570b max 22710b avpkt 1000b burst 9 probability 0.02 bandwidth 5000000bit ecn",
        ),
        (
            {"queue_bytes": 30_280, "aqm": "red", "aqm_options": {"max_packets": 9}},
            "red limit 30280b min 4542b max 13626b avpkt 1000b burst 6 probability 0.1 bandwidth 5000000bit",
        ),
        ({"queue_packets": 100, "aqm": "codel"}, "codel limit 100 noecn"),
        (
            {"queue_packets": 100, "aqm": "codel", "aqm_options": {"target_ms": 5, "interval_ms": 100, "ecn": True}},
            "codel limit 100 interval 100000us target 5000us ecn",
        ),
        ({"aqm": "fq_codel"}, "fq_codel limit 1000 ecn"),
        ({"aqm": "fq_codel", "aqm_options": {"ecn": False}}, "fq_codel limit 1000 noecn"),
        (
            {"queue_packets": 100, "aqm": "fq_codel", "aqm_options": {"flows": 64, "target_ms": 0.5}},
            "fq_codel limit 100 flows 64 target 500us ecn",
        ),
        (
            {"queue_packets": 100, "aqm": "pie", "aqm_options": {"target_ms": 15, "ecn": True}},
            "pie limit 100 target 15000us ecn",
        ),
        (
            {"queue_packets": 100, "aqm": "cake", "aqm_options": {"rtt_ms": 50}},
            "cake unlimited besteffort raw no-split-gso memlimit 151400b rtt 50000us",
        ),
    ],
)
def test_the_words_of_each_discipline(fields: dict[str, Any], words: str) -> None:
    assert student_queue(**fields) == words


@given(
    low=st.floats(1, 3000),
    above=st.floats(0.01, 7000),
    given_low=st.booleans(),
    given_high=st.booleans(),
    packets=st.integers(1, 10**6),
)
def test_reds_words_are_ones_that_tc_can_count(
    low: float, above: float, given_low: bool, given_high: bool, packets: int
) -> None:
    """min < max, a burst that spans min, and an average and its weight that fit 32 bits (tc-red(8), net/red.h)."""
    options = {"min_packets": low} if given_low else {}
    if given_high:
        options["max_packets"] = max(2, min(low + above, 10_000))
        if given_low and not options["min_packets"] < options["max_packets"]:
            return
    words = student_queue(aqm="red", aqm_options=options, queue_packets=packets).split()
    low_bytes, high_bytes, burst = (int(words[words.index(word) + 1].rstrip("b")) for word in ("min", "max", "burst"))
    assert low_bytes < high_bytes or high_bytes - low_bytes < 15
    # The weight that tc computes from them: the smallest weight whose burst is long enough.
    need = burst + 1 - low_bytes / 1000
    assert need >= 1
    log = next(log for log in range(1, 32) if need <= (1 - (1 - 2**-log) ** burst) * 2**log)
    assert high_bytes.bit_length() + log < 32


def test_ethernet_framing_is_passed_to_the_rate_limit_and_the_wire() -> None:
    """24 bytes in addition to tc's 14, and 84 at least; not as `stab`, which newer kernels refuse on an inner queue."""
    framed = shape(rate_mbps=5, delay_ms=1, framing="ethernet")
    outer, queue = (each.line for each in queue_qdiscs("r1-eth0", framed, "virtual"))
    assert outer.endswith("tbf rate 5000000bit burst 2042b limit 1000000000b overhead 24 mpu 84")
    assert queue.endswith("handle 2: pfifo limit 1000")
    wire = wire_qdisc("wire0", framed, "virtual").line
    assert wire == "qdisc add dev wire0 root handle 1: netem limit 10000000 delay 1000us rate 5000000bit 24"


def test_rate_of_ip_packets_counts_14_bytes_less_than_tc() -> None:
    framed = shape(rate_mbps=5, delay_ms=1, framing="ip")
    outer, queue = (each.line for each in queue_qdiscs("r1-eth0", framed, "virtual"))
    assert outer.endswith("root handle 1: stab overhead -14 tbf rate 5000000bit burst 2018b limit 1000000000b")
    assert queue.endswith("handle 2: pfifo limit 1000")
    wire = wire_qdisc("wire0", framed, "virtual").line
    assert wire == "qdisc add dev wire0 root handle 1: netem limit 10000000 delay 1000us rate 5000000bit -14"


@pytest.mark.parametrize(
    ("rate_mbps", "segmentation_offload", "clock", "burst_bytes"),
    [
        (5, None, "virtual", 1514 + 504),
        (1000, None, "virtual", 1514 + 504),
        (1001, None, "virtual", MAX_SEGMENT_BYTES + 504),
        (10_000, False, "virtual", 1514 + 504),
        (5, True, "virtual", MAX_SEGMENT_BYTES + 504),
        (0.1, None, "real", 1514 + 504),
        (100, None, "real", 100e6 / 8 * REAL_CLOCK_BURST_S),
    ],
)
def test_the_bucket_holds_a_frame_so_that_segments_are_split(
    rate_mbps: float, segmentation_offload: bool | None, clock: str, burst_bytes: float
) -> None:
    """Except above 1 Gbit/s, where speed needs segmentation offload, and in real time, where timers come late."""
    line = queue_qdiscs("r1-eth0", shape(rate_mbps=rate_mbps, segmentation_offload=segmentation_offload), clock)[0].line
    assert f" burst {burst_bytes:g}b " in line


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"delay_ms": 10}, "delay 10000us"),
        ({"delay_ms": 10, "jitter_ms": 2}, "delay 10000us 2000us rate 1000000000000bit"),
        ({"delay_ms": 10, "jitter_ms": 2, "rate_mbps": 5}, "delay 10000us 2000us rate 5000000bit"),
        ({"delay_ms": 10, "jitter_ms": 2, "reorder": True, "rate_mbps": 5}, "delay 10000us 2000us"),
        ({"loss_rate": 0.01}, "loss random 1.0000000000%"),
        ({"loss_rate": 1e-9}, "loss random 0.0000001000%"),
        (
            {"burst_loss": {"enter_rate": 0.01, "leave_rate": 0.5}},
            "loss gemodel 1.0000000000% 50.0000000000% 100.0000000000% 0.0000000000%",
        ),
        (
            {"burst_loss": {"enter_rate": 0.01, "leave_rate": 0.5, "bad_loss_rate": 0.8, "good_loss_rate": 0.1}},
            "loss gemodel 1.0000000000% 50.0000000000% 80.0000000000% 10.0000000000%",
        ),
        ({"duplicate_rate": 0.5}, "duplicate 50.0000000000%"),
    ],
)
def test_the_words_of_the_wire(fields: dict[str, Any], words: str) -> None:
    """With a rate netem keeps packets in order; without one, jitter alone would let them overtake."""
    assert has_wire(shape(**fields))
    assert wire_qdisc("wire0", shape(**fields), "virtual").qdisc.words == f"netem limit 10000000 {words}"


def senders(links: list[nl.Link], clock: str = "virtual", **segment_bytes: int) -> list[str]:
    """Hosts whose segmentation offload must be off, of h1 and h2 next to routers r1 and r2 and the switch s1."""
    topology = nl.Topology(["h1", "h2"], ["r1", "r2"], ["s1"], links)
    return hosts_with_unsafe_gso([way.to_dict() for way in topology.hops()], topology.hosts, clock, segment_bytes)


def test_segmentation_offload_holds_towards_a_queue_that_splits() -> None:
    path = [nl.Link("h1", "r1"), nl.Link("r1", "r2", rate_mbps=5, delay_ms=10), nl.Link("r2", "h2")]
    assert senders(path) == []
    assert lines_of_network(nl.Topology(["h1", "h2"], ["r1", "r2"], links=path))[0] == {
        "r2": ["link add name wire0 type ifb", "link set dev wire0 up"],
        "r1": ["link add name wire1 type ifb", "link set dev wire1 up"],
    }


def test_segmentation_offload_is_off_where_two_segments_fit_the_bucket() -> None:
    """A bucket of 2018 bytes would let two frames of 1009 bytes pass as one packet, and the queue would count one."""
    path = [nl.Link("h1", "r1"), nl.Link("r1", "h2", rate_mbps=5)]

    assert senders(path, h1=943) == ["h1"]
    assert senders(path, h1=944) == senders(path) == []
    assert senders([nl.Link("h1", "r1"), nl.Link("r1", "h2", rate_mbps=5000)], h1=500) == []


def test_an_offloaded_segment_must_not_meet_loss_or_delay() -> None:
    """A netem before the first queue would lose or count 45 frames as one packet."""
    path = [
        nl.Link("h1", "s1"),
        nl.Link("s1", "r1", loss_rate=0.1, reverse={"loss_rate": 0}),
        nl.Link("r1", "h2", rate_mbps=5),
    ]
    assert senders(path) == ["h1"]
    ip_lines, _ = lines_of_network(nl.Topology(["h1", "h2"], ["r1"], ["s1"], path))
    assert "link set dev h1-eth0 gso_max_segs 1" in ip_lines["h1"]


def test_in_real_time_every_sender_into_a_queue_has_segmentation_offload_off() -> None:
    """The bucket is larger than a segment there, so `tbf` splits nothing."""
    path = [nl.Link("h1", "r1"), nl.Link("r1", "h2", rate_mbps=5)]
    assert senders(path, "real") == ["h1", "h2"]


def test_an_offloaded_segment_that_passes_a_fast_queue_must_not_meet_loss_later() -> None:
    """Unless the link with the loss has segmentation offload."""

    def path(segmentation_offload: bool | None) -> list[nl.Link]:
        lossy = nl.Link("r1", "r2", loss_rate=0.1, reverse={"loss_rate": 0}, segmentation_offload=segmentation_offload)
        return [nl.Link("h1", "r1", rate_mbps=10_000), lossy, nl.Link("r2", "h2")]

    assert "h1" in senders(path(None))
    assert senders(path(True)) == []


def test_in_real_time_the_wire_is_a_little_faster_than_the_queue() -> None:
    """Else what a late timer lets through at once stands before the wire for ever, as a longer queue."""
    line = wire_qdisc("wire0", shape(rate_mbps=5), "real").line
    assert line.endswith(f"rate {round(5e6 * REAL_CLOCK_WIRE_HEADROOM)}bit")


def test_each_direction_of_each_link_draws_for_itself_and_other_links_move_no_draw() -> None:
    def seeds(*more: nl.Link, seed: int = 1) -> dict[str, str]:
        links = [nl.Link("a", "b", rate_mbps=5, loss_rate=0.1), nl.Link("a", "b", rate_mbps=5, loss_rate=0.1)]
        topology = nl.Topology(hosts=["a", "b", "c"], links=[*more, *links])
        plan = nl.Scenario(topology, [nl.Ping("a", "b")], seed=seed).plan()
        _ip, queueing = shape_network(plan["directions"], "virtual", [], seed)
        return {
            attached.line.split(" seed ")[1]: hop["src"] + hop["dst"]
            for hop in plan["directions"]
            for attached in queueing[hop["dst"]]
            if " seed " in attached.line and f"dev {wire_device(hop['dst_interface'])} " in attached.line
        }

    alone = seeds()
    assert sorted(alone.values()) == ["ab", "ab", "ba", "ba"]
    assert alone.items() <= seeds(nl.Link("c", "a", rate_mbps=5, loss_rate=0.1)).items()
    assert not set(alone) & set(seeds(seed=2))


def test_a_wire_without_chance_has_no_seed() -> None:
    assert "seed" not in wire_qdisc("wire0", shape(rate_mbps=5, delay_ms=3), "virtual", 7).line
