"""Checks of functions that students write."""

from __future__ import annotations

import statistics
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netlab import theory
from netlab_course import answers, function_checks
from netlab_course.checks import Number, Status
from netlab_course.function_checks import Function
from netlab_course.misconceptions import Misconception, formula_slips, slips
from tests.chapters.checking import failure_text
from tests.course.example_checks import FUNCTION, NUMBER, limit, verdict_text


def stub_dots(rate_mbps: float, payload_bytes: int) -> float:  # type: ignore[empty-body]
    """Return the limit in Mbit/s."""
    ...  # noqa: PIE790 (as above)


def stub_raises(rate_mbps: float, payload_bytes: int) -> float:
    raise NotImplementedError


def stub_assigns(rate_mbps: float, payload_bytes: int) -> object:
    result = ...
    return result  # noqa: RET504 (a student's stub as it stands in a chapter)


@pytest.mark.parametrize("stub", [stub_dots, stub_raises, stub_assigns])
def test_a_function_stub_is_not_attempted(stub: object) -> None:
    assert FUNCTION.judge(stub).status is Status.NOT_ATTEMPTED


def test_a_missing_return_is_an_attempt() -> None:
    def forgot(rate_mbps: float, payload_bytes: int) -> None:
        limit(rate_mbps, payload_bytes)

    result = FUNCTION.judge(forgot)
    assert result.status is Status.FAILED
    assert "is a `return` missing?" in verdict_text(result)


def test_failing_function_is_reported_with_the_side_of_a_trial() -> None:
    assert "It is too large, by less than a half" in verdict_text(
        FUNCTION.judge(lambda rate_mbps, payload_bytes: 1.3 * limit(rate_mbps, payload_bytes))
    )


def test_a_right_function_passes() -> None:
    assert verdict_text(FUNCTION.judge(limit)) == (
        "✓ limit: all 2 trials agree within 0.1 %; for rate_mbps=5, payload_bytes=1000 it gives 4.798 Mbit/s."
    )


def test_netlabs_own_function_does_not_count() -> None:
    own = theory.bdp_bytes
    check = Function(name="BDP", reference=own, cases=[{"rate_mbps": 5, "rtt_ms": 40}], unit="bytes", tolerance=0.001)
    heard = verdict_text(check.verdict(own))
    assert heard.startswith("✗") and "does not count: write yours out" in heard
    assert "count" not in verdict_text(check.judge(lambda rate_mbps, rtt_ms: rate_mbps * rtt_ms * 125))


def test_function_may_consume_its_arguments() -> None:
    def mean(data: list[float]) -> float:
        return sum(data.pop() for _ in range(2)) / 2

    check = Function(name="mean", reference=statistics.fmean, cases=[{"data": [1.0, 2.0]}], unit="", tolerance=0.001)
    assert [check.judge(mean).status for _ in range(2)] == [Status.PASSED] * 2


def test_a_known_wrong_formula_gets_its_own_sentence() -> None:
    def ethernet(rate_mbps: float, payload_bytes: int) -> float:
        return rate_mbps * payload_bytes / (payload_bytes + 66)

    assert "Preamble counted." in verdict_text(FUNCTION.judge(ethernet))


def test_a_function_right_for_the_first_case_only_fails() -> None:
    result = FUNCTION.judge(lambda rate_mbps, payload_bytes: 5000 / 1042)
    assert result.status is Status.FAILED
    assert "rate_mbps=100, payload_bytes=1470" in verdict_text(result)
    assert "is a number written into the function" in verdict_text(result)


def test_an_argument_that_makes_no_difference_is_named() -> None:
    text = verdict_text(FUNCTION.judge(lambda rate_mbps, payload_bytes: rate_mbps * 1000 / 1042))
    assert "the same for another payload_bytes: is a number written into the function in its place?" in text


def test_two_formulas_that_agree_in_the_first_trial_are_not_called_a_constant() -> None:
    """At half the load 1 / (1 - load) is 1 + 2 load."""
    check = Function(
        name="delay",
        reference=lambda load, service_ms: service_ms / (1 - load),
        cases=[{"load": 0.5, "service_ms": 2.0}, {"load": 0.8, "service_ms": 3.0}],
        unit="ms",
        tolerance=0.001,
    )
    text = verdict_text(check.judge(lambda load, service_ms: service_ms * (1 + 2 * load)))
    assert "The first trial (load=0.5, service_ms=2.0) was right: what differs between the two?" in text
    assert "is a number written into the function" not in text


def test_a_number_that_is_rounded_by_accident_is_not_called_rounded() -> None:
    """1500 bytes for 1514 make 140 ms of 141.3 ms."""
    check = Function(
        name="RTT",
        reference=lambda window, rate_mbps: window * 1514 * 8 / rate_mbps / 1000,
        cases=[{"window": 70, "rate_mbps": 6}, {"window": 33, "rate_mbps": 7}],
        unit="ms",
        tolerance=0.001,
    )
    assert "too few" not in verdict_text(check.judge(lambda window, rate_mbps: window * 1500 * 8 / rate_mbps / 1000))
    assert "too few" in verdict_text(check.judge(lambda window, rate_mbps: round(window * 1514 * 8 / rate_mbps / 1000)))


def test_each_trial_is_called_once_and_in_order_before_any_other_call() -> None:
    """A grader calls the function in a sandbox, and only then judges what it returned."""
    called: list[float] = []

    def wrong(rate_mbps: float, payload_bytes: int) -> float:
        called.append(rate_mbps)
        return rate_mbps * payload_bytes / (payload_bytes + 200)

    FUNCTION.judge(wrong)
    assert called[: len(FUNCTION.cases)] == [case["rate_mbps"] for case in FUNCTION.cases]


@pytest.mark.parametrize("digits", [2, 3])
def test_a_rounded_result_is_named_and_no_suspected_constant(digits: int) -> None:
    def rounded(rate_mbps: float, payload_bytes: int) -> float:
        return float(f"{limit(rate_mbps, payload_bytes):.{digits}g}")

    text = verdict_text(replace(FUNCTION, tolerance=1e-6).judge(rounded))
    assert "too few: return the number as it is computed, not rounded" in text
    assert "is a number written into the function" not in text


def test_a_probe_can_only_be_called() -> None:
    """Its attributes or its text would be the answer."""

    class Probe:
        def __init__(self, right: float) -> None:
            self.right = right

        def __call__(self, offered: float) -> float:
            return min(offered, self.right)

        def __repr__(self) -> str:
            return f"<{self.right}>"

    check = Function(
        name="search",
        reference=lambda probe: probe.right,
        cases=[{"probe": Probe(3.0)}, {"probe": Probe(4.0)}],
        unit="",
        tolerance=0.01,
    )
    assert check.judge(lambda probe: probe(10)).status is Status.PASSED
    assert "AttributeError" in verdict_text(check.judge(lambda probe: probe.right))
    assert [repr(check.arguments(case)["probe"]) for case in check.cases] == ["<probe 1>", "<probe 2>"]
    with pytest.raises(TypeError):
        vars(check.arguments(check.cases[0])["probe"])
    assert "is a number written into" in verdict_text(check.judge(lambda probe: 3.0))


def test_named_mistake_in_a_later_case_is_not_reported_as_a_constant() -> None:
    thousandfold = FUNCTION.judge(
        lambda rate_mbps, payload_bytes: limit(rate_mbps, payload_bytes) * (1, 1000)[rate_mbps > 5]
    )
    assert "a thousand times too large" in verdict_text(thousandfold)
    assert "is a number written into the function" not in verdict_text(thousandfold)


def test_a_function_that_raises_is_quoted_not_propagated() -> None:
    def broken(rate_mbps: float, payload_bytes: int) -> float:
        return rate_mbps / 0

    message = verdict_text(FUNCTION.judge(broken))
    assert "raised ZeroDivisionError: division by zero (in the line `return rate_mbps / 0`)" in message


def test_refusal_of_the_exercise_is_reported_with_the_students_line() -> None:
    def too_many(rate_mbps: float, payload_bytes: int) -> float:
        return theory.udp_goodput_limit_mbps(-rate_mbps, payload_bytes)

    message = verdict_text(FUNCTION.judge(too_many))
    assert "for rate_mbps=5, payload_bytes=1000: rate_mbps must be" in message
    assert "(in the line `return theory.udp_goodput_limit_mbps(-rate_mbps, payload_bytes)`)" in message
    assert "raised" not in message


def test_wrong_signature_is_reported() -> None:
    assert "keep the names that the cell came with" in verdict_text(FUNCTION.judge(lambda r, p: 1.0))


def test_result_of_a_call_in_place_of_the_function_is_reported() -> None:
    assert "no parentheses" in verdict_text(FUNCTION.judge(4.8))


def test_a_figure_written_into_the_function_is_suspected() -> None:
    assert "is a number written into the function" in verdict_text(
        FUNCTION.judge(lambda rate_mbps, payload_bytes: 5000 / 1042)
    )


@given(st.integers(min_value=1101, max_value=9999).filter(lambda n: n % 10), st.floats(min_value=-1e4, max_value=1e4))
def test_a_wrong_number_never_earns_the_right_one(thousandths: int, answer: float) -> None:
    check = Number(name="x", expected=lambda: thousandths / 1000, unit="", tolerance=0.001)
    result = check.judge(answer)
    if result.status is Status.FAILED:
        text = verdict_text(result).replace(answers.with_unit(answer, ""), "")
        assert f"{thousandths / 1000:.3f}" not in text


def test_a_right_answer_is_taken_without_a_word(capsys: pytest.CaptureFixture[str]) -> None:
    assert NUMBER.take(4.8, 0.0) == 4.8
    assert FUNCTION.take(limit, stub_dots) is limit
    assert NUMBER.take(48, None) is None
    assert capsys.readouterr().out == ""


def test_replacement_of_a_wrong_answer_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    assert NUMBER.take(48, 0.0) == 0.0
    assert FUNCTION.take(stub_dots, limit) is limit
    assert capsys.readouterr().out.splitlines() == [
        "Exercise 'limit' is open: this cell takes 0.0 instead of your answer.",
        "Exercise 'limit' is open: this cell takes a working function instead of your answer.",
    ]


def test_a_function_that_does_not_come_back_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(rate_mbps: float, payload_bytes: int) -> float:
        while rate_mbps:
            pass
        return payload_bytes

    monkeypatch.setattr(function_checks, "MAX_CALL_S", 0.05)
    message = verdict_text(FUNCTION.judge(endless))
    assert "for rate_mbps=5, payload_bytes=1000 it did not return within 0.05 s: does its loop end?" in message


def test_a_slip_near_the_right_answer_is_found() -> None:
    near = Number(name="x", expected=1.0, unit="", tolerance=0.01, misconceptions=[Misconception(1.02, "Near.")])
    far = Number(name="x", expected=1.0, unit="", tolerance=0.01, misconceptions=[Misconception(1.05, "Far.")])
    assert not near.tells_apart()
    assert far.tells_apart()
    assert FUNCTION.tells_apart()


def test_a_wrong_formula_may_take_all_arguments_as_one() -> None:
    product = Function(
        name="product",
        reference=lambda a, b: a * b,
        cases=[{"a": 3, "b": 5}],
        unit="",
        tolerance=0.01,
        misconceptions=formula_slips(lambda q: q.a + q.b, "This is the sum.", lambda q: q.a / q.b, "A quotient."),
    )
    for wrong, sentence in product.mistakes():
        assert sentence in product.judge(wrong).sentences
    with pytest.raises(ValueError, match="shorter"):
        formula_slips(lambda q: q.a, "One.", lambda q: q.b)


def test_a_constant_is_named_as_one_even_if_it_equals_a_known_mistake() -> None:
    check = Function(
        name="half",
        reference=lambda x: x / 2,
        cases=[{"x": 4}, {"x": 10}],
        unit="",
        tolerance=0.01,
        misconceptions=slips(lambda x: x, "This is all of it."),
    )
    assert "It returns 4 for other arguments, too: is a number written into the function" in failure_text(
        check, lambda x: 4
    )
    assert "for x=10 got 2. It returns 2 for other arguments" in failure_text(check, lambda x: 2)
    assert "This is all of it." in failure_text(check, lambda x: x)


def test_known_mistake_that_divides_by_zero_in_a_trial_ends_no_check() -> None:
    """A grader draws a payload of 0 bytes for which a fraction upside down has no value."""
    check = Function(
        name="share",
        reference=lambda x: x / (x + 1),
        cases=[{"x": 4}, {"x": 0}],
        unit="",
        tolerance=0.01,
        misconceptions=slips(lambda x: (x + 1) / x, "The fraction is upside down."),
    )
    assert "The fraction is upside down." in failure_text(check, lambda x: (x + 1) / x)
    assert "It returns 7 for other arguments" in failure_text(check, lambda x: 7)
