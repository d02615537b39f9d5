"""Checks of a choice between two designs: right work passes whatever is drawn, and each usual mistake is named."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import netlab as nl
from netlab.runs.replications import table_of
from netlab_course.checks import Status
from netlab_course.designs import ChosenDesign, Designs, sums
from netlab_course.statements import Statement
from tests.chapters.checking import count_tries, failure_text, passes
from tests.fake_runs import FakeRun, no_replay, replay_of

WANTED = 0.2


def scenario() -> nl.Scenario:
    flows = [nl.Udp("h1", "h3", rate_mbps=9), nl.Udp("h2", "h4", rate_mbps=9)]
    return nl.Scenario(nl.topologies.dumbbell(), flows, duration_s=10)


def table(runs: int, of_sums: float = 0.22, of_shares: float = 0.3, duration_s: float = 10) -> pd.DataFrame:
    """A table as from `nl.repeat` of so many runs: sums of 30 that scatter by `of_sums`, shared up to `of_shares`."""
    drawn = np.random.default_rng(runs).normal(size=(2, runs))
    # Both draws have mean 0, scatter 1 and no correlation, so the scatters are known.
    first = drawn[0] - drawn[0].mean()
    first /= np.std(first, ddof=1)
    second = drawn[1] - drawn[1].mean()
    second -= first * (first @ second) / (first @ first)
    second /= np.std(second, ddof=1)
    total, share = 30 + of_sums * first, of_shares * second
    found = {
        seed: FakeRun(
            pd.DataFrame(
                {
                    "flow": ["a", "b"],
                    "src": ["h1", "h2"],
                    "goodput_mbps": [total[seed - 1] / 2 + share[seed - 1], total[seed - 1] / 2 - share[seed - 1]],
                    "error": None,
                }
            )
        )
        for seed in range(1, runs + 1)
    }
    return table_of(replace(scenario(), duration_s=duration_s).to_dict(), found)  # type: ignore[arg-type]


CHECK = Designs(
    name="two designs",
    scenario=scenario,
    made_by="scenario()",
    half_width=WANTED,
    statement=Statement(29.0),
    hints=["Plan."],
    replay=no_replay,
)


def both(of_sums: float = 0.22, of_shares: float = 0.3) -> float:
    """The root of the squares of both hosts' scatters."""
    return math.sqrt(2 * ((of_sums / 2) ** 2 + of_shares**2))


def least(scatter: float, groups: int = 1) -> int:
    """The least number of runs of each of so many groups, by trial."""
    number = 2
    while nl.theory.student_t(groups * number - groups + 1) * scatter > WANTED * number**0.5:
        number += 1
    return number


def work(of_sums: float = 0.22, of_shares: float = 0.3) -> list[Any]:
    together = least(of_sums)
    apart = 2 * least(both(of_sums, of_shares), 2)
    return [table(8, of_sums, of_shares), apart, together, table(min(together, 25)), "supported"]


@pytest.mark.parametrize("of_sums", [0.08, 0.15, 0.22, 0.3, 0.6])
@pytest.mark.parametrize("of_shares", [0.2, 0.35])
def test_right_work_passes_whatever_is_drawn(of_sums: float, of_shares: float) -> None:
    answer = work(of_sums, of_shares)
    passes(CHECK, answer)
    for word in ("refuted", "undecided"):
        told = failure_text(CHECK, [*answer[:4], word])
        assert 'the statement "more than 29 Mbit/s"' in told and "1 of 5 conditions" in told


def test_factors_of_one_hosts_runs_are_right_as_well_and_those_of_the_pilot_are_not() -> None:
    answer = work()
    careful = 2 * least(both())
    assert careful > answer[1]
    passes(CHECK, [answer[0], careful, *answer[2:]])
    of_pilot = 2 * math.ceil((2.365 * both() / WANTED) ** 2)
    told = failure_text(CHECK, [answer[0], of_pilot, *answer[2:]])
    assert "this is with Student's t of the 8 runs of the pilot" in told
    for number in range(careful + 2, of_pilot + 4):
        failure_text(CHECK, [answer[0], number, *answer[2:]])


@pytest.mark.parametrize(
    ("apart", "words"),
    [
        (least(both(), 2), "this is the number of runs of one host, and the other needs as many"),
        (2 * least(2 * math.hypot(0.11, 0.3)), "the scatters of independent means are added as squares"),
        (2 * least(0.22), "this is with the scatter of the sums"),
        (9.5, "it is rounded up"),
        (
            500,
            "my_apart must count the runs of both hosts with which the sum of two means is known to ± 0.2 Mbit/s. Seen: 500.",
        ),
    ],
)
def test_each_usual_mistake_with_runs_of_their_own_is_named(apart: float, words: str) -> None:
    answer = work()
    told = failure_text(CHECK, [answer[0], apart, *answer[2:]])
    assert words in told and "1 of 5 conditions" in told


@pytest.mark.parametrize(
    ("together", "words"),
    [
        (3, "the half width falls with the root of n"),
        (least(0.26) - 1, "round up"),
        (2 * least(both(0.26), 2), "this is with the scatters of both hosts"),
    ],
)
def test_each_usual_mistake_with_the_same_runs_is_named(together: int, words: str) -> None:
    answer = work(0.26)
    told = failure_text(CHECK, [answer[0], answer[1], together, table(min(together, 25)), answer[4]])
    assert words in told and "1 of 5 conditions" in told


def test_other_scenarios_and_numbers_of_runs_are_reported() -> None:
    answer = work()
    shorter = table(answer[2], duration_s=5)
    assert "my_table differs in duration_s=5, less than 10" in failure_text(CHECK, [*answer[:3], shorter, answer[4]])
    assert "Seen: 6 and " in failure_text(CHECK, [table(6), *answer[1:]])
    assert "but at most 25" in failure_text(CHECK, [*answer[:3], table(20), answer[4]])


@pytest.mark.parametrize(
    ("place", "part", "words"),
    [
        (0, 5.0, "my_pilot must be the table that nl.repeat(...) returns, got 5.0"),
        (1, "ten", "my_apart: got the text 'ten'"),
        (2, "ten", "my_together: got the text 'ten'"),
        (3, pd.DataFrame({"seed": [1], "flow": ["a"]}), "my_table must be the table as nl.repeat"),
        (4, "inside", "the fifth must be one of 'supported', 'undecided', 'refuted', got 'inside'"),
    ],
)
def test_an_answer_of_the_wrong_form_is_reported(place: int, part: object, words: str) -> None:
    answer = work()
    answer[place] = part
    assert words in failure_text(CHECK, answer)
    assert "a list of five" in failure_text(CHECK, answer[:4])


def test_parts_that_were_never_checked_are_no_answer() -> None:
    assert "expected a list of five" in failure_text(CHECK, ChosenDesign(*work()))


def test_wrong_verdicts_are_counted_and_conditions_are_judged_alone_as_a_grader_does() -> None:
    check = replace(CHECK)
    seen = count_tries(check)
    answer = work()
    for given in (..., [*answer[:4], "perhaps"], [answer[0], 500, *answer[2:]], answer):
        check(given)
    assert not seen
    for word in ("refuted", "undecided"):
        check([*answer[:4], word])
    assert len(seen) == check.many_tries == 2
    wrong = [answer[0], 500, *answer[2:4], "refuted"]
    alone = [replace(CHECK, conditions=[each]).judge(wrong).status for each in CHECK.conditions]
    failed, passed = Status.FAILED, Status.PASSED
    assert alone == [passed, passed, failed, passed, failed]
    assert sums(answer[3]).mean() == pytest.approx(30)


@pytest.mark.parametrize("seeds", [0, 1])
@pytest.mark.parametrize("place", [0, 3])
def test_a_table_without_an_interval_gets_a_message_and_its_verdict_is_no_try(place: int, seeds: int) -> None:
    check = replace(CHECK)
    seen = count_tries(check)
    answer = work()
    answer[place] = answer[place][answer[place]["seed"] <= seeds]
    assert "my_pilot must have 8 different seeds" in failure_text(check, answer)
    check(answer)
    assert not seen


@pytest.mark.parametrize(
    ("more", "words"),
    [(-1, "a little larger: round up"), (1, "one run less has that half width, too")],
)
def test_neighbours_of_the_number_of_runs_together_are_wrong(more: int, words: str) -> None:
    answer = work(0.3)
    together = answer[2] + more
    assert words in failure_text(CHECK, [*answer[:2], together, table(together), answer[4]])


@pytest.mark.parametrize(
    ("apart", "words"),
    [
        (2 * least(both(), 2) - 2, "Seen: 40; 1.96 is the factor"),
        (2 * least(both(), 2) + 3, "both hosts have as many runs, so the number of all is even"),
        (least(math.hypot(0.11, 0.3)), "this is with the scatter of one host"),
        (2 * least(math.hypot(0.11, 0.3)), "this is with the scatter of one host"),
    ],
)
def test_mistakes_with_runs_of_their_own_are_named_by_what_was_left_out(apart: int, words: str) -> None:
    answer = work()
    told = failure_text(CHECK, [answer[0], apart, *answer[2:]])
    assert words in told and "my_table" not in told


def test_a_number_of_each_host_is_rounded_before_it_is_doubled() -> None:
    answer = work(of_shares=0.33)
    assert answer[1] == 50
    assert "Seen: 48; 1.96 is the factor" in failure_text(CHECK, [answer[0], 48, *answer[2:]])


def test_hosts_that_swap_some_of_their_goodput_are_refused_in_a_notebook() -> None:
    """The sums are the same then, but the scatter of each host is not."""
    measured = table(12)
    check = replace(CHECK, replay=replay_of(measured))
    assert not check.doubt_about_origin([measured, 2, 2, measured, "supported"])
    shift = np.tile([0.3, -0.3], 12)
    swapped = measured.assign(goodput_mbps=measured["goodput_mbps"] + shift)
    told = check.doubt_about_origin([measured, 2, 2, swapped, "supported"])
    assert "in my_table, and" in told and "when it is run again" in told
