"""Check cells: say what came, which slip it looks like and where to look, never a bare True or False.

A chapter keeps its checks in `netlab/chapters/<topic>/check.py`, made of the kinds below. A notebook calls the
check with the student's answer and reads the sentences; a grader calls `judge`, which prints nothing. A stub that
nobody has filled in is neither right nor wrong: it is not attempted. A wrong answer never earns the figure that was
expected: the sentence names the slip, the direction and the kind of factor, and the call that gives a hint.
"""

from __future__ import annotations

import dis
import html
import inspect
import math
import sys
import sysconfig
import textwrap
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from types import EllipsisType, FunctionType
from typing import Any, TypeVar, cast

import numpy as np

from netlab.base.errors import ScenarioError
from netlab.base.location import PACKAGE
from netlab.base.values import is_number, shown
from netlab.course.time_limit import TimeIsUpError, call_within
from netlab.measure.results import Run
from netlab.network.link import LinkShape
from netlab.network.topology import Topology

_T = TypeVar("_T")
_WIDTH = 96
# How far a slip must lie from the right answer, in tolerances, for a check to tell them apart.
_CLEAR = 3.0
MANIFOLD = 10.0
GREY = "#757575"
LONGEST_CALL_S = 10.0
_STUB_OPCODES = {"RESUME", "LOAD_CONST", "RETURN_VALUE", "RETURN_CONST", "NOP", "POP_TOP"}

# Factors between a wrong number and the right one, each with the sentence that names the slip. The order
# decides where two agree within the tolerance: the slip that students make more often comes first.
# A unit's factor is said as it is, for who has met it has done the exercise. A half or a double may be a guess: of those the
# sentence says no more than it does of any figure near them, so that nobody doubles their way to an answer.
_SLIPS: tuple[tuple[float, str], ...] = (
    (1e6, "It is a million times too large: bits where megabits are meant?"),
    (1e-6, "It is a million times too small: was a number already in megabits divided by a million?"),
    (1e3, "It is a thousand times too large: kilobits for megabits, or milliseconds for seconds?"),
    (1e-3, "It is a thousand times too small: megabits for kilobits, or seconds for milliseconds?"),
    (8.0, "It is eight times too large: a byte has 8 bits; were bytes turned into bits once too often?"),
    (1 / 8, "It is eight times too small: a byte has 8 bits; are these bytes where bits are asked for?"),
    (100.0, "It is a hundred times too large: a fraction is asked for, 0.02 rather than 2 %."),
    (0.01, "It is a hundred times too small: was a percentage divided by 100 twice?"),
    (
        2.0,
        "It is too large, by about a factor of two: one way and there and back again, or one flow and two, mixed up?",
    ),
    (
        0.5,
        "It is too small, by about a factor of two: one way and there and back again, or one flow and two, mixed up?",
    ),
    (2**20 / 1e6, "It is 4.9 % too large: 'mega' is 1,000,000 here, not 1024 * 1024."),
    (1e6 / 2**20, "It is 4.6 % too small: 'mega' is 1,000,000 here, not 1024 * 1024."),
    (-1.0, "The sign is the other way round."),
)

_FAR_SLIPS = {factor for factor, _ in _SLIPS if factor < 0 or max(factor, 1 / factor) >= 8}


class Status(Enum):
    """What a check found."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_ATTEMPTED = "not attempted"


@dataclass(frozen=True)
class Result:
    """A check's verdict.

    Attributes
    ----------
    check : str
        Name of the check.
    status : Status
        Passed, failed or not attempted.
    sentences : tuple of str
        What was expected, what came, what to look at; ready to be shown.
    """

    check: str
    status: Status
    sentences: tuple[str, ...]

    def __str__(self) -> str:
        mark = {Status.PASSED: "✓", Status.FAILED: "✗", Status.NOT_ATTEMPTED: "·"}[self.status]
        lines: list[str] = []
        for index, sentence in enumerate(self.sentences):
            lead = f"{mark} {self.check}: " if index == 0 else "  "
            lines += textwrap.wrap(lead + sentence, _WIDTH, subsequent_indent="  ")
        return "\n".join(lines)

    def show(self) -> None:
        """Show the verdict as a coloured line in a notebook, as the same text elsewhere."""
        show_text(str(self), {Status.PASSED: "#2e7d32", Status.FAILED: "#c62828"}.get(self.status, GREY))


def show_text(text: str, colour: str) -> None:
    """Show a text behind a coloured line in a notebook, print it elsewhere."""
    kernel = sys.modules.get("IPython") and sys.modules["IPython"].get_ipython()
    if kernel is None or not hasattr(kernel, "kernel"):
        print(text)
        return
    style = f"border-left: 4px solid {colour}; padding-left: 8px; margin: 0; white-space: pre-wrap"
    bundle = {"text/plain": text, "text/html": f'<pre style="{style}">{html.escape(text)}</pre>'}
    sys.modules["IPython"].display.display(bundle, raw=True)


@dataclass(frozen=True)
class Trap:
    """A wrong answer that is worth a sentence of its own.

    Attributes
    ----------
    answer : float or callable
        The wrong figure; for a `Function` check the wrong formula, called like the right one.
    sentence : str
        What the mistake was and what to look at.
    """

    answer: float | Callable[..., float]
    sentence: str


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
    """What all checks share: a name, hints in stages, and showing.

    Attributes
    ----------
    name : str
        What is asked for, as the first words of the message ("goodput limit").
    hints : sequence of str
        From a nudge to nearly the answer; `hint()` gives one more at each call.
    key : str
        The name under which a notebook calls it; whoever opens the chapter fills it in.
    on_pass : callable or None
        Called with the key when an answer is right; for the record of what was passed.
    """

    name: str
    hints: Sequence[str] = ()
    key: str = field(default="", init=False, repr=False)
    on_pass: Callable[[str], None] | None = field(default=None, init=False, repr=False)
    _hints_given: int = field(default=0, init=False, repr=False)

    def __repr__(self) -> str:
        # What a slip such as a forgotten bracket prints must hold no answer.
        return f"Check {self.name!r}: put your answer in parentheses; .hint() helps."

    def __call__(self, answer: object) -> None:
        """Show the verdict on `answer`; for a check cell."""
        result = self.judge(answer)
        if result.status is Status.PASSED and self.on_pass is not None:
            self.on_pass(self.key)
        result.show()

    def take(self, answer: _T, instead: _T) -> _T:
        """Return `answer` if it is right, else `instead`, and say so: a mistake in one exercise does not spoil the next."""
        if self.judge(answer).status is Status.PASSED or self.is_harmless(answer):
            return answer
        if instead is not None:
            what = "a working function stands in" if callable(instead) else f"{_shown(instead)} stands in"
            show_text(f"Exercise {self.name!r} is open: {what} for your answer here.", GREY)
        return instead

    def is_harmless(self, answer: object) -> bool:  # noqa: ARG002 (a subclass looks at it)
        """Tell whether what follows works with this answer even where it is wrong."""
        return False

    def tells_apart(self) -> bool:
        """Tell whether every slip that this check knows lies clear of the right answer."""
        return True

    def judge(self, answer: object) -> Result:
        """Return the verdict on `answer` and print nothing; for a grader."""
        if _is_stub(answer):
            return self._result(Status.NOT_ATTEMPTED, "not attempted yet.")
        result = self._judge(answer)
        if result.status is Status.FAILED and self.hints and self.key:
            return self._result(Status.FAILED, *result.sentences, f"For a hint: chapter.check.{self.key}.hint()")
        return result

    @property
    def hint(self) -> Hint:
        """What prints the next hint when it is called; each call tells more, until the hints are used up."""
        return Hint(self)

    def give_hint(self) -> None:
        """Print the next hint."""
        if not self.hints:
            print(f"{self.name}: there is no hint for this one.")
            return
        stage = min(self._hints_given, len(self.hints) - 1)
        last = ", the last" if stage == len(self.hints) - 1 else ""
        print(textwrap.fill(f"Hint {stage + 1} of {len(self.hints)}{last}: {self.hints[stage]}", _WIDTH))
        self._hints_given = stage + 1

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

    Attributes
    ----------
    expected : float or callable
        The right figure, or what computes it when it is asked for.
    unit : str
        Its unit, as printed ("" for a fraction or a count).
    tolerance : float
        Largest relative error that passes (0.005 is half a per cent); where 0 is expected, the absolute one.
    traps : sequence of Trap
        Wrong figures with sentences of their own.
    right : str
        A sentence that a right answer earns: what to take along.
    measured : bool
        Measuring the figure, or reading it off the page, is the exercise: it may stand above the check.
    harmless : callable, optional
        Takes a number and tells whether the cells below run with it, right or wrong: of a design, the student shall see what
        comes of it.

    Examples
    --------
    >>> rtt = Number(name="RTT", expected=20.0, unit="ms", tolerance=0.01)
    >>> rtt(20.1)
    ✓ RTT: 20.1 ms is right (within 1 %).
    >>> rtt(0.02)
    ✗ RTT: got 0.02 ms.
      It is a thousand times too small: megabits for kilobits, or seconds for milliseconds?
    """

    expected: float | Callable[[], float]
    unit: str
    tolerance: float
    traps: Sequence[Trap] = ()
    right: str = ""
    measured: bool = False
    harmless: Callable[[float], bool] | None = None

    def mistakes(self) -> Iterator[tuple[object, str]]:  # noqa: D102 - as the base class has it
        yield from ((_trap_number(trap, {}), trap.sentence) for trap in self.traps)

    def tells_apart(self) -> bool:  # noqa: D102 - as the base class has it
        return all(_clear(_trap_number(trap, {}), self.figure(), self.tolerance) for trap in self.traps)

    def is_harmless(self, answer: object) -> bool:  # noqa: D102 - as the base class has it
        number = None if _is_stub(answer) else _as_number(answer)[0]
        return number is not None and self.harmless is not None and self.harmless(number)

    def figure(self) -> float:
        """Return the right figure, in `unit`."""
        return float(self.expected()) if callable(self.expected) else float(self.expected)

    def _judge(self, answer: object) -> Result:
        number, complaint = _as_number(answer)
        if number is None:
            return self._result(Status.FAILED, complaint)
        expected = self.figure()
        got = with_unit(number, self.unit)
        if _close(number, expected, self.tolerance):
            return self._result(Status.PASSED, f"{got} is right (within {_tolerance_text(self)}).", self.right)
        traps = [(_trap_number(trap, {}), trap.sentence) for trap in self.traps]
        return self._result(Status.FAILED, f"got {got}.", _diagnose(number, expected, self.tolerance, traps))


@dataclass(kw_only=True, repr=False)
class Function(Check):
    """A function that must agree with a reference over several inputs.

    Attributes
    ----------
    reference : callable
        The right function, called with keyword arguments.
    cases : sequence of mapping
        Keyword arguments of each trial.
    unit, tolerance, traps, right
        As in `Number`; a trap's answer is a wrong function with the reference's signature.
    """

    reference: Callable[..., float]
    cases: Sequence[Mapping[str, Any]]
    unit: str
    tolerance: float
    traps: Sequence[Trap] = ()
    right: str = ""

    def mistakes(self) -> Iterator[tuple[object, str]]:  # noqa: D102 - as the base class has it
        yield from ((trap.answer, trap.sentence) for trap in self.traps)

    def tells_apart(self) -> bool:  # noqa: D102 - as the base class has it
        # A wrong formula may be right for some inputs; it must be wrong for one at least.
        return all(
            any(_clear(_trap_number(trap, case), self.reference(**case), self.tolerance) for case in self.cases)
            for trap in self.traps
        )

    def arguments(self, case: Mapping[str, Any]) -> dict[str, Any]:
        """What the student's function is called with in a trial: all of the case, where a subclass does not say else."""
        return dict(case)

    def words(self, case: Mapping[str, Any]) -> str:
        """How a trial is named: by its arguments."""
        return _arguments(case)

    def part(self, value: Any, case: Mapping[str, Any]) -> Any:  # noqa: ARG002 (a subclass looks at it)
        """What of the function's result the trial judges: all of it, where a subclass does not say else."""
        return value

    def _judge(self, answer: object) -> Result:
        if not callable(answer):
            return self._result(
                Status.FAILED,
                f"expected a function, got {_shown(answer)}; pass its name, no parentheses.",
            )
        complaint = _wrong_parameters(answer, list(self.arguments(self.cases[0])))
        if complaint:
            return self._result(Status.FAILED, complaint)
        for number, case in enumerate(self.cases):
            failure = self._failure(answer, case, first=number == 0)
            if failure is not None:
                return failure
        trials = f"all {len(self.cases)} trials agree within {_tolerance_text(self)}"
        example = with_unit(self.reference(**self.cases[0]), self.unit)
        return self._result(Status.PASSED, f"{trials}; for {self.words(self.cases[0])} it gives {example}.", self.right)

    def _failure(self, function: Callable[..., object], case: Mapping[str, Any], *, first: bool) -> Result | None:
        given = f"for {self.words(case)}"
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
            return self._result(Status.FAILED, f"{given}{_raised(error)}")
        if isinstance(value, EllipsisType):
            return self._result(Status.NOT_ATTEMPTED, "not attempted yet.")
        if value is None:
            return self._result(Status.FAILED, f"{given} the function returned nothing; is a `return` missing?")
        number, complaint = _as_number(value)
        if number is None:
            return self._result(Status.FAILED, f"{given}: {complaint}")
        expected = self.reference(**case)
        if _close(number, expected, self.tolerance):
            return None
        traps = [(_trap_number(trap, case), trap.sentence) for trap in self.traps]
        slip = _named_slip(number, expected, self.tolerance, traps)
        sentences = [slip or _direction(number, expected)]
        if not first and not slip:
            sentences.append(
                "The first trial was right: is a figure written into the function that should be a parameter?"
            )
        return self._result(Status.FAILED, f"{given} got {with_unit(number, self.unit)}.", *sentences)


@dataclass(frozen=True)
class Condition:
    """One thing that a built object must fulfil.

    Attributes
    ----------
    holds : callable
        Takes the student's object and returns a truth value.
    sentence : str
        What must be, as a full sentence with "must" or "may": a student reads it where it is not so.
    look_at : str
        Where to look when it does not hold.
    seen : callable
        Takes the object and returns what is there instead: a number, some words, or an object to be quoted.
    """

    holds: Callable[[Any], bool]
    sentence: str
    look_at: str
    seen: Callable[[Any], object]

    def holds_for(self, answer: object) -> bool:
        """Tell whether an object fulfils the condition; one that lacks what it looks at does not."""
        try:
            return bool(self.holds(answer))
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):
            return False

    def complaint(self, answer: object) -> str:
        """What must be, what is there, and where to look."""
        try:
            found = self.seen(answer)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):
            found = ""
        if is_number(found):
            found = with_unit(float(cast("float", found)), "")
        words = found if isinstance(found, str) else shown(found)
        return " ".join(part for part in (self.sentence, words and f"Seen: {words.rstrip('.')}.", self.look_at) if part)


@dataclass(kw_only=True, repr=False)
class Build(Check):
    """Something built (a topology, a list of flows, a measurement) that must fulfil some conditions.

    Attributes
    ----------
    kind : type
        The type that the object must have.
    conditions : sequence of Condition
        Tried in this order, each on its own.
    right : str
        A sentence that a right answer earns.
    """

    kind: type
    conditions: Sequence[Condition]
    right: str = ""

    def _judge(self, answer: object) -> Result:
        if not isinstance(answer, self.kind):
            return self._result(Status.FAILED, f"expected {_a(self.kind.__name__)}, got {_shown(answer)}.")
        missing = [condition for condition in self.conditions if not condition.holds_for(answer)]
        if not missing:
            return self._result(Status.PASSED, f"all {len(self.conditions)} conditions hold.", self.right)
        do = "does" if len(missing) == 1 else "do"
        head = f"{len(missing)} of {len(self.conditions)} conditions {do} not hold yet."
        return self._result(Status.FAILED, head, *(condition.complaint(answer) for condition in missing))


@dataclass(kw_only=True, repr=False)
class Measurement(Build):
    """A run that the student made: its scenario and its figures must fulfil some conditions.

    The conditions look at what was run (`run.settings["scenario"]`) and at what was measured (`run.flows`,
    `run.intervals`, `run.queues`), never at the student's code.
    """

    kind: type = Run

    def _judge(self, answer: object) -> Result:
        if not isinstance(answer, self.kind):
            return self._result(
                Status.FAILED,
                f"expected what nl.run(...) returns, got {_shown(answer)}; keep it: my_run = nl.run(...).",
            )
        result = super()._judge(answer)
        if result.status is Status.FAILED:
            # What a command wrote to its error output is often all of the reason.
            return self._result(Status.FAILED, *result.sentences, *cast("Run", answer).failed_commands())
        return result


def sent(run: Run, **words: Any) -> list[dict[str, Any]]:
    """What a run sent whose words are these (`kind="udp", src="h1"`), as its scenario has it, in that order."""
    return [item for item in run.scenario["traffic"] if all(item.get(name) == value for name, value in words.items())]


def slow_links(run: Run) -> list[dict[str, Any]]:
    """The links of a run's network that have a rate, as its scenario has them, in that order."""
    return [link for link in run.scenario["topology"]["links"] if link.get("rate_mbps") is not None]


def way(run: Run, src: str, dst: str) -> list[LinkShape]:
    """What each link does on the way from one host to another; nothing where there is no way."""
    try:
        return [hop.shape for hop in Topology.from_dict(run.scenario["topology"]).path_hops(src, dst)]
    except ScenarioError:
        return []


def sending(run: Run) -> str:
    """What a run sent, in a few words: "tcp h1 to h3, ping h1 to h3"."""
    items = [
        f"{item['kind']} {item['src']} to {item['dst']}" if "src" in item else f"{item['kind']} on {item.get('host')}"
        for item in sent(run)
    ]
    return ", ".join(items)


def duration(run: Run) -> str:
    """How long a run lasted."""
    return f"{run.scenario['duration_s']:g} s"


def rates(shapes: Sequence[LinkShape]) -> str:
    """The rates of some links."""
    return ", ".join(f"{shape.rate_mbps:g} Mbit/s" for shape in shapes if shape.rate_mbps) or "none has one"


def not_plain(shapes: Sequence[LinkShape]) -> str:
    """What of some links is not plain."""
    plain = LinkShape()
    names = ("framing", "aqm", "loss_rate")
    found = [f"{name}={getattr(s, name)}" for s in shapes for name in names if getattr(s, name) != getattr(plain, name)]
    return ", ".join(dict.fromkeys(found))


def is_plain(shape: LinkShape) -> bool:
    """Tell whether a link loses nothing on purpose, has one drop-tail queue and counts as `tc` does."""
    return shape.framing == "tc" and shape.aqm == "fifo" and not shape.loss_rate


@dataclass(kw_only=True, repr=False)
class Choice(Check):
    """One letter out of a few, each wrong one with its reason.

    Attributes
    ----------
    answer : str
        The right letter.
    reasons : mapping of str to str
        For every letter, the right one too, why it is right or wrong.
    """

    answer: str
    reasons: Mapping[str, str]

    def mistakes(self) -> Iterator[tuple[object, str]]:  # noqa: D102 - as the base class has it
        yield from ((letter, reason) for letter, reason in self.reasons.items() if letter != self.answer)

    def _judge(self, answer: object) -> Result:
        letter = answer.strip().lower() if isinstance(answer, str) else ""
        if letter not in self.reasons:
            allowed = ", ".join(repr(key) for key in self.reasons)
            return self._result(Status.FAILED, f"got {_shown(answer)}; allowed: {allowed}.")
        status = Status.PASSED if letter == self.answer else Status.FAILED
        return self._result(status, f"{letter!r}: {self.reasons[letter]}")


@dataclass(frozen=True)
class Prediction:
    """What a student expected before seeing the measurement; never graded.

    Attributes
    ----------
    what : str
        The figure's name.
    value : float or None
        The expected figure; None while nothing has been written down.
    unit : str
        Its unit.
    """

    what: str
    value: float | None
    unit: str

    def compare(self, measured: float, theory: float | None = None) -> None:
        """Print the prediction beside the measured figure, and beside theory (both in the prediction's unit)."""
        seen = f"measured {with_unit(measured, self.unit)}"
        if theory is not None:
            seen = f"theory {with_unit(theory, self.unit)}, {seen}"
        if self.value is None:
            print(f"{self.what}: {seen}; no prediction was written down.")
            return
        told = f"predicted {with_unit(self.value, self.unit)}, {seen}"
        if measured == 0 or not math.isfinite(measured):
            print(f"{self.what}: {told}.")
            return
        error = (self.value - measured) / abs(measured)
        side = "above" if error > 0 else "below"
        if abs(error) < 0.001:
            verdict = "they agree to a part in a thousand"
        elif error >= MANIFOLD - 1 and measured > 0:
            verdict = f"the prediction is {self.value / measured:,.0f} times what was measured"
        else:
            verdict = f"the prediction is {100 * abs(error):.1f} % {side}"
        print(f"{self.what}: {told}; {verdict}.")


def predict(what: str, value: object, unit: str = "", *, low: float = -math.inf, high: float = math.inf) -> Prediction:
    """Keep a prediction until the measurement is there.

    Parameters
    ----------
    what : str
        The figure's name, as printed.
    value : float or Ellipsis
        The expected figure; `...` while nothing is written down.
    unit : str
        The figure's unit.
    low, high : float
        What is possible; a figure outside is kept, with a warning.

    Returns
    -------
    Prediction
        Its `compare(measured)` prints both side by side.

    Examples
    --------
    >>> limit = predict("goodput", 5, unit="Mbit/s")
    goodput: 5 Mbit/s, kept until the measurement is there.
    >>> limit.compare(4.0)
    goodput: predicted 5 Mbit/s, measured 4 Mbit/s; the prediction is 25.0 % above.
    """
    if _is_stub(value):
        print(f"{what}: no prediction yet. Put a number in place of `...` before you read on.")
        return Prediction(what, None, unit)
    number, complaint = _as_number(value)
    if number is None:
        print(f"{what}: {complaint}")
    elif not low <= number <= high:
        bounds = f"below {with_unit(low, unit)}" if number < low else f"above {with_unit(high, unit)}"
        percent = " For a fraction write 0.5, not 50." if unit == "" and high == 1 and number > 1 else ""
        print(f"{what}: {with_unit(number, unit)} is {bounds}, and that cannot be.{percent} Kept all the same.")
    else:
        print(f"{what}: {with_unit(number, unit)}, kept until the measurement is there.")
    return Prediction(what, number, unit)


def with_unit(number: float, unit: str) -> str:
    """Write a number with four significant digits and its unit.

    >>> with_unit(4.79846, "Mbit/s"), with_unit(0.0403, ""), with_unit(1066, "bytes")
    ('4.798 Mbit/s', '0.0403', '1066 bytes')
    """
    magnitude = abs(number)
    if number == 0 or 1e-4 <= magnitude < 1e7:
        decimals = 0 if number == 0 else max(0, 3 - math.floor(math.log10(magnitude)))
        text = f"{number:.{decimals}f}"
        text = text.rstrip("0").rstrip(".") if "." in text else text
    else:
        text = f"{number:.4g}"
    return f"{text} {unit}".rstrip()


def _is_stub(answer: object) -> bool:
    """Tell whether an answer is still what the student notebook came with."""
    # None is what a stub function hands on when its result is used further down.
    if answer is None or isinstance(answer, EllipsisType):
        return True
    if isinstance(answer, (list, tuple)):
        return any(isinstance(item, EllipsisType) for item in answer)
    if not isinstance(answer, FunctionType):
        return False
    # A body of `...` (with or without a docstring) compiles to nothing but "return None".
    code = answer.__code__
    constants = {type(constant) for constant in code.co_consts if constant != answer.__doc__}
    return (
        constants <= {type(None), EllipsisType}
        and {instruction.opname for instruction in dis.get_instructions(code)} <= _STUB_OPCODES
    )


def _as_number(answer: object) -> tuple[float | None, str]:
    """Return the answer as a finite float, or None and the sentence that says why it is none."""
    if isinstance(answer, str):
        return None, f"got the text {answer!r}; write the number without quotes and without its unit."
    if isinstance(answer, (bool, np.bool_)):
        return None, f"got {answer}; a number is asked for, not a truth value."
    if callable(answer):
        return None, f"got {_shown(answer)}; call it, so that its result is passed on."
    try:
        array = np.asarray(answer, dtype=float)
    except (TypeError, ValueError):
        return None, f"expected a number, got {_shown(answer)}."
    if array.size != 1:
        return None, f"expected one number, got {array.size} of them ({_shown(answer)})."
    number = float(array.reshape(()))
    if not math.isfinite(number):
        return None, f"got {number}; was something divided by zero, or a figure missing (NaN)?"
    return number, ""


def _close(number: float, expected: float, tolerance: float) -> bool:
    scale = abs(expected) if expected != 0 else 1.0
    return abs(number - expected) <= tolerance * scale * (1 + 1e-12)


def _clear(wrong: float, expected: float, tolerance: float) -> bool:
    """Tell whether a wrong figure lies well outside the tolerance around the right one."""
    return not _close(wrong, expected, _CLEAR * tolerance)


def _wrong_parameters(function: Callable[..., object], names: list[str]) -> str:
    """Say which parameters a function lacks; nothing when it can be called with these names."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return ""
    try:
        signature.bind(**dict.fromkeys(names))
    except TypeError:
        return (
            f"the function takes ({', '.join(signature.parameters)}), "
            f"but it is called with ({', '.join(names)}): keep the names that the cell came with."
        )
    return ""


def _raised(error: Exception) -> str:
    """Say what went wrong in a student's code, and in which line of it."""
    frames = traceback.extract_tb(error.__traceback__)
    theirs = [frame for frame in frames if frame.line and not _is_installed(frame.filename)]
    line = f" (in the line `{theirs[-1].line}`)" if theirs else ""
    if _is_ours(frames[-1].filename):
        # What the exercise refuses, such as one probe too many, is a sentence already.
        return f": {error.args[0] if error.args else error}{line}."
    return f" the function raised {type(error).__name__}: {error}{line}."


def _is_ours(filename: str) -> bool:
    return Path(filename).is_relative_to(PACKAGE)


def _is_installed(filename: str) -> bool:
    """Tell whether a file belongs to netlab, to Python or to a package, so that its lines are not a student's."""
    return _is_ours(filename) or any(
        Path(filename).is_relative_to(sysconfig.get_path(name)) for name in ("stdlib", "purelib", "platlib")
    )


def _trap_number(trap: Trap, case: Mapping[str, Any]) -> float:
    return float(trap.answer(**case)) if callable(trap.answer) else float(trap.answer)


def _diagnose(number: float, expected: float, tolerance: float, traps: Iterable[tuple[float, str]]) -> str:
    """Name the slip that leads from the right figure to this one; say which way it is off if none does."""
    return _named_slip(number, expected, tolerance, traps) or _direction(number, expected)


def _named_slip(number: float, expected: float, tolerance: float, traps: Iterable[tuple[float, str]]) -> str:
    """Name the slip that leads from the right figure to this one; nothing if none does."""
    # A slip must be matched more closely than the slips lie apart, or a sentence would be a guess.
    tight = min(tolerance, 0.01)
    # What was measured lies beside what the slip makes of theory: a wide tolerance says so.
    for wrong, sentence in traps:
        if _close(number, wrong, min(tolerance, 0.02)) and not _close(wrong, expected, tolerance):
            return sentence
    if expected != 0:
        for factor, sentence in _SLIPS:
            # Far from 1 a slip is as sure in a rounded answer; near it, 1.0486 must not be found in 1514/1448.
            margin = min(tolerance, 0.05) if factor in _FAR_SLIPS else min(tight, 0.002)
            if abs(factor - 1) > 2 * tolerance and _close(number, expected * factor, margin):
                return sentence
        if 0 < expected < 1 and _close(number, 1 - expected, tight):
            return "Is this the share that arrived, where the share lost is asked for, or the other way round?"
        if _close(number, 1 / expected, tight):
            return f"{_direction(number, expected)} Is the division upside down?"
    return ""


def _direction(number: float, expected: float) -> str:
    """Say on which side of the right figure a wrong one lies and about how far, never so exactly that it tells."""
    if expected == 0:
        return ""
    if number == 0:
        return "It is not zero."
    ratio = number / expected
    if ratio < 0:
        return "It has the wrong sign, and not only that."
    side = "large" if ratio > 1 else "small"
    times = max(ratio, 1 / ratio) if ratio else math.inf  # the smallest numbers there are leave no ratio
    for most, words in (
        (1.05, f"It is close, but a little too {side}: is something small forgotten, or counted twice?"),
        (1.5, f"It is too {side}, by less than a half."),
        (3.0, f"It is too {side}, by about a factor of two."),
        (30.0, f"It is too {side}, by a factor of three to thirty."),
    ):
        if times < most:
            return words
    return f"It is far too {side}."


def _tolerance_text(check: Number | Function) -> str:
    if isinstance(check, Number) and check.figure() == 0:
        return with_unit(check.tolerance, check.unit)
    return f"{check.tolerance * 100:.3g} %"


def _arguments(case: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in case.items())


def _shown(answer: object) -> str:
    """Describe an object of any type in a few words."""
    if isinstance(answer, (str, int, float, list, tuple, dict)) and len(repr(answer)) <= 60:
        return repr(answer)
    if callable(answer):
        return f"the function {getattr(answer, '__name__', 'without a name')!r}"
    return f"an object of type {type(answer).__name__}"


def _a(noun: str) -> str:
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"
