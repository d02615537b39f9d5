"""Repeating a scenario with other seeds, and how sure a mean is."""

from __future__ import annotations

import math
import re
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
    calls: list[dict[int, nl.Scenario]] = []

    def sweep(scenarios: dict[int, nl.Scenario], **_words: Any) -> dict[int, FakeRun]:
        calls.append(scenarios)
        return {seed: FakeRun(scenario) for seed, scenario in scenarios.items()}

    monkeypatch.setattr(replications, "sweep", sweep)
    return calls


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


def test_repeated_runs_stay_with_their_table_and_not_with_derived_tables(swept: list[Any]) -> None:
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
        ([1.5], "1.5 is not a whole"),
    ],
)
def test_invalid_seeds_are_reported_before_anything_runs(swept: list[Any], seeds: Any, words: str) -> None:
    with pytest.raises(ScenarioError, match=words):
        nl.repeat(NETWORK, TRAFFIC, seeds=seeds)
    assert not swept


@pytest.mark.parametrize("seeds", [10, range(1, 9)])
@pytest.mark.parametrize("network", [NETWORK, nl.Scenario(NETWORK, TRAFFIC), {"a": nl.Scenario(NETWORK, TRAFFIC)}])
def test_seeds_without_their_name_are_asked_for_it(swept: list[Any], network: Any, seeds: Any) -> None:
    with pytest.raises(ScenarioError, match=re.escape(f"write the name of the seeds: seeds={seeds}")):
        nl.repeat(network, seeds)
    assert not swept


def test_mistakes_of_scenario_and_seeds_are_reported_at_once(swept: list[Any]) -> None:
    with pytest.raises(ScenarioError) as raised:
        nl.repeat(NETWORK, [nl.Udp("h1", "h9", rate_mbps=1)], seeds=0)
    assert len(raised.value.problems) == 2
    assert not swept


def cases(*labels: Any) -> dict[Any, nl.Scenario]:
    return {label: nl.Scenario(NETWORK, TRAFFIC, number + 1) for number, label in enumerate(labels)}


def test_several_cases_are_run_with_every_seed_and_labelled_in_front(swept: list[Any]) -> None:
    table = nl.repeat(cases("slow", "fast"), seeds=2)
    assert list(table.columns) == ["case", "seed", "flow", "goodput_mbps"]
    assert list(table["case"]) == ["slow"] * 4 + ["fast"] * 4
    assert list(table["seed"]) == [1, 1, 2, 2] * 2
    assert [(scenario.duration_s, scenario.seed) for scenario in swept[0].values()] == [(1, 1), (1, 2), (2, 1), (2, 2)]
    assert table.attrs["scenarios"]["fast"] == nl.Scenario(NETWORK, TRAFFIC, 2).to_dict()


def test_labels_of_several_parts_fill_a_column_each(swept: list[Any]) -> None:
    table = nl.repeat(cases(("reno", 5), ("cubic", 20)), seeds=1, case=("control", "link_delay_ms"))
    assert list(table.columns[:3]) == ["control", "link_delay_ms", "seed"]
    assert list(table["link_delay_ms"].unique()) == [5, 20]


def test_a_label_of_several_parts_may_stay_whole(swept: list[Any]) -> None:
    assert nl.repeat(cases(("reno", 5)), seeds=1)["case"].iloc[0] == ("reno", 5)


@pytest.mark.parametrize("name", ["delay_ms", "seed"])
def test_labels_get_no_column_that_the_table_has(swept: list[Any], name: str) -> None:
    with pytest.raises(ScenarioError, match=f"'{name}' is a column of the table already"):
        nl.repeat(cases(5, 20), case=name)
    assert not swept


def test_mistakes_in_cases_are_all_reported_before_anything_runs(swept: list[Any]) -> None:
    mixed: dict[Any, Any] = {**cases("slow"), "fast": NETWORK}
    with pytest.raises(ScenarioError) as raised:
        nl.repeat(mixed, TRAFFIC, seeds=0, case=["a", "b"])
    words = str(raised.value)
    assert "'fast' must be an nl.Scenario" in words
    assert "traffic: each case is a whole scenario" in words
    assert "seeds must be 1 or more" in words
    assert "label 'slow' has other parts" in words
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
    contest = sum(abs(mean - 5) <= half for mean, half in map(nl.interval, draws))
    assert 0.93 < contest / 2000 < 0.97


# Extra hours of sleep with two drugs, ten values each: Student's own example (Biometrika 6, 1908, p. 20).
DEXTRO = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
LAEVO = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]


def test_an_interval_of_two_samples_is_the_published_one_of_the_sleep_data() -> None:
    """The manual of R, help(t.test), prints for these data -3.3654832 to 0.2054832, with 17.776 degrees of freedom."""
    mean, half = nl.interval(DEXTRO, LAEVO)
    assert (mean - half, mean + half) == pytest.approx((-3.3654832, 0.2054832), abs=1e-7)


def test_an_interval_of_two_samples_is_that_of_a_calculation_by_hand() -> None:
    """Variances of the means 1 / 3 and 4 / 2: 49 / (1 / 18 + 36 / 9) * 1 / 9 = 1.3425 degrees of freedom."""
    mean, half = nl.interval([1, 2, 3], [3, 7])
    v = 1 / 3 + 8 / 2
    freedom = v**2 / ((1 / 3) ** 2 / 2 + 4**2 / 1)
    assert mean == -3
    assert half == pytest.approx(stdtrit(freedom, 0.975) * math.sqrt(v), rel=1e-6)


@pytest.mark.parametrize(
    ("first", "second", "low", "high"),
    [
        ([0.96, 1.4, 0.2, 2.1, 1.1], [1.04, 0.9, 0.3, 0.5, 0.8, 1.2, 1.0, 0.7], -0.494227516, 1.188227516),
        ([10, 12], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 1.349431989, 9.650568011),
        ([0.0031, 0.0042, 0.0029], [0.5, 0.1, 0.9], -1.490250774, 0.497050774),
        ([5.0, 5.0, 5.0], [1.0, 2.0, 4.0], -1.127916367, 6.461249700),
    ],
)
def test_an_interval_of_two_samples_is_that_of_scipy(
    first: list[float], second: list[float], low: float, high: float
) -> None:
    """The edges of scipy.stats.ttest_ind(first, second, equal_var=False).confidence_interval()."""
    mean, half = nl.interval(first, second)
    assert (mean - half, mean + half) == pytest.approx((low, high), rel=1e-6)


@st.composite
def two_samples(draw: st.DrawFn) -> tuple[list[float], list[float]]:
    """Return two samples of different lengths, at least one of which scatters."""
    numbers = st.integers(-1000, 1000).map(lambda number: number / 8)
    first, second = (draw(st.lists(numbers, min_size=2, max_size=12)) for _ in range(2))
    return (first if len(set(first) | set(second)) > 1 and len(set(first)) > 1 else [*first, first[0] + 1]), second


@given(two_samples(), st.randoms(use_true_random=False))
def test_an_interval_of_two_samples_does_not_depend_on_the_order_of_rows(samples: Any, random: Any) -> None:
    first, second = samples
    mean, half = nl.interval(first, second)
    assert mean == pytest.approx(np.mean(first) - np.mean(second), abs=1e-9)
    shuffled = [random.sample(sample, len(sample)) for sample in samples]
    assert nl.interval(*shuffled) == pytest.approx((mean, half), rel=1e-9, abs=1e-9)
    assert nl.interval(second, first) == pytest.approx((-mean, half), rel=1e-9, abs=1e-9)
    moved, _ = nl.interval([value + 16 for value in first], second)
    assert moved == pytest.approx(mean + 16, abs=1e-9)


@given(two_samples())
def test_the_degrees_of_freedom_lie_between_those_of_the_smaller_sample_and_of_both(samples: Any) -> None:
    first, second = samples
    error = math.hypot(*(np.std(sample, ddof=1) / math.sqrt(len(sample)) for sample in samples))
    factor = nl.interval(first, second).half_width / error
    most, least = stdtrit(min(map(len, samples)) - 1, 0.975), stdtrit(len(first) + len(second) - 2, 0.975)
    assert least * (1 - 1e-6) <= factor <= most * (1 + 1e-6)


@pytest.mark.slow
def test_about_95_of_100_intervals_of_two_samples_hold_the_true_difference() -> None:
    """Unequal scatter and unequal lengths, for which an interval with pooled variances holds the truth too seldom."""
    random = np.random.default_rng(1)
    contest = 0
    for _ in range(2000):
        mean, half = nl.interval(random.normal(5, 4, size=4), random.normal(3, 1, size=12))
        contest += abs(mean - 2) <= half
    assert 0.93 < contest / 2000 < 0.97


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        ([1.0, 2.0], [1.0], "two values or more, got 1"),
        ([1.0], [1.0, 2.0], "two values or more, got 1"),
        ([1.0, 2.0], [1.0, float("nan")], "1 of 2 values are missing"),
        ([1.0, float("nan")], [1.0, 2.0], "1 of 2 values are missing"),
        ([3.0, 3.0], [2.0, 2.0, 2.0], "All values of each sample are equal"),
        ([1.0, 2.0], 0.95, "a list or a column of numbers, got 0.95"),
    ],
)
def test_two_samples_without_an_interval_are_refused(first: Any, second: Any, words: str) -> None:
    with pytest.raises(NetlabError, match=words):
        nl.interval(first, second)


def test_sample_without_scatter_has_the_interval_of_the_other() -> None:
    mean, half = nl.interval([5.0, 5.0, 5.0, 5.0], [1.0, 2.0, 3.0])
    assert mean == 3 and half == pytest.approx(nl.interval([1.0, 2.0, 3.0]).half_width)


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
        (pd.Series([1.0, None], name="retransmits"), r'my_table\["kind"\] == "tcp"\]\["retransmits"\]'),
        (pd.Series([1.0, None], name="delay_ms"), r'my_table\["kind"\] == "udp"\]\["delay_ms"\]'),
        (5, "a list or a column of numbers"),
    ],
)
def test_sample_without_an_interval_is_reported(values: Any, words: str) -> None:
    with pytest.raises(NetlabError, match=words):
        nl.interval(values)


@pytest.mark.library
def test_the_same_seeds_give_the_same_table() -> None:
    lossy = nl.Topology(hosts=["h1", "h2"], links=[nl.Link("h1", "h2", rate_mbps=5, loss_rate=0.1)])
    words: dict[str, Any] = {"seeds": 3, "fresh": True, "progress": False}
    one = nl.repeat(lossy, TRAFFIC, 2, **words)
    pd.testing.assert_frame_equal(one, nl.repeat(lossy, TRAFFIC, 2, **words))
    assert len(set(one["loss_rate"])) > 1
