"""Student's factor and the number of runs, against published tables and a sampling experiment."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import stdtrit

from netlab import theory


@pytest.mark.parametrize(
    ("values", "probability", "published"),
    [(2, 0.95, 12.706), (3, 0.95, 4.303), (6, 0.95, 2.571), (11, 0.95, 2.228), (31, 0.95, 2.042), (5, 0.99, 4.604)],
)
def test_students_factor_is_that_of_the_tables(values: int, probability: float, published: float) -> None:
    """Abramowitz and Stegun, table 26.10."""
    assert theory.student_t(values, probability) == pytest.approx(published, abs=6e-4)


@pytest.mark.parametrize("freedom", [1, 1.001, 1.5, 2.7, 13.917, 17.776, 136.875, 2500.3])
@pytest.mark.parametrize("probability", [0.5, 0.95, 0.999])
def test_the_factor_for_fractions_of_degrees_of_freedom_is_that_of_scipy(freedom: float, probability: float) -> None:
    expected = stdtrit(freedom, (1 + probability) / 2)
    assert theory.certainty.student_t_of_freedom(freedom, probability) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("freedom", [0.99, 0, -1, np.nan, np.inf])
def test_degrees_of_freedom_below_one_are_refused(freedom: float) -> None:
    with pytest.raises(theory.TheoryError, match="freedom must be 1 or more"):
        theory.certainty.student_t_of_freedom(freedom)


def test_so_many_runs_are_enough_and_one_fewer_is_not() -> None:
    for scatter, half_width in ((3.0, 1.0), (0.5, 0.1), (1.0, 0.9), (40.0, 3.0)):
        runs = theory.runs_needed(scatter, half_width)
        assert theory.student_t(runs) * scatter / runs**0.5 <= half_width
        assert theory.student_t(runs - 1) * scatter / (runs - 1) ** 0.5 > half_width


def test_runs_that_all_agree_need_only_two() -> None:
    assert theory.runs_needed(0, 1) == 2


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda: theory.student_t(1), "values must be a whole number of at least 2, got 1"),
        (lambda: theory.student_t(5, 95), "for 95 % write 0.95"),
        (lambda: theory.runs_needed(-1, 1), "scatter must be 0 or more"),
        (lambda: theory.runs_needed(1, 0), "half_width must be above 0"),
        (lambda: theory.runs_needed(1, 1e-4), "More than 100000 runs"),
        (lambda: theory.runs_needed(np.nan, 1), "scatter must be 0 or more"),
    ],
)
def test_question_without_an_answer_is_reported(wrong, words: str) -> None:
    with pytest.raises(theory.TheoryError, match=words):
        wrong()
