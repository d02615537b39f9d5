"""Checks of a repeated measurement with its interval, by its numbers and never by the student's code.

The answer is a list of four: the table of `netlab.repeat`, an interval, a figure, and one of `VERDICTS`. In later chapters
a condition on the interval that refutes the statement takes the place of the figure. If the copy has a statement with a number of
its own, the last is one of `STATEMENT_VERDICTS`.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import pandas as pd
import plotly.graph_objects as go

from netlab.plots import Comparison
from netlab.runs.replications import interval
from netlab.runs.scenario import Scenario
from netlab_course import replays
from netlab_course.answers import with_unit
from netlab_course.axis_titles import axis_title_problem
from netlab_course.checks import Result, Status
from netlab_course.conditions import Build, Condition
from netlab_course.interval_slips import Slip, slips_of_table
from netlab_course.measured_tables import Values
from netlab_course.refutations import EXAMPLE
from netlab_course.repeated_measurements import (
    FIGURE_NAME,
    INTERVAL_NAME,
    REFUTATION_NAME,
    TABLE_NAME,
    RepeatedMeasurement,
    parse_answer,
)
from netlab_course.repeated_tables import count_seeds, is_complete
from netlab_course.rounded_intervals import (
    NEEDED_DIGITS,
    ROUNDED_TOO_FAR,
    agrees,
    has_numbers,
    have_equal_numbers,
    is_rounded_too_far,
    places,
    shows,
)
from netlab_course.scenario_differences import repeats, scenario_in_words
from netlab_course.statements import STATEMENT_VERDICTS, UNDECIDED, Statement

_UNIT_FACTORS = (1e-6, 1e-3, 1e-2, 1 / 8, 8.0, 1e2, 1e3, 1e6)
"""Factors between units that are taken for one another: s and ms, bytes and bits, fractions and per cent."""
_SCALED_UNITS = {("Mbit/s", 1e3): "kbit/s", ("ms", 1e-3): "s"}
"""The units in which students give values, by the unit of the exercise and the factor."""
VERDICTS = ("above", "inside", "below")
MIN_SEEDS, MAX_SEEDS = 8, 30
MORE_SEEDS = "At this number of seeds. Four times as many make an interval half as wide."
"""The sentence about a right answer that is undecided."""


@dataclass(kw_only=True, repr=False)
class Repetition(Build):
    """A check of a repeated measurement: its scenario, seeds, interval and verdict, and its figure or the condition
    that refutes the statement.
    """

    kind: type = RepeatedMeasurement
    scenario: Callable[[], Scenario]
    """Returns the scenario that must be repeated; a longer duration is accepted."""
    made_by: str
    """The code with which the student makes it."""
    values: Values
    """Returns the values whose interval is asked for, one for each seed, from the table."""
    expected: Callable[[pd.DataFrame], float]
    """Returns the theoretical value for the table."""
    is_bound: bool = False
    """True if no measured value can be below the theoretical one."""
    replay: replays.Replay = replays.run_again
    """Runs some seeds of a table again, to see that its numbers were measured."""
    compared: str = "theory"
    """The name of the theoretical value."""
    statement: Statement | None = None
    """The statement of the copy on which the verdict is asked for; None if the verdict is on the theoretical value."""
    unit: str
    """The unit of the values; "" for a ratio."""
    slips: Mapping[str, Values] = field(default_factory=dict)
    """Functions that return wrong values which students often take, by the message about them."""
    axis: str = ""
    """A title for the axis of the values, such as "Goodput (Mbit/s)", for messages and the last hint; "" if the answer has
    no figure.
    """
    plot: str = 'my_rows.plot(kind="scatter", x="seed", y=...)'
    """Code that draws the values, for the last hint."""
    _guesses: ClassVar[str] = "verdicts"

    def __post_init__(self) -> None:
        """Set the usual conditions and a last hint, on the figure or on the refutation, unless the check was made with
        conditions of its own.
        """
        if not self.with_figure and self.statement is None:
            raise ValueError(f"{self.key} needs a statement, or an axis for a figure: there is nothing to refute")
        if not self.conditions:
            last = (
                f"my_figure = {self.plot}, then my_figure.add_hrect(y0=mean - half, y1=mean + half, opacity=0.2) and "
                f'my_figure.update_yaxes(title_text="{self.axis}").'
                if self.with_figure
                else f"Where do both edges lie, seen from {self._judged_number}, if each value in the interval is against the statement?"
            )
            self.hints = [*([] if self.with_figure else [self._recipe]), *self.hints, last]
        super().__post_init__()

    @property
    def with_figure(self) -> bool:
        """True if the answer has a figure; else it has a condition that refutes the statement."""
        return bool(self.axis)

    @property
    def words(self) -> tuple[str, ...]:
        """The words of which the verdict must be one: `STATEMENT_VERDICTS` if the copy has a statement, else
        `VERDICTS`.
        """
        return VERDICTS if self.statement is None else STATEMENT_VERDICTS

    @property
    def _judged_number(self) -> str:
        """The name of what the verdict is on: the theoretical value, or the number of the copy's statement with its
        unit.
        """
        return self.compared if self.statement is None else with_unit(self.statement.number, self.unit)

    @property
    def _parts(self) -> tuple[str, ...]:
        """The names of the four parts of an answer in their order: table, interval, figure or refutation, verdict."""
        return (
            TABLE_NAME,
            INTERVAL_NAME,
            FIGURE_NAME if self.with_figure else REFUTATION_NAME,
            f'a word such as "{self.words[1]}"',
        )

    @property
    def _recipe(self) -> str:
        """The steps of a repeated measurement without a figure, for the first hint."""
        return (
            f'First my_refutation, a condition in quotes such as "{EXAMPLE}": low and high are the edges of an interval that '
            "refutes the statement. Then my_table = nl.repeat(..., seeds=...) with "
            f"{MIN_SEEDS} to {MAX_SEEDS} seeds, my_interval = nl.interval(...) of one value for each seed, and my_verdict by "
            f"the interval: {', '.join(map(repr, self.words))}. Chapters 2 and 5 have all steps."
        )

    def _usual_conditions(self) -> list[Condition]:
        """Return the conditions on the scenario, the seeds, the interval, the figure and its axis (if asked for), the
        verdict, and the refutation (if there is no figure), in this order.
        """
        of_values = self._interval_condition()
        return [
            Condition(
                lambda found: repeats(found.table, self.scenario()),
                "What is repeated must be what the exercise describes.",
                f"{self.made_by} makes it; nl.repeat(...) takes it as it is.",
                lambda found: scenario_in_words(found.scenario, self.scenario()),
            ),
            Condition(
                lambda found: MIN_SEEDS <= count_seeds(found.table) <= MAX_SEEDS and is_complete(found.table),
                f"The table must have {MIN_SEEDS} to {MAX_SEEDS} different seeds, and no run may have failed.",
                "nl.repeat(..., seeds=...) takes a number, or a list of seeds.",
                lambda found: with_unit(count_seeds(found.table), "seeds"),
            ),
            of_values,
            *(self._figure_conditions() if self.with_figure else ()),
            replace(self._verdict_condition(), after=(of_values,)),
            *(() if self.with_figure else (self._refutation_condition(),)),
        ]

    def _interval_condition(self) -> Condition:
        """Return the condition that the interval is that of the right values."""
        return Condition(
            lambda found: agrees(found.interval, interval(self.values(found.table))),
            "The interval must be that of the values that the exercise asks for, one for each seed.",
            lambda found: (
                NEEDED_DIGITS
                if self._is_rounded_too_far(found)
                else "Select the rows and the column first; nl.interval(...) takes the values."
            ),
            self._slip,
        )

    def _is_rounded_too_far(self, found: RepeatedMeasurement) -> bool:
        """Return whether the interval of a student's measurement is the right one with too few digits."""
        return is_rounded_too_far(found.interval, interval(self.values(found.table)))

    def _verdict_condition(self) -> Condition:
        """Return the condition on the verdict of a measurement, which must follow from the student's own interval, seen
        from the theoretical value or the number of the copy's statement.
        """
        statement = self.statement
        if statement is None:
            return Condition(
                lambda found: found.verdict in self._places(found, self.expected(found.table)),
                f"The word must say where {self.compared} lies, seen from your interval.",
                f"Is {self.compared} above mean + half, below mean - half, or between them?",
                self._verdict_in_words,
            )
        return Condition(
            lambda found: (
                self._follows_from_interval(found) or statement.allows_doubt(found.verdict, *self._in_the_unit(found))
            ),
            f'The word must say what your interval means for the statement "{statement.in_words(self.unit)}".',
            "Supported: each value in the interval agrees with it. Refuted: none does. Undecided: some do.",
            self._verdict_in_words,
        )

    def _follows_from_interval(self, found: RepeatedMeasurement) -> bool:
        """Return whether the verdict of a measurement on the copy's statement, if there is one, is the one of its own
        interval.
        """
        statement = self.statement
        return statement is None or found.verdict in statement.verdicts(self._places(found, statement.number))

    def _verdict_in_words(self, found: RepeatedMeasurement) -> str:
        """Return the verdict of a student's measurement and the edges of its interval, in the exercise's unit, as
        text.
        """
        mean, half = found.interval
        return f"{found.verdict!r}, and an interval from {with_unit(mean - half, self.unit)} to {with_unit(mean + half, self.unit)}"

    def _figure_conditions(self) -> list[Condition]:
        """Return the three conditions on the figure: it shows the values, it shows the interval, and an axis has a
        right title.
        """
        return [
            Condition(
                self._draws,
                "The figure must show each of your values, and its trace nothing else.",
                'Draw the rows that you selected: my_rows.plot(kind="scatter", x="seed", y=...).',
                self._traces_in_words,
            ),
            Condition(
                lambda found: any(
                    shows(found.figure, (mean * self._figure_scale(found), half * self._figure_scale(found)))
                    for mean, half in self._judging_intervals(found)
                ),
                "The figure must show your interval, from mean - half to mean + half.",
                "my_figure.add_hrect(y0=..., y1=..., opacity=0.2), or error bars.",
                lambda found: _marks_in_words(found.figure),
            ),
            Condition(
                self._has_title,
                "An axis must say what it shows" + (f", and its unit: {self.unit}." if self.unit else "."),
                f'my_figure.update_yaxes(title_text="{self.axis}").',
                self._titles,
            ),
        ]

    def _traces_in_words(self, found: RepeatedMeasurement) -> str:
        """Return the numbers of values in the traces of a measurement's figure as text, and whether one has the right values
        and others.
        """
        traces, values = found.figure["traces"], self.values(found.table)
        told = f"traces of {', '.join(str(len(numbers)) for numbers in traces) or 'no'} numbers"
        return f"{told}; one has your values, and others" if any(has_numbers(each, values) for each in traces) else told

    def _refutation_condition(self) -> Condition:
        """Return the condition that the student's refutation holds for the intervals in which no value agrees with the
        statement, and for no other.
        """
        return Condition(
            lambda found: not self._refutation_problem(found),
            "my_refutation must hold if the interval from low to high refutes the statement, and else not.",
            f"Write it before you measure: where do low and high lie, seen from {self._judged_number}?",
            self._refutation_problem,
        )

    def _refutation_problem(self, found: RepeatedMeasurement) -> str:
        """Return what is wrong with the refutation of a student's measurement, as a part of a sentence; "" if nothing
        is.
        """
        return self.statement.refutation_problem(found.refutation, self.unit) if self.statement else ""

    def _show_verdict(self, answer: object, remarks: Sequence[str] = ()) -> None:
        """Show the verdict on `answer` with these remarks (sentences), and in a notebook the figure, if it has one,
        below it.
        """
        super()._show_verdict(answer, remarks)
        figure = answer[2] if isinstance(answer, (list, tuple)) and len(answer) == len(self._parts) else None
        if isinstance(figure, (go.Figure, Comparison)) and "IPython" in sys.modules:
            sys.modules["IPython"].display.display(figure)

    @property
    def many_tries(self) -> int:
        """The number of different wrong verdicts from which the right one may have been found by trial: 2, one less
        than there are.
        """
        return len(self.words) - 1

    def _wrong_guess(self, answer: object) -> str:
        """Return the verdict in a failed answer if it is wrong, as it could be found by trial; "" if it is right, is
        not judged yet because the interval is wrong, or the answer has a wrong form.
        """
        found = parse_answer(answer, self._parts, self.words)
        if isinstance(found, str):
            return ""
        is_judged = self._interval_condition().holds_for(found)
        is_right = self._verdict_condition().holds_for(found) and self._follows_from_interval(found)
        return found.verdict if is_judged and not is_right else ""

    def judge(self, answer: object) -> Result:
        """Return the verdict on `answer` and show nothing; if some but not all of its four parts are still `...`, the
        message names these.
        """
        result = super().judge(answer)
        parts = self._parts
        given = answer if isinstance(answer, (list, tuple)) and len(answer) == len(parts) else ()
        missing = [part for part, one in zip(parts, given, strict=False) if one is ...]
        if result.status is Status.NOT_ATTEMPTED and 0 < len(missing) < len(parts):
            return self._result(result.status, f"not finished yet: {' and '.join(missing)} still to come.")
        return result

    def _judge(self, answer: object) -> Result:
        """Return the verdict on a list of four parts; if the copy has a statement, the message about a right answer also
        says where the theoretical value lies.
        """
        found = parse_answer(answer, self._parts, self.words)
        if isinstance(found, str):
            return self._result(Status.FAILED, found)
        result = super()._judge(found)
        if self.statement is None or result.status is not Status.PASSED:
            return result
        first, *more = result.sentences
        if found.verdict == UNDECIDED:
            more.append(MORE_SEEDS)
        return self._result(result.status, first, self._theory_in_words(found), *more)

    def doubt_about_origin(self, answer: object) -> str:
        """Return a sentence on a verdict that is not the one of the student's own interval, or on a table whose values
        are below what is possible, or are others when some of its seeds are run again; "" if there are none.
        """
        found = parse_answer(answer, self._parts, self.words)
        if isinstance(found, str):
            return ""
        if not self._follows_from_interval(found):
            return self._verdict_condition().complaint(found)
        mean, least = float(self.values(found.table).mean()), self.expected(found.table)
        if self.is_bound and mean < (1 - replays.MAX_BELOW) * least:
            return f"a mean of {with_unit(mean, self.unit)} is below {self.compared}, and no run can be: {replays.AS_MEASURED}"
        number = self.expected(found.table) if self.statement is None else self.statement.number
        return replays.doubt_about_tables({"your table": found.table}, self.values, self.unit, self.replay, number)

    def _theory_in_words(self, found: RepeatedMeasurement) -> str:
        """Return a sentence that says whether the theoretical value lies inside, above or below the interval of a
        student's measurement.
        """
        right = self._places(found, self.expected(found.table))
        place = next(word for word in ("inside", "above", "below") if word in right)
        return f"{self.compared[0].upper()}{self.compared[1:]} lies {place} your interval."

    def _titles(self, found: RepeatedMeasurement) -> str:
        """Return the titles of the axes of a measurement's figure as text, without "seed", and the problem of the last
        one.
        """
        titles = [title for title in found.figure["titles"] if title != "seed"]
        if not titles:
            return "no title of an axis"
        return f"{', '.join(map(repr, titles))}: {axis_title_problem(titles[-1], self._title_units(found)[0])}"

    def _has_title(self, found: RepeatedMeasurement) -> bool:
        """Return whether an axis of a measurement's figure has a title with the unit of the drawn values: that of the
        exercise, or of the student's interval, so that another unit counts only once, or another usual one.
        """
        return any(
            not axis_title_problem(title, unit) for title in found.figure["titles"] for unit in self._title_units(found)
        )

    def _title_units(self, found: RepeatedMeasurement) -> tuple[str, ...]:
        """Return the units of which a title of an axis in a measurement's figure must have one."""
        if self._figure_scale(found) != 1:
            return (_SCALED_UNITS[self.unit, self._drawn_factor(found) or 1.0],)
        return (self.unit, _SCALED_UNITS.get((self.unit, self._unit_factor(found) or 1.0), self.unit))

    def _draws(self, found: RepeatedMeasurement) -> bool:
        """Return whether the figure of a measurement shows the right values, also in another usual unit, or the wrong ones
        of a known mistake that also explains the interval, so that a mistake counts only once.
        """
        if self._drawn_factor(found) is not None:
            return True
        traces = found.figure["traces"]
        instead = [slip(found.table) for slip in self.slips.values()]
        return any(
            have_equal_numbers(numbers, each)
            for each in instead
            if agrees(found.interval, interval(each))
            for numbers in traces
        )

    def _unit_factor(self, found: RepeatedMeasurement) -> float | None:
        """Return the factor of the student's unit, such as 0.001 for s in place of ms, if the measurement's interval is
        right apart from it; None if it is right as it is or wrong in another way.
        """
        mean, half = interval(self.values(found.table))
        factors = (factor for factor in _UNIT_FACTORS if agrees(found.interval, (factor * mean, factor * half)))
        return next(factors, None)

    def _judged_by(self, found: RepeatedMeasurement) -> tuple[float, float]:
        """Return mean and half width, in the student's unit, by which figure and verdict of a measurement are judged:
        the student's own if right or a known mistake (except for the two edges), so that a mistake counts once; else
        the right ones.

        If it has the two edges instead of mean and half width, the interval itself is right.
        """
        right = interval(self.values(found.table))
        if agrees(found.interval, (right[0] - right[1], sum(right))):
            return right
        known = itertools.chain([right], (slip for slip, _ in self._slips(found)))
        is_known = self._is_rounded_too_far(found) or any(agrees(found.interval, each) for each in known)
        return found.interval if is_known else right

    def _judging_intervals(self, found: RepeatedMeasurement) -> list[tuple[float, float]]:
        """Return the intervals by which the figure and the verdict of a measurement may go, in the student's unit: the one
        of `_judged_by`, and the one before it was rounded.
        """
        judged = self._judged_by(found)
        mean, half = interval(self.values(found.table))
        factor = self._unit_factor(found) or 1.0
        exact = (factor * mean, factor * half)
        return [judged, exact] if agrees(judged, exact) or self._is_rounded_too_far(found) else [judged]

    def _places(self, found: RepeatedMeasurement, number: float) -> set[str]:
        """Return the words ("above", "inside", "below") for where a number in the exercise's unit lies, seen from one of
        the intervals by which the verdict of a measurement may go.
        """
        factor = self._unit_factor(found) or 1.0
        return {
            word
            for mean, half in self._judging_intervals(found)
            for word in places((mean / factor, half / factor), number)
        }

    def _drawn_factor(self, found: RepeatedMeasurement) -> float | None:
        """Return the factor of the unit in which the figure of a measurement shows the right values: 1, the factor of the
        student's interval, or that of another usual unit such as kbit/s; None if it does not show them.
        """
        values = self.values(found.table)
        others = (factor for unit, factor in _SCALED_UNITS if unit == self.unit)
        return next(
            (
                factor
                for factor in (1.0, self._unit_factor(found) or 1.0, *others)
                if any(have_equal_numbers(numbers, values * factor) for numbers in found.figure["traces"])
            ),
            None,
        )

    def _figure_scale(self, found: RepeatedMeasurement) -> float:
        """Return the factor from the unit of a student's interval to that of the figure, if the figure is in a usual unit
        of its own; else 1.
        """
        own, drawn = self._unit_factor(found) or 1.0, self._drawn_factor(found) or 1.0
        return 1.0 if drawn in (1.0, own) else drawn / own

    def _in_the_unit(self, found: RepeatedMeasurement) -> tuple[float, float]:
        """Return mean and half width by which the verdict is judged (those of `_judged_by`), converted to the unit of
        the exercise.
        """
        factor = self._unit_factor(found) or 1.0
        mean, half = self._judged_by(found)
        return mean / factor, half / factor

    def _slip(self, found: RepeatedMeasurement) -> str:
        """Return the interval of a student's measurement as text, with the message about a known mistake if it is
        one.
        """
        mean, half = found.interval
        got = f"{mean:.4g} ± {half:.2g}"
        # Two mistakes may agree with a rounded interval: the median is often near the mean of another column.
        known = [(slip, sentence) for slip, sentence in self._slips(found) if agrees((mean, half), slip)]
        if not known:
            return f"{got}; {ROUNDED_TOO_FAR}" if self._is_rounded_too_far(found) else got
        _, sentence = min(known, key=lambda pair: abs(pair[0][0] - mean) + abs(pair[0][1] - half))
        return f"{got}; {sentence}"

    def _slips(self, found: RepeatedMeasurement) -> Iterator[Slip]:
        """Return the wrong intervals (mean and half width) that known mistakes give for the table of a measurement, each
        with its message.
        """
        values = self.values(found.table)
        return slips_of_table(found.table, values, self.slips, self.unit, _UNIT_FACTORS)


def _marks_in_words(figure: Mapping[str, Any]) -> str:
    """Return the error bars of a figure (in the form of `figure_numbers`) and the places of its lines and areas as text."""
    # A line across the whole figure begins at 0 and ends at 1.
    places_drawn = sorted({number for number in figure["shapes"] if number not in (0, 1)})
    where = (
        f"lines or areas at {', '.join(f'{number:.5g}' for number in places_drawn)}"
        if places_drawn
        else "no line or area"
    )
    return f"{len(figure['bars'])} error bars, and {where}"
