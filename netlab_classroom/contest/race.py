"""Let one submission, or one reference competitor, take part in all trials of a game."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from netlab.base.errors import NetlabError, RunError
from netlab_classroom.contest import scoring
from netlab_classroom.contest.game import Game, Trial
from netlab_classroom.grading import remote, sandbox
from netlab_classroom.grading.guest_calls import BudgetError, StudentCodeError
from netlab_classroom.grading.helper import GaveUpError, helper, stop_requested
from netlab_classroom.grading.text import one_line

CPU_S = 10.0
"""Processor time for each connection of a run, in s; what is worth something takes one or two."""
MAX_CALLS = 100_000
RACED, FAILED, NOT_TAKEN, NOT_RACED = "raced", "failed", "not taken", "not raced"


@dataclass(frozen=True)
class Entrant:
    """A competitor in the contest: the student, the file's name and digest, and the code of the class or the reason why
    there is none.
    """

    student: str
    file: str
    digest: str
    """The hand-in's name, and SHA-256 of what was read of it."""
    code: dict[str, Any]
    """The result of `netlab_classroom.grading.reading.competitor`."""


def read_entrant(game: Game, student: str, path: str, file: str, digest: str) -> Entrant:
    """Read a student's submission at `path`, in the helper process, and return the competitor: the code of the class
    that has one of the game's methods, or the reason under "error" if there is none (nothing is raised). `file` is the
    submission's name in reports, `digest` its SHA-256.
    """
    try:
        code = helper().ask("competitor", path=path, methods=list(game.methods))
    except GaveUpError as error:
        code = {"error": str(error)}
    return Entrant(student, file, digest, code)


def enter(game: Game, entrant: Entrant, trials: Sequence[Trial], report_trial: Callable[[], None]) -> dict[str, Any]:
    """Let a submission take part in these trials of a game, in the sandbox, and return its row: "student", "file",
    "status" (a constant of this module), "sentence" (the first error, or ""), "class" (its name), "scores" by the
    trial's key (dicts), "total" (mean points), and "series", the value over time in the trial that the game shows.
    `report_trial` is called after each trial; later trials are skipped after an exceeded limit or an error of the contest.
    Errors of the student's code are in the row; NetlabError is raised only when the contest is stopped.
    """
    found: dict[str, Any] = {"student": entrant.student, "file": entrant.file, "status": RACED, "sentence": ""}
    if "error" in entrant.code:
        for _ in trials:
            report_trial()
        return {**found, **_result(game, "", {}, trials), "status": NOT_TAKEN, "sentence": entrant.code["error"]}
    name, exercise = entrant.code["name"], {each: entrant.code[each] for each in ("given", "answer", "name")}
    scores: dict[str, dict[str, float]] = {}
    series: list[list[float]] = []
    over = False
    for trial in trials:
        try:
            if not over:
                own = remote.isolated_class(sandbox.shared_package(), exercise, name, cpu_s=CPU_S, max_calls=MAX_CALLS)
                outcome = game.play(trial, own)
                scores[trial.key] = outcome.score
                series = outcome.series if trial.key == game.displayed_trial else series
        except StudentCodeError as error:
            found["status"] = FAILED
            found["sentence"] = found["sentence"] or f"{trial.title}: {one_line(str(error), 400)}"
            # A class that never returns would use up its time limit in every trial.
            over = isinstance(error, BudgetError)
        except NetlabError as error:
            if stop_requested.is_set():
                raise
            # Also where a run ended through what the class asked of the kernel.
            is_contest_error = not isinstance(error, RunError)
            found["status"] = NOT_RACED if is_contest_error else FAILED
            found["sentence"] = found["sentence"] or f"{trial.title}: {one_line(str(error), 400)}"
            over = is_contest_error
        report_trial()
    return {**found, **_result(game, name, scores, trials), "series": series}


def reference_entry(
    game: Game, name: str, competitor: object, trials: Sequence[Trial], report_trial: Callable[[], None]
) -> dict[str, Any]:
    """Let a reference competitor (the name of a Linux control, or a class) take part in these trials of a game, outside
    the sandbox, and return its row: "student" (its `name`), "status", "sentence" (""), "class" (its name), "scores" by
    the trial's key (dicts), "total" (mean points), and "series", the value over time in the trial that the game shows.
    `report_trial` is called after each trial. Errors of runs are raised.
    """
    scores: dict[str, dict[str, float]] = {}
    series: list[list[float]] = []
    for trial in trials:
        outcome = game.play(trial, competitor)
        scores[trial.key] = outcome.score
        series = outcome.series if trial.key == game.displayed_trial else series
        report_trial()
    return {"student": name, "status": RACED, "sentence": "", **_result(game, name, scores, trials), "series": series}


def _result(game: Game, name: str, scores: dict[str, dict[str, float]], trials: Sequence[Trial]) -> dict[str, Any]:
    """Return the fields of a row that all competitors have: "class" (`name`), "scores" by the trial's key (the game's
    score for nothing where `scores` has none), their mean points "total", and an empty "series".
    """
    rows = {trial.key: scores.get(trial.key, dict(game.unfinished_score)) for trial in trials}
    return {"class": name, "scores": rows, "total": scoring.total(rows), "series": []}
