"""The checks of the chapter "Why is 95 % too much?". The formulas are below."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd

from netlab import theory
from netlab.base import bisection
from netlab.base.units import ms_to_s
from netlab.runs.replications import interval
from netlab_course.chapters.load_and_delay import settings
from netlab_course.chapters.load_and_delay.experiments import by_formula_ms
from netlab_course.checks import Number, right_number
from netlab_course.conditions import Condition
from netlab_course.function_checks import Function
from netlab_course.misconceptions import Misconception, slips
from netlab_course.own_numbers import StudentValues
from netlab_course.repetition import Repetition
from netlab_course.statements import Statement


def _service_ms(rate_mbps: float, payload_bytes: int) -> float:
    """Return the time in ms that a UDP datagram with this payload takes on a link of this rate, headers included."""
    return theory.transmission_delay_ms(theory.udp_wire_bytes(payload_bytes), rate_mbps)


def _load(rate_mbps: float, payload_bytes: int, offered_mbps: float) -> float:
    """Return the load of a link, the share of the time (0 to 1) in which it is busy, with datagrams of this payload
    that offer `offered_mbps` of data.
    """
    return offered_mbps / theory.udp_goodput_limit_mbps(rate_mbps, payload_bytes)


def _with_wait(share: float, own_ms: float = 1.0) -> Callable[[float, int, float], float]:
    """Return a wrong formula of the mean delay in ms, which counts the share `share` (0.5 is right) of the packet in
    transmission, and the share `own_ms` (1 is right) of the packet's own time on the link.
    """

    def wrong(rate_mbps: float, payload_bytes: int, offered_mbps: float) -> float:
        """Return the wrong mean delay in ms of datagrams with this payload that offer `offered_mbps` of data to a
        link.
        """
        load, service_ms = _load(rate_mbps, payload_bytes, offered_mbps), _service_ms(rate_mbps, payload_bytes)
        return service_ms * (load / (1 - load) * share + own_ms)

    return wrong


def _headers_forgotten(rate_mbps: float, payload_bytes: int, offered_mbps: float) -> float:
    """Return the mean delay in ms of datagrams with this payload on a link, with the mistake that headers count neither
    in the load nor in the time on the link.
    """
    load, service_ms = offered_mbps / rate_mbps, theory.transmission_delay_ms(payload_bytes, rate_mbps)
    return service_ms * (load / (1 - load) / 2 + 1)


def _headers_of_time_only(rate_mbps: float, payload_bytes: int, offered_mbps: float) -> float:
    """Return the mean delay in ms of datagrams with this payload on a link, with the mistake that headers do not count
    in the load.
    """
    load, service_ms = offered_mbps / rate_mbps, _service_ms(rate_mbps, payload_bytes)
    return service_ms * (load / (1 - load) / 2 + 1)


LateShare = Callable[[float, float, float], float]
"""A formula of the share of late packets: its arguments are the load, and in ms the packet's time on the link and the limit."""


def exact_share(load: float, service_ms: float, limit_ms: float) -> float:
    """Return the share of packets (0 to 1) that are late if wait and time on the link together have this limit."""
    return float(theory.late_share(load, service_ms, max(0.0, limit_ms - service_ms)))


def share_that_waits(load: float, service_ms: float, limit_ms: float) -> float:
    """Return the share of late packets (0 to 1) with the mistake that the limit is for the wait alone."""
    return float(theory.late_share(load, service_ms, limit_ms))


def share_near_full_load(load: float, service_ms: float, limit_ms: float) -> float:
    """Return the share of late packets (0 to 1) by the formula for loads near 1, exp(-wait / mean wait)."""
    return math.exp(-(limit_ms - service_ms) / float(theory.mean_wait_ms(load, service_ms)))


def both_mistakes(load: float, service_ms: float, limit_ms: float) -> float:
    """Return the share of late packets (0 to 1) by the formula for loads near 1, with the limit for the wait alone."""
    return math.exp(-limit_ms / float(theory.mean_wait_ms(load, service_ms)))


def share_of_ten(load: float, service_ms: float, limit_ms: float) -> float:
    """Return the share of late packets (0 to 1), divided by ten: with it ten times as many may be late as asked for."""
    return exact_share(load, service_ms, limit_ms) / 10


def mean_is_late(load: float, service_ms: float, limit_ms: float) -> float:
    """Return 0 if wait and time on the link together are within this limit on average, and 1 if not, with the mistake
    that the mean stands for the share.
    """
    return float(float(theory.mean_wait_ms(load, service_ms)) + service_ms > limit_ms)


def calls_that_fit(own: StudentValues, packet_bytes: float, share: LateShare = exact_share) -> float:
    """Return the number of calls that fit on the line of a student's numbers, before it is rounded down, if each
    datagram of a call takes `packet_bytes` of the line, and the formula `share` gives the share of late packets.
    """
    service_ms = theory.transmission_delay_ms(packet_bytes, own.line_rate_mbps)
    return _max_load(service_ms, own.late_ms, share) / _load_of_a_call(service_ms)


@functools.lru_cache(maxsize=1024)  # the draw of a copy asks for combinations that its checks ask for again
def _max_load(service_ms: float, limit_ms: float, share: LateShare) -> float:
    """Return the largest load (0 to 1) at which few enough packets are late by the formula `share`, if each takes
    `service_ms` ms of the line and wait and time on the link together have the limit `limit_ms`.
    """
    return bisection.bisect_largest(lambda load: share(load, service_ms, limit_ms) <= settings.LATE_SHARE, 0.01, 0.999)


def _load_of_a_call(service_ms: float) -> float:
    """Return the share of the time (0 to 1) in which a call keeps the line busy, if each of its datagrams takes
    `service_ms` ms.
    """
    return settings.CALL_PACKETS_PER_S * ms_to_s(service_ms)


_WAIT_ALONE = "The limit is for wait and time on the line together: how long may the wait be?"
MIN_CALLS = 4
"""The smallest number of calls in a copy. With fewer, at most a third of the line is used, and one more call makes the share of
late packets up to five times as large, not about twice."""
_NEAR_FULL_LOAD = (
    "exp(-wait / mean wait) is for loads near 1, where the limit is many packets long. Which formula holds for a few?"
)


_TEN_PER_CENT = "This lets 10 of 100 datagrams be late; 1 may be."
_MEAN_ALONE = "This keeps the mean delay within the limit. How many datagrams take longer than that?"
_ONE_OFF = (
    "It is one call off. Which number is the last in time: is the share of late datagrams right on both sides of it?"
)


def _by_number(*pairs: tuple[float, str]) -> list[Misconception]:
    """Return misconceptions from numbers of calls, before they are rounded down, and messages; messages about the same
    number become one.
    """
    found: dict[int, str] = {}
    for exactly, sentence in pairs:
        number = int(exactly)
        if sentence not in found.get(number, ""):
            found[number] = f"{found[number]} Or: {sentence}" if number in found else sentence
    return [Misconception(number, sentence) for number, sentence in found.items()]


@dataclass(kw_only=True, repr=False)
class _Calls(Number):
    """A check of an integer number of calls, which is found by measurement."""

    exactly: float
    """The number before it is rounded down."""

    def tells_apart(self) -> bool:
        """Return whether a measurement can decide the answer (its fraction is between 0.3 and 0.7), enough calls fit, and
        no known mistake gives the right number.
        """
        wrong = [answer for answer, _ in self.mistakes()]
        return self.exactly >= MIN_CALLS and 0.3 < self.exactly % 1 < 0.7 and right_number(self) not in wrong


class Checks:
    """The checks of the chapter "Why is 95 % too much?", each an attribute, for one student's numbers."""

    def __init__(self, own: StudentValues) -> None:
        """Make each check of the chapter an attribute, with the student's own numbers."""
        self.mean_delay = Function(
            name="mean delay",
            same_as=(theory.mean_wait_ms, theory.relaxation_ms, theory.late_share, by_formula_ms),
            reference=by_formula_ms,
            cases=[
                {
                    "rate_mbps": own.worked_rate_mbps,
                    "payload_bytes": own.worked_payload_bytes,
                    "offered_mbps": own.worked_mbps,
                },
                {"rate_mbps": 5, "payload_bytes": 1000, "offered_mbps": 4.5},
                {"rate_mbps": 1, "payload_bytes": 172, "offered_mbps": 0.6},
                {"rate_mbps": 100, "payload_bytes": 1472, "offered_mbps": 10},
            ],
            unit="ms",
            tolerance=0.002,
            misconceptions=slips(
                _with_wait(0.5, own_ms=0.0),
                "This is the wait alone. The delay ends when the packet's own last bit has left.",
                _with_wait(1.0),
                "This counts the whole time of the packet that is on the link. You come at any moment of it: how much is left on "
                "average?",
                _with_wait(1.0, own_ms=0.0),
                "This is the wait alone, and it counts the whole time of the packet that is on the link. You come at any moment of it.",
                _headers_forgotten,
                "The headers are missing: 42 bytes of each packet are on the link too.",
                _headers_of_time_only,
                "The time on the link includes the headers, the load does not: it is the share of the time in which the link is busy.",
            ),
            right="At a load of 0 it is the time on the link, near a load of 1 it has no bound.",
            hints=[
                "First the time of one packet on the link, sigma: its bytes with 42 bytes of headers, times 8, over the rate.",
                "The load is packets per second times sigma. How many packets per second is the offered rate?",
                "Sizes are equal: which part of sigma is left on average when one comes? That gives the wait. The delay ends later.",
            ],
        )
        made = Repetition(
            name="delay at 90 %",
            scenario=lambda: settings.busy(own),
            made_by="one_size(0.9, duration_s, own.busy_rate_mbps)",
            values=lambda table: table.set_index("seed")["delay_ms"],
            expected=lambda table: by_formula_ms(own.busy_rate_mbps, settings.PAYLOAD_BYTES, _offered_mbps(table)),
            unit="ms",
            statement=Statement(own.stated_ms, above=False),
            right=(
                "To halve the interval, the runs must last four times as long. At a load of 95 % they must last about four times as long "
                "for the same per cent."
            ),
            hints=[
                "Start with 10 seeds of 10 s. How wide is the interval? It shrinks with the root of the time.",
                "Longer runs rather than more of them: a run begins with an empty queue, and many seeds do not cure that.",
            ],
        )
        made.conditions = [
            *made.conditions,
            Condition(
                lambda found: _relative_half(made.values(found.table)) <= settings.ACCURACY,
                f"Half of the interval must be at most {100 * settings.ACCURACY:g} % of the mean.",
                "Give one_size(0.9, duration_s, own.busy_rate_mbps) more seconds, or nl.repeat more seeds.",
                lambda found: f"{100 * _relative_half(made.values(found.table)):.2g} %",
            ),
        ]
        self.busy = made
        wire_bytes = theory.udp_wire_bytes(own.call_bytes)
        exactly = calls_that_fit(own, wire_bytes)
        service_ms = settings.call_service_ms(own)
        self.calls = _Calls(
            name="calls that fit",
            expected=int(exactly),
            exactly=exactly,
            unit="calls",
            tolerance=0.4 / max(1, int(exactly)),
            whole=True,
            measured=True,
            harmless=lambda number: number == int(number) and 1 <= number < 1 / _load_of_a_call(service_ms),
            misconceptions=_by_number(
                (
                    1 / _load_of_a_call(service_ms),
                    "The line can carry so many calls. But then it is nearly always busy: how long do they wait?",
                ),
                (
                    calls_that_fit(own, own.call_bytes),
                    "The headers are missing: 42 bytes of each datagram are on the line too.",
                ),
                (calls_that_fit(own, wire_bytes, share_that_waits), _WAIT_ALONE),
                (calls_that_fit(own, wire_bytes, share_near_full_load), _NEAR_FULL_LOAD),
                (calls_that_fit(own, wire_bytes, both_mistakes), _NEAR_FULL_LOAD),
                (calls_that_fit(own, wire_bytes, share_of_ten), _TEN_PER_CENT),
                (calls_that_fit(own, wire_bytes, mean_is_late), _MEAN_ALONE),
                (int(exactly) - 1, _ONE_OFF),
                (int(exactly) + 1, _ONE_OFF),
            ),
            right="The line has room for more, but not for calls that must be in time.",
            hints=[
                "Each call brings 50 datagrams a second. How long is one of them on the line? That gives the load of a call.",
                (
                    "The limit is for wait and time on the line together. How many packets long is the wait that it leaves? By this one of "
                    "the two formulas of this part holds."
                ),
                (
                    "Take the numbers of calls one by one: the load, and by the formula the share that is late. Then run the last number "
                    "that is in time, and one more."
                ),
            ],
        )


def _relative_half(values: pd.Series[float]) -> float:
    """Return the half width of the 95 % interval of the values' mean, divided by that mean."""
    mean, half = interval(values)
    return half / mean


def _offered_mbps(table: pd.DataFrame) -> float:
    """Return the offered rate in Mbit/s of the first flow of the scenario that a table of `netlab.repeat` repeats."""
    found: float = table.attrs["scenario"]["traffic"][0]["rate_mbps"]
    return found
