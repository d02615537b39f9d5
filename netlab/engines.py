"""The interface of all engines, and the choice of one. The package `netlab_engines` implements them."""

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
"""Called with the network time that has passed, in s."""
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
        """Return the requirements of the engine on this machine."""

    def differences(self) -> list[str]:
        """Return a sentence for each difference between this engine and the pocket kernel in virtual time.

        Raises EngineError if the features of this machine's own kernel cannot be determined.
        """

    def fingerprint(self) -> str:
        """Return a text that changes with everything that may change a plan's results: the engine's code, kernel and programs."""

    def open(self, plan: Plan | None) -> "Session":
        """Open a lab for interactive requests that can build this plan; None is for a script that builds its own network.

        Raises EngineError if something is missing or the engine does not support such labs.
        """

    def execute(
        self, plan: Plan, *, on_progress: OnProgress | None = None, cancel: threading.Event | None = None
    ) -> Outcome:
        """Run a plan and return its counters; the key `engine` describes how it ran."""


def decide(wanted: str | Engine | None = None, plans: Sequence[Plan] = ()) -> str | Engine:
    """Return the name of the engine that `choose` takes, or the engine that was passed."""
    decided: str | Engine = packages.load(SELECTION).decide(wanted, plans)
    return decided


def choose(wanted: str | Engine | None = None, plans: Sequence[Plan] = ()) -> Engine:
    """Return the engine of a name; None means $NETLAB_ENGINE, or else the one for this machine and the plans.

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
    engine: Engine = packages.load(SELECTION).choose(wanted, plans)
    return engine


def preflight(wanted: str | Engine | None = None) -> str:
    """Return lines about the engine that will run experiments on this machine, and its differences.

    Raises EngineError or KernelError if none can; the message lists what is missing, with remedies.
    """
    text: str = packages.load(SELECTION).preflight(wanted)
    return text


def clock() -> Clock:
    """Return "virtual" or "real": the clock of runs for which no engine is chosen."""
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
    """Raise EngineError with the remedies if required things are missing."""
    missing = [requirement for requirement in requirements if requirement.required and not requirement.ok]
    if missing:
        raise EngineError(
            "\n".join(f"{requirement.name}: {requirement.seen}. {requirement.remedy}" for requirement in missing)
        )


def cancelled() -> RunCancelled:
    """Return the error for a run that was stopped."""
    return RunCancelled("The run was stopped before its end; its results were discarded.")
