"""The interface of a contest's game: what competes, in which trials, for which points, and how the board draws it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from netlab_classroom.contest.drawing import Plane


class Trial(Protocol):
    """A trial of a game, in which all competitors get points."""

    @property
    def key(self) -> str:
        """The trial's name in tables, such as "walk"."""

    @property
    def title(self) -> str:
        """The trial's name in words, such as "a rate that wanders"."""


@dataclass(frozen=True)
class TrialResult:
    """The result of a competitor in a trial."""

    score: dict[str, float]
    """The points, from 0 to 100, by "points", and the measurements from which they follow, by name."""
    series: list[list[float]]
    """A value over time that the board can draw: pairs of the time in s and the value."""


@dataclass(frozen=True)
class Wording:
    """The words of a game on the board."""

    heading: str
    about: str
    """The heading of the figure of all competitors, and a sentence about it."""
    x_label: str
    y_label: str
    series: str
    """The titles of its axes, and the name of the value over time."""
    series_label: str
    """The title of the axis of this value, with its unit."""


class Game(ABC):
    """A kind of contest.

    Attributes
    ----------
    key : str
        Its name on the command line.
    methods : tuple of str
        A class with one of these methods competes.
    unfinished_score : dict
        The score of a competitor that has not finished a trial.
    displayed_trial : str
        The key of the trial of which the board draws the value over time.
    reference : str
        The reference competitor that the board draws there with the winner.
    wording : Wording
        Its words on the board.
    """

    key: str
    methods: tuple[str, ...]
    unfinished_score: Mapping[str, float]
    displayed_trial: str
    reference: str
    wording: Wording

    @abstractmethod
    def draw(self, seed: str) -> Sequence[Any]:
        """Return the trials (objects with the properties of Trial) that follow from a seed, a text, in the order of the
        board.
        """

    @abstractmethod
    def references(self) -> Mapping[str, object]:
        """Return the reference competitors, which compete with the students' classes, by name: classes, or names of
        Linux's congestion controls.
        """

    @abstractmethod
    def is_own(self, reference: str) -> bool:
        """Return whether the reference competitor of this name is netlab's own, not Linux's."""

    @abstractmethod
    def play(self, trial: Any, competitor: object) -> TrialResult:
        """Let a competitor (a class, a proxy for a student's, or the name of a congestion control) take part in a trial
        of `draw`, and return its result. Raises NetlabError when its code fails.
        """

    @abstractmethod
    def spot(self, trials: Sequence[Any], scores: Mapping[str, Mapping[str, float]]) -> tuple[float, float] | None:
        """Return the place of a competitor in the figure, the values on its two axes, from its scores by key of the
        trial; None if it has no result to show.
        """

    @abstractmethod
    def plane(self, spots: Sequence[tuple[float, float]]) -> Plane:
        """Return the axes of the figure that shows competitors at these places, each a pair of values on the axes."""

    @abstractmethod
    def spot_in_words(self, x: float, y: float) -> str:
        """Return a place in the figure, the values `x` and `y` on its axes, as text with units."""
