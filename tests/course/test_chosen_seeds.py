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

    tables = [of_seeds(population, range(first, first + 16)) for first in drawn.choice(range(2, 985), 200)]
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
    later = of_seeds(population, range(100, 110))
    assert replays.mean_of_other_seeds(later, values, no_replay) is None
    assert not replays.doubt_about_tables({"my_table": later}, values, "Mbit/s", no_replay)


@pytest.mark.parametrize("chosen", [range(1, 60, 5), [*range(1, 9), 12], [*range(1, 30), 31]])
def test_seeds_of_which_some_are_left_out_are_refused_before_any_run(population: pd.DataFrame, chosen: Any) -> None:
    def replay(_scenarios: Any) -> Any:
        raise AssertionError("no run is needed")

    told = replays.doubt_about_tables({"my_table": of_seeds(population, chosen)}, values, "Mbit/s", replay)
    assert told == "my_table must have seeds in a row, such as seeds=12: some are left out."


def test_seeds_on_the_other_side_of_a_number_than_the_first_ones_are_noticed() -> None:
    drawn = {seed: (8.0, 12.0)[seed % 2] if seed <= 20 else (11.25, 11.35)[seed % 2] for seed in range(1, 61)}
    rows = [pd.DataFrame([{"flow": "a", "goodput_mbps": value, "error": None}]) for value in drawn.values()]
    population = table_of(SCENARIO, {seed: FakeRun(row) for seed, row in zip(drawn, rows, strict=True)})  # type: ignore[misc]
    table = of_seeds(population, range(31, 61))
    for number, other in ((None, None), (11.1, 10.0), (10.5, None), (20.0, None)):
        found = replays.mean_of_other_seeds(table, values, replay_of(population), number)
        assert (None if found is None else found.mean) == other, number


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
