"""Own numbers of a student: rates, delays and payloads in exercises, drawn from a token.

A chapter lists the possible values of each number; the first one is the printed one. A token selects a combination,
always the same one for the same token. Combinations in which the lesson fails are left out.
"""

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from netlab.base.errors import NetlabError

MAX_TRIES = 1000


class StudentValues(SimpleNamespace):
    """The numbers of one student's copy as attributes, and further numbers derived from them, which may be answers and
    are not printed.
    """

    __slots__ = ("_drawn",)

    def __init__(self, drawn: Mapping[str, Any], derived: Mapping[str, Any] | None = None) -> None:
        """Store the drawn numbers and those derived from them (None: no others), each by name."""
        super().__init__(**drawn, **(derived or {}))
        self._drawn = tuple(drawn)

    def __repr__(self) -> str:
        """Return the drawn numbers in lines such as "rate_mbps = 5"; derived numbers, which may be answers, are left
        out.
        """
        return "\n".join(f"{name} = {getattr(self, name)!r}" for name in self._drawn) or "no numbers of its own"

    def __getattr__(self, name: str) -> Any:
        """Raise AttributeError with the names of all numbers; Python calls this for a name that is none of them."""
        known = ", ".join(sorted(vars(self))) or "none"
        raise AttributeError(f"this chapter has no own number {name!r}; there are: {known}")


class OwnNumbers:
    """The possible own numbers of a chapter's exercises, from which a token selects.

    `choices` has the values of each number, the printed one first. `holds` returns whether the lesson holds with given
    numbers; `derive` returns further numbers that follow from them, by name. Raises NetlabError when a number has no
    values or equal ones, or the lesson fails with the printed ones.

    Examples
    --------
    >>> numbers = OwnNumbers({"rate_mbps": (5, 4, 8), "payload_bytes": (1000, 700)})
    >>> numbers.draw().rate_mbps, len(numbers)
    (5, 6)
    >>> numbers.draw("anna") == numbers.draw("anna")
    True
    """

    def __init__(
        self,
        choices: Mapping[str, Sequence[Any]],
        *,
        holds: Callable[[StudentValues], bool] | None = None,
        derive: Callable[[StudentValues], Mapping[str, Any]] | None = None,
    ) -> None:
        """Store the possible values of each number by name, the printed one first; `holds` returns whether the lesson
        holds with given numbers (None: always), `derive` returns further numbers that follow from them, by name (None:
        none). Raises NetlabError for no or equal values, or a lesson that fails with the printed ones.
        """
        for name, values in choices.items():
            if not values or len(set(values)) != len(values):
                raise NetlabError(f"{name} needs values that differ from each other, got {tuple(values)!r}.")
        self._choices = {name: tuple(values) for name, values in choices.items()}
        self._holds = holds
        self._derive = derive
        if not self._is_valid(self._combination(0)):
            raise NetlabError("The lesson does not hold with the printed numbers: change them, or `holds`.")

    def __len__(self) -> int:
        """Return the number of combinations of possible values, including those with which the lesson fails."""
        return math.prod(len(values) for values in self._choices.values())

    def values(self, name: str) -> tuple[Any, ...]:
        """Return all possible values of the number with this name, the printed one first. Raises KeyError for an
        unknown name.
        """
        return self._choices[name]

    def draw(self, token: str = "", accept: Callable[[StudentValues], bool] | None = None) -> StudentValues:
        """Return the numbers of a token, always the same for the same token; for "" the printed ones. `accept` returns
        whether numbers are usable (None: all are). Raises NetlabError when 1000 combinations contain none that is
        usable and with which the lesson holds.
        """
        if not token:
            return self._combination(0)
        for attempt in range(MAX_TRIES):
            digest = hashlib.sha256(f"{token}\n{attempt}".encode()).digest()
            own = self._combination(int.from_bytes(digest[:8], "big") % len(self))
            if self._is_valid(own) and (accept is None or accept(own)):
                return own
        raise NetlabError(f"No valid combination of own numbers found in {MAX_TRIES} tries; allow more values.")

    def _is_valid(self, own: StudentValues) -> bool:
        """Return whether the lesson holds with these numbers, by the function `holds`; True without one."""
        return self._holds is None or self._holds(own)

    def _combination(self, index: int) -> StudentValues:
        """Return the combination of numbers with this index, from 0 (the printed ones) to `len(self)` - 1, with the
        derived numbers.
        """
        drawn = {}
        for name, values in self._choices.items():
            index, place = divmod(index, len(values))
            drawn[name] = values[place]
        return StudentValues(drawn, self._derive(StudentValues(drawn)) if self._derive else {})
