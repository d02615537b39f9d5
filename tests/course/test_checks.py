"""Messages of a check cell about right, wrong, odd and missing answers."""

from __future__ import annotations

import math
import sys
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from IPython.core.completer import provisionalcompleter
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from netlab.base.errors import Interrupted
from netlab.network.link import Link, LinkShape
from netlab.network.topology import Topology
from netlab.traffic import Ping, Tcp, Udp
from netlab_course import answers, checks, conditions, diagnosis
from netlab_course.checks import ChoiceCheck, Number, Status
from netlab_course.conditions import Build, Condition
from netlab_course.function_checks import Function
from netlab_course.misconceptions import Misconception, slips
from netlab_course.notebook_checks import NotebookCheck
from tests.chapters.checking import count_tries
from tests.course.example_checks import FUNCTION, NUMBER, limit, verdict_text

NEVER_EMPTY = Condition(bool, "It may not be empty.", "What is in it?", str)


@pytest.mark.parametrize("check", [NUMBER, FUNCTION])
@pytest.mark.parametrize("missing", [..., None])
def test_an_ellipsis_is_not_attempted(check: checks.Check, missing: object, capsys: pytest.CaptureFixture[str]) -> None:
    check(missing)
    assert capsys.readouterr().out == "· limit: not attempted yet.\n"


def test_a_list_with_a_gap_in_it_is_not_attempted() -> None:
    build = Build(name="flows", kind=list, conditions=[NEVER_EMPTY])
    assert build.judge([1, ...]).status is Status.NOT_ATTEMPTED


@pytest.mark.parametrize("kind", [Build, conditions.Measurement])
def test_a_check_that_would_pass_every_object_is_refused(kind: type[Build]) -> None:
    with pytest.raises(ValueError, match=f"{kind.__name__} needs conditions"):
        kind(name="flows", kind=list)


def test_right_answer_shows_result_and_lesson() -> None:
    lines = ["✓ limit: 4.8 Mbit/s is right (within 0.5 %).", "  Keep it."]
    assert str(NUMBER.judge(4.8)).splitlines() == lines


def test_tolerance_is_shown_with_two_digits() -> None:
    check = Number(name="payload", expected=704, unit="bytes", tolerance=0.4 / 704)
    assert "is right (within 0.057 %)" in str(check.judge(704))


def test_a_whole_number_is_right_without_a_tolerance_and_a_broken_one_is_not() -> None:
    check = Number(name="calls", expected=9, unit="calls", tolerance=0.4 / 9, whole=True)
    assert "9 calls is right." in str(check.judge(9))
    assert "a whole number is asked for" in str(check.judge(9.3))
    lines = ["✗ calls: got 8.57 calls.", "  A whole number is asked for."]
    assert str(check.judge(8.57)).splitlines() == lines, "no advice on a formula that may be right, only not rounded"
    assert "a thousand times too small" in str(check.judge(0.009)), "a known mistake is named as well"


@pytest.mark.parametrize(("answer", "is_near"), [(8, True), (10, True), (7, False), (11, False)])
def test_a_whole_number_that_is_off_by_one_is_a_matter_of_rounding_or_of_ends(answer: int, is_near: bool) -> None:
    check = Number(name="calls", expected=9, unit="calls", tolerance=0.4 / 9, whole=True)
    assert ("off by one: look at where you round" in verdict_text(check.judge(answer))) is is_near


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (4798, "kilobits for megabits"),
        (4.798e6, "bits where megabits"),
        (4.798e-3, "a thousand times too small"),
        (479.8, "a hundred times too large: per cent where a fraction is meant, 2 % rather than 0.02?"),
        (4.798 / 8, "a byte has 8 bits"),
        (4.798 * 8, "a byte has 8 bits"),
        (4.798 * 1.048576, "not 1024 * 1024"),
        (-4.798, "The sign"),
        (1 / 4.798, "upside down"),
        (4.69, "It is close: is something small forgotten, or counted twice?"),
        (4.9, "It is close: is something small forgotten, or counted twice?"),
        (0, "It is not zero."),
        (3.9, "No usual mistake leads to this number"),
        (11, "No usual mistake leads to this number"),
        (0.3, "No usual mistake leads to this number"),
        (1e12, "No usual mistake leads to this number"),
        (5e-324, "No usual mistake leads to this number"),
        ("4.798", "without quotes"),
        (True, "not a truth value"),
        (math.nan, "NaN"),
        (math.inf, "divided by zero"),
        ([4.798, 4.798], "2 of them"),
        (limit, "call it"),
        ({"a": 1}, "expected a number"),
    ],
)
def test_a_wrong_number_gets_a_sentence_to_act_on(answer: object, words: str) -> None:
    result = NUMBER.judge(answer)
    assert result.status is Status.FAILED
    assert words in verdict_text(result)


@pytest.mark.parametrize("answer", [4.798, np.float64(4.798), np.array([4.798]), np.array(4.798)])
def test_numpy_numbers_count_as_numbers(answer: object) -> None:
    assert NUMBER.judge(answer).status is Status.PASSED


@pytest.mark.parametrize(
    ("answer", "named"), [(84 * 2**20 / 1e6, True), (88.08, True), (88.05, False), (84 * 1514 / 1448, False)]
)
def test_a_factor_near_one_is_recognized_by_four_digits(answer: float, named: bool) -> None:
    check = Number(name="room", expected=84.0, unit="packets", tolerance=0.01)
    assert ("not 1024 * 1024" in verdict_text(check.judge(answer))) is named


def test_percentage_and_complement_are_distinguished() -> None:
    loss = Number(name="loss", expected=0.0403, unit="", tolerance=0.01)
    assert "2 % rather than 0.02?" in verdict_text(loss.judge(4.03))
    assert "the share that arrived" in verdict_text(loss.judge(0.9597))


@pytest.mark.parametrize("answer", [2 * 4.798, 4.798 / 2])
def test_a_half_and_a_double_are_not_certified(answer: float) -> None:
    """A guess of one of these numbers hears what any number nearby hears."""
    message, nearby = (verdict_text(NUMBER.judge(number)).splitlines()[1:] for number in (answer, 1.03 * answer))
    assert message == nearby


@given(st.floats(1.06, 1e5))
def test_a_number_cannot_be_bisected(times: float) -> None:
    """Without a recognized mistake a number that is too large hears what one that is too small hears."""
    check = Number(name="limit", expected=4.798, unit="", tolerance=0.005)
    above, below = (diagnosis.explanation(4.798 * factor, 4.798, 0.005, []) for factor in (times, 1 / times))
    recognized = [diagnosis.named_slip(4.798 * factor, 4.798, 0.005, []) for factor in (times, 1 / times)]
    assert any(recognized) or above == below
    assert check.judge(4.798 * times).status is Status.FAILED


@pytest.mark.parametrize("check", [NUMBER, FUNCTION, ChoiceCheck(name="which", answer="a", reasons={"a": "Yes."})])
def test_tab_on_a_check_offers_nothing_that_holds_the_answer(check: checks.Check) -> None:
    shell = InteractiveShell(config=Config({"HistoryManager": {"enabled": False}}))
    shell.push({"check": SimpleNamespace(limit=NotebookCheck(check))})
    with provisionalcompleter():
        found = {each.text.lstrip(".") for each in shell.Completer.completions("check.limit.", len("check.limit."))}
    assert found == {"hint", "hints_left", "name", "take"}


def test_tolerance_is_absolute_when_zero_is_expected() -> None:
    loss = Number(name="loss", expected=0.0, unit="", tolerance=0.001)
    assert loss.judge(0.0005).status is Status.PASSED
    assert loss.judge(0.002).status is Status.FAILED


def test_a_failed_check_names_the_call_that_gives_a_hint() -> None:
    check = Number(name="x", expected=1, unit="", tolerance=0.1, hints=["Look."])
    check.key = "limit"
    assert "chapter.check.limit.hint()" in verdict_text(check.judge(2))
    assert "hint" not in verdict_text(check.judge(1))


def test_a_wrong_design_that_can_run_is_taken_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    size = Number(name="size", expected=700, unit="bytes", tolerance=0.01, harmless=lambda size: 1 <= size <= 1472)
    assert size.take(500, 1472) == 500
    assert capsys.readouterr().out == ""
    assert [size.take(given, 1472) for given in (..., 0, 5000, "500", math.nan)] == [1472] * 5


@pytest.mark.parametrize(
    ("factor", "words"),
    [
        (1e-3, "a thousand times too small"),
        (1e3, "a thousand times too large"),
        (-1.0, "The sign is the other way round."),
    ],
)
def test_a_slip_of_a_rounded_answer_has_its_name(factor: float, words: str) -> None:
    """A student who works with 60 where theory has 60.16 slips by the same factor."""
    check = Number(name="rtt", expected=60.16, unit="ms", tolerance=0.01)
    assert words in verdict_text(check.judge(60 * factor))


def test_a_slip_near_one_still_needs_a_close_match() -> None:
    check = Number(name="rtt", expected=60.16, unit="ms", tolerance=0.03)
    assert "1024" not in verdict_text(check.judge(60.16 * 1514 / 1448))


def test_a_mistake_near_the_right_number_is_named_but_bars_no_numbers() -> None:
    traps = [Misconception(106, "one"), Misconception(107, "other"), Misconception(math.nan, "unknown")]
    near = Number(name="rate", expected=100, unit="", tolerance=0.05, misconceptions=traps)
    assert not near.tells_apart()
    allowed = replace(near, misconceptions=[replace(trap, may_be_near=True) for trap in traps])
    assert allowed.tells_apart()
    assert [sentence for _, sentence in allowed.mistakes()] == ["one", "other"]
    assert "one" in str(allowed.judge(106.2)) and "other" in str(allowed.judge(106.9))


def test_message_about_a_forgotten_bracket_holds_no_answer() -> None:
    check = Function(
        name="limit", reference=limit, cases=[{"rate_mbps": 5, "payload_bytes": 1000}], unit="Mbit/s", tolerance=0.001,
        hints=["It is rate * payload / (payload + 42)."],
    )  # fmt: skip
    check.key = "limit"
    for shown in (repr(check), str(check), repr(check.hint), str(check.hint)):
        assert "payload" not in shown
        assert "5" not in shown
    assert repr(check.hint) == "For a hint add the parentheses: chapter.check.limit.hint()"
    assert "put your answer in parentheses" in repr(check)


def test_a_check_that_is_stopped_says_so_in_a_sentence() -> None:
    def stopped(**_arguments: float) -> float:
        raise KeyboardInterrupt

    with pytest.raises(Interrupted) as told:
        FUNCTION(stopped)
    assert told.value._render_traceback_()[-1] == "Interrupted: the check was stopped; run its cell again."
    assert told.value.__suppress_context__


def test_a_passed_check_is_recorded_by_its_key() -> None:
    seen: list[str] = []
    check = Number(name="x", expected=1, unit="", tolerance=0.1)
    check.key, check.on_pass = "limit", seen.append
    check(2)
    check(1)
    assert seen == ["limit"]


def test_a_measurement_wants_a_run() -> None:
    check = conditions.Measurement(name="run", conditions=[NEVER_EMPTY])
    assert "what nl.run(...) returns" in verdict_text(check.judge([1]))
    assert check.judge(...).status is Status.NOT_ATTEMPTED


def test_impossible_prediction_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    checks.predict("loss", 50, low=0, high=1).compare(0.5, theory=0.52)
    checks.predict("goodput", -1, unit="Mbit/s", low=0)
    out = capsys.readouterr().out
    assert "50 is above 1, and that cannot be. For a fraction write 0.5, not 50." in out
    assert "predicted 50, theory 0.52, measured 0.5" in out
    assert "-1 Mbit/s is below 0 Mbit/s" in out


def test_a_build_names_each_condition_that_fails() -> None:
    build = Build(
        name="pair",
        kind=list,
        conditions=[
            Condition(lambda items: len(items) == 2, "There must be two flows.", "Add one.", len),
            Condition(
                lambda items: items[1] == 1,
                "The second must send 1 Mbit/s.",
                "See its rate.",
                lambda items: items[1],
            ),
        ],
    )
    text = verdict_text(build.judge([1, 2, 3]))
    assert "2 of 2 conditions do not hold yet." in text
    assert " - There must be two flows. Seen: 3. Add one. - The second must" in text
    assert "\n  - The second must send 1 Mbit/s. Seen: 2. See its rate." in str(build.judge([1, 2, 3]))
    only = verdict_text(build.judge([1, 2]))
    assert "1 of 2 conditions does not hold yet." in only and "- " not in only
    # Nothing is said of a second flow where there is none, unless it is all that can be said.
    alone = verdict_text(build.judge([1]))
    assert "1 of 2 conditions does not hold yet. (1 more can be looked at only when it does.)" in alone
    assert "The second must" not in alone
    assert "The second must" in verdict_text(Build(name="one", kind=list, conditions=build.conditions[1:]).judge([1]))
    assert "expected a list, got 5" in verdict_text(build.judge(5))


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ((2, 19), "Python takes a point: 2.19. A comma makes two numbers."),
        ((30, 5), "Python takes a point: 30.5."),
        ((0, 7), "Python takes a point: 0.7."),
        ((-3, 5), "Python takes a point: -3.5."),
        (
            (1, 500),
            "Python takes a point: 1.500. A comma makes two numbers. Thousands are written without a comma: 1500.",
        ),
        ((1, 0), "Thousands are written without a comma: 1000."),
        ((1, 500, 0), "A comma makes 3 numbers. Thousands are written without commas: 1500000."),
        ((1, 2, 3), "expected one number, got 3 of them"),
        ([2, 19], "expected one number, got 2 of them"),
        ((2.5, 19), "expected one number, got 2 of them"),
        ("2,19", "write the number without quotes and without its unit. Python takes a point, no comma."),
        ("2.19 Mbit/s", "write the number without quotes and without its unit."),
    ],
)
def test_comma_in_a_number_is_reported(answer: object, words: str) -> None:
    assert words in verdict_text(NUMBER.judge(answer))
    assert words in verdict_text(FUNCTION.judge(lambda rate_mbps, payload_bytes: answer))


def test_comma_in_the_call_itself_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    NUMBER(4, 8)
    checks.predict("goodput", 4, 8, unit="Mbit/s")
    checks.predict("goodput", 4, 8, "Mbit/s")
    checks.predict("goodput", 4, "Mbit/s")
    output = " ".join(capsys.readouterr().out.split())
    assert output == (
        "✗ limit: Python takes a point: 4.8. A comma makes two numbers. "
        "goodput: Python takes a point: 4.8. A comma makes two numbers. "
        "goodput: Python takes a point: 4.8. A comma makes two numbers. "
        "goodput: 4 Mbit/s, kept until the measurement is there."
    )


@pytest.mark.parametrize(
    ("unit", "factor", "words"),
    [
        ("ms", 1e-3, "a thousand times too small: seconds for milliseconds?"),
        ("s", 1e3, "a thousand times too large: milliseconds for seconds?"),
        ("Mbit/s", 1e3, "a thousand times too large: kilobits for megabits?"),
        ("bytes", 1e-3, "a thousand times too small: kilobytes for bytes?"),
        ("packets", 1e3, "kilobits for megabits, or milliseconds for seconds, in what it is computed from?"),
    ],
)
def test_factor_of_a_thousand_is_reported_in_the_units_of_the_answer(unit: str, factor: float, words: str) -> None:
    check = Number(name="x", expected=60.16, unit=unit, tolerance=0.01)
    assert words in verdict_text(check.judge(60.16 * factor))


def test_traffic_in_words_has_the_deciding_rates() -> None:
    run = SimpleNamespace(
        scenario={"traffic": [Udp("h2", "h3", rate_mbps=4).to_dict(), Ping("h1", "h3", count=5).to_dict()]}
    )
    assert (
        conditions.traffic_in_words(run)
        == "udp h2 to h3 at 4 Mbit/s with 1000 bytes, ping h1 to h3 with 56 bytes count=5"
    )


def test_zero_has_no_wrong_sign() -> None:
    number = Number(name="share", expected=lambda: 2.0, unit="", tolerance=0.01, hints=["Look."])
    assert "It is not zero." in verdict_text(number.judge(0))
    assert "It has the wrong sign" in verdict_text(number.judge(-3))


def test_a_choice_gives_the_reason_of_the_letter_chosen() -> None:
    choice = ChoiceCheck(name="which", answer="b", reasons={"a": "No: too low.", "b": "Yes."})
    assert choice.judge(" B ").status is Status.PASSED
    assert "No: too low." in verdict_text(choice.judge("a"))
    assert "allowed: 'a', 'b'" in verdict_text(choice.judge("c"))
    assert "allowed: 'a', 'b'" in verdict_text(choice.judge(2))


@given(st.floats(min_value=1e-6, max_value=1e12) | st.floats(max_value=-1e-6, min_value=-1e12))
def test_a_printed_number_keeps_four_digits(number: float) -> None:
    shown = float(answers.with_unit(number, ""))
    assert abs(shown - number) <= 0.00051 * abs(number), f"printed {shown}, meant {number}, tolerance 0.05 %"


@example(10**400)
@example(10**5000)
@given(st.one_of(st.none(), st.integers(), st.floats(), st.text(), st.lists(st.integers()), st.binary()))
def test_no_answer_makes_a_check_raise(answer: object) -> None:
    for check in (NUMBER, FUNCTION, Build(name="b", kind=list, conditions=[NEVER_EMPTY])):
        assert check.judge(answer).sentences


@given(st.floats(min_value=0.001, max_value=1000), st.floats(min_value=-0.0049, max_value=0.0049))
def test_tolerance_matches_its_description(expected: float, error: float) -> None:
    check = Number(name="x", expected=expected, unit="", tolerance=0.005)
    assert check.judge(expected * (1 + error)).status is Status.PASSED
    assert check.judge(expected * (1 + 1.01 * math.copysign(0.005, error))).status is Status.FAILED


def test_quantities_of_conditions_are_found_by_their_words() -> None:
    topology = Topology(
        hosts=["h1", "h2", "h3"],
        routers=["r1"],
        links=[
            Link("h1", "r1"),
            Link("r1", "h2", rate_mbps=5, framing="ethernet", reverse={"framing": "tc"}),
            Link("r1", "h3", rate_mbps=8, loss_rate=0.1),
        ],
    )
    traffic = [Udp("h1", "h2", rate_mbps=1), Tcp("h1", "h2"), Udp("h1", "h3", rate_mbps=2)]
    run: Any = SimpleNamespace(
        scenario={"topology": topology.to_dict(), "traffic": [item.to_dict() for item in traffic]},
    )
    assert [item["rate_mbps"] for item in conditions.traffic_items(run, kind="udp")] == [1, 2]
    assert [item["kind"] for item in conditions.traffic_items(run, src="h1", dst="h2")] == ["udp", "tcp"]
    assert len(conditions.traffic_items(run)) == 3
    assert [link["rate_mbps"] for link in conditions.slow_links(run)] == [5, 8]
    assert [shape.rate_mbps for shape in conditions.links_on_path(run, "h1", "h2")] == [None, 5]
    assert [not conditions.not_plain([shape]) for shape in conditions.links_on_path(run, "h1", "h2")] == [True, False]
    assert [not conditions.not_plain([shape]) for shape in conditions.links_on_path(run, "h2", "h1")] == [True, True]
    assert [not conditions.not_plain([shape]) for shape in conditions.links_on_path(run, "h1", "h3")] == [True, False]
    assert conditions.links_on_path(run, "h1", "nobody") == []


@pytest.mark.parametrize(
    "fields",
    [
        {"loss_rate": 0.1},
        {"burst_loss": {"enter_rate": 0.01, "leave_rate": 0.3}},
        {"duplicate_rate": 0.1},
        {"delay_ms": 5, "jitter_ms": 1},
        {"aqm": "codel"},
        {"framing": "ip"},
        {"medium": "802.11g"},
    ],
)
def test_a_link_is_plain_only_without_any_field_that_simple_formulas_leave_out(fields: dict[str, Any]) -> None:
    plain = LinkShape(rate_mbps=5, delay_ms=10, queue_packets=20)
    assert conditions.not_plain([plain]) == ""
    shape = LinkShape(**fields)
    name, value = list(fields.items())[-1]
    assert conditions.not_plain([plain, shape, shape]) == f"{name}={value}"


def test_verdict_lines_wrap_in_a_narrow_page_and_in_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    result = checks.Result("limit", Status.FAILED, ("a sentence of many words " * 8, "and a second one"))
    shown: list[dict[str, str]] = []
    display = SimpleNamespace(display=lambda bundle, raw, metadata: shown.append(bundle))
    shell = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=1), display=display)
    result.show()
    printed = capsys.readouterr().out.rstrip("\n")
    monkeypatch.setitem(sys.modules, "IPython", shell)
    result.show()
    (bundle,) = shown
    assert bundle["text/html"].count("<span") == 2, "one block a sentence: the page's width breaks it"
    assert bundle["text/plain"] == printed and printed.count("\n") > 2
    assert max(map(len, printed.split("\n"))) <= answers.WIDTH
    assert all(line.startswith("  ") for line in printed.split("\n")[1:])


def test_slips_are_wrong_answers_each_followed_by_its_sentence() -> None:
    assert slips(2.0, "Two.", 3.0, "Three.") == [Misconception(2.0, "Two."), Misconception(3.0, "Three.")]
    with pytest.raises(ValueError, match="shorter"):
        slips(2.0, "Two.", 3.0)


@pytest.mark.parametrize(("wrong", "told"), [(3, False), (4, True)])
def test_a_right_number_after_many_wrong_ones_is_asked_for_its_reason(
    wrong: int, told: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    check = Number(name="limit", expected=5.0, unit="", tolerance=0.01)
    seen = count_tries(check)
    for number in range(10, 10 + wrong):
        check(number)
    check(5)
    assert len(seen) == wrong
    assert (f"It comes after {wrong} wrong tries, which your instructor sees" in capsys.readouterr().out) == told


@pytest.mark.parametrize("answer", ["4.798", "4,798", True, math.nan, [4.798, 4.798]])
def test_what_is_no_number_is_no_wrong_try(answer: object) -> None:
    check = replace(NUMBER)
    seen = count_tries(check)
    check(answer)
    assert not seen
    check(4.7)
    assert seen == ["4.7"]


def test_answer_that_is_found_with_take_comes_after_wrong_tries(capsys: pytest.CaptureFixture[str]) -> None:
    check = Number(name="servers", expected=9, unit="", tolerance=0.03, whole=True)
    seen = count_tries(check)
    found = next(guess for guess in range(1, 20) if check.take(guess, None) == guess)
    check(found)
    assert found == 9 and len(seen) == 8
    assert "It comes after 8 wrong tries, which your instructor sees" in " ".join(capsys.readouterr().out.split())
