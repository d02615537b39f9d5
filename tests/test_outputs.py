"""Outputs of notebooks agree when they say the same."""

from __future__ import annotations

import base64

import numpy as np
import pytest

from tests.outputs import FIGURE, agree


def packed(*values: float) -> dict[str, str]:
    return {"dtype": "f8", "bdata": base64.b64encode(np.array(values, dtype=float)).decode()}


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("4.798 Mbit/s", "4.799 Mbit/s", True),
        ("4.798 Mbit/s", "4.69 Mbit/s", False),
        ("passed", "failed", False),
        ("3 of 4 passed", "4 of 4 passed", False),
        ("h1 4.798", "h3 4.798", False),
        ("loss  0.5122", "loss 0.5121", True),
        ("a\n 10.0", "a\n  9.999", True),
        ("nothing", "nothing 1", False),
        (True, 1, False),
        (None, None, True),
        ([1.0, 2.0], [1.0], False),
        (packed(1, 2), packed(1.0001, 2), True),
        (packed(1, 2), packed(1.1, 2), False),
        ({FIGURE: {"y": packed(5)}, "text/html": "<a>"}, {FIGURE: {"y": packed(5)}, "text/html": "<b>"}, True),
        ({"text/html": "<a>"}, {"text/html": "<b>"}, False),
    ],
)
def test_outputs_agree_when_they_say_the_same(one, other, same):
    assert agree(one, other) is same
    assert agree(other, one) is same
