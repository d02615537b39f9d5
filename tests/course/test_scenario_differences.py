"""Differences between a student's scenario and the one that is asked for, as they are reported."""

from typing import Any

import netlab as nl
from netlab_course.scenario_differences import differences


def test_different_nodes_and_links_are_reported_by_name() -> None:
    three = [{"a": each, "b": "r"} for each in "abc"]
    requested = {"topology": {"hosts": ["a", "b", "c"], "links": three}, "duration_s": 1}
    links = [{"a": "a", "b": "r"}, {"a": "c", "b": "r", "queue_packets": 9}]
    given = {"topology": {"hosts": ["a", "c", "d"], "links": links}, "duration_s": 1}
    assert list(differences(given, requested)) == [
        "hosts that are missing: b",
        "hosts that were not asked for: d",
        "link: 2 in place of 3",
        "link c-r: queue_packets=9, not asked for",
    ]


def network_of(hosts: str, *links: nl.Link) -> dict[str, Any]:
    """The dict of a scenario of 1 s without traffic, with hosts of one letter each and a router r."""
    return nl.Scenario(nl.Topology(list(hosts), ["r"], links=links), [], duration_s=1).to_dict()


def test_the_order_of_nodes_and_links_makes_no_difference() -> None:
    slow, fast = nl.Link("a", "r", rate_mbps=1, reverse={"rate_mbps": None}), nl.Link("r", "b")
    asked = network_of("ab", slow, fast)
    assert list(differences(network_of("ba", fast, slow), asked)) == []
    turned = [nl.Link("b", "r"), nl.Link("r", "a", reverse={"rate_mbps": 1})]
    assert list(differences(network_of("ba", *turned), asked)) == []
    wrong_way = [nl.Link("b", "r"), nl.Link("r", "a", rate_mbps=1, reverse={"rate_mbps": None})]
    assert list(differences(network_of("ba", *wrong_way), asked)) == [
        "link a-r: reverse={'rate_mbps': 1}, not {'rate_mbps': None}",
        "link a-r: rate_mbps=None, not 1",
    ]


def test_of_parallel_links_the_first_stays_the_first() -> None:
    slow, fast = nl.Link("a", "r", rate_mbps=1), nl.Link("a", "r", rate_mbps=9)
    given, asked = network_of("a", fast, slow), network_of("a", slow, fast)
    assert list(differences(given, asked)) == ["link a-r: rate_mbps=9, not 1", "link a-r: rate_mbps=1, not 9"]


def test_links_with_other_ends_are_reported_each_by_itself() -> None:
    asked = network_of("abc", nl.Link("a", "r"), nl.Link("b", "r"), nl.Link("c", "r"))
    given = network_of("abc", nl.Link("c", "r"), nl.Link("a", "r"), nl.Link("b", "c"))
    assert list(differences(given, asked)) == ["link b-c: b=c, not r"]
