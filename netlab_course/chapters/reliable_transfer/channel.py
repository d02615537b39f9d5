"""A path in Python that loses, duplicates and delays datagrams by a schedule; two programs run over it as in a network, without a kernel.

A trial takes a millisecond or two and is deterministic, so that a check can name the loss that a program does not
survive. In the grader it runs in the process of the student's code.
"""

import heapq
import inspect
import random
import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import EllipsisType
from typing import Any

from netlab.base.errors import NetlabError
from netlab.base.units import NS_PER_S
from netlab.base.values import short_repr
from netlab.traffic.own import own_name, own_problems
from netlab.traffic.program import PROGRAM_METHODS
from netlab_course.answers import answer_in_words, is_stub
from netlab_course.chapters.reliable_transfer.programs import PIECE_BYTES
from netlab_user_code.delivery import NO_TIMER, DeliveryLog, ProgramInterface
from netlab_user_code.method_calls import Part, caller

ONE_WAY_S = 0.05
MAX_EVENTS = 10_000
MAX_TIME_S = 300.0
REPORTED_NUMBERS = 6
SENDER, RECEIVER = 0, 1
NAMES = ("data", "ack")
"""The names of the datagrams of sender and receiver in a schedule; "ack 2" is the second datagram that the receiver sends."""


@dataclass(frozen=True)
class Protocol:
    """A sender's and a receiver's program as one answer; calling it with a schedule runs them over the path."""

    sender: Any
    receiver: Any
    """Classes as for `netlab.Program`; the window is passed to a class that has such a parameter."""

    def ends(self, window: int | None = None) -> tuple[Any, Any]:
        """Return a new sender and a new receiver; `window` is in pieces, and only a class that has such a parameter
        gets it (None: none does).
        """
        return _new_program(self.sender, window), _new_program(self.receiver, window)

    def __call__(
        self,
        pieces: int,
        window: int | None = None,
        lost: Sequence[str] = (),
        twice: Sequence[str] = (),
        late_s: Mapping[str, float] | None = None,
        until_s: float | None = None,
    ) -> dict[str, Any]:
        """Send this number of pieces over a path with 50 ms each way, and return the deliveries and the effort by name,
        as `transfer` does; `lost`, `twice` and `late_s` (additional delays in s) name datagrams, such as "data 3" or
        "ack 1", and `until_s` is the time in s of an interruption (None: none). Raises NetlabError when a name has
        another form.
        """
        for field, names in (("lost", lost), ("twice", twice), ("late_s", late_s or {})):
            datagram_names(field, names)
        return transfer(self.ends(window), pieces, lost, twice, late_s, until_s)


def datagram_names(field: str, names: Any) -> list[str]:
    """Return the names of datagrams, such as "data 3", in the entry `field` of a schedule, a list of them or a dict by
    them. Raises NetlabError when it is neither, or a name has another form.
    """
    if not isinstance(names, (list, tuple, set, dict)) or not all(
        re.fullmatch(r"(data|ack) [1-9]\d*", str(name)) for name in names
    ):
        raise NetlabError(f'{field} names datagrams in a list, such as ["data 3", "ack 1"]; got {short_repr(names)}')
    return [str(name) for name in names]


def transfer(
    ends: Sequence[Any],
    pieces: int,
    lost: Sequence[str] = (),
    twice: Sequence[str] = (),
    late_s: Mapping[str, float] | None = None,
    until_s: float | None = None,
) -> dict[str, Any]:
    """Send this number of pieces between two programs, `ends` (sender, receiver), over a path with 50 ms each way;
    datagrams such as "data 3" or "ack 1" are `lost`, arrive `twice` or `late_s` s later. Return, when nothing more can
    happen or at `until_s` (None: 300 s), values by name: the numbers of the `delivered` pieces, the time `last_s` of
    the last new one, the datagrams `sent` and `answered`, and others.
    """
    return _Channel(ends, int(pieces), lost, twice, late_s or {}).run(until_s or MAX_TIME_S)


def protocol(sender: Any, receiver: Any) -> Protocol | EllipsisType:
    """Return a sender's and a receiver's class as one answer. While one of them is `...`, or all methods that are to be
    written are still the stubs of the notebook, return `...`; if only some are, print their names. Raises NetlabError when
    one is not a class, or has a method that nothing calls.
    """
    given = [each for each in (sender, receiver) if each is not ...]
    for each in given:
        if not callable(each):
            raise NetlabError(
                f"protocol() takes two classes, such as protocol(WaitSender, WaitReceiver), without brackets behind a name; "
                f"got {answer_in_words(each)}"
            )
    if problems := [each for end in given for each in own_problems("protocol(): class", end, PROGRAM_METHODS)]:
        raise NetlabError("\n".join(problems))
    methods = {
        f"{own_name(end)}.{name}": getattr(end, name) for end in given for name in PROGRAM_METHODS if hasattr(end, name)
    }
    still = [name for name, method in methods.items() if is_stub(method)]
    # The notebook contains the beginning of on_start, and one end may be netlab's.
    given_too = [
        name for name, method in methods.items() if method.__module__.startswith("netlab") or "on_start" in name
    ]
    untouched = bool(still) and set(methods) <= {*still, *given_too}
    if still and not untouched:
        sys.stdout.write(f"Not written yet: {', '.join(still)}.\n")
    return ... if untouched or len(given) < len(NAMES) else Protocol(sender, receiver)


def _new_program(program: Any, window: int | None) -> Any:
    """Return a new object of a program's class, with the window in pieces if it is not None and the class has such a
    parameter.
    """
    # A receiver that drops early pieces needs no window.
    takes_one = window is not None and "window" in inspect.signature(program).parameters
    return program(window=window) if takes_one else program()


class _Pieces(DeliveryLog):
    """The pieces that the sender reads, the number of each delivered piece in order (-1 for unknown data), and how many
    different ones were delivered.
    """

    def __init__(self, number: int) -> None:
        """Make this number of different random pieces of 1000 bytes, always the same ones for the same number."""
        super().__init__(number * PIECE_BYTES)
        self.numbers: dict[bytes, int] = {}
        self.delivered: list[int] = []
        self.last_s, self.different = 0.0, 0
        draw = random.Random(number)  # noqa: S311 (no secret)
        self._waiting = b"".join(draw.randbytes(PIECE_BYTES) for _ in range(number))
        for place in range(number):
            self.numbers[self._waiting[place * PIECE_BYTES : (place + 1) * PIECE_BYTES]] = place

    def read(self, _now_s: float, num_bytes: int) -> bytes:
        """Return the next `num_bytes` bytes to send, which no later call returns; fewer at the end, and then b""."""
        piece, self._waiting = self._waiting[:num_bytes], self._waiting[num_bytes:]
        return piece

    def note_sent(self, _now_s: float, _data: bytes) -> None:
        """Do nothing, as the channel counts the datagrams."""

    def deliver(self, now_s: float, piece: bytes) -> None:
        """Record which piece was delivered at the time `now_s` in s, as its number from 0 (-1 for unknown data), and
        the time if it is a new one; empty data do not count.
        """
        if piece:
            number = self.numbers.get(piece, -1)
            if number not in self.delivered:
                self.last_s, self.different = now_s, self.different + 1
            self.delivered.append(number)


class _Channel:
    """Two programs, the datagrams on their way, and the clock of a transfer."""

    def __init__(
        self, ends: Sequence[Any], pieces: int, lost: Sequence[str], twice: Sequence[str], late_s: Mapping[str, float]
    ) -> None:
        """Prepare a transfer of this number of pieces between the programs `ends` (sender, receiver); the datagrams in
        `lost` are lost, those in `twice` duplicated, and those in `late_s` delayed by so many seconds.
        """
        self._lost, self._twice, self._late_s = set(lost), set(twice), late_s
        self._pieces = _Pieces(pieces)
        parts: tuple[Part, Part] = ("sender", "receiver")
        self._callers = [caller(part, end, part) for part, end in zip(parts, ends, strict=True)]
        self._programs = [ProgramInterface(self._pieces, receives) for receives in (False, True)]
        self._timers_ns = [NO_TIMER, NO_TIMER]
        self._sent: Counter[int] = Counter()
        self._first_flight = 0
        self._numbers: tuple[list[int], list[int]] = ([], [])
        self._shapeless = 0
        self._last_sent_ns = 0
        self._order = 0
        self._coming: list[tuple[int, int, int, bytes, int]] = []
        self._acknowledged = 0
        self._most_ahead = 0
        self._again_at_acks = 0
        self._silent_timers = 0
        self._highest = -1
        self._last_ack = -1

    def run(self, until_s: float) -> dict[str, Any]:
        """Run the transfer until nothing more can happen, at the latest until `until_s` in s or for 10 000 events;
        return the deliveries and the effort by name: `delivered` has the numbers of the pieces in their order, `last_s`
        the time of the last new one, `sent` and `answered` the numbers of datagrams of both ends, `most_ahead` the
        most pieces that the sender had sent beyond those delivered when the newest ACK was made, `again_at_acks` the
        pieces that it sent again when an ACK came, `silent_timers` its timers with pieces in flight at which it sent
        nothing, and `last_ack` the first byte of the last ACK.
        """
        for end in (RECEIVER, SENDER):
            self._call(end, "on_start", 0, self._programs[end])
        events = 0
        now_ns = 0
        while events < MAX_EVENTS and now_ns < until_s * NS_PER_S:
            events += 1
            arrives_ns = self._coming[0][0] if self._coming else NO_TIMER
            timer_ns = min(self._timers_ns)
            now_ns = min(arrives_ns, timer_ns)
            if now_ns == NO_TIMER:
                break
            if arrives_ns <= timer_ns:
                _, _, end, data, delivered = heapq.heappop(self._coming)
                self._acknowledged = max(self._acknowledged, delivered if end == SENDER else 0)
                self._call(end, "on_datagram", now_ns, now_ns / NS_PER_S, data)
            else:
                end = self._timers_ns.index(timer_ns)
                self._call(end, "on_timer", now_ns, now_ns / NS_PER_S)
        return {
            # Keep one piece more than there are, which shows that too many were delivered.
            "delivered": self._pieces.delivered[: len(self._pieces.numbers) + 1],
            "last_s": self._pieces.last_s,
            "sent": self._sent[SENDER],
            "answered": self._sent[RECEIVER],
            "shapeless": self._shapeless,
            "numbers": [list(each) for each in self._numbers],
            "first_flight": self._first_flight,
            "most_ahead": self._most_ahead,
            "again_at_acks": self._again_at_acks,
            "silent_timers": self._silent_timers,
            "last_ack": self._last_ack,
            "ends": now_ns == NO_TIMER,
            "sends_on": now_ns != NO_TIMER and 2 * self._last_sent_ns > now_ns,
        }

    def _call(self, end: int, method: str, now_ns: int, *given: Any) -> None:
        """Call a method of the program at an end (0: sender, 1: receiver) at this time, with the arguments `given`
        after it, if the program has the method; then take its timer and send its datagrams.
        """
        program = self._programs[end]
        program.wake(now_ns, method == "on_timer")
        if self._callers[end].has(method):
            self._callers[end].call(method, now_ns, *given)
        self._timers_ns[end], outgoing = program.take()
        if end == SENDER:
            is_waiting = self._highest >= self._acknowledged
            self._silent_timers += method == "on_timer" and is_waiting and not outgoing
        for data in outgoing:
            if end == SENDER:
                self._note_piece(self._pieces.numbers.get(data[1:], -1), at_ack=method == "on_datagram")
            self._send(end, now_ns, data)

    def _note_piece(self, number: int, *, at_ack: bool) -> None:
        """Note that the sender sends the piece with this number (from 0; -1 for unknown data), with `at_ack` when an ACK
        came, to tell later which mistake a sender makes.
        """
        self._again_at_acks += at_ack and 0 <= number <= self._highest
        self._highest = max(self._highest, number)
        self._most_ahead = max(self._most_ahead, self._highest + 1 - self._acknowledged)

    def _send(self, end: int, now_ns: int, data: bytes) -> None:
        """Count a datagram of an end (0: sender, 1: receiver), and put it on its way to the other one at this time with
        the delay of the schedule, once, twice, or not at all.
        """
        self._sent[end] += 1
        self._last_sent_ns = now_ns
        self._first_flight += end == SENDER and now_ns == 0
        if len(self._numbers[end]) < REPORTED_NUMBERS:
            self._numbers[end].append(data[0])
        if end == SENDER and not self._shapeless and data[1:] not in self._pieces.numbers:
            self._shapeless = self._sent[end]
        if end == RECEIVER and data:
            self._last_ack = data[0]
        name = f"{NAMES[end]} {self._sent[end]}"
        if name in self._lost:
            return
        at_ns = now_ns + round((ONE_WAY_S + self._late_s.get(name, 0.0)) * NS_PER_S)
        for _ in range(1 + (name in self._twice)):
            self._order += 1
            heapq.heappush(self._coming, (at_ns, self._order, 1 - end, data, self._pieces.different))
