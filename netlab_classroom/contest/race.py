"""Race one submission, or one reference control, through all networks."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from netlab.base.errors import NetlabError, RunError
from netlab.measure.results import Run
from netlab.runs import experiment
from netlab_classroom.contest import scoring
from netlab_classroom.contest.networks import Trial
from netlab_classroom.contest.scoring import Score
from netlab_classroom.grading import remote, sandbox
from netlab_classroom.grading.guest_calls import BudgetError, StudentCodeError
from netlab_classroom.grading.helper import GaveUpError, helper, stopping
from netlab_classroom.grading.text import one_line

CPU_S = 10.0
"""Processor time for each connection of a run, in s; what is worth something takes one or two."""
MAX_CALLS = 100_000
SHOWN = "walk"
"""The network whose windows the board shows over time."""
NOTHING = Score(0.0, 0.0, 1.0, 0.0)
RACED, FAILED, NOT_TAKEN, NOT_RACED = "raced", "failed", "not taken", "not raced"


@dataclass(frozen=True)
class Entrant:
    """A competitor in the contest: the student, the file's name and digest, and the code of the congestion control or
    the reason why there is none.
    """

    student: str
    file: str
    digest: str
    """The hand-in's name, and SHA-256 of what was read of it."""
    code: dict[str, Any]
    """The result of `netlab_classroom.grading.reading.control`."""


def read(student: str, path: str, file: str, digest: str) -> Entrant:
    """Read a student's submission at `path`; a bad one is part of the result, not an error. `file` is its name in
    reports, `digest` its SHA-256.
    """
    try:
        code = helper().ask("control", path=path)
    except GaveUpError as error:
        code = {"error": str(error)}
    return Entrant(student, file, digest, code)


def enter(entrant: Entrant, trials: Sequence[Trial], tell: Callable[[], None]) -> dict[str, Any]:
    """Let a submission compete in the sandbox in these networks, and return its row as plain data: status, a sentence
    on what went wrong, class, scores and total, and the window over time in one network. `tell` is called after each
    network.
    """
    found: dict[str, Any] = {"student": entrant.student, "file": entrant.file, "status": RACED, "sentence": ""}
    if "error" in entrant.code:
        for _ in trials:
            tell()
        return {**found, **_result("", {}, trials), "status": NOT_TAKEN, "sentence": entrant.code["error"]}
    name, exercise = entrant.code["name"], {each: entrant.code[each] for each in ("given", "answer", "name")}
    scores: dict[str, Score] = {}
    windows: list[list[float]] = []
    over = False
    for trial in trials:
        try:
            if not over:
                control = remote.isolated_class(
                    sandbox.shared_package(), exercise, name, cpu_s=CPU_S, most_calls=MAX_CALLS
                )
                run = _run(trial, control)
                scores[trial.key] = scoring.score(trial, run)
                windows = _windows(run) if trial.key == SHOWN else windows
        except StudentCodeError as error:
            found["status"] = FAILED
            found["sentence"] = found["sentence"] or f"{trial.title}: {one_line(str(error), 400)}"
            # A control that never returns would use up its time limit in every network.
            over = isinstance(error, BudgetError)
        except NetlabError as error:
            if stopping.is_set():
                raise
            # Also where a run ended through what the class asked of the kernel.
            ours = not isinstance(error, RunError)
            found["status"] = NOT_RACED if ours else FAILED
            found["sentence"] = found["sentence"] or f"{trial.title}: {one_line(str(error), 400)}"
            over = ours
        tell()
    return {**found, **_result(name, scores, trials), "windows": windows}


def landmark(name: str, control: object, trials: Sequence[Trial], tell: Callable[[], None]) -> dict[str, Any]:
    """Let a reference control (a name of Linux's or a class of netlab's) compete in these networks, outside the
    sandbox, and return its row as `enter` does; `tell` is called after each network.
    """
    scores: dict[str, Score] = {}
    windows: list[list[float]] = []
    for trial in trials:
        run = _run(trial, control)
        scores[trial.key] = scoring.score(trial, run)
        windows = _windows(run) if trial.key == SHOWN else windows
        tell()
    return {"student": name, "status": RACED, "sentence": "", **_result(name, scores, trials), "windows": windows}


def _run(trial: Trial, control: object) -> Run:
    """Run a trial's scenario with a congestion control in the library engine. Raises KeyboardInterrupt when the contest
    is stopped.
    """
    if stopping.is_set():
        raise KeyboardInterrupt
    return experiment.run(trial.scenario(control), engine="library", progress=False, cancel=stopping)


def _result(name: str, scores: dict[str, Score], trials: Sequence[Trial]) -> dict[str, Any]:
    """Return the class's name, the score in each network (no points where there is none), the total, and no window."""
    rows = {trial.key: scores.get(trial.key, NOTHING).to_dict() for trial in trials}
    return {"class": name, "scores": rows, "total": scoring.total(rows), "windows": []}


def _windows(run: Run) -> list[list[float]]:
    """Return the first flow's window over time: pairs of t_s in s and window in segments."""
    first = run.intervals[run.intervals["flow"] == run.flows["flow"].iloc[0]]
    pairs = zip(first["t_s"], first["cwnd_segments"].ffill().fillna(0), strict=True)
    return [[round(float(t_s), 3), float(segments)] for t_s, segments in pairs]
