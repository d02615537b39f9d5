"""Each field of each kind of traffic refuses what its rule excludes; a new field with a rule is tried without a line here."""

from __future__ import annotations

from dataclasses import fields

import pytest

from netlab.base.rules import MAX_COUNT, Range
from netlab.traffic import KINDS

RANGES = [
    (kind, name, rule)
    for kind, cls in KINDS.items()
    for name, rule in cls.rules.items()
    # Some kinds have the rule of `duration_s`, but no such field.
    if isinstance(rule, Range) and name in {field.name for field in fields(cls)}
]


@pytest.mark.parametrize(("kind", "name", "rule"), RANGES, ids=[f"{kind} {name}" for kind, name, _ in RANGES])
def test_number_just_out_of_range_is_refused_with_field_and_number(kind: str, name: str, rule: Range) -> None:
    cls = KINDS[kind]
    outside = [rule.low if rule.above else rule.low - 1, float("nan"), "5"]
    if rule.high < MAX_COUNT:
        outside.append(rule.high + 1)
    for value in outside:
        problems = cls(**{**cls.required, name: value}).problems("traffic 1")
        assert any(
            message.startswith(f"traffic 1: {name} must be a") and repr(value) in message for message in problems
        ), problems


def test_the_fields_with_a_range_include_one_of_each_kind_with_numbers_of_its_own() -> None:
    assert {("udp", "rate_mbps"), ("ping", "interval_s"), ("requests", "response_bytes")} <= {
        pair[:2] for pair in RANGES
    }
