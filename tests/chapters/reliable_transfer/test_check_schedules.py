"""Schedules that break a student's protocol."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from netlab_course.chapters.reliable_transfer import settings
from netlab_course.chapters.reliable_transfer.channel import protocol
from netlab_course.chapters.reliable_transfer.programs import (
    stop_and_wait,
)
from netlab_course.checks import Status
from tests.chapters.checking import failure_text, is_right_but_netlabs, passes
from tests.chapters.reliable_transfer.programs import (
    CHECK,
    OneBitReceiver,
    OneBitSender,
    WaitReceiver,
    WaitSender,
    of_modulus,
)


class NextReceiver(OneBitReceiver):
    """Answers with the number of the piece that it waits for."""

    def on_datagram(self, _now_s: float, data: bytes) -> None:
        if data[0] == self.waits_for:
            self.program.deliver(data[1:])
            self.waits_for = (self.waits_for + 1) % self.numbers
        self.program.send(bytes([self.waits_for]))


class NextSender(OneBitSender):
    def is_for_me(self, data: bytes) -> bool:
        return data[0] == (self.number + 1) % self.numbers


@pytest.mark.parametrize("pair", [(OneBitSender, OneBitReceiver), (NextSender, NextReceiver)], ids=["own", "next"])
@pytest.mark.parametrize(
    "moduli",
    [
        # The smallest ones, those of whole bits and their neighbours, and the largest ones.
        pytest.param([2, 3, 4, 5, 7, 8, 9, 16, 31, 64, 100, 127, 128, 129, 254, 255, 256], id="some"),
        pytest.param(range(2, 257), id="all", marks=pytest.mark.slow),
    ],
)
def test_numbers_that_repeat_before_256_pieces_lose_data_by_a_schedule(
    moduli: Sequence[int], pair: tuple[type, type]
) -> None:
    last = replace(CHECK.stop_and_wait, cases=CHECK.stop_and_wait.cases[-1:])
    passed = [
        modulus for modulus in moduli if last.judge(protocol(*of_modulus(modulus, *pair))).status is Status.PASSED
    ]
    assert passed == [256]


MODULI = settings.NUMBERS.values("modulus")


def late_data(modulus: int) -> dict[str, Any]:
    """Return a schedule whose first datagram comes when the receiver waits for the piece with its number."""
    return {"pieces": modulus + 2, "late_s": {"data 1": 0.2 + 0.1 * modulus}}


def late_ack(modulus: int) -> dict[str, Any]:
    """Return a schedule whose first ACK comes when the sender waits for that of a lost piece with the same number."""
    return {"pieces": modulus + 2, "lost": [f"data {modulus + 2}"], "late_s": {"ack 1": 0.17 + 0.1 * modulus}}


def schedule_check(modulus: int) -> Any:
    """Return the check of a copy whose broken protocol has this modulus."""
    return replace(CHECK.schedule, modulus=modulus)


@pytest.mark.parametrize("modulus", MODULI)
@pytest.mark.parametrize("kind", [late_data, late_ack])
def test_a_schedule_breaks_the_protocol_of_its_own_copy_alone(modulus: int, kind: Any) -> None:
    for other in MODULI:
        judged = schedule_check(other).judge(kind(modulus))
        assert (judged.status is Status.PASSED) == (other == modulus), judged


@pytest.mark.parametrize("modulus", MODULI)
def test_the_protocol_to_break_survives_all_schedules_of_exercise_1_but_the_last(modulus: int) -> None:
    broken = protocol(*stop_and_wait(modulus))
    whole = replace(CHECK.stop_and_wait, cases=CHECK.stop_and_wait.cases[:-1])
    is_right_but_netlabs(whole, broken)
    failure_text(CHECK.stop_and_wait, broken)


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ([6], "expected a dict with entries of 'pieces', 'lost', 'twice', 'late_s'"),
        ({"pieces": 9, "late": {}}, "got 'pieces', 'late'"),
        ({"lost": []}, '"pieces" must be a whole number from 1 to 300, got None'),
        ({"pieces": 2.5}, '"pieces" must be a whole number from 1 to 300, got 2.5'),
        ({"pieces": 9, "late_s": {"ack 1": "0.3"}}, '"late_s" must be a dict with delays from 0 to 100 s'),
        ({"pieces": 9, "late_s": {"ack 1": -1}}, '"late_s" must be a dict with delays from 0 to 100 s'),
        ({"pieces": 9, "lost": "data 3"}, 'lost names datagrams in a list, such as ["data 3", "ack 1"]'),
        ({"pieces": 9, "lost": ["data3"]}, 'lost names datagrams in a list, such as ["data 3", "ack 1"]'),
        (
            {"pieces": 9, "lost": ["data 3", "ack 4"], "twice": ["ack 1"]},
            "at most 2 datagrams may be lost, doubled or late",
        ),
        ({"pieces": 9}, "each of the 9 pieces is delivered once, in order"),
        ({"pieces": 3, "lost": ["data 9"]}, 'There is no "data 9": with this schedule the sender sends 3 datagrams'),
        (
            {"pieces": 300, "late_s": {"data 1": 0.2 + 25.6}},
            "numbers modulo 256 do not survive this schedule either: piece 1 was delivered in the place of piece 257",
        ),
    ],
)
def test_a_schedule_that_breaks_nothing_gets_a_reason(answer: Any, text: str) -> None:
    assert text in failure_text(schedule_check(8), answer)


def test_a_schedule_may_have_numbers_of_numpy() -> None:
    late = late_data(6)
    (name, late_s), *_ = late["late_s"].items()
    given = {"pieces": np.int64(late["pieces"]), "late_s": {name: np.float32(late_s)}}
    passes(schedule_check(6), given)
    assert protocol(*stop_and_wait(6))(**given)["delivered"] != list(range(late["pieces"]))


def test_a_function_that_only_returns_a_result_is_no_protocol() -> None:
    result = protocol(WaitSender, WaitReceiver)(pieces=5)

    def made_up(**given: Any) -> dict[str, Any]:
        return {**result, "delivered": list(range(given["pieces"])), "sent": given["pieces"]}

    assert "expected what protocol(MySender, MyReceiver) returns" in failure_text(CHECK.stop_and_wait, made_up)


def test_a_schedule_that_loses_the_first_datagram_breaks_nothing() -> None:
    """The timer of a copy with a loss shifts all later pieces, so a delay that was right before is wrong then."""
    late = late_data(6)
    assert schedule_check(6).judge(late).status is Status.PASSED
    assert "is delivered once" in failure_text(schedule_check(6), {**late, "lost": ["data 3"]})
