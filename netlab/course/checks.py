"""Check cells: say what came, which slip it looks like and where to look, never a bare True or False.

A chapter keeps its checks in `netlab/chapters/<topic>/check.py`, made of the kinds below. A notebook calls the
check with the student's answer and reads the sentences; a grader calls `judge`, which prints nothing. A stub that
nobody has filled in is neither right nor wrong: it is not attempted. A wrong answer never earns the number that was
expected: the sentence names the slip, the direction and the kind of factor, and the call that gives a hint.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from types import EllipsisType, SimpleNamespace
from typing import Any, TypeVar

from netlab.base.time_limit import TimeIsUpError, call_within
from netlab.course import cell_history
from netlab.course.answers import (
    answer_in_words,
    arguments_in_words,
    as_number,
    is_stub,
    raised,
    with_unit,
    wrong_parameters,
)
from netlab.course.diagnosis import clear, close, diagnose, direction, named_slip
from netlab.course.hint_button import HintButton, offer
from netlab.course.messages import AMBER, GREY, show_text
from netlab.course.prediction import predict

__all__ = [
    "Check",
    "Choice",
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
LONGEST_CALL_S = 10.0


class Status(Enum):
    """What a check found."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_ATTEMPTED = "not attempted"


@dataclass(frozen=True)
class Result:
    """A check's verdict."""

    check: str
    """Name of the check."""
    status: Status
    """Passed, failed or not attempted."""
    sentences: tuple[str, ...]
    """What was expected, what came, what to look at; ready to be shown."""

    def __str__(self) -> str:
        mark = {Status.PASSED: "✓", Status.FAILED: "✗", Status.NOT_ATTEMPTED: "·"}[self.status]
        first, *more = self.sentences
        return "\n".join([f"{mark} {self.check}: {first}", *(f"  {sentence}" for sentence in more)])

    def show(self, css_class: str = "") -> None:
        """Show the verdict as a coloured line in a notebook, as the same text elsewhere."""
        colour = {Status.PASSED: "#2e7d32", Status.FAILED: "#c62828"}.get(self.status, GREY)
        # The page's style sheet knows a verdict by its classes.
        show_text(str(self), colour, f"netlab-verdict netlab-{self.status.name.lower()} {css_class}".rstrip())


@dataclass(frozen=True)
class Misconception:
    """A wrong answer that is worth a sentence of its own."""

    answer: float | Callable[..., float]
    """The wrong number; for a `Function` check the wrong formula, called like the right one."""
    sentence: str
    """What the mistake was and what to look at."""


def slips(*pairs: Any) -> list[Misconception]:
    """Return misconceptions, given as a wrong answer, its sentence, the next wrong answer, its sentence."""
    return [Misconception(answer, sentence) for answer, sentence in zip(pairs[::2], pairs[1::2], strict=True)]


def formula_slips(*pairs: Any) -> list[Misconception]:
    """Return misconceptions like `slips`; each wrong formula takes one argument that has all others (`q.rate_mbps`)."""

    def spread(formula: Callable[[Any], float]) -> Callable[..., float]:
        return lambda **case: formula(SimpleNamespace(**case))

    return [Misconception(spread(formula), sentence) for formula, sentence in zip(pairs[::2], pairs[1::2], strict=True)]


class Hint:
    """A check's next hint, which only a call gives: without its parentheses it says how to call it."""

    def __init__(self, check: Check) -> None:
        self._check = check

    def __call__(self) -> None:
        """Print the next hint."""
        self._check.give_hint()

    def __repr__(self) -> str:
        return f"For a hint add the parentheses: chapter.check.{self._check.key or '...'}.hint()"


@dataclass(kw_only=True, repr=False)
class Check:
    """What all checks share: a name, hints in stages, and showing."""

    name: str
    """What is asked for, as the first words of the message ("goodput limit")."""
    hints: Sequence[str] = ()
    """From a nudge to nearly the answer; `hint()` gives one more at each call."""
    key: str = field(default="", init=False, repr=False)
    """The name under which a notebook calls it; `begin()` fills it in."""
    on_pass: Callable[[str], None] | None = field(default=None, init=False, repr=False)
    """Called with the key when an answer is right; for the record of what was passed."""
    _hints_given: int = field(default=0, init=False, repr=False)
    _button: HintButton | None = field(default=None, init=False, repr=False, compare=False)

    def __repr__(self) -> str:
        # What a slip such as a forgotten bracket prints must hold no answer.
        return f"Check {self.name!r}: put your answer in parentheses; .hint() helps."

    def __call__(self, answer: object, *more: object) -> None:
        """Show the verdict on `answer`, unless its value is not the one that the page has; for a check cell.

        `more` is the rest of a number that was written with a comma.
        """
        if more:
            answer = (answer, *more)
        doubts = cell_history.doubts_about(self.key)
        if not doubts.reasons:
            self._show_verdict(answer, doubts.remarks)
            return
        text = "\n  ".join([f"! {self.name}: not checked.", *doubts.reasons])
        show_text(text, AMBER, "netlab-verdict netlab-unjudged")
        self._offer_hint(wanted=False)

    def _show_verdict(self, answer: object, remarks: Sequence[str] = ()) -> None:
        result = self.judge(answer)
        if result.status is Status.PASSED and self.on_pass is not None:
            self.on_pass(self.key)
        replace(result, sentences=(*result.sentences, *remarks)).show("netlab-remarked" if remarks else "")
        self._offer_hint(wanted=result.status is Status.FAILED)

    def _offer_hint(self, *, wanted: bool) -> None:
        if self._button is not None:
            self._button.close()
        self._button = offer(self) if wanted else None

    def take(self, answer: _T, instead: _T) -> _T:
        """Return `answer` if it is right, else `instead`, and say so: a mistake in one exercise does not spoil the next."""
        if self.judge(answer).status is Status.PASSED or self.is_harmless(answer):
            return answer
        if instead is not None:
            what = "a working function" if callable(instead) else answer_in_words(instead)
            show_text(f"Exercise {self.name!r} is open: this cell takes {what} instead of your answer.", GREY)
        return instead

    def is_harmless(self, answer: object) -> bool:  # noqa: ARG002 (a subclass looks at it)
        """Tell whether what follows works with this answer even where it is wrong."""
        return False

    def tells_apart(self) -> bool:
        """Tell whether every slip that this check knows lies clear of the right answer."""
        return True

    def judge(self, answer: object) -> Result:
        """Return the verdict on `answer` and print nothing; for a grader."""
        if is_stub(answer):
            return self._result(Status.NOT_ATTEMPTED, "not attempted yet.")
        result = self._judge(answer)
        if result.status is Status.FAILED and self.hints and self.key:
            return self._result(Status.FAILED, *result.sentences, f"For a hint: chapter.check.{self.key}.hint()")
        return result

    @property
    def hint(self) -> Hint:
        """What prints the next hint when it is called; each call tells more, until the hints are used up."""
        return Hint(self)

    @property
    def hints_left(self) -> int:
        """The number of hints that have not been shown yet."""
        return len(self.hints) - self._hints_given

    def give_hint(self) -> None:
        """Show the next hint."""
        show_text(self.next_hint())

    def next_hint(self) -> str:
        """Return the next hint and count it as shown; behind the last one, return the last one again."""
        if not self.hints:
            return f"{self.name}: there is no hint for this one."
        self._hints_given = min(self._hints_given + 1, len(self.hints))
        last = ", the last" if not self.hints_left else ""
        return f"Hint {self._hints_given} of {len(self.hints)}{last}: {self.hints[self._hints_given - 1]}"

    def mistakes(self) -> Iterator[tuple[object, str]]:
        """Yield every wrong answer that this check knows, each with the sentence that it gets."""
        yield from ()

    def _judge(self, answer: object) -> Result:
        raise NotImplementedError

    def _result(self, status: Status, *sentences: str) -> Result:
        return Result(self.name, status, tuple(sentence for sentence in sentences if sentence))


@dataclass(kw_only=True, repr=False)
class Number(Check):
    """One number with a unit.

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
    """The right number, or what computes it when it is asked for."""
    unit: str
    """Its unit, as printed ("" for a fraction or a count)."""
    tolerance: float
    """Largest relative error that passes (0.005 is half a per cent); where 0 is expected, the absolute one."""
    misconceptions: Sequence[Misconception] = ()
    """Wrong numbers with sentences of their own."""
    right: str = ""
    """A sentence that a right answer earns: what to take along."""
    measured: bool = False
    """Measuring the number, or reading it off the page, is the exercise: it may stand above the check."""
    whole: bool = False
    """Whether the answer is a whole number, such as a count; then `tolerance` is less than one."""
    tolerance_words: str = ""
    """The tolerance as the exercise's text gives it, where that is more than a number of per cent."""
    harmless: Callable[[float], bool] | None = None
    """Takes a number and tells whether the cells below run with it, right or wrong: of a design, the student shall
    see what comes of it."""

    def mistakes(self) -> Iterator[tuple[object, str]]:  # noqa: D102 - as the base class has it
        yield from ((_wrong_number(trap, {}), trap.sentence) for trap in self.misconceptions)

    def tells_apart(self) -> bool:  # noqa: D102 - as the base class has it
        return all(clear(_wrong_number(trap, {}), self.right_number(), self.tolerance) for trap in self.misconceptions)

    def is_harmless(self, answer: object) -> bool:  # noqa: D102 - as the base class has it
        number = None if is_stub(answer) else as_number(answer)[0]
        return number is not None and self.harmless is not None and self.harmless(number)

    def right_number(self) -> float:
        """Return the right number, in `unit`."""
        return float(self.expected()) if callable(self.expected) else float(self.expected)

    def _judge(self, answer: object) -> Result:
        number, complaint = as_number(answer)
        if number is None:
            return self._result(Status.FAILED, complaint)
        expected = self.right_number()
        got = with_unit(number, self.unit)
        if close(number, expected, self.tolerance):
            if self.whole and number != int(number):
                return self._result(Status.FAILED, f"got {got}; a whole number is asked for.")
            within = "" if self.whole else f" (within {_tolerance_text(self)})"
            return self._result(Status.PASSED, f"{got} is right{within}.", self.right)
        misconceptions = [(_wrong_number(trap, {}), trap.sentence) for trap in self.misconceptions]
        return self._result(
            Status.FAILED, f"got {got}.", diagnose(number, expected, self.tolerance, misconceptions, self.unit)
        )


@dataclass(kw_only=True, repr=False)
class Function(Check):
    """A function that must agree with a reference over several inputs."""

    reference: Callable[..., float]
    """The right function, called with keyword arguments."""
    cases: Sequence[Mapping[str, Any]]
    """Keyword arguments of each trial."""
    unit: str
    tolerance: float
    misconceptions: Sequence[Misconception] = ()
    right: str = ""
    """As in `Number`; a trap's answer is a wrong function with the reference's signature."""

    def mistakes(self) -> Iterator[tuple[object, str]]:  # noqa: D102 - as the base class has it
        yield from ((trap.answer, trap.sentence) for trap in self.misconceptions)

    def tells_apart(self) -> bool:  # noqa: D102 - as the base class has it
        # A wrong formula may be right for some inputs; it must be wrong for one at least.
        return all(
            any(clear(_wrong_number(trap, case), self.reference(**case), self.tolerance) for case in self.cases)
            for trap in self.misconceptions
        )

    def arguments(self, case: Mapping[str, Any]) -> dict[str, Any]:
        """What the student's function is called with in a trial: all of the case, where a subclass does not say else.

        A copy: a solution may use up what it is given, such as probes of which there are so many.
        """
        return copy.deepcopy(dict(case))

    def transfer(self, ends: Sequence[Any], **arguments: Any) -> Any:
        """A trial between a sender and a receiver (`answer.ends(window)`), where a subclass has it: a grader makes it itself."""
        raise NotImplementedError

    def words(self, case: Mapping[str, Any]) -> str:
        """How a trial is named: by its arguments."""
        return arguments_in_words(case)

    def call(self, case: Mapping[str, Any]) -> str:
        """How a trial's call is named while nothing is said of its result yet."""
        return self.words(case)

    def part(self, value: Any, case: Mapping[str, Any]) -> Any:  # noqa: ARG002 (a subclass looks at it)
        """What of the function's result the trial judges: all of it, where a subclass does not say else."""
        return value

    def _judge(self, answer: object) -> Result:
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
        return self._result(Status.PASSED, f"{trials}; for {self.words(self.cases[0])} it gives {example}.", self.right)

    def _failure(self, function: Callable[..., object], case: Mapping[str, Any], *, first: bool) -> Result | None:
        given = f"for {self.call(case)}"
        try:
            value = call_within(LONGEST_CALL_S, function, **self.arguments(case))
            if value is not None and value is not ...:
                value = self.part(value, case)
        except TimeIsUpError:
            late = f"{given} the function has not come back after {LONGEST_CALL_S:g} s: does its loop end?"
            return self._result(Status.FAILED, late)
        except NotImplementedError:
            return self._result(Status.NOT_ATTEMPTED, "not attempted yet.")
        except Exception as error:  # noqa: BLE001 (whatever a student's code raises is an answer to comment on)
            return self._result(Status.FAILED, f"{given}{raised(error)}")
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
        sentences = [slip or direction(number, expected)]
        if not first and not slip:
            sentences.append(
                "The first trial was right: is a number written into the function that should be a parameter?"
            )
        return self._result(Status.FAILED, f"for {self.words(case)} got {with_unit(number, self.unit)}.", *sentences)


@dataclass(kw_only=True, repr=False)
class Choice(Check):
    """One letter out of a few, each wrong one with its reason."""

    answer: str
    """The right letter."""
    reasons: Mapping[str, str]
    """For every letter, the right one too, why it is right or wrong."""

    def mistakes(self) -> Iterator[tuple[object, str]]:  # noqa: D102 - as the base class has it
        yield from ((letter, reason) for letter, reason in self.reasons.items() if letter != self.answer)

    def _judge(self, answer: object) -> Result:
        letter = answer.strip().lower() if isinstance(answer, str) else ""
        if letter not in self.reasons:
            allowed = ", ".join(repr(key) for key in self.reasons)
            return self._result(Status.FAILED, f"got {answer_in_words(answer)}; allowed: {allowed}.")
        status = Status.PASSED if letter == self.answer else Status.FAILED
        return self._result(status, f"{letter!r}: {self.reasons[letter]}")


def _wrong_number(trap: Misconception, case: Mapping[str, Any]) -> float:
    return float(trap.answer(**case)) if callable(trap.answer) else float(trap.answer)


def tolerance_in_words(check: Check) -> str:
    """Return the tolerance of a check for the text of its exercise (`[[tolerance]]`).

    Raises LookupError when the check has none.
    """
    if isinstance(check, Number) and (check.tolerance_words or check.whole):
        return check.tolerance_words or "none, it is a whole number"
    if isinstance(check, (Number, Function)):
        return _tolerance_text(check)
    raise LookupError(f"the check {check.key!r} has no tolerance")


def _tolerance_text(check: Number | Function) -> str:
    if isinstance(check, Number) and check.right_number() == 0:
        return with_unit(check.tolerance, check.unit)
    return f"{check.tolerance * 100:.2g} %"
