"""The chapter's checks: right programs survive every schedule, and each usual fault is found by the schedule that provokes it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from netlab.base.errors import NetlabError
from netlab_course.chapters import reliable_transfer
from netlab_course.chapters.reliable_transfer import experiments, settings
from netlab_course.chapters.reliable_transfer.channel import protocol
from netlab_course.chapters.reliable_transfer.programs import (
    PIECE_BYTES,
    TIMEOUT_S,
    GoBackNSender,
    InOrderReceiver,
    SelectiveReceiver,
    SelectiveSender,
    StopAndWaitSender,
    stop_and_wait,
)
from netlab_course.checks import NOT_COUNTED, Status
from tests.chapters.checking import failure_text, passes

CHECK = reliable_transfer.begin().check


@pytest.mark.parametrize(
    ("key", "right"),
    [
        ("stop_and_wait", experiments.STOP_AND_WAIT),
        ("go_back_n", experiments.GO_BACK_N),
        ("selective_repeat", experiments.SELECTIVE_REPEAT),
    ],
)
def test_right_programs_survive_every_schedule(key: str, right: object) -> None:
    passes(getattr(CHECK, key), right)


class WaitSender:
    """Stop-and-wait whose ACKs have the piece's own number."""

    def on_start(self, program: Any) -> None:
        self.program, self.number = program, 0
        self.send_next()

    def send_next(self) -> None:
        self.piece = self.program.read(PIECE_BYTES)
        self.program.set_timer(None)
        if self.piece:
            self.on_timer(self.program.now_s)

    def on_datagram(self, _now_s: float, data: bytes) -> None:
        if self.is_for_me(data):
            self.number = (self.number + 1) % 256
            self.send_next()

    def is_for_me(self, data: bytes) -> bool:
        return data[0] == self.number

    def on_timer(self, now_s: float) -> None:
        self.program.send(bytes([self.number]) + self.piece)
        self.program.set_timer(now_s + TIMEOUT_S)


class WaitReceiver:
    def on_start(self, program: Any) -> None:
        self.program, self.waits_for = program, 0

    def on_datagram(self, _now_s: float, data: bytes) -> None:
        if data[0] == self.waits_for:
            self.program.deliver(data[1:])
            self.waits_for = (self.waits_for + 1) % 256
        self.program.send(data[:1])


def test_another_right_stop_and_wait_passes_too() -> None:
    passes(CHECK.stop_and_wait, protocol(WaitSender, WaitReceiver))
    assert NOT_COUNTED not in str(CHECK.stop_and_wait.judge(protocol(WaitSender, WaitReceiver)))


class Renamed(GoBackNSender):
    """netlab's own, under another name."""


@pytest.mark.parametrize(
    ("key", "sender", "receiver", "counts"),
    [
        ("stop_and_wait", StopAndWaitSender, InOrderReceiver, False),
        ("go_back_n", GoBackNSender, InOrderReceiver, False),
        ("go_back_n", Renamed, InOrderReceiver, False),
        ("selective_repeat", SelectiveSender, SelectiveReceiver, False),
    ],
)
def test_a_protocol_of_netlab_is_right_but_does_not_count(key: str, sender: type, receiver: type, counts: bool) -> None:
    result = getattr(CHECK, key).judge(protocol(sender, receiver))
    assert result.status is Status.PASSED
    assert (NOT_COUNTED not in result.sentences) == counts


class NoTimer(WaitSender):
    def on_timer(self, _now_s: float) -> None:
        self.program.send(bytes([self.number]) + self.piece)


class AnyAck(WaitSender):
    def is_for_me(self, _data: bytes) -> bool:
        return True


class NeverWraps(WaitSender):
    def on_datagram(self, _now_s: float, data: bytes) -> None:
        if self.is_for_me(data):
            self.number += 1
            self.send_next()


class CountsByTwo(WaitSender):
    def on_datagram(self, _now_s: float, data: bytes) -> None:
        if self.is_for_me(data):
            self.number += 2
            self.send_next()


class NeverDone(WaitSender):
    def send_next(self) -> None:
        piece = self.program.read(PIECE_BYTES)
        if piece:
            self.piece = piece
        else:
            self.number = (self.number - 1) % 256
        self.on_timer(self.program.now_s)


class OneBitSender(WaitSender):
    numbers = 2

    def on_datagram(self, _now_s: float, data: bytes) -> None:
        if self.is_for_me(data):
            self.number = (self.number + 1) % self.numbers
            self.send_next()


class OneBitReceiver(WaitReceiver):
    numbers = 2

    def on_datagram(self, _now_s: float, data: bytes) -> None:
        if data[0] == self.waits_for:
            self.program.deliver(data[1:])
            self.waits_for = (self.waits_for + 1) % self.numbers
        self.program.send(data[:1])


class TwoBitSender(OneBitSender):
    numbers = 4


class TwoBitReceiver(OneBitReceiver):
    numbers = 4


def of_modulus(modulus: int, *classes: type) -> list[type]:
    """Return the classes of a sender and a receiver with numbers modulo `modulus`."""
    return [type(each.__name__, (each,), {"numbers": modulus}) for each in classes]


class NextOneBitSender(OneBitSender):
    def is_for_me(self, data: bytes) -> bool:
        return data[0] != self.number


class NextOneBitReceiver(WaitReceiver):
    """Answers with the number of the piece that it waits for."""

    def on_datagram(self, _now_s: float, data: bytes) -> None:
        if data[0] == self.waits_for:
            self.program.deliver(data[1:])
            self.waits_for = 1 - self.waits_for
        self.program.send(bytes([self.waits_for]))


class SorcerersApprentice(WaitSender):
    """Sends the piece again for each ACK that is not for it."""

    def on_datagram(self, now_s: float, data: bytes) -> None:
        if self.is_for_me(data):
            super().on_datagram(now_s, data)
        elif self.piece:
            self.on_timer(now_s)


class DeliversTwice(WaitReceiver):
    def on_datagram(self, _now_s: float, data: bytes) -> None:
        self.program.deliver(data[1:])
        self.program.send(data[:1])


class AnswersNewOnly(WaitReceiver):
    def on_datagram(self, _now_s: float, data: bytes) -> None:
        if data[0] == self.waits_for:
            self.program.deliver(data[1:])
            self.waits_for = (self.waits_for + 1) % 256
            self.program.send(data[:1])


class DeliversTheNumber(WaitReceiver):
    def on_datagram(self, _now_s: float, data: bytes) -> None:
        self.program.deliver(data)
        self.program.send(data[:1])


class OneTimeout(WaitSender):
    """The timer is set for a new piece only."""

    is_again = False

    def on_timer(self, now_s: float) -> None:
        self.program.send(bytes([self.number]) + self.piece)
        if now_s == self.program.now_s and not self.is_again:
            self.program.set_timer(now_s + TIMEOUT_S)
        self.is_again = True

    def send_next(self) -> None:
        self.is_again = False
        super().send_next()


class InMilliseconds(WaitSender):
    def on_timer(self, now_s: float) -> None:
        super().on_timer(now_s)
        self.program.set_timer(now_s + 1000 * TIMEOUT_S)


class EmptyNumber(WaitSender):
    def on_timer(self, now_s: float) -> None:
        self.program.send(bytes(self.number) + self.piece)
        self.program.set_timer(now_s + TIMEOUT_S)


class EncodesTheNumber(WaitSender):
    def on_timer(self, now_s: float) -> None:
        self.program.send(str(self.number).encode() + self.piece)
        self.program.set_timer(now_s + TIMEOUT_S)


class SendsNothing(WaitSender):
    def send_next(self) -> None: ...


class ByTheComputersClock(WaitSender):
    def on_timer(self, now_s: float) -> None:
        super().on_timer(now_s)
        self.program.set_timer(time.time() + TIMEOUT_S)


class LongTimeout(WaitSender):
    def on_timer(self, now_s: float) -> None:
        super().on_timer(now_s)
        self.program.set_timer(now_s + 1)


class ShortTimeout(WaitSender):
    """The timer is half as long as it should be, and longer than a round trip."""

    def on_timer(self, now_s: float) -> None:
        super().on_timer(now_s)
        self.program.set_timer(now_s + TIMEOUT_S / 2)


class Returns(WaitReceiver):
    def on_datagram(self, _now_s: float, data: bytes) -> None:
        self.program.deliver(data[1:])
        return data[:1]  # type: ignore[return-value]


class DeliversNothing(WaitReceiver):
    def on_datagram(self, _now_s: float, data: bytes) -> None:
        self.program.send(data[:1])


class CountsInTheClass(WaitReceiver):
    counted = [0]  # noqa: RUF012 (the mistake)

    def on_datagram(self, _now_s: float, data: bytes) -> None:
        if data[0] == self.counted[0] % 256:
            self.program.deliver(data[1:])
            self.counted[0] += 1
        self.program.send(data[:1])


class LeavesTheTimer(WaitSender):
    """Sends nothing at the end, but has a timer that begins anew."""

    def send_next(self) -> None:
        super().send_next()
        self.program.set_timer(self.program.now_s + TIMEOUT_S)

    def on_timer(self, now_s: float) -> None:
        if self.piece:
            super().on_timer(now_s)
        self.program.set_timer(now_s + TIMEOUT_S)


@pytest.mark.parametrize(
    ("sender", "receiver", "schedule", "found"),
    [
        (NoTimer, WaitReceiver, "data 2 lost", "only 1 of 5 pieces was delivered, then nothing was sent any more"),
        (WaitSender, DeliversTwice, "ack 2 lost", "piece 2 was delivered twice"),
        (WaitSender, AnswersNewOnly, "ack 2 lost", "the sender sent on without end"),
        (AnyAck, WaitReceiver, "data 4 lost; data 3, ack 1 arriving twice", "only"),
        (NeverWraps, WaitReceiver, "600 pieces", "bytes must be in range(0, 256)"),
        (NeverDone, WaitReceiver, "nothing lost", "one end sends on for ever"),
        (LeavesTheTimer, WaitReceiver, "nothing lost", "a timer runs on for ever"),
        (WaitSender, DeliversTheNumber, "nothing lost", "are the number and the data kept apart"),
        (OneTimeout, WaitReceiver, "data 2, data 3 lost", "Is the timer set again"),
        (InMilliseconds, WaitReceiver, "data 2 lost", "a moment in seconds"),
        (EmptyNumber, WaitReceiver, "nothing lost", 'Look at "data 1": it is not one byte with the number'),
        (WaitSender, Returns, "nothing lost", "The receiver answers nothing"),
        (WaitSender, DeliversNothing, "nothing lost", "Does the receiver call program.deliver(piece)"),
        (WaitSender, CountsInTheClass, "nothing lost", "What did your class keep of it?"),
        (NeverWraps, WaitReceiver, "600 pieces", "After 255 comes 0"),
        (EncodesTheNumber, WaitReceiver, "nothing lost", "Its datagram begins with the byte 48."),
        (SendsNothing, WaitReceiver, "nothing lost", "Does on_start send the first piece?"),
        (ByTheComputersClock, WaitReceiver, "nothing lost", "set_timer() takes a later network time"),
        (LongTimeout, WaitReceiver, "data 3 lost", "And is it set to programs.TIMEOUT_S?"),
        (ShortTimeout, WaitReceiver, "ack 2 late", "nothing may be sent again before it ends"),
        (CountsByTwo, WaitReceiver, "nothing lost", "begin with the bytes 0, 2, 4, 6, 8 ..."),
        (OneBitSender, OneBitReceiver, "data 4 lost; ack 1 late", "piece 5 was delivered where piece 3 was due"),
        (
            NextOneBitSender,
            NextOneBitReceiver,
            "data 4 lost; ack 1 late",
            "piece 5 was delivered where piece 3 was due",
        ),
        (TwoBitSender, TwoBitReceiver, "data 6 lost; ack 1 late", "With two bits every fourth piece has"),
        (SorcerersApprentice, WaitReceiver, "ack 2 arriving twice", "the sender sent 38 datagrams for 20 pieces"),
    ],
)
def test_a_fault_of_stop_and_wait_is_found_by_its_schedule(
    sender: type, receiver: type, schedule: str, found: str
) -> None:
    sentence = failure_text(CHECK.stop_and_wait, protocol(sender, receiver))
    assert schedule in sentence and found in sentence, sentence


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
    passes(whole, broken)
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
def test_a_schedule_that_breaks_nothing_is_told_why(answer: Any, text: str) -> None:
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


class OffAtAnyAck(GoBackNSender):
    """The timer is off as soon as something is acknowledged."""

    def on_datagram(self, now_s: float, data: bytes) -> None:
        super().on_datagram(now_s, data)
        self.program.set_timer(None)


class FirstTimerOnly(GoBackNSender):
    """The timer stays where it is when the window moves: it is for a piece that has come."""

    due_s = 0.0

    def fill(self, now_s: float) -> None:
        super().fill(now_s)
        if self.due_s <= now_s:
            self.due_s = now_s + TIMEOUT_S
        self.program.set_timer(self.due_s if self.in_flight else None)


class OneByOne(GoBackNSender):
    """An ACK counts for one piece alone."""

    def on_datagram(self, now_s: float, data: bytes) -> None:
        if data[0] == (self.oldest + 1) % 256:
            super().on_datagram(now_s, data)


class BackByOldAcks(GoBackNSender):
    """The window goes where any ACK says."""

    def on_datagram(self, now_s: float, data: bytes) -> None:
        moved = data[0] - self.oldest
        self.in_flight, self.oldest = self.in_flight[moved:], data[0]
        self.fill(now_s)


class NoWrapOfTheWindow(GoBackNSender):
    """The window's numbers wrap, what an ACK moves does not."""

    def on_datagram(self, now_s: float, data: bytes) -> None:
        if data[0] > self.oldest:
            super().on_datagram(now_s, data)


class OneAtATime(GoBackNSender):
    def __init__(self, window: int) -> None:
        super().__init__(1)
        del window


class OldestOnly(GoBackNSender):
    """After a loss only the oldest goes again: the others were dropped."""

    def on_timer(self, now_s: float) -> None:
        self.program.send(self.in_flight[0])
        self.program.set_timer(now_s + TIMEOUT_S)


class OneTimeoutOfAll(GoBackNSender):
    """Nothing waits for what was sent again."""

    def on_timer(self, now_s: float) -> None:
        super().on_timer(now_s)
        self.program.set_timer(None)


class TimerAtAnyAck(GoBackNSender):
    """The timer begins anew with an ACK that moves nothing, too."""

    def on_datagram(self, now_s: float, data: bytes) -> None:
        super().on_datagram(now_s, data)
        self.fill(now_s)


class TimerTooEarly(GoBackNSender):
    """The timer is half as long as it should be, and longer than a round trip."""

    def fill(self, now_s: float) -> None:
        super().fill(now_s)
        if self.in_flight:
            self.program.set_timer(now_s + TIMEOUT_S / 2)


class OneTooMany(GoBackNSender):
    def __init__(self, window: int) -> None:
        super().__init__(window + 1)


class ListInTheClass(GoBackNSender):
    shared: list[bytes] = []  # noqa: RUF012 (the mistake)

    def on_start(self, program: Any) -> None:
        self.program, self.oldest, self.in_flight = program, 0, self.shared
        self.fill(program.now_s)


@pytest.mark.parametrize(
    ("sender", "schedule", "found"),
    [
        (OneAtATime, "window 4, nothing lost", "before any ACK could come: 1, with a window of 4"),
        (FirstTimerOnly, "window 4, nothing lost", "the timer must be for that one"),
        (OldestOnly, "data 2 lost", "more than it should"),
        (OneByOne, "ack 2, ack 5, ack 6 lost", "a later one makes up for one that is lost"),
        (OffAtAnyAck, "data 2 lost", "nothing was sent any more"),
        (BackByOldAcks, "ack 1 late", "It must not move the window back"),
        (NoWrapOfTheWindow, "600 pieces", "only"),
        (OneTimeoutOfAll, "data 2, data 6 lost", "Is the timer set again"),
        (TimerAtAnyAck, "data 4 late", "It must leave the timer alone"),
        (TimerTooEarly, "ack 1, ack 2, ack 3, ack 4 late", "nothing may be sent again before it ends"),
        (OneTooMany, "nothing lost", "before any ACK could come: 5, with a window of 4"),
        (ListInTheClass, "nothing lost", "What did your class keep of it?"),
    ],
)
def test_a_fault_of_go_back_n_is_found_by_its_schedule(sender: type, schedule: str, found: str) -> None:
    sentence = failure_text(CHECK.go_back_n, protocol(sender, InOrderReceiver))
    assert schedule in sentence and found in sentence, sentence
    assert sender is not OldestOnly or "TIMEOUT_S" not in sentence, "its timer is right"


class KeepsNothing(SelectiveReceiver):
    def on_datagram(self, now_s: float, data: bytes) -> None:
        if data[0] == self.waits_for or (data[0] - self.waits_for) % 256 >= self.window:
            super().on_datagram(now_s, data)


class SilentBehindTheWindow(SelectiveReceiver):
    def on_datagram(self, now_s: float, data: bytes) -> None:
        if (data[0] - self.waits_for) % 256 < self.window:
            super().on_datagram(now_s, data)


class KeepsOldPieces(SelectiveReceiver):
    def on_start(self, program: Any) -> None:
        super().on_start(program)
        self.window = 256


class AsTheyCome(SelectiveReceiver):
    def on_datagram(self, _now_s: float, data: bytes) -> None:
        self.program.deliver(data[1:])
        self.program.send(data[:1])


class KeepsOneTooMany(SelectiveReceiver):
    def __init__(self, window: int) -> None:
        super().__init__(window + 1)


class KeepsInTheClass(SelectiveReceiver):
    shared: dict[int, bytes] = {}  # noqa: RUF012 (the mistake)

    def on_start(self, program: Any) -> None:
        self.program, self.waits_for, self.early = program, 0, self.shared


@pytest.mark.parametrize(
    ("receiver", "schedule", "found"),
    [
        (KeepsNothing, "data 2 lost", "Are the pieces that came early kept"),
        (SilentBehindTheWindow, "ack 2 lost", "the sender sent on without end"),
        (
            AsTheyCome,
            "data 2 lost",
            "piece 3 was delivered where piece 2 was due. A piece may be delivered only after all",
        ),
        (KeepsOldPieces, "600 pieces", "in the place of piece"),
        (KeepsOneTooMany, "window 128", "in the place of piece"),
        (KeepsInTheClass, "nothing lost", "What did your class keep of it?"),
    ],
)
def test_a_fault_of_selective_repeat_is_found_by_its_schedule(receiver: type, schedule: str, found: str) -> None:
    sentence = failure_text(CHECK.selective_repeat, protocol(SelectiveSender, receiver))
    assert schedule in sentence and found in sentence, sentence


def test_objects_in_place_of_classes_are_refused_at_once() -> None:
    with pytest.raises(NetlabError, match="takes two classes.* without brackets"):
        protocol(WaitSender(), WaitReceiver())


def test_a_method_that_nothing_calls_is_refused_at_once() -> None:
    class Renamed(WaitSender):
        def on_timeout(self, now_s: float) -> None: ...

    with pytest.raises(NetlabError, match="Renamed has a method that nothing calls: got 'on_timeout'"):
        protocol(Renamed, WaitReceiver)


@pytest.mark.parametrize(
    "wrong", [{"lost": "ack 2"}, {"lost": ["ack2"]}, {"twice": ["Data 3"]}, {"late_s": {"data 0": 0.1}}]
)
def test_a_schedule_names_datagrams_as_they_are_counted(wrong: dict[str, Any]) -> None:
    with pytest.raises(NetlabError, match=r'such as \["data 3", "ack 1"\]; got .*[aA]'):
        protocol(StopAndWaitSender, InOrderReceiver)(pieces=5, **wrong)


def test_headers_counted_as_data_are_named() -> None:
    def answer(window: int, rate_mbps: float, rtt_ms: float, payload_bytes: int) -> float:
        return min(
            rate_mbps, window * (payload_bytes + 42) * 8 / 1000 / (rtt_ms + (payload_bytes + 42) * 8 / rate_mbps / 1000)
        )

    assert "Goodput is of the payload alone" in failure_text(CHECK.window, answer)


def test_error_of_a_class_is_reported_with_its_line() -> None:
    class Broken(WaitSender):
        def on_datagram(self, _now_s: float, data: bytes) -> None:
            raise KeyError(data)

    sentence = failure_text(CHECK.stop_and_wait, protocol(Broken, WaitReceiver))
    assert "Broken.on_datagram" in sentence and "raise KeyError(data)" in sentence


def test_a_class_as_the_notebook_came_with_it_is_not_attempted(capsys: pytest.CaptureFixture[str]) -> None:
    class Open(WaitSender):
        def on_datagram(self, _now_s: float, data: bytes) -> None: ...

    assert CHECK.stop_and_wait.judge(protocol(Open, WaitReceiver)).status is Status.NOT_ATTEMPTED
    assert capsys.readouterr().out == "Not written yet: Open.on_datagram.\n"


@pytest.mark.parametrize("answer", [3, WaitSender])
def test_object_that_is_no_protocol_is_reported(answer: object) -> None:
    assert "expected what protocol(MySender, MyReceiver) returns" in failure_text(CHECK.stop_and_wait, answer)


@pytest.mark.parametrize("token", ["", "anna", "ben"])
def test_the_window_s_goodput_passes(token: str) -> None:
    def window_mbps(window: int, rate_mbps: float, rtt_ms: float, payload_bytes: int) -> float:
        service_ms = (payload_bytes + 42) * 8 / rate_mbps / 1000
        return payload_bytes * 8 / 1000 / max(service_ms, (rtt_ms + service_ms) / window)

    passes(reliable_transfer.begin(token).check.window, window_mbps)


def test_a_schedule_gives_the_same_each_time_and_counts_what_it_took() -> None:
    trial = protocol(StopAndWaitSender, InOrderReceiver)
    first = trial(pieces=5, lost=["data 2", "ack 3"])
    assert first == trial(pieces=5, lost=["data 2", "ack 3"])
    assert first["delivered"] == [0, 1, 2, 3, 4] and first["sent"] == 7 and first["ends"]
    assert first["last_s"] == pytest.approx(0.45 + 2 * TIMEOUT_S)


class FastRetransmitSender:
    """Go-back-N that sends the oldest piece again after three equal ACKs, and leaves the timer as it is."""

    def __init__(self, window: int) -> None:
        self.window = window

    def on_start(self, program: Any) -> None:
        self.program, self.oldest, self.equal = program, 0, 0
        self.in_flight: list[bytes] = []
        self.fill(program.now_s)

    def fill(self, now_s: float) -> None:
        while len(self.in_flight) < self.window and (piece := self.program.read(PIECE_BYTES)):
            self.in_flight.append(bytes([(self.oldest + len(self.in_flight)) % 256]) + piece)
            self.program.send(self.in_flight[-1])
        self.program.set_timer(now_s + TIMEOUT_S if self.in_flight else None)

    def on_datagram(self, now_s: float, data: bytes) -> None:
        moved = (data[0] - self.oldest) % 256
        if 1 <= moved <= len(self.in_flight):
            self.in_flight, self.oldest, self.equal = self.in_flight[moved:], data[0], 0
            self.fill(now_s)
        elif moved == 0 and self.in_flight:
            self.equal += 1
            if self.equal == 3:
                self.again()

    def again(self) -> None:
        self.program.send(self.in_flight[0])

    def on_timer(self, now_s: float) -> None:
        for datagram in self.in_flight:
            self.program.send(datagram)
        self.program.set_timer(now_s + TIMEOUT_S)


class FastGoBackSender(FastRetransmitSender):
    """All that is in flight goes again after three equal ACKs."""

    def again(self) -> None:
        for datagram in self.in_flight:
            self.program.send(datagram)


def test_go_back_n_passes_with_moderate_but_not_excessive_fast_retransmit() -> None:
    passes(CHECK.go_back_n, protocol(FastRetransmitSender, InOrderReceiver))
    assert "Equal ACKs need not mean a loss" in failure_text(
        CHECK.go_back_n, protocol(FastGoBackSender, InOrderReceiver)
    )
