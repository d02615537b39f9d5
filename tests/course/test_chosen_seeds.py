"""Repetition of runs by a check: tables of honest seeds agree with it, and those of chosen seeds do not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import netlab as nl
from netlab.runs.replications import table_of
from netlab_course import cell_history, replays
from tests.fake_runs import FakeRun, no_replay, replay_of

ALL = range(1, 1001)
SCENARIO = nl.Scenario(nl.topologies.dumbbell(), [nl.Tcp("h1", "h3")], duration_s=10).to_dict()


def values(table: pd.DataFrame) -> pd.Series[float]:
    return table.set_index("seed")["goodput_mbps"]


@pytest.fixture(scope="module", params=["normal", "exponential", "two values"])
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


@pytest.mark.slow
def test_honest_seeds_are_seldom_doubted(population: pd.DataFrame) -> None:
    drawn = np.random.default_rng(8)
    # The other seeds are the same each time.
    others: dict[int, Any] = {}

    def replay(scenarios: Any) -> Any:
        others.update({} if others else replay_of(population)(scenarios))
        return others

    tables = [of_seeds(population, drawn.choice(ALL, 16, replace=False)) for _ in range(200)]
    doubted = [replays.mean_of_other_seeds(table, values, replay) is not None for table in tables]
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


def test_seeds_near_the_median_are_noticed(population: pd.DataFrame) -> None:
    middle = of_seeds(population, range(1, 61)).sort_values("goodput_mbps").iloc[22:34]
    if float(values(middle).std()) > 0.3 * float(values(population).std()):
        pytest.skip("two values have no middle")
    assert other_mean(population, middle["seed"]) is not None


def test_seeds_that_move_the_mean_to_the_other_side_of_a_number_are_noticed() -> None:
    drawn = np.random.default_rng(5).normal(10, 1, 60)
    rows = {
        seed: FakeRun(pd.DataFrame([{"flow": "a", "goodput_mbps": value, "error": None}]))
        for seed, value in enumerate(drawn, start=1)
    }
    population = table_of(SCENARIO, rows)  # type: ignore[arg-type]
    # Every second value above the first quartile: the mean moves by half of a standard deviation.
    chosen = of_seeds(population, population.sort_values("goodput_mbps")["seed"].iloc[15::3])
    own = nl.interval(values(chosen))
    number = own.mean - own.half_width - 0.01
    assert replays.mean_of_other_seeds(chosen, values, replay_of(population)) is None, "no side matters"
    assert replays.mean_of_other_seeds(chosen, values, replay_of(population), number) is not None


def test_honest_seeds_in_a_row_may_leave_open_what_others_decide(population: pd.DataFrame) -> None:
    for first in range(100, 300, 10):
        table = of_seeds(population, range(first, first + 10))
        found = nl.interval(values(table))
        doubt = replays.mean_of_other_seeds(table, values, replay_of(population), found.mean)
        assert doubt is None or abs(doubt.mean - found.mean) > doubt.half_width


class Mine:
    """A student's congestion control."""

    def on_ack(self, ack: Any) -> None: ...


def test_runs_with_a_class_of_the_notebook_are_made_again_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = nl.Scenario(nl.topologies.dumbbell(), [nl.Tcp("h1", "h3", congestion=Mine)], duration_s=10)
    rows = {
        seed: FakeRun(pd.DataFrame([{"flow": "a", "goodput_mbps": float(seed), "error": None}]))
        for seed in range(1, 11)
    }
    table = table_of(scenario.to_dict(), rows)  # type: ignore[arg-type]
    honest = replay_of(table)
    asked: list[Any] = []

    def replay(scenarios: Any) -> Any:
        asked.extend(scenario.traffic[0].congestion for scenario in scenarios.values())
        return honest(scenarios)

    assert replays.invented_value(table, values, replay) is None and not asked, "no class is known"
    monkeypatch.setattr(cell_history, "notebook_value", {"Mine": Mine}.get)
    assert replays.invented_value(table, values, replay) is None
    assert asked and set(asked) == {Mine}
    edited = table.assign(goodput_mbps=table["goodput_mbps"] * 1.3)
    edited.attrs = table.attrs
    told = replays.doubt_about_tables({"my_table": edited}, values, "Mbit/s", honest)
    assert "when it is run again, with your classes as they are now" in told
