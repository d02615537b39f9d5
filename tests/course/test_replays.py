"""Repetition of a student's runs: which seeds of a table are run again."""

from __future__ import annotations

import copy
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import netlab as nl
from netlab_course import replays
from netlab_course.chapters import congestion_collapse
from netlab_course.chapters.opening import judging_checks
from netlab_course.repetition import Repetition


def seed_table(check: Repetition, values: Any) -> Any:
    """A table with this value for each of the seeds 1, 2, ..., and the function that takes it from a table."""
    table = pd.DataFrame({"seed": range(1, len(values) + 1), "flow": "a", "found": values})
    table.attrs["scenario"] = check.scenario().to_dict()
    return table, lambda given: given["found"]


@pytest.mark.parametrize("place", range(20))
def test_one_edited_value_that_moves_the_mean_is_among_the_first_that_are_repeated(
    place: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Moved by a half width, no more; the others keep their scatter."""
    check = judging_checks(congestion_collapse.begin())["repeated"]
    honest = np.random.default_rng(place).normal(10, 1, 20)
    monkeypatch.setattr(replays, "table_of", lambda _scenario, runs: pd.DataFrame({"found": [*runs.values()]}))
    monkeypatch.setattr(replays, "MAX_S", 0)

    def again(scenarios: Any) -> Any:
        return {seed: honest[seed - 1] for seed in scenarios}

    table, values = seed_table(check, honest)
    assert replays.invented_value(table, values, again) is None
    for shift in (-1.1, 1.1):
        edited = honest.copy()
        # Seen from its middle, a value must move by n half widths to move the mean by one.
        edited[place] += shift * len(honest) * nl.interval(honest).half_width
        table, values = seed_table(check, edited)
        assert replays.invented_value(table, values, again) == (place + 1, edited[place], honest[place])


def test_all_seeds_are_repeated_if_there_is_time_and_the_outliers_if_not(monkeypatch: pytest.MonkeyPatch) -> None:
    check = judging_checks(congestion_collapse.begin())["repeated"]
    honest = [5.0, 5.1, 4.9, 9.0, 5.2, 4.8, 1.0, 5.0, math.nan]
    table, values = seed_table(check, honest)
    monkeypatch.setattr(replays, "table_of", lambda _scenario, runs: pd.DataFrame({"found": [*runs.values()]}))
    for limit_s, number in ((0, 2 * replays.TOGETHER), (math.inf, len(honest))):
        monkeypatch.setattr(replays, "MAX_S", limit_s)
        seen: list[int] = []

        def again(scenarios: Any, seen: list[int] = seen) -> Any:
            seen.extend(scenarios)
            return {seed: honest[seed - 1] for seed in scenarios}

        assert replays.invented_value(table, values, again) is None
        assert len(seen) == number and set(seen[:3]) == {9, 4, 7}
    seen.clear()
    assert replays.invented_value(table, values, lambda _scenarios: {}) is None, "what cannot be repeated is believed"


def test_a_rounded_value_is_told_with_the_digits_in_which_it_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    check = judging_checks(congestion_collapse.begin())["repeated"]
    honest = [4.42391, 4.5, 4.6]
    monkeypatch.setattr(replays, "table_of", lambda _scenario, runs: pd.DataFrame({"found": [*runs.values()]}))

    def doubt(*given: float) -> str:
        table, values = seed_table(check, given)
        again: Any = {seed: honest[seed - 1] for seed in (1, 2, 3)}
        return replays.doubt_about_tables({"your table": table}, values, "ms", lambda _scenarios: again)

    assert doubt(*honest) == ""
    told = doubt(4.424, 4.5, 4.6)
    assert "seed 1 has 4.424 ms in your table, and 4.4239 ms when it is run again" in told
    assert told.endswith("returned it. Was it rounded?")
    assert doubt(8.8, 4.5, 4.6).endswith("4.424 ms when it is run again: " + replays.AS_MEASURED)


@pytest.mark.library
def test_an_edited_run_or_scenario_is_found_when_the_run_is_made_again() -> None:
    def path(jitter_ms: float) -> nl.Topology:
        return nl.Topology(["a", "b"], links=[nl.Link("a", "b", rate_mbps=5, delay_ms=10, jitter_ms=jitter_ms)])

    run = nl.run(path(0), [nl.Tcp("a", "b")], duration_s=2, engine="library")
    asked = nl.run(path(2), [nl.Tcp("a", "b")], duration_s=2, engine="library")
    again = {run.scenario["topology"]["links"][0].get("jitter_ms", 0): run}
    again[2] = asked

    def replay(scenarios: Any) -> Any:
        return {
            seed: again[each.to_dict()["topology"]["links"][0].get("jitter_ms", 0)] for seed, each in scenarios.items()
        }

    copied = replace(run, flows=run.flows.copy(), settings=copy.deepcopy(run.settings))
    assert not replays.differs_when_run_again(copied, replay)
    copied.flows["goodput_mbps"] *= 1.01
    assert replays.differs_when_run_again(copied, replay)
    pretended = replace(run, settings={**run.settings, "scenario": asked.scenario})
    assert replays.differs_when_run_again(pretended, replay)
    assert not replays.differs_when_run_again(pretended, lambda _scenarios: {}), "a machine that cannot run it"


def test_a_table_whose_scenario_was_changed_cannot_be_compared_and_is_refused() -> None:
    check = judging_checks(congestion_collapse.begin())["repeated"]
    table, values = seed_table(check, [5.0, 5.1, 4.9])
    table.attrs["scenario"] = {**table.attrs["scenario"], "note": 1}
    told = replays.doubt_about_tables({"my_table": table}, values, "Mbit/s", lambda _scenarios: {})
    assert told == f"the scenario of my_table cannot be run again: {replays.AS_MEASURED}"
