"""Marking schemes: the form in which an instructor defines the points of a chapter's exercises.

`solutions/examiners/<topic>.py` has one name, `EXERCISES`: for each exercise its points, and hidden cases, which the
notebook's check lacks. The right answers and the tolerances are those of the check.
"""

import copy
import importlib.util
import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

from netlab.base.errors import NetlabError
from netlab_course.checks import Check, Result
from netlab_course.function_checks import Function
from netlab_course.own_numbers import StudentValues

CASES = 6
MAX_DRAWS = 50


class ExaminerError(NetlabError):
    """A marking scheme cannot be used; the text says which one and what to change."""


class Draw:
    """A random generator for hidden cases: the same cases for the same seed.

    Examples
    --------
    >>> Draw("a").between(1, 10) == Draw("a").between(1, 10)
    True
    """

    def __init__(self, seed: str) -> None:
        """Begin the random numbers that follow from this seed, a text."""
        self._random = random.Random(seed)  # noqa: S311 (to be drawn again is what a seed is for)

    def between(self, low: float, high: float, digits: int = 3) -> float:
        """Return a random number from `low` to `high`, all equally likely, rounded to this many significant digits."""
        value = self._random.uniform(low, high)
        return float(f"{value:.{digits}g}")

    def decades(self, low: float, high: float, digits: int = 2) -> float:
        """Return a random number from `low` to `high`, both above 0, rounded to this many significant digits; each
        power of ten is equally likely.
        """
        value = math.exp(self._random.uniform(math.log(low), math.log(high)))
        return float(f"{value:.{digits}g}")

    def whole(self, low: int, high: int) -> int:
        """Return a random integer from `low` to `high`, both included."""
        return self._random.randint(low, high)

    def one_of(self, values: Sequence[Any]) -> Any:
        """Return a random element of a sequence that is not empty, all equally likely."""
        return values[self._random.randrange(len(values))]


@dataclass(frozen=True, kw_only=True)
class Exercise:
    """The marking scheme of an exercise that is answered in code: its points, and the hidden cases or conditions by
    which it gets them.
    """

    points: float
    """The points for a right answer."""
    cases: Callable[[Draw], Mapping[str, Any]] | None = None
    """For a function: takes a `Draw` and returns the arguments of one hidden trial."""
    number: int = CASES
    """The number of hidden trials."""
    edges: Sequence[Mapping[str, Any]] = ()
    """Trials at the limits of the exercise (a rate of 0, an empty queue), in addition to the hidden ones."""
    edge_points: float = 0
    """The part of the points that is only for the edges; 0 means that all trials must be right for any points."""
    shares: Sequence[float] = ()
    """For something built or measured: points for each of the check's conditions, in their order; the sum is `points`."""
    judge: Callable[[Check, Any, StudentValues], Result] | None = None
    """Judges the answer instead of the check: takes the check, the answer and the own numbers, returns a `Result`."""

    def trials(self, check: Check, seed: str) -> tuple[list[Mapping[str, Any]], int]:
        """Return a pair of the trials (dicts of arguments by name) of an exercise whose answer is a function, first
        hidden ones that follow from the seed, then edges, and the number of hidden ones. Raises ExaminerError when no
        draw of hidden ones finds all mistakes that the check knows.
        """
        hidden = self._hidden_cases(check, seed)
        # A probe among them counts its uses, so each student needs a copy.
        return copy.deepcopy([*hidden, *self.edges]), len(hidden)

    def _hidden_cases(self, check: Check, seed: str) -> list[Mapping[str, Any]]:
        """Return hidden cases (dicts of arguments by name) that follow from the seed, such that each mistake that the
        check knows fails in at least one of them (or, without points for edges, in an edge; not checked if an argument
        is a function); without `cases` those of the check. Raises ExaminerError when no draw of MAX_DRAWS has this
        property.
        """
        if self.cases is None:
            return list(getattr(check, "cases", ()))
        for again in range(MAX_DRAWS):
            draw = Draw(f"{seed}/{again}" if again else seed)
            hidden = [self.cases(draw) for _ in range(self.number)]
            # A probe counts its uses, and a wrong search may exceed them; such an exercise has a `judge`.
            probes = any(callable(value) for case in hidden for value in case.values())
            cases = hidden if self.edge_points else [*hidden, *self.edges]
            if probes or not isinstance(check, Function) or replace(check, cases=cases).tells_apart():
                return hidden
        raise ExaminerError(
            f"{check.key}: in {MAX_DRAWS} draws of {self.number} hidden cases a usual slip got by. Draw more cases, or from other ranges."
        )


@dataclass(frozen=True, kw_only=True)
class WrittenAnswer:
    """The marking scheme of a written answer, which a reviewer reads."""

    points: float
    """The maximum of its points."""


def load(path: Path, keys: Sequence[str], required: Sequence[str] | None = None) -> dict[str, Exercise | WrittenAnswer]:
    """Read a marking scheme, the Python file at `path`, by executing it; return the scheme of each exercise that it has
    by key, in the order of `keys`, the exercises of the chapter's notebook. Raises ExaminerError when the file is
    missing or its schemes are invalid, it lacks an exercise in `required` (None: all keys), or has one that is not in
    `keys`.
    """
    if not path.is_file():
        raise ExaminerError(
            f"{path} does not exist; it defines how the chapter is marked (docs/contributing/adding.md)."
        )
    specification = importlib.util.spec_from_file_location(f"examiner_{path.stem}", path)
    if specification is None or specification.loader is None:
        raise ExaminerError(f"{path} is not a Python file.")
    module: ModuleType = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    found = getattr(module, "EXERCISES", None)
    if not isinstance(found, dict):
        raise ExaminerError(f"{path} has no EXERCISES, a dictionary of the chapter's exercises.")
    missing = [key for key in (keys if required is None else required) if key not in found]
    unknown = [key for key in found if key not in keys]
    if missing or unknown:
        raise ExaminerError(
            f"{path} and the notebook have different exercises: "
            + "; ".join(
                f"{heading} {', '.join(names)}"
                for heading, names in (("without an examiner:", missing), ("not in the notebook:", unknown))
                if names
            )
            + "."
        )
    for key, exercise in found.items():
        _require(key, exercise, path)
    return {key: found[key] for key in keys if key in found}


def _require(key: str, exercise: Any, path: Path) -> None:
    """Raise ExaminerError if the scheme of the exercise with this key has another type than its key asks for (WrittenAnswer if
    it ends in "-words", else Exercise), or inconsistent points; `path` is the scheme's file, for errors.
    """
    if key.endswith("-words") != isinstance(exercise, WrittenAnswer):
        raise ExaminerError(
            f"{path}: {key}: exercises whose id ends in -words must be `WrittenAnswer`, all others `Exercise`."
        )
    if not exercise.points > 0:
        raise ExaminerError(f"{path}: {key}: points must be above 0, got {exercise.points!r}.")
    if isinstance(exercise, Exercise):
        if exercise.shares and not math.isclose(sum(exercise.shares), exercise.points):
            raise ExaminerError(
                f"{path}: {key}: the shares sum to {sum(exercise.shares):g}, not to {exercise.points:g}."
            )
        if not 0 <= exercise.edge_points < exercise.points:
            raise ExaminerError(
                f"{path}: {key}: edge_points must be from 0 to below points, got {exercise.edge_points!r}."
            )
