"""A check of a function, which is called with the arguments of several trials."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import EllipsisType
from typing import Any

from netlab.base.errors import NetlabError
from netlab.base.values import is_number
from netlab_course.answers import (
    answer_in_words,
    arguments_in_words,
    as_number,
    error_in_words,
    with_unit,
    wrong_parameters,
)
from netlab_course.checks import Check, Result, Status, per_cent
from netlab_course.diagnosis import close, direction, is_far, named_slip, possible_roundings
from netlab_course.library_calls import NOT_COUNTED, is_netlabs_own
from netlab_course.misconceptions import Misconception
from netlab_course.opaque import OpaqueFunction, underlying_function
from netlab_user_code.time_limit import TimeIsUpError, call_within

MAX_CALL_S = 10.0


@dataclass(kw_only=True, repr=False)
class Function(Check):
    """A check of a function that must agree with a reference for the arguments of several trials."""

    reference: Callable[..., float]
    """The right function, called with keyword arguments."""
    cases: Sequence[Mapping[str, Any]]
    """Keyword arguments of each trial."""
    unit: str
    tolerance: float
    misconceptions: Sequence[Misconception] = ()
    right: str = ""
    """The same as in `Number`; the answer of a misconception is a wrong function with the signature of the reference."""

    def mistakes(self) -> Iterator[tuple[object, str]]:
        """Yield the wrong function of every known misconception, with its message."""
        for trap in self.misconceptions:

            def wrong(trap: Misconception = trap, **given: Any) -> float:
                """Return the number that the misconception `trap` gives for the arguments of a trial."""
                return trap.number(**{name: underlying_function(value) for name, value in given.items()})

            yield wrong, trap.sentence

    def tells_apart(self) -> bool:
        """Return whether every known wrong function is clearly outside the tolerance of the right one (three times as
        far) in at least one trial; it may be right in others.
        """
        # A wrong formula may be right for some inputs, but must be wrong for at least one.
        return all(
            any(is_far(trap.number(**case), self.reference(**case), self.tolerance) for case in self.cases)
            for trap in self.misconceptions
        )

    def arguments(self, case: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments, by name, with which a trial calls the student's function; by default those of `case`,
        with which it calls the reference.

        The result is a copy, because a solution may use up an argument, such as an object with a limited number of probes.
        Such an object can only be called: its attributes, which may be the answer, are hidden.
        """
        number = next((place for place, each in enumerate(self.cases, start=1) if each is case), 0)
        return {
            name: OpaqueFunction(value, f"{name} {number}") if callable(value) else value
            for name, value in copy.deepcopy(dict(case)).items()
        }

    def transfer(self, ends: Sequence[Any], **arguments: Any) -> Any:
        """Run a trial between a sender and a receiver, `ends` (made by the answer's `ends(window)`), with these
        arguments, and return its result; a grader calls it with proxies of the student's programs. A check without such
        trials raises NotImplementedError.
        """
        raise NotImplementedError

    def words(self, case: Mapping[str, Any]) -> str:
        """Return the text that names a trial, whose arguments are `case`, in messages about its result; by default
        "rate_mbps=5".
        """
        return arguments_in_words(case)

    def call(self, case: Mapping[str, Any]) -> str:
        """Return the text that names a trial, whose arguments are `case`, in messages that do not concern its result,
        such as errors; by default the text of `words`.
        """
        return self.words(case)

    def part(self, value: Any, case: Mapping[str, Any]) -> Any:  # noqa: ARG002 (a subclass looks at it)
        """Return the part of the function's result `value` that is judged in a trial whose arguments are `case`; by
        default all of it.
        """
        return value

    def tolerance_in_words(self) -> str:
        """Return the tolerance as text, such as "1 %"."""
        return per_cent(self.tolerance)

    def _judge(self, answer: object) -> Result:
        """Return the verdict on an answer that is not a stub: failed if it is no function, has wrong parameters, or a
        trial fails (the message is about the first), not attempted if a trial returns `...`, else passed.
        """
        if not callable(answer):
            return self._result(
                Status.FAILED,
                f"expected a function, got {answer_in_words(answer)}; pass its name, no parentheses.",
            )
        complaint = wrong_parameters(answer, list(self.arguments(self.cases[0])))
        if complaint:
            return self._result(Status.FAILED, complaint)
        numbers: list[float] = []
        for case in self.cases:
            number = self._trial(answer, case)
            if isinstance(number, Result):
                return number
            numbers.append(number)
            if not close(number, self.reference(**case), self.tolerance):
                return self._wrong(answer, numbers)
        trials = f"all {len(self.cases)} trials agree within {self.tolerance_in_words()}"
        example = with_unit(self.reference(**self.cases[0]), self.unit)
        return self._result(Status.PASSED, f"{trials}; for {self.words(self.cases[0])} it gives {example}.", self.right)

    def doubt_about_origin(self, answer: object) -> str:
        """Return a sentence if a right function is netlab's own or calls netlab's in each trial; "" if not."""
        trials = (self.arguments(case) for case in self.cases)
        if not callable(answer) or not is_netlabs_own(answer, trials, MAX_CALL_S, self.same_as):
            return ""
        return f"all {len(self.cases)} trials agree. {NOT_COUNTED}"

    def _trial(self, function: Callable[..., object], case: Mapping[str, Any]) -> float | Result:
        """Return the number that the student's function gives in the trial with the arguments `case`, or the verdict if it
        gives none or is not written yet.
        """
        given = f"for {self.call(case)}"
        try:
            value = call_within(MAX_CALL_S, function, **self.arguments(case))
            if value is not None and value is not ...:
                value = self.part(value, case)
        except TimeIsUpError:
            return self._result(Status.FAILED, f"{given} it did not return within {MAX_CALL_S:g} s: does its loop end?")
        except NotImplementedError:
            return self._result(Status.NOT_ATTEMPTED, "not attempted yet.")
        except Exception as error:  # noqa: BLE001 (whatever a student's code raises is an answer to comment on)
            return self._result(Status.FAILED, f"{given}{error_in_words(error)}")
        if isinstance(value, EllipsisType):
            return self._result(Status.NOT_ATTEMPTED, "not attempted yet.")
        if value is None:
            return self._result(Status.FAILED, f"{given} the function returned nothing; is a `return` missing?")
        number, complaint = as_number(value)
        return self._result(Status.FAILED, f"{given}: {complaint}") if number is None else number

    def _wrong(self, function: Callable[..., object], numbers: Sequence[float]) -> Result:
        """Return the verdict on a function that gave `numbers` in the trials up to one in which the number is wrong."""
        case, number = self.cases[len(numbers) - 1], numbers[-1]
        expected = self.reference(**case)
        misconceptions = [(trap.number(**case), trap.sentence) for trap in self.misconceptions]
        slip = named_slip(number, expected, self.tolerance, misconceptions, self.unit)
        # Each trial is called once and in order, as in a sandbox, which calls the function before it is judged.
        others = (self._number(function, other) for other in self.cases[len(numbers) :])
        all_numbers = [*numbers, *itertools.takewhile(lambda other: other is not None, others)]
        if not slip and self._are_rounded(all_numbers, possible_roundings(number, expected)):
            slip = "The digits are right, but too few: return the number as it is computed, not rounded."
        got = with_unit(number, self.unit)
        names_constant = any(trap.sentence == slip and self._is_constant(trap) for trap in self.misconceptions)
        if (
            not names_constant
            and all_numbers == [number] * len(self.cases)
            and len({self.reference(**each) for each in self.cases}) > 1
        ):
            said = f"It returns {got} for other arguments, too: is a number written into the function that should follow from them?"
            return self._result(Status.FAILED, f"for {self.words(case)} got {got}.", said)
        sentences = [slip or direction(number, expected)]
        if not slip and self._given(case) != self._given(self.cases[0]):
            sentences.append(self._comparison_with_first(function, case))
        return self._result(Status.FAILED, f"for {self.words(case)} got {got}.", *sentences)

    def _given(self, case: Mapping[str, Any]) -> str:
        """Return the arguments that the student's function gets in a trial as text; two trials with the same may judge two
        parts of its result.
        """
        return arguments_in_words(self.arguments(case))

    def _comparison_with_first(self, function: Callable[..., object], case: Mapping[str, Any]) -> str:
        """Return a sentence that compares a failed trial, whose arguments are `case`, with the first one, which was right:
        with an argument that makes no difference to the function, if there is one.
        """
        ignored = self._ignored_argument(function, case)
        if ignored:
            return f"It returns the same for another {ignored}: is a number written into the function in its place?"
        return f"The first trial ({self.words(self.cases[0])}) was right: what differs between the two?"

    def _ignored_argument(self, function: Callable[..., object], case: Mapping[str, Any]) -> str:
        """Return the name of a number among the arguments of a failed trial, `case`, that makes no difference to a
        function but to the right one: both in this trial with its value of the first one, and the other way round; "" if
        there is none.
        """
        first = self.cases[0]
        for name in self.arguments(case):
            if not (is_number(case.get(name)) and is_number(first.get(name))):
                continue
            pairs = [(one, {**one, name: other[name]}) for one, other in ((first, case), (case, first))]
            given = [tuple(self._number(function, each) for each in pair) for pair in pairs]
            if all(one is not None and one == other for one, other in given) and self._differ(pairs):
                return name
        return ""

    def _differ(self, pairs: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]]) -> bool:
        """Return whether the right numbers of the two trials in each pair, given by their arguments, differ by more than
        the tolerance; False if there is none for such arguments.
        """
        try:
            return not any(
                close(self.reference(**one), self.reference(**other), self.tolerance) for one, other in pairs
            )
        except (ArithmeticError, LookupError, ValueError, NetlabError):
            return False

    def _are_rounded(self, numbers: Sequence[float | None], roundings: Sequence[Callable[[float], float]]) -> bool:
        """Return whether one of some ways of rounding leads from the right number of each trial to that of a function."""
        right = [self.reference(**case) for case in self.cases]
        return any([rounded(each) for each in right] == list(numbers) for rounded in roundings)

    def _is_constant(self, trap: Misconception) -> bool:
        """Return whether a misconception gives the same number in each trial; False if one of them divides by zero."""
        try:
            return len({trap.number(**case) for case in self.cases}) == 1
        except ArithmeticError:
            return False

    def _number(self, function: Callable[..., object], case: Mapping[str, Any]) -> float | None:
        """Return the number that a function gives in the trial with the arguments `case`; None if it fails or gives none."""
        try:
            return as_number(self.part(call_within(MAX_CALL_S, function, **self.arguments(case)), case))[0]
        except (Exception, TimeIsUpError):  # noqa: BLE001 (the failed trial has its own message)
            return None
