"""The checks of the chapter "Incast", for one student's numbers. The answers are below."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import ClassVar

import pandas as pd

from netlab.base.headers import MSS_BYTES
from netlab.base.units import MS_PER_S
from netlab.measure.results import Run
from netlab.runs.scenario import Scenario
from netlab_course import replays
from netlab_course.answers import answer_in_words, as_number, with_unit
from netlab_course.chapters.incast.experiments import later_ms
from netlab_course.chapters.incast.settings import (
    DURATION_S,
    EVERY_S,
    INITIAL_WINDOW,
    LEAST_REST_MS,
    MAY_BE_LATE,
    MIN_RTO,
    MIN_WINDOW,
    QUERIES,
    ROOM_BELOW,
    SEEDS,
    SHORT_BOUND_MS,
    SPARE_PACKETS,
    US_PER_MS,
    claimed_scenario,
    fitting_servers,
    ideal_ms,
    largest_block,
    least_bound_ms,
    least_room,
    queries,
    rack,
    segments,
)
from netlab_course.checks import Function, Number, Result, Status, formula_slips, slips
from netlab_course.conditions import Build, Condition
from netlab_course.own_numbers import StudentValues
from netlab_course.repetition import Repetition
from netlab_course.scenario_differences import differences
from netlab_course.statements import Statement

LAST_QUERY_S = (QUERIES - 1) * EVERY_S
MAX_DIFFERENCES = 3
_MEASURED = "hand over the runs as nl.sweep(...) returned them."
Runs = Mapping[int, Run]
"""Runs by seed."""
MIN_REASON_WORDS = 6


@dataclass(frozen=True)
class PlannedDesign:
    """A student's design of the rack: the number that was computed, the reason for it, and the runs with it."""

    number: float
    """The computed number: the bound in ms, or the packets for which the port has room."""
    reason: str
    """The student's sentence on how the number follows."""
    runs: Runs
    """The runs by seed."""


def last_query_ms(table: pd.DataFrame, before_s: float = LAST_QUERY_S) -> pd.Series[float]:
    """Return the time in ms of the slowest answer to the last query by seed, from a table of `netlab.repeat`; `before_s`
    is the time in s from the start of the run to that query.
    """
    return MS_PER_S * (table.groupby("seed")["completion_s"].max() - before_s)


def _asked_differences(runs: Runs, own: StudentValues, *, any_room: bool) -> list[str]:
    """Return a text for each difference between the scenarios of runs and the rack of the student's numbers, apart from
    what a design may change: the discipline of the port's queue, the congestion control, the sysctls, and with
    `any_room` the room in that queue.
    """
    free = ("aqm", "aqm_options", *(["queue_packets"] if any_room else []))
    found: dict[str, None] = {}
    for run in runs.values():
        given = copy.deepcopy(dict(run.scenario))
        asked = Scenario(rack(own.servers, own.queue_packets), queries(own.servers), duration_s=DURATION_S).to_dict()
        for link in (given["topology"]["links"][-1], asked["topology"]["links"][-1]):
            for name in free:
                link.pop(name, None)
        for item in (*given["traffic"], *asked["traffic"]):
            item.pop("congestion", None)
        for scenario in (given, asked):
            scenario["sysctls"] = {}
        found.update(dict.fromkeys(differences(given, asked)))
    return list(found)


def _seeds(runs: Runs) -> list[int]:
    """Return the seeds of these runs, sorted."""
    return sorted(run.scenario["seed"] for run in runs.values())


def _has_all_seeds(runs: Runs) -> bool:
    """Return whether there are as many runs as asked for, all with different seeds. Grading runs them with other ones
    than the student.
    """
    return len(runs) == len(set(_seeds(runs))) == len(SEEDS)


def _reached_ms(runs: Runs) -> float:
    """Return the time in ms within which all queries but the slowest were answered, of all these runs together without
    the first query of each; infinite if an answer is missing.
    """
    times_ms: list[float] = []
    for run in runs.values():
        later = later_ms(run)
        if len(later) < QUERIES - 1 or later.isna().any():
            return math.inf
        times_ms += list(later)
    return sorted(times_ms)[-1 - MAY_BE_LATE]


def _time_in_words(runs: Runs) -> str:
    """Return `_reached_ms` of these runs as text, such as "12.3 ms"."""
    reached_ms = _reached_ms(runs)
    return f"{reached_ms:.1f} ms" if math.isfinite(reached_ms) else "an answer that did not arrive"


def _controls(runs: Runs) -> list[str]:
    """Return the names of the congestion controls of all requests of these runs, each once, sorted."""
    return sorted({item.get("congestion", "cubic") for run in runs.values() for item in run.scenario["traffic"]})


def _queues(runs: Runs) -> list[str]:
    """Return the disciplines (`aqm`) of the queue of the switch's port to the client in these runs, each once,
    sorted.
    """
    return sorted({str(run.scenario["topology"]["links"][-1].get("aqm", "fifo")) for run in runs.values()})


def _queue_capacities(runs: Runs) -> list[int]:
    """Return the packets for which that queue has room in these runs, each number once, sorted."""
    return sorted({run.scenario["topology"]["links"][-1]["queue_packets"] for run in runs.values()})


def _sysctls(runs: Runs) -> list[str]:
    """Return the sysctls of each of these runs as text, such as "name=value, name=value", each once, sorted."""
    return sorted(
        {", ".join(f"{name}={value}" for name, value in run.scenario["sysctls"].items()) for run in runs.values()}
    )


def _bound_ms(runs: Runs) -> float:
    """Return the smallest bound of the timer in ms that these runs set."""
    return min(float(run.scenario["sysctls"][MIN_RTO]) / US_PER_MS for run in runs.values())


@dataclass(kw_only=True, repr=False)
class Design(Build):
    """A check of a design of the student's rack: a computed number with a reason, and a run for each seed."""

    kind: type = PlannedDesign
    parts: tuple[str, str, str]
    """The names of the number, the reason and the runs."""
    least_ms: float
    """The time in ms that no query can beat."""
    replay: replays.Replay = replays.run_again
    """Makes the runs again, to see that their times were measured."""
    is_found: Callable[[PlannedDesign], bool]
    """Returns whether a design has a right number and its runs are in time."""
    _guesses: ClassVar[str] = "numbers"

    def __post_init__(self) -> None:
        """Set the question that the reason replies to."""
        self.prose_question = f"From what does {self.parts[0]} follow?"

    def prose(self, answer: object) -> str:
        """Return the reason in an answer; "" if the answer has a wrong form."""
        found = self._parse(answer)
        return "" if isinstance(found, str) else found.reason

    def _parse(self, answer: object) -> PlannedDesign | str:
        """Return a student's answer as a design, or a message about its wrong form. It must be a list or tuple of a
        number, a sentence, and runs by seed.
        """
        if not isinstance(answer, (list, tuple)) or len(answer) != len(self.parts):
            return f"expected a list of three ({', '.join(self.parts)}), got {answer_in_words(answer)}."
        given, reason, runs = answer
        number, complaint = as_number(given)
        if number is None:
            return f"{self.parts[0]}: {complaint}"
        if not isinstance(reason, str):
            return f"{self.parts[1]} must be a sentence in quotes, got {answer_in_words(reason)}."
        if not isinstance(runs, dict) or not runs or not all(isinstance(run, Run) for run in runs.values()):
            return f"{self.parts[2]} must be what nl.sweep({{...}}) returns, runs by seed, got {answer_in_words(runs)}."
        return PlannedDesign(number, reason, runs)

    def _judge(self, answer: object) -> Result:
        """Return the verdict on a list of a number, a reason and runs by seed; anything else fails."""
        found = self._parse(answer)
        return self._result(Status.FAILED, found) if isinstance(found, str) else super()._judge(found)

    def _wrong_guess(self, answer: object) -> str:
        """Return the number of a failed answer if it could be found by trial; "" if it is right and in time, or the
        answer has a wrong form.
        """
        found = self._parse(answer)
        return "" if isinstance(found, str) or self.is_found(found) else f"{found.number:g}"

    def doubt_about_numbers(self, answer: object) -> str:
        """Return a sentence on runs with other seeds than the exercise's, which may be chosen by luck, or with times
        that are impossible or that the same runs do not give again; "" if there are none.
        """
        found = self._parse(answer)
        runs: Runs = {} if isinstance(found, str) else found.runs
        if tuple(_seeds(runs)) != SEEDS:
            seeds = ", ".join(map(str, _seeds(runs)))
            return f"these runs have the seeds {seeds}; the exercise asks for the seeds 1 to {len(SEEDS)}, whatever they bring."
        fastest_ms = min(float(later_ms(run).min()) for run in runs.values())
        if fastest_ms < (1 - replays.MAX_BELOW) * self.least_ms:
            return f"a query took {fastest_ms:.3g} ms, less than the ideal time: {_MEASURED}"
        by_seed = {int(run.scenario["seed"]): run for run in runs.values()}
        seed = replays.invented_run(by_seed, self.replay)
        return "" if seed is None else f"the run with seed {seed} has other times when it is made again: {_MEASURED}"


def _bound_slips(own: StudentValues) -> dict[float, str]:
    """Return messages about wrong bounds in ms for a student's numbers, by the bound."""
    limit_ms = float(own.timer_ms)
    return {
        limit_ms: "this is the limit itself, and a late answer does more than wait",
        limit_ms
        - SHORT_BOUND_MS: "the bound of 5 ms was taken from the limit; asked for is what comes on top of a bound",
        SHORT_BOUND_MS: "this is the bound of the runs above, which was not computed for your limit",
    }


def _room_slips(own: StudentValues) -> dict[float, str]:
    """Return messages about wrong rooms in packets for a student's numbers, by the room."""
    return {
        MIN_WINDOW * own.servers: "packets on the path need no room in the queue",
        own.servers: "the smallest window is more than one segment",
        INITIAL_WINDOW * own.servers: "this is with the window of a new connection; DCTCP goes on with a smaller one",
        own.queue_packets: "this is the room of exercise 4",
    }


def _number_in_words(number: float, unit: str, slips: Mapping[float, str]) -> str:
    """Return a computed number with its unit as text, with the message about the known mistake from which it is at most
    1 away; `slips` has messages by wrong number.
    """
    told = with_unit(number, unit)
    return next((f"{told}; {slip}" for wrong, slip in slips.items() if abs(number - wrong) <= 1), told)


def _design(
    name: str,
    own: StudentValues,
    most_ms: float,
    *conditions: Condition,
    parts: tuple[str, str, str],
    computed: Condition,
    set_number: Callable[[Runs], float],
    any_room: bool = False,
    right: str,
    hints: Sequence[str],
) -> Design:
    """Return the check, with this name, of a design of the student's rack with which the queries after the first are
    answered within `most_ms`, all but one of the runs with all seeds; `conditions` (on the runs) are on what the design
    may change, with `any_room` also the room of the queue. `parts` names the parts of an answer, `computed` is the
    condition on its number, and `set_number` returns that number as the runs have it. `right` and `hints` are as in
    every check.
    """

    def valid(runs: Runs) -> bool:
        """Return whether these are runs of the student's rack with the seeds of the exercise."""
        return not _asked_differences(runs, own, any_room=any_room) and _has_all_seeds(runs)

    def in_time(runs: Runs) -> bool:
        """Return whether these runs are valid and in time."""
        # A smaller rack is in time without any design, which is worth no points.
        return valid(runs) and _reached_ms(runs) <= most_ms

    room = "" if any_room else f" room for {own.queue_packets} packets,"
    number, reason, runs_name = parts
    on_runs = [
        Condition(
            lambda runs: not _asked_differences(runs, own, any_room=any_room),
            f"It must be the rack of the exercise: {own.servers} servers,{room} and all queries.",
            "rack(own.servers, ...), queries(own.servers, ...) and duration_s=10.5 make it.",
            lambda runs: "; ".join(_asked_differences(runs, own, any_room=any_room)[:MAX_DIFFERENCES]),
        ),
        Condition(
            _has_all_seeds,
            f"There must be {len(SEEDS)} runs, one for each of the seeds 1 to {len(SEEDS)}.",
            "nl.Scenario(..., seed=seed) sets it.",
            lambda runs: ", ".join(map(str, _seeds(runs))),
        ),
        *conditions,
        Condition(
            in_time,
            f"Without the first query of each run, all last answers but one must come within {most_ms:g} ms.",
            "experiments.later_ms(run) has the time of each query. What does the slowest one wait for?",
            lambda runs: _time_in_words(runs) + ("" if valid(runs) else ", but in other runs than asked for"),
        ),
    ]
    return Design(
        name=name,
        parts=parts,
        least_ms=ideal_ms(own.servers),
        is_found=lambda found: computed.holds_for(found) and in_time(found.runs),
        conditions=[
            *map(_of_runs, on_runs),
            Condition(
                lambda found: abs(set_number(found.runs) - found.number) < 1,
                f"{runs_name} must be made with {number}.",
                "Compute the number first, and hand it to the runs.",
                lambda found: f"{set_number(found.runs):g} in the runs, {number} = {found.number:g}",
            ),
            computed,
            Condition(
                lambda found: len(found.reason.split()) >= MIN_REASON_WORDS and any(map(str.isdigit, found.reason)),
                f"{reason} must be a sentence with a number in it: from what does {number} follow?",
                "Write it before the runs. A person reads it.",
                lambda found: with_unit(len(found.reason.split()), "words"),
            ),
        ],
        right=right,
        hints=hints,
    )


def _of_runs(condition: Condition) -> Condition:
    """Return the condition on a whole design that holds if `condition` holds for its runs."""
    return replace(
        condition,
        holds=lambda found: condition.holds(found.runs),
        seen=lambda found: condition.seen(found.runs),
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
        self.timer_runs = _design(
            "the timer alone",
            own,
            own.timer_ms,
            Condition(
                lambda runs: _queues(runs) == ["fifo"] and _controls(runs) == ["cubic"],
                "Only the bound may differ: the queue must be drop-tail, and all servers must use CUBIC.",
                "Leave out aqm= and congestion=.",
                lambda runs: ", ".join((*_queues(runs), *_controls(runs))),
            ),
            Condition(
                lambda runs: (
                    len(_sysctls(runs)) == 1 and all([*run.scenario["sysctls"]] == [MIN_RTO] for run in runs.values())
                ),
                f"All runs must set {MIN_RTO} to the same number, and no other sysctl.",
                "Use one dict of sysctls for all seeds.",
                lambda runs: "; ".join(filter(None, _sysctls(runs))) or "no sysctls",
            ),
            parts=("my_bound_ms", "my_bound_reason", "timer_runs"),
            set_number=_bound_ms,
            computed=Condition(
                lambda found: least_bound_ms(own) <= found.number <= own.timer_ms - LEAST_REST_MS,
                "my_bound_ms must be the limit less all that a late answer takes besides its wait, to a few ms.",
                "Run your rack with 5 ms: how much of the time of its slowest queries is not the bound?",
                lambda found: _number_in_words(found.number, "ms", _bound_slips(own)),
            ),
            right="As many packets are lost as before, but a server no longer waits 200 ms to send one again.",
            hints=[
                "What does a server wait for when nothing is on its way any more, and which number bounds that wait from below?",
                "A late answer takes the bound and what happens before and after the wait. How long is that in your rack with 5 ms?",
                "The rest of that time happens before and after the wait, whatever the bound is. What does it leave of the limit?",
            ],
        )
        self.marks_runs = _design(
            "without the timer",
            own,
            own.marks_ms,
            Condition(
                lambda runs: not any(_sysctls(runs)),
                "No sysctl may be set, so that the minimum of the timer is 200 ms as before.",
                "Leave out sysctls=.",
                lambda runs: "; ".join(filter(None, _sysctls(runs))),
            ),
            parts=("my_room", "my_room_reason", "marks_runs"),
            set_number=lambda runs: _queue_capacities(runs)[-1],
            computed=Condition(
                lambda found: -ROOM_BELOW <= found.number - math.ceil(least_room(own.servers)) <= SPARE_PACKETS,
                f"my_room must follow from the smallest windows, to at most {SPARE_PACKETS} packets more.",
                "How few packets can all servers together have on the way, and where are those?",
                lambda found: _number_in_words(found.number, "packets", _room_slips(own)),
            ),
            any_room=True,
            right="The servers learn of the queue before it is full, so that a timer is hardly ever needed.",
            hints=[
                "The queue must tell the servers before it drops, and they must answer how much it tells them.",
                "With its smallest window a server still sends two segments. Not all of them wait in the queue: some are on the path.",
                "Compute the room from the smallest windows and the path. Then try thresholds well below it.",
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
