"""Check cells, which explain an answer: the value, the mistake that it suggests, and the place to look.

A chapter's checks are in `netlab_course/chapters/<topic>/check.py`, made of the kinds below. A notebook calls a check with the
student's answer and shows the message; a grader calls `judge`, which prints nothing. An untouched stub is "not
attempted", neither right nor wrong. The message about a wrong answer never contains the expected number: it names the
mistake and the call that gives a hint. The side on which a wrong number is would let a student bisect: it is told only
with a recognized mistake, and for functions, whose trials one number does not satisfy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, ClassVar, TypeVar

from netlab.base.errors import Interrupted
from netlab_course import cell_history
from netlab_course.answers import (
    answer_in_words,
    as_number,
    is_stub,
    with_unit,
)
from netlab_course.diagnosis import close, explanation, is_far, named_slip
from netlab_course.hint_button import Hint, HintButton, offer
from netlab_course.library_calls import NOT_COUNTED, is_one_of
from netlab_course.messages import AMBER, GREY, show_text
from netlab_course.misconceptions import Misconception
from netlab_course.prediction import predict
from netlab_course.tries import MAX_TRY_CHARACTERS, TRIES_BY_HALVES, WRONG_TRIES, TryCounter, tries_in_words

__all__ = [
    "Check",
    "ChoiceCheck",
    "Misconception",
    "Number",
    "Result",
    "Status",
    "predict",
    "show_text",
]

_T = TypeVar("_T")


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


@dataclass(kw_only=True, repr=False)
class Check:
    """The base of all checks: a name, hints in stages, and the display of verdicts."""

    name: str
    """The name of the quantity, with which the message begins ("goodput limit")."""
    hints: Sequence[str] = ()
    """Hints from vague to nearly the answer; each call of `hint()` shows one more."""
    same_as: Sequence[Callable[..., Any]] = ()
    """Functions of netlab or of the chapter that compute the answer: an answer may not call them, and a grader withholds
    them.
    """
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
        are further parts of a number that was written with commas. Raises Interrupted if the check is stopped.
        """
        if more:
            answer = (answer, *more)
        doubts = cell_history.doubts_about(self.key)
        if not doubts.reasons:
            try:
                self._show_verdict(answer, doubts.remarks)
            except KeyboardInterrupt:
                # The traceback would show netlab's frames, or end in a student's function, of which nothing is wrong yet.
                raise Interrupted("the check was stopped; run its cell again.") from None
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
            noun = self._guesses if tries > 1 else self._guesses.removesuffix("s")
            counted = (f"It comes after {tries} wrong {noun}, which your instructor sees: why is it this one?",)
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

    def tolerance_in_words(self) -> str:
        """Return the tolerance as text for the exercise (`[[tolerance]]`). Raises LookupError for a kind of check
        without a tolerance, such as this base class.
        """
        raise LookupError(f"the check {self.key!r} has no tolerance")

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
        """Return the verdict that a notebook shows: that of `judge`, but failed if an answer that it passes is netlab's
        own or has numbers that were not measured. A grader, which withholds netlab's functions and makes all
        measurements itself, calls `judge`.
        """
        result = self.judge(answer)
        doubt = self.doubt_about_origin(answer) if result.status is Status.PASSED else ""
        return self._result(Status.FAILED, doubt) if doubt else result

    def doubt_about_origin(self, answer: object) -> str:  # noqa: ARG002 (a subclass looks at it)
        """Return a sentence on a right answer that is netlab's own, or on numbers in it that cannot be measured or are
        others when they are measured again; "" if there is no such doubt, as for this base class.
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
        """Yield the number of every known misconception, in the check's unit, with its message; not of one that cannot
        be computed now (NaN).
        """
        numbers = ((trap.number(), trap.sentence) for trap in self.misconceptions)
        yield from ((number, sentence) for number, sentence in numbers if not math.isnan(number))

    def tells_apart(self) -> bool:
        """Return whether every known wrong number that may not be near the right one is clearly outside its tolerance
        (three times as far).
        """
        expected = right_number(self)
        far = [trap for trap in self.misconceptions if not trap.may_be_near]
        return all(is_far(trap.number(), expected, self.tolerance) for trap in far)

    def _wrong_guess(self, answer: object) -> str:
        """Return a failed answer as text if it is a number; "" if it is none, as its message does not judge its value."""
        number = as_number(answer)[0]
        return "" if number is None else repr(number)

    def is_harmless(self, answer: object) -> bool:
        """Return whether the following cells run with this answer, right or wrong; False for a stub, for what is no
        number, and for a check without the function `harmless`.
        """
        number = None if is_stub(answer) else as_number(answer)[0]
        return number is not None and self.harmless is not None and self.harmless(number)

    def doubt_about_origin(self, answer: object) -> str:  # noqa: ARG002 (it is about the cell that defines the answer)
        """Return a sentence if the notebook's cell that defines the answer, or the check's own, names a function of
        `same_as`, which a grader withholds; "" if not.
        """
        sources = [*cell_history.answer_sources(self.key), cell_history.running_source()]
        values = [value for source in sources for value in cell_history.named_values(source)]
        used = next((str(getattr(value, "__name__", "")) for value in values if is_one_of(value, self.same_as)), "")
        return f"its cell uses {used}. {NOT_COUNTED}" if used else ""

    def tolerance_in_words(self) -> str:
        """Return the tolerance as text: the check's own words, or per cent, or the number's unit if 0 is right."""
        return self.tolerance_words or ("none, it is a whole number" if self.whole else self._tolerance_text())

    def _tolerance_text(self) -> str:
        """Return the tolerance as text, such as "1 %", or in the number's unit if 0 is right."""
        return with_unit(self.tolerance, self.unit) if right_number(self) == 0 else per_cent(self.tolerance)

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
            within = "" if self.whole else f" (within {self._tolerance_text()})"
            return self._result(Status.PASSED, f"{got} is right{within}.", self.right)
        misconceptions = [(trap.number(), trap.sentence) for trap in self.misconceptions]
        if self.whole and number != int(number):
            # General advice about the formula would mislead: its value may be right and only not rounded yet.
            explained = named_slip(number, expected, self.tolerance, misconceptions, self.unit)
            return self._result(Status.FAILED, f"got {got}.", explained, "A whole number is asked for.")
        explained = explanation(number, expected, self.tolerance, misconceptions, self.unit, whole=self.whole)
        return self._result(Status.FAILED, f"got {got}.", explained)


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


def per_cent(tolerance: float) -> str:
    """Return a relative tolerance as text with two digits, such as "1 %"."""
    return f"{tolerance * 100:.2g} %"
