"""What every engine is: it says what is missing before it runs, and turns a plan into measurements."""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from netlab.agent import files
from netlab.agent.artifacts import MOST_BYTES
from netlab.base import scratch
from netlab.base.errors import EngineError, NotHereError, RunCancelled, RunError
from netlab.protocol.plan import Counters, Event, Outcome, Plan
from netlab.traffic import KINDS

OnEvent = Callable[[Event], None]
POLL_S = 0.01
BUSY_PATIENCE = 6
LOG_LINES = 15
MOST_CAPTURED_BYTES = 512 << 20
"""Some two million packets; their table takes about as much memory."""
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


def follow(
    process: subprocess.Popen[bytes],
    tail: EventTail,
    cancel: threading.Event | None,
    start_patience_s: float = math.inf,
) -> None:
    """Hand on what the agent tells until its process ends, or has told nothing for so long that it cannot have started.

    Raises
    ------
    RunCancelled
        When `cancel` was set.
    """
    began_s = time.monotonic()
    while process.poll() is None:
        tail.poll()
        if cancel is not None and cancel.is_set():
            raise cancelled()
        waited_s = time.monotonic() - began_s
        # On a busy machine a start takes long because it gets little of the processor, not because it hangs.
        if (
            not tail.started
            and waited_s > start_patience_s
            and (waited_s > BUSY_PATIENCE * start_patience_s or processor_s(process.pid) > start_patience_s)
        ):
            break
        try:
            process.wait(POLL_S)
        except subprocess.TimeoutExpired:
            continue


def processor_s(pid: int) -> float:
    """Time in s for which the processor has worked for a process; infinite when it has gone (proc(5), stat)."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return math.inf
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def run_folder(directory: Path) -> Path:
    """A folder for the agent's files in a run's directory; the agent may be another user, so all is made beforehand."""
    folder = directory / "out"
    folder.mkdir()
    for name in (files.ARTIFACTS, files.CAPTURES):
        (folder / name).mkdir()
    return folder


def take_artifacts(folder: Path) -> str | None:
    """The files that the run left, and what its captures are made of, moved to a directory that outlives the run's own.

    Returns
    -------
    str or None
        None without any.

    Raises
    ------
    RunError
        When they are more than the agent keeps, or than a capture's table has room for.
    """
    found = _files(folder / files.ARTIFACTS, MOST_BYTES, "files", "Save less.")
    found += _files(
        folder / files.CAPTURES,
        MOST_CAPTURED_BYTES,
        "captures",
        "Capture fewer links, or a shorter run of fewer packets.",
    )
    if not found:
        return None
    kept = scratch.kept_directory()
    for entry in found:
        shutil.move(entry.path, kept / entry.name)
    return str(kept)


def _files(folder: Path, most_bytes: int, what: str, remedy: str) -> list[os.DirEntry[str]]:
    # Whatever the guest made of its folder: only ordinary files count, never what a link names.
    found = [entry for entry in os.scandir(folder) if entry.is_file(follow_symlinks=False)]
    size_bytes = sum(entry.stat(follow_symlinks=False).st_size for entry in found)
    if size_bytes > most_bytes:
        raise RunError(f"The run left {what} of {size_bytes} bytes; {most_bytes} is the most. {remedy}")
    return found


def read_result(folder: Path, tail: EventTail, log: Path) -> Counters:
    """The agent's counters, or the error that says why there is none.

    Raises
    ------
    RunError
        With the agent's own message where it had one, else with the end of the log.
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
        "The run ended without a result. " + (said or "The end of its log:\n" + "\n".join(lines or ["(nothing)"]))
    )


def refuse_media(plan: Plan, clock: str, engine: str) -> None:
    """Raise NotHereError where a link has a medium, for an engine that cannot have one."""
    for hop in plan["directions"]:
        if hop["shape"]["medium"] is not None:
            raise NotHereError(
                f"The link {hop['src']}-{hop['dst']} has a medium ({hop['shape']['medium']}), whose frames take microseconds "
                f"that the {engine} engine in {clock} time does not keep. Use engine='pocket', in virtual time, with netlab's "
                "own kernel (`netlab kernel build`)."
            )


def cancelled() -> RunCancelled:
    """The error of a run that somebody stopped."""
    return RunCancelled("The run was stopped before its end; nothing of it is kept.")


def wanted_parts(plan: Plan) -> set[str]:
    """Names of the queue disciplines, congestion controls and other parts of a kernel that a plan needs."""
    aqms = {hop["shape"]["aqm"] for hop in plan["directions"]}
    return aqms.union(*(KINDS[item["kind"]].kernel_needs(item) for item in plan["traffic"]))


def refuse_lacking(plan: Plan, has: Collection[str], which: str) -> None:
    """Raise NotHereError when the plan needs a part that the kernel `which` describes does not have."""
    lacking = sorted(wanted_parts(plan).difference(has))
    if lacking:
        raise NotHereError(
            f"This experiment needs {', '.join(lacking)}, which the kernel {which} does not have; build one that does with "
            "`netlab kernel build`, or choose another."
        )


def require(requirements: list[Requirement]) -> None:
    """Raise EngineError with the remedy of everything that is required and missing."""
    missing = [requirement for requirement in requirements if requirement.required and not requirement.ok]
    if missing:
        raise EngineError(
            "\n".join(f"{requirement.name}: {requirement.seen}. {requirement.remedy}" for requirement in missing)
        )
