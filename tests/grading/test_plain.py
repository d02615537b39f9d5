"""Only plain values cross; what a stranger writes in their place is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

import netlab as nl
from netlab_classroom.grading import plain
from netlab_classroom.grading.plain import FunctionStandIn, PlainError, RunDescription, decode, encode, parse

TRAFFIC = nl.Udp("h1", "h2", rate_mbps=1)
NETWORK = nl.topologies.dumbbell(pairs=1)


@pytest.mark.parametrize(
    ("value", "outside"),
    [
        (None, None),
        (..., ...),
        (True, True),
        (7, 7),
        (2**63 - 1, 2**63 - 1),
        (2**63, math.inf),
        (-(2**63), -math.inf),
        (2.5, 2.5),
        (-math.inf, -math.inf),
        ("b", "b"),
        ("x" * 5000, "x" * 4000),
        ((1, [2, ()]), [1, [2, []]]),
        ({"a": 1, 2: "b", None: 3.5}, {"a": 1, 2: "b", None: 3.5}),
        (np.float32(0.5), 0.5),
        (np.arange(3), [0, 1, 2]),
        (pd.Series([1.0, 2.0]), [1.0, 2.0]),
        (TRAFFIC, TRAFFIC),
        (NETWORK, NETWORK),
        (nl.Scenario(NETWORK, [TRAFFIC]), nl.Scenario(NETWORK, [TRAFFIC])),
        (math.sin, FunctionStandIn(stub=False)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_value_comes_out_as_a_fresh_one_of_its_kind(value: Any, outside: Any) -> None:
    assert decode(encode(value)) == outside


def test_a_number_that_is_none_stays_one() -> None:
    assert math.isnan(decode(encode(math.nan)))


def test_behaviour_stays_inside() -> None:
    class Any(float):
        def __eq__(self, other: object) -> bool:
            return True

        __hash__ = None  # type: ignore[assignment]

    assert type(decode(encode(Any(7)))) is float
    assert decode(encode(Any(7))) != 8


def deep(levels: int) -> Any:
    found: Any = 1
    for _ in range(levels):
        found = [found]
    return found


@pytest.mark.parametrize("value", [deep(7), [0] * 10_001, dict.fromkeys(range(10_001)), np.zeros(10_001)])
def test_too_large_or_deep_data_is_refused_inside(value: Any) -> None:
    with pytest.raises(PlainError, match="at most"):
        encode(value)


def test_the_largest_values_cross() -> None:
    assert decode(encode(deep(6))) == deep(6)
    assert len(decode(encode([0] * 10_000))) == len(decode(encode(dict.fromkeys(range(10_000))))) == 10_000


@pytest.mark.parametrize(
    "forged",
    [
        1,
        [],
        {},
        {"number": 1, "text": "a"},
        {"number": True},
        {"number": "1"},
        {"truth": 1},
        {"text": 1},
        {"list": {}},
        {"list": [{"number": 1}] * 10_001},
        {"list": [1]},
        {"pairs": [[{"number": 1}]]},
        {"pairs": [[{"list": []}, {"number": 1}]]},
        {"pairs": [[{"number": 1}, {"number": 1}]] * 10_001},
        {"run": []},
        {"repeated": {"scenario": {}, "seeds": [True]}},
        {"repeated": {"scenario": {}, "seeds": 1}},
        {"repeated": {"scenario": 1, "seeds": []}},
        {"repeated": []},
        {"scenario": 1},
        {"scenario": {"topology": {}}},
        {"topology": []},
        {"topology": {"hosts": 7}},
        {"traffic": "tcp"},
        {"traffic": {"kind": "none"}},
        {"function": 1},
        {"opaque": 1},
        {"points": 99},
    ],
)
def test_data_that_encode_never_makes_is_refused_outside(forged: Any) -> None:
    with pytest.raises(PlainError):
        decode(forged)


def test_description_of_a_run_table_or_function_names_the_original() -> None:
    assert decode({"run": {"seed": 1}}) == RunDescription({"seed": 1})
    assert decode({"repeated": {"scenario": {}, "seeds": [3, 1, 3]}}) == RunDescription({}, [3, 1])
    assert decode({"function": {"stub": True}}) == FunctionStandIn(stub=True)
    assert decode({"function": {"stub": 1}}) == FunctionStandIn(stub=False)


def test_object_that_cannot_be_transferred_keeps_its_type_name() -> None:
    assert [type(decode(text)).__name__ for text in (encode(object()), {"opaque": "<b>A.b_1"})] == ["object", "bA.b_1"]


def test_a_message_is_json_of_bounded_size_in_clean_text() -> None:
    assert parse(b'{"a": "\\ud800", "b": [1, 12345678901234567890123]}') == {
        "a": "\ufffd",
        "b": [1, 1.2345678901234568e22],
    }
    assert parse(b" " * (plain.MAX_BYTES - 1) + b"1") == 1
    for data in (b" " * plain.MAX_BYTES + b"1", b"{", b"\xff", b"[" * 100_000):
        with pytest.raises(PlainError):
            parse(data)
