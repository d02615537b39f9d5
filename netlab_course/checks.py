"""Check cells, which explain an answer: the value, the mistake that it suggests, and the place to look.

A chapter's checks are in `netlab_course/chapters/<topic>/check.py`, made of the kinds below. A notebook calls a check with the
student's answer and shows the message; a grader calls `judge`, which prints nothing. An untouched stub is "not
attempted", neither right nor wrong. The message about a wrong answer never contains the expected number: it names the
mistake and the call that gives a hint. The side on which a wrong number is would let a student bisect: it is told only
with a recognized mistake, and for functions, whose trials one number does not satisfy.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from types import EllipsisType, SimpleNamespace
from typing import Any, ClassVar, TypeVar

from netlab_course import cell_history
from netlab_course.answers import (
    answer_in_words,
    arguments_in_words,
    as_number,
    error_in_words,
    is_stub,
    with_unit,
    wrong_parameters,
)
from netlab_course.diagnosis import close, direction, explanation, is_far, is_rounded, named_slip
from netlab_course.hint_button import Hint, HintButton, offer
from netlab_course.library_calls import is_netlabs_own
from netlab_course.messages import AMBER, GREY, show_text
from netlab_course.opaque import OpaqueFunction, underlying_function
from netlab_course.prediction import predict
from netlab_course.tries import MAX_TRY_CHARACTERS, TRIES_BY_HALVES, WRONG_TRIES, TryCounter, tries_in_words
from netlab_user_code.time_limit import TimeIsUpError, call_within

__all__ = [
    "Check",
    "ChoiceCheck",
    "Function",
    "Misconception",
    "Number",
    "Result",
    "Status",
    "formula_slips",
    "predict",
    "show_text",
    "slips",
]

_T = TypeVar("_T")
MAX_CALL_S = 10.0
NOT_COUNTED = "This is netlab's own function, which does not count: write yours out."
"""The sentence about an answer that is a function of netlab, which a grader withholds."""


class Status(Enum):
    """The three verdicts of a check."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_ATTEMPTED = "not attempted"


@dataclass(frozen=True)
class Result:
    """A check's verdict on an answer: the check's name, the status, and the message in sentences."""

    check: str
    """Name of the check."""
    status: Status
    """Passed, failed or not attempted."""
    sentences: tuple[str, ...]
    """The message in parts: the given answer, the mistake, and the place to look."""

    def __str__(self) -> str:
        """Return the message in lines: a sign for the verdict (✓, ✗ or ·), the check's name and the first sentence,
        then one indented line for each further sentence.
        """
        mark = {Status.PASSED: "✓", Status.FAILED: "✗", Status.NOT_ATTEMPTED: "·"}[self.status]
        first, *more = self.sentences
        return "\n".join([f"{mark} {self.check}: {first}", *(f"  {sentence}" for sentence in more)])

    def show(self, css_class: str = "", metadata: Mapping[str, Any] | None = None) -> None:
        """Show the verdict as text with a coloured bar in a notebook, and as plain text elsewhere; `css_class` is an
        additional class of its HTML, and `metadata` (None: nothing) is saved with the notebook's output.
        """
        colour = {Status.PASSED: "#2e7d32", Status.FAILED: "#c62828"}.get(self.status, GREY)
        # The page's style sheet recognizes a verdict by its CSS classes.
        classes = f"netlab-verdict netlab-{self.status.name.lower()} {css_class}".rstrip()
        show_text(str(self), colour, classes, metadata)


@dataclass(frozen=True)
class Misconception:
    """A known wrong answer (a number or a formula) with its own message."""

    answer: float | Callable[..., float]
    """The wrong number; for a `Function` check the wrong formula, called like the right one."""
    sentence: str
    """The message: the mistake, and the place to look."""


def slips(*pairs: Any) -> list[Misconception]:
    """Return misconceptions from alternating wrong answers (numbers, or functions of the check's keyword arguments) and
    messages. Raises ValueError when the last message is missing.
    """
    return [Misconception(answer, sentence) for answer, sentence in zip(pairs[::2], pairs[1::2], strict=True)]


def formula_slips(*pairs: Any) -> list[Misconception]:
    """Return misconceptions from alternating wrong formulas and messages; a formula takes one object with the check's
    arguments as attributes (`lambda q: q.rate_mbps * 2`). Raises ValueError when the last message is missing.
    """

    def spread(formula: Callable[[Any], float]) -> Callable[..., float]:
        """Return a function of keyword arguments that calls `formula` with one object that has them as attributes."""
        return lambda **case: formula(SimpleNamespace(**case))

    return [Misconception(spread(formula), sentence) for formula, sentence in zip(pairs[::2], pairs[1::2], strict=True)]


@dataclass(kw_only=True, repr=False)
class Check:
    """The base of all checks: a name, hints in stages, and the display of verdicts."""

    name: str
    """The name of the quantity, with which the message begins ("goodput limit")."""
    hints: Sequence[str] = ()
    """Hints from vague to nearly the answer; each call of `hint()` shows one more."""
    key: str = field(default="", init=False, repr=False)
    """The attribute of `chapter.check` under which a notebook calls it; `begin()` sets it."""
    on_pass: Callable[[str], None] | None = field(default=None, init=False, repr=False)
    """Called with the key when an answer is right, to record the progress."""
    tries: TryCounter | None = field(default=None, init=False, repr=False)
    """Counts wrong tries, to be shown with the verdict; `begin()` sets it."""
    _guesses: ClassVar[str] = "tries"
    """The plural noun for answers that could be found by trial."""
    _hints_given: int = field(default=0, init=False, repr=False)
    _button: HintButton | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def many_tries(self) -> int:
        """The number of different wrong tries from which the right answer may have been found by trial: 4, unless a
        kind of check has another.
        """
        return TRIES_BY_HALVES

    def __repr__(self) -> str:
        """Return a text with the check's name and how to use it, without the right answer."""
        # Forgotten parentheses print this text, so it must not contain the answer.
        return f"Check {self.name!r}: put your answer in parentheses; .hint() helps."

    def __call__(self, answer: object, *more: object) -> None:
        """Show the verdict on `answer`, record a pass or a wrong try, and offer a hint after a wrong answer; if the
        cell that defines the answer was changed or has failed since, show that instead. A check cell calls this; `more`
        are further parts of a number that was written with commas.
        """
        if more:
            answer = (answer, *more)
        doubts = cell_history.doubts_about(self.key)
        if not doubts.reasons:
            self._show_verdict(answer, doubts.remarks)
            return
        text = "\n  ".join([f"! {self.name}: not checked.", *doubts.reasons])
        show_text(text, AMBER, "netlab-verdict netlab-unjudged")
        self._offer_hint(show=False)

    def _show_verdict(self, answer: object, remarks: Sequence[str] = ()) -> None:
        """Judge an answer, record a pass or a wrong try, and show the verdict with these remarks (sentences) below it;
        offer a hint if it failed.
        """
        result = self.verdict(answer)
        if result.status is Status.PASSED and self.on_pass is not None:
            self.on_pass(self.key)
        tries = self._count_tries(answer, result.status)
        counted = tries_in_words(tries, self._guesses) if result.status is Status.FAILED else ()
        if result.status is Status.PASSED and tries >= self.many_tries:
            counted = (
                f"It comes after {tries} wrong {self._guesses}, which your instructor sees: why is it this one?",
            )
        replace(result, sentences=(*result.sentences, *counted, *remarks)).show(
            "netlab-remarked" if remarks else "", {WRONG_TRIES: tries} if tries else {}
        )
        self._offer_hint(show=result.status is Status.FAILED)

    def _count_tries(self, answer: object, status: Status) -> int:
        """Record an answer whose verdict is `status` if it is wrong and could be found by trial; return the number of
        different ones so far, 0 if none are counted or nothing was attempted.
        """
        if self.tries is None or status is Status.NOT_ATTEMPTED:
            return 0
        guess = "" if status is Status.PASSED else self._wrong_guess(answer)
        return self.tries.record(self.key, guess[:MAX_TRY_CHARACTERS]) if guess else self.tries.read(self.key)

    def _wrong_guess(self, answer: object) -> str:  # noqa: ARG002 (a subclass looks at it)
        """Return the part of a failed answer that could be found by trial, as text; "" if there is none, as for this
        base class.
        """
        return ""

    def _offer_hint(self, *, show: bool) -> None:
        """Remove the hint button of the check's last verdict, and show a new one if `show` is true and a hint is
        left.
        """
        if self._button is not None:
            self._button.close()
        self._button = offer(self) if show else None

    def take(self, answer: _T, instead: _T) -> _T:
        """Return `answer` if it is right or harmless, else `instead`, so that a mistake does not spoil the next
        exercise; a note says so, unless `instead` is None. A wrong answer counts as a try, as one found by this would.
        """
        status = self.judge(answer).status
        if status is Status.PASSED or self.is_harmless(answer):
            return answer
        self._count_tries(answer, status)
        if instead is not None:
            what = "a working function" if callable(instead) else answer_in_words(instead)
            show_text(f"Exercise {self.name!r} is open: this cell takes {what} instead of your answer.", GREY)
        return instead

    def is_harmless(self, answer: object) -> bool:  # noqa: ARG002 (a subclass looks at it)
        """Return whether the following cells work with this answer even if it is wrong; False unless a subclass decides
        otherwise.
        """
        return False

    def tells_apart(self) -> bool:
        """Return whether every known mistake is clearly outside the tolerance of the right answer (three times as far);
        True for a check without mistakes.
        """
        return True

    def judge(self, answer: object) -> Result:
        """Return the verdict on `answer` and show nothing: `NOT_ATTEMPTED` for a stub such as `...`; of a wrong answer
        the message ends with the call that gives a hint, if there is one.
        """
        if is_stub(answer):
            return self._result(Status.NOT_ATTEMPTED, "not attempted yet.")
        result = self._judge(answer)
        if result.status is Status.FAILED and self.hints and self.key:
            return self._result(Status.FAILED, *result.sentences, f"For a hint: chapter.check.{self.key}.hint()")
        return result

    def verdict(self, answer: object) -> Result:
        """Return the verdict that a notebook shows: that of `judge`, but failed if an answer that it passes has numbers
        that were not measured. A grader, which makes all measurements itself, calls `judge`.
        """
        result = self.judge(answer)
        doubt = self.doubt_about_numbers(answer) if result.status is Status.PASSED else ""
        return self._result(Status.FAILED, doubt) if doubt else result

    def doubt_about_numbers(self, answer: object) -> str:  # noqa: ARG002 (a subclass looks at it)
        """Return a sentence on numbers in a right answer that cannot be measured, or are others when they are measured
        again; "" if there are none, as for this base class.
        """
        return ""

    @property
    def hint(self) -> Hint:
        """An object whose call shows the next hint, from vague to precise; after the last one, that one again."""
        return Hint(self)

    @property
    def hints_left(self) -> int:
        """The number of the check's hints that have not been shown yet."""
        return len(self.hints) - self._hints_given

    def give_hint(self) -> None:
        """Show the next hint as text; after the last one, show that again."""
        show_text(self.next_hint())

    def next_hint(self) -> str:
        """Return the next hint as text and count it as shown; after the last one, return the last one again. Without
        hints, the text says so.
        """
        if not self.hints:
            return f"{self.name}: there is no hint for this one."
        self._hints_given = min(self._hints_given + 1, len(self.hints))
        last = ", the last" if not self.hints_left else ""
        return f"Hint {self._hints_given} of {len(self.hints)}{last}: {self.hints[self._hints_given - 1]}"

    def mistakes(self) -> Iterator[tuple[object, str]]:
        """Yield every wrong answer that this check knows, with its message; none for this base class."""
        yield from ()

    def _judge(self, answer: object) -> Result:
        """Return the verdict on an answer that is not a stub; every kind of check defines it, and this base class
        raises NotImplementedError.
        """
        raise NotImplementedError

    def _result(self, status: Status, *sentences: str) -> Result:
        """Return a verdict with this check's name, a status and a message of these sentences; empty ones are left
        out.
        """
        return Result(self.name, status, tuple(sentence for sentence in sentences if sentence))


@dataclass(kw_only=True, repr=False)
class Number(Check):
    """A check of a number with a unit.

    Examples
    --------
    >>> rtt = Number(name="RTT", expected=20.0, unit="ms", tolerance=0.01)
    >>> rtt(20.1)
    ✓ RTT: 20.1 ms is right (within 1 %).
    >>> rtt(0.02)
    ✗ RTT: got 0.02 ms.
      It is a thousand times too small: seconds for milliseconds?
    """

    expected: float | Callable[[], float]
    """The right number, or a function that computes it on demand."""
    unit: str
    """The unit of the number as printed ("" for a fraction or a count)."""
    tolerance: float
    """The largest relative error that passes (0.005 is half a per cent); if the right number is 0, the largest absolute error."""
    misconceptions: Sequence[Misconception] = ()
    """Known wrong numbers with their own messages."""
    right: str = ""
    """A sentence for a right answer, with the insight to remember."""
    measured: bool = False
    """True if the exercise is to measure the number or to read it off the page, which may therefore contain it."""
    whole: bool = False
    """True if the answer is an integer, such as a count; then `tolerance` must be less than one."""
    tolerance_words: str = ""
    """The tolerance in the exercise's text, if it is not just a percentage."""
    harmless: Callable[[float], bool] | None = None
    """Returns whether the following cells run with a number, right or wrong, so that students see the effect of their design."""

    def mistakes(self) -> Iterator[tuple[object, str]]:
        """Yield the number of every known misconception, in the check's unit, with its message."""
        yield from ((_wrong_number(trap, {}), trap.sentence) for trap in self.misconceptions)

    def tells_apart(self) -> bool:
        """Return whether every known wrong number is clearly outside the tolerance of the right one (three times as
        far).
        """
        expected = right_number(self)
        return all(is_far(_wrong_number(trap, {}), expected, self.tolerance) for trap in self.misconceptions)

    def _wrong_guess(self, answer: object) -> str:
        """Return the repr of a failed answer, as a float if it is a number."""
        number = as_number(answer)[0]
        return repr(answer if number is None else number)

    def is_harmless(self, answer: object) -> bool:
        """Return whether the following cells run with this answer, right or wrong; False for a stub, for what is no
        number, and for a check without the function `harmless`.
        """
        number = None if is_stub(answer) else as_number(answer)[0]
        return number is not None and self.harmless is not None and self.harmless(number)

    def _judge(self, answer: object) -> Result:
        """Return the verdict on an answer that is not a stub: no number, right, or wrong with the mistake that explains
        it.
        """
        number, complaint = as_number(answer)
        if number is None:
            return self._result(Status.FAILED, complaint)
        expected = right_number(self)
        got = with_unit(number, self.unit)
        if close(number, expected, self.tolerance):
            if self.whole and number != int(number):
                return self._result(Status.FAILED, f"got {got}; a whole number is asked for.")
            within = "" if self.whole else f" (within {_tolerance_text(self)})"
            return self._result(Status.PASSED, f"{got} is right{within}.", self.right)
        misconceptions = [(_wrong_number(trap, {}), trap.sentence) for trap in self.misconceptions]
        if self.whole and number != int(number):
            # General advice about the formula would mislead: its value may be right and only not rounded yet.
            explained = named_slip(number, expected, self.tolerance, misconceptions, self.unit)
            return self._result(Status.FAILED, f"got {got}.", explained, "A whole number is asked for.")
        explained = explanation(number, expected, self.tolerance, misconceptions, self.unit)
        return self._result(Status.FAILED, f"got {got}.", explained)


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
                return _wrong_number(trap, {name: underlying_function(value) for name, value in given.items()})

            yield wrong, trap.sentence

    def tells_apart(self) -> bool:
        """Return whether every known wrong function is clearly outside the tolerance of the right one (three times as
        far) in at least one trial; it may be right in others.
        """
        # A wrong formula may be right for some inputs, but must be wrong for at least one.
        return all(
            any(is_far(_wrong_number(trap, case), self.reference(**case), self.tolerance) for case in self.cases)
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
        first = arguments_in_words(self.arguments(self.cases[0]))
        for number, case in enumerate(self.cases):
            again = number == 0 or arguments_in_words(self.arguments(case)) == first
            failure = self._failure(answer, case, first=again)
            if failure is not None:
                return failure
        trials = f"all {len(self.cases)} trials agree within {_tolerance_text(self)}"
        example = with_unit(self.reference(**self.cases[0]), self.unit)
        result = f"{trials}; for {self.words(self.cases[0])} it gives {example}."
        trials_again = (self.arguments(case) for case in self.cases)
        if is_netlabs_own(answer, trials_again, MAX_CALL_S):
            return self._result(Status.FAILED, f"{trials}.", NOT_COUNTED)
        return self._result(Status.PASSED, result, self.right)

    def _failure(self, function: Callable[..., object], case: Mapping[str, Any], *, first: bool) -> Result | None:
        """Return the verdict if the student's function fails in the trial with the arguments `case` or is not written
        yet, else None; `first` is True if it gets the same arguments as in the first trial.
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
        if number is None:
            return self._result(Status.FAILED, f"{given}: {complaint}")
        expected = self.reference(**case)
        if close(number, expected, self.tolerance):
            return None
        misconceptions = [(_wrong_number(trap, case), trap.sentence) for trap in self.misconceptions]
        slip = named_slip(number, expected, self.tolerance, misconceptions, self.unit)
        if not slip and is_rounded(number, expected):
            slip = "The digits are right, but too few: return the number as it is computed, not rounded."
        names_constant = any(trap.sentence == slip and self._is_constant(trap) for trap in self.misconceptions)
        if not names_constant and self._returns_constant(function, number):
            got = with_unit(number, self.unit)
            said = f"It returns {got} for other arguments, too: is a number written into the function that should follow from them?"
            return self._result(Status.FAILED, f"for {self.words(case)} got {got}.", said)
        sentences = [slip or direction(number, expected)]
        # A trial whose right number is 0, such as a stall that does not happen, may be another branch of the function.
        if not first and not slip and expected != 0:
            sentences.append(
                "The first trial was right: is a number written into the function that should be a parameter?"
            )
        return self._result(Status.FAILED, f"for {self.words(case)} got {with_unit(number, self.unit)}.", *sentences)

    def _is_constant(self, trap: Misconception) -> bool:
        """Return whether a misconception gives the same number in each trial; False if one of them divides by zero."""
        try:
            return len({_wrong_number(trap, case) for case in self.cases}) == 1
        except ArithmeticError:
            return False

    def _returns_constant(self, function: Callable[..., object], number: float) -> bool:
        """Return whether a function gives this number in each trial, though the right ones differ; False if one fails."""
        if len({self.reference(**case) for case in self.cases}) < 2:
            return False
        for case in self.cases:
            try:
                value = self.part(call_within(MAX_CALL_S, function, **self.arguments(case)), case)
            except (Exception, TimeIsUpError):  # noqa: BLE001 (the failed trial has its own message)
                return False
            if as_number(value)[0] != number:
                return False
        return True


@dataclass(kw_only=True, repr=False)
class ChoiceCheck(Check):
    """A check of a letter out of a few, with the reason why each is right or wrong."""

    answer: str
    """The right letter."""
    reasons: Mapping[str, str]
    """For every letter, also the right one, the reason why it is right or wrong."""
    _guesses: ClassVar[str] = "letters"

    def mistakes(self) -> Iterator[tuple[object, str]]:
        """Yield every wrong letter with the reason why it is wrong."""
        yield from ((letter, reason) for letter, reason in self.reasons.items() if letter != self.answer)

    @property
    def many_tries(self) -> int:
        """The number of different wrong letters from which the right one may have been found by trial: one less than
        there are, at least 2.
        """
        return max(2, len(self.reasons) - 1)

    def _wrong_guess(self, answer: object) -> str:
        """Return the letter of a failed answer, in lower case; "" if the answer is not one of the letters to choose
        from.
        """
        return letter if (letter := self._letter(answer)) in self.reasons else ""

    @staticmethod
    def _letter(answer: object) -> str:
        """Return an answer in lower case and without surrounding spaces; "" if it is not a text."""
        return answer.strip().lower() if isinstance(answer, str) else ""

    def _judge(self, answer: object) -> Result:
        """Return the verdict on a letter, in either case and with surrounding spaces, with the reason for it; anything
        else fails with the allowed letters.
        """
        letter = self._letter(answer)
        if letter not in self.reasons:
            allowed = ", ".join(repr(key) for key in self.reasons)
            return self._result(Status.FAILED, f"got {answer_in_words(answer)}; allowed: {allowed}.")
        status = Status.PASSED if letter == self.answer else Status.FAILED
        return self._result(status, f"{letter!r}: {self.reasons[letter]}")


def right_number(check: Number) -> float:
    """Return the right number of a check, in the unit `check.unit`, computing it if the check has a function for it."""
    return float(check.expected()) if callable(check.expected) else float(check.expected)


def _wrong_number(trap: Misconception, case: Mapping[str, Any]) -> float:
    """Return the wrong number of a misconception, in the check's unit; a wrong function is called with the keyword
    arguments `case` of a trial.
    """
    return float(trap.answer(**case)) if callable(trap.answer) else float(trap.answer)


def tolerance_in_words(check: Check) -> str:
    """Return the tolerance of a check as text for its exercise (`[[tolerance]]`): the check's own words, or per cent,
    or the number's unit if 0 is right. Raises LookupError for a kind of check without a tolerance.
    """
    if isinstance(check, Number) and (check.tolerance_words or check.whole):
        return check.tolerance_words or "none, it is a whole number"
    if isinstance(check, (Number, Function)):
        return _tolerance_text(check)
    raise LookupError(f"the check {check.key!r} has no tolerance")


def _tolerance_text(check: Number | Function) -> str:
    """Return the tolerance of a check as text, such as "1 %", or in the check's unit if the right number is 0."""
    if isinstance(check, Number) and right_number(check) == 0:
        return with_unit(check.tolerance, check.unit)
    return f"{check.tolerance * 100:.2g} %"
