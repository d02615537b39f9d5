"""A user's own Python classes that a flow calls; each connection gets an object of the class, or a copy of the given object."""

import builtins
import copy
from collections.abc import Sequence
from typing import Any

from netlab.base.errors import one_of
from netlab.base.values import short_repr

CLASS_PREFIX = "class "
"""The prefix of a class name in the dict of a scenario and in the settings of a run."""


def is_own(value: object) -> bool:
    """Return whether a value is a user's class or object, and not one of a built-in type.

    >>> is_own("cubic"), is_own(None), is_own(object)
    (False, False, False)
    """
    return getattr(value if isinstance(value, type) else type(value), "__module__", "") != builtins.__name__


def own_name(value: object) -> str:
    """Return the name of a user's class, or of the class of a user's object."""
    return value.__name__ if isinstance(value, type) else type(value).__name__


def new_object(value: object) -> Any:
    """Return a new object of a user's class, or a copy of a user's object, so that connections share no state."""
    return value() if isinstance(value, type) else copy.deepcopy(value)


def own_problems(what: str, value: object, methods: Sequence[str]) -> list[str]:
    """Return a message for each mistake in a user's class or object, the field `what`, which may have `methods`."""
    if not is_own(value):
        return [
            f"{what} must be your own class, or an object, with some of {', '.join(methods)}; got {short_repr(value)}"
        ]
    plain = set(map(_normalize, methods))
    found = [
        f"{what}: {own_name(value)} has a method that nothing calls: {one_of(name, methods)}"
        for name in dir(value)
        if name not in methods and (name.startswith("on_") or _normalize(name) in plain)
    ]
    found += [
        f"{what}: {own_name(value)}.{name} must be a method, got {short_repr(getattr(value, name))}"
        for name in methods
        if not callable(getattr(value, name, len))
    ]
    if not found and not any(hasattr(value, name) for name in methods):
        found.append(f"{what}: {own_name(value)} has none of the methods {', '.join(methods)}")
    return found


def _normalize(name: str) -> str:
    """Return a method's name without underscores and in lower case, to recognize onAck and on_ACK."""
    return name.replace("_", "").lower()
