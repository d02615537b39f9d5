"""A contest held: every hand-in read, raced as many side by side as there are CPUs, and kept."""

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent import futures
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from netlab.base import scratch
from netlab.base.completion import iter_completed
from netlab.base.errors import NetlabError
from netlab.base.progress_bar import Progress, show_progress
from netlab.base.version import VERSION
from netlab_classroom.contest import race
from netlab_classroom.contest.controls import Controls
from netlab_classroom.contest.game import Game, Trial
from netlab_classroom.contest.race import Entrant
from netlab_classroom.grading import result_store, sandbox
from netlab_classroom.grading.claim import OutputClaim
from netlab_classroom.grading.helper import stop_requested
from netlab_classroom.grading.master import code_digest, digest
from netlab_classroom.grading.roster import RosterEntry, SubmittedFile, collect, match
from netlab_classroom.grading.submission import digest_of
from netlab_classroom.grading.text import one_line
from netlab_engines.kernels import library_kernel

RESULTS = "results"
REFERENCE_PREFIX = "\n"
"""Prefix of reference entries; no student's name can begin with it."""
ADJECTIVES = (
    "amber", "bold", "brisk", "calm", "clever", "coral", "eager", "gentle", "golden", "grey", "happy", "hidden", "jolly", "keen",
    "lively", "lucky", "misty", "noble", "patient", "proud", "quick", "quiet", "rapid", "silver", "sly", "swift", "tidy", "wild",
)  # fmt: skip
ANIMALS = (
    "badger", "beaver", "crane", "dolphin", "eagle", "falcon", "ferret", "fox", "hare", "heron", "ibex", "lynx", "marten", "mole",
    "otter", "owl", "panther", "pike", "puffin", "raven", "robin", "salmon", "seal", "stork", "swan", "tern", "trout", "wolf",
)  # fmt: skip


Work = dict[str, Callable[[Callable[[], None]], dict[str, Any]]]
"""The functions that produce the rows, by name; each gets a function to call after each trial."""


class ContestInterrupted(KeyboardInterrupt):
    """The contest was interrupted; finished races are kept."""


@dataclass(frozen=True)
class Contest:
    """The results of a contest: its game and trials, the rows of submissions and of reference competitors, and all that
    decided them.
    """

    game: Game
    trials: list[Trial]
    rows: list[dict[str, Any]]
    """The rows of all submissions, best first: results of `race.enter` with `place` and `pseudonym`."""
    reference_rows: list[dict[str, Any]]
    """The same for the reference competitors."""
    notes: list[str] = field(default_factory=list)
    """Remarks about the class."""
    manifest: dict[str, Any] = field(default_factory=dict)
    """All that decided the scores."""


def run_contest(
    submissions: Sequence[Path],
    output: Path,
    *,
    game: Game | None = None,
    entries: Sequence[RosterEntry] = (),
    seed: str = "1",
    keep: bool = False,
    claim: OutputClaim | None = None,
    jobs: int | None = None,
    progress: bool | Progress = True,
) -> Contest:
    """Let the students' files in `submissions` (files, directories, ZIP archives) and the reference competitors take
    part in all trials that follow from `seed`, `jobs` competitors at a time (None: one for each CPU), and return their
    scores, best first. `game` is what competes (None: congestion controls), `entries` the class list (empty: one
    student for each file). Results are stored in the directory `output`, whose lock is `claim`, and with `keep` reused
    from there; older ones are removed. Raises NetlabError if this machine cannot isolate student code or has no library
    kernel, ContestInterrupted after Ctrl-C.
    """
    sandbox.require_isolation()
    stop_requested.clear()
    game = game or Controls()
    manifest = {
        "game": game.key,
        "seed": seed,
        "code": code_digest(),
        "kernel": library_kernel.find().release,
        "kernel_sha256": digest([library_kernel.find().path]),
        "netlab": VERSION,
    }
    trials = list(game.draw(seed))
    folder = output / RESULTS
    with scratch.run_directory(0, for_guests=False) as unpacked:
        matched = match(collect(submissions, unpacked), list(entries))
        handed_in = {student: file for student, file in sorted(matched.files.items()) if file is not None}
        if claim is not None:
            claim.take("board", f"contest of {game.key}", [entry.student for entry in entries], list(handed_in))
        folder.mkdir(parents=True, exist_ok=True)
        references = game.references()
        with show_progress(
            progress, len(trials) * (len(handed_in) + len(references)), "runs", what="contest"
        ) as report_progress:
            work: Work = {
                REFERENCE_PREFIX + name: partial(race.reference_entry, game, name, each, trials)
                for name, each in references.items()
            }
            work |= {
                student: partial(_row_of, game, student, file, trials, folder, keep, manifest)
                for student, file in handed_in.items()
            }
            found = _run_all(game, work, jobs, report_progress, trials)
    reference_rows = [found[REFERENCE_PREFIX + name] for name in references]
    rows = [found[student] for student in handed_in]
    rows += [
        _row_without_race(game, student, race.NOT_TAKEN, sentence, trials)
        for student, sentence in matched.doubtful.items()
    ]
    current = {row["kept"] for row in rows if "kept" in row}
    for path in folder.glob("*.json"):
        if path.name not in current:
            path.unlink()
    submitted = {row["student"]: row.get("digest", "") for row in rows}
    return Contest(
        game, trials, _rank(rows, seed), reference_rows, matched.notes, {**manifest, "submissions": submitted}
    )


def _row_of(
    game: Game,
    student: str,
    file: SubmittedFile,
    trials: Sequence[Trial],
    folder: Path,
    keep: bool,
    manifest: Mapping[str, Any],
    report_trial: Callable[[], None],
) -> dict[str, Any]:
    """Return the row of a student's file in all trials of a game: the keys of `race.enter`, the file's "digest", the
    result's file "kept" and its class as text ("class_text"). With `keep` it is the stored result of the same code and the
    same `manifest`, if there is one, else the result of racing the class in the sandbox, which is stored in `folder`
    unless it could not race. `report_trial` is called after each trial.
    """
    file_digest = digest_of(file.path)
    entrant = race.read_entrant(game, student, str(file.path), file.label, file_digest)
    # The same code has the same scores, whoever hands it in and whatever stands around it.
    place = result_store.place(folder, [entrant.code, student, file.label, manifest])
    result = result_store.load(place) if keep else None
    if result is None:
        result = race.enter(game, entrant, trials, report_trial)
        if result["status"] != race.NOT_RACED:
            result_store.store(place, result)
    else:
        for _ in trials:
            report_trial()
    return {**result, "kept": place.name, "digest": file_digest, "class_text": _class_text(entrant)}


def _class_text(entrant: Entrant) -> str:
    """Return as text which class of a submission competes, with its line and the names of classes that do not, such as
    "Mine (line 3; not Old)"; "" if there is none.
    """
    code = entrant.code
    if "error" in code:
        return ""
    others = f"; not {', '.join(code['others'])}" if code["others"] else ""
    return f"{code['name']} (line {code['line']}{others})"


def _run_all(
    game: Game, work: Work, jobs: int | None, report_progress: Progress, trials: Sequence[Trial]
) -> dict[str, dict[str, Any]]:
    """Call the functions of `work`, which race a competitor each and return its row, `jobs` at a time (None: one for
    each CPU), and return the rows by competitor. `report_progress` gets the number of finished runs and the number of all, one for
    each function and trial. An error over one submission becomes its row; an error over a reference competitor is
    raised. Raises ContestInterrupted after Ctrl-C.
    """
    whole = len(work) * len(trials)
    done = iter(range(1, whole + 1))

    def count_run() -> None:
        """Report to `report_progress` that one more run, of one competitor in one trial, is finished."""
        report_progress(next(done), whole)

    pool = futures.ThreadPoolExecutor(jobs or len(os.sched_getaffinity(0)), thread_name_prefix="contest")
    try:
        running = {pool.submit(each, count_run): name for name, each in work.items()}
        found = {}
        for future in iter_completed(running):
            name, error = running[future], future.exception()
            if not isinstance(error, Exception) or name.startswith(REFERENCE_PREFIX):
                found[name] = future.result()
                continue
            # An error of the contest in one submission must not stop the others.
            reason = str(error) if isinstance(error, NetlabError) else f"the contest raised {type(error).__name__}"
            found[name] = _row_without_race(
                game, name, race.NOT_RACED, f"Not raced, and not because of the student: {reason}", trials
            )
    except KeyboardInterrupt:
        stop_requested.set()
        raise ContestInterrupted from None
    finally:
        stop_requested.set()
        pool.shutdown(cancel_futures=True)
        stop_requested.clear()
    return found


def _rank(rows: Sequence[dict[str, Any]], seed: str) -> list[dict[str, Any]]:
    """Return copies of the rows, best total first, each with its `place` (from 1; equal totals share a place) and a
    `pseudonym` that follows from the seed.
    """
    names = pseudonyms([row["student"] for row in rows], seed)
    ordered = sorted(rows, key=lambda row: (-row["total"], row["student"]))
    totals = [row["total"] for row in ordered]
    return [{**row, "place": 1 + totals.index(row["total"]), "pseudonym": names[row["student"]]} for row in ordered]


def pseudonyms(students: Sequence[str], seed: str) -> dict[str, str]:
    """Return a pseudonym such as "amber fox" for each student, by student; all are different (a number follows if there
    are more students than pairs of words), follow from the seed, and hardly change when other students join.
    """
    words = [f"{adjective} {animal}" for adjective in ADJECTIVES for animal in ANIMALS]
    number = {
        student: int.from_bytes(hashlib.sha256(f"{seed}/{student}".encode()).digest()[:8], "big")
        for student in students
    }
    found: dict[str, str] = {}
    for student in sorted(students, key=lambda each: number[each]):
        place = number[student]
        while (name := _pseudonym_in_round(words[place % len(words)], len(found) // len(words))) in found.values():
            place += 1
        found[student] = name
    return found


def _pseudonym_in_round(name: str, round_number: int) -> str:
    """Return a pseudonym for its use number `round_number` (from 0): the name itself for the first, then with a number,
    such as "amber fox 2".
    """
    return name if not round_number else f"{name} {round_number + 1}"


def _row_without_race(game: Game, student: str, status: str, sentence: str, trials: Sequence[Trial]) -> dict[str, Any]:
    """Return the row of a student's submission that did not compete, with "student", "status" (such as "not raced"),
    "sentence" (the reason, cut to 400 characters), a "total" of 0, and "scores", the game's score for nothing by the
    trial's key; "file", "class", "class_text" and "series" are empty.
    """
    rows = {trial.key: dict(game.unfinished_score) for trial in trials}
    return {
        "student": student, "file": "", "status": status, "sentence": one_line(sentence, 400), "class": "", "scores": rows,
        "total": 0.0, "series": [], "class_text": "",
    }  # fmt: skip
