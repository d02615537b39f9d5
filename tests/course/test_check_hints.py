"""Hints, predictions and counts of wrong answers."""

from __future__ import annotations

import pytest

from netlab_course import checks
from netlab_course.checks import Number
from tests.chapters.checking import count_tries
from tests.course.example_checks import NUMBER


def test_hints_come_in_stages_and_end(capsys: pytest.CaptureFixture[str]) -> None:
    check = Number(name="x", expected=1, unit="", tolerance=0.1, hints=["Look.", "Add."])
    for _ in range(3):
        check.hint()
    assert capsys.readouterr().out.splitlines() == [
        "Hint 1 of 2: Look.",
        "Hint 2 of 2, the last: Add.",
        "Hint 2 of 2, the last: Add.",
    ]
    NUMBER.hint()
    assert "no hint" in capsys.readouterr().out


def one_line(printed: str) -> str:
    return " ".join(printed.split())


def test_a_prediction_is_kept_and_compared(capsys: pytest.CaptureFixture[str]) -> None:
    checks.predict("goodput", 4.69, unit="Mbit/s").compare(4.798)
    assert capsys.readouterr().out.splitlines()[1] == (
        "goodput: predicted 4.69 Mbit/s, measured 4.798 Mbit/s; the prediction is 2.3 % below."
    )
    checks.predict("goodput", 4.798, unit="Mbit/s").compare(4.798)
    assert "agree to a part in a thousand" in one_line(capsys.readouterr().out)


def test_wrong_numbers_are_counted_and_reported_from_the_second_on(capsys: pytest.CaptureFixture[str]) -> None:
    rtt = checks.Number(name="RTT", expected=20.0, unit="ms", tolerance=0.01)
    rtt.key = "rtt"
    seen = count_tries(rtt)
    messages = []
    for answer in (..., 11, 12, 12.0, 12, 13, 20):
        rtt(answer)
        messages.append(one_line(capsys.readouterr().out))
    assert seen == ["11.0", "12.0", "13.0"]
    assert ["Wrong tries so far" in each for each in messages] == [False, False, True, True, True, True, False]
    assert messages[2].endswith("Wrong tries so far: 2.") and messages[5].endswith("Wrong tries so far: 3.")


def test_wrong_letters_are_counted_until_all_may_have_been_tried(capsys: pytest.CaptureFixture[str]) -> None:
    queue = checks.ChoiceCheck(name="queue", answer="b", reasons={"a": "Too short.", "b": "Right.", "c": "Too long."})
    seen = count_tries(queue)
    messages = []
    for answer in (..., "x", 3, " A", "a", "c", "b"):
        queue(answer)
        messages.append(one_line(capsys.readouterr().out))
    assert seen == ["a", "c"] and len(seen) == queue.many_tries
    assert [each.partition("Wrong letters so far: ")[2] for each in messages] == ["", "", "", "", "", "2.", ""]


def test_the_reason_is_shown_again_with_the_measurement(capsys: pytest.CaptureFixture[str]) -> None:
    kept = checks.predict("goodput", 5, unit="Mbit/s", reason="the window\n  limits")
    assert "Your reason" not in capsys.readouterr().out
    kept.compare(4)
    assert capsys.readouterr().out.endswith("25.0 % above.\nYour reason: the window limits\n")


@pytest.mark.parametrize(
    ("reason", "message"),
    [
        (..., 'goodput: why? Write your reason in quotes in place of `...`, such as "because ...".'),
        (5, "goodput: the reason must be a text in quotes, got 5."),
    ],
)
def test_a_missing_reason_is_asked_for(reason: object, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    kept = checks.predict("goodput", 5, unit="Mbit/s", reason=reason)
    assert message in one_line(capsys.readouterr().out)
    kept.compare(4)
    assert "Your reason" not in capsys.readouterr().out
    checks.predict("goodput", ..., unit="Mbit/s", reason=...)
    assert "Put a number and your reason in place of `...`" in one_line(capsys.readouterr().out)


def test_a_missing_or_odd_prediction_never_raises(capsys: pytest.CaptureFixture[str]) -> None:
    checks.predict("goodput", 7590, unit="Mbit/s").compare(7)
    assert "the prediction is 1,084 times what was measured" in one_line(capsys.readouterr().out)
    checks.predict("loss", ...).compare(0.04)
    checks.predict("loss", "much").compare(0.04)
    checks.predict("loss", 0.1).compare(0.0)
    out = capsys.readouterr().out
    assert "no prediction yet" in out
    assert "without quotes" in out
    assert "predicted 0.1, measured 0." in out
