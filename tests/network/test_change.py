"""Changes of links: description, reading, checks, plans."""

import inspect
import json

import pytest

import netlab as nl
from netlab.base.errors import ScenarioError
from netlab.network import change


def line(**fields):
    return nl.Topology(
        hosts=["h1", "h2"],
        routers=["r1"],
        links=[nl.Link("h1", "r1"), nl.Link("r1", "h2", **{"rate_mbps": 10, "delay_ms": 5, **fields})],
    )


def scenario(*changes, network=None, duration_s=20):
    return nl.Scenario(network or line(), [nl.Tcp("h1", "h2")], duration_s, changes=list(changes))


def problems_of(*changes, **words):
    with pytest.raises(ScenarioError) as error:
        scenario(*changes, **words).validate()
    return error.value.problems


def test_a_scenario_with_changes_comes_back_from_its_file():
    whole = scenario(
        nl.Change(at_s=10, link=("r1", "h2"), rate_mbps=2, reverse={"delay_ms": 50}),
        nl.Change(at_s=12, link=("h2", "r1"), rate_mbps=nl.Trace([(0, 5), (1, 2)])),
        nl.Change(at_s=15, link=("r1", "h2"), up=False),
    )
    words = json.loads(json.dumps(whole.to_dict()))
    assert words["changes"][0] == {"at_s": 10, "link": ["r1", "h2"], "rate_mbps": 2, "reverse": {"delay_ms": 50}}
    assert nl.Scenario.from_dict(words).to_dict() == words
    assert "changes" not in scenario().to_dict()


def test_fields_hold_for_both_directions_unless_reverse_is_given():
    there = nl.Change(at_s=1, link=("h2", "r1"), rate_mbps=2, reverse={"rate_mbps": 3, "delay_ms": 9})
    plan = scenario(there).plan()
    assert [(item["direction"], item["shape"]) for item in plan["changes"]] == [
        (2, {"rate_mbps": 3, "delay_ms": 9}),
        (3, {"rate_mbps": 2}),
    ]
    back = nl.Change(at_s=1, link=("r1", "h2"), reverse={"loss_rate": 0.1})
    assert [item["direction"] for item in scenario(back).plan()["changes"]] == [3]


def test_each_link_has_its_own_two_directions():
    """Directions are numbered as in `Topology.hops`, also those of the first link."""
    network = nl.topologies.dumbbell(pairs=2)
    hops = network.hops()
    for link in network.links:
        planned = scenario(nl.Change(at_s=1, link=(link.a, link.b), delay_ms=77), network=network).plan()["changes"]
        assert [(hops[item["direction"]].src, hops[item["direction"]].dst) for item in planned] == [
            (link.a, link.b),
            (link.b, link.a),
        ]


def test_a_change_adds_to_those_before_it_and_only_what_differs_is_planned():
    plan = scenario(
        nl.Change(at_s=5, link=("r1", "h2"), delay_ms=20),
        nl.Change(at_s=2, link=("r1", "h2"), rate_mbps=4),
        nl.Change(at_s=7, link=("r1", "h2"), rate_mbps=4, delay_ms=30),
    ).plan()
    forward = [(item["at_s"], item["shape"]) for item in plan["changes"] if item["direction"] == 2]
    assert forward == [(2, {"rate_mbps": 4}), (5, {"delay_ms": 20}), (7, {"delay_ms": 30})]


def test_parallel_links_are_distinguished_by_number():
    network = nl.Topology(
        hosts=["h1", "h2"], links=[nl.Link("h1", "h2", rate_mbps=5), nl.Link("h1", "h2", rate_mbps=5)]
    )
    plan = scenario(nl.Change(at_s=1, link=("h1", "h2"), number=2, rate_mbps=1), network=network).plan()
    assert [item["direction"] for item in plan["changes"]] == [2, 3]
    (problem,) = problems_of(nl.Change(at_s=1, link=("h1", "h2"), number=3, rate_mbps=1), network=network)
    assert "h1-h2 3" in problem


def test_every_mistake_is_reported_at_once():
    problems = problems_of(
        nl.Change(at_s=20, link=("r1", "h2"), rate_mbps=2),
        nl.Change(at_s=-1, link=("r1", "h2"), rate_mbps=2),
        nl.Change(at_s=3, link=("r1", "h9"), up=False),
        nl.Change(at_s=4, link=("h1", "r1"), loss_rate=3),
        nl.Change(at_s=5, link="r1", up="no"),
        nl.Change(at_s=6, link=("r1", "h2")),
        nl.Change(at_s=7, link=("r1", "h2"), medium="802.11g"),
        nl.Change(at_s=8, link=("r1", "h2"), rate_mbps=nl.Trace([(1, 2)])),
        5,
    )
    for text in (
        "changes 1: at_s=20 is not within the run, which ends at 20 s",
        "changes 2: at_s must be a time in s from the run's start on, got -1",
        "changes 3: link: got 'r1-h9'; allowed: h1-r1, r1-h2",
        "changes 4: link h1-r1: loss_rate must be in [0, 1], got 3; for 3 % write 0.03",
        "changes 5: link must name the two nodes",
        "changes 5: up must be True or False, got 'no'; write up=False",
        "changes 6 changes nothing",
        "changes 7: medium cannot change while the network runs",
        "changes 8: link r1-h2: rate_mbps: trace, step 1 must begin at 0 s",
        "changes 9 must be a netlab.Change, got 5",
    ):
        assert sum(text in problem for problem in problems) == 1, text
    assert len(problems) == 10


def test_mistake_after_two_changes_is_reported_at_the_second():
    (problem,) = problems_of(
        nl.Change(at_s=1, link=("r1", "h2"), jitter_ms=4),
        nl.Change(at_s=2, link=("r1", "h2"), delay_ms=2),
    )
    assert problem.startswith("changes 2: link r1-h2: jitter_ms must not exceed delay_ms (2)")


@pytest.mark.parametrize(
    ("first", "second", "contradict"),
    [
        ({"up": False}, {"up": True}, True),
        ({"rate_mbps": 2}, {"rate_mbps": 3}, True),
        ({"rate_mbps": 2}, {"rate_mbps": 2}, False),
        ({"rate_mbps": 2}, {"delay_ms": 3}, False),
        ({"reverse": {"rate_mbps": 2}}, {"rate_mbps": 3}, True),
        ({"reverse": {"rate_mbps": 2}}, {"reverse": {"rate_mbps": 3}}, True),
    ],
)
def test_two_changes_of_one_moment_must_not_contradict_each_other(first, second, contradict):
    changes = [nl.Change(at_s=3, link=("r1", "h2"), **words) for words in (first, second)]
    if contradict:
        (problem,) = problems_of(*changes)
        assert problem.startswith("changes 2: ")
        assert "contradicts" in problem
        assert "at the same moment (3 s)" in problem
    else:
        scenario(*changes).validate()


def test_a_shared_medium_cannot_change():
    network = nl.Topology(hosts=["h1", "h2"], links=[nl.Link("h1", "h2", medium="802.11g")])
    (problem,) = problems_of(nl.Change(at_s=1, link=("h1", "h2"), delay_ms=2), network=network)
    assert "link h1-h2 is a shared medium (802.11g), which cannot change" in problem


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (5, "changes 1 must be an object"),
        ({"link": ["r1", "h2"], "up": False}, "changes 1: at_s is missing"),
        ({"at_s": 1, "link": ["r1", "h2"], "rate": 2}, "changes 1: unknown field: got 'rate'"),
        ({"at_s": 1, "link": ["r1", "h2"], "reverse": {"rate": 2}}, "changes 1, reverse: unknown field"),
        ({"at_s": 1, "link": ["r1", "h2"], "reverse": 7}, "changes 1: reverse must be an object"),
        ({"at_s": 1, "link": ["r1", "h2"], "rate_mbps": {"trace": 5}}, "trace must be a list"),
        ({"at_s": 1, "link": ["r1", "h2"], "rate_mbps": {"steps": []}}, "rate_mbps must be a number"),
        ({"at_s": 1, "link": 5, "up": True}, "link must name the two nodes"),
    ],
)
def test_mistake_in_a_file_is_reported(words, message):
    document = {**scenario().to_dict(), "changes": [words]}
    with pytest.raises(ScenarioError) as error:
        nl.Scenario.from_dict(document)
    assert any(message in problem for problem in error.value.problems), error.value.problems


def test_unknown_field_is_reported_with_its_place():
    with pytest.raises(ScenarioError, match="did you mean rate_mbps"):
        nl.Change(at_s=1, link=("r1", "h2"), rate_mpbs=2)


def test_packets_of_the_slowest_time_of_a_link_may_still_arrive():
    slow = scenario(nl.Change(at_s=1, link=("r1", "h2"), rate_mbps=0.1)).plan()["drain_s"]
    always = scenario(network=line(rate_mbps=0.1)).plan()["drain_s"]
    assert slow == pytest.approx(always)


def test_offload_is_chosen_once_for_all_rates_of_a_run():
    def offload(*changes, **fields):
        return scenario(*changes, network=line(**fields)).plan()["directions"][2]["shape"]["segmentation_offload"]

    assert offload(rate_mbps=2000) is None
    assert offload(nl.Change(at_s=1, link=("r1", "h2"), rate_mbps=3000), rate_mbps=2000) is True
    assert offload(nl.Change(at_s=1, link=("r1", "h2"), rate_mbps=500), rate_mbps=2000) is False
    assert offload(rate_mbps=nl.Trace([(0, 2000), (1, 10)])) is False


def test_change_has_a_short_description():
    whole = nl.Change(at_s=1, link=("r1", "h2"), rate_mbps=2, delay_ms=50, reverse={"loss_rate": 0.01}, up=True)
    assert whole.words() == "r1-h2: 2 Mbit/s, 50 ms, back loss 0.01, up"


def test_changing_a_link_leaves_the_other_room_of_its_queue_out():
    link = change.changed_link(nl.Link("r1", "h2", rate_mbps=5, queue_packets=10), "r1", {"queue_bytes": 3000}, {})
    assert (link.forward.queue_packets, link.forward.queue_bytes) == (None, 3000)


def test_a_change_shows_the_fields_of_a_link_to_tab():
    shown = list(inspect.signature(nl.Change).parameters)
    assert shown[:5] == ["at_s", "link", "number", "up", "reverse"]
    assert {"rate_mbps", "delay_ms", "aqm", "loss_rate"} <= set(shown[5:])


def test_wrong_time_and_wrong_link_are_both_reported():
    wrong = nl.Change(at_s=20, link=("r1", "r9"), up=False)
    with pytest.raises(ScenarioError) as raised:
        nl.Scenario(nl.topologies.dumbbell(1), [nl.Tcp("h1", "h2")], 10, changes=[wrong]).validate()
    assert ["at_s=20 is not within" in raised.value.problems[0], "r1-r9" in raised.value.problems[1]] == [True, True]
