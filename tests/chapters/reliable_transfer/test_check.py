"""The chapter's checks: right programs survive every schedule, and each usual fault is found by the schedule that provokes it."""

from __future__ import annotations

import time
from typing import Any

import pytest

from netlab.base.errors import NetlabError
from netlab_course.chapters import reliable_transfer
from netlab_course.chapters.opening import judging_checks
from netlab_course.chapters.reliable_transfer import experiments
from netlab_course.chapters.reliable_transfer.channel import protocol
from netlab_course.chapters.reliable_transfer.programs import (
    PIECE_BYTES,
    TIMEOUT_S,
    GoBackNSender,
    InOrderReceiver,
    SelectiveReceiver,
    SelectiveSender,
    StopAndWaitSender,
)
from netlab_course.checks import Status
from netlab_course.library_calls import NOT_COUNTED
from tests.chapters.checking import failure_text, is_right_but_netlabs, passes
from tests.chapters.reliable_transfer.programs import (
    CHECK,
    OneBitReceiver,
    OneBitSender,
    Renamed,
    WaitReceiver,
    WaitSender,
)


@pytest.mark.parametrize(
    ("key", "right"),
    [
        ("stop_and_wait", experiments.STOP_AND_WAIT),
        ("go_back_n", experiments.GO_BACK_N),
        ("selective_repeat", experiments.SELECTIVE_REPEAT),
    ],
)
def test_right_programs_survive_every_schedule(key: str, right: object) -> None:
    is_right_but_netlabs(getattr(CHECK, key), right)


def test_another_right_stop_and_wait_passes_too() -> None:
    passes(CHECK.stop_and_wait, protocol(WaitSender, WaitReceiver))
    assert NOT_COUNTED not in str(CHECK.stop_and_wait.verdict(protocol(WaitSender, WaitReceiver)))


@pytest.mark.parametrize(
    ("key", "sender", "receiver"),
    [
        ("stop_and_wait", StopAndWaitSender, InOrderReceiver),
        ("go_back_n", GoBackNSender, InOrderReceiver),
        ("go_back_n", Renamed, InOrderReceiver),
        ("selective_repeat", SelectiveSender, SelectiveReceiver),
    ],
)
def test_a_protocol_of_netlab_does_not_count(key: str, sender: type, receiver: type) -> None:
    result = getattr(CHECK, key).verdict(protocol(sender, receiver))
    assert result.status is Status.FAILED
    assert "it survives all" in result.sentences[0] and NOT_COUNTED in str(result)


class Delegate:
    """A receiver that leaves all to netlab's."""

    def __init__(self, window: int = 1) -> None:
        self.inside = SelectiveReceiver(window)

    def on_start(self, program: Any) -> None:
        self.inside.on_start(program)

    def on_datagram(self, now_s: float, data: bytes) -> None:
        self.inside.on_datagram(now_s, data)


def test_a_protocol_that_leaves_all_to_netlabs_inside_does_not_count() -> None:
    assert NOT_COUNTED in str(CHECK.selective_repeat.verdict(protocol(SelectiveSender, Delegate)))


class NoTimer(WaitSender):
    def on_timer(self, _now_s: float) -> None:
        self.program.send(bytes([self.number]) + self.piece)


class AnyAck(WaitSender):
    def is_for_me(self, _data: bytes) -> bool:
        return True


class LargerAck(WaitSender):
    def is_for_me(self, data: bytes) -> bool:
        return data[0] >= self.number


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


class TwoBitSender(OneBitSender):
    numbers = 4


class TwoBitReceiver(OneBitReceiver):
    numbers = 4


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


class NotTheSameAgain(WaitReceiver):
    """Delivers what differs from the last datagram."""

    last = b""

    def on_datagram(self, _now_s: float, data: bytes) -> None:
        if data != self.last:
            self.last = data
            self.program.deliver(data[1:])
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
        (WaitSender, NotTheSameAgain, "data 1 late", "piece 1 was delivered twice"),
        (LargerAck, WaitReceiver, "260 pieces, data 258 lost; ack 256 late", "a number that is larger is not newer"),
        (SorcerersApprentice, WaitReceiver, "ack 2 arriving twice", "the sender sent 38 datagrams for 20 pieces"),
    ],
)
def test_a_fault_of_stop_and_wait_is_found_by_its_schedule(
    sender: type, receiver: type, schedule: str, found: str
) -> None:
    sentence = failure_text(CHECK.stop_and_wait, protocol(sender, receiver))
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


@pytest.mark.parametrize("method", ["on_datagram", "on_timer"])
def test_a_method_without_code_is_named(capsys: pytest.CaptureFixture[str], method: str) -> None:
    def stub(self: Any, now_s: float, *data: bytes) -> None: ...

    sender = type("Open", (WaitSender,), {method: stub})
    told = failure_text(CHECK.stop_and_wait, protocol(sender, WaitReceiver))
    assert told.startswith("✗ stop-and-wait: schedule: ") and f"Not written yet: Open.{method}." in told
    assert capsys.readouterr().out == f"Not written yet: Open.{method}.\n"


def test_classes_as_the_notebook_came_with_them_are_not_attempted(capsys: pytest.CaptureFixture[str]) -> None:
    class Begun:
        def on_start(self, program: Any) -> None:
            self.program = program

        def on_datagram(self, now_s: float, data: bytes) -> None: ...
        def on_timer(self, now_s: float) -> None: ...

    assert CHECK.stop_and_wait.judge(protocol(Begun, Begun)).status is Status.NOT_ATTEMPTED
    assert not capsys.readouterr().out


@pytest.mark.parametrize("answer", [3, WaitSender])
def test_object_that_is_no_protocol_is_reported(answer: object) -> None:
    assert "expected what protocol(MySender, MyReceiver) returns" in failure_text(CHECK.stop_and_wait, answer)


@pytest.mark.parametrize("token", ["", "anna", "ben"])
def test_the_window_s_goodput_passes(token: str) -> None:
    def window_mbps(window: int, rate_mbps: float, rtt_ms: float, payload_bytes: int) -> float:
        service_ms = (payload_bytes + 42) * 8 / rate_mbps / 1000
        return payload_bytes * 8 / 1000 / max(service_ms, (rtt_ms + service_ms) / window)

    passes(judging_checks(reliable_transfer.begin(token))["window"], window_mbps)


def test_a_schedule_gives_the_same_each_time_and_counts_what_it_took() -> None:
    trial = protocol(StopAndWaitSender, InOrderReceiver)
    first = trial(pieces=5, lost=["data 2", "ack 3"])
    assert first == trial(pieces=5, lost=["data 2", "ack 3"])
    assert first["delivered"] == [0, 1, 2, 3, 4] and first["sent"] == 7 and first["ends"]
    assert first["last_s"] == pytest.approx(0.45 + 2 * TIMEOUT_S)


class AgainAtOldAcks(WaitSender):
    """Any ACK but the awaited one sends the piece again, also when there is none left."""

    def on_datagram(self, now_s: float, data: bytes) -> None:
        if self.is_for_me(data):
            super().on_datagram(now_s, data)
        else:
            self.on_timer(now_s)


def test_an_empty_piece_at_the_end_is_no_cause_of_a_sender_that_sends_too_often_before() -> None:
    told = failure_text(CHECK.stop_and_wait, protocol(AgainAtOldAcks, WaitReceiver))
    assert "a sender that answers such an ACK with the piece again" in told and "Look at" not in told
