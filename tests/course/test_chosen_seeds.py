"""Repetition of runs by a check: tables of honest seeds agree with it, and those of chosen seeds do not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import netlab as nl
from netlab.runs.replications import table_of
from netlab_course import replays
from tests.course.fake_runs import FakeRun, no_replay, replay_of

ALL = range(1, 1001)
SCENARIO = nl.Scenario(nl.topologies.dumbbell(), [nl.Tcp("h1", "h3")], duration_s=10).to_dict()


def values(table: pd.DataFrame) -> pd.Series[float]:
    return table.set_index("seed")["goodput_mbps"]


@pytest.fixture(params=["normal", "exponential", "two values"])
def population(request: pytest.FixtureRequest) -> pd.DataFrame:
    """The runs of all seeds, with values of this distribution."""
    drawn = np.random.default_rng(7)
    values = {
        "normal": drawn.normal(10, 1, len(ALL)),
        "exponential": drawn.exponential(10, len(ALL)),
        "two values": drawn.choice([9.0, 10.0], len(ALL)),
    }[request.param]
    rows = [pd.DataFrame([{"flow": "a", "goodput_mbps": value, "error": None}]) for value in values]
    return table_of(SCENARIO, {seed: FakeRun(row) for seed, row in zip(ALL, rows, strict=True)})  # type: ignore[misc]


def of_seeds(population: pd.DataFrame, seeds: Any) -> pd.DataFrame:
    return population[population["seed"].isin(list(seeds))]


def other_mean(population: pd.DataFrame, seeds: Any) -> Any:
    return replays.mean_of_other_seeds(of_seeds(population, seeds), values, replay_of(population))


def test_honest_seeds_are_seldom_doubted(population: pd.DataFrame) -> None:
    drawn = np.random.default_rng(8)
    doubted = [other_mean(population, drawn.choice(ALL, 16, replace=False)) is not None for _ in range(200)]
    assert sum(doubted) <= 4, "at most 2 %"


def test_seeds_chosen_by_their_results_are_noticed(population: pd.DataFrame) -> None:
    some = of_seeds(population, range(100, 150))
    for chosen in (some.nlargest(10, "goodput_mbps"), some.nsmallest(10, "goodput_mbps")):
        assert other_mean(population, chosen["seed"]) is not None


def test_the_first_seeds_need_no_other_runs(population: pd.DataFrame) -> None:
    def replay(_scenarios: Any) -> Any:
        raise AssertionError("no run is needed")

    assert replays.mean_of_other_seeds(of_seeds(population, range(1, 9)), values, replay) is None


def test_a_machine_that_cannot_measure_doubts_nothing(population: pd.DataFrame) -> None:
    best = population.nlargest(9, "goodput_mbps")
    best.attrs = population.attrs
    assert replays.mean_of_other_seeds(best, values, no_replay) is None
    assert not replays.doubt_about_tables({"my_table": best}, values, "Mbit/s", no_replay)
