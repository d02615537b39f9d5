"""Opening of a chapter by its notebook: the checks, the panel and the numbers of this copy."""

import importlib
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType, SimpleNamespace
from typing import Any

from netlab.base.errors import one_of
from netlab.widgets import Panel
from netlab_course import cell_history, progress_store
from netlab_course.chapters.unsupported import install_handler
from netlab_course.checks import Check
from netlab_course.notebook_checks import NotebookCheck, judging_check
from netlab_course.own_numbers import OwnNumbers, StudentValues
from netlab_course.tries import TryCounter


class Exercises(SimpleNamespace):
    """A chapter's checks, each an attribute with its key as name."""

    def __dir__(self) -> list[str]:
        """Return the names that Tab offers: the keys of the checks."""
        return sorted(vars(self))

    def __getattr__(self, name: str) -> Any:
        """Raise AttributeError with the keys of all checks; Python calls this for a name that is none of them."""
        raise AttributeError(f"no such exercise: {one_of(name, sorted(vars(self)))}")

    def __repr__(self) -> str:
        """Return a line for each check: the call with its key, and the check's name."""
        return "\n".join(f"chapter.check.{key}(...): {check.name}" for key, check in vars(self).items())


@dataclass(frozen=True, repr=False)
class OpenChapter:
    """A chapter with the numbers of one copy of its notebook, as the notebook uses it."""

    topic: str
    """The name of the chapter's package."""
    token: str
    """The seed of the own numbers; "" for the printed ones."""
    own: StudentValues
    """The numbers of this copy."""
    check: Exercises
    """The chapter's checks, each an attribute, as the notebook calls them."""
    settings: ModuleType
    """The chapter's module `settings`: networks and helpers."""
    _panel: Callable[..., Panel] | None

    def __repr__(self) -> str:
        """Return a text with the chapter's topic and what its attributes `check` and `own` have."""
        return f"The chapter {self.topic!r}: .check has its exercises, .own the numbers of this copy."

    def panel(self, **words: Any) -> Panel:
        """Return the chapter's panel; the keyword arguments are passed on to the function `panel` of the chapter's
        module `panel`, which describes them. Raises LookupError when the chapter has no panel.
        """
        if self._panel is None:
            raise LookupError(f"the chapter {self.topic} has no panel")
        return self._panel(**words)

    def __dir__(self) -> list[str]:
        """Return the names that Tab offers: what a notebook uses."""
        return ["check", "own", "panel", "settings", "token", "topic"]


def opener(package: str) -> Callable[..., OpenChapter]:
    """Return the function `begin(token="")` with which a notebook opens the chapter whose package has this full name,
    such as "netlab_course.chapters.udp_loss".

    Its module `settings` has the own numbers in `NUMBERS`, its module `check` has the class `Checks`, which takes them;
    a chapter with a panel has it in its module `panel`.
    """
    topic = package.rpartition(".")[2]
    settings, check = (importlib.import_module(f"{package}.{part}") for part in ("settings", "check"))
    has_panel = importlib.util.find_spec(f"{package}.panel") is not None
    panel = importlib.import_module(f"{package}.panel").panel if has_panel else None
    numbers: OwnNumbers = getattr(settings, "NUMBERS", OwnNumbers({}))

    def begin(token: str = "") -> OpenChapter:
        """Open the chapter with the own numbers of `token` ("" for the printed ones): record its cells, passed
        exercises and wrong tries from now on, and return it.

        A combination with which a known mistake is close to the right answer is not used, because the check could not tell them apart.
        """
        own = numbers.draw(
            token,
            accept=lambda own: all(each.tells_apart() for each in _checks_by_name(check.Checks(own), topic).values()),
        )
        made = _checks_by_name(check.Checks(own), topic)
        install_handler()
        cell_history.begin(topic)
        for each in made.values():
            each.on_pass = lambda key: progress_store.record(topic, key)
            each.tries = TryCounter(
                lambda key, answer: progress_store.record_wrong_try(topic, key, answer, token),
                lambda key: progress_store.wrong_tries(topic, key, token),
            )
        shown = Exercises(**{key: NotebookCheck(each) for key, each in made.items()})
        return OpenChapter(topic, token, own, shown, settings, panel)

    return begin


def judging_checks(chapter: OpenChapter) -> dict[str, Any]:
    """Return the checks that judge the answers to a chapter's exercises, by the exercise's key, for graders and tests;
    they have the answers that the checks of a notebook hide.
    """
    return {key: judging_check(each) for key, each in vars(chapter.check).items()}


def _checks_by_name(made: Any, topic: str) -> dict[str, Check]:
    """Return the checks among the attributes of `made`, the object of a chapter's class `Checks`, by their names, which
    are also set as their keys. Raises LookupError when there is none.
    """
    found = {key: value for key, value in vars(made).items() if isinstance(value, Check)}
    for key, check in found.items():
        check.key = key
    if not found:
        raise LookupError(f"the chapter {topic} has no check")
    return found
