"""A call with wrong arguments gets a sentence that names the right ones."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable
from typing import Any

import pytest

import netlab
from netlab.base.arguments import explain_bad_arguments, quote_number, unknown_field
from netlab.base.errors import NetlabError, ScenarioError

nl: Any = netlab
"""Without its types, which would refuse these calls."""
NETWORK = nl.topologies.dumbbell(pairs=2)
FLOW = nl.Tcp("h1", "h3")


def error_text(call: Callable[[], object]) -> str:
    with pytest.raises(NetlabError) as caught:
        call()
    return str(caught.value)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: nl.Link("a", "b", 5, 10), "Link takes 2 values without a name (a, b), got 4: 'a', 'b', 5, 10; name the others: nl.Link("),
        (lambda: nl.Link("a"), "Link: b is missing: nl.Link("),
        (lambda: nl.Change(10, ("r1", "r2")), "Change takes no value without a name, got 2: 10, ('r1', 'r2')"),
        (lambda: nl.Change(at=2, link=("r1", "r2")), "unknown argument: got 'at';"),
        (lambda: nl.Change(at=2, link=("r1", "r2")), "did you mean at_s=2?"),
        (lambda: nl.Tcp("h1"), 'Tcp: dst is missing: nl.Tcp("h1", "h2")'),
        (nl.Tcp, "Tcp: src and dst are missing"),
        (nl.Udp, "Udp: src and dst are missing"),
        (lambda: nl.Ping("h1"), "Ping: dst is missing"),
        (lambda: nl.Command("h1"), "Command: command is missing"),
        (nl.Program, "Program: src and dst are missing"),
        (lambda: nl.Tcp("h1", "h2", src="h3"), "Tcp: src is given twice, first as 'h1'; keep one: nl.Tcp("),
        (nl.Capture, 'Capture: a and b are missing: nl.Capture("r1", "h2")'),
        (lambda: nl.Capture("r1", "h2", snap=96), "did you mean snap_bytes=96?"),
        (nl.Trace, "Trace: steps is missing"),
        (lambda: nl.Scenario(NETWORK), "Scenario: traffic is missing"),
        (lambda: nl.Topology(host=["a"]), "did you mean hosts?"),
        (lambda: nl.Topology(["a"], [], [], [], 5), "Topology takes 4 values without a name (hosts, routers, switches, links), got 5"),
        (lambda: nl.Topology(["a", "b"], [nl.Link("a", "b")]), "links have a name: links=[...]"),
        (lambda: nl.Topology("h1"), "hosts must be a list of names, got 'h1'; hosts=['h1']"),
        (nl.run, "run: topology is missing"),
        (lambda: nl.run(NETWORK, [FLOW], 10, 1, 0.1, 5), "run takes 5 values without a name (topology, traffic, "),
        (lambda: nl.run(NETWORK, [FLOW], duration=20), "did you mean duration_s=20?"),
        (lambda: nl.repeat(NETWORK, [FLOW], runs=5), "did you mean seeds=5?"),
        (nl.sweep, "sweep: scenarios is missing"),
        (nl.live, "live: network is missing"),
        (lambda: nl.topologies.dumbbell(2, 5, 10, 100, 7), "dumbbell takes 4 values without a name"),
        (lambda: nl.topologies.dumbbell(bw=5), "did you mean rate_mbps=5?"),
        (lambda: nl.topologies.chain([5]), "chain: delays_ms is missing"),
    ],
)  # fmt: skip
def test_call_with_wrong_arguments_is_reported_with_a_right_one(call: Callable[[], object], words: str) -> None:
    assert words in error_text(call)


@pytest.mark.parametrize(
    ("fields", "meant"),
    [
        ({"bw": 5}, "rate_mbps=5"),
        ({"bandwidth": "5 Mbit/s"}, "rate_mbps=5"),
        ({"rate": "1gbit"}, "rate_mbps=1000"),
        ({"delay": "10ms"}, "delay_ms=10"),
        ({"delay": "250us"}, "delay_ms=0.25"),
        ({"latency": 10}, "delay_ms=10"),
        ({"jitter": "1ms"}, "jitter_ms=1"),
        ({"loss": 2}, "loss_rate=0.02"),
        ({"max_queue_size": 100}, "queue_packets=100"),
        ({"rate_mbs": 5}, "rate_mbps=5"),
    ],
)
def test_a_field_of_mininet_is_translated_with_its_value(fields: dict[str, Any], meant: str) -> None:
    assert f"did you mean {meant}?" in error_text(lambda: nl.Link("a", "b", **fields))
    assert f"did you mean {meant}?" in error_text(lambda: nl.Change(at_s=1, link=("a", "b"), **fields))
    document = {"hosts": ["a", "b"], "links": [{"a": "a", "b": "b", **fields}]}
    assert f"did you mean {meant}?" in error_text(lambda: nl.Topology.from_dict(document))


def test_a_field_that_nothing_is_near_gets_no_guess() -> None:
    assert "did you mean" not in error_text(lambda: nl.Link("a", "b", colour=5))
    assert unknown_field("bw", ["delay_ms"], 5) == "unknown field: got 'bw'; allowed: delay_ms"


def link(**fields: Any) -> netlab.Topology:
    return nl.Topology(["a", "b"], links=[nl.Link("a", "b", **fields)])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: link(rate_mbps="5"), "got '5'; write it without quotes: rate_mbps=5"),
        (lambda: link(rate_mbps="2,19"), "got '2,19'; write it without quotes: rate_mbps=2.19"),
        (lambda: link(rate_mbps="5 Mbit/s"), "the unit is in the name: rate_mbps=5"),
        (lambda: link(rate_mbps="5 furlongs"), "write the number alone, without quotes and without a unit"),
        (lambda: link(rate_mbps=(2, 19)), "a comma makes two numbers, write a point: rate_mbps=2.19"),
        (
            lambda: link(rate_mbps=[(0, 5), (10, 2)]),
            "a rate that changes is a trace: rate_mbps=nl.Trace([(0, 5), (10, 2)])",
        ),
        (lambda: link(rate_mbps=5, delay_ms="0.1 s"), "the unit is in the name: delay_ms=100"),
        (lambda: link(rate_mbps=5, loss_rate="2 %"), "write a fraction: loss_rate=0.02"),
        (lambda: link(rate_mbps=5, loss_rate=2), "for 2 % write 0.02"),
        (lambda: link(rate_mbps=5, queue_packets="100"), "write it without quotes: queue_packets=100"),
        (lambda: link(rate_mbps=5, reorder="yes"), "reorder must be True or False, got 'yes'; write reorder=True"),
        (lambda: nl.run(NETWORK, [FLOW], duration_s="10"), "write it without quotes: duration_s=10"),
        (lambda: nl.run(NETWORK, [FLOW], seed="1"), "write it without quotes: seed=1"),
        (lambda: nl.run(NETWORK, [nl.Tcp("h1", "h3", streams="2")]), "write it without quotes: streams=2"),
        (
            lambda: nl.run(NETWORK, [nl.Tcp("h1", "h3", congestion="Mine")]),
            "a class goes without quotes: congestion=Mine",
        ),
        (lambda: nl.run(NETWORK, [nl.Tcp("h1", "h3", congestion="CUBIC")]), "did you mean cubic?"),
        (
            lambda: nl.run(NETWORK, [FLOW], changes=[nl.Change(at_s="2", link=("r1", "r2"), up="no")]),
            "up must be True or False, got 'no'; write up=False",
        ),
        (
            lambda: nl.run(NETWORK, [FLOW], changes=[nl.Change(at_s=1, link=("r1", "r2"), up=0)]),
            "got 0; write up=False",
        ),
    ],
)
def test_value_of_the_wrong_type_is_reported_with_the_right_type(call: Callable[[], object], words: str) -> None:
    assert words in error_text(call)


def test_a_number_out_of_range_has_no_remedy_by_its_type() -> None:
    assert quote_number("rate_mbps", -1) == "got -1"
    assert quote_number("rate_mbps", "fast") == "got 'fast'"
    assert quote_number("rate_mbps", None) == "got None"
    # A text of another person may be long: the pattern looks at each space once.
    assert quote_number("rate_mbps", "5" + " " * 200_000 + "!").startswith("got '5 ")
    assert (
        quote_number("rate_mbps", "1e999") == "got '1e999'; write the number alone, without quotes and without a unit"
    )


def test_mistake_inside_the_function_is_raised_unchanged() -> None:
    @explain_bad_arguments("add(1, 2)")
    def add(a: Any, b: Any) -> Any:
        return a + b

    with pytest.raises(TypeError, match="unsupported operand"):
        add(1, "2")
    with pytest.raises(ScenarioError, match=r"add: b is missing: add\(1, 2\)"):
        add(1)  # type: ignore[call-arg]


def test_a_comparison_without_labels_names_them() -> None:
    with pytest.raises(
        ScenarioError, match=r'Comparison: x_label and y_label are missing: nl\.plots\.Comparison\("Offered'
    ):
        nl.plots.Comparison()  # type: ignore[call-arg]


def test_signatures_and_pickles_are_those_of_the_classes() -> None:
    assert list(inspect.signature(nl.Tcp).parameters)[:3] == ["src", "dst", "start_s"]
    assert next(iter(inspect.signature(nl.run).parameters)) == "topology"
    assert "rate_mbps" in inspect.signature(nl.Link).parameters
    assert pickle.loads(pickle.dumps(FLOW)) == FLOW  # noqa: S301 - our own


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Flow", "the kinds of traffic are Tcp, Udp, Requests, Ping"),
        ("TCP", "did you mean Tcp?"),
        ("Network", "its classes are Capture, Change"),
        ("Scenarios", "did you mean Scenario?"),
    ],
)
def test_unknown_name_is_reported_with_the_known_names(name: str, words: str) -> None:
    with pytest.raises(AttributeError) as caught:
        getattr(nl, name)
    assert words in str(caught.value)
