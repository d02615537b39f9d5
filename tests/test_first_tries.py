"""First attempts of students: each error message must help."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

import netlab as nl
from netlab.base.errors import NetlabError, ScenarioError
from netlab.runs.scenario import read_scenario

NETWORK = nl.topologies.dumbbell()


@pytest.mark.parametrize(
    ("attempt", "words"),
    [
        (lambda: nl.Udp("h1", "h3", rate_mbps=1, size_bytes=500), "allowed: src, dst, rate_mbps, payload_bytes"),  # type: ignore[call-arg]
        (lambda: nl.Ping("h1", "h3", interval_ms=5), "did you mean interval_s=0.005?"),  # type: ignore[call-arg]
        (lambda: nl.run(NETWORK, [nl.Ping("h1", "h3")], duration=5), "did you mean duration_s=5?"),  # type: ignore[call-arg]
        (
            lambda: nl.run(NETWORK, nl.Tcp("h1", "h3"), nl.Ping("h1", "h3"), duration_s=5),
            "keep one: nl.run(network, [nl.Tcp(",
        ),
        (lambda: nl.run(NETWORK, nl.Tcp("h1", "h3")), "traffic must be a list"),
        (lambda: nl.run(NETWORK, [nl.Tcp("h1", "h3", congestion="CUBIC")]), "did you mean cubic?"),
        (lambda: nl.Link("h1", "h2", rate=5), "did you mean rate_mbps=5?"),
        (lambda: nl.topologies.dumbbell(pair=1), "did you mean pairs=1?"),
        (lambda: nl.repeat(NETWORK, [nl.Ping("h1", "h3")], seed=5), "did you mean seeds=5?"),  # type: ignore[call-arg]
        (lambda: nl.Topology(["h1", "h2"], links=[("h1", "h2")]), "; use nl.Link('h1', 'h2')"),  # type: ignore[list-item]
        (lambda: nl.Topology(["h1", "h2"], links=[["h1", "h2"]]), "; use nl.Link('h1', 'h2')"),  # type: ignore[list-item]
        (lambda: nl.Topology(["h1", "h2"], links=nl.Link("h1", "h2")), "links must be a list such as [nl.Link("),  # type: ignore[arg-type]
        (lambda: nl.Topology(["h1", "h2"], links=5), "links must be a list such as [nl.Link("),  # type: ignore[arg-type]
        (lambda: nl.Change(at_s=1, link=nl.Link("r1", "h3"), up=False), "write link=('r1', 'h3')"),  # type: ignore[arg-type]
        (
            lambda: nl.Scenario(NETWORK, [nl.Ping("h1", "h3")], captures=[("r1", "r2")]).validate(),  # type: ignore[list-item]
            "; write nl.Capture('r1', 'r2')",
        ),
        (
            lambda: nl.Scenario(NETWORK, [nl.Ping("h1", "h3")], captures=[NETWORK.links[0]]).validate(),  # type: ignore[list-item]
            "; write nl.Capture('h1', 'r1')",
        ),
    ],
)
def test_mistake_is_reported_with_the_allowed_values(attempt: Callable[[], object], words: str) -> None:
    with pytest.raises(ScenarioError) as raised:
        attempt()
    assert words in str(raised.value)


@pytest.mark.parametrize(
    ("table", "column"),
    [
        (pd.DataFrame({"seed": [1, 2], "goodput_mbps": [4.7, 4.8], "kind": ["tcp", "tcp"]}), "goodput_mbps"),
        (pd.DataFrame({"seed": [1, 2], "share": [0.4, 0.5]}), "share"),
    ],
)
def test_interval_of_a_table_asks_for_a_column_of_numbers(table: pd.DataFrame, column: str) -> None:
    text = f'takes one column, such as my_table["{column}"]. Numbers: seed, {column}.'
    with pytest.raises(NetlabError, match=re.escape(text)):
        nl.interval(table)
    with pytest.raises(NetlabError, match=re.escape(text)):
        nl.interval([1, 2], table)


def test_a_class_in_other_letters_is_guessed() -> None:
    with pytest.raises(AttributeError, match="did you mean Tcp"):
        _ = nl.TCP


@pytest.mark.parametrize("function", [nl.Link, nl.topologies.dumbbell, nl.topologies.portfolio])
def test_functions_with_link_fields_show_them(function: Callable[..., object]) -> None:
    parameters = inspect.signature(function).parameters
    assert {"aqm", "loss_rate", "queue_packets", "delay_ms"} <= parameters.keys() | {"queue_packets", "delay_ms"}
    assert parameters["aqm"].default == "fifo"
    assert parameters["aqm"].kind is inspect.Parameter.KEYWORD_ONLY
    assert not any(item.kind is inspect.Parameter.VAR_KEYWORD for item in parameters.values())


def test_a_links_documentation_has_its_fields_with_their_units() -> None:
    assert "One-way propagation delay in ms." in (nl.Link.__doc__ or "")


@pytest.mark.parametrize("module", [nl.topologies, nl.theory, nl.plots])
def test_tab_completes_public_names_only(module: object) -> None:
    offered = set(dir(module))
    assert offered <= set(module.__all__)  # type: ignore[attr-defined]
    assert not offered & {"Any", "annotations", "Mapping", "ScenarioError"}


def test_an_error_in_a_notebook_shows_the_students_line_and_the_message() -> None:
    with pytest.raises(NetlabError) as raised:
        nl.Link("h1", "h2", rate=5)
    shown = raised.value._render_traceback_()
    assert 'nl.Link("h1", "h2", rate=5)' in shown[0]
    assert "ScenarioError" in shown[-1]
    assert "link.py" not in "".join(shown)


def test_a_file_with_a_slip_of_json_shows_the_line(tmp_path: Path) -> None:
    path = tmp_path / "scenario.json"
    path.write_text('{"topology": {},\n "traffic": [],\n}')
    with pytest.raises(ScenarioError, match=r"in line 3, column 1: '}'"):
        read_scenario(path)


def test_file_with_a_topology_alone_is_reported_with_the_form_of_a_scenario(tmp_path: Path) -> None:
    path = tmp_path / "topology.json"
    path.write_text(json.dumps(NETWORK.to_dict()))
    with pytest.raises(ScenarioError) as raised:
        read_scenario(path)
    assert len(raised.value.problems) == 1
    assert '{"topology": ..., "traffic": [...]}' in str(raised.value)


def test_a_table_draws_itself_with_plotly() -> None:
    nl.Run  # noqa: B018 (what brings tables sets how they are drawn)
    figure = pd.DataFrame({"t_s": [0, 1], "rtt_ms": [5, 6]}).plot(x="t_s", y="rtt_ms")
    assert type(figure).__module__.startswith("plotly")
