"""Designs of a student's rack in the chapter "Incast": runs with a number that a function of the student computes."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from netlab.measure.results import Run
from netlab.runs.scenario import Scenario
from netlab_course import replays
from netlab_course.answers import answer_in_words, with_unit
from netlab_course.chapters.incast.experiments import later_ms
from netlab_course.chapters.incast.settings import (
    DURATION_S,
    INITIAL_WINDOW,
    MAY_BE_LATE,
    MIN_RTO,
    MIN_WINDOW,
    QUERIES,
    SEEDS,
    SHORT_BOUND_MS,
    US_PER_MS,
    ideal_ms,
    queries,
    rack,
)
from netlab_course.checks import Result, Status
from netlab_course.conditions import Build, Condition
from netlab_course.own_numbers import StudentValues
from netlab_course.scenario_differences import MAX_DIFFERENCES, differences

_MEASURED = "hand over the runs as nl.sweep(...) returned them."
Runs = Mapping[int, Run]
"""Runs by seed."""


@dataclass(frozen=True)
class PlannedDesign:
    """A student's design of the rack: the runs, and the number that they have."""

    number: float
    """The bound in ms, or the packets for which the port has room; NaN if the runs have none."""
    runs: Runs
    """The runs by seed."""


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


def control_names(runs: Runs) -> list[str]:
    """Return the names of the congestion controls of all requests of these runs, each once, sorted."""
    return sorted({item.get("congestion", "cubic") for run in runs.values() for item in run.scenario["traffic"]})


def queue_disciplines(runs: Runs) -> list[str]:
    """Return the disciplines (`aqm`) of the queue of the switch's port to the client in these runs, each once,
    sorted.
    """
    return sorted({str(run.scenario["topology"]["links"][-1].get("aqm", "fifo")) for run in runs.values()})


def queue_capacities(runs: Runs) -> list[int]:
    """Return the packets for which that queue has room in these runs, each number once, sorted."""
    return sorted({run.scenario["topology"]["links"][-1]["queue_packets"] for run in runs.values()})


def sysctls_in_words(runs: Runs) -> list[str]:
    """Return the sysctls of each of these runs as text, such as "name=value, name=value", each once, sorted."""
    return sorted(
        {", ".join(f"{name}={value}" for name, value in run.scenario["sysctls"].items()) for run in runs.values()}
    )


def bound_ms(runs: Runs) -> float:
    """Return the smallest bound of the timer in ms that these runs set."""
    return min(float(run.scenario["sysctls"][MIN_RTO]) / US_PER_MS for run in runs.values())


@dataclass(kw_only=True, repr=False)
class Design(Build):
    """A check of a design of the student's rack: a run for each seed, with a number that must be computed."""

    kind: type = PlannedDesign
    runs_name: str
    """The name of the runs."""
    set_number: Callable[[Runs], float]
    """Returns the number that the runs have."""
    least_ms: float
    """The time in ms that no query can beat."""
    replay: replays.Replay = replays.run_again
    """Makes the runs again, to see that their times were measured."""
    is_found: Callable[[PlannedDesign], bool]
    """Returns whether a design has a right number and its runs are in time."""
    _guesses: ClassVar[str] = "numbers"

    @property
    def many_tries(self) -> int:
        """The number of different wrong numbers from which the right one may have been found by trial: 3, because the
        runs of each say on which side it is.
        """
        return 3

    def _parse(self, answer: object) -> PlannedDesign | str:
        """Return a student's answer as a design, or a message about its wrong form. It must be a dict of runs by seed."""
        if not isinstance(answer, dict) or not answer or not all(isinstance(run, Run) for run in answer.values()):
            return (
                f"{self.runs_name} must be what nl.sweep({{...}}) returns, runs by seed, got {answer_in_words(answer)}."
            )
        try:
            return PlannedDesign(float(self.set_number(answer)), answer)
        except (LookupError, TypeError, ValueError):
            return PlannedDesign(math.nan, answer)

    def _judge(self, answer: object) -> Result:
        """Return the verdict on runs by seed; anything else fails."""
        found = self._parse(answer)
        return self._result(Status.FAILED, found) if isinstance(found, str) else super()._judge(found)

    def _wrong_guess(self, answer: object) -> str:
        """Return the number of a failed answer if it could be found by trial; "" if it is right and in time, or the
        answer has a wrong form or no number.
        """
        found = self._parse(answer)
        return "" if isinstance(found, str) or math.isnan(found.number) or self.is_found(found) else f"{found.number:g}"

    def doubt_about_origin(self, answer: object) -> str:
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
        for run in sorted(runs.values(), key=lambda run: int(run.scenario["seed"])):
            if replays.differs_when_run_again(run, self.replay):
                return f"the run with seed {run.scenario['seed']} has other numbers when it is made again: {_MEASURED}"
        return ""


def bound_slips(own: StudentValues) -> dict[float, str]:
    """Return messages about wrong bounds in ms for a student's numbers, by the bound."""
    limit_ms = float(own.timer_ms)
    return {
        limit_ms: "this is the limit itself, and a late answer does more than wait",
        limit_ms
        - SHORT_BOUND_MS: "the bound of 5 ms was taken from the limit; asked for is what comes on top of a bound",
        SHORT_BOUND_MS: "this is the bound of the runs above, which was not computed for your limit",
    }


def bound_in_words(number: float, own: StudentValues) -> str:
    """Return the bound in ms of runs as text, with the message about a known mistake if it is one; `number` is NaN
    without a bound.
    """
    if math.isnan(number):
        return f"no {MIN_RTO}, so that the bound is Linux's 200 ms"
    if SHORT_BOUND_MS <= number * US_PER_MS <= own.timer_ms:
        return f"{with_unit(number, 'ms')}; the sysctl is in microseconds, a thousandth of a ms"
    return number_in_words(number, "ms", bound_slips(own))


def room_slips(own: StudentValues) -> dict[float, str]:
    """Return messages about wrong rooms in packets for a student's numbers, by the room."""
    return {
        MIN_WINDOW * own.servers: "packets on the path need no room in the queue",
        own.servers: "the smallest window is more than one segment",
        INITIAL_WINDOW * own.servers: "this is with the window of a new connection; DCTCP goes on with a smaller one",
        own.queue_packets: "this is the room of exercise 4",
    }


def number_in_words(number: float, unit: str, slips: Mapping[float, str]) -> str:
    """Return a computed number with its unit as text, with the message about the known mistake from which it is at most
    1 away; `slips` has messages by wrong number.
    """
    told = with_unit(number, unit)
    return next((f"{told}; {slip}" for wrong, slip in slips.items() if abs(number - wrong) <= 1), told)


def make_design(
    name: str,
    own: StudentValues,
    most_ms: float,
    *conditions: Condition,
    runs_name: str,
    computed: Condition,
    set_number: Callable[[Runs], float],
    any_room: bool = False,
    right: str,
    hints: Sequence[str],
) -> Design:
    """Return the check, with this name, of a design of the student's rack with which the queries after the first are
    answered within `most_ms`, all but one of the runs with all seeds; `conditions` (on the runs) are on what the design
    may change, with `any_room` also the room of the queue. `runs_name` names the runs, `computed` is the condition on
    the number that they have, and `set_number` returns it. `right` and `hints` are as in every check.
    """

    def valid(runs: Runs) -> bool:
        """Return whether these are runs of the student's rack with the seeds of the exercise."""
        return not _asked_differences(runs, own, any_room=any_room) and _has_all_seeds(runs)

    def in_time(runs: Runs) -> bool:
        """Return whether these runs are valid and in time."""
        # A smaller rack is in time without any design, which is worth no points.
        return valid(runs) and _reached_ms(runs) <= most_ms

    room = "" if any_room else f" room for {own.queue_packets} packets,"
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
        runs_name=runs_name,
        set_number=set_number,
        least_ms=ideal_ms(own.servers),
        is_found=lambda found: computed.holds_for(found) and in_time(found.runs),
        conditions=[
            *map(_of_runs, on_runs),
            computed,
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
