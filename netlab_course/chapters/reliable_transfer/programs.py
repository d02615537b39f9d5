"""Reliable transfers for `netlab.Program`: replacements of exercises that are still open, and the other ends of the exercises.

A datagram of data is one byte, the piece's number modulo 256, followed by the piece. An ACK is one byte.
"""

from typing import Any

PIECE_BYTES = 1000
TIMEOUT_S = 0.25
NUMBERS = 256


def forward_distance(number: int, of: int, modulus: int = NUMBERS) -> int:
    """Return the distance from the number `of` forward to `number`, where both count modulo `modulus` (at most 256).

    >>> forward_distance(2, 254), forward_distance(254, 2), forward_distance(1, 4, 5)
    (4, 252, 2)
    """
    return (number - of) % modulus


class InOrderReceiver:
    """A receiver that delivers the next piece, drops every other, and answers each datagram with the number of the next
    piece.
    """

    modulus = NUMBERS
    """The count of different piece numbers: 0 follows `modulus` - 1."""

    def on_start(self, program: Any) -> None:
        """Store the program, through which the receiver delivers and sends, and wait for piece 0."""
        self.program, self.waits_for = program, 0

    def on_datagram(self, _now_s: float, data: bytes) -> None:
        """Deliver the piece in `data` (its number in the first byte) if it is the next one, else drop it; send an ACK
        with the number of the next piece.
        """
        if data[0] == self.waits_for:
            self.program.deliver(data[1:])
            self.waits_for = (self.waits_for + 1) % self.modulus
        self.program.send(bytes([self.waits_for]))


class GoBackNSender:
    """A sender with up to `window` pieces in flight, for an `InOrderReceiver`; when the oldest is late, it sends all of
    them again.
    """

    modulus = NUMBERS
    """The count of different piece numbers: 0 follows `modulus` - 1."""

    def __init__(self, window: int = 1) -> None:
        """Set the number of pieces that may be in flight."""
        self.window = window

    def on_start(self, program: Any) -> None:
        """Store the program, through which the sender reads and sends, and send the first window."""
        self.program = program
        self.oldest = 0
        self.in_flight: list[bytes] = []
        self.fill(program.now_s)

    def fill(self, now_s: float) -> None:
        """Send new pieces while the window has room; then set the timer to `now_s` + 0.25 s, for the oldest piece in
        flight, or switch it off if none is.
        """
        while len(self.in_flight) < self.window:
            piece = self.program.read(PIECE_BYTES)
            if not piece:
                break
            self.in_flight.append(bytes([(self.oldest + len(self.in_flight)) % self.modulus]) + piece)
            self.program.send(self.in_flight[-1])
        self.program.set_timer(now_s + TIMEOUT_S if self.in_flight else None)

    def on_datagram(self, now_s: float, data: bytes) -> None:
        """Move the window to the number in the ACK `data`, which the receiver expects next, and send new
        pieces; ignore an old ACK.
        """
        acknowledged = forward_distance(data[0], self.oldest, self.modulus)
        # An old ACK has a number before the window, which counts as far ahead of it.
        if 1 <= acknowledged <= len(self.in_flight):
            del self.in_flight[:acknowledged]
            self.oldest = (self.oldest + acknowledged) % self.modulus
            self.fill(now_s)

    def on_timer(self, now_s: float) -> None:
        """Send all pieces in flight again, and set the timer to `now_s` + 0.25 s."""
        for datagram in self.in_flight:
            self.program.send(datagram)
        self.program.set_timer(now_s + TIMEOUT_S)


class StopAndWaitSender(GoBackNSender):
    """A go-back-N sender with a window of one piece."""

    def __init__(self) -> None:
        """Set a window of one piece."""
        super().__init__(1)


def stop_and_wait(modulus: int = NUMBERS) -> tuple[type[StopAndWaitSender], type[InOrderReceiver]]:
    """Return the classes of a stop-and-wait sender and its receiver whose numbers count modulo `modulus` (2 to 256).

    >>> sender, receiver = stop_and_wait(4)
    >>> sender.modulus, receiver.modulus
    (4, 4)
    """
    count = {"modulus": modulus}
    return type("ShortSender", (StopAndWaitSender,), count), type("ShortReceiver", (InOrderReceiver,), count)


class SelectiveSender:
    """A sender with up to `window` pieces in flight, each with its own timeout; an ACK has the number of the single
    piece that arrived.

    It sends no piece that is `span` or more ahead of the oldest in flight; `span` is the room of the receiver, by default `window`.
    """

    def __init__(self, window: int = 1, span: int | None = None) -> None:
        """Set the window in pieces, and the span in pieces (None: the window)."""
        self.window, self.span = window, window if span is None else span

    def on_start(self, program: Any) -> None:
        """Store the program, through which the sender reads and sends, and send the first window."""
        self.program = program
        self.next = 0
        self.in_flight: dict[int, tuple[float, bytes]] = {}
        self.fill(program.now_s)

    def fill(self, now_s: float) -> None:
        """Send new pieces while window and span have room for them, at the time `now_s` in s, and set the timer."""
        while len(self.in_flight) < self.window and self.next - min(self.in_flight, default=self.next) < self.span:
            piece = self.program.read(PIECE_BYTES)
            if not piece:
                break
            self.send(self.next, bytes([self.next % NUMBERS]) + piece, now_s)
            self.next += 1
        self.wake_for_the_first(now_s)

    def send(self, number: int, datagram: bytes, now_s: float) -> None:
        """Send a datagram with the piece of this number (from 0, not modulo 256), and record that it is late 0.25 s
        after `now_s`.
        """
        self.in_flight[number] = (now_s + TIMEOUT_S, datagram)
        self.program.send(datagram)

    def wake_for_the_first(self, now_s: float) -> None:
        """Set the program's timer to the earliest time at which a piece in flight is late, but after `now_s`; switch it
        off if none is in flight.
        """
        due_s = min((due_s for due_s, _ in self.in_flight.values()), default=None)
        # An ACK may arrive at the very moment of the timer, and a timer must be later.
        self.program.set_timer(None if due_s is None else max(due_s, now_s + 1e-6))

    def on_datagram(self, now_s: float, data: bytes) -> None:
        """Remove the piece whose number modulo 256 is in the ACK `data` from the pieces in flight, and send new ones;
        ignore an ACK for any other piece.
        """
        for number in [number for number in self.in_flight if number % NUMBERS == data[0]]:
            del self.in_flight[number]
            self.fill(now_s)

    def on_timer(self, now_s: float) -> None:
        """Send the pieces that are late at `now_s` again, and set the timer to the next time at which one is late."""
        for number, (due_s, datagram) in list(self.in_flight.items()):
            if due_s <= now_s + 1e-9:
                self.send(number, datagram, now_s)
        self.wake_for_the_first(now_s)


class SelectiveReceiver:
    """A receiver that keeps early pieces, delivers in order, and answers each datagram with its own number. `window` is
    its room in pieces.
    """

    def __init__(self, window: int = 1) -> None:
        """Set the number of pieces, from the next one on, that the receiver keeps."""
        self.window = window

    def on_start(self, program: Any) -> None:
        """Store the program, through which the receiver delivers and sends, and wait for piece 0."""
        self.program, self.waits_for = program, 0
        self.early: dict[int, bytes] = {}

    def on_datagram(self, _now_s: float, data: bytes) -> None:
        """Keep the piece in `data` (its number in the first byte) if it is in the window, deliver all pieces up to the
        first gap, and send an ACK with the number of the datagram's piece.
        """
        if forward_distance(data[0], self.waits_for) < self.window:
            self.early[data[0]] = data[1:]
        while self.waits_for in self.early:
            self.program.deliver(self.early.pop(self.waits_for))
            self.waits_for = (self.waits_for + 1) % NUMBERS
        self.program.send(data[:1])
