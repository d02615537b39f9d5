"""Checks of the chapter "Build a reliable transfer", with their formulas."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from types import EllipsisType, FunctionType
from typing import Any, cast

import pandas as pd

from netlab import theory
from netlab.base.errors import NetlabError
from netlab.base.values import short_repr
from netlab.traffic.own import own_name
from netlab.traffic.program import PROGRAM_METHODS
from netlab_course.answers import answer_in_words, error_in_words, is_stub
from netlab_course.chapters.reliable_transfer import channel, programs, schedules
from netlab_course.chapters.reliable_transfer.programs import NUMBERS
from netlab_course.chapters.reliable_transfer.settings import tcp_scenario
from netlab_course.checks import Check, Result, Status
from netlab_course.function_checks import MAX_CALL_S, Function
from netlab_course.library_calls import NOT_COUNTED, calls_one_of
from netlab_course.misconceptions import slips
from netlab_course.output_limit import last_lines
from netlab_course.own_numbers import StudentValues
from netlab_course.repetition import Repetition
from netlab_course.statements import Statement
from netlab_user_code.time_limit import TimeIsUpError, call_within

HEADER_BYTES = 42
SCHEDULE_ENTRIES = ("pieces", "lost", "twice", "late_s")
MAX_PIECES = 300
MAX_LATE_S = 100.0
MAX_NAMED = 2
"""Datagrams that a student's schedule may name: with more of them one schedule would break the protocols of several copies."""


@dataclass(kw_only=True, repr=False)
class Transfer(Function):
    """A check of two programs that must deliver everything once and in order, whatever a schedule loses, duplicates and
    delays.

    The answer comes from `channel.protocol`; `cases` are schedules.
    """

    reference: Callable[..., float] = lambda **_case: 0.0
    unit: str = ""
    tolerance: float = 0.0
    written: Sequence[str] = ("sender",)
    """The ends that the student writes, "sender" or "receiver"; the other one is netlab's."""

    def arguments(self, case: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments, by name, of a trial with the schedule `case`: its entries `pieces`, `window`, `lost`,
        `twice`, `late_s` and `until_s`, without its limits and its advice.
        """
        return {name: case[name] for name in schedules.GIVEN}

    def transfer(self, ends: Sequence[Any], **arguments: Any) -> dict[str, Any]:
        """Run a schedule, whose `arguments` are those of `channel.transfer` (a window is ignored), between the programs
        `ends` (sender, receiver), and return the values of `channel.transfer` by name.
        """
        return channel.transfer(ends, **{name: value for name, value in arguments.items() if name != "window"})

    def _judge(self, answer: object) -> Result:
        """Return the verdict on what `channel.protocol` returned, by all schedules; only the last 20 lines that the
        student's code prints are shown.
        """
        # A plain function could return a result without any transfer.
        if not callable(answer) or isinstance(answer, (type, FunctionType)):
            form = "protocol(MySender, MyReceiver)"
            return self._result(Status.FAILED, f"expected what {form} returns, got {answer_in_words(answer)}.")
        with last_lines():
            return self._judge_trials(answer)

    def _judge_trials(self, answer: Callable[..., Any]) -> Result:
        """Return the verdict on a function that takes the arguments of a schedule by name and returns the values of
        `channel.transfer`: failed by the first schedule which it does not survive, or else passed.
        """
        for case in self.cases:
            complaint = self._complaint(answer, case)
            if isinstance(complaint, Result):
                return complaint
            if complaint:
                still = ", ".join(self._unwritten(answer))
                return self._result(
                    Status.FAILED,
                    f"schedule: {schedules.in_words(case)}. Here {complaint[0]}",
                    f"Not written yet: {still}." if still else complaint[1],
                )
        all_pass = f"all {len(self.cases)} schedules: each piece is delivered once, in order."
        return self._result(Status.PASSED, all_pass, self.right)

    def doubt_about_origin(self, answer: object) -> str:
        """Return a sentence if a right protocol takes or calls a method of netlab's; "" if not."""
        if not callable(answer) or (self._is_written_out(answer) and not self._delegates(answer)):
            return ""
        return f"it survives all {len(self.cases)} schedules. {NOT_COUNTED}"

    def _is_written_out(self, answer: Callable[..., Any]) -> bool:
        """Return whether no end of a protocol that the student had to write takes a method from netlab."""
        ends = [getattr(answer, end, None) for end in self.written]
        methods = [getattr(end, name, None) for end in ends for name in PROGRAM_METHODS]
        return not any(str(getattr(method, "__module__", "")).startswith("netlab") for method in methods)

    def _delegates(self, answer: Callable[..., Any]) -> bool:
        """Return whether a protocol calls a method of `same_as` in its first schedule, as an object inside an end does."""
        methods = [each for each in self.same_as if "." in each.__qualname__]
        return calls_one_of(answer, self.arguments(self.cases[0]), MAX_CALL_S, methods)

    def _unwritten(self, answer: Callable[..., Any]) -> list[str]:
        """Return the names of a protocol's methods that still do nothing; none for the recorded results of a grader."""
        ends = [end for end in (getattr(answer, name, None) for name in self.written) if end is not None]
        methods = [(end, name, getattr(end, name, None)) for end in ends for name in PROGRAM_METHODS]
        return [f"{own_name(end)}.{name}" for end, name, method in methods if method is not None and is_stub(method)]

    def _complaint(self, trial: Callable[..., Any], case: Mapping[str, Any]) -> tuple[str, str] | Result | None:
        """Run the schedule `case` by the function `trial`; return the fault and the advice, or the whole verdict if the
        trial raised an error or is not attempted, or None if all is right.
        """
        try:
            found = call_within(MAX_CALL_S, trial, **self.arguments(case))
        except TimeIsUpError:
            return f"the transfer took more than {MAX_CALL_S:g} s of computing.", "Does each loop end?"
        except Exception as error:  # noqa: BLE001 (whatever a student's code raises is an answer to comment on)
            text = str(error) if isinstance(error, NetlabError) else error_in_words(error)
            # A number that does not fit into a byte did not wrap.
            more = [case["says"]] if "range(0, 256)" in text else []
            return self._result(Status.FAILED, f"schedule: {schedules.in_words(case)}. {text.strip()}", *more)
        if found is None or isinstance(found, EllipsisType):
            return self._result(Status.NOT_ATTEMPTED, "not attempted yet.")
        try:
            what = schedules.fault(case, found)
            return (what, schedules.advice(case, found)) if what else None
        except (KeyError, TypeError, ValueError):
            return "something came that is not from protocol(MySender, MyReceiver).", ""


@dataclass(kw_only=True, repr=False)
class BreakingSchedule(Check):
    """A check of a schedule that the student writes: a transfer whose numbers count modulo `modulus` must lose, double or
    exchange a piece by it, and stop-and-wait with all 256 numbers must survive it.
    """

    modulus: int
    """The count of different numbers in the protocol that the schedule must break."""
    right: str = ""
    """A sentence for a right answer."""

    def _judge(self, answer: object) -> Result:
        """Return the verdict on a dict with the entries of a schedule, "pieces", "lost", "twice" and "late_s"."""
        if problem := _schedule_problem(answer):
            return self._result(Status.FAILED, problem)
        given = dict(cast("Mapping[str, Any]", answer))
        given["pieces"] = int(given["pieces"])
        case = schedules.schedule("", **given)
        broken, whole = (self._transfer(modulus, given) for modulus in (self.modulus, NUMBERS))
        if broken["delivered"] == list(range(case["pieces"])):
            return self._result(
                Status.FAILED,
                f"numbers modulo {self.modulus} survive this schedule: each of the {case['pieces']} pieces is delivered once, "
                "in order.",
                *_unsent_datagrams(case, broken),
            )
        if whole["delivered"] != list(range(case["pieces"])):
            return self._result(
                Status.FAILED,
                f"numbers modulo {NUMBERS} do not survive this schedule either: {schedules.fault(case, whole)}",
                "Which pieces have the same number in the one protocol and different ones in the other?",
            )
        return self._result(Status.PASSED, schedules.fault(case, broken, self.modulus), self.right)

    @staticmethod
    def _transfer(modulus: int, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the result of `channel.transfer` for stop-and-wait whose numbers count modulo `modulus`, by the
        schedule `given`.
        """
        sender, receiver = programs.stop_and_wait(modulus)
        return channel.transfer((sender(), receiver()), **given)


def _schedule_problem(answer: object) -> str:
    """Return a message about the form of a student's schedule; "" if it is right."""
    if not isinstance(answer, dict) or not set(answer) <= set(SCHEDULE_ENTRIES):
        entries = ", ".join(map(repr, SCHEDULE_ENTRIES))
        got = ", ".join(map(repr, answer)) if isinstance(answer, dict) else answer_in_words(answer)
        return f"expected a dict with entries of {entries}, got {got}."
    pieces, late_s = answer.get("pieces"), answer.get("late_s", {})
    if not _is_real(pieces) or pieces not in range(1, MAX_PIECES + 1):
        return f'"pieces" must be a whole number from 1 to {MAX_PIECES}, got {short_repr(pieces)}.'
    if not isinstance(late_s, dict) or not all(_is_real(each) and 0 <= each <= MAX_LATE_S for each in late_s.values()):
        return f'"late_s" must be a dict with delays from 0 to {MAX_LATE_S:g} s by name, got {short_repr(late_s)}.'
    try:
        names = [name for key in SCHEDULE_ENTRIES[1:] for name in channel.datagram_names(key, answer.get(key, ()))]
    except NetlabError as error:
        return str(error)
    if len(names) > MAX_NAMED:
        return f"at most {MAX_NAMED} datagrams may be lost, doubled or late, got {len(names)}: {', '.join(names[:6])}."
    return ""


def _is_real(value: object) -> bool:
    """Return whether a value is a number of Python or NumPy; bools and texts are not."""
    return isinstance(value, Real) and not isinstance(value, bool)


def _unsent_datagrams(case: Mapping[str, Any], found: Mapping[str, Any]) -> list[str]:
    """Return a sentence for each datagram that the schedule `case` names but the transfer with the result `found` never
    sent.
    """
    sent = {"data": found["sent"], "ack": found["answered"]}
    names = [str(name) for key in SCHEDULE_ENTRIES[1:] for name in case[key]]
    return [
        f'There is no "{name}": with this schedule the sender sends {sent["data"]} datagrams and the receiver {sent["ack"]}.'
        for name in names
        if int(name.split()[1]) > sent[name.split()[0]]
    ]


def window_mbps(window: int, rate_mbps: float, rtt_ms: float, payload_bytes: int) -> float:
    """Return the goodput in Mbit/s of a window of this many datagrams over a lossless path; `rtt_ms` is without the
    time of a datagram on the link.
    """
    return theory.selective_repeat_mbps(window, rate_mbps, rtt_ms, payload_bytes=payload_bytes)


def _parts(rate_mbps: float, payload_bytes: int) -> tuple[float, float]:
    """Return two numbers: the data of a datagram in kbit, and its time in ms on a link of this rate, headers
    included.
    """
    return payload_bytes * 8 / 1000, (payload_bytes + HEADER_BYTES) * 8 / rate_mbps / 1000


def _without_link(window: int, rate_mbps: float, rtt_ms: float, payload_bytes: int) -> float:
    """Return the goodput in Mbit/s of a window of datagrams with the mistake that the link has no limit."""
    kbit, service_ms = _parts(rate_mbps, payload_bytes)
    return window * kbit / (rtt_ms + service_ms)


def _without_service(window: int, rate_mbps: float, rtt_ms: float, payload_bytes: int) -> float:
    """Return the goodput in Mbit/s of a window of datagrams with the mistake that a datagram takes no time on the
    link.
    """
    kbit, service_ms = _parts(rate_mbps, payload_bytes)
    return min(window * kbit / rtt_ms, kbit / service_ms)


def _without_headers(window: int, rate_mbps: float, rtt_ms: float, payload_bytes: int) -> float:
    """Return the goodput in Mbit/s of a window of datagrams with the mistake that there are no headers."""
    kbit = payload_bytes * 8 / 1000
    return min(window * kbit / (rtt_ms + kbit / rate_mbps), rate_mbps)


def _headers_as_data(window: int, rate_mbps: float, rtt_ms: float, payload_bytes: int) -> float:
    """Return the goodput in Mbit/s of a window of datagrams with the mistake that headers count as data."""
    _, service_ms = _parts(rate_mbps, payload_bytes)
    return min(window * service_ms * rate_mbps / (rtt_ms + service_ms), rate_mbps)


def _all_sent_first(window: int, rate_mbps: float, rtt_ms: float, payload_bytes: int) -> float:
    """Return the goodput in Mbit/s of a window of datagrams with the mistake that the round trip begins after the whole
    window is sent.
    """
    kbit, service_ms = _parts(rate_mbps, payload_bytes)
    return window * kbit / (rtt_ms + window * service_ms)


class Checks:
    """The checks of the chapter "Build a reliable transfer", each an attribute, for one student's numbers."""

    def __init__(self, own: StudentValues) -> None:
        """Make each check of the chapter an attribute, with the student's own numbers."""
        self.stop_and_wait = Transfer(
            name="stop-and-wait",
            # Each of these is a stop-and-wait if its window is one.
            same_as=(
                programs.GoBackNSender.fill,
                programs.InOrderReceiver.on_datagram,
                programs.SelectiveSender.fill,
                programs.SelectiveReceiver.on_datagram,
            ),
            cases=schedules.STOP_AND_WAIT,
            written=("sender", "receiver"),
            right="One piece in flight is safe and slow: the path is empty most of the time.",
            hints=[
                "The datagram must say which piece it has: its number is the first byte, the piece is the rest.",
                "The receiver answers every datagram, also one that it has already. It delivers only the one that it waits for.",
                "The sender goes on only if the ACK is for the piece that it waits for. Else it does nothing: the timer will come.",
            ],
        )
        self.schedule = BreakingSchedule(
            name="schedule",
            modulus=own.modulus,
            right="A number may be used again only when no datagram that had it can still be on its way. TCP has numbers of 32 bits, and "
            "on fast paths a time beside them (RFC 7323, section 5).",
            hints=[
                f"Pieces that are {own.modulus} apart have one number. Something of the first must come when an end waits for the other.",
                "Late data is enough: the receiver takes the old piece for the new one. With a late ACK the new piece must also be lost.",
                (
                    "The first piece goes at 0 s, and again when the timer ends; then each round trip brings one. Between which moments "
                    "does the receiver wait for the piece with the number of the first? How much later than usual must the datagram come?"
                ),
            ],
        )
        self.window = Function(
            name="goodput of a window",
            reference=window_mbps,
            cases=[
                {
                    "window": own.worked_window,
                    "rate_mbps": own.worked_rate_mbps,
                    "rtt_ms": own.worked_rtt_ms,
                    "payload_bytes": 1000,
                },
                {"window": 1, "rate_mbps": 1, "rtt_ms": 10, "payload_bytes": 1400},
                {"window": 8, "rate_mbps": 100, "rtt_ms": 200, "payload_bytes": 500},
                {"window": 64, "rate_mbps": 2, "rtt_ms": 100, "payload_bytes": 1000},
            ],
            unit="Mbit/s",
            tolerance=0.005,
            misconceptions=slips(
                _without_link,
                "A large window would be faster than the link. What is the most that it carries?",
                _without_service,
                "A datagram's round trip is longer than the path's: it also takes its own time on the link.",
                _headers_as_data,
                "Goodput is of the payload alone: the headers arrive too, but they are not data.",
                _without_headers,
                "The headers are missing: each datagram has 42 bytes in addition to its payload.",
                _all_sent_first,
                "This waits until the whole window is on the link before the round trip begins. The first ACK comes earlier.",
            ),
            right="Window over round-trip time, up to the link's limit: the same law as TCP's.",
            hints=[
                "In one round trip the window is delivered once. The round trip: the datagram's time on the link, and rtt_ms.",
                "The link's own limit: the payload's part of a frame, times the rate.",
                "Compute both in Mbit/s: kbit over ms. Which of the two decides, for a small window and for a large one?",
            ],
        )
        self.go_back_n = Transfer(
            name="go-back-N",
            same_as=(programs.forward_distance, programs.GoBackNSender.fill, programs.SelectiveSender.fill),
            cases=schedules.GO_BACK_N,
            right="A window in flight, one timer, and a receiver that keeps nothing.",
            hints=[
                "Keep the datagrams in flight in a list, the oldest first, and the number of the oldest.",
                "(data[0] - oldest) % 256 is how many pieces the ACK takes off the list. More than are in flight: it is an old ACK.",
                "When the list gets shorter: fill the window, and set the timer anew if something is in flight, else switch it off.",
            ],
        )
        self.selective_repeat = Transfer(
            name="selective repeat",
            same_as=(programs.forward_distance, programs.SelectiveReceiver.on_datagram),
            cases=schedules.SELECTIVE_REPEAT,
            written=("receiver",),
            right="Only what was not acknowledged goes again. The price is a buffer at the receiver, and a timer for each piece.",
            hints=[
                "Keep early pieces in a dictionary by their number. Deliver while the one that you wait for is in it.",
                "Answer every datagram with its own number, also one from behind the window.",
                "How far ahead of the piece that you wait for is it, modulo 256? Up to which distance is it new? Any other is old.",
            ],
        )
        self.beside = Repetition(
            name="TCP on the same path",
            scenario=lambda: tcp_scenario(own),
            made_by="tcp_alone",
            values=lambda table: table.set_index("seed")["goodput_mbps"],
            expected=lambda table: _selective_mbps(own, table),
            unit="Mbit/s",
            compared="the limit",
            statement=Statement(own.stated_mbps),
            right="The same path, the same losses: the difference is in what a sender does after a loss.",
            hints=[
                "my_table = nl.repeat(tcp_alone, seeds=10) has one row a seed.",
                "Selective repeat with a large window gets the link's limit times (1 - loss_rate).",
            ],
        )


def _selective_mbps(own: StudentValues, _table: pd.DataFrame) -> float:
    """Return the goodput in Mbit/s of selective repeat with a window that fills the path, with the rate and the losses
    of a student's numbers; the table of the repeated measurement does not matter.
    """
    limit: float = theory.udp_goodput_limit_mbps(own.rate_mbps, 1000) * (1 - own.loss_percent / 100)
    return limit
