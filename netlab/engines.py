"""The interface of engines that run plans, and the choice of one. The package `netlab_engines` implements them."""

import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from netlab.base import packages
from netlab.base.errors import EngineError, RunCancelled
from netlab.plan import Clock, Outcome, Plan

OnProgress = Callable[[float], None]
"""Called with the network time that has passed, in s."""
MACHINES = ("x86_64", "aarch64")
"""The processors for which the library kernel is built; on all others it runs as WebAssembly."""
NAMES = ("pocket", "native", "library")
SELECTION = "netlab_engines.selection"


@dataclass(frozen=True)
class Requirement:
    """A requirement of an engine: its `name`, whether it is met (`ok`), what was found on this machine (`finding`), and the
    `remedy` if it is not met; without those that are `required`, nothing runs.
    """

    name: str
    ok: bool
    finding: str
    remedy: str = ""
    required: bool = True


class Engine(Protocol):
    """An engine runs plans; `clock` is "virtual" or "real". The engines of `netlab_engines` also open live networks."""

    name: str
    clock: Clock

    def requirements(self) -> list[Requirement]:
        """Return the requirements of the engine, each with its state on this machine."""

    def differences(self) -> list[str]:
        """Return a sentence for each difference between this engine and the pocket kernel in virtual time. Raises
        EngineError if the features of this machine's own kernel cannot be determined.
        """

    def fingerprint(self) -> str:
        """Return a text that changes with all that may change results: the engine's code, kernel and programs."""

    def execute(
        self, plan: Plan, *, on_progress: OnProgress | None = None, cancel: threading.Event | None = None
    ) -> Outcome:
        """Run a plan to its end and return its counters; the key `engine` has the engine's settings. `on_progress` gets
        the network time in s. Raises RunError if the run fails, RunCancelled if another thread sets `cancel`.
        """


def decide(engine: str | Engine | None = None, plans: Sequence[Plan] = ()) -> str | Engine:
    """Return the name of the engine that `choose(engine, plans)` would try, or `engine` itself if it is not None."""
    decided: str | Engine = packages.load(SELECTION).decide(engine, plans)
    return decided


def choose(engine: str | Engine | None = None, plans: Sequence[Plan] = ()) -> Engine:
    """Return the engine named `engine`, or `engine` itself if it is an engine; None means $NETLAB_ENGINE, else the
    fastest engine on this machine that supports all `plans`.

    Raises
    ------
    EngineError
        If there is no such engine.
    MissingPackageError
        If the package `netlab_engines` is not installed.
    KernelError
        If the engine has no kernel.
    NotHereError
        If no engine was named, and the only one that works here does not support all plans.
    """
    chosen: Engine = packages.load(SELECTION).choose(engine, plans)
    return chosen


def preflight(engine: str | Engine | None = None) -> str:
    """Return lines of text about the engine for experiments on this machine (`engine` or the default one) and its
    differences from the pocket kernel. Raises EngineError or KernelError, with remedies, if none can run.
    """
    text: str = packages.load(SELECTION).preflight(engine)
    return text


def clock() -> Clock:
    """Return "virtual" or "real": the clock of runs for which no engine is chosen."""
    return "real" if os.environ.get("NETLAB_ENGINE") == "native" else "virtual"


def run_length_s(duration_s: float, real_s: float) -> float:
    """Return the length of a chapter's run in s of network time: `duration_s` in virtual time, `real_s` in real time.

    Parameters
    ----------
    duration_s, real_s : float
        Network time in s.

    Examples
    --------
    >>> import netlab as nl
    >>> nl.run_length_s(240, real_s=40) in (240, 40)
    True
    """
    return real_s if clock() == "real" else duration_s


def require(requirements: list[Requirement]) -> None:
    """Raise EngineError, with what was seen and the remedies, if a requirement that is `required` is not met."""
    missing = [requirement for requirement in requirements if requirement.required and not requirement.ok]
    if missing:
        raise EngineError(
            "\n".join(f"{requirement.name}: {requirement.finding}. {requirement.remedy}" for requirement in missing)
        )


def cancelled_error() -> RunCancelled:
    """Return, without raising it, the error for a run that was stopped by its caller."""
    return RunCancelled("The run was stopped before its end; its results were discarded.")
