"""Describing a network: its words, both directions of a link, and a sentence for every mistake."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import netlab as nl
from netlab.base.errors import ScenarioError
from netlab.network.link import SHAPE_FIELDS, LinkShape
from netlab.network.queues import DISCIPLINES
from tests.examples import examples
from tests.networks import ANY_VALUE, networks

HOSTS = ["h1", "h2"]


def mistakes(**link: Any) -> list[str]:
    """Return the mistakes in two hosts with a link with these fields."""
    try:
        return nl.Topology(HOSTS, links=[nl.Link("h1", "h2", **link)]).problems()
    except ScenarioError as error:
        return error.problems


@examples(60)
@given(topology=networks())
def test_words_and_topology_are_each_others_inverse(topology: nl.Topology) -> None:
    words = json.loads(json.dumps(topology.to_dict(), allow_nan=False))
    assert nl.Topology.from_dict(words) == topology
    assert nl.Topology.from_dict(words).to_dict() == words
    assert topology.problems() == []


@examples(40)
@given(topology=networks())
def test_interfaces_are_numbered_as_mininet_does(topology: nl.Topology) -> None:
    """Per node in the order of links, switches from 1, all others from 0."""
    seen: dict[str, int] = {}
    for forward, backward in zip(topology.hops()[::2], topology.hops()[1::2], strict=True):
        assert (forward.src, forward.dst) == (backward.dst, backward.src)
        assert (forward.interface, forward.dst_interface) == (backward.dst_interface, backward.interface)
        for node, interface in ((forward.src, forward.interface), (forward.dst, forward.dst_interface)):
            assert interface == f"{node}-eth{seen.setdefault(node, int(node in topology.switches))}"
            seen[node] += 1


def test_reverse_overrides_only_what_it_names() -> None:
    link = nl.Link("a", "b", rate_mbps=5, delay_ms=10, queue_packets=100, reverse={"rate_mbps": 1, "queue_bytes": 3000})
    assert link.backward == LinkShape(rate_mbps=1, delay_ms=10, queue_bytes=3000)
    assert link.forward == LinkShape(rate_mbps=5, delay_ms=10, queue_packets=100)
    assert link.to_dict() == {
        "a": "a",
        "b": "b",
        "rate_mbps": 5,
        "delay_ms": 10,
        "queue_packets": 100,
        "reverse": {"rate_mbps": 1, "queue_bytes": 3000},
    }


def test_numbers_of_numpy_are_numbers() -> None:
    """A slider or `np.arange` gives them; JSON must carry them."""
    link = nl.Link(
        "h1",
        "h2",
        rate_mbps=np.int64(5),
        delay_ms=np.float32(0.5),
        queue_packets=np.arange(9)[8],
        aqm="red",
        aqm_options={"ecn": np.True_, "max_packets": np.float64(5)},
        reverse={"delay_ms": np.int8(3)},
    )
    topology = nl.Topology(HOSTS, links=[link])
    assert topology.problems() == []
    assert json.loads(json.dumps(topology.to_dict())) == topology.to_dict()
    assert link.forward.queue_packets == 8


@pytest.mark.parametrize(
    ("link", "sentence"),
    [
        (
            {"rate_mbps": "5"},
            (
                "rate_mbps must be a number from 0.001 to 100000, got '5'; write it without quotes: rate_mbps=5; "
                "leave it out for an unlimited link"
            ),
        ),
        (
            {"rate_mbps": 0},
            "rate_mbps must be a number from 0.001 to 100000, got 0; leave it out for an unlimited link",
        ),
        (
            {"rate_mbps": True},
            "rate_mbps must be a number from 0.001 to 100000, got True; leave it out for an unlimited link",
        ),
        (
            {"rate_mbps": math.nan},
            "rate_mbps must be a number from 0.001 to 100000, got nan; leave it out for an unlimited link",
        ),
        (
            {"rate_mbps": 1e9},
            "rate_mbps must be a number from 0.001 to 100000, got 1000000000.0; leave it out for an unlimited link",
        ),
        ({"delay_ms": -1}, "delay_ms must be 0 or a number from 0.001 to 250000, got -1"),
        ({"delay_ms": None}, "delay_ms must be 0 or a number from 0.001 to 250000, got None"),
        ({"delay_ms": 1e-7}, "delay_ms must be 0 or a number from 0.001 to 250000, got 1e-07"),
        ({"delay_ms": [10]}, "delay_ms must be 0 or a number from 0.001 to 250000, got [10]"),
        ({"loss_rate": 2.0}, "loss_rate must be in [0, 1], got 2.0; for 2 % write 0.02"),
        ({"loss_rate": "5%"}, "loss_rate must be in [0, 1], got '5%'; write a fraction: loss_rate=0.05"),
        ({"loss_rate": math.inf}, "loss_rate must be in [0, 1], got inf"),
        (
            {"duplicate_rate": "1"},
            "duplicate_rate must be in [0, 1], got '1'; write it without quotes: duplicate_rate=1",
        ),
        ({"rate_mbps": 1, "queue_packets": 2.5}, "queue_packets must be a whole number from 1 to 1000000, got 2.5"),
        ({"rate_mbps": 1, "queue_packets": False}, "queue_packets must be a whole number from 1 to 1000000, got False"),
        (
            {"rate_mbps": 1, "queue_bytes": 1513},
            "queue_bytes must be a whole number from 1514 (one full frame) to 1000000000, got 1513",
        ),
        (
            {"rate_mbps": 1, "queue_bytes": 3000, "queue_packets": 2},
            "give queue_packets or queue_bytes, not both (got 2 and 3000)",
        ),
        ({"queue_packets": 5}, "queue_packets=5 needs a rate_mbps: without a rate there is nothing to queue for"),
        ({"aqm": "red"}, "aqm='red' needs a rate_mbps: without a rate nothing queues"),
        (
            {"delay_ms": 1, "jitter_ms": 2},
            "jitter_ms must not exceed delay_ms (1), got 2; a packet cannot arrive before it was sent",
        ),
        ({"reorder": 1}, "reorder must be True or False, got 1; write reorder=True"),
        ({"segmentation_offload": 1}, "segmentation_offload must be true, false or null, got 1"),
        ({"framing": ["tc"]}, "framing: got ['tc']; allowed: tc, ethernet, ip"),
        (
            {"rate_mbps": 1, "aqm": ["red"]},
            f"aqm: got ['red']; allowed: {', '.join(DISCIPLINES)}",
        ),
        ({"rate_mbps": 1, "aqm": "codel", "aqm_options": 5}, "aqm_options must be a mapping, got 5"),
        (
            {"rate_mbps": 1, "aqm": "fifo", "aqm_options": {"ecn": True}},
            "aqm_options of fifo: got 'ecn'; allowed: none",
        ),
        (
            {"rate_mbps": 1, "aqm": "red", "aqm_options": {"ecn": "yes"}},
            "aqm_options: ecn must be True or False, got 'yes'; write ecn=True",
        ),
        (
            {"rate_mbps": 1, "aqm": "red", "aqm_options": {"probability": 1.5}},
            "aqm_options: probability must be a number from 0.01 to 1, got 1.5",
        ),
        (
            {"rate_mbps": 1, "aqm": "red", "aqm_options": {"min_packets": 9, "max_packets": 9}},
            "aqm_options: min_packets must be below max_packets, got 9 and 9",
        ),
        (
            {"rate_mbps": 1, "aqm": "fq_codel", "aqm_options": {"flows": 1.5}},
            "aqm_options: flows must be a whole number from 1 to 65536, got 1.5",
        ),
        (
            {"rate_mbps": 1, "aqm": "pie", "aqm_options": {"target_ms": 0}},
            "aqm_options: target_ms must be a number from 0.001 to 60000, got 0",
        ),
        (
            {"rate_mbps": 1, "aqm": "pie", "queue_bytes": 3000},
            "aqm='pie' limits its queue in packets; give queue_packets instead of queue_bytes",
        ),
        (
            {"medium": "802.11g", "rate_mbps": 54},
            "rate_mbps=54 does not go with a medium, which has its own rate, framing and queue; leave rate_mbps out",
        ),
        ({"medium": "802.11z"}, "medium: got '802.11z'; allowed: 802.11g; did you mean 802.11g?"),
        (
            {"medium": "802.11g", "medium_options": {"rate_mbps": 11}},
            "medium_options: rate_mbps must be one of 6, 9, 12, 18, 24, 36, 48, 54, got 11",
        ),
        ({"medium_options": []}, "medium_options=[] needs a medium, such as medium='802.11g'"),
        ({"burst_loss": 0.1}, "burst_loss must be a mapping, got 0.1"),
        ({"burst_loss": {"enter_rate": 0.1, "leave_rate": 2}}, "burst_loss: leave_rate must be in [0, 1], got 2"),
    ],
)
def test_a_wrong_field_is_one_sentence(link: dict[str, Any], sentence: str) -> None:
    assert mistakes(**link) == [f"link h1-h2: {sentence}"]


def test_a_whole_number_of_five_thousand_digits_is_a_mistake_like_another() -> None:
    (sentence,) = mistakes(delay_ms=10**5000)
    assert sentence.endswith("got a number of thousands of digits")
    assert len(mistakes(rate_mbps=10**400)[0]) < 250


@pytest.mark.parametrize("reverse", [{"medium_options": {"protection": "rts"}}, {"medium": None}])
def test_a_medium_belongs_to_both_directions(reverse: dict[str, Any]) -> None:
    sentence = "link h1-h2, reverse: both directions share one medium; of its options only rate_mbps may differ"
    assert mistakes(medium="802.11g", reverse=reverse) == [sentence]
    assert mistakes(medium="802.11g", delay_ms=5, loss_rate=0.1, queue_packets=20) == []


def test_each_end_of_a_medium_may_have_a_rate_of_its_own() -> None:
    assert mistakes(medium="802.11g", reverse={"medium_options": {"rate_mbps": 6}}) == []
    assert mistakes(medium="802.11g", reverse={"medium_options": {"rate_mbps": 11}}) == [
        "link h1-h2, reverse: medium_options: rate_mbps must be one of 6, 9, 12, 18, 24, 36, 48, 54, got 11"
    ]
    link = nl.Link("h1", "h2", medium="802.11g", reverse={"medium_options": {"rate_mbps": 6}})
    both = nl.Topology(["h1", "h2"], links=[link])
    assert [both.bottleneck_mbps("h1", "h2"), both.bottleneck_mbps("h2", "h1")] == [54, 6]


def test_the_rate_of_a_medium_is_that_of_its_frames() -> None:
    link = nl.Link("h1", "h2", medium="802.11g", medium_options={"rate_mbps": 24})
    assert nl.Topology(["h1", "h2"], links=[link]).bottleneck_mbps("h1", "h2") == 24


def test_a_mistake_that_reverse_inherits_is_one_mistake() -> None:
    assert len(mistakes(loss_rate=2, reverse={"delay_ms": 5})) == 1
    assert mistakes(reverse={"delay_ms": -5}) == [
        "link h1-h2, reverse: delay_ms must be 0 or a number from 0.001 to 250000, got -5"
    ]


@examples(300)
@given(
    fields=st.dictionaries(st.sampled_from([*SHAPE_FIELDS, "reverse", "bandwidth"]), ANY_VALUE, max_size=5),
    options=st.dictionaries(
        st.sampled_from(sorted({"speed"}.union(*(row.options for row in DISCIPLINES.values())))), ANY_VALUE, max_size=3
    ),
    aqm=st.sampled_from([*DISCIPLINES, "drr"]),
)
def test_no_value_of_a_link_makes_a_traceback(fields: dict[str, Any], options: dict[str, Any], aqm: str) -> None:
    """Sound or a ScenarioError; and what is sound is plain JSON."""
    words = {"hosts": HOSTS, "links": [{"a": "h1", "b": "h2", "aqm": aqm, "aqm_options": options, **fields}]}
    try:
        topology = nl.Topology.from_dict(words)
    except ScenarioError as error:
        assert error.problems
        assert all(isinstance(problem, str) and len(problem) < 600 for problem in error.problems)
        return
    if not topology.problems():
        json.dumps(topology.to_dict(), allow_nan=False)


@examples(200)
@given(
    words=st.dictionaries(st.sampled_from(["hosts", "routers", "switches", "links", "nodes"]), ANY_VALUE) | ANY_VALUE
)
def test_no_words_make_a_traceback(words: Any) -> None:
    try:
        problems = nl.Topology.from_dict(words).problems()
    except ScenarioError as error:
        problems = error.problems
    assert all(isinstance(problem, str) for problem in problems)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ({"hosts": ["h1", "h1"]}, "node h1 is named twice; every node needs a name of its own"),
        ({"hosts": ["h1"], "routers": ["h1"]}, "node h1 is named twice; every node needs a name of its own"),
        ({"hosts": []}, "the topology has no hosts; name at least two"),
        ({"hosts": ["h1"], "links": [{"a": "h1", "b": "h1"}]}, "link h1-h1: a link must join two different nodes"),
        ({"hosts": ["h1"], "links": [{"a": "h1", "b": "r1"}]}, "link h1-r1: there is no node 'r1'; nodes are h1"),
        (
            {"hosts": HOSTS, "links": ["h1-h2"]},
            "link 1 must be an object with a and b, got 'h1-h2'; use nl.Link('h1', 'r1')",
        ),
        ({"hosts": HOSTS, "links": [{"a": "h1"}]}, "link 1 must name the node at its end b, got {'a': 'h1'}"),
        (
            {"hosts": HOSTS, "links": [{"a": "h1", "b": "h2", "reverse": 5}]},
            "link h1-h2: reverse must be an object of a link's fields, got 5",
        ),
        ({"hosts": HOSTS, "links": {}}, "topology: links must be a list, got {}"),
        ({"hosts": "h1"}, "topology: hosts must be a list of names, got 'h1'; hosts=['h1']"),
        ({"hosts": ["h1"], "routers": [1]}, "topology: routers must be a list of names, got [1]"),
        (
            {"hosts": ["h1"], "node": []},
            "topology: unknown field: got 'node'; allowed: hosts, routers, switches, links",
        ),
        (
            {"hosts": ["h1"], "switches": ["s1", "s2"], "links": [{"a": "s1", "b": "s2"}, {"a": "s2", "b": "s1"}]},
            "switches must not form a loop: frames would circle in it for ever; use routers there",
        ),
        (
            {
                "hosts": ["h1"],
                "switches": list("abcd"),
                "links": [
                    {"a": "a", "b": "b"},
                    {"a": "c", "b": "d"},
                    {"a": "b", "b": "c"},
                    {"a": "a", "b": "h1"},
                    {"a": "d", "b": "a"},
                ],
            },
            "switches must not form a loop: frames would circle in it for ever; use routers there",
        ),
        ({"hosts": ["wire0"]}, "node name 'wire0' is taken by the system itself; choose another, such as w1"),
        ({"hosts": ["all"]}, "node name 'all' is taken by the system itself; choose another, such as a1"),
    ],
)
def test_a_wrong_topology_is_one_sentence(words: dict[str, Any], sentence: str) -> None:
    try:
        problems = nl.Topology.from_dict(words).problems()
    except ScenarioError as error:
        problems = error.problems
    assert problems == [sentence]


@pytest.mark.parametrize("name", ["", "1h", "h-1", "h 1", "ü1", "h1\n", "h²", "abcdefghij", "h/1", "ｈ1"])
def test_names_that_no_interface_can_carry(name: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        nl.Topology(["h1", name])
    (sentence,) = caught.value.problems
    assert sentence.startswith(f"node name {name!r} must start with a letter and have at most 9 letters")


def test_a_name_of_nine_letters_with_a_hundred_links_is_too_long() -> None:
    hosts = [f"h{i}" for i in range(101)]
    long, short = (
        nl.Topology(hosts, [name], links=[nl.Link(name, host) for host in hosts]) for name in ("abcdefghi", "abcdefgh")
    )
    assert short.problems() == []
    (sentence,) = long.problems()
    assert "abcdefghi-eth100 exceeds the 15 characters" in sentence


def test_mistakes_made_in_python_are_sentences_too() -> None:
    for make in (
        lambda: nl.Topology("h1"),
        lambda: nl.Topology([1, 2]),
        lambda: nl.Topology(5),
        lambda: nl.Topology(HOSTS, links=[("h1", "h2")]),
        lambda: nl.Topology(HOSTS, links=[{"a": "h1"}]),
        lambda: nl.Link(1, "h2"),
        lambda: nl.Link("h1", "h2", bw=5),
        lambda: nl.Link("h1", "h2", reverse=5),
        lambda: nl.Link("h1", "h2", reverse={"speed": 5}),
    ):
        with pytest.raises(ScenarioError) as caught:
            make()
        assert len(caught.value.problems) == 1


def test_invalid_link_is_reported_with_all_other_mistakes() -> None:
    with pytest.raises(ScenarioError) as caught:
        nl.Topology(["h1", "h1"], ["r1"], links=[nl.Link("r1", "h2", rate_mbps="10", delay_ms=-1), "r1-h1"])
    assert caught.value.problems == [
        "link 2 must be an object with a and b, got 'r1-h1'; use nl.Link('h1', 'r1')",
        "node h1 is named twice; every node needs a name of its own",
        "link r1-h2: there is no node 'h2'; nodes are h1, h1, r1",
        (
            "link r1-h2: rate_mbps must be a number from 0.001 to 100000, got '10'; write it without quotes: rate_mbps=10; "
            "leave it out for an unlimited link"
        ),
        "link r1-h2: delay_ms must be 0 or a number from 0.001 to 250000, got -1",
    ]


def test_odd_networks_are_no_mistakes() -> None:
    """Nodes without links, parallel links, a host with two links."""
    links = [nl.Link("h1", "r1"), nl.Link("r1", "h1"), nl.Link("h1", "h2")]
    assert nl.Topology(["h1", "h2", "h3"], ["r1", "r2"], ["s1"], links).problems() == []


def test_unused_links_are_reported() -> None:
    links = [nl.Link("h1", "r1"), nl.Link("r1", "h2", rate_mbps=5), nl.Link("h2", "r1", rate_mbps=50)]
    network = nl.Topology(["h1", "h2"], ["r1"], links=links)
    assert network.unused_links() == [
        "2 links join h2 and r1, and all traffic between them takes the first: is another link meant?"
    ]
    assert network.path_hops("h1", "h2")[-1].rate_mbps == 5
    assert nl.Topology(["h1", "h2"], ["r1"], links=links[:2]).unused_links() == []
