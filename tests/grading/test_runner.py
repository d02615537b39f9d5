"""What is said of an answer that fails, without a guest."""

from __future__ import annotations

import pytest

from tests.grading import model


@pytest.mark.parametrize(
    ("answer", "said"),
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
def test_what_an_answer_raises_is_said_with_its_line(answer: str, said: str) -> None:
    exercise = {"given": [], "answer": answer, "name": "x", "calls": []}
    (outcome,) = model.Unwalled().work([exercise], lambda *_asked: None)
    assert outcome.message == {"error": said}
