"""The chapter's checks: right answers pass, wrong ones get their sentence, a decision is judged by its runs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from netlab import interval, theory
from netlab_course.chapters import how_sure
from netlab_course.chapters.opening import judging_checks
from netlab_course.checks import Status
from tests.chapters.checking import failure_text, passes
from tests.fake_runs import no_replay, replay_of


def by_hand(values: list[float]) -> tuple[float, float]:
    half = theory.student_t(len(values)) * np.std(values, ddof=1) / len(values) ** 0.5
    return float(np.mean(values)), float(half)


BEST, SECOND, WORST = 0.004, 0.007, 0.010
SCATTER = 0.002


@pytest.mark.parametrize("token", ["", "anna", "ben"])
def test_right_answers_pass(token: str) -> None:
    chapter = how_sure.begin(token)
    passes(judging_checks(chapter)["interval"], by_hand)
    passes(judging_checks(chapter)["runs"], theory.runs_needed(chapter.own.scatter_ms, chapter.own.wanted_ms))


def test_only_the_whole_number_of_runs_passes() -> None:
    """1.96 for Student's factor gives 61.47 runs with the printed numbers; 64 are needed."""
    check = judging_checks(how_sure.begin())["runs"]
    passes(check, 64)
    assert "Runs are whole, and 1.96 is the factor of very many values" in failure_text(check, (1.96 * 12 / 3) ** 2)
    assert "1.96 is the factor of very many values" in failure_text(check, 62)
    assert "1.96 is the factor of very many values" not in failure_text(check, 63)
    for wrong in (63, 65, 63.9, 64.2):
        assert "✗" in failure_text(check, wrong)
    assert "The twelve trial runs are among the runs" in failure_text(check, 64 - 12)


def test_function_with_one_return_value_is_reported_with_both_required() -> None:
    assert "mean and half width" in failure_text(
        judging_checks(how_sure.begin())["interval"], lambda values: sum(values) / len(values)
    )


@pytest.fixture
def chapter() -> Any:
    return how_sure.begin()


def table(chapter: Any, queue: str, loss_rate: float, seeds: range, offset: float = 0.0) -> pd.DataFrame:
    """Return a table as from `nl.repeat`: each seed adds the same random part to every queue, and a small part of the queue's own."""
    luck = [SCATTER * np.sin(7 * seed) + 0.0002 * np.cos(11 * seed + offset) for seed in seeds]
    losses = [loss_rate + each for each in luck]
    found = pd.DataFrame({"seed": list(seeds), "flow": "h1-h2", "loss_rate": losses, "error": None})
    found.attrs["scenario"] = chapter.settings.candidate(chapter.own, queue).to_dict()
    return found


def tables(chapter: Any, seeds: range = range(3, 12)) -> dict[str, pd.DataFrame]:
    """Return the tables of a good plan: two runs of each queue, and these seeds for the two that are close."""
    return {
        queue: table(chapter, queue, loss_rate, range(1, 3) if queue == "C" else seeds, offset)
        for offset, (queue, loss_rate) in enumerate((("A", SECOND), ("B", BEST), ("C", WORST)))
    }


def paired(found: dict[str, pd.DataFrame]) -> Any:
    losses = {queue: each.set_index("seed")["loss_rate"] for queue, each in found.items()}
    return interval((losses["A"] - losses["B"]).dropna())


def test_a_decision_by_pairs_passes(chapter: Any) -> None:
    found = tables(chapter)
    passes(judging_checks(chapter)["decision"], [found, paired(found), "B"])
    passes(judging_checks(chapter)["decision"], (found, tuple(paired(found)), "b"))


def test_runs_may_go_where_they_are_worth_most(chapter: Any) -> None:
    found = {**tables(chapter, range(5, 11)), "C": table(chapter, "C", WORST, range(1, 5))}
    passes(judging_checks(chapter)["decision"], [found, paired(found), "B"])


def test_the_runs_that_chose_the_queues_do_not_compare_them(chapter: Any) -> None:
    found = tables(chapter, range(1, 12))
    found["A"].loc[found["A"]["seed"] <= 2, "loss_rate"] += 0.004
    assert "this is the interval of all seeds; leave out" in failure_text(
        judging_checks(chapter)["decision"], [found, paired(found), "B"]
    )
    fresh = paired({queue: each[each["seed"] > 2] for queue, each in found.items()})
    passes(judging_checks(chapter)["decision"], [found, fresh, "B"])
    same = {**tables(chapter, range(1, 9)), "C": table(chapter, "C", WORST, range(1, 9))}
    heard = failure_text(judging_checks(chapter)["decision"], [same, paired(same), "B"])
    assert "must have 5 fresh seeds in common" in heard and "Seen: 0 fresh seeds in common with A" in heard


def test_each_condition_looks_at_the_runs(chapter: Any) -> None:
    found = tables(chapter)
    right = paired(found)
    losses = {queue: each["loss_rate"] for queue, each in found.items()}
    apart = np.hypot(interval(losses["A"]).half_width, interval(losses["B"]).half_width)
    swapped = {**found, "A": found["B"], "B": found["A"]}
    others = {**found, "B": table(chapter, "B", BEST, range(9, 17))}
    many = tables(chapter, range(3, 13))
    close = {**found, "A": table(chapter, "A", BEST + 1e-5, range(3, 12))}
    worst = {queue: table(chapter, queue, rate, range(3, 9)) for queue, rate in (("B", BEST), ("C", WORST))}
    worst["A"] = table(chapter, "A", SECOND, range(1, 3))
    decide = judging_checks(chapter)["decision"]
    cases: list[tuple[list[Any], str]] = [
        ([swapped, right, "A"], "Seen: A is another scenario, B is another scenario."),
        ([many, paired(many), "B"], "24 runs, and each must have two or more. Seen: 26 runs (A: 12, B: 12, C: 2)."),
        ([found, (right[0], apart), "B"], "this is the two half widths put together"),
        ([found, interval(losses["A"], losses["B"]), "B"], "this is the interval of two independent samples"),
        ([found, (-right[0], right[1]), "B"], "the other way round"),
        ([found, (100 * right[0], 100 * right[1]), "B"], "in per cent; loss rates are fractions here"),
        ([found, interval(losses["B"]), "B"], "the interval of the loss rates of B, not of a difference"),
        ([worst, right, "C"], "must lose less than both others in your runs. Seen: 'C'; another queue loses 0.006"),
        ([worst, right, "C"], "it lies below 0, so by your own tables another queue loses less."),
        (
            [close, (0.001, 0.0), "B"],
            "it holds 0. If it holds 0, give all that is left of the 24 runs to the two queues that are close",
        ),
        ([found, right, "C"], "must have 5 fresh seeds in common"),
        ([found, right, "C"], "Seen: 'C'; another queue loses 0.00"),
        ([others, right, "B"], "must have 5 fresh seeds in common"),
    ]
    for answer, sentence in cases:
        assert sentence in failure_text(decide, answer), sentence


def test_combined_half_widths_are_reported_when_the_third_queue_varies_little(chapter: Any) -> None:
    """The third queue has the lower mean in its five runs, but seed by seed it loses more than the second."""
    found = {**tables(chapter), "C": table(chapter, "C", SECOND + 0.0005, range(6, 8))}
    losses = {queue: each["loss_rate"] for queue, each in found.items()}
    assert losses["C"].mean() < losses["A"].mean()
    (best, its_half), (second, second_half) = interval(losses["B"]), interval(losses["A"])
    apart = (second - best, float(np.hypot(its_half, second_half)))
    assert "this is the two half widths put together" in failure_text(
        judging_checks(chapter)["decision"], [found, apart, "B"]
    )


def test_answer_of_the_wrong_form_is_reported(chapter: Any) -> None:
    found: dict[str, Any] = dict(tables(chapter))
    no_table: dict[str, Any] = {**found}
    no_table["C"] = [1, 2]
    decide = judging_checks(chapter)["decision"]
    assert "a list of three" in failure_text(decide, [found, (0.1, 0.2)])
    assert 'a table for "A", "B" and "C", got 3.' in failure_text(decide, [3, (0.1, 0.2), "A"])
    assert '"B" and "C": "B" is missing, "C" is missing.' in failure_text(decide, [{"A": found["A"]}, (0.1, 0.2), "A"])
    with_another = {**tables(chapter), "D": found["A"]}
    assert "\"C\": 'D' is none of them." in failure_text(decide, [with_another, (0.1, 0.2), "A"])
    assert "must be the table that nl.repeat(...) returns" in failure_text(decide, [no_table, (0.1, 0.2), "A"])
    assert "mean and half width" in failure_text(decide, [found, 0.1, "A"])
    assert "one of 'A', 'B', 'C'" in failure_text(decide, [found, (0.1, 0.2), "D"])


def test_the_letters_stand_for_other_queues_in_other_copies() -> None:
    orders = set()
    for token in map(str, range(12)):
        opened = how_sure.begin(token)
        orders.add(tuple(repr(opened.settings.unknown_queue(opened.own, queue)) for queue in "ABC"))
    assert len(orders) >= 4


def test_wrong_half_width_is_not_reported_as_a_constant(chapter: Any) -> None:
    """The mean of the same values was right before it, but that trial had the same arguments."""
    heard = failure_text(judging_checks(chapter)["interval"], lambda values: (np.mean(values), 4.44))
    assert "the half width of values=" in heard and "number written into" not in heard


def test_an_interval_as_two_edges_or_to_the_worst_queue_is_named(chapter: Any) -> None:
    found = tables(chapter)
    mean, half = paired(found)
    assert "two edges" in failure_text(judging_checks(chapter)["decision"], [found, (mean - half, mean + half), "B"])
    found["C"] = table(chapter, "C", WORST, range(1, 5))
    losses = {queue: each.set_index("seed")["loss_rate"] for queue, each in found.items()}
    worst = interval((losses["C"] - losses["B"]).dropna())
    assert "the difference to C, which is not the next best" in failure_text(
        judging_checks(chapter)["decision"], [found, worst, "B"]
    )


def test_an_edited_loss_rate_is_found_when_its_run_is_made_again(chapter: Any) -> None:
    found = tables(chapter)
    edited = found["A"].assign(loss_rate=found["A"]["loss_rate"] + 0.001)
    edited.attrs = found["A"].attrs
    check = replace(judging_checks(chapter)["decision"], replay=replay_of(found["A"]))
    answer = [{**found, "A": edited}, paired({**found, "A": edited}), "B"]
    passes(check, answer)
    assert "when it is run again: hand over the table" in str(check.verdict(answer))
    believed = replace(check, replay=no_replay)
    assert believed.verdict(answer).status is Status.PASSED, "what cannot be repeated here is believed"


def test_a_table_with_seeds_left_out_is_refused_in_a_notebook(chapter: Any) -> None:
    found = tables(chapter)
    fewer = found["A"][found["A"]["seed"] != found["A"]["seed"].iloc[-2]]
    fewer.attrs = found["A"].attrs
    told = str(
        replace(judging_checks(chapter)["decision"], replay=no_replay).doubt_about_origin(
            [{**found, "A": fewer}, (1, 1), "B"]
        )
    )
    assert told == "the table of A must have seeds in a row, such as seeds=12: some are left out."


def test_tables_by_seed_and_rows_of_one_case_are_tables(chapter: Any) -> None:
    found = tables(chapter)
    by_seed = {queue: table.set_index("seed") for queue, table in found.items()}
    for queue, table in by_seed.items():
        table.attrs = found[queue].attrs
    passes(judging_checks(chapter)["decision"], [by_seed, paired(found), "B"])


def test_an_interval_that_is_rounded_too_far_is_named(chapter: Any) -> None:
    found = tables(chapter)
    mean, half = paired(found)
    heard = failure_text(judging_checks(chapter)["decision"], [found, (round(mean, 3), round(half, 3)), "B"])
    assert "this is rounded too far. Hand over what nl.interval(...) returns" in heard


def test_a_function_that_rounds_to_whole_numbers_is_named(chapter: Any) -> None:
    def rounded(values: list[float]) -> tuple[float, float]:
        mean, half = by_hand(values)
        return round(mean), round(half)

    assert "The digits are right, but too few" in failure_text(judging_checks(chapter)["interval"], rounded)
