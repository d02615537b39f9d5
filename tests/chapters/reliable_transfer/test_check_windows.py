"""Checks of Go-Back-N and Selective Repeat."""

from __future__ import annotations

from typing import Any

import pytest

from netlab_course.chapters.reliable_transfer.channel import protocol
from netlab_course.chapters.reliable_transfer.programs import (
    PIECE_BYTES,
    TIMEOUT_S,
    GoBackNSender,
    InOrderReceiver,
    SelectiveReceiver,
    SelectiveSender,
)
from tests.chapters.checking import failure_text, passes
from tests.chapters.reliable_transfer.programs import CHECK


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


class LastAckIgnored(GoBackNSender):
    """An ACK for all that is in flight does not count."""

    def on_datagram(self, now_s: float, data: bytes) -> None:
        if (data[0] - self.oldest) % 256 < len(self.in_flight):
            super().on_datagram(now_s, data)


class AgainAtEqualAcks(GoBackNSender):
    """An ACK that says the same as the one before it sends all pieces in flight again."""

    def on_datagram(self, now_s: float, data: bytes) -> None:
        if data[0] == self.oldest:
            self.on_timer(now_s)
        super().on_datagram(now_s, data)


class AckOfTheLastPiece(GoBackNSender):
    """An ACK is taken for the number of the last piece that arrived, which is one less than it says."""

    def on_datagram(self, now_s: float, data: bytes) -> None:
        super().on_datagram(now_s, bytes([(data[0] + 1) % 256]))


class FillsAtTheTimer(GoBackNSender):
    """The timer sends new pieces, and there is no room for any."""

    def on_timer(self, now_s: float) -> None:
        self.fill(now_s)


@pytest.mark.parametrize(
    ("sender", "schedule", "found"),
    [
        (LastAckIgnored, "nothing lost", "does an ACK for all that is in flight count as well?"),
        (AgainAtEqualAcks, "data 2 lost", "times a piece was sent again when an ACK came. Equal ACKs need not"),
        (AckOfTheLastPiece, "data 2 lost", "Up to 5 pieces were in flight without an ACK, with a window of 4"),
        (FillsAtTheTimer, "data 2 lost", "The sender's timer ended with pieces in flight, and it sent nothing"),
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
