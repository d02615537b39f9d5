"""What every engine is: it says what is missing before it runs, and turns a plan into measurements."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from netlab.agent import files
from netlab.errors import EngineError, RunCancelled, RunError
from netlab.plan import Counters, Event, Outcome, Plan

OnEvent = Callable[[Event], None]
POLL_S = 0.01
LOG_LINES = 15
OUTGROWN = "ptrace set fp regs failed"


@dataclass(frozen=True)
class Requirement:
    """One thing that an engine needs: whether it is there, what was seen, and what to do when it is not."""

    name: str
    ok: bool
    seen: str
    remedy: str = ""
    required: bool = True


class Engine(Protocol):
    """An engine runs plans."""

    name: str
    clock: str

    def requirements(self) -> list[Requirement]:
        """All that it needs on this machine."""

    def execute(self, plan: Plan, *, on_event: OnEvent, cancel: threading.Event | None = None) -> Outcome:
        """Run a plan; returns the agent's counters and under `engine` what is to be known of how it ran."""


class EventTail:
    """Hands on the lines that the agent appends to its events file."""

    def __init__(self, folder: Path, on_event: OnEvent) -> None:
        self._path = folder / files.EVENTS
        self._on_event = on_event
        self._offset = 0
        self.started = False
        self.failure: Event | None = None

    def poll(self) -> None:
        """Read what is new."""
        try:
            with self._path.open("rb") as file:
                file.seek(self._offset)
                data = file.read()
        except FileNotFoundError:
            return
        whole = data[: data.rfind(b"\n") + 1]
        self._offset += len(whole)
        self.started = self.started or bool(whole)
        for line in whole.splitlines():
            event: Event = json.loads(line)
            if event["event"] == "error":
                self.failure = event
            self._on_event(event)


def read_result(folder: Path, tail: EventTail, log: Path) -> Counters:
    """The agent's counters, or the error that says why there is none.

    Raises
    ------
    RunError
        With the agent's own words where it had any, else with the end of the log.
    """
    result = folder / files.RESULT
    if result.exists():
        found: Counters = json.loads(result.read_text())
        return found
    if tail.failure is not None:
        raise RunError(
            tail.failure["message"] + ("\n" + tail.failure["traceback"] if "traceback" in tail.failure else "")
        )
    crash = folder / files.CRASH
    said = crash.read_text() if crash.exists() else ""
    text = log.read_text(errors="replace") if log.exists() else ""
    # Addresses of a kernel's call trace say nothing to whoever reads this.
    lines = [line for line in text.splitlines() if "[<" not in line][-LOG_LINES:]
    if OUTGROWN in text:
        said = (
            "This kernel is too old for this machine's processor, whose registers outgrew it; build a 7.x with "
            "`netlab kernel build`."
        )
    raise RunError(
        "The run ended without a result. " + (said or "Its last words were:\n" + "\n".join(lines or ["(nothing)"]))
    )


def cancelled() -> RunCancelled:
    """The error of a run that somebody stopped."""
    return RunCancelled("The run was stopped before its end; nothing of it is kept.")


def require(requirements: list[Requirement]) -> None:
    """Raise EngineError with the remedy of everything that is required and missing."""
    missing = [requirement for requirement in requirements if requirement.required and not requirement.ok]
    if missing:
        raise EngineError(
            "\n".join(f"{requirement.name}: {requirement.seen}. {requirement.remedy}" for requirement in missing)
        )
