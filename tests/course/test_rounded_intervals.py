"""Intervals and figures of a repeated measurement that a student rounded, or gave in another unit."""

from __future__ import annotations

from dataclasses import replace

import pytest

from netlab_course.repetition import Repetition
from netlab_course.rounded_intervals import agrees, is_rounded_too_far, shows
from tests.chapters.checking import count_tries, failure_text, passes
from tests.course.example_repetitions import CHECKS, PRINTED, WITH_FIGURE, figure, parameters, some_check, table, work


@pytest.mark.parametrize(
    ("given", "right", "agreed", "too_far"),
    [
        ((0.119, 0.00323), (0.118695, 0.0032335), True, False),
        ((0.119, 0.0032335), (0.118695, 0.0032335), True, False),
        ((0.12, 0.0032), (0.118695, 0.0032335), False, True),
        ((0.119, 0.003), (0.118695, 0.0032335), False, True),
        ((7.14, 0.03), (7.1372, 0.0312), False, True),
        ((7.1, 0.0), (7.1372, 0.0312), False, True),
        ((7.1372, 0.0), (7.1372, 0.0312), False, False),
        ((7.2, 0.03), (7.1372, 0.0312), False, False),
        ((7.1372, 0.03), (7.1372, 0.0312), False, True),
    ],
)
def test_three_digits_of_an_interval_are_enough_and_fewer_are_named(
    given: tuple[float, float], right: tuple[float, float], agreed: bool, too_far: bool
) -> None:
    assert agrees(given, right) is agreed
    assert is_rounded_too_far(given, right) is too_far


@pytest.mark.parametrize("check", [PRINTED["bdp-"], PRINTED["load_and_delay-"]])
def test_an_interval_that_is_rounded_too_far_costs_one_condition(check: Repetition) -> None:
    answer = work(check)
    mean, half = answer[1]
    answer[1] = (float(f"{mean:.2g}"), float(f"{half:.1g}"))
    told = failure_text(check, answer)
    assert ": 1 of " in told and "this is rounded too far. Hand over what nl.interval(...) returns" in told
    assert "Select the rows" not in told


@pytest.mark.parametrize("check", CHECKS)
def test_three_digits_of_an_interval_pass(check: Repetition) -> None:
    answer = work(check)
    answer[1] = tuple(float(f"{number:.3g}") for number in answer[1])
    passes(check, answer)


@pytest.mark.parametrize("check", CHECKS)
def test_the_word_is_not_judged_before_the_interval_is_right(check: Repetition) -> None:
    found = table(check)
    values = check.values(found)
    single = table(check, [5])
    for answer in (
        [found, (3 * float(values.mean()), 1.0), *work(check)[2:]],
        [single, (float(check.values(single).mean()), 0.0), *work(check)[2:]],
    ):
        given = replace(check)
        seen = count_tries(given)
        for word in check.words:
            told = failure_text(given, [*answer[:3], word])
            assert "The word must say" not in told and "more can be looked at only when" in told
            given([*answer[:3], word])
        assert not seen


def test_a_wrong_word_is_told_once_the_interval_is_right() -> None:
    answer = work(some_check())
    wrong = next(word for word in some_check().words if word != answer[3])
    told = failure_text(some_check(), [*answer[:3], wrong])
    assert "1 of 7 conditions does not hold yet. The word must say" in told


@pytest.mark.parametrize("check", parameters(WITH_FIGURE))
def test_a_figure_alone_may_be_in_another_usual_unit(check: Repetition) -> None:
    answer = work(check)
    values = check.values(answer[0])
    half = 1000 * answer[1].half_width
    passes(check, [*answer[:2], figure(1000 * values, half, "Goodput (kbit/s)"), answer[3]])
    told = failure_text(check, [*answer[:2], figure(1000 * values, half, "Goodput (Mbit/s)"), answer[3]])
    assert "1 of 7" in told and "its unit is Mbit/s, and the values are in kbit/s" in told
    low = figure(1000 * values, title="Goodput (kbit/s)")
    low.add_hrect(y0=answer[1].mean - answer[1].half_width, y1=sum(answer[1]))
    assert "1 of 7 conditions does not hold yet. The figure must show your interval" in failure_text(
        check, [*answer[:2], low, answer[3]]
    )


@pytest.mark.parametrize("check", parameters(WITH_FIGURE))
def test_a_trace_with_other_rows_as_well_is_named(check: Repetition) -> None:
    answer = work(check)
    values = check.values(answer[0])
    more = figure([*values, *(values + 3)], title=check.axis)
    more.add_hrect(y0=answer[1].mean - answer[1].half_width, y1=sum(answer[1]))
    told = failure_text(check, [*answer[:2], more, answer[3]])
    assert "traces of 20, 20 numbers; one has your values, and others." in told
    assert "others" not in failure_text(check, [*answer[:2], figure(values + 3, title=check.axis), answer[3]])


@pytest.mark.parametrize(("widths", "shown"), [(1.0, True), (2.0, False), (0.5, False)])
def test_the_width_of_a_band_counts_even_if_the_interval_is_narrower_than_rounding(widths: float, shown: bool) -> None:
    mean, half = 9.5612, 0.002
    edges = [mean - widths * half, mean + widths * half]
    assert shows({"bars": [], "shapes": edges, "traces": []}, (mean, half)) is shown
    assert shows({"bars": [], "shapes": [], "traces": [edges]}, (mean, half)) is shown


def test_the_band_of_equal_values_is_a_line() -> None:
    assert shows({"bars": [], "shapes": [5.0, 5.0], "traces": []}, (5.0, 0.0))


@pytest.mark.parametrize(("half", "right"), [(1.4, True), (1.45, True), (1.447, True), (1.39, False), (1.47, False)])
def test_a_half_width_may_be_rounded_and_not_be_near(half: float, right: bool) -> None:
    assert agrees((9.56, half), (9.5612, 1.44651)) is right
    assert not agrees((9.5612, 1.44651 * 1.96 / 2.045), (9.5612, 1.44651)), "the factor of very many values"


@pytest.mark.parametrize("edges", [(9.5612, 9.5652), (9.5586, 9.5638), (9.5600, 9.5624)])
def test_a_band_beside_the_interval_or_of_the_standard_deviation_is_not_it(edges: tuple[float, float]) -> None:
    assert not shows({"bars": [], "shapes": list(edges), "traces": []}, (9.5612, 0.002))
    assert shows({"bars": [], "shapes": [9.559, 9.563], "traces": []}, (9.5612, 0.002)), "rounded to four digits"


@pytest.mark.parametrize("check", parameters(WITH_FIGURE))
def test_a_band_at_another_place_is_named_with_its_edges(check: Repetition) -> None:
    answer = work(check)
    elsewhere = figure(check.values(answer[0]), title=check.axis)
    elsewhere.add_hrect(y0=-7, y1=-2.5)
    assert "Seen: 0 error bars, and lines or areas at -7, -2.5" in failure_text(
        check, [*answer[:2], elsewhere, answer[3]]
    )
