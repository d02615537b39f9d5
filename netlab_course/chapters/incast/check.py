"""The checks of the chapter "Incast", for one student's numbers. The answers are below."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from types import SimpleNamespace

import pandas as pd

from netlab.base.headers import MSS_BYTES
from netlab.base.units import MS_PER_S
from netlab.measure.results import Run
from netlab.runs.scenario import Scenario
from netlab_course.chapters.incast.experiments import later_ms
from netlab_course.chapters.incast.settings import (
    ASKS,
    DURATION_S,
    EVERY_S,
    INITIAL_WINDOW,
    asks,
    claimed_scenario,
    fitting_servers,
    ideal_ms,
    largest_block,
    rack,
    segments,
)
from netlab_course.checks import Function, Number, formula_slips, slips
from netlab_course.conditions import Condition, Measurement
from netlab_course.own_numbers import StudentValues
from netlab_course.repetition import Repetition
from netlab_course.scenario_differences import differences
from netlab_course.statements import Statement

LAST_ASK_S = (ASKS - 1) * EVERY_S
MAX_DIFFERENCES = 3


def last_ask_ms(table: pd.DataFrame, before_s: float = LAST_ASK_S) -> pd.Series[float]:
    """Return the time in ms of the slowest answer to the last ask by seed, from a table of `netlab.repeat`; `before_s`
    is the time in s from the start of the run to that ask.
    """
    return MS_PER_S * (table.groupby("seed")["completion_s"].max() - before_s)


def _asked_differences(run: Run, own: StudentValues) -> list[str]:
    """Return a text for each difference between a run's scenario and the rack of the student's numbers, apart from what
    a design may change: the discipline of the port's queue, the congestion control and the sysctls.
    """
    given = copy.deepcopy(dict(run.scenario))
    asked = Scenario(rack(own.servers, own.queue_packets), asks(own.servers), duration_s=DURATION_S).to_dict()
    for link in (given["topology"]["links"][-1], asked["topology"]["links"][-1]):
        for name in ("aqm", "aqm_options"):
            link.pop(name, None)
    for item in (*given["traffic"], *asked["traffic"]):
        item.pop("congestion", None)
    for scenario in (given, asked):
        scenario["sysctls"] = {}
    return list(differences(given, asked))


def _slowest_ms(run: Run) -> float:
    """Return the longest time in ms that an ask of a run, after the first, took until its last answer; infinite if an
    answer is missing.
    """
    times_ms = later_ms(run)
    return float(times_ms.max()) if len(times_ms) == ASKS - 1 and times_ms.notna().all() else math.inf


def _time_in_words(run: Run) -> str:
    """Return the longest time of an ask of a run, after the first, as text, such as "12.3 ms"."""
    slowest_ms = _slowest_ms(run)
    return f"{slowest_ms:.1f} ms" if math.isfinite(slowest_ms) else "an answer that did not arrive"


def _controls(run: Run) -> list[str]:
    """Return the names of the congestion controls of a run's requests, each once, sorted."""
    return sorted({item.get("congestion", "cubic") for item in run.scenario["traffic"]})


def _queue(run: Run) -> str:
    """Return the discipline (`aqm`) of the queue of the switch's port to the client in a run, such as "fifo"."""
    return str(run.scenario["topology"]["links"][-1].get("aqm", "fifo"))


def _sysctls_in_words(run: Run) -> str:
    """Return the sysctls of a run as text, such as "name=value, name=value"; "no sysctls" if there are none."""
    return ", ".join(f"{name}={value}" for name, value in run.scenario.get("sysctls", {}).items()) or "no sysctls"


def _design(
    name: str, own: StudentValues, most_ms: float, only: Condition, *, right: str, hints: Sequence[str]
) -> Measurement:
    """Return the check, with this name, of a design of the student's rack with which every ask after the first is
    answered within `most_ms`; `only` is the condition on what the design may change, `right` and `hints` are as in
    every check.
    """
    return Measurement(
        name=name,
        conditions=[
            Condition(
                lambda run: not _asked_differences(run, own),
                f"It must be the rack of the exercise: {own.servers} servers, room for {own.queue_packets} packets, and all asks.",
                "rack(own.servers, own.queue_packets, ...), asks(own.servers, ...) and duration_s=10.5 make it.",
                lambda run: "; ".join(_asked_differences(run, own)[:MAX_DIFFERENCES]),
            ),
            only,
            Condition(
                # A smaller rack is in time without any design, which is worth no points.
                lambda run: not _asked_differences(run, own) and _slowest_ms(run) <= most_ms,
                f"From the second ask on, the last answer must come within {most_ms:g} ms.",
                "experiments.later_ms(my_run) has the time of each ask. What does the slowest one wait for?",
                lambda run: _time_in_words(run) + (" in another rack" if _asked_differences(run, own) else ""),
            ),
        ],
        right=right,
        hints=hints,
    )


class Checks:
    """The checks of the chapter "Incast", each an attribute, for one student's numbers."""

    def __init__(self, own: StudentValues) -> None:
        """Make each check of the chapter an attribute, with the student's own numbers."""
        self.ideal = Function(
            name="ideal time",
            reference=ideal_ms,
            cases=[
                {"servers": 12, "response_bytes": 64_000, "rate_mbps": 1000, "rtt_ms": 2},
                {"servers": 40, "response_bytes": 20_000, "rate_mbps": 10_000, "rtt_ms": 0.05},
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
            ),
            right="With fewer servers nothing is dropped. The next cell tries it.",
            hints=[
                f"A response has ceil(bytes / {MSS_BYTES}) segments; how many of one server wait at the worst moment, by (S + W) / 2?",
                "N times that must be more than the room in the queue and on the path: Q + B.",
                "Divide the room by what one server brings. Do so many servers still fit? The first number that does not is asked for.",
            ],
        )
        self.timer_run = _design(
            "the timer alone",
            own,
            own.timer_ms,
            Condition(
                lambda run: _queue(run) == "fifo" and _controls(run) == ["cubic"],
                "Only sysctls may differ: the queue must be drop-tail, and all servers must use CUBIC.",
                "Leave out aqm= and congestion=.",
                lambda run: f"{_queue(run)}, {', '.join(_controls(run))}",
            ),
            right="As many packets are lost as before, but a server no longer waits 200 ms to send one again.",
            hints=[
                "What does a server wait for when nothing is on its way any more, and which number bounds that wait from below?",
                "A lost retransmission doubles the timer, so the minimum must be a small part of the limit.",
                "nl.run(rack(...), asks(...), duration_s=10.5, sysctls=...): the setting of part 4, with a number of your own.",
            ],
        )
        self.marks_run = _design(
            "without the timer",
            own,
            own.marks_ms,
            Condition(
                lambda run: not run.scenario.get("sysctls"),
                "No sysctl may be set, so that the minimum of the timer is 200 ms as before.",
                "Leave out sysctls=.",
                _sysctls_in_words,
            ),
            right="The servers learn of the queue before it is full, so that a timer is hardly ever needed.",
            hints=[
                "The queue must tell the servers before it drops, and they must answer how much it tells them.",
                "A threshold: above BDP / 7, and so far below the room that a burst still fits above it.",
                "nl.run(rack(own.servers, own.queue_packets, **step(...)), asks(own.servers, ...), duration_s=10.5)",
            ],
        )
        self.repeated = self._repeated(own)

    @staticmethod
    def _repeated(own: StudentValues) -> Repetition:
        """Return the check of the repeated measurement of the last ask with DCTCP in the rack of a student's
        numbers.
        """
        wrong = SimpleNamespace(
            first=lambda table: MS_PER_S * (table.groupby("seed")["completion_s"].mean() - LAST_ASK_S),
            from_start=lambda table: last_ask_ms(table, 0),
            all_asks=lambda table: last_ask_ms(table, ASKS * EVERY_S),
        )
        return Repetition(
            name="the ideal time, or later",
            scenario=lambda: claimed_scenario(own),
            made_by="The cell above, `claimed`,",
            values=last_ask_ms,
            expected=lambda _table: ideal_ms(own.servers),
            unit="ms",
            compared="the ideal time",
            statement=Statement(own.stated_ms, above=False),
            slips={
                "this is the mean of all servers, and the ask ends with the slowest: max()": wrong.first,
                "this counts from the start of the run; the 20th ask comes 19 * 0.5 s later": wrong.from_start,
                "the 20th ask comes after 19 pauses of 0.5 s, not 20": wrong.all_asks,
            },
            right="DCTCP is nearly ideal, and the interval is narrow enough to show by how much it is not.",
            hints=[
                'my_table.groupby("seed")["completion_s"].max() is the end of the last answer in s, for each seed.',
                "Theory: your function ideal_ms with own.servers.",
            ],
        )
