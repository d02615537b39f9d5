"""Statements with a number of the copy's own: the number does not change, and the verdict follows from an interval."""

from __future__ import annotations

from collections import Counter

import pytest

from netlab.base.errors import NetlabError
from netlab_course.own_numbers import StudentValues
from netlab_course.rounded_intervals import places
from netlab_course.statements import STATEMENT_VERDICTS, SUPPORTED, UNDECIDED, Statement, stated_number

FACTORS = (0.8, 0.9, 1.1, 1.2)


def own(number: int) -> StudentValues:
    return StudentValues({"rate_mbps": number})


def test_a_copy_has_the_same_number_whenever_it_is_opened() -> None:
    assert stated_number(own(5), 20.0, FACTORS) == stated_number(own(5), 20.0, FACTORS)


def test_the_numbers_of_many_copies_have_each_factor_about_equally_often() -> None:
    drawn = Counter(round(stated_number(own(number), 20.0, FACTORS) / 20, 3) for number in range(400))
    assert set(drawn) == set(FACTORS)
    # The standard deviation of each count is 9.
    assert all(60 < count < 140 for count in drawn.values()), drawn


def test_a_number_has_three_digits_and_no_point_where_it_is_whole() -> None:
    assert repr(stated_number(own(1), 1 / 3, (0.5, 1.5))) in ("0.167", "0.5")
    assert repr(stated_number(own(1), 200.0, (0.5, 1.5))) in ("100", "300")


@pytest.mark.parametrize("factors", [(), (0.9,), (1.1, 1.2), (0.9, 1), (0.8, 0.9, 1.1)])
def test_factors_that_make_a_verdict_more_frequent_are_refused(factors: tuple[float, ...]) -> None:
    with pytest.raises(NetlabError, match="as many factors below 1 as above it, got"):
        stated_number(own(1), 20.0, factors)


@pytest.mark.parametrize(
    ("number", "above", "right"),
    [
        (8, True, {"supported"}),
        (12, True, {"refuted"}),
        (10.5, True, {"undecided"}),
        (8, False, {"refuted"}),
        (12, False, {"supported"}),
        (9, True, {"supported", "undecided"}),
        (11.01, True, {"refuted", "undecided"}),
    ],
)
def test_a_verdict_follows_from_the_interval_and_near_an_edge_two_are_right(
    number: float, above: bool, right: set[str]
) -> None:
    found = Statement(number, above=above).verdicts(places((10.0, 1.0), number))
    assert found == right <= set(STATEMENT_VERDICTS)


def test_undecided_factors_are_as_frequent_as_the_others() -> None:
    drawn = [stated_number(own(number), 20.0, (0.8, 1.25), (1.0,)) for number in range(600)]
    assert {value: drawn.count(value) // 150 for value in drawn} == {16: 1, 20: 1, 25: 1}


def test_only_undecided_is_allowed_beside_the_verdict_of_an_interval_and_only_near_it() -> None:
    close, clear = Statement(20.0, is_close=True), Statement(20.0)
    assert close.allows_doubt(UNDECIDED, 20.9, 0.5) and not close.allows_doubt(UNDECIDED, 21.1, 0.5)
    assert not clear.allows_doubt(UNDECIDED, 20.9, 0.5)
    assert not close.allows_doubt(SUPPORTED, 20.1, 0.5)
