"""Conditions on an interval that refute a statement, such as "high < 25", which a student writes before measuring.

A condition is parsed here and never run as Python, and it is tried on intervals on all sides of the statement's number.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from netlab.base.errors import NetlabError
from netlab_course.answers import answer_in_words, with_unit

NAMES = ("low", "high", "mean", "half")
"""The names that a condition may use: the edges of an interval, their mean, and half of its width."""
EXAMPLE = "low > 1 and high < 2"
"""A condition that refutes no statement on a mean, to show the form."""
MAX_CHARACTERS = 200
_COMPARISONS: Mapping[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_ARITHMETIC: Mapping[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_TYPED = {"≤": "<=", "≥": ">=", "=<": "<=", "=>": ">="}
"""Python's signs for those that students type instead."""
_TYPICAL_EDGES = ((0.8, 0.9), (1.1, 1.2), (0.9, 1.1), (0.6, 1.02), (0.98, 1.4))
"""Edges of the intervals with which a wrong condition is explained first, in multiples of the statement's number."""
_EDGES = (-1.0, -0.5, 0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 0.95, 0.98, 1.02, 1.05, 1.1, 1.3, 1.6, 2.0, 3.0, 10.0, 100.0)
"""Edges of all intervals on which a condition is tried, in multiples of the number; none is so near to it that a number
with two digits makes a difference.
"""


@dataclass(frozen=True)
class IntervalCondition:
    """A condition on the edges of an interval, such as "high < 25"."""

    _expression: ast.expr

    def holds_for(self, low: float, high: float) -> bool:
        """Return whether the condition holds for the interval from `low` to `high`.

        Raises
        ------
        NetlabError
            If the condition divides by zero.
        """
        values = {"low": low, "high": high, "mean": (low + high) / 2, "half": (high - low) / 2}
        try:
            return bool(_value(self._expression, values))
        except (ZeroDivisionError, OverflowError):
            raise NetlabError("it divides by zero") from None


def parse_condition(text: str) -> IntervalCondition:
    """Return the condition in a student's text.

    Raises
    ------
    NetlabError
        If the text is not a condition on `NAMES`; the message says what is wrong, as a part of a sentence.
    """
    source = " ".join(text.split()).lower()
    for typed, sign in _TYPED.items():
        source = source.replace(typed, sign)
    if len(source) > MAX_CHARACTERS:
        raise NetlabError(f"{len(source)} characters; a condition has at most {MAX_CHARACTERS}")
    try:
        expression = ast.parse(source, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise NetlabError(f'{answer_in_words(text)}, which is not a condition such as "{EXAMPLE}"') from None
    problem = next(_problems(expression), "")
    if problem:
        raise NetlabError(f"{answer_in_words(text)}: {problem}")
    if not isinstance(expression, (ast.Compare, ast.BoolOp, ast.UnaryOp)):
        raise NetlabError(f"{answer_in_words(text)}, which compares nothing")
    return IntervalCondition(expression)


def refutation_problem(text: str, number: float, *, above: bool, unit: str) -> str:
    """Return what is wrong with a student's condition on an interval that refutes a statement on a mean, as a part of a
    sentence; "" if nothing is.

    Parameters
    ----------
    text : str
        The condition, such as "high < 25".
    number : float
        The number of the statement, above 0.
    above : bool
        True if the mean is said to be above the number; False if below it.
    unit : str
        The unit of the number and of the edges.
    """
    try:
        condition = parse_condition(text)
        for low, high in _intervals(number):
            held = condition.holds_for(low, high)
            if held != (high < number if above else low > number):
                interval = f"the interval from {with_unit(low, unit)} to {with_unit(high, unit)}"
                return f"{text.strip()!r} {'holds' if held else 'does not hold'} for {interval}, {_meaning(low, high, number, above=above)}"
    except NetlabError as error:
        return str(error)
    return ""


def _meaning(low: float, high: float, number: float, *, above: bool) -> str:
    """Return a relative clause on what the interval from `low` to `high` means for a statement on a mean."""
    if low < number < high:
        return "which leaves the statement undecided"
    return f"in which {'each' if (low > number) == above else 'no'} value agrees with the statement"


def _intervals(number: float) -> Iterator[tuple[float, float]]:
    """Yield the edges of the intervals on which a condition is tried, those that explain a mistake best first."""
    others = [(low, high) for low in _EDGES for high in _EDGES if low < high]
    pairs = [*_TYPICAL_EDGES, *sorted(others, key=lambda edges: edges[1] - edges[0])]
    return ((low * number, high * number) for low, high in pairs)


def _problems(node: ast.expr) -> Iterator[str]:
    """Yield what a condition may not have, such as a name other than `NAMES`, as parts of a sentence."""
    match node:
        case ast.Compare(left=left, ops=ops, comparators=others):
            if any(type(sign) not in _COMPARISONS for sign in ops):
                yield "compare with <, <=, > or >="
            parts = [left, *others]
        case ast.BoolOp(values=parts):
            alone = [part for part in parts if not isinstance(part, (ast.Compare, ast.BoolOp, ast.UnaryOp))]
            yield from (f"{ast.unparse(part)} is compared with nothing" for part in alone)
        case ast.BinOp(left=left, op=sign, right=right):
            if type(sign) not in _ARITHMETIC:
                yield "calculate with +, -, * and / alone"
            parts = [left, right]
        case ast.UnaryOp(op=ast.Not() | ast.USub() | ast.UAdd(), operand=operand):
            parts = [operand]
        case ast.Name(id=name):
            parts = []
            if name not in NAMES:
                yield f"the name {name}; the names are {', '.join(NAMES)}, and the statement's number is written as a number"
        case ast.Constant(value=bool() | int() | float()):
            parts = []
        case ast.Attribute():
            parts = []
            yield f"{ast.unparse(node)} is Python; write the number itself"
        case ast.Tuple():
            parts = []
            yield "a comma; a number has a point, as in 2.5"
        case _:
            parts = []
            yield f"{ast.unparse(node)}; only numbers and the names {', '.join(NAMES)} can be compared"
    for part in parts:
        yield from _problems(part)


def _value(node: ast.expr, values: Mapping[str, float]) -> Any:
    """Return the value of a part of a condition in which `_problems` found nothing, with these values of its names."""
    match node:
        case ast.Compare(left=left, ops=ops, comparators=others):
            numbers = [_value(part, values) for part in (left, *others)]
            pairs = zip(ops, numbers[:-1], numbers[1:], strict=True)
            return all(_COMPARISONS[type(sign)](one, other) for sign, one, other in pairs)
        case ast.BoolOp(op=sign, values=parts):
            held = [bool(_value(part, values)) for part in parts]
            return all(held) if isinstance(sign, ast.And) else any(held)
        case ast.BinOp(left=left, op=sign, right=right):
            return _ARITHMETIC[type(sign)](_value(left, values), _value(right, values))
        case ast.UnaryOp(op=sign, operand=operand):
            value = _value(operand, values)
            return not value if isinstance(sign, ast.Not) else -value if isinstance(sign, ast.USub) else value
        case ast.Name(id=name):
            return values[name]
        case ast.Constant(value=value):
            return value
    raise AssertionError(ast.dump(node))
