"""Repeating a scenario with other seeds, and how sure a mean is."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import stdtrit

import netlab as nl
from netlab.base.errors import NetlabError, ScenarioError
from netlab.runs import replications

NETWORK = nl.topologies.dumbbell(pairs=1)
TRAFFIC = [nl.Udp("h1", "h2", rate_mbps=1)]


class FakeRun:
    def __init__(self, scenario: nl.Scenario) -> None:
        self.flows = pd.DataFrame({"flow": ["a", "b"], "goodput_mbps": [scenario.seed * 1.0, 2.0]})


@pytest.fixture
def swept(monkeypatch: pytest.MonkeyPatch) -> list[dict[int, nl.Scenario]]:
    asked: list[dict[int, nl.Scenario]] = []

    def sweep(scenarios: dict[int, nl.Scenario], **_words: Any) -> dict[int, FakeRun]:
        asked.append(scenarios)
        return {seed: FakeRun(scenario) for seed, scenario in scenarios.items()}

    monkeypatch.setattr(replications, "sweep", sweep)
    return asked


def test_a_number_of_seeds_begins_at_one_and_gives_one_table(swept: list[Any]) -> None:
    table = nl.repeat(nl.Scenario(NETWORK, TRAFFIC, seed=7), seeds=3)
    assert list(table.columns) == ["seed", "flow", "goodput_mbps"]
    assert list(table["seed"]) == [1, 1, 2, 2, 3, 3]
    assert [scenario.seed for scenario in swept[0].values()] == [1, 2, 3]
    assert list(table.loc[table["flow"] == "a", "goodput_mbps"]) == [1, 2, 3]


def test_a_network_that_changes_can_be_repeated(swept: list[Any]) -> None:
    changes = [nl.Change(at_s=1, link=("r1", "r2"), rate_mbps=2)]
    nl.repeat(NETWORK, TRAFFIC, 2, seeds=2, changes=changes)
    assert [list(scenario.changes) for scenario in swept[0].values()] == [changes, changes]


def test_what_was_repeated_stays_with_the_table_and_is_copied_by_no_operation_on_it(swept: list[Any]) -> None:
    table = nl.repeat(NETWORK, TRAFFIC, 2, seeds=2)
    assert table.attrs["scenario"] == nl.Scenario(NETWORK, TRAFFIC, 2).to_dict()
    assert table[table["seed"] == 1].sort_values("flow").attrs["scenario"] is table.attrs["scenario"]


@pytest.mark.parametrize("seeds", [[4, 9], (4, 9), iter([4, 9]), np.array([4, 9])])
def test_the_seeds_may_be_named(swept: list[Any], seeds: Any) -> None:
    assert list(nl.repeat(NETWORK, TRAFFIC, 2, seeds=seeds)["seed"].unique()) == [4, 9]
    assert [scenario.duration_s for scenario in swept[0].values()] == [2, 2]


@pytest.mark.parametrize(
    ("seeds", "words"),
    [
        (0, "1 or more"),
        ("10", "a whole number or a list"),
        ([], "one seed or more"),
        ([1, 1], "must differ"),
        ([1.5], "1.5 is no whole"),
    ],
)
def test_seeds_that_are_none_are_told_before_anything_runs(swept: list[Any], seeds: Any, words: str) -> None:
    with pytest.raises(ScenarioError, match=words):
        nl.repeat(NETWORK, TRAFFIC, seeds=seeds)
    assert not swept


def test_mistakes_of_the_scenario_and_of_the_seeds_are_told_at_once(swept: list[Any]) -> None:
    with pytest.raises(ScenarioError) as told:
        nl.repeat(NETWORK, [nl.Udp("h1", "h9", rate_mbps=1)], seeds=0)
    assert len(told.value.problems) == 2
    assert not swept


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=30))
def test_an_interval_is_students(values: list[float]) -> None:
    mean, half = nl.interval(values)
    assert mean == pytest.approx(np.mean(values), rel=1e-9, abs=1e-6)
    # scipy.stats has all of it in one call, and takes a second to import.
    expected = stdtrit(len(values) - 1, 0.975) * np.std(values, ddof=1) / math.sqrt(len(values))
    assert half == pytest.approx(expected, rel=1e-6, abs=1e-6)


def test_about_95_of_100_intervals_hold_the_true_mean() -> None:
    draws = np.random.default_rng(1).normal(5, 2, size=(2000, 5))
    held = sum(abs(mean - 5) <= half for mean, half in map(nl.interval, draws))
    assert 0.93 < held / 2000 < 0.97


def test_an_interval_takes_a_column_and_reads_well() -> None:
    found = nl.interval(pd.Series([1.0, 2.0, 3.0]))
    assert (str(found), f"{found}", f"{found:.2f}", f"{found:.0%}") == (
        "2 ± 2.5",
        "2 ± 2.5",
        "2.00 ± 2.48",
        "200% ± 248%",
    )


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([], "two values or more, got 0"),
        ([1.0], "two values or more, got 1"),
        ([1.0, float("nan"), 2.0], "1 of 3 values are missing"),
        (["3", "4"], "takes numbers, and '3' is a text: write numbers without quotes"),
        ("34", "a list or a column of numbers"),
        ([1.0, float("inf")], "1 of 2 values are infinite"),
        (
            pd.Series([1.0, None], name="rtt_max_ms"),
            r'such as my_table\[my_table\["kind"\] == "ping"\]\["rtt_max_ms"\]',
        ),
        (5, "a list or a column of numbers"),
    ],
)
def test_what_has_no_interval_is_told(values: Any, words: str) -> None:
    with pytest.raises(NetlabError, match=words):
        nl.interval(values)


@pytest.mark.library
def test_the_same_seeds_give_the_same_table() -> None:
    lossy = nl.Topology(hosts=["h1", "h2"], links=[nl.Link("h1", "h2", rate_mbps=5, loss_rate=0.1)])
    words: dict[str, Any] = {"seeds": 3, "fresh": True, "progress": False}
    one = nl.repeat(lossy, TRAFFIC, 2, **words)
    pd.testing.assert_frame_equal(one, nl.repeat(lossy, TRAFFIC, 2, **words))
    assert len(set(one["loss_rate"])) > 1
