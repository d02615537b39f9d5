"""Conditions that refute a statement: they are parsed, tried on intervals, and a wrong one is told an interval."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netlab.base.errors import NetlabError
from netlab_course.refutations import EXAMPLE, parse_condition, refutation_problem
from netlab_course.repetition import Repetition
from tests.chapters.checking import failure_text, passes
from tests.course.example_repetitions import WITH_REFUTATION, parameters, work

# Right conditions against "more than 4.2 Mbit/s" and "less than 4.2 ms".
BELOW = [
    "high < 4.2",
    "high <= 4.2",
    "high ≤ 4.2",
    " 4.2 > high ",
    "(high < 4.2)",
    "mean + half < 4.2",
    "mean < 4.2 - half",
    "low < 4.2 and high < 4.2",
    "low < high < 4.2",
    "low <= mean <= high <= 4.2",
    "not high >= 4.2",
    "not (high > 4.2 or low > 4.2)",
    "high - 4.2 < 0",
    "2 * high < 8.4",
    "high / 4.2 < 1",
    "low + 2 * half < 4.2",
    "high < +4.2",
    "high < 4.18",
    "High < 4.2 AND LOW < 4.2",
    "high < 4.2\n  and low < 4.2",
]
ABOVE = ["low > 4.2", "4.2 < low", "mean - half > 4.2", "low > 4.2 and high > 4.2", "4.2 < low < high", "-low < -4.2"]
# Wrong ones against "more than 4.2 Mbit/s", and words of what is said about them.
WRONG = {
    "low < 4.2": "holds for the interval from 3.78 Mbit/s to 4.62 Mbit/s, which leaves the statement undecided",
    "mean < 4.2": "leaves the statement undecided",
    "low < 4.2 < high": "does not hold for the interval from 3.36 Mbit/s to 3.78 Mbit/s",
    "low < 4.2 or high < 4.2": "leaves the statement undecided",
    "high > 4.2": "does not hold for the interval from 3.36 Mbit/s to 3.78 Mbit/s, in which no value agrees",
    "low > 4.2": "does not hold for the interval from 3.36 Mbit/s to 3.78 Mbit/s",
    "high < 4": "does not hold for the interval from 3.99 Mbit/s to 4.116 Mbit/s",
    "high < 5": "leaves the statement undecided",
    "high < 6": "holds for the interval from 4.62 Mbit/s to 5.04 Mbit/s, in which each value agrees",
    "high < 4.2 and half < 0.1": "does not hold for",
    "high < 4.2 and low > 3": "does not hold for",
    "high < 4.2 or half > 10": "in which each value agrees",
    "half < 4.2": "holds for",
    "low < high": "holds for",
    EXAMPLE: "does not hold for",
    "1 < 2": "holds for",
}
NO_CONDITIONS = {
    "": "is not a condition such as",
    "An interval that lies below 4.2 Mbit/s.": "is not a condition such as",
    "high < 4.2 Mbit/s": "is not a condition such as",
    "high < 4,2": "a comma; a number has a point",
    "high_mbps < 4.2": "the name high_mbps; the names are low, high, mean, half",
    "high < own.stated_mbps": "own.stated_mbps is Python; write the number itself",
    "high": "compares nothing",
    "high - 4.2": "compares nothing",
    "low and high < 4.2": "low is compared with nothing",
    "high == 4.2": "compare with <, <=, > or >=",
    "high < 4.2 ** 1": "calculate with +, -, * and / alone",
    "high < 'a'": "only numbers and the names",
    "max(low, high) < 4.2": "only numbers and the names",
    "high < (lambda: 4.2)()": "only numbers and the names",
    "(high < 4.2) if low > 1 else low": "only numbers and the names",
    "high / (low - low) < 4.2": "divides by zero",
    "high < 4.2" + " " * 3 + "and high < 4.2" * 20: "a condition has at most 200",
    "(" * 150 + "high": "is not a condition such as",
    "high < 4.2\0": "is not a condition such as",
}


def test_conditions_of_any_form_are_right_if_they_hold_for_the_same_intervals() -> None:
    for text in BELOW:
        assert refutation_problem(text, 4.2, above=True, unit="Mbit/s") == "", text
        assert refutation_problem(text, 4.2, above=False, unit="ms") != "", text
    for text in ABOVE:
        assert refutation_problem(text, 4.2, above=False, unit="ms") == "", text
        assert refutation_problem(text, 4.2, above=True, unit="Mbit/s") != "", text


@pytest.mark.parametrize("text", WRONG)
def test_wrong_condition_is_told_an_interval(text: str) -> None:
    said = refutation_problem(text, 4.2, above=True, unit="Mbit/s")
    assert WRONG[text] in said and said.startswith(repr(text))


def test_condition_that_also_holds_for_negative_intervals_is_told_one() -> None:
    said = refutation_problem("low > 4.2 or high < 0", 4.2, above=False, unit="ms")
    assert "holds for the interval from -4.2 ms to -2.1 ms, in which each value agrees" in said


@pytest.mark.parametrize("text", NO_CONDITIONS)
def test_text_without_a_condition_is_told_what_is_wrong(text: str) -> None:
    assert NO_CONDITIONS[text] in refutation_problem(text, 4.2, above=True, unit="Mbit/s")


@given(st.text(alphabet="lowhigmeanf <>=.,()+-*/0123456789'\"[]:", max_size=40))
def test_any_text_is_a_condition_or_gets_a_message(text: str) -> None:
    try:
        parse_condition(text).holds_for(1.0, 2.0)
    except NetlabError as error:
        assert str(error)
    assert isinstance(refutation_problem(text, 4.2, above=True, unit="ms"), str)


@given(st.floats(0.01, 1e4), st.floats(0.01, 1e4), st.floats(0.01, 1e4))
def test_condition_holds_for_an_interval_as_python_says(number: float, one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert parse_condition(f"high < {number!r}").holds_for(low, high) == (high < number)
    assert parse_condition(f"not low <= {number!r}").holds_for(low, high) == (low > number)
    assert parse_condition(f"low < {number!r} < high").holds_for(low, high) == (low < number < high)


@pytest.mark.parametrize("check", parameters(WITH_REFUTATION))
def test_refutation_must_hold_for_what_refutes_the_statement_alone(check: Repetition) -> None:
    """The tables' numbers are random, so that the verdict may be any; the refutation alone is wrong."""
    answer = work(check)
    assert check.statement is not None
    number, above = check.statement.number, check.statement.above
    right, far, near = ("high <", "low <", "high >") if above else ("low >", "high >", "low <")
    for text in (
        f"{right} {number}",
        f"{right} {number:.3g}",
        f"{right}= {1.005 * number if above else 0.995 * number}",
    ):
        passes(check, [*answer[:2], text, answer[3]])
    for text, words in (
        (f"{far} {number}", "leaves the statement undecided"),
        (f"mean {right[-1]} {number}", "leaves the statement undecided"),
        (f"{near} {number}", "does not hold for the interval" if above else "each value agrees with the statement"),
        (f"{right} {number * (1.3 if above else 0.75)}", "holds for the interval"),
        (f"{right} {number * (0.75 if above else 1.3)}", "does not hold for the interval"),
        (f"An interval that lies {'below' if above else 'above'} {number}.", "which is not a condition such as"),
        ("...", "only numbers and the names"),
    ):
        told = failure_text(check, [*answer[:2], text, answer[3]])
        assert words in told and "my_refutation must hold if" in told and ": 1 of " in told, told
    for other in (7, lambda low, high: high < number):
        assert "the third must be a condition that refutes it, in quotes" in failure_text(
            check, [*answer[:2], other, answer[3]]
        )


def test_check_without_figure_needs_a_statement() -> None:
    check = next(iter(WITH_REFUTATION.values()))
    with pytest.raises(ValueError, match="needs a statement, or an axis for a figure"):
        replace(check, statement=None, conditions=(), hints=())
