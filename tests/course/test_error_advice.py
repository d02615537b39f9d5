"""The advice below the traceback of a wrong column, a wrong call of a formula, and a text in place of a number."""

from __future__ import annotations

import pickle
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from netlab import theory
from netlab.measure.tables import Table
from netlab_course.error_advice import ADVISED, advice_on

FLOWS = Table(
    {"flow": ["h1-h3", "h2-h4"], "kind": ["tcp", "udp"], "goodput_mbps": [4.8, 1.0], "rtt_ms": [20.0, np.nan]},
    index=pd.Index(["first", "second"]),
)
ROW = FLOWS.iloc[0]
LOSS_CALL = "nl.theory.udp_loss_rate(offered_mbps, rate_mbps, payload_bytes=1000, framing='tc', *, queue_packets=0, duration_s=inf)"


def advice_of(attempt: Callable[[], object]) -> str:
    """Return the advice on the error that an attempt raises."""
    with pytest.raises(ADVISED) as raised:
        attempt()
    return advice_on(raised.value)


@pytest.mark.parametrize(
    "attempt",
    [
        lambda: ROW["goodput"],
        lambda: ROW[["flow", "goodput"]],
        lambda: ROW.loc["goodput"],
        lambda: ROW.goodput,
        lambda: [row["goodput"] for _, row in FLOWS.iterrows()],
        lambda: [row.goodput for row in FLOWS.itertuples()],
        lambda: FLOWS.at["first", "goodput"],  # noqa: PD008 (students write it)
        lambda: FLOWS.groupby("kind")["goodput"],
        lambda: FLOWS.groupby("kind").agg({"goodput": "mean"}),
    ],
)
def test_a_wrong_name_in_a_row_or_group_suggests_the_column(attempt: Callable[[], object]) -> None:
    assert advice_of(attempt) == "There is no 'goodput'; did you mean 'goodput_mbps'?"


def test_a_column_of_another_table_is_named_with_its_table() -> None:
    assert advice_of(lambda: ROW["cwnd_segments"]) == "There is no 'cwnd_segments'; run.intervals has 'cwnd_segments'."


def test_a_place_in_a_row_with_names_leads_to_iloc() -> None:
    assert ".iloc[0] is the value number 0" in advice_of(lambda: ROW[0])


@pytest.mark.parametrize(
    "attempt",
    [
        lambda: theory.udp_loss_rate(10),  # type: ignore[call-arg]
        lambda: theory.udp_loss_rate(10, 5, 1000, "tc", 100),
        lambda: theory.udp_loss_rate(10, 5, offered_mbps=10),  # type: ignore[misc]
        lambda: theory.udp_loss_rate(10, rate=5),  # type: ignore[call-arg]
    ],
)
def test_a_wrong_call_of_a_formula_shows_its_signature_with_units(attempt: Callable[[], object]) -> None:
    advice = advice_of(attempt)
    assert f"Call it so: {LOSS_CALL}\nArguments behind the * need their names.\n" in advice
    assert advice.endswith("rate_mbps: The bottleneck's rate in Mbit/s, above 0.")


def test_an_unknown_argument_of_a_formula_suggests_the_right_one() -> None:
    advice = advice_of(lambda: theory.udp_loss_rate(10, rate=5))  # type: ignore[call-arg]
    assert advice.startswith("There is no rate; did you mean rate_mbps?\n")


@pytest.mark.parametrize(
    ("attempt", "words"),
    [
        (lambda: theory.udp_loss_rate("10", 5), "offered_mbps must be a number: got '10'; write it without quotes: offered_mbps=10."),
        (lambda: theory.udp_loss_rate(10, "5 Mbit/s"), "the unit is in the name: rate_mbps=5."),
        (lambda: theory.udp_shares_mbps([1, "9"], 5), "offered_mbps must have numbers only, got the text '9'"),
        (lambda: theory.udp_shares_mbps(np.array(["1", "9"]), 5), "got the text '1'"),
        (lambda: theory.max_min_mbps({"a": "5"}, {"f": ["a"]}), "capacities_mbps must have numbers only, got the text '5'"),  # type: ignore[dict-item]
        (lambda: theory.udp_loss_rate(..., 5), "offered_mbps got ...: write a number in its place."),
        (lambda: theory.udp_loss_rate(10, None), "rate_mbps got None"),
    ],
)  # fmt: skip
def test_a_text_in_place_of_a_number_is_named(attempt: Callable[[], object], words: str) -> None:
    assert words in advice_of(attempt)


def test_errors_in_a_students_own_code_get_no_advice() -> None:
    def udp_loss_rate(offered_mbps: float) -> float:
        return offered_mbps

    attempts: list[Callable[[], object]] = [
        lambda: udp_loss_rate(1, 2),  # type: ignore[call-arg]
        lambda: {"a": 1}["b"],
        lambda: pd.Series([1, 2])["b"],
        lambda: FLOWS.loc["third"],
        lambda: "5" + 5,  # type: ignore[operator]
        lambda: int("five"),
        lambda: theory.udp_loss_rate.rate,  # type: ignore[attr-defined]
    ]
    assert [advice_of(attempt) for attempt in attempts] == [""] * len(attempts)


def test_formulas_can_be_pickled() -> None:
    assert pickle.loads(pickle.dumps(theory.udp_loss_rate)) is theory.udp_loss_rate  # noqa: S301 (made here)
