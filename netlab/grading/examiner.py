"""The form in which an instructor says how a chapter's exercises are marked.

`solutions/examiners/<topic>.py` has one name, `EXERCISES`: for each exercise its points, and what the tutor's check does not
have: hidden cases. The right answers and the tolerances are the check's own.
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
from netlab.course.checks import Check, Function, Result
from netlab.course.own_numbers import StudentValues

CASES = 6
MOST_DRAWS = 50


class ExaminerError(NetlabError):
    """An examiner that cannot be used; the text says which and what to change."""


class Draw:
    """Draws hidden cases: the same ones for the same seed.

    Examples
    --------
    >>> Draw("a").between(1, 10) == Draw("a").between(1, 10)
    True
    """

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)  # noqa: S311 (to be drawn again is what a seed is for)

    def between(self, low: float, high: float, digits: int = 3) -> float:
        """A number from `low` to `high`, with this many significant digits."""
        value = self._random.uniform(low, high)
        return float(f"{value:.{digits}g}")

    def decades(self, low: float, high: float, digits: int = 2) -> float:
        """A number from `low` to `high`, both above 0; each power of ten is as likely as the next."""
        value = math.exp(self._random.uniform(math.log(low), math.log(high)))
        return float(f"{value:.{digits}g}")

    def whole(self, low: int, high: int) -> int:
        """A whole number from `low` to `high`, both included."""
        return self._random.randint(low, high)

    def one_of(self, values: Sequence[Any]) -> Any:
        """One of some values."""
        return values[self._random.randrange(len(values))]


@dataclass(frozen=True, kw_only=True)
class Exercise:
    """The marking scheme of an exercise."""

    points: float
    """For a right answer."""
    cases: Callable[[Draw], Mapping[str, Any]] | None = None
    """Takes a `Draw` and returns the arguments of one hidden trial; for a function."""
    number: int = CASES
    """How many hidden trials are drawn."""
    edges: Sequence[Mapping[str, Any]] = ()
    """Trials at the edges of what is asked (a rate of 0, an empty queue), besides the hidden ones."""
    edge_points: float = 0
    """How many of the points are for the edges alone; 0 asks for all trials at once."""
    shares: Sequence[float] = ()
    """For something built or measured: points for each of the check's conditions, in their order, all of `points`
    together."""
    judge: Callable[[Check, Any, StudentValues], Result] | None = None
    """Judges the answer in place of the check: takes the check, the answer and the own numbers, returns a `Result`."""
    same_as: Sequence[str] = ()
    """Functions that give the answer away, of the library ("theory.udp_goodput_limit_mbps",
    "media.Wifi.exchange_us") or of the chapter ("settings.wait_ms"): while the answer runs they raise."""

    def trials(self, check: Check, seed: str) -> tuple[list[Mapping[str, Any]], int]:
        """The trials of a function, and how many of the first of them are not edges."""
        hidden = self._hidden(check, seed)
        # A probe among them counts its uses: each student gets one of their own.
        return copy.deepcopy([*hidden, *self.edges]), len(hidden)

    def _hidden(self, check: Check, seed: str) -> list[Mapping[str, Any]]:
        """Cases drawn such that no usual slip gets by all of them."""
        if self.cases is None:
            return list(getattr(check, "cases", ()))
        for again in range(MOST_DRAWS):
            draw = Draw(f"{seed}/{again}" if again else seed)
            hidden = [self.cases(draw) for _ in range(self.number)]
            # A probe counts its uses, and a wrong search may exceed them; such an exercise has its own judgement.
            probes = any(callable(value) for case in hidden for value in case.values())
            together = hidden if self.edge_points else [*hidden, *self.edges]
            if probes or not isinstance(check, Function) or replace(check, cases=together).tells_apart():
                return hidden
        raise ExaminerError(
            f"{check.key}: in {MOST_DRAWS} draws of {self.number} hidden cases a usual slip got by. Draw more cases, or from other ranges."
        )


@dataclass(frozen=True, kw_only=True)
class Words:
    """An answer in the student's own words, which a human reads."""

    points: float
    """The most that it can get."""


def load(path: Path, keys: Sequence[str], required: Sequence[str] | None = None) -> dict[str, Exercise | Words]:
    """Read an examiner: how each exercise is marked, by key, in the order of the notebook.

    Raises ExaminerError when it is not there, is broken, or has other exercises than the notebook.

    Parameters
    ----------
    path : Path
        `solutions/examiners/<topic>.py`.
    keys : sequence of str
        The exercises of the chapter's notebook.
    required : sequence of str, optional
        Those that must have points; None is all. What comes after the summary may have none.
    """
    if not path.is_file():
        raise ExaminerError(
            f"{path} is not there: it says how the chapter is marked. docs/contributing/adding.md tells its form."
        )
    specification = importlib.util.spec_from_file_location(f"examiner_{path.stem}", path)
    if specification is None or specification.loader is None:
        raise ExaminerError(f"{path} is no Python file.")
    module: ModuleType = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    found = getattr(module, "EXERCISES", None)
    if not isinstance(found, dict):
        raise ExaminerError(f"{path} has no EXERCISES, a dictionary of the chapter's exercises.")
    lacking = [key for key in (keys if required is None else required) if key not in found]
    beyond = [key for key in found if key not in keys]
    if lacking or beyond:
        raise ExaminerError(
            f"{path} and the notebook have different exercises: "
            + "; ".join(
                f"{what} {', '.join(names)}"
                for what, names in (("without an examiner:", lacking), ("not in the notebook:", beyond))
                if names
            )
            + "."
        )
    for key, exercise in found.items():
        _require(key, exercise, path)
    return {key: found[key] for key in keys if key in found}


def _require(key: str, exercise: Any, path: Path) -> None:
    if key.endswith("-words") != isinstance(exercise, Words):
        raise ExaminerError(
            f"{path}: {key}: an exercise whose id ends in -words is `Words`, every other an `Exercise`."
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
