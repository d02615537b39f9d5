"""Functions that a student's function may call in a trial, but from which the answer cannot be read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary


class OpaqueFunction:
    """A function without attributes, in place of a callable object whose attributes would tell the answer."""

    __slots__ = ("__weakref__", "_name")

    def __init__(self, called: Callable[..., Any], name: str) -> None:
        """Set the callable object, and the text that stands for it in messages."""
        _FUNCTIONS[self] = called
        self._name = name

    def __call__(self, *values: Any, **named: Any) -> Any:
        """Return what the callable object returns for these arguments, or raise its error."""
        return _FUNCTIONS[self](*values, **named)

    def __repr__(self) -> str:
        """Return the name in angle brackets."""
        return f"<{self._name}>"


_FUNCTIONS: WeakKeyDictionary[OpaqueFunction, Callable[..., Any]] = WeakKeyDictionary()
"""The callable objects; in attributes they could be found by Tab, with their own attributes."""


def underlying_function(value: Any) -> Any:
    """Return the callable object behind an opaque function; any other value itself."""
    return _FUNCTIONS[value] if isinstance(value, OpaqueFunction) else value
