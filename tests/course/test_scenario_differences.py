"""Differences between a student's scenario and the one that is asked for, as they are reported."""

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
    turned = {"topology": {"hosts": ["c", "b", "a"], "links": three}, "duration_s": 1}
    assert list(differences(turned, requested)) == ["hosts c, b, a, not a, b, c"]
