"""Checks of repeated measurements: right work of any seeds passes, and each usual slip is told."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import plotly.express as px
import plotly.graph_objects as go
import pytest

import netlab as nl
from netlab_classroom.grading import plain
from netlab_course import replays
from netlab_course.chapters import incast, tcp_beside_udp
from netlab_course.chapters.opening import judging_checks
from netlab_course.checks import Status
from netlab_course.repeated_measurements import RepeatedMeasurement, figure_numbers
from netlab_course.repetition import Repetition
from netlab_course.statements import Statement
from tests.chapters.checking import count_tries, failure_text, passes
from tests.course.example_repetitions import (
    CHECKS,
    PRINTED,
    WITH_FIGURE,
    WITH_REFUTATION,
    figure,
    parameters,
    refutation,
    repetitions,
    right_verdict,
    some_check,
    table,
    work,
)
from tests.fake_runs import FakeRun

SEEDS = [3, 14, 15, 92, 65, 35, 89, 79]


@pytest.mark.parametrize("check", [*CHECKS, *parameters(repetitions("anna")), *parameters(repetitions("ben"))])
def test_right_work_passes_whatever_is_drawn(check: Repetition) -> None:
    passes(check, work(check, table(check, SEEDS)))


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("seeds", [range(1, 11), range(100, 125)], ids=len)
def test_right_work_with_any_seeds_passes(check: Repetition, seeds: Any) -> None:
    passes(check, work(check, table(check, seeds)))


@pytest.mark.parametrize("check", CHECKS)
def test_untouched_exercise_is_not_attempted(check: Repetition) -> None:
    answer = work(check)
    for missing in range(4):
        unfinished = [*answer[:missing], ..., *answer[missing + 1 :]]
        assert check.judge(unfinished).status is Status.NOT_ATTEMPTED
    third = "a figure" if check.with_figure else "a condition that refutes it"
    assert f"not finished yet: {third} and a word" in check.judge([*answer[:2], ..., ...]).sentences[0]
    assert check.judge([...] * 4).sentences == ("not attempted yet.",)


@pytest.mark.parametrize("check", CHECKS)
def test_each_slip_with_an_interval_is_named(check: Repetition) -> None:
    answer = work(check)
    values = check.values(answer[0])
    mean, half = answer[1]
    error = values.std() / len(values) ** 0.5
    for slip, words in (
        ((mean, values.std()), "standard deviation"),
        ((mean, error), "standard error"),
        ((mean, 1.96 * error), "Student's t"),
        ((mean, 2 * half), "the whole width"),
        ((mean - half, mean + half), "the two edges"),
        ((values.median(), half), "the median"),
        ((mean, 10 * half), "must be that of the values"),
    ):
        assert words in failure_text(check, [answer[0], slip, *answer[2:]])


def test_a_column_whose_mean_is_near_the_median_is_named_as_the_column() -> None:
    """The median of the right values is often as near as a rounded interval allows."""
    check = next(
        check
        for name, check in WITH_REFUTATION.items()
        if "TCP on the same path" in name or check.name == "TCP on the same path"
    )
    found = table(check)
    found["goodput_mbps"] = [1.0, 1.2, 1.4, 1.6, 1.8, 2.0, 2.2, 2.4, 2.6, 3.4]
    found["throughput_mbps"] = found["goodput_mbps"] - (found["goodput_mbps"].mean() - 1.901)
    answer = work(check, found)
    answer[1] = nl.interval(found["throughput_mbps"])
    assert "this is the column throughput_mbps" in failure_text(check, answer)


@pytest.mark.parametrize("check", parameters(WITH_FIGURE))
def test_values_that_hardly_scatter_do_not_count_as_the_interval(check: Repetition) -> None:
    found = table(check)
    found.loc[found["kind"] == "tcp", "goodput_mbps"] = 10 + 0.001 * found["seed"]
    answer = work(check, found)
    answer[2] = figure(check.values(found), title=check.axis)
    assert "The figure must show your interval" in failure_text(check, answer)


@pytest.mark.parametrize("check", CHECKS)
def test_the_wrong_rows_are_named(check: Repetition) -> None:
    answer = work(check)
    answer[1] = nl.interval(answer[0]["completion_s"])
    assert "this is the column completion_s" in failure_text(check, answer)


@pytest.mark.parametrize("check", parameters(WITH_FIGURE))
def test_a_figure_must_show_values_interval_and_unit(check: Repetition) -> None:
    answer = work(check)
    values, half = check.values(answer[0]), answer[1].half_width
    nameless = figure(values, half, title="y" if check.unit else "")
    other = figure(values, half, title="Loss (bytes)")
    axis = check.axis
    for shown, words in (
        (figure(values.iloc[:3], half), "must show each of your values"),
        (figure(values), "must show your interval"),
        (nameless, f'update_yaxes(title_text="{axis}")'),
        (other, f"its unit is bytes, and the values {f'are in {check.unit}' if check.unit else 'have none'}"),
        (go.Figure(), "traces of no numbers"),
    ):
        assert words in failure_text(check, [*answer[:2], shown, answer[3]])
    low, high = sum(answer[1]), answer[1].mean - half
    passes(
        check,
        [*answer[:2], figure(values, title=axis).add_scatter(x=[0, 9, 9, 0], y=[low, low, high, high]), answer[3]],
    )
    bars = figure(values, title=axis).add_scatter(x=[0], y=[values.mean()], error_y={"array": [half]})
    passes(check, [*answer[:2], bars, answer[3]])


@pytest.mark.parametrize("check", parameters(WITH_FIGURE))
@pytest.mark.parametrize("words", ["{} ({})", "{} [{}]", "{} in {}", "{} / {}", "{}, {}", "<b>{}</b> ({})"])
def test_units_are_taken_as_people_write_them(check: Repetition, words: str) -> None:
    answer = work(check)
    if not check.unit:
        words = "{}"
    quantity = check.axis.removesuffix(f" ({check.unit})")
    title = words.format(quantity, check.unit)
    passes(check, [*answer[:2], figure(check.values(answer[0]), answer[1].half_width, title), answer[3]])


def test_different_scenario_is_reported_by_its_differences() -> None:
    check = judging_checks(tcp_beside_udp.begin())["repeated"]
    asked = check.scenario()
    (first, *others) = asked.traffic
    slower = replace(asked, traffic=[replace(first, rate_mbps=0.25), *others], duration_s=asked.duration_s / 2)
    told = failure_text(check, work(check, table(check, scenario=slower)))
    assert "It differs in traffic 1 (udp): rate_mbps=0.25, not 1" in told
    assert f"duration_s={asked.duration_s / 2:g}, less than {asked.duration_s:g}" in told


def test_large_scenario_is_described_briefly() -> None:
    check = judging_checks(incast.begin())["repeated"]
    asked = check.scenario()
    told = failure_text(check, work(check, table(check, scenario=replace(asked, traffic=[*asked.traffic[:-1]]))))
    assert "Seen: requests c to s1 with dctcp every 0.5 s count=20, " in told
    assert ", 19 more; links of 1000 Mbit/s; 10.5 s. It differs in traffic: 23 in place of 24." in told


@pytest.mark.parametrize("check", CHECKS)
def test_the_verdict_must_follow_from_the_students_own_interval(check: Repetition) -> None:
    answer = work(check)
    words = "lies, seen from your interval" if check.statement is None else "your interval means for the statement"
    for word in set(check.words) - {answer[3]}:
        assert words in failure_text(check, [*answer[:3], word])


@pytest.mark.parametrize("check", CHECKS)
def test_wrong_verdicts_are_counted_and_no_other_mistake(check: Repetition, capsys: pytest.CaptureFixture[str]) -> None:
    answer = work(check)
    wrong = [word for word in check.words if word != answer[3]]
    check = replace(check)
    seen = count_tries(check)
    check.replay = lambda _scenarios: {}
    for given in (..., [*answer[:3], "perhaps"], [answer[0], (1.0, 2.0, 3.0), *answer[2:]], answer):
        check(given)
    assert not seen
    for word in (*wrong, wrong[0]):
        check([*answer[:3], word])
    assert seen == wrong and len(wrong) == check.many_tries
    assert "Wrong verdicts so far: 2." in capsys.readouterr().out


def test_a_grader_allows_undecided_near_a_close_number_and_a_notebook_goes_by_the_own_interval() -> None:
    """The seeds of a grader are others, and one interval in twenty does not hold the true mean."""
    printed = PRINTED["congestion_collapse-"]
    found = table(printed)
    mean, half = nl.interval(printed.values(found))

    def with_number(number: float) -> Repetition:
        statement = Statement(number, is_close=True)
        return replace(printed, statement=statement, conditions=(), hints=(), replay=lambda _scenarios: {})

    check = with_number(mean - 1.5 * half)
    answer = [found, (mean, half), refutation(check), "undecided"]
    passes(check, answer)
    assert "The word must say what your interval means" in str(check.verdict(answer))
    seen = count_tries(check)
    check(answer)
    assert seen == ["undecided"]
    assert check.verdict([*answer[:3], "supported"]).status is Status.PASSED
    check = with_number(mean - 0.5 * half)
    answer[2] = refutation(check)
    assert "Four times as many make an interval half as wide" in str(check.verdict(answer))
    failure_text(check, [*answer[:3], "supported"])


def replayed(found: pd.DataFrame, check: Repetition, seen: list[int]) -> Repetition:
    """Return the check, for which runs made again have the numbers of a table; `seen` gets their seeds."""

    def replay(scenarios: Any) -> Any:
        assert all(scenario.seed == seed for seed, scenario in scenarios.items())
        seen.extend(scenarios)
        return {seed: FakeRun(found[found["seed"] == seed].drop(columns="seed")) for seed in scenarios}

    return replace(check, replay=replay)


@pytest.mark.parametrize("check", CHECKS)
def test_a_table_with_other_numbers_than_its_runs_is_refused_in_a_notebook(
    check: Repetition, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replays, "MAX_S", math.inf)
    answer = work(check)
    seen: list[int] = []
    same = replayed(answer[0], check, seen)
    assert same.verdict(answer).status is Status.PASSED
    numbers = np.random.default_rng(2)
    columns = answer[0].select_dtypes("number").columns.drop("seed")
    other = answer[0].copy()
    other[columns] *= numbers.uniform(0.1, 9, (len(other), len(columns)))
    result = replayed(other, check, seen).verdict(answer)
    if any(
        "class" in str(item.get("congestion", item.get("sender"))) for item in check.scenario().to_dict()["traffic"]
    ):
        assert not seen and result.status is Status.PASSED, "a class of the student's cannot be made again"
    else:
        assert "in your table, and" in str(result) and "when it is run again" in str(result), str(result)
        assert set(seen) == set(answer[0]["seed"])
    assert check.judge(answer).status is Status.PASSED, "a grader makes its own runs"


@pytest.mark.parametrize("check", CHECKS)
def test_answer_with_two_edges_is_reported_for_that_alone(check: Repetition) -> None:
    answer = work(check)
    mean, half = answer[1]
    told = failure_text(check, [answer[0], (mean - half, mean + half), *answer[2:]])
    assert "the two edges" in told and ": 1 of " in told


@pytest.mark.parametrize("check", CHECKS)
def test_too_few_seeds_failed_runs_and_other_scenarios_are_reported(check: Repetition) -> None:
    assert "8 to 30 different seeds" in failure_text(check, work(check, table(check, range(3))))
    failed = table(check)
    failed.loc[0, "error"] = "refused"
    assert "no run may have failed" in failure_text(check, work(check, failed))
    shorter = replace(check.scenario(), duration_s=check.scenario().duration_s / 2)
    assert "must be what the exercise describes" in failure_text(check, work(check, table(check, scenario=shorter)))


@pytest.mark.parametrize(
    ("place", "answer", "words"),
    [
        (0, 5.0, "the table that nl.repeat(...) returns"),
        (0, pd.DataFrame({"seed": [1], "flow": ["a"]}), "no longer knows its scenario"),
        (1, 3.0, "mean and half width"),
        (2, "plot", "must be a figure"),
        (3, "yes", "one of 'supported', 'undecided', 'refuted'"),
    ],
)
def test_answer_of_the_wrong_form_is_reported(place: int, answer: object, words: str) -> None:
    given = work(some_check())
    given[place] = answer
    assert words in failure_text(some_check(), given)
    assert "a list of four" in failure_text(some_check(), given[:3])


def test_parts_that_were_never_checked_are_no_answer() -> None:
    table, interval, figure, verdict = work(some_check())
    parts = RepeatedMeasurement(table, interval, figure_numbers(figure), verdict)
    assert "expected a list of four" in failure_text(some_check(), parts)


def test_a_figure_as_pandas_draws_it_passes() -> None:
    found, interval, _, verdict = work(some_check())
    values = some_check().values(found)
    drawn_by_pandas = px.scatter(x=found["seed"].unique(), y=values.to_list(), labels={"y": "Goodput (Mbit/s)"})
    drawn_by_pandas.add_hrect(y0=interval.mean - interval.half_width, y1=sum(interval))
    passes(some_check(), [found, interval, drawn_by_pandas, verdict])


def test_numbers_rounded_as_they_are_printed_pass() -> None:
    answer = work(some_check())
    answer[1] = tuple(float(part) for part in str(answer[1]).split(" ± "))
    passes(some_check(), answer)


def test_values_of_a_figure_are_transferred_as_numbers() -> None:
    made = figure([1.0, 2.0], half=0.5)
    assert plain.decode(plain.encode(made)) == figure_numbers(made)
    assert figure_numbers(made)["traces"] == [[0.0, 1.0], [1.0, 2.0]]


def test_a_repeated_table_crosses_as_its_scenario_and_seeds() -> None:
    found = table(some_check(), [4, 9])
    crossed = plain.decode(plain.encode(found))
    assert isinstance(crossed, plain.RunDescription)
    assert crossed.seeds == [4, 9]
    assert crossed.scenario == found.attrs["scenario"]


@pytest.mark.parametrize("check", CHECKS)
def test_another_unit_costs_one_condition_and_is_named(check: Repetition) -> None:
    """The values, the interval and the figure in thousandths: only the interval is wrong, and the word is right."""
    found = table(check)
    values = check.values(found) / 1000
    mean, half = nl.interval(values)
    third = figure(values, half, check.axis) if check.with_figure else refutation(check)
    answer = [found, (mean, half), third, right_verdict(check, found)]
    told = failure_text(check, answer)
    wrong = [each.sentence for each in check.conditions if each.sentence in told]
    assert wrong == ["The interval must be that of the values that the exercise asks for, one for each seed."], told
    assert "this is 0.001 times the interval" in told or any(sentence in told for sentence in check.slips)


@pytest.mark.parametrize("check", parameters(WITH_FIGURE))
def test_a_figure_in_another_unit_may_say_that_unit(check: Repetition) -> None:
    """The values, the interval, the figure and its title in kbit/s: only the interval is wrong, and its message says the unit."""
    assert check.unit == "Mbit/s"
    found = table(check)
    values = check.values(found) * 1000
    answer = [
        found,
        nl.interval(values),
        figure(values, nl.interval(values).half_width, "Goodput (kbit/s)"),
        right_verdict(check, found),
    ]
    told = failure_text(check, answer)
    assert "1 of 7 conditions" in told and "this is 1000 times the interval: Mbit/s is asked for" in told
    answer[2] = figure(values, nl.interval(values).half_width, "Goodput (ms)")
    assert "2 of 7 conditions" in failure_text(check, answer), "a title in a unit that the values do not have"


@pytest.mark.parametrize("check", CHECKS)
def test_a_verdict_may_have_a_capital_and_a_full_stop(check: Repetition) -> None:
    answer = work(check)
    passes(check, [*answer[:3], f" {answer[3].capitalize()}."])


def test_the_figure_is_asked_for_where_the_form_is_taught() -> None:
    assert [name.removesuffix("-") for name in WITH_FIGURE] == ["bdp"]
