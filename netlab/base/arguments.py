"""Errors for wrong arguments: unknown, missing and unnamed ones, and values of a wrong type.

Python's own TypeError counts arguments, but does not name those that are allowed.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

from netlab.base.errors import ScenarioError, closest_word, one_of
from netlab.base.values import is_number, short_repr

if TYPE_CHECKING:
    import inspect

_P = ParamSpec("_P")
_T = TypeVar("_T")
_C = TypeVar("_C", bound=type)

# Spaces before a unit belong to it: with two places for the same spaces, a long text would take time by the square of its length.
_QUANTITY = re.compile(r"\s*([-+]?\d+(?:[.,]\d+)?(?:[eE][-+]?\d+)?)(?:\s*([A-Za-zµ%][A-Za-zµ%/]*))?\s*")
_FACTORS: Mapping[str, Mapping[str, float]] = {
    "mbps": {
        **dict.fromkeys(("bit", "bit/s", "bps", "b/s"), 1e-6),
        **dict.fromkeys(("k", "kbit", "kbit/s", "kbps", "kb/s"), 1e-3),
        **dict.fromkeys(("m", "mbit", "mbit/s", "mbps", "mb/s"), 1.0),
        **dict.fromkeys(("g", "gbit", "gbit/s", "gbps", "gb/s"), 1e3),
    },
    "ms": {"us": 1e-3, "µs": 1e-3, "ms": 1.0, "msec": 1.0, "s": 1e3, "sec": 1e3},
    "s": {"us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "sec": 1.0, "min": 60.0},
    "bytes": {"b": 1, "byte": 1, "bytes": 1, "k": 1e3, "kb": 1e3, "mb": 1e6, "kib": 2**10, "mib": 2**20},
    "packets": {"p": 1, "pkt": 1, "pkts": 1, "packet": 1, "packets": 1},
    "rate": {"%": 0.01, "percent": 0.01},
}
"""Factors from the unit in a text to the unit of a field; the outer key is the last word of the field's name."""
_TRUTHS = {
    **dict.fromkeys(("true", "yes", "on", "up", "1"), True),
    **dict.fromkeys(("false", "no", "off", "down", "0"), False),
}
_PERCENT_ELSEWHERE = ("loss", "plr")
"""Names of a loss rate in per cent in Mininet and in `tc`."""


def quote_number(name: str, value: object) -> str:
    """Return the end of a message about a wrong number in the field `name`: "got", the value and, if clear, a remedy.

    >>> quote_number("rate_mbps", "5"), quote_number("delay_ms", "0.1 s")
    ("got '5'; write it without quotes: rate_mbps=5", "got '0.1 s'; the unit is in the name: delay_ms=100")
    >>> quote_number("rate_mbps", (2, 19)), quote_number("seed", -1)
    ('got (2, 19); a comma makes two numbers, write a point: rate_mbps=2.19', 'got -1')
    """
    return f"got {short_repr(value)}{_number_remedy(name, value)}"


def quote_flag(name: str, value: object) -> str:
    """Return the end of a message about a field `name` that is not a bool: "got", the value and, if clear, what to write.

    >>> quote_flag("up", "no"), quote_flag("up", 3)
    ("got 'no'; write up=False", 'got 3')
    """
    truth = _TRUTHS.get(str(value).strip().lower())
    return f"got {short_repr(value)}" + ("" if truth is None else f"; write {name}={truth}")


def unknown_field(name: object, allowed: Sequence[str], value: object = ..., kind: str = "field") -> str:
    """Return the message about an unknown field `name`: the allowed names and the field that was probably meant, with
    `value` in its unit if one is given (`...` means none). `kind` is the noun for the message, such as "argument".

    >>> unknown_field("bw", ["rate_mbps", "delay_ms"], 5)
    "unknown field: got 'bw'; allowed: rate_mbps, delay_ms; did you mean rate_mbps=5?"
    >>> unknown_field("delay", ["rate_mbps", "delay_ms"], "10ms")
    "unknown field: got 'delay'; allowed: rate_mbps, delay_ms; did you mean delay_ms=10?"
    >>> unknown_field("delay_s", ["rate_mbps", "delay_ms"], 0.01)
    "unknown field: got 'delay_s'; allowed: rate_mbps, delay_ms; did you mean delay_ms=10?"
    """
    meant = closest_word(name, allowed)
    number = _as_field(meant, value) if meant else None
    if number is not None and is_number(value):
        # The name may have another unit: interval_ms=5 is interval_s=0.005.
        number *= _FACTORS.get(_unit(meant), {}).get(_unit(str(name)), 1.0)
    if number is None:
        return f"unknown {kind}: {one_of(name, allowed)}"
    if name in _PERCENT_ELSEWHERE and meant.endswith("_rate") and is_number(value):
        number /= 100
    return f"unknown {kind}: {one_of(name, allowed).rpartition('; did you mean ')[0]}; did you mean {meant}={number:g}?"


def unknown_fields(where: str, names: Iterable[object], allowed: Sequence[str], kind: str = "field") -> list[str]:
    """Return a message for each field name in `names` that is not allowed, each after the prefix `where`; if `names` is
    a mapping, its values are used in suggestions. `kind` is the noun for a name, such as "argument".
    """
    values = names if isinstance(names, Mapping) else {}
    return [
        f"{where}: {unknown_field(name, allowed, values.get(name, ...), kind)}" for name in names if name not in allowed
    ]


def explain_bad_arguments(example: str) -> Callable[[Callable[_P, _T]], Callable[_P, _T]]:
    """Return a decorator that makes wrong arguments raise ScenarioError with a correct call, `example`."""

    def decorate(function: Callable[_P, _T]) -> Callable[_P, _T]:
        """Return `function`, wrapped to raise ScenarioError for arguments that do not fit its signature."""

        @functools.wraps(function)
        def wrapper(*values: _P.args, **keywords: _P.kwargs) -> _T:
            """Return `function(*values, **keywords)`; raise ScenarioError if they do not fit its signature."""
            try:
                return function(*values, **keywords)
            except TypeError as error:
                _raise_for_arguments(error, function.__name__, function, values, keywords, example)
                raise

        return wrapper

    return decorate


def explain_bad_construction(example: str) -> Callable[[_C], _C]:
    """Return a class decorator that makes wrong arguments raise ScenarioError with a correct call, `example`."""

    def decorate(cls: _C) -> _C:
        """Replace the class's `__init__` by one that raises ScenarioError for wrong arguments, and return the class."""
        construct = cast("Any", cls).__init__

        @functools.wraps(construct)
        def wrapper(self: Any, *values: Any, **keywords: Any) -> None:
            """Construct the object `self`; raise ScenarioError if the arguments do not fit the signature."""
            try:
                construct(self, *values, **keywords)
            except TypeError as error:
                # If a class has a `__signature__`, its `__init__` takes fields as keywords that only this signature names.
                called = cls if hasattr(cls, "__signature__") else functools.partial(construct, self)
                _raise_for_arguments(error, cls.__name__, called, values, keywords, example)
                raise

        cast("Any", cls).__init__ = wrapper
        return cls

    return decorate


def _raise_for_arguments(
    error: TypeError,
    name: str,
    function: Callable[..., object],
    values: tuple[object, ...],
    keywords: Mapping[str, object],
    example: str,
) -> None:
    """Raise ScenarioError if `error` means that the positional (`values`) and keyword (`keywords`) arguments do not fit the
    signature of `function`; return if it arose inside the function. The message has `name` and `example`.
    """
    if error.__traceback__ is not None and error.__traceback__.tb_next is not None:
        return
    # `inspect` takes long to import, and the guest imports this module.
    import inspect

    raise ScenarioError(_argument_problems(name, inspect.signature(function), values, keywords, example)) from None


def _argument_problems(
    name: str, signature: inspect.Signature, values: Sequence[object], keywords: Mapping[str, object], example: str
) -> list[str]:
    """Return messages about a call's arguments that are unknown, missing, given twice or too many, else one with only
    `example`, a correct call; `name` is the function's, `values` are its positional, `keywords` its keyword arguments.
    """
    parameters = signature.parameters.values()
    unnamed = [item.name for item in parameters if item.kind is item.POSITIONAL_OR_KEYWORD]
    problems = []
    if not any(item.kind is item.VAR_KEYWORD for item in parameters):
        problems += unknown_fields(name, keywords, list(signature.parameters), "argument")
    if len(values) > len(unnamed):
        takes = f"{len(unnamed)} values without a name ({', '.join(unnamed)})" if unnamed else "no value without a name"
        which = "name the others" if unnamed else "name each"
        problems.append(
            f"{name} takes {takes}, got {len(values)}: {', '.join(map(short_repr, values))}; {which}: {example}"
        )
    else:
        problems += [
            f"{name}: {field} is given twice, first as {short_repr(value)}; keep one: {example}"
            for field, value in zip(unnamed, values, strict=False)
            if field in keywords
        ]
        required = [
            item.name
            for item in parameters
            if item.default is item.empty and item.kind in (item.POSITIONAL_OR_KEYWORD, item.KEYWORD_ONLY)
        ]
        missing = [each for each in required if each not in keywords and each not in unnamed[: len(values)]]
        if missing:
            are = "is" if len(missing) == 1 else "are"
            problems.append(f"{name}: {' and '.join(missing)} {are} missing: {example}")
    return problems or [f"{name}: it cannot be called so; write {example}"]


def _number_remedy(name: str, value: object) -> str:
    """Return the end of a message: how to write the field `name` for the text or tuple `value`; "" if unclear."""
    if isinstance(value, (list, tuple)):
        if name == "rate_mbps" and value and all(isinstance(item, (list, tuple)) and len(item) == 2 for item in value):
            return f"; a rate that changes is a trace: rate_mbps=nl.Trace({short_repr(value)})"
        if isinstance(value, tuple) and len(value) == 2 and all(type(part) is int for part in value) and value[1] >= 0:
            return f"; a comma makes two numbers, write a point: {name}={value[0]}.{value[1]}"
        return ""
    if not isinstance(value, str) or (found := _QUANTITY.fullmatch(value)) is None:
        return ""
    number = _as_field(name, value)
    if number is None:
        return "; write the number alone, without quotes and without a unit"
    if found[2] == "%":
        return f"; write a fraction: {name}={number:g}"
    return f"; {'the unit is in the name' if found[2] else 'write it without quotes'}: {name}={number:g}"


def _as_field(name: str, value: object) -> float | None:
    """Return `value`, a number or a text such as "10ms", in the unit of the field `name`; None if that fails."""
    if is_number(value):
        return float(cast("float", value))
    if not isinstance(value, str) or (found := _QUANTITY.fullmatch(value)) is None:
        return None
    number = float(found[1].replace(",", "."))
    if not found[2]:
        return number if math.isfinite(number) else None
    factor = _FACTORS.get(_unit(name), {}).get(found[2].lower())
    return None if factor is None or not math.isfinite(number * factor) else number * factor


def _unit(name: str) -> str:
    """Return the unit in a field's name, the part after its last underscore: "ms" of "delay_ms"."""
    return name.rpartition("_")[2]
