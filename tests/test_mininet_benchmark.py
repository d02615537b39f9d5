"""The scripts that `benchmarks/mininet_scripts.py` runs; the runs themselves are started by hand."""

from tests.programs import load

mininet_scripts = load("benchmarks/mininet_scripts.py")


def test_mininets_examples_course_topologies_and_published_labs_are_found() -> None:
    names = mininet_scripts.scripts()
    assert {"treeping64", "bufferbloat", "lab_epfl_two_bottlenecks"} <= names.keys()


def test_the_lab_with_two_bottlenecks_has_two_slow_links_in_a_row() -> None:
    topology = mininet_scripts.two_bottlenecks()
    assert list(topology.hosts) == ["h1", "h2", "h3"]
    hops = [hop.to_dict() for hop in topology.hops()]
    slow = [(hop["src"], hop["dst"]) for hop in hops if hop["shape"]["rate_mbps"] == 5]
    assert sorted(slow) == [("r1", "r2"), ("r2", "h3")]
