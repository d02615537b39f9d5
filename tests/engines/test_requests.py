"""The requests to the library kernel's program that a plan becomes, field by field, without the program."""

from __future__ import annotations

import ipaddress
import itertools
import struct
from collections.abc import Iterator
from typing import Any

import pytest

import netlab as nl
from netlab.base.errors import NotHereError
from netlab_engines.base import agent_plan
from netlab_engines.library import requests as asked
from netlab_engines.library.wire_format import FLOW, Request
from netlab_engines.netlink import wire
from netlab_engines.planning.schedule import hosts_needing_gso_off
from netlab_engines.planning.shaping import shape_network
from netlab_engines.protocol.requests import AgentPlan

NO_VALUE = 2**64 - 1
MEMORY_BYTES, START_S = 1 << 28, 1_700_000_000
NETWORK = nl.Topology(
    ["h1", "h2"],
    ["r1"],
    ["s1"],
    [
        nl.Link("h1", "s1"),
        nl.Link("s1", "r1", rate_mbps=50),
        nl.Link("r1", "h2", rate_mbps=5, delay_ms=10, queue_packets=30, aqm="red"),
    ],
)


def plan_of(*traffic: Any, **words: Any) -> AgentPlan:
    return agent_plan(
        nl.Scenario(NETWORK, traffic or [nl.Ping("h1", "h2")], **{"duration_s": 10, **words}).plan(), "virtual"
    )


def prepared_requests(plan: AgentPlan) -> asked.PreparedRequests:
    without = hosts_needing_gso_off(plan)
    ip_lines, queueing = shape_network(plan["directions"], plan["clock"], without, plan["seed"])
    settings = {"net.ipv4.udp_mem": "1 2 3"}
    return asked.make_requests(
        plan, ip_lines, queueing, memory_bytes=MEMORY_BYTES, start_s=START_S, machine_sysctls=settings
    )


def frames(told: bytes) -> Iterator[tuple[int, bytes]]:
    """Each request's kind and what it holds."""
    at = 0
    while at < len(told):
        kind, length = struct.unpack_from("<II", told, at)
        assert at + 8 + length <= len(told)
        yield kind, told[at + 8 : at + 8 + length]
        at += 8 + length


def flows(*traffic: Any, **words: Any) -> list[dict[str, Any]]:
    """Return each flow of the requests: the fields of `struct flow` of protocol.h, and the label."""
    return [
        {**FLOW.unpack(data)._asdict(), "label": data[FLOW.size :].decode()}
        for kind, data in frames(prepared_requests(plan_of(*traffic, **words)).take())
        if kind == Request.FLOW
    ]


def test_connection_request_has_all_fields_of_its_item() -> None:
    item = nl.Tcp("h2", "h1", start_s=1.5, duration_s=2, window_bytes=20_000, mss_bytes=500, congestion="bbr")
    (flow,) = flows(item)
    address = int.from_bytes(ipaddress.IPv4Address("10.0.1.1").packed, "little")
    # All other fields are 0.
    assert {name: value for name, value in flow.items() if value} == {
        "kind": 1, "src": 1, "address": address, "port": 5001, "start_ns": 1_500_000_000, "end_ns": 3_500_000_000,
        "num_bytes": NO_VALUE, "window_bytes": 20_000, "mss_bytes": 512, "congestion": b"bbr".ljust(16, b"\0"), "count": NO_VALUE,
        "connections": 1, "label": "h2-h1 bbr",
    }  # fmt: skip


def test_requests_have_a_flow_for_each_connection_with_the_sizes_and_the_pauses() -> None:
    item = nl.Requests(
        "h1", "h2", response_bytes=5000, request_bytes=70, count=9, think_s=0.25, interval_s=1, connections=2
    )
    found = flows(item)
    assert [(each["kind"], each["stream"], each["port"]) for each in found] == [(5, 0, 5001), (5, 1, 5002)]
    for each in found:
        requested = {
            name: each[name]
            for name in ("request_bytes", "response_bytes", "think_ns", "connections", "interval_ns", "count")
        }
        assert requested == {
            "request_bytes": 70, "response_bytes": 5000, "think_ns": 250_000_000, "connections": 2, "interval_ns": 10**9, "count": 9,
        }  # fmt: skip
        assert each["congestion"].rstrip(b"\0") == b"cubic"


def test_streams_share_the_bytes_and_each_has_a_port_of_its_own() -> None:
    found = flows(nl.Tcp("h1", "h2", streams=3, num_bytes=10), nl.Ping("h1", "h2"), nl.Udp("h1", "h2", rate_mbps=1))
    assert [(each["item"], each["stream"], each["num_bytes"]) for each in found[:3]] == [
        (0, 0, 4),
        (0, 1, 3),
        (0, 2, 3),
    ]
    # An echo has no port: it is known by its item's number, from 1.
    assert [each["port"] for each in found] == [5001, 5002, 5003, 2, 5004]
    assert [each["item"] for each in found] == [0, 0, 0, 1, 2]
    assert {(each["window_bytes"], each["mss_bytes"]) for each in found} == {(0, 0)}


def test_datagram_request_has_rate_and_random_seed() -> None:
    even, random = flows(
        nl.Udp("h1", "h2", rate_mbps=2.5, payload_bytes=700, spacing="even"),
        nl.Udp("h2", "h1", rate_mbps=1, spacing="random", start_s=4),
        seed=2**32 + 1,
    )
    assert (even["kind"], even["rate_bps"], even["payload_bytes"], even["spread"], even["key_words"]) == (
        2,
        2_500_000,
        700,
        0,
        0,
    )
    assert (even["start_ns"], even["end_ns"]) == (0, 10 * 10**9)
    assert (random["start_ns"], random["end_ns"], random["spread"]) == (4 * 10**9, 10 * 10**9, 1)
    # The seed of an item is the run's and its port.
    assert [random[name] for name in ("key_words", "key_0", "key_1", "key_2", "key_3")] == [2, 1 + 5002, 1, 0, 0]


def test_echo_request_has_interval_and_count() -> None:
    endless, counted = flows(nl.Ping("h1", "h2"), nl.Ping("h1", "h2", count=3, interval_s=0.25, payload_bytes=100))
    assert (endless["kind"], endless["interval_ns"], endless["count"]) == (3, 200_000_000, NO_VALUE)
    assert (counted["port"], counted["interval_ns"], counted["count"], counted["payload_bytes"]) == (
        2,
        250_000_000,
        3,
        100,
    )


def test_a_flow_that_would_outlast_the_run_ends_with_it() -> None:
    late, short = flows(nl.Tcp("h1", "h2", start_s=8, duration_s=5), nl.Tcp("h1", "h2", duration_s=5))
    assert (late["end_ns"], short["end_ns"]) == (10 * 10**9, 5 * 10**9)


@pytest.mark.parametrize("seed", [0, 7])
def test_the_network_is_seeded_while_it_is_built_and_with_the_complement_once_it_is(seed: int) -> None:
    found = list(frames(prepared_requests(plan_of(seed=seed)).take()))
    kinds = [kind for kind, _data in found]
    assert found[0] == (Request.START, struct.pack("<QQQ", MEMORY_BYTES, seed, START_S))
    assert kinds[1] == Request.FORMAT
    seeds = [struct.unpack("<Q", data)[0] for kind, data in found if kind == Request.SEED]
    assert seeds == [seed, NO_VALUE - seed]
    # The second when all is built and before the traffic.
    second = len(kinds) - 1 - kinds[::-1].index(Request.SEED)
    assert set(kinds[second + 1 :]) == {Request.FLOW} and Request.FLOW not in kinds[:second]
    assert kinds.count(Request.NODE) == 4 and kinds.count(Request.WAIT) == 6
    assert (Request.SETTING, b"net/ipv4/udp_mem\0001 2 3") in found
    assert all(b"." not in data.partition(b"\0")[0] for kind, data in found if kind == Request.SETTING)


def test_rate_limited_queues_are_sampled_and_marks_where_counted() -> None:
    requests = prepared_requests(plan_of())
    samples = [struct.unpack("<II", data) for kind, data in frames(requests.take()) if kind == Request.QUEUE]
    assert sorted(requests.queues) == ["h2-eth0", "r1-eth0", "r1-eth1", "s1-eth2"]
    marks = dict(zip(requests.queues, (word for _index, word in samples), strict=True))
    # RED counts marks in word 3 of its statistics (struct tc_red_xstats), a plain queue nowhere.
    assert marks == {"h2-eth0": 3, "r1-eth1": 3, "s1-eth2": 0, "r1-eth0": 0}


def test_messages_are_sent_in_order_in_batches_up_to_the_size_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = prepared_requests(plan_of())
    lines = {node: list(itertools.chain(*batches)) for node, batches in whole.batches.items()}
    monkeypatch.setattr(wire, "MAX_BATCH_BYTES", 300)
    small = prepared_requests(plan_of())
    assert {node: list(itertools.chain(*batches)) for node, batches in small.batches.items()} == lines
    assert sum(map(len, small.batches.values())) > sum(map(len, whole.batches.values()))
    texts = [[data for kind, data in frames(each.take()) if kind == Request.NETLINK] for each in (whole, small)]
    # A message that is larger than a batch is sent alone.
    assert all(len(data) <= 300 or len(list(messages(data))) == 1 for data in texts[1])
    sizes = [[size for data in each for size in messages(data)] for each in texts]
    assert sizes[0] == sizes[1] and len(sizes[0]) == sum(map(len, lines.values()))
    assert all(data for each in texts for data in each)


def messages(data: bytes) -> Iterator[int]:
    """The length of each message of a batch (struct nlmsghdr)."""
    at = 0
    while at < len(data):
        (length,) = struct.unpack_from("=I", data, at)
        yield length
        at += (length + 3) & ~3


def test_refusal_is_reported_as_the_possible_lines() -> None:
    requests = prepared_requests(plan_of())
    requests.batches = {1: [["first", "second"], ["third"]]}
    text = requests.explain("netlink 1 0 File exists")
    assert text == "The kernel refused a line in h2 (File exists). It is one of: first; third"
    assert requests.explain("netlink 1 1 Busy").endswith("It is one of: second")
    text = requests.explain("setting 2 net/ipv4/tcp_sack Invalid argument")
    assert text == "The setting net.ipv4.tcp_sack was refused in r1: Invalid argument."
    assert "in the whole kernel: no." in requests.explain("setting -1 net/core/x no")
    assert requests.explain("out of memory") == "out of memory"


def test_capture_taps_departures_at_the_sender_and_arrivals_after_the_wire() -> None:
    plan = plan_of(captures=[nl.Capture("r1", "h2", snap_bytes=60), nl.Capture("h1", "s1")])
    requests = prepared_requests(plan)
    requests.take()
    assert asked.add_taps(requests, plan, plan["captures"][0]) == [0, 1, 2, 3]
    found = list(frames(requests.take()))
    taps = [struct.unpack("<II16s", data) for kind, data in found if kind == Request.TAP]
    nodes = [requests.nodes[int.from_bytes(data, "little")] for kind, data in found if kind == Request.ENTER]
    assert nodes == ["r1", "h2", "h2", "r1"]
    assert {snap for _outgoing, snap, _device in taps} == {60}
    assert [outgoing for outgoing, _snap, _device in taps] == [1, 1, 1, 1]
    assert [name.split(".", 1)[1] for name in requests.taps] == [
        "r1-eth1.out",
        "h2-eth0.in",
        "h2-eth0.out",
        "r1-eth1.in",
    ]
    assert [device.rstrip(b"\0").decode() for *_, device in taps][::2] == ["r1-eth1", "h2-eth0"]
    assert asked.add_taps(requests, plan, plan["captures"][1]) == [4, 5, 6, 7]
    plain = [struct.unpack("<II16s", data) for kind, data in frames(requests.take()) if kind == Request.TAP]
    # Without a wire a packet arrives where it is received.
    assert [outgoing for outgoing, _snap, _device in plain] == [1, 0, 1, 0]


def test_changes_are_sent_once_for_each_moment() -> None:
    changes = [nl.Change(at_s=at_s, link=("r1", "h2"), rate_mbps=rate) for at_s, rate in ((1, 2), (3, 4))]
    requests = prepared_requests(plan_of(changes=changes))
    requests.take()
    asked.add_changes(requests, 2 * 10**9)
    first = [(kind, struct.unpack_from("<QII", data)) for kind, data in frames(requests.take())]
    assert {(kind, moment[0]) for kind, moment in first} == {(Request.AT, 10**9)}
    assert {requests.nodes[moment[1]] for _kind, moment in first} == {"r1", "h2"}
    asked.add_changes(requests, 3 * 10**9)
    assert {struct.unpack_from("<Q", data)[0] for _kind, data in frames(requests.take())} == {3 * 10**9}
    asked.add_changes(requests, 10 * 10**9)
    assert requests.take() == b""


def test_time_is_sent_in_nanoseconds() -> None:
    assert asked.begin(0.1) == struct.pack("<QQQQ", 0, 100_000_000, 0, 0)
    assert asked.advance(5, 0.5) == struct.pack("<QQ", 5, 500_000_000)
    assert asked.advance(5, None) == struct.pack("<QQ", 5, 0)
    assert (asked.MOMENT.pack(7), asked.NUMBER.pack(7)) == (struct.pack("<Q", 7), struct.pack("<I", 7))


def test_unsupported_request_is_refused_with_the_engine_that_supports_it() -> None:
    plan = plan_of(nl.Tcp("h1", "h2"), sysctls={"net.netfilter.nf_log_all_netns": 1, "net.ipv4.tcp_sack": 0})
    with pytest.raises(NotHereError, match=r"no setting net.netfilter.nf_log_all_netns. Use engine='pocket'"):
        asked.refuse_filters(plan)
    asked.refuse_filters(plan_of(sysctls={"net.ipv4.tcp_sack": 0}))
    asked.refuse_traffic(plan["traffic"])
    with pytest.raises(NotHereError, match=r"'h1-h2 cubic' \(kind 'sctp'\)"):
        asked.refuse_traffic([{**plan["traffic"][0], "kind": "sctp"}])  # type: ignore[list-item, typeddict-item]
