"""A refutation is neither a question nor the statement; a person judges one whose side cannot be told."""

from __future__ import annotations

import pytest

from netlab_course.answers import with_unit
from netlab_course.repetition import UNJUDGED, Repetition
from tests.chapters.checking import failure_text, passes
from tests.course.test_repetition import REFUTATION, WITH_REFUTATION, parameters, work


@pytest.mark.parametrize("check", parameters(WITH_REFUTATION))
def test_a_refutation_must_not_be_a_question_or_the_statement(check: Repetition) -> None:
    """The tables' numbers are random, so that the verdict may be any; the sentence alone is wrong."""
    answer = work(check)
    assert check.statement is not None
    number, text = check.statement.number, check.statement.in_words(check.unit)
    own, other = ("above", "below") if check.statement.above else ("below", "above")
    for question in (
        "Which interval would refute the colleague?",
        "a sentence in quotes, best written first: which interval would refute the colleague",
        f"Is the whole interval {other} {number}?",
        f"Where must the interval lie, seen from {number}, if the statement is wrong? ",
    ):
        message = failure_text(check, [*answer[:2], question, answer[3]])
        assert "my_refutation must be a sentence" in message and "Seen: a question" in message and ": 1 of " in message
    for statement in (
        f"On average the value is {text}.",
        f'A colleague says: "On average the value is {text}."',
        f"An interval that lies entirely {own} {number} would refute it.",
        f"The 95 % interval is {text}.",
        f"Das ganze Intervall liegt {'über' if check.statement.above else 'unter'} {str(number).replace('.', ',')}.",
    ):
        message = failure_text(check, [*answer[:2], statement, answer[3]])
        assert f'a result that agrees with the statement "{text}"' in message and ": 1 of " in message


@pytest.mark.parametrize("check", parameters(WITH_REFUTATION))
def test_a_refutation_with_an_unclear_side_is_left_to_a_person(check: Repetition) -> None:
    answer = work(check)
    assert check.statement is not None
    number, text = check.statement.number, check.statement.in_words(check.unit)
    own, other = ("above", "below") if check.statement.above else ("below", "above")
    left_to_a_person = [
        REFUTATION,
        f"An interval that does not lie {own} {number}.",
        f"No part of the interval is {own} {number}.",
        f"The statement says {text}; it would be refuted by an interval on the other side.",
        f"An interval that excludes values {own} {number}.",
        f"An interval from {0.1 * number} to {10 * number}, which is {own} {number} in part.",
    ]
    for sentence in left_to_a_person:
        passes(check, [*answer[:2], sentence, answer[3]])
        assert UNJUDGED in check.judge([*answer[:2], sentence, answer[3]]).sentences
    for sentence in (f"An interval that lies {other} {number}.", f"The whole interval is {other} the number {number}"):
        passes(check, [*answer[:2], sentence, answer[3]])
        assert UNJUDGED not in check.judge([*answer[:2], sentence, answer[3]]).sentences


@pytest.mark.parametrize("check", parameters(WITH_REFUTATION))
def test_a_result_that_leaves_the_statement_undecided_or_is_about_another_number_is_refused(check: Repetition) -> None:
    answer = work(check)
    assert check.statement is not None
    number = check.statement.number
    other = "below" if check.statement.above else "above"
    for sentence in (
        f"The interval contains {number}.",
        f"The interval holds the number {number}.",
        f"Das Intervall enthält {str(number).replace('.', ',')}.",
    ):
        message = failure_text(check, [*answer[:2], sentence, answer[3]])
        assert (
            "an interval that holds the number; it leaves the statement undecided" in message and ": 1 of " in message
        )
    weaker, stronger = (1.3, 0.8) if check.statement.above else (0.8, 1.3)
    message = failure_text(
        check, [*answer[:2], f"The whole interval would lie {other} {weaker * number:.4f}.", answer[3]]
    )
    assert f"another number than {with_unit(number, check.unit)}" in message and ": 1 of " in message
    for sentence in (
        f"It would have to lie completely {other} {number}.",
        f"An interval of 12 seeds that lies {other} {number}.",
        f"The interval of 95 % lies {other} {with_unit(number, check.unit)}",
        f"The interval contains only values {other} {number}.",
        f"The interval would lie wholly {other} the colleague's number.",
        f"The whole interval would lie {other} {stronger * number:.4f}.",
        f"The interval would not contain {number} and lie {other} it.",
    ):
        passes(check, [*answer[:2], sentence, answer[3]])


@pytest.mark.parametrize("check", parameters(WITH_REFUTATION))
def test_an_end_of_the_interval_and_a_single_run_that_refute_nothing_are_named(check: Repetition) -> None:
    answer = work(check)
    assert check.statement is not None
    number = check.statement.number
    above = check.statement.above
    other, far_end, near_end = ("below", "lower", "upper") if above else ("above", "upper", "lower")
    longer = "smaller than" if above else "larger than"
    unit = "packets" if check.unit == "ms" else "ms"
    foreign = [(f"The whole interval lies {other} {number} {unit}.", f"the unit {unit}, where")] if check.unit else []
    for sentence, words in (
        (f"One of my runs has a value {other} {number}.", "a single run"),
        (f"The first seed has a goodput {other} {number}.", "a single run"),
        (f"At least one end of the interval is {other} {number}.", "a part of the interval"),
        (f"Most of the interval is {other} {number}.", "a part of the interval"),
        (f"The half width of the interval is {longer} {number}.", "neither the mean nor its interval"),
        *foreign,
        (
            f"If the {far_end} end of the interval is {other} {number}.",
            "an end that may be there while the interval holds",
        ),
        (
            f"The {far_end} edge of the interval is {longer} {number}",
            "an end that may be there while the interval holds",
        ),
        (f"One run has a value {other} {number}.", "a single run"),
        (f"The mean is {other} {number} in one run.", "a single run"),
        (f"The standard deviation of the values would be {longer} {number}.", "neither the mean nor its interval"),
    ):
        told = failure_text(check, [*answer[:2], sentence, answer[3]])
        assert words in told and ": 1 of " in told, told
    for sentence in (
        f"If the {near_end} end of the interval is {other} {number}.",
        f"The whole interval lies {other} {number}, also its {far_end} end.",
        f"Both ends of the interval are {other} {number}.",
        f"The mean of all runs lies {other} {number}, with the interval",
        f"The interval lies {other} {number}, its {near_end} end too.",
    ):
        passes(check, [*answer[:2], sentence, answer[3]])
