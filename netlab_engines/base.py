"""Parts of all engines: drive a run through a session, keep the files that it leaves, and refuse what an engine cannot do."""

import os
import shutil
import threading
from collections.abc import Collection, Iterable
from pathlib import Path

from netlab.base import scratch
from netlab.base.errors import NotHereError, RunError
from netlab.engines import OnProgress, cancelled
from netlab.protocol.messages import Message
from netlab.protocol.plan import AgentPlan, Clock, Counters, Item, Outcome, Plan
from netlab.protocol.session import Session
from netlab.traffic import KINDS
from netlab_engines import files
from netlab_engines.agent.artifacts import MOST_BYTES
from netlab_engines.planning.settings import MACHINE_SYSCTLS
from netlab_engines.stall import BEAT_S, Watchdog

PROGRESS_STEPS = 50
MOST_CAPTURED_BYTES = 512 << 20
"""Some two million packets; their table takes about as much memory."""


def run_in(
    session: Session,
    plan: Plan,
    on_progress: OnProgress | None,
    cancel: threading.Event | None,
    watchdog: Watchdog | None = None,
) -> Outcome:
    """Run a plan in a session that was just opened: a run is a lab that a script drives.

    `on_progress` gets the network time done, in s, about fifty times or less.

    Raises RunError when the lab ended without a result, or `watchdog` says that its clock stands still. Raises RunCancelled
    when `cancel` was set.
    """
    step_s = plan["duration_s"] / PROGRESS_STEPS
    told_s = 0.0
    running = False

    def look() -> None:
        if cancel is not None and cancel.is_set():
            raise cancelled()
        if watchdog is not None and running:
            watchdog.check()

    def heard(message: Message) -> None:
        nonlocal told_s
        if "progress_s" not in message:
            return
        done_s = message["progress_s"]
        if watchdog is not None:
            watchdog.advance(done_s)
        if on_progress is not None and done_s - told_s >= step_s * (1 - 1e-9):
            told_s = done_s
            on_progress(done_s)

    lab = session.request(heard, None if cancel is None and watchdog is None else look)
    lab.build(plan=agent_plan(plan, session.clock), programs=False)
    # To the end of the last interval, which a duration that is no multiple of it leaves open.
    intervals = max(1, round(plan["duration_s"] / plan["interval_s"]))
    until_s = round(intervals * plan["interval_s"], 9)
    if watchdog is not None:
        watchdog.advance(0.0)
        running = True
    lab.advance(until_s=until_s, progress_s=step_s if watchdog is None else BEAT_S)
    if watchdog is not None:
        watchdog.advance(until_s)
    lab.finish(until_s=plan["duration_s"] + plan["drain_s"])
    running = False
    counters: Counters = lab.tables(streams=0, queues=0)
    leaves_files = plan["captures"] or any(item.get("saves") for item in plan["traffic"])
    return {
        **counters,
        "engine": {"engine": session.name, "clock": session.clock, **session.settings},
        "artifacts": take_artifacts(session.folder) if leaves_files else None,
    }


def agent_plan(plan: Plan, clock: Clock) -> AgentPlan:
    """The plan as the agent gets it."""
    return {**plan, "clock": clock, "machine_sysctls": MACHINE_SYSCTLS if clock == "virtual" else {}}


def run_folder(directory: Path) -> Path:
    """A folder for the agent's files in a run's directory; the agent may be another user, so all is made beforehand."""
    folder = directory / "out"
    folder.mkdir()
    for name in (files.ARTIFACTS, files.CAPTURES):
        (folder / name).mkdir()
    return folder


def take_artifacts(folder: Path) -> str | None:
    """The files that the run left, and what its captures are made of, moved to a directory that outlives the run's
    own; None without any.

    Raises RunError when they are more than the agent keeps, or than a capture's table has room for.
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


def refuse_media(plan: Plan, clock: str, engine: str) -> None:
    """Raise NotHereError where a link has a medium, for an engine that cannot have one."""
    for hop in plan["directions"]:
        if hop["shape"]["medium"] is not None:
            raise NotHereError(
                f"The link {hop['src']}-{hop['dst']} has a medium ({hop['shape']['medium']}), whose frames take microseconds "
                f"that the {engine} engine in {clock} time does not keep. Use engine='pocket', in virtual time, with netlab's "
                "own kernel (`netlab kernel build`)."
            )


def refuse_own(items: Iterable[Item], engine: str) -> None:
    """Raise NotHereError where one of these calls the user's own Python, for an engine other than the library kernel."""
    labels = [item["label"] for item in items if "own" in item]
    if labels:
        raise NotHereError(
            f"{', '.join(labels)}: a class of yours can be asked in the library kernel alone, not by the {engine} engine. Use "
            "engine='library', or leave the engine out."
        )


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
