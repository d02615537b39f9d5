"""The grader's side of the sandbox: a pocket kernel that runs student code without access to the grader's files."""

import atexit
import compileall
import json
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from netlab.base import scratch
from netlab.base.errors import EngineError, NetlabError, RunError
from netlab.base.location import IMPORT_ROOT, PACKAGES, package_directories
from netlab_classroom.grading import callee, plain, supervisor
from netlab_classroom.grading.guest_calls import (
    CHECK_INTERVAL_S,
    MAX_CHECKS_ASLEEP,
    START_CPU_S,
    BudgetError,
    CallChannel,
    GarbledError,
    SandboxMonitor,
    StudentCodeError,
    read_ending,
)
from netlab_classroom.grading.helper import stop_requested
from netlab_course import chapters
from netlab_engines.sandbox import Sandbox, can_confine, python_paths, readable_place, site_packages

PROGRAM = "netlab_classroom.grading.supervisor"
MEMORY_MB = 768
CPU_S = 20.0  # the solutions take 0.1 to 0.4 s, with their provided cells
WALL_S = 3600.0
POLL_S = 0.005
MAX_REQUESTS = 400
SEED = 1
GUEST_MODULES = ("__init__.py", "plain.py", "text.py", "supervisor.py", "runner.py", "callee.py")
STUDENT_PACKAGES = ("netlab", "netlab_user_code", "netlab_engines", "netlab_course", "netlab_classroom")
LEFT_OUT = {
    IMPORT_ROOT / "netlab" / "carried",
    IMPORT_ROOT / "netlab" / "commands",
    IMPORT_ROOT / "netlab_engines" / "perf",
    IMPORT_ROOT / "netlab_course" / "new_chapter",
    IMPORT_ROOT / "netlab_classroom" / "carried",
    IMPORT_ROOT / "netlab_classroom" / "contest",
}


class Ending(Enum):
    """The ways in which a student's code can end: with an answer, over a time limit, or without an answer."""

    ANSWERED = "answered"
    TIMED_OUT = "timed out"
    CRASHED = "crashed"


@dataclass(frozen=True)
class ExerciseOutcome:
    """The outcome of an exercise in the sandbox: the way in which it ended, and its last message or the reason why
    there is none.
    """

    ending: Ending
    """The way in which its code ended."""
    message: dict[str, Any]
    """The last message of `runner`, by names; empty if there was none."""
    reason: str = ""
    """The reason why there is no message."""


Answerer = Callable[[Mapping[str, Any], CallChannel], Any]
"""Called with a request of an exercise's code, and the channel to its classes that a run must call; returns plain data,
or raises NetlabError to refuse.
"""


@dataclass(frozen=True)
class ExerciseSandbox:
    """Guests that run student code; each exercise has a limit of processor time."""

    package: Path
    """The directory with the students' part of netlab, without checks and without the grader."""
    cpu_s: float = CPU_S
    """The limit of processor time for an exercise in s; waiting on a busy machine does not count."""

    def work(self, exercises: Sequence[Mapping[str, Any]], answer: Answerer) -> list[ExerciseOutcome]:
        """Run each exercise (plain data with the sources of its code, as `runner.work` takes it) in a fresh process of
        a guest, and return their outcomes in order; `answer` is called with each request of student code and returns
        the reply. Another guest is booted for the rest whenever one crashes or is stopped. Raises RunError when a guest
        does not start.
        """
        found: list[ExerciseOutcome] = []
        while len(found) < len(exercises):
            # Use one guest until all exercises are done or one has crashed it.
            with closing(boot(self.package)) as guest:
                guest.send({"do": "work", "words": {"exercises": list(exercises[len(found) :]), "seed": SEED}})
                found += Watch(guest, self.cpu_s, answer).outcomes()
        return found


def boot(package: Path) -> Sandbox:
    """Boot a sandbox with the students' package (a directory), which waits for exercises, and return it; the caller
    closes it. Raises KernelError if there is no kernel.
    """
    return Sandbox(PROGRAM, [str(package), *site_packages()], readable(package), MEMORY_MB)


class Watch:
    """The supervision of one sandbox from outside: it answers the code's requests, and enforces the limits of time and
    requests.
    """

    def __init__(self, sandbox: Sandbox, cpu_s: float, answer: Answerer) -> None:
        """Watch a booted sandbox that has got its exercises; each may use `cpu_s` seconds of processor time, and
        `answer` is called with each request of student code and returns its reply.
        """
        self._sandbox = sandbox
        self._cpu_s, self._answer = cpu_s, answer
        self._num_requests = 0
        self._exercise = -1
        self._base_s = 0.0
        self._channel = self._new_channel()

    def outcomes(self) -> list[ExerciseOutcome]:
        """Wait for the end of the exercises, and return their outcomes in order, CRASHED for one that left no answer;
        fewer than exercises if one of them crashed the guest or exceeded a limit, which is the last outcome then.
        Raises RunError when the guest does not start.
        """
        stopped = self._follow()
        if self._exercise < 0:
            reason = f" ({stopped})" if stopped else ""
            raise RunError(f"The sandbox did not start{reason}. Its console:\n{self._sandbox.console_end()}")
        outcomes = [self._outcome(number) for number in range(self._exercise + 1)]
        if outcomes[-1] is None:
            ending = Ending.TIMED_OUT if stopped else Ending.CRASHED
            outcomes[-1] = ExerciseOutcome(ending, {}, stopped or "its code brought the sandbox down")
        return [outcome or ExerciseOutcome(Ending.CRASHED, {}, "it left no answer") for outcome in outcomes]

    def _follow(self) -> str:
        """Answer requests and check limits until the guest has ended, has done all exercises, or must be stopped (too
        much time, too many requests, or waiting without end); return the reason for stopping it, a clause, else "".
        Raises KeyboardInterrupt when grading is stopped.
        """
        wall_s, checked_s, asleep = time.monotonic(), time.monotonic(), 0
        while not self._sandbox.has_ended():
            if self._sandbox.has_file(f"begun-{self._exercise + 1}"):
                self._exercise += 1
                self._base_s, wall_s, self._num_requests = self._sandbox.cpu_state()[0], time.monotonic(), 0
                self._channel = self._new_channel()
                continue
            if self._sandbox.has_file("done"):
                return ""
            if self._channel.has_message(POLL_S):
                try:
                    self._answer_request()
                except GarbledError:
                    # Ignore this: the end of the process is handled when its answer has been read.
                    self._channel = self._new_channel()
                except StudentCodeError as error:
                    return str(error)
                continue
            now_s = time.monotonic()
            if now_s - checked_s > CHECK_INTERVAL_S:
                checked_s = now_s
                limit_s = self._cpu_s if self._exercise >= 0 else START_CPU_S
                used_s, sleeps = self._sandbox.cpu_state()
                if used_s - self._base_s > limit_s:
                    return f"it used more than {limit_s:g} s of processor time"
                if stop_requested.is_set():
                    raise KeyboardInterrupt
                asleep = asleep + 1 if sleeps else 0
                if asleep >= MAX_CHECKS_ASLEEP:
                    return "it waited for a message that never comes"
                if now_s - wall_s > WALL_S:
                    return f"it did not end within {WALL_S:g} s"
        # Count exercises that started between the last look and the guest's end.
        while self._sandbox.has_file(f"begun-{self._exercise + 1}"):
            self._exercise += 1
        return ""

    def _answer_request(self) -> None:
        """Receive one request of student code, send its reply, and open a new channel for the next; the processor time
        of calls of a student's classes in a run is not counted as the exercise's. Raises GarbledError when the message
        is not a request, BudgetError after MAX_REQUESTS requests, and StudentCodeError when the code has ended.
        """
        channel = self._channel
        kind, said = channel.receive()
        if kind != callee.ASKED:
            raise GarbledError("it wrote into the channel to the grader")
        self._num_requests += 1
        if self._num_requests > MAX_REQUESTS:
            raise BudgetError(f"it asked the grader more than {MAX_REQUESTS} times")
        before_s = self._sandbox.cpu_state()[0] if b'"own"' in said else None
        channel.finish(self._reply(said))
        self._channel = self._new_channel()
        if before_s is not None:
            self._base_s += self._sandbox.cpu_state()[0] - before_s

    def _new_channel(self) -> CallChannel:
        """Return a new channel for calls of the current exercise's code, with all its calls and processor time unused."""
        return CallChannel(self._sandbox.channel, SandboxMonitor(self._sandbox, max(self._exercise, 0)))

    def _reply(self, question: bytes) -> bytes:
        """Return the reply to a request (untrusted JSON) as JSON: an object with "value", or with "refused", the
        reason, if the request is not valid or netlab refuses it.
        """
        reply: dict[str, Any]
        try:
            asked = plain.parse(question)
            if not isinstance(asked, dict):
                raise NetlabError("A question has a kind.")
            reply = {"value": self._answer(asked, self._channel)}
        except NetlabError as error:
            reply = {"refused": str(error)}
        return json.dumps(reply).encode()

    def _outcome(self, number: int) -> ExerciseOutcome | None:
        """Return the outcome of the exercise with this number (an index) from the files ended-N and answer-N in the
        sandbox's folder; None if it has not ended. An answer that is not valid counts as a crash. Raises RunError when
        the sandbox itself failed.
        """
        ending = read_ending(self._sandbox, number)
        if ending is None:
            return None
        data = self._sandbox.read_file(f"answer-{number}", plain.MAX_BYTES)
        if ending == supervisor.NOT_ISOLATED:
            raise RunError(f"The sandbox could not be made. Its console:\n{self._sandbox.console_end()}")
        if ending == supervisor.LATE:
            return ExerciseOutcome(Ending.TIMED_OUT, {}, f"it slept for more than {supervisor.MAX_GUEST_S:g} s")
        if data is None:
            return ExerciseOutcome(Ending.CRASHED, {}, f"its process {ending or 'ended'}")
        try:
            message = plain.parse(data)
        except plain.PlainError as error:
            return ExerciseOutcome(Ending.CRASHED, {}, str(error))
        if not isinstance(message, dict):
            return ExerciseOutcome(Ending.CRASHED, {}, "its message has no names")
        return ExerciseOutcome(Ending.ANSWERED, message)


@contextmanager
def student_package() -> Iterator[Path]:
    """Return a context manager that yields a temporary directory with the part of netlab that student code may see,
    compiled, without checks, panels and the grader; it is removed at the end.
    """
    with scratch.run_directory() as directory:
        whole = directory / "packages"

        def left_out(folder: str, names: list[str]) -> set[str]:
            """Return which of the names in the directory `folder` are not copied to the students' package (the argument
            `ignore` of `shutil.copytree`): files other than .py and .js, the paths in LEFT_OUT, the checks and panels
            of chapters, and all of the grading but GUEST_MODULES.
            """
            place = Path(folder)
            ignored = {name for name in names if not (place / name).is_dir() and not name.endswith((".py", ".js"))}
            ignored.add("__pycache__")
            ignored |= {name for name in names if place / name in LEFT_OUT}
            if place.parent.name == "chapters":
                ignored |= {"check.py", "panel.py"}
            if place == IMPORT_ROOT / "netlab_classroom" / "grading":
                ignored |= set(names) - set(GUEST_MODULES)
            return ignored

        for name in STUDENT_PACKAGES:
            shutil.copytree(IMPORT_ROOT / name, whole / name, ignore=left_out)
        for more in chapters.__path__:
            shutil.copytree(more, whole / "netlab_course" / "chapters", ignore=left_out, dirs_exist_ok=True)
        compileall.compile_dir(whole, quiet=2)
        yield whole


_shared_resources = ExitStack()
_lock = threading.Lock()
_packages: dict[tuple[str, ...], Path] = {}


def shared_package() -> Path:
    """Return the directory of this process with the part of netlab that student code may see, made at the first call
    for the present folders of chapters; it is removed when the process ends.
    """
    with _lock:
        places = tuple(chapters.__path__)
        if not _packages:
            atexit.register(_shared_resources.close)
        if places not in _packages:
            _packages[places] = _shared_resources.enter_context(student_package())
        return _packages[places]


def readable(package: Path) -> list[str]:
    """Return the paths that student code may read: Python, packages other than netlab, and `package`, the directory
    with the students' part of netlab.
    """
    return [str(package), *python_paths(excluded=PACKAGES[0])]


def require_isolation() -> None:
    """Raise EngineError if this machine cannot keep the answers and the grader's files from student code: the host has
    no Landlock, or netlab, a chapter or a clone's solutions are in a directory that every program in the sandbox may
    read.
    """
    if not can_confine():
        raise EngineError(
            "This host has no Landlock, so student code could read the key and your files. Grade on Linux 5.13 or later "
            "with Landlock switched on."
        )
    installed = python_paths(excluded=PACKAGES[0])
    for path in _answers():
        place = readable_place(path, installed)
        if place is not None:
            raise EngineError(
                f"{path} has the answers, and is in {place}, which student code may read: Python and the system's "
                "programs are there. Install netlab elsewhere, such as in a virtual environment in your home directory: "
                "python3 -m venv ~/netlab-env, then ~/netlab-env/bin/pip install and the wheel, or a clone with make setup."
            )


def _answers() -> list[Path]:
    """Return the directories that students must not read: netlab's packages with the checks, those of chapters
    elsewhere, and a clone's solutions.
    """
    solutions = IMPORT_ROOT / "solutions"
    return [*package_directories(), *map(Path, chapters.__path__), *([solutions] if solutions.is_dir() else [])]
