"""From the changes of a plan to what nodes are told, moment by moment."""

import itertools
from typing import Any

import netlab as nl
from netlab.network.link import LinkShape
from netlab_engines.planning.schedule import Schedule, shaped_directions, transition

HOP: Any = {"src": "r1", "dst": "h2", "interface": "r1-eth1", "dst_interface": "h2-eth0"}


def lines(old, new, was_up=True, is_up=True, clock="virtual"):
    shapes = [LinkShape(**words).to_plan() for words in (old, new)]
    return [
        (step.node, step.line)
        for step in transition({**HOP, "shape": shapes[0]}, shapes[0], shapes[1], was_up, is_up, clock)
    ]


def plan(network, *changes):
    return nl.Scenario(network, [nl.Ping("h1", "h2")], 60, changes=changes).plan()


def two_links(**fields):
    return nl.Topology(hosts=["h1", "h2"], links=[nl.Link("h1", "h2", **fields)])


def moments(planned, until_s, clock="virtual"):
    schedule = Schedule(list(planned["directions"]), clock, 1)
    schedule.add(planned["changes"])
    found = []
    while (at_ns := schedule.next_ns) is not None and at_ns <= until_s * 1e9:
        found.append((at_ns / 1e9, schedule.pop(), schedule.directions[0]["shape"]["rate_mbps"]))
    return found


def test_a_new_rate_changes_the_queue_and_the_wire_in_place():
    assert lines({"rate_mbps": 10}, {"rate_mbps": 2}) == [
        ("r1", "tc qdisc change dev r1-eth1 root handle 1: tbf rate 2000000bit burst 2018b limit 1000000000b"),
        # The kernel gives the fifo inside the tbf the limit of the tbf.
        ("r1", "tc qdisc change dev r1-eth1 parent 1: handle 2: pfifo limit 1000"),
        ("h2", "tc qdisc change dev wire0 root handle 1: netem limit 10000000 rate 2000000bit"),
    ]


def test_a_discipline_that_a_new_rate_would_make_forget_is_left_alone():
    for aqm in ("red", "codel", "pie", "fq_codel", "choke"):
        text = lines({"rate_mbps": 10, "aqm": aqm}, {"rate_mbps": 2, "aqm": aqm})
        assert [next(word for word in ("tbf", "netem", aqm) if f" {word} " in line) for _, line in text] == [
            "tbf",
            "netem",
        ]


def test_classes_keep_their_packets_unless_there_are_more_or_fewer_of_them():
    old = {"rate_mbps": 10, "aqm": "drr", "aqm_options": {"quanta_bytes": [1500, 1500]}}
    shares = {**old, "aqm_options": {"quanta_bytes": [1500, 3000]}}
    assert lines(old, shares) == [("r1", "tc class change dev r1-eth1 parent 2: classid 2:2 drr quantum 3000b")]
    packets = {**old, "queue_packets": 50}
    assert [line.split(" ", 5)[5] for _, line in lines(old, packets)] == [
        "parent 2:1 handle 11: pfifo limit 50",
        "parent 2:2 handle 12: pfifo limit 50",
    ]
    more = [line for _, line in lines(old, {**old, "aqm_options": {"quanta_bytes": [1500] * 3}})]
    assert more[0] == "tc qdisc del dev r1-eth1 root" and len(more) == 1 + 2 + 3 + 3 + 2
    rate = [line for _, line in lines(old, {**old, "rate_mbps": 2})]
    assert [line.split()[1:3] for line in rate] == [["qdisc", "change"]] * 2, "the tbf and the wire alone"


def test_a_new_delay_changes_the_wire_alone():
    assert lines({"rate_mbps": 10, "delay_ms": 5}, {"rate_mbps": 10, "delay_ms": 50}) == [
        ("h2", "tc qdisc change dev wire0 root handle 1: netem limit 10000000 delay 50000us rate 10000000bit")
    ]


def test_wire_without_a_rate_is_set_to_rate_zero():
    (wire,) = (line for _, line in lines({"rate_mbps": 10, "delay_ms": 5}, {"delay_ms": 5}) if "netem" in line)
    assert wire.endswith("delay 5000us rate 0bit")


def test_a_link_gets_a_queue_and_a_wire_and_loses_them_again():
    assert [line.split()[:4] for _, line in lines({}, {"rate_mbps": 2})] == [
        ["tc", "qdisc", "add", "dev"],
        ["tc", "qdisc", "add", "dev"],
        ["ip", "link", "add", "name"],
        ["ip", "link", "set", "dev"],
        ["tc", "qdisc", "add", "dev"],
        ["tc", "qdisc", "add", "dev"],
        ["tc", "filter", "add", "dev"],
    ]
    assert lines({"rate_mbps": 2}, {}) == [
        ("r1", "tc qdisc del dev r1-eth1 root"),
        ("h2", "tc qdisc del dev h2-eth0 ingress"),
        ("h2", "ip link del dev wire0"),
    ]


def test_a_link_that_goes_down_cuts_its_wire_then_empties_its_queue_into_it():
    down = lines({"rate_mbps": 2}, {"rate_mbps": 2}, is_up=False)
    assert down[0] == ("h2", "ip link set dev wire0 down")
    assert "tbf rate 100000000000bit" in down[1][1]
    up = lines({"rate_mbps": 2}, {"rate_mbps": 2}, was_up=False)
    assert up[-1] == ("h2", "ip link set dev wire0 up")
    assert "tbf rate 2000000bit" in up[0][1]


def test_a_link_without_a_wire_is_cut_by_one_that_takes_nothing():
    down = [line for _, line in lines({}, {}, is_up=False)]
    assert down[0] == "ip link add name wire0 type ifb"
    assert not any("set dev wire0 up" in line for line in down)
    assert lines({}, {}, was_up=False) == [
        ("h2", "tc qdisc del dev h2-eth0 ingress"),
        ("h2", "ip link del dev wire0"),
    ]


def test_unchanged_fields_are_not_sent():
    shape = {"rate_mbps": 2, "delay_ms": 3, "aqm": "red"}
    assert lines(shape, shape) == []


def test_a_trace_begins_with_the_run_and_begins_again_at_its_end():
    found = moments(plan(two_links(rate_mbps=nl.Trace([(0, 5), (1, 2), (1.5, 0)], 3))), 7)
    assert [(at_s, rate) for at_s, _, rate in found] == [
        (0, 5), (1, 2), (1.5, 0.001), (3, 5), (4, 2), (4.5, 0.001), (6, 5), (7, 2),
    ]  # fmt: skip
    # At the start the link is as it was made.
    assert found[0][1] == []


def test_a_change_of_the_rate_ends_a_trace_and_any_other_does_not():
    network = two_links(rate_mbps=nl.Trace([(0, 5), (1, 2)]))
    found = moments(
        plan(
            network,
            nl.Change(at_s=2.5, link=("h1", "h2"), delay_ms=3),
            nl.Change(at_s=4, link=("h1", "h2"), rate_mbps=7),
        ),
        20,
    )
    assert [(at_s, rate) for at_s, _, rate in found if at_s >= 2] == [(2, 5), (2.5, 5), (3, 2), (4, 7), (5, 7)]
    assert found[-1][1] == []


def test_a_link_that_is_down_comes_back_as_it_was_changed_meanwhile():
    network = two_links(rate_mbps=10)
    found = moments(
        plan(
            network,
            nl.Change(at_s=1, link=("h1", "h2"), up=False),
            nl.Change(at_s=2, link=("h1", "h2"), rate_mbps=3),
            nl.Change(at_s=3, link=("h1", "h2"), up=True),
        ),
        5,
    )
    rates = [[word for word in step.line.split() if word.endswith("bit")] for _, steps, _ in found for step in steps]
    assert list(itertools.chain(*rates)) == ["100000000000bit"] * 2 + ["3000000bit"] * 4


def test_a_real_clock_follows_a_trace_in_steps_of_a_second():
    trace = nl.Trace([(k / 10, k % 10 + 1) for k in range(30)])
    found = moments(plan(two_links(rate_mbps=trace)), 2.99, "real")
    assert [at_s for at_s, _, _ in found] == [0, 1, 2]
    assert all(abs(rate - 5.5) < 1e-9 for _, _, rate in found)


def test_queues_are_sampled_where_there_is_ever_a_rate():
    network = nl.Topology(hosts=["h1", "h2"], links=[nl.Link("h1", "h2"), nl.Link("h1", "h2", rate_mbps=5)])
    change = nl.Change(at_s=1, link=("h1", "h2"), reverse={"rate_mbps": 2})
    assert [hop["interface"] for hop in shaped_directions(plan(network))] == ["h1-eth1", "h2-eth1"]
    assert [hop["interface"] for hop in shaped_directions(plan(network, change))] == ["h2-eth0", "h2-eth1", "h1-eth1"]
