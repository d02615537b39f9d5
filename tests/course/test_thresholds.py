"""Checks of a threshold: right work passes whatever is drawn, and each usual mistake is named. No kernel is needed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import netlab as nl
from netlab.runs.replications import table_of
from netlab_course.checks import Status
from netlab_course.thresholds import FoundThreshold, Threshold
from tests.chapters.checking import count_tries, failure_text, passes
from tests.fake_runs import FakeRun, no_replay, replay_of

LIMIT = 9.0


def scenario(streams: int) -> nl.Scenario:
    return nl.Scenario(nl.topologies.dumbbell(), [nl.Tcp("h1", "h3", streams=streams)], duration_s=10)


def table(streams: int, mean: float, half: float = 0.2, seeds: Any = range(1, 13), **changes: Any) -> pd.DataFrame:
    """A table as from `nl.repeat` whose values have this mean, and an interval of this half width."""
    values = np.random.default_rng(streams).normal(size=len(seeds))
    values = mean + (values - values.mean()) * half / nl.interval(values).half_width
    runs = {
        seed: FakeRun(pd.DataFrame([{"flow": "a", "src": "h1", "goodput_mbps": value, "error": None}]))
        for seed, value in zip(seeds, values, strict=True)
    }
    return table_of(replace(scenario(streams), **changes).to_dict(), runs)  # type: ignore[arg-type]


CHECK = Threshold(
    name="streams",
    scenario=scenario,
    made_by="scenario(my_most)",
    values=lambda found: found.set_index("seed")["goodput_mbps"],
    quantity="The mean",
    limit=LIMIT,
    unit="Mbit/s",
    rule=lambda: 8,
    rule_slips={10: "these are all connections"},
    hints=["Search."],
    replay=no_replay,
)
RIGHT: list[Any] = [8, 7, table(7, 9.5), table(8, 8.5)]


def test_a_number_shown_by_two_decided_tables_passes_and_is_compared_with_the_rule() -> None:
    passes(CHECK, RIGHT)
    assert "The rule gives 8." in CHECK.judge(RIGHT).sentences
    same = [8, 8, table(8, 9.5), table(9, 8.5)]
    passes(CHECK, same)
    assert "The rule gives the same number." in CHECK.judge(same).sentences
    passes(CHECK, [8, 7, table(7, 9.5, duration_s=20), RIGHT[3]])


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ([9, *RIGHT[1:]], "my_rule must be the largest number that the rule allows. Seen: 9."),
        ([10, *RIGHT[1:]], "Seen: 10; these are all connections."),
        ([8.4, *RIGHT[1:]], "Seen: 8.4; a whole number is asked for."),
        ([8, 7, RIGHT[3], RIGHT[2]], "Seen: the two tables are the other way round."),
        ([8, 7, table(7, 9.5), table(7, 8.5)], "my_beyond differs in traffic 1 (tcp): streams=7, not 8"),
        ([8, 7, table(7, 9.5, duration_s=5), RIGHT[3]], "my_last differs in duration_s=5, less than 10"),
        ([8, 7, table(7, 9.5, seeds=range(5)), RIGHT[3]], "8 to 25 different seeds, and no run may have failed. Seen: 5"),
        ([8, 7, table(7, 9.5, seeds=range(30)), RIGHT[3]], "Seen: 30 and 12 seeds."),
        ([8, 6, table(6, 10.5), table(7, 9.5)], "Seen: 10.5 Mbit/s at 6, 9.5 Mbit/s at 7. Where does your search change"),
        ([8, 8, table(8, 8.5), table(9, 7.5)], "this is the rule's number, and your runs are not on its side"),
        ([8, 7, table(7, 9.1), RIGHT[3]], "Neither interval may hold 9 Mbit/s, or the next number may be as right. Seen: 9.1 ± 0.2"),
    ],
)  # fmt: skip
def test_each_mistake_costs_one_condition_and_is_named(answer: list[Any], words: str) -> None:
    told = failure_text(CHECK, answer)
    assert words in told
    assert (
        "1 of 5 conditions" in told or len(answer[2]) < 8 or answer[2] is RIGHT[3] or answer[1] == 6 or answer[1] == 8
    )


def test_no_message_about_a_wrong_number_says_the_right_one() -> None:
    """A student with the tables of 6 and 7 connections knows from these that 6 is too few; the check adds nothing."""
    told = failure_text(CHECK, [9, 5, table(5, 11.5), table(6, 10.5)])
    assert not {"7", "8"} & set(told.replace(".", " ").replace(",", " ").split())


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (7, "expected a list of four (my_rule, my_most, my_last, my_beyond)"),
        (["eight", *RIGHT[1:]], "my_rule: got the text 'eight'"),
        ([8, 7.5, *RIGHT[2:]], "my_most must be a whole number from 1 to 63, got 7.5"),
        ([8, 1000, *RIGHT[2:]], "my_most must be a whole number from 1 to 63, got 1000"),
        ([8, 7, 9.5, RIGHT[3]], "my_last must be the table that nl.repeat(...) returns, got 9.5"),
        ([8, 7, RIGHT[2], pd.DataFrame({"seed": [1], "flow": ["a"]})], "my_beyond must be the table as nl.repeat"),
    ],
)
def test_an_answer_of_the_wrong_form_is_reported(answer: object, words: str) -> None:
    assert words in failure_text(CHECK, answer)


def test_parts_that_were_never_checked_are_no_answer() -> None:
    assert "expected a list of four" in failure_text(CHECK, FoundThreshold(*RIGHT))


def test_a_failed_run_is_reported() -> None:
    failed = RIGHT[2].copy()
    failed.loc[0, "error"] = "refused"
    assert "no run may have failed" in failure_text(CHECK, [8, 7, failed, RIGHT[3]])


def test_wrong_numbers_by_the_rule_are_counted_and_no_other_mistake(capsys: pytest.CaptureFixture[str]) -> None:
    check = replace(CHECK)
    seen = count_tries(check)
    for answer in (..., [..., *RIGHT[1:]], 7, [8, 6, table(6, 10.5), table(7, 9.5)], RIGHT):
        check(answer)
    assert not seen
    for number in (9, 10, 9):
        check([number, *RIGHT[1:]])
    assert seen == ["9", "10"]
    assert "Wrong numbers by the rule so far: 2." in capsys.readouterr().out
    assert check.judge([8, 7, ..., ...]).status is Status.NOT_ATTEMPTED


def test_each_condition_can_be_judged_alone_as_a_grader_does() -> None:
    answer = [9, 7, RIGHT[2], table(8, 8.9)]
    alone = [replace(CHECK, conditions=[each]).judge(answer).status for each in CHECK.conditions]
    failed, passed = Status.FAILED, Status.PASSED
    assert alone == [failed, passed, passed, passed, failed]


@pytest.mark.parametrize("seeds", [0, 1])
@pytest.mark.parametrize("place", [2, 3])
def test_a_table_without_an_interval_gets_a_message(place: int, seeds: int) -> None:
    """Only its seeds can be judged: one row, or none, has no scatter."""
    answer = [*RIGHT]
    answer[place] = RIGHT[place][RIGHT[place]["seed"] <= seeds]
    told = failure_text(CHECK, answer)
    assert (
        "Each table must have 8 to 25 different seeds" in told and "2 more can be looked at only when it does" in told
    )


def test_the_same_table_twice_says_nothing_about_the_number_of_the_rule() -> None:
    told = failure_text(CHECK, [8, 8, table(8, 9.5), table(8, 9.5)])
    assert "my_beyond differs in traffic 1 (tcp): streams=8, not 9" in told and "not on its side" not in told


def test_a_value_that_a_run_does_not_give_again_is_refused_in_a_notebook() -> None:
    measured = replace(CHECK, replay=replay_of(RIGHT[2], RIGHT[3]))
    assert measured.verdict(RIGHT).status is Status.PASSED
    for place, name in ((2, "my_last"), (3, "my_beyond")):
        invented = [*RIGHT]
        invented[place] = RIGHT[place].assign(goodput_mbps=RIGHT[place]["goodput_mbps"] + 0.01)
        told = str(measured.verdict(invented))
        assert f"in {name}, and" in told and "when it is run again" in told
        assert measured.judge(invented).status is Status.PASSED, "a grader makes its own runs"


def test_seeds_chosen_by_their_results_are_refused_in_a_notebook() -> None:
    at_8, at_9 = table(8, 8.9, 0.1, seeds=range(1, 201)), table(9, 7.5)
    best = at_8.nlargest(9, "goodput_mbps")
    best.attrs = at_8.attrs
    answer = [8, 8, best, at_9]
    told = str(replace(CHECK, replay=replay_of(at_8, at_9)).verdict(answer))
    assert "my_last must have seeds in a row, such as seeds=12: some are left out." in told


def test_the_rows_of_one_case_are_a_table_and_those_of_several_are_not() -> None:
    both = pd.concat([RIGHT[2].assign(k=7), RIGHT[3].assign(k=8)])
    both = both[["k", *RIGHT[2].columns]]
    both.attrs = {"scenarios": {7: RIGHT[2].attrs["scenario"], 8: RIGHT[3].attrs["scenario"]}}
    passes(CHECK, [8, 7, both[both["k"] == 7], both[both["k"] == 8]])
    passes(CHECK, [8, 7, both[both["k"] == 7].set_index("seed"), both[both["k"] == 8].set_index("seed")])
    assert "the two tables are the other way round" in failure_text(
        CHECK, [8, 7, both[both["k"] == 8], both[both["k"] == 7]]
    )
    assert "my_last must have one scenario: take the rows of one case" in failure_text(CHECK, [8, 7, both, RIGHT[3]])
    passes(CHECK, [8, 7, RIGHT[2].set_index("seed"), RIGHT[3].set_index(["seed", "flow"])])
    few = RIGHT[2][["seed", "goodput_mbps"]]
    assert "my_last must be the table with all of its columns; flow and error are missing" in failure_text(
        CHECK, [8, 7, few, RIGHT[3]]
    )
    without_labels = both[both["k"] == 7].drop(columns="k")
    assert "my_last must have one scenario" in failure_text(CHECK, [8, 7, without_labels, RIGHT[3]])
