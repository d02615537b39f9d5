"""Students' programs for the checks of the chapter."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from netlab_course.chapters import reliable_transfer
from netlab_course.chapters.opening import judging_checks
from netlab_course.chapters.reliable_transfer.programs import (
    PIECE_BYTES,
    TIMEOUT_S,
    GoBackNSender,
)

CHECK = SimpleNamespace(**judging_checks(reliable_transfer.begin()))


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


class Renamed(GoBackNSender):
    """netlab's own, under another name."""


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


def of_modulus(modulus: int, *classes: type) -> list[type]:
    """Return the classes of a sender and a receiver with numbers modulo `modulus`."""
    return [type(each.__name__, (each,), {"numbers": modulus}) for each in classes]
