"""The interface of all engines, and the way to one of them. The package `netlab_engines` implements them."""

import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from netlab.base import packages
from netlab.base.errors import EngineError, RunCancelled
from netlab.protocol.plan import Clock, Outcome, Plan

if TYPE_CHECKING:
    from netlab.protocol.session import Session

OnProgress = Callable[[float], None]
"""A function that takes the network time done, in s."""
MACHINES = ("x86_64", "aarch64")
"""The processors for which the library kernel is built; on all others it runs as WebAssembly."""
NAMES = ("pocket", "native", "library")
SELECTION = "netlab_engines.selection"


@dataclass(frozen=True)
class Requirement:
    """A requirement of an engine: whether it is met, what was found, and the remedy if it is not met."""

    name: str
    ok: bool
    seen: str
    remedy: str = ""
    required: bool = True


class Engine(Protocol):
    """An engine is a place for labs: it opens sessions."""

    name: str
    clock: Clock

    def requirements(self) -> list[Requirement]:
        """Return all that the engine needs on this machine."""

    def differences(self) -> list[str]:
        """Return a sentence for each difference between this engine and the pocket kernel in virtual time.

        Raises EngineError when this machine's own kernel could not be asked what it lacks.
        """

    def fingerprint(self) -> str:
        """Return a text that differs whenever the same plan may give other numbers: code, kernel and programs of the engine."""

    def open(self, plan: Plan | None) -> "Session":
        """Open a lab for a person's requests, in which this plan can be built; None is for a script that builds by itself.

        Raises EngineError when something is missing, or the engine has no such labs.
        """

    def execute(
        self, plan: Plan, *, on_progress: OnProgress | None = None, cancel: threading.Event | None = None
    ) -> Outcome:
        """Run a plan; return the counters, and a description of the engine under `engine`."""


def decide(wanted: str | Engine | None = None, plans: Sequence[Plan] = ()) -> str | Engine:
    """Return the name of the engine that `choose` takes, or the engine that was passed."""
    decided: str | Engine = packages.load(SELECTION).decide(wanted, plans)
    return decided


def choose(wanted: str | Engine | None = None, plans: Sequence[Plan] = ()) -> Engine:
    """Return the engine of that name; None takes $NETLAB_ENGINE, or else the one that suits this machine and the plans.

    Raises
    ------
    EngineError
        When there is no such engine.
    MissingPackageError
        When the package `netlab_engines` is not installed.
    KernelError
        When the engine has no kernel.
    NotHereError
        When no engine was named, and the only one that works here cannot do all of the plans.
    """
    engine: Engine = packages.load(SELECTION).choose(wanted, plans)
    return engine


def preflight(wanted: str | Engine | None = None) -> str:
    """Say in a sentence on which engine experiments will run here, and what differs on this machine.

    Raises EngineError or KernelError when they cannot run; the text names each thing that is missing and its remedy.
    """
    text: str = packages.load(SELECTION).preflight(wanted)
    return text


def clock() -> Clock:
    """Return "virtual" or "real": the clock of runs that name no engine."""
    return "real" if os.environ.get("NETLAB_ENGINE") == "native" else "virtual"


def lasting(duration_s: float, real_s: float) -> float:
    """Return the length of a chapter's run in s: `duration_s` in virtual time, `real_s` in real time.

    Parameters
    ----------
    duration_s, real_s : float
        Network time in s.

    Examples
    --------
    >>> import netlab as nl
    >>> nl.lasting(240, real_s=40) in (240, 40)
    True
    """
    return real_s if clock() == "real" else duration_s


def require(requirements: list[Requirement]) -> None:
    """Raise EngineError with the remedy of everything that is required and missing."""
    missing = [requirement for requirement in requirements if requirement.required and not requirement.ok]
    if missing:
        raise EngineError(
            "\n".join(f"{requirement.name}: {requirement.seen}. {requirement.remedy}" for requirement in missing)
        )


def cancelled() -> RunCancelled:
    """Return the error of a run that somebody stopped."""
    return RunCancelled("The run was stopped before its end; nothing of it is kept.")
