"""Checks as a notebook has them: they can be called and give hints, but their attributes do not tell the answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from netlab_course.checks import Check
from netlab_course.function_checks import Function
from netlab_course.hint_button import Hint

_T = TypeVar("_T")
_PUBLIC_NAMES = ("hint", "hints_left", "name", "take")


class NotebookCheck:
    """A check without the attributes that would tell the answer."""

    __slots__ = ("__weakref__",)

    def __init__(self, check: Check) -> None:
        """Set the check that judges the answers."""
        _CHECKS[self] = check

    def __call__(self, answer: object, *more: object) -> None:
        """Show the verdict on an answer, as `Check.__call__` describes it."""
        _CHECKS[self](answer, *more)

    def __dir__(self) -> list[str]:
        """Return the names that Tab offers."""
        return list(_PUBLIC_NAMES)

    def __repr__(self) -> str:
        """Return the text of the check's own repr, which says how to use it."""
        return repr(_CHECKS[self])

    def __getattr__(self, name: str) -> Any:
        """Raise AttributeError with the names that there are; Python calls this for a name that is none of them."""
        raise AttributeError(f"a check has no {name!r}; it has {', '.join(_PUBLIC_NAMES)}. Call it with your answer.")

    @property
    def name(self) -> str:
        """The name of the quantity."""
        return _CHECKS[self].name

    @property
    def key(self) -> str:
        """The attribute of `chapter.check` under which the notebook calls it."""
        return _CHECKS[self].key

    @property
    def hint(self) -> Hint:
        """An object whose call shows the next hint."""
        return Hint(self)

    @property
    def hints_left(self) -> int:
        """The number of hints that have not been shown yet."""
        return _CHECKS[self].hints_left

    def give_hint(self) -> None:
        """Show the next hint as text; after the last one, show that again."""
        _CHECKS[self].give_hint()

    @property
    def reference(self) -> Callable[..., Any]:
        """The right function, for a later cell that takes it if the student's does not pass; as an answer it does not
        count. Raises AttributeError for a check that is not of a function.
        """
        check = _CHECKS[self]
        if not isinstance(check, Function):
            return self.__getattr__("reference")  # type: ignore[no-any-return]
        return check.reference

    def take(self, answer: _T, instead: _T) -> _T:
        """Return `answer` if it is right or harmless, else `instead`, as `Check.take` describes it."""
        return _CHECKS[self].take(answer, instead)


_CHECKS: WeakKeyDictionary[NotebookCheck, Check] = WeakKeyDictionary()
"""The checks themselves; in attributes they could be found by Tab."""


def judging_check(check: NotebookCheck) -> Check:
    """Return the check that judges the answers to a notebook's check."""
    return _CHECKS[check]
