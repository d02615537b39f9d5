"""Type checks for user input (NumPy scalars, strings, bools, numbers of a thousand digits)."""

import math
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

Kind = TypeVar("Kind")

MAX_QUOTE_CHARACTERS = 120


def is_number(value: object) -> bool:
    """Return whether a value is a finite int or float; bools and texts are not.

    >>> [is_number(value) for value in (5, 0.5, True, "5", float("nan"), 10**400)]
    [True, True, False, False, False, False]
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def is_integer(value: object) -> bool:
    """Return whether a value is an int; True and False are not.

    >>> [is_integer(value) for value in (5, 5.0, True, "5")]
    [True, False, False, False]
    """
    return isinstance(value, int) and not isinstance(value, bool)


def to_python(value: Any) -> Any:
    """Return a value in a form for JSON: NumPy's scalars as Python's numbers, also in mappings, which become dicts; other
    values, such as lists and arrays, unchanged.

    >>> import numpy as np
    >>> to_python({"queue_packets": np.arange(3)[2]})
    {'queue_packets': 2}
    """
    if isinstance(value, Mapping):
        return {key: to_python(part) for key, part in value.items()}
    if isinstance(value, (str, bytes, int)) or not hasattr(value, "dtype") or getattr(value, "ndim", None) != 0:
        return value
    return value.item()


def short_repr(value: object) -> str:
    """Return a value's `repr` for an error message, cut at 120 characters; a phrase for an int of thousands of digits.

    >>> short_repr("5")
    "'5'"
    """
    try:
        text = repr(value)
    except ValueError:
        # Python refuses to print integers of more than 4300 digits.
        return "a number of thousands of digits"
    return text if len(text) <= MAX_QUOTE_CHARACTERS else text[: MAX_QUOTE_CHARACTERS - 1] + "…"


def read_list(
    value: object,
    name: str,
    kind: type[Kind],
    required: tuple[str, ...],
    problems_of: Callable[[Mapping[str, Any], str], list[str]],
) -> tuple[list[Kind], list[str]]:
    """Return the items of `value`, a list of mappings or `kind` objects in a scenario file, as `kind` objects, and a
    message for each mistake: `required` has the fields of each item, `problems_of(item, prefix)` finds more, `name` is
    the list's.
    """
    if not isinstance(value, (list, tuple)):
        return [], [f"{name} must be a list, got {short_repr(value)}"]
    items: list[Kind] = []
    problems: list[str] = []
    for number, words in enumerate(value, start=1):
        where = f"{name} {number}"
        if isinstance(words, kind):
            items.append(words)
        elif not isinstance(words, Mapping):
            problems.append(f"{where} must be an object with {' and '.join(required)}, got {short_repr(words)}")
        else:
            wrong = [f"{where}: {field} is missing" for field in required if field not in words]
            wrong += problems_of(words, where)
            problems += wrong
            items += [] if wrong else [kind(**words)]
    return items, problems
