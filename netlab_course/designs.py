"""Checks of a choice between two designs: the sum of two hosts from runs of each alone, or from the same runs.

Two means of the same runs depend on each other. The student computes from a pilot how many runs each design needs,
measures with the better one, and judges the statement of the copy. Both numbers must follow from the student's pilot.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar

import pandas as pd

from netlab.runs.replications import interval
from netlab.runs.scenario import Scenario
from netlab.theory import runs_needed, student_t
from netlab.theory.certainty import student_t_of_freedom
from netlab_course.answers import answer_in_words, as_number, bare_word, with_unit
from netlab_course.checks import Result, Status
from netlab_course.conditions import Condition
from netlab_course.measured_tables import PILOT, MeasuredTables, Values
from netlab_course.repeated_tables import as_repeated_tables, count_seeds, differences_in_words, is_complete
from netlab_course.rounded_intervals import places
from netlab_course.sample_sizes import plan_in_words, plan_slips
from netlab_course.statements import STATEMENT_VERDICTS, Statement

PILOTS = 8
"""The number of runs of a pilot."""
MAX_RUNS = 25
"""The largest number of runs after the pilot; a plan for more is measured with this number."""
NORMAL_FACTOR = 1.9599
"""A little less than Student's factor of infinitely many values."""
PARTS = (PILOT, "my_apart", "my_together", "my_table", f'a word such as "{STATEMENT_VERDICTS[0]}"')
"""The names of the parts of an answer in their order."""


@dataclass(frozen=True)
class ChosenDesign:
    """A student's choice of a design: the pilot, the runs that each design needs, the measurement and the verdict."""

    pilot: pd.DataFrame
    """The table of `netlab.repeat` of the pilot."""
    apart: float
    """The runs of both hosts together if each host has runs of its own."""
    together: float
    """The runs if both goodputs are from the same runs."""
    table: pd.DataFrame
    """The table of `netlab.repeat` of the runs of the better design."""
    verdict: str
    """One of `STATEMENT_VERDICTS`."""

    @property
    def scatters(self) -> list[float]:
        """The standard deviations of the hosts' goodputs in the pilot."""
        return [float(values.std()) for _, values in self.pilot.groupby("src")["goodput_mbps"]]

    @property
    def scatter_of_sums(self) -> float:
        """The standard deviation of the sums of both goodputs in the pilot's runs."""
        return float(sums(self.pilot).std())


def sums(table: pd.DataFrame) -> pd.Series[float]:
    """Return the sum of all goodputs of each run in a table of `netlab.repeat`, by seed."""
    return table.groupby("seed")["goodput_mbps"].sum()


def larger_goodputs(table: pd.DataFrame) -> pd.Series[float]:
    """Return the larger goodput of each run in a table of `netlab.repeat`, by seed."""
    return table.groupby("seed")["goodput_mbps"].max()


@dataclass(kw_only=True, repr=False)
class Designs(MeasuredTables):
    """A check of two designs for the mean sum of two hosts' goodputs, and of a verdict from the better one."""

    kind: type = ChosenDesign
    scenario: Callable[[], Scenario]
    """Returns the scenario that must be repeated; a longer duration is accepted."""
    made_by: str
    """The code with which the student makes it."""
    half_width: float
    """The wanted half width, in Mbit/s."""
    statement: Statement
    """The statement of the copy on the mean sum."""
    _guesses: ClassVar[str] = "verdicts"

    def _usual_conditions(self) -> list[Condition]:
        """Return the conditions on the scenario, the seeds, both plans and the verdict, in this order."""
        wanted = with_unit(self.half_width, "Mbit/s")
        return [
            Condition(
                lambda found: not self._differences_in_words(found),
                "Both tables must repeat what the exercise describes.",
                f"{self.made_by} makes it; nl.repeat(...) takes it as it is.",
                self._differences_in_words,
            ),
            Condition(
                lambda found: (
                    count_seeds(found.pilot) == PILOTS
                    and count_seeds(found.table) == min(found.together, MAX_RUNS)
                    and is_complete(found.pilot)
                    and is_complete(found.table)
                ),
                f"my_pilot must have {PILOTS} different seeds, my_table my_together of them, but at most {MAX_RUNS}, and no run "
                "may have failed.",
                f"min(my_together, {MAX_RUNS}) is a number that nl.repeat(..., seeds=...) takes.",
                lambda found: (
                    f"{count_seeds(found.pilot)} and {count_seeds(found.table)} seeds, my_together = {found.together:g}"
                ),
            ),
            Condition(
                lambda found: found.apart in self._right_apart(found),
                f"my_apart must count the runs of both hosts with which the sum of two means is known to ± {wanted}.",
                "How does the half width of a sum of two independent means follow from both scatters? nl.interval(a, b) has it for "
                "a difference.",
                lambda found: plan_in_words(found.apart, self._apart_slips(found)),
            ),
            Condition(
                lambda found: found.together == runs_needed(found.scatter_of_sums, self.half_width),
                f"my_together must be the number of runs with which the mean of their sums is known to ± {wanted}.",
                "How much do the sums of the pilot scatter? Which number makes t s / sqrt(n) just small enough?",
                lambda found: plan_in_words(found.together, self._together_slips(found)),
            ),
            Condition(
                lambda found: (
                    found.verdict in self.statement.verdicts(places(interval(sums(found.table)), self.statement.number))
                ),
                f"The word must say what the interval of my_table's sums means for the statement "
                f'"{self.statement.in_words("Mbit/s")}".',
                "Supported: each value in the interval agrees with it. Refuted: none does. Undecided: some do.",
                lambda found: f"{found.verdict!r}, and {interval(sums(found.table)):.4g}",
            ),
        ]

    @property
    def many_tries(self) -> int:
        """The number of different wrong verdicts from which the right one may have been found by trial: 2 of three."""
        return len(STATEMENT_VERDICTS) - 1

    def _judge(self, answer: object) -> Result:
        """Return the verdict on a list of five parts."""
        found = _parse(answer)
        return self._result(Status.FAILED, found) if isinstance(found, str) else super()._judge(found)

    def _tables(self, answer: object) -> dict[str, pd.DataFrame]:
        """Return the two tables in an answer by their names; none if the answer has a wrong form."""
        found = _parse(answer)
        return {} if isinstance(found, str) else {PILOT: found.pilot, "my_table": found.table}

    def _replayed_values(self) -> tuple[str, tuple[Values, ...]]:
        """Return the unit of the values that are compared when runs are made again, and their functions."""
        return "Mbit/s", (sums, larger_goodputs)

    def _compared_number(self) -> float:
        """Return the number of the copy's statement on the mean sum."""
        return self.statement.number

    def _wrong_guess(self, answer: object) -> str:
        """Return the verdict in a failed answer if it is wrong; "" if it is right, cannot be judged yet (a table of one
        seed), or the answer has a wrong form.
        """
        found = _parse(answer)
        return "" if isinstance(found, str) or not self.conditions[-1].is_refuted_by(found) else found.verdict

    def _differences_in_words(self, found: ChosenDesign) -> str:
        """Return a text on the differences of the two tables' scenarios from the one asked for; "" if there are none."""
        scenario = self.scenario()
        return differences_in_words({PILOT: (found.pilot, scenario), "my_table": (found.table, scenario)})

    def _right_apart(self, found: ChosenDesign) -> list[int]:
        """Return the right numbers of all runs for means of runs of their own, in ascending order: twice the least number
        of each host with Student's factor of Welch's degrees of freedom, of both hosts' runs (as one sample or as two),
        and of the runs of one host, which is the most careful.
        """
        squares = [scatter**2 for scatter in found.scatters]
        parts = sum(squares) ** 2 / sum(square**2 for square in squares) if any(squares) else 1.0
        readings: list[Callable[[int], float]] = [
            lambda each: 2 * each - 1,
            lambda each: 2 * each - 2,
            lambda each: parts * (each - 1),
            lambda each: each - 1,
        ]
        scatter = math.hypot(*found.scatters)
        return sorted({2 * _least_runs(scatter, self.half_width, freedom) for freedom in readings})

    def _apart_slips(self, found: ChosenDesign) -> Iterator[tuple[float, str]]:
        """Yield the wrong numbers of runs that known mistakes give for means of runs of their own, with messages."""
        right, scatters = self._right_apart(found), found.scatters
        one_host = {number for scatter in scatters for plan in self._host_plans(scatter) for number in (plan, 2 * plan)}
        only_one = "this is with the scatter of one host, and the other's counts too"
        for each in (number // 2 for number in right):
            other = "this is the number of runs of one host, and the other needs as many"
            yield each, f"{other}. Or: {only_one}" if each in one_host else other
        yield from ((number, only_one) for number in sorted(one_host))
        for plan in self._host_plans(sum(scatters)):
            yield 2 * plan, "the scatters of independent means are added as squares"
        yield (
            2 * runs_needed(found.scatter_of_sums, self.half_width),
            "this is with the scatter of the sums; means of runs of their own have no sum in any run",
        )
        for wrong, slip in plan_slips(math.hypot(*scatters), PILOTS, self.half_width):
            yield from ((2 * whole, slip) for whole in (int(wrong), math.ceil(wrong)))
        yield right[0] - 2, "with so many the half width is still a little larger: round up"
        if found.apart % 2:
            yield found.apart, "both hosts have as many runs, so the number of all is even"

    def _host_plans(self, scatter: float) -> tuple[int, int]:
        """Return the numbers of runs for this scatter, with Student's factors of all the runs and of the pilot."""
        plans = _plans_by_factors(scatter, self.half_width)
        return plans[0], plans[-1]

    def _together_slips(self, found: ChosenDesign) -> Iterator[tuple[float, str]]:
        """Yield the wrong numbers of runs that known mistakes give for the sums of the same runs, with messages."""
        apart = "this is with the scatters of both hosts; take that of their sum in each run"
        for number in self._right_apart(found):
            yield number, apart
        for number in _plans_by_factors(math.hypot(*found.scatters), self.half_width):
            yield number, apart
        yield from plan_slips(found.scatter_of_sums, PILOTS, self.half_width)


def _least_runs(scatter: float, half_width: float, freedom: Callable[[int], float]) -> int:
    """Return the least number of runs, 2 or more, with which the mean's half width is at most the wanted one, for a
    scatter in the same unit; `freedom` returns the degrees of freedom of Student's factor for a number of runs.
    """
    # No factor is below the one of a normal distribution.
    runs = max(2, int((NORMAL_FACTOR * scatter / half_width) ** 2))
    while student_t_of_freedom(freedom(runs)) * scatter > half_width * runs**0.5:
        runs += 1
    return runs


def _plans_by_factors(scatter: float, half_width: float) -> range:
    """Return the numbers of runs between that with Student's factor of all the runs and that with the pilot's, for a
    scatter and a wanted half width in the same unit.
    """
    of_all = runs_needed(scatter, half_width)
    of_pilot = max(2, math.ceil((student_t(PILOTS) * scatter / half_width) ** 2))
    return range(min(of_all, of_pilot), max(of_all, of_pilot) + 1)


def _parse(answer: object) -> ChosenDesign | str:
    """Return a student's answer as a choice of a design, or a message about its wrong form. It must be a list or tuple
    of a table, two numbers, a table, and a word.
    """
    if not isinstance(answer, (list, tuple)) or len(answer) != len(PARTS):
        return f"expected a list of five ({', '.join(PARTS)}), got {answer_in_words(answer)}."
    pilot, *plans, table, verdict = answer
    tables = as_repeated_tables({PILOT: pilot, "my_table": table})
    if isinstance(tables, str):
        return tables
    numbers = []
    for given, name in zip(plans, PARTS[1:3], strict=True):
        number, complaint = as_number(given)
        if number is None:
            return f"{name}: {complaint}"
        numbers.append(number)
    word = bare_word(verdict)
    if word not in STATEMENT_VERDICTS:
        return f"the fifth must be one of {', '.join(map(repr, STATEMENT_VERDICTS))}, got {answer_in_words(verdict)}."
    apart, together = numbers
    return ChosenDesign(tables[0], apart, together, tables[1], word)
