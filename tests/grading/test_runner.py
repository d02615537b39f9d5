"""Messages about an answer that fails, without a guest."""

from __future__ import annotations

import pytest

from netlab_classroom.grading import plain
from tests.grading import model


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("y = 1\nx = 1 / 0", "ZeroDivisionError: division by zero (line 2 of the answer)"),
        ("y = 1\nx = (", "SyntaxError: '(' was never closed (<your answer>, line 2) (line 2 of the answer)"),
        (
            "class Odd(Exception):\n    def __str__(self):\n        return 1 / 0\n\nraise Odd",
            "Odd (line 5 of the answer)",
        ),
        ("y = 1", "NameError: the cell gives no value to x"),
    ],
)
def test_exception_of_an_answer_is_reported_with_its_line(answer: str, message: str) -> None:
    exercise = {"given": [], "answer": answer, "name": "x", "calls": []}
    (outcome,) = model.UnisolatedSandbox().work([exercise], lambda *_asked: None)
    assert outcome.message == {"error": message}


def test_a_call_hands_over_a_mapping_as_it_is_and_an_array_as_an_array() -> None:
    answer = "def x(capacities_mbps, loads):\n    return [type(loads).__name__, capacities_mbps['bc'], *(1 - loads)]"
    call = {"capacities_mbps": {"ab": 10, "bc": 4}, "loads": {"array": [0.5, 0.75]}}
    exercise = {"given": [], "answer": answer, "name": "x", "calls": [call]}
    (outcome,) = model.UnisolatedSandbox().work([exercise], lambda *_asked: None)
    (called,) = outcome.message["calls"]
    assert plain.decode(called["value"]) == ["ndarray", 4, 0.5, 0.25]
