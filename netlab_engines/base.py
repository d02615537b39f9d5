"""Functions of all engines: run a plan in a session, keep the files that it saves, and reject unsupported plans."""

import os
import shutil
import threading
from collections.abc import Collection, Iterable
from pathlib import Path

from netlab.base import scratch
from netlab.base.errors import NotHereError, RunError
from netlab.engines import OnProgress, cancelled_error
from netlab.plan import Clock, Counters, Item, Outcome, Plan
from netlab.traffic import KINDS
from netlab_engines import files
from netlab_engines.agent.artifacts import MAX_BYTES
from netlab_engines.kernels.builds import FEATURES_HINT
from netlab_engines.planning.settings import MACHINE_SYSCTLS
from netlab_engines.protocol.messages import Message
from netlab_engines.protocol.requests import AgentPlan
from netlab_engines.protocol.session import LabSession
from netlab_engines.stall import REPORT_INTERVAL_S, Watchdog

PROGRESS_STEPS = 50
MAX_CAPTURED_BYTES = 512 << 20
"""The largest total size of a run's captures: some two million packets, whose table takes about as much memory."""


def run_in(
    session: LabSession,
    plan: Plan,
    on_progress: OnProgress | None,
    cancel: threading.Event | None,
    watchdog: Watchdog | None = None,
) -> Outcome:
    """Run a plan in a session that was just opened, and return a dict of the counters ("flows", "streams", "queues",
    ...), the engine's name, clock and settings ("engine"), and the directory of saved files ("artifacts", None without
    any). The session stays open.

    Parameters
    ----------
    session : LabSession
        The session.
    plan : Plan
        The plan.
    on_progress : callable, optional
        Called about fifty times with the network time that has passed, in s.
    cancel : threading.Event, optional
        Stops the run when it is set.
    watchdog : Watchdog, optional
        Stops the run if network time stands still.

    Raises
    ------
    RunError
        If the lab ends without a result, or the watchdog stops the run.
    RunCancelled
        If `cancel` was set.
    """
    step_s = plan["duration_s"] / PROGRESS_STEPS
    reported_s = 0.0
    running = False

    def check_state() -> None:
        """Raise RunCancelled if the caller has set `cancel`, or RunError if the watchdog finds, after the network was
        built, that network time stands still; called while the run waits for the agent.
        """
        if cancel is not None and cancel.is_set():
            raise cancelled_error()
        if watchdog is not None and running:
            watchdog.check()

    def handle_message(message: Message) -> None:
        """Pass the progress in a message of the agent, if it has any, to the watchdog and, at most fifty times in a
        run, to the caller's `on_progress`.
        """
        nonlocal reported_s
        if "progress_s" not in message:
            return
        done_s = message["progress_s"]
        if watchdog is not None:
            watchdog.advance(done_s)
        if on_progress is not None and done_s - reported_s >= step_s * (1 - 1e-9):
            reported_s = done_s
            on_progress(done_s)

    lab = session.request(handle_message, None if cancel is None and watchdog is None else check_state)
    lab.build(plan=agent_plan(plan, session.clock), programs=False)
    # Run to the end of the last interval, even if the duration is not a multiple of the interval.
    intervals = max(1, round(plan["duration_s"] / plan["interval_s"]))
    until_s = round(intervals * plan["interval_s"], 9)
    if watchdog is not None:
        watchdog.advance(0.0)
        running = True
    lab.advance(until_s=until_s, progress_s=step_s if watchdog is None else REPORT_INTERVAL_S)
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
    """Return a copy of the plan with two more entries for the agent: "clock", "virtual" or "real", and
    "machine_sysctls", the kernel settings of the whole guest by name; these are empty on a real clock, where the kernel
    is the machine's own.
    """
    return {**plan, "clock": clock, "machine_sysctls": MACHINE_SYSCTLS if clock == "virtual" else {}}


def run_folder(directory: Path) -> Path:
    """Create the folder `out` for the agent's files in `directory`, a run's own directory, with its subfolders for
    saved files and captures, and return the path of `out`. Raises FileExistsError if it exists.

    The subfolders are created here because the agent may run as another user.
    """
    folder = directory / "out"
    folder.mkdir()
    for name in (files.ARTIFACTS, files.CAPTURES):
        (folder / name).mkdir()
    return folder


def take_artifacts(folder: Path) -> str | None:
    """Move the saved files and captures of a run from the subfolders of its folder `folder` to a new directory that
    outlives the run, and return that directory's path; None if there are no regular files, and others stay. Raises
    RunError if they are larger than the limits for files and captures.
    """
    found = _files(folder / files.ARTIFACTS, MAX_BYTES, "files", "Save less.")
    found += _files(
        folder / files.CAPTURES,
        MAX_CAPTURED_BYTES,
        "captures",
        "Capture fewer links, or a shorter run of fewer packets.",
    )
    if not found:
        return None
    directory = scratch.kept_directory()
    for entry in found:
        shutil.move(entry.path, directory / entry.name)
    return str(directory)


def _files(folder: Path, max_bytes: int, what: str, remedy: str) -> list[os.DirEntry[str]]:
    """Return the entries of the regular files in a folder. Raises RunError if their sizes exceed `max_bytes` bytes in
    total; its text names the files by the plural `what` and ends with the sentence `remedy`.
    """
    # Take only regular files: the guest may have put symbolic links into its folder.
    found = [entry for entry in os.scandir(folder) if entry.is_file(follow_symlinks=False)]
    size_bytes = sum(entry.stat(follow_symlinks=False).st_size for entry in found)
    if size_bytes > max_bytes:
        raise RunError(f"The run's {what} have {size_bytes} bytes, more than the limit of {max_bytes}. {remedy}")
    return found


def refuse_media(plan: Plan, clock: str, engine: str) -> None:
    """Raise NotHereError if a link of the plan has a shared medium such as Wi-Fi; to be called by engines that have
    none. The error names `engine`, the engine's name, and `clock`, "virtual" or "real".
    """
    for hop in plan["directions"]:
        if hop["shape"]["medium"] is not None:
            raise NotHereError(
                f"The link {hop['src']}-{hop['dst']} has a medium ({hop['shape']['medium']}), whose timing in microseconds the "
                f"{engine} engine in {clock} time does not support. Use engine='pocket', in virtual time, with netlab's own "
                f"kernel. {FEATURES_HINT}"
            )


def refuse_own(items: Iterable[Item], engine: str) -> None:
    """Raise NotHereError if an item of the traffic uses a class of the user's own, which only the library engine
    supports; `engine` is the name of the calling engine, for the error's text.
    """
    labels = [item["label"] for item in items if "own" in item]
    if labels:
        raise NotHereError(
            f"{', '.join(labels)}: custom classes work only with engine='library', not with the {engine} engine. Use "
            "engine='library', or leave the engine out."
        )


def needed_parts(plan: Plan) -> set[str]:
    """Return the names of the kernel's parts (queue disciplines, congestion controls and others, as in
    `netlab_engines.kernels.parts.PARTS`) that the plan's links and traffic need.
    """
    aqms = {hop["shape"]["aqm"] for hop in plan["directions"]}
    return aqms.union(*(KINDS[item["kind"]].kernel_needs(item) for item in plan["traffic"]))


def refuse_missing_parts(plan: Plan, has: Collection[str], name: str) -> None:
    """Raise NotHereError if the plan needs a part of the kernel that is not in `has`, the names of the parts that a
    kernel has; `name`, such as a release, follows the word kernel in the error's text.
    """
    lacking = sorted(needed_parts(plan).difference(has))
    if lacking:
        raise NotHereError(
            f"This experiment needs {', '.join(lacking)}, which the kernel {name} does not have. {FEATURES_HINT} Or choose another "
            "kernel."
        )
