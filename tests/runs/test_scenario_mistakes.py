"""Mistakes in a scenario, each reported by a sentence."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import netlab as nl
from netlab.base.errors import ScenarioError
from netlab.runs.scenario import Scenario, read_scenario
from netlab.traffic import KINDS, class_names
from tests.examples import examples
from tests.networks import ANY_VALUE
from tests.runs.scenarios import TCP, TOPOLOGY, mistakes, sound


def test_each_mistake_in_a_file_is_one_sentence(tmp_path: Path) -> None:
    """All mistakes are named: unknown fields, nodes and kinds, values, a loop, a missing word."""
    words = {
        "topology": {
            "hosts": ["h1", "h2"],
            "routers": ["r1"],
            "links": [
                {"a": "h1", "b": "r1", "bw": 5, "loss_rate": 2},
                {"a": "r1", "b": "r1"},
                {"a": "r1", "b": "h7", "delay_ms": -1},
            ],
        },
        "traffic": [
            {"kind": "scp", "src": "h1", "dst": "h2"},
            {"kind": "tcp", "src": "h1", "dst": "h9", "streams": "2"},
            {"kind": "udp", "src": "h1", "dst": "h2", "payload_bytes": 9000},
        ],
        "duration_s": float("nan"),
    }
    file = tmp_path / "scenario.json"
    file.write_text(json.dumps(words))
    with pytest.raises(ScenarioError) as caught:
        read_scenario(file)
    expected = [
        "link h1-r1: unknown field: got 'bw'; allowed: rate_mbps",
        f"traffic 1: kind: got 'scp'; allowed: {', '.join(KINDS)}",
        "traffic 3: rate_mbps is missing; a udp item needs src, dst, rate_mbps",
        "traffic 3: payload_bytes must be a whole number from 32 to 1472, got 9000",
        "link h1-r1: loss_rate must be in [0, 1], got 2; for 2 % write 0.02",
        "link r1-r1: a link must join two different nodes",
        "link r1-h7: there is no node 'h7'; nodes are h1, h2, r1",
        "link r1-h7: delay_ms must be 0 or a number from 0.001 to 250000, got -1",
        "duration_s must be above 0 and at most 86400, got nan",
        "traffic 2 (tcp): streams must be a whole number from 1 to 1000, got '2'",
        "traffic 2 (tcp): dst: got 'h9'; allowed: h1, h2, r1",
    ]
    assert len(caught.value.problems) == len(expected), "\n".join(caught.value.problems)
    for problem, start in zip(caught.value.problems, expected, strict=True):
        assert problem.startswith(start)
    text = str(caught.value)
    assert text.startswith("This cannot run; it has 11 mistakes:\n  - ")
    assert len(text.splitlines()) == 12


@pytest.mark.parametrize(
    ("item", "sentence"),
    [
        ({"kind": "tcp", "src": "h1", "dst": "h1"}, "traffic 1 (tcp): src and dst are both h1; traffic needs two ends"),
        ({"kind": "tcp", "src": "h1", "dst": "h3"}, "traffic 1 (tcp): dst: got 'h3'; allowed: h1, h2, r1"),
        ({"kind": "tcp", "src": "h1", "dst": "s1"}, "traffic 1 (tcp): dst: got 's1'; allowed: h1, h2, r1"),
        ({"kind": "tcp", "src": ["h1"], "dst": "h2"}, "traffic 1 (tcp): src: got ['h1']; allowed: h1, h2, r1"),
        ({"kind": "tcp", "src": "h1"}, "traffic 1: dst is missing; a tcp item needs src, dst"),
        ({"kind": ["tcp"]}, f"traffic 1: kind: got ['tcp']; allowed: {', '.join(KINDS)}"),
        ({}, f"traffic 1: kind: got None; allowed: {', '.join(KINDS)}"),
        ("tcp", "traffic 1 must be an object with a kind, got 'tcp'"),
        (
            {"kind": "tcp", "src": "h1", "dst": "h2", "cc": "reno"},
            (
                "traffic 1: unknown field: got 'cc'; allowed: src, dst, start_s, duration_s, num_bytes, congestion, "
                "streams, window_bytes, mss_bytes, initial_window_segments; did you mean congestion?"
            ),
        ),
        (
            {"kind": "tcp", "src": "h1", "dst": "h2", "congestion": "bbr3"},
            "traffic 1 (tcp): congestion: got 'bbr3'; allowed: reno, cubic, bbr, dctcp, vegas, westwood, htcp, tahoe; did you mean bbr?",
        ),
        (
            {"kind": "tcp", "src": "h1", "dst": "h2", "streams": True},
            "traffic 1 (tcp): streams must be a whole number from 1 to 1000, got True",
        ),
        (
            {"kind": "tcp", "src": "h1", "dst": "h2", "streams": None},
            "traffic 1 (tcp): streams must be a whole number from 1 to 1000, got None",
        ),
        (
            {"kind": "tcp", "src": "h1", "dst": "h2", "streams": 4, "num_bytes": 3},
            "traffic 1 (tcp): num_bytes must be a whole number of at least 4, got 3",
        ),
        (
            {"kind": "tcp", "src": "h1", "dst": "h2", "mss_bytes": 1460},
            "traffic 1 (tcp): mss_bytes must be a whole number from 76 to 1448, got 1460",
        ),
        (
            {"kind": "tcp", "src": "h1", "dst": "h2", "window_bytes": 1e6},
            "traffic 1 (tcp): window_bytes must be a whole number from 2000 to 1073741823, got 1000000.0",
        ),
        (
            {"kind": "tcp", "src": "h1", "dst": "h2", "duration_s": 0},
            "traffic 1 (tcp): duration_s must be a number above 0, got 0",
        ),
        (
            {"kind": "tcp", "src": "h1", "dst": "h2", "start_s": -1},
            "traffic 1 (tcp): start_s must be a number of at least 0, got -1",
        ),
        (
            {"kind": "tcp", "src": "h1", "dst": "h2", "start_s": 10},
            "traffic 1 (tcp): it starts at 10 s, when the run of 10 s is over",
        ),
        (
            {"kind": "udp", "src": "h1", "dst": "h2", "rate_mbps": math.nan},
            "traffic 1 (udp): rate_mbps must be a number from 0.000001 to 100000, got nan",
        ),
        (
            {"kind": "udp", "src": "h1", "dst": "h2", "rate_mbps": "1"},
            "traffic 1 (udp): rate_mbps must be a number from 0.000001 to 100000, got '1'; write it without quotes: rate_mbps=1",
        ),
        (
            {"kind": "udp", "src": "h1", "dst": "h2", "rate_mbps": 1e-300},
            "traffic 1 (udp): rate_mbps must be a number from 0.000001 to 100000, got 1e-300",
        ),
        (
            {"kind": "udp", "src": "h1", "dst": "h2", "rate_mbps": 1, "send_buffer_bytes": 100},
            "traffic 1 (udp): send_buffer_bytes must be a whole number from 10000 to 268435456, got 100",
        ),
        (
            {"kind": "udp", "src": "h1", "dst": "h2", "rate_mbps": 1, "spacing": {}},
            "traffic 1 (udp): spacing: got {}; allowed: auto, even, random",
        ),
        (
            {"kind": "ping", "src": "h1", "dst": "h2", "interval_s": 0},
            "traffic 1 (ping): interval_s must be a number from 0.001 to 86400, got 0",
        ),
        (
            {"kind": "ping", "src": "h1", "dst": "h2", "count": 0},
            "traffic 1 (ping): count must be a whole number of at least 1, got 0",
        ),
        (
            {"kind": "tcp", "src": "h1", "dst": "h2", "num_bytes": 2**63},
            "traffic 1 (tcp): num_bytes must be a whole number from 1 to 9223372036854775807, got 9223372036854775808",
        ),
        (
            {"kind": "ping", "src": "h1", "dst": "h2", "payload_bytes": 8},
            "traffic 1 (ping): payload_bytes must be a whole number from 16 to 1472, got 8",
        ),
        (
            {"kind": "command", "host": "h4", "command": "ls"},
            "traffic 1 (command): host: got 'h4'; allowed: h1, h2, r1, s1",
        ),
        (
            {"kind": "command", "host": "h1", "command": " "},
            "traffic 1 (command): command must be a line for the shell, got ' '",
        ),
    ],
)
def test_a_wrong_item_of_traffic_is_one_sentence(item: Any, sentence: str) -> None:
    assert mistakes(sound(traffic=[item])) == [sentence]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"duration_s": 0}, "duration_s must be above 0 and at most 86400, got 0"),
        (
            {"duration_s": "10"},
            "duration_s must be above 0 and at most 86400, got '10'; write it without quotes: duration_s=10",
        ),
        ({"duration_s": 10**400}, f"duration_s must be above 0 and at most 86400, got 1{'0' * 118}…"),
        ({"interval_s": 1e-6}, "interval_s must be a number of at least 0.001, got 1e-06"),
        ({"interval_s": 60}, "interval_s=60 exceeds the run's duration_s=10; choose a shorter one"),
        (
            {"duration_s": 1000, "interval_s": 0.001},
            "interval_s=0.001 makes 1000000 intervals of a run of 1000 s; 200000 is the most",
        ),
        ({"seed": -1}, "seed must be a whole number from 0 to 2**64 - 1, got -1"),
        ({"seed": 2**64}, "seed must be a whole number from 0 to 2**64 - 1, got 18446744073709551616"),
        ({"seed": 1.0}, "seed must be a whole number from 0 to 2**64 - 1, got 1.0"),
        ({"sysctls": ["net.ipv4.tcp_sack"]}, "sysctls must be a mapping of names to values, got ['net.ipv4.tcp_sack']"),
        (
            {"sysctls": {"kernel.panic": 1}},
            "sysctls: 'kernel.panic' must be a name that begins with net., such as net.ipv4.tcp_sack",
        ),
        (
            {"sysctls": {"net.ipv4/../../kernel.panic": 1}},
            "sysctls: 'net.ipv4/../../kernel.panic' must be a name that begins with net., such as net.ipv4.tcp_sack",
        ),
        (
            {"sysctls": {"net.ipv4.tcp_sack": False}},
            "sysctls: net.ipv4.tcp_sack must be a whole number or a line of text, got False",
        ),
        ({"traffic": []}, f"there is no traffic; add at least one of {', '.join(KINDS)}"),
        ({"traffic": {"kind": "tcp"}}, "traffic must be a list, got {'kind': 'tcp'}"),
        ({"topology": []}, "topology must be an object with hosts and links, got []"),
        (
            {"durations": 5},
            (
                "scenario: unknown field: got 'durations'; allowed: topology, traffic, duration_s, seed, interval_s, "
                "sysctls, captures, changes; did you mean duration_s=5?"
            ),
        ),
    ],
)
def test_a_wrong_setting_is_one_sentence(changes: dict[str, Any], sentence: str) -> None:
    assert mistakes(sound(**changes)) == [sentence]


@pytest.mark.parametrize("words", [[], "scenario", None, 5])
def test_json_that_is_no_object_is_no_scenario(words: Any) -> None:
    assert mistakes(words) == [f"a scenario must be an object with topology and traffic, got {words!r}"]


def test_missing_words_are_named() -> None:
    assert mistakes({}) == ["scenario: topology is missing", "scenario: traffic is missing"]


def test_unreachable_pair_is_reported_before_anything_starts() -> None:
    topology = nl.Topology(["h1", "h2", "h3"], ["r1"], links=[nl.Link("h1", "r1", rate_mbps=1), nl.Link("h2", "r1")])
    scenario = Scenario(topology, [TCP, nl.Ping("h1", "h3"), nl.Ping("h3", "h2")])
    assert scenario.problems() == [
        "traffic 2 (ping): there is no path from h1 to h3; join them with links and routers",
        "traffic 3 (ping): there is no path from h3 to h2; join them with links and routers",
    ]


def test_an_unread_item_does_not_hide_an_unreachable_pair() -> None:
    topology = nl.Topology(["h1", "h2", "h3"], links=[nl.Link("h1", "h2", rate_mbps=1)])
    problems = mistakes({"topology": topology.to_dict(), "traffic": [{"kind": "scp"}, nl.Ping("h1", "h3").to_dict()]})
    assert problems[1:] == ["traffic 2 (ping): there is no path from h1 to h3; join them with links and routers"]


def test_tcp_without_a_limit_would_not_end() -> None:
    topology = nl.Topology(["h1", "h2"], links=[nl.Link("h1", "h2", delay_ms=1)])
    (sentence,) = Scenario(topology, [TCP]).problems()
    assert sentence.startswith("traffic 1 (tcp): no link between h1 and h2 has a rate_mbps")
    assert Scenario(topology, [nl.Tcp("h1", "h2", num_bytes=10**6), nl.Udp("h1", "h2", rate_mbps=1)]).problems() == []


@pytest.mark.parametrize(
    ("arguments", "start"),
    [
        (("dumbbell", [TCP]), "topology must be a netlab.Topology, got 'dumbbell'"),
        ((TOPOLOGY, TCP), "traffic must be a list such as [netlab.Tcp('h1', 'h2')], got Tcp("),
        ((TOPOLOGY, ["h1-h2"]), f"traffic 1 must be a {class_names()}, got 'h1-h2'"),
        ((TOPOLOGY, []), "there is no traffic"),
        ((TOPOLOGY, [TCP], "10"), "duration_s must be"),
        (({**TOPOLOGY.to_dict(), "nodes": []}, [TCP]), "topology: unknown field: "),
        (({}, ()), "scenario: topology is missing"),
        ((sound(), [TCP]), "a whole scenario cannot be combined with traffic; "),
        ((sound(), (), 30), "a whole scenario cannot be combined with traffic, duration_s; make another one: "),
        *(
            (
                (sound(), *[None] * place, value),
                f"a whole scenario cannot be combined with {name}; make another one: scenario | dict({name}=...)",
            )
            for place, name, value in (
                (0, "traffic", ()),
                (1, "duration_s", 10.0),
                (1, "duration_s", 11),
                (2, "seed", 1),
                (2, "seed", 7),
                (3, "interval_s", 0.1),
                (3, "interval_s", 0.2),
            )
        ),
    ],
)
def test_run_refuses_with_one_sentence_before_it_looks_for_an_engine(arguments: Any, start: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        nl.run(*arguments, engine="no such engine")
    problem, *_more = caught.value.problems
    assert problem.startswith(start)


@pytest.mark.parametrize("name", ["sysctls", "captures", "changes"])
def test_a_whole_scenario_cannot_be_combined_with_other_arguments(name: str) -> None:
    for call in (nl.run, nl.repeat) if name != "captures" else (nl.run,):
        scenarios = {r"scenario \| dict": sound(), "dataclasses.replace": Scenario.from_dict(sound())}
        for remedy, scenario in scenarios.items():
            with pytest.raises(
                ScenarioError, match=f"a whole scenario cannot be combined with {name};.*{remedy}.*{name}=..."
            ):
                call(scenario, **{name: ()})


FIELDS = [
    "kind",
    "src",
    "dst",
    "host",
    "command",
    "rate_mbps",
    "streams",
    "start_s",
    "duration_s",
    "congestion",
    "count",
]


@pytest.mark.slow
@examples(300)
@given(
    item=st.fixed_dictionaries({"kind": st.sampled_from(["tcp", "udp", "ping", "command"]) | ANY_VALUE}).flatmap(
        lambda head: st.dictionaries(st.sampled_from(FIELDS[1:]), ANY_VALUE).map(lambda rest: rest | head)
    ),
    rest=st.dictionaries(
        st.sampled_from(["duration_s", "seed", "interval_s", "sysctls", "more", "topology"]), ANY_VALUE
    ),
)
def test_no_words_make_a_traceback(item: Any, rest: dict[str, Any]) -> None:
    """A ScenarioError with sentences of bearable length, or a sound scenario."""
    try:
        Scenario.from_dict(sound(traffic=[item], **rest)).plan()
    except ScenarioError as error:
        assert error.problems
        assert all(len(problem) < 600 for problem in error.problems)


@pytest.mark.parametrize(
    ("content", "start"),
    [
        (b"", "FILE is not JSON: Expecting value in line 1, column 1"),
        (b'{"topology": {},}', "FILE is not JSON: "),
        (
            b'{"seed": 1,\n',
            "FILE is not JSON: Expecting property name enclosed in double quotes in line 2, column 1: ''",
        ),
        (b"\xff\xfe{}", "FILE is not a text file"),
        (b"[" * 100_000, "FILE holds a number too long or lists too deep to be read"),
        (b'{"seed": 1' + b"0" * 5000 + b"}", "FILE holds a number too long or lists too deep to be read"),
        (b'{"seed": 1, "seed": 2}', "scenario: 'seed' is given twice in one object; keep one"),
        (b"[]", "a scenario must be an object with topology and traffic, got []"),
    ],
)
def test_a_file_that_is_no_scenario(tmp_path: Path, content: bytes, start: str) -> None:
    file = tmp_path / "scenario.json"
    file.write_bytes(content)
    with pytest.raises(ScenarioError) as caught:
        read_scenario(file)
    (problem,) = caught.value.problems
    assert problem.startswith(start.replace("FILE", str(file)))


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    for path in (tmp_path / "none.json", tmp_path):
        with pytest.raises(ScenarioError, match="cannot be read"):
            read_scenario(path)
