"""A rule takes the ends of its range and nothing beyond, and says in plain digits what it takes."""

from __future__ import annotations

import math
from typing import Any

import pytest

from netlab.base.arguments import quote_number
from netlab.base.rules import MAX_COUNT, Choice, Flag, Range, Rule

COUNT = Range(1, MAX_COUNT, whole=True, optional=True)


@pytest.mark.parametrize(
    ("rule", "fits", "beyond", "allowed"),
    [
        (Range(1e-6, 100_000), [1e-6, 100_000], [0, 9e-7, 100_001, "5", True, None, math.nan], "a number from 0.000001 to 100000"),
        (Range(0.001, 86_400.0), [0.001, 86_400], [0.0009, 86_401], "a number from 0.001 to 86400"),
        (Range(1, 45, whole=True), [1, 45], [0, 46, 1.0, False], "a whole number from 1 to 45"),
        (Range(0), [0, 0.0, 1e300], [-1e-9, math.inf], "a number of at least 0"),
        (Range(0, above=True), [1e-300, 5], [0, 0.0, -1], "a number above 0"),
        (COUNT, [None, 1, MAX_COUNT], [0, 1.0, "1"], "a whole number of at least 1"),
        (COUNT, [], [MAX_COUNT + 1, 2**64], f"a whole number from 1 to {MAX_COUNT}"),
        (Flag(), [True, False], ["maybe", 7, None], "True or False"),
    ],
)  # fmt: skip
def test_rule_includes_its_ends_and_names_them(rule: Rule, fits: list[Any], beyond: list[Any], allowed: str) -> None:
    assert [rule.problem("x", value) for value in fits] == [None] * len(fits)
    assert [rule.problem("x", value) for value in beyond] == [
        f"x must be {allowed}, {quote_number('x', value)}" for value in beyond
    ]


def test_a_choice_names_the_nearest_word() -> None:
    rule = Choice(("auto", "even", "random"))
    assert rule.problem("spacing", "even") is None
    assert rule.problem("spacing", "evn") == "spacing: got 'evn'; allowed: auto, even, random; did you mean even?"
