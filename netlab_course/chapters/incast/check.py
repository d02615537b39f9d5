"""The checks of the chapter "Incast", for one student's numbers. The answers are below."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pandas as pd

from netlab import theory
from netlab.base.headers import FRAME_BYTES, MSS_BYTES
from netlab.base.units import MS_PER_S
from netlab_course.chapters.incast.designs import (
    bound_in_words,
    bound_ms,
    control_names,
    make_design,
    number_in_words,
    queue_capacities,
    queue_disciplines,
    room_slips,
    sysctls_in_words,
)
from netlab_course.chapters.incast.settings import (
    EVERY_S,
    INITIAL_WINDOW,
    LEAST_REST_MS,
    MIN_RTO,
    MIN_WINDOW,
    QUERIES,
    RATE_MBPS,
    ROOM_BELOW,
    RTT_MS,
    SPARE_MS,
    SPARE_PACKETS,
    TIMER_TICKS_MS,
    claimed_scenario,
    fitting_servers,
    ideal_ms,
    largest_block,
    least_bound_ms,
    least_room,
    segments,
)
from netlab_course.checks import Number
from netlab_course.conditions import Condition
from netlab_course.function_checks import Function
from netlab_course.misconceptions import formula_slips, slips
from netlab_course.own_numbers import StudentValues
from netlab_course.repetition import Repetition
from netlab_course.statements import Statement

LAST_QUERY_S = (QUERIES - 1) * EVERY_S


def last_query_ms(table: pd.DataFrame, before_s: float = LAST_QUERY_S) -> pd.Series[float]:
    """Return the time in ms of the slowest answer to the last query by seed, from a table of `netlab.repeat`; `before_s`
    is the time in s from the start of the run to that query.
    """
    return MS_PER_S * (table.groupby("seed")["completion_s"].max() - before_s)


def _largest_bound_ms(limit_ms: float, short_ms: float, slowest_ms: float) -> float:
    """Return the largest bound of the timer in ms with which the slowest query takes at most `limit_ms`, if it takes
    `slowest_ms` with the bound `short_ms`; 2 ms are left for the ticks of the timer.
    """
    return limit_ms - (slowest_ms - short_ms) - TIMER_TICKS_MS


def _bound_check() -> Function:
    """Return the check of the function that computes the largest bound of the timer."""
    return Function(
        name="the largest bound",
        reference=_largest_bound_ms,
        cases=[
            {"limit_ms": 60, "short_ms": 10, "slowest_ms": 22.5},
            {"limit_ms": 40, "short_ms": 5, "slowest_ms": 19},
            {"limit_ms": 120, "short_ms": 20, "slowest_ms": 28.4},
        ],
        unit="ms",
        tolerance=0.005,
        misconceptions=formula_slips(
            lambda q: q.limit_ms - q.slowest_ms - TIMER_TICKS_MS,
            "The slowest query waited for the short bound, too. Only what comes on top of it stays.",
            lambda q: q.limit_ms - q.slowest_ms,
            "The slowest query waited for the short bound, too. Only what comes on top of it stays.",
            lambda q: q.limit_ms - (q.slowest_ms - q.short_ms),
            "Leave 2 ms more for the ticks of the timer.",
            lambda q: q.limit_ms - q.short_ms,
            "This takes away the short bound. What does the slowest query do besides waiting for it?",
            lambda q: q.limit_ms - q.short_ms - TIMER_TICKS_MS,
            "This takes away the short bound. What does the slowest query do besides waiting for it?",
            lambda q: q.limit_ms,
            "This is the limit itself, and a late answer does more than wait.",
            lambda q: q.limit_ms * q.short_ms / q.slowest_ms,
            "What comes on top of the bound does not grow with it.",
        ),
        right="Now try it in your rack.",
        hints=[
            "Which part of slowest_ms is not the bound?",
            "That part stays, whatever the bound is. What does it leave of the limit?",
            "Subtract from the limit what comes on top of the short bound, and the ticks.",
        ],
    )


def _room_packets(servers: int, rate_mbps: float, rtt_ms: float) -> float:
    """Return the packets for which a queue needs room if so many servers send their smallest windows at once over a
    path with this rate in Mbit/s and round-trip time in ms.
    """
    return MIN_WINDOW * servers - theory.bdp_bytes(rate_mbps, rtt_ms) / FRAME_BYTES


def _room_check() -> Function:
    """Return the check of the function that computes the room for the smallest windows."""

    def on_path(q: SimpleNamespace) -> float:
        """Return the packets on the path of a trial."""
        return theory.bdp_bytes(q.rate_mbps, q.rtt_ms) / FRAME_BYTES

    return Function(
        name="the least room",
        reference=_room_packets,
        cases=[
            {"servers": 100, "rate_mbps": 1000, "rtt_ms": 0.1},
            {"servers": 60, "rate_mbps": 1000, "rtt_ms": 0.3},
            # The path holds so many packets here that data in place of whole frames gives another number.
            {"servers": 60, "rate_mbps": 10_000, "rtt_ms": 0.1},
        ],
        unit="packets",
        tolerance=0.02,
        misconceptions=formula_slips(
            lambda q: MIN_WINDOW * q.servers,
            "Packets on the path need no room in the queue.",
            lambda q: q.servers - on_path(q),
            "The smallest window is more than one segment.",
            lambda q: INITIAL_WINDOW * q.servers - on_path(q),
            "This is with the window of a new connection; DCTCP goes on with a smaller one.",
            lambda q: MIN_WINDOW * q.servers + on_path(q),
            "What is on the path does not wait in the queue: it is subtracted.",
            lambda q: MIN_WINDOW * q.servers - theory.bdp_bytes(RATE_MBPS, RTT_MS) / FRAME_BYTES,
            "8.26 packets are on the path of the rack alone. Are rate_mbps and rtt_ms used?",
            lambda q: MIN_WINDOW * q.servers - theory.bdp_bytes(q.rate_mbps, q.rtt_ms) / MSS_BYTES,
            f"A packet on the path has {FRAME_BYTES} bytes: its {MSS_BYTES} bytes of data, and headers.",
            lambda q: MIN_WINDOW * (q.servers - on_path(q)),
            "The packets on the path are subtracted once, from the windows of all servers together.",
        ),
        right="Round it up, and try it in your rack.",
        hints=[
            "How few packets can all servers together have on the way, and where are those?",
            "With its smallest window a server still sends two segments. Not all of them wait in the queue: some are on the path.",
            "All smallest windows together, less the bandwidth-delay product in frames of 1514 bytes.",
        ],
    )


class Checks:
    """The checks of the chapter "Incast", each an attribute, for one student's numbers."""

    def __init__(self, own: StudentValues) -> None:
        """Make each check of the chapter an attribute, with the student's own numbers."""
        self.ideal = Function(
            name="ideal time",
            same_as=(ideal_ms,),
            reference=ideal_ms,
            cases=[
                {"servers": 12, "response_bytes": 64_000, "rate_mbps": 1000, "rtt_ms": 2},
                {"servers": 40, "response_bytes": 16_000, "rate_mbps": 10_000, "rtt_ms": 0.05},
                {"servers": 3, "response_bytes": 250_000, "rate_mbps": 100, "rtt_ms": 2},
            ],
            unit="ms",
            tolerance=0.005,
            misconceptions=formula_slips(
                lambda q: 8 * q.servers * q.response_bytes / (1000 * q.rate_mbps) + q.rtt_ms,
                "Headers take the link's time, too: each 1448 bytes are a frame of 1514.",
                lambda q: ideal_ms(q.servers, q.response_bytes, q.rate_mbps, q.rtt_ms) - q.rtt_ms,
                "The link is idle until the first answer is there: a round trip is missing.",
                lambda q: ideal_ms(1, q.response_bytes, q.rate_mbps, q.rtt_ms),
                "This is the time for one server; all answers cross the same link.",
                lambda q: ideal_ms(q.servers, q.response_bytes, q.rate_mbps, q.rtt_ms / 2),
                "The request has to get there as well: a whole round trip, not half of one.",
                lambda q: (ideal_ms(q.servers, q.response_bytes, q.rate_mbps, 0)) / 8 + q.rtt_ms,
                "A response has bytes, a rate counts bits: a byte has 8 bits.",
                lambda q: ideal_ms(q.servers, MSS_BYTES * segments(q.response_bytes), q.rate_mbps, q.rtt_ms),
                "The last frame of a response is not full: it has what is left of the data. Only whole frames have 1514 bytes.",
            ),
            right="For sixteen servers of the first part this is 4.4 ms.",
            hints=[
                "How many bits cross the link, headers included, and how long does the link need for them?",
                "1 Mbit/s is 1000 bit per ms.",
                "Turn the data of all answers into bits on the link: a frame is longer than its data. Then a round trip.",
            ],
        )
        fitting = fitting_servers(own.drop_queue, 1000 * own.drop_kb)
        block = largest_block(1000 * own.drop_kb)
        first = math.floor(fitting) + 1
        self.first_drop = Number(
            name="servers at which drops begin",
            same_as=(fitting_servers, largest_block),
            expected=float(first),
            unit="",
            tolerance=0.3 / first,
            whole=True,
            misconceptions=slips(
                math.floor(fitting * block / INITIAL_WINDOW) + 1,
                "This is for the first burst alone. What do its acknowledgements send after it?",
                math.floor(fitting * block / segments(1000 * own.drop_kb)) + 1,
                "This is as if all segments came at once. While the window grows, the link empties the queue.",
                first - 1,
                "With so many the last packet just fits, if packets on the path count, too. Which number is the first too large?",
                first + 1,
                "One fewer is too many already if servers send as soon as they may. In a run they may wait, to send larger pieces: "
                "that is not in the formula.",
            ),
            right="With fewer servers nothing is dropped. The next cell tries it.",
            hints=[
                f"A response has ceil(bytes / {MSS_BYTES}) segments; W come at once. How many must leave so that the others can come?",
                "The queue is longest when the last packet comes: from all packets subtract those that have left and those on the path.",
                "Divide the room in the queue and on the path by what one server adds. Asked for is the first number that does not fit.",
            ],
        )
        self.bound = _bound_check()
        self.timer_runs = make_design(
            "the timer alone",
            own,
            own.timer_ms,
            Condition(
                lambda runs: queue_disciplines(runs) == ["fifo"] and control_names(runs) == ["cubic"],
                "Only the bound may differ: the queue must be drop-tail, and all servers must use CUBIC.",
                "Leave out aqm= and congestion=.",
                lambda runs: ", ".join((*queue_disciplines(runs), *control_names(runs))),
            ),
            Condition(
                lambda runs: (
                    len(sysctls_in_words(runs)) == 1
                    and all([*run.scenario["sysctls"]] == [MIN_RTO] for run in runs.values())
                ),
                f"All runs must set {MIN_RTO} to the same number, and no other sysctl.",
                "Use one dict of sysctls for all seeds.",
                lambda runs: "; ".join(filter(None, sysctls_in_words(runs))) or "no sysctls",
            ),
            runs_name="timer_runs",
            set_number=bound_ms,
            computed=Condition(
                lambda found: least_bound_ms(own) <= found.number <= own.timer_ms - LEAST_REST_MS,
                "The bound must be the limit less all that a late answer takes besides its wait, and less the 2 ms, or up to "
                f"{SPARE_MS} ms below.",
                "largest_bound_ms computes it, from the slowest query of your rack with the bound of 5 ms.",
                lambda found: bound_in_words(found.number, own),
            ),
            right="As many packets are lost as before, but a server no longer waits 200 ms to send one again.",
            hints=[
                "What does a server wait for when nothing is on its way any more, and which number bounds that wait from below?",
                "A late answer takes the bound and what happens before and after the wait. How long is that in your rack with 5 ms?",
                "The rest of that time happens before and after the wait, whatever the bound is. What does it leave of the limit?",
            ],
        )
        self.room = _room_check()
        self.marks_runs = make_design(
            "without the timer",
            own,
            own.marks_ms,
            Condition(
                lambda runs: not any(sysctls_in_words(runs)),
                "No sysctl may be set, so that the minimum of the timer is 200 ms as before.",
                "Leave out sysctls=.",
                lambda runs: "; ".join(filter(None, sysctls_in_words(runs))),
            ),
            runs_name="marks_runs",
            set_number=lambda runs: queue_capacities(runs)[-1],
            computed=Condition(
                lambda found: -ROOM_BELOW <= found.number - math.ceil(least_room(own.servers)) <= SPARE_PACKETS,
                f"The room must follow from the smallest windows, to at most {SPARE_PACKETS} packets more.",
                "room_packets computes it, for your servers.",
                lambda found: number_in_words(found.number, "packets", room_slips(own)),
            ),
            any_room=True,
            right="The servers learn of the queue before it is full, so that a timer is hardly ever needed.",
            hints=[
                "The queue must tell the servers before it drops, and they must answer how much it tells them.",
                "With its smallest window a server still sends two segments. Not all of them wait in the queue: some are on the path.",
                "Take the room that your function gives, rounded up. Then try thresholds well below it.",
            ],
        )
        self.repeated = self._repetition_check(own)

    @staticmethod
    def _repetition_check(own: StudentValues) -> Repetition:
        """Return the check of the repeated measurement of the last query with DCTCP in the rack of a student's
        numbers.
        """
        wrong = SimpleNamespace(
            first=lambda table: MS_PER_S * (table.groupby("seed")["completion_s"].mean() - LAST_QUERY_S),
            from_start=lambda table: last_query_ms(table, 0),
            all_pauses=lambda table: last_query_ms(table, QUERIES * EVERY_S),
        )
        return Repetition(
            name="the ideal time, or later",
            scenario=lambda: claimed_scenario(own),
            made_by="The cell above, `claimed`,",
            values=last_query_ms,
            expected=lambda _table: ideal_ms(own.servers),
            unit="ms",
            is_bound=True,
            compared="the ideal time",
            statement=Statement(own.stated_ms, above=False),
            slips={
                "this is the mean of all servers, and the query ends with the slowest: max()": wrong.first,
                "this counts from the start of the run; the 20th query comes 19 * 0.5 s later": wrong.from_start,
                "the 20th query comes after 19 pauses of 0.5 s, not 20": wrong.all_pauses,
            },
            right="DCTCP is nearly ideal, and the interval is narrow enough to show by how much it is not.",
            hints=[
                'my_table.groupby("seed")["completion_s"].max() is the end of the last answer in s, for each seed.',
                "Theory: your function ideal_ms with own.servers.",
            ],
        )
