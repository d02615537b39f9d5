"""Grading of a class: every submission is judged, in parallel on all CPUs, and each result is stored as soon as it is there."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent import futures
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from netlab.base import scratch
from netlab.base.completion import iter_completed
from netlab.base.errors import NetlabError
from netlab.base.progress_bar import Progress, show_progress
from netlab.base.version import VERSION
from netlab_classroom.grading import flags, judging, marking, master, result_store, sandbox, sheets
from netlab_classroom.grading.claim import OutputClaim
from netlab_classroom.grading.helper import stop_requested
from netlab_classroom.grading.judging import Job
from netlab_classroom.grading.master import Master
from netlab_classroom.grading.roster import FileAssignment, RosterEntry, collect, match
from netlab_classroom.grading.submission import digest_of
from netlab_classroom.grading.text import one_line, unescape_formula
from netlab_engines.kernels import pocket_kernel

RESULTS = "results"
NO_COMMENT = "Read by a person."
"""The feedback on a written answer whose reviewer gave points and no comment."""
REVIEW_COLUMNS = ("student", "exercise", "title", "of", "points", "comment", "words", "answer", "model")
"""The column `words` has a fingerprint of the answer to which the points belong."""
REVIEW_NEEDED = ("student", "exercise", "points", "words")


class GradingInterrupted(KeyboardInterrupt):
    """Grading was stopped; finished results are kept."""


@dataclass(frozen=True)
class GradedClass:
    """A graded class: the chapter, the class list, the results of all submissions, and everything
    that determined them.
    """

    master: Master
    """The chapter and its marking scheme."""
    entries: dict[str, RosterEntry]
    """The class list, by student."""
    results: list[dict[str, Any]]
    """The results of `judging.judge`: one for each student of the class list and for each other submission."""
    notes: list[str] = field(default_factory=list)
    """Remarks about the class as a whole."""
    failures: dict[str, str] = field(default_factory=dict)
    """The reasons why submissions could not be judged for which their students are not responsible, by student."""
    flags: list[dict[str, Any]] = field(default_factory=list)
    """The result of `flags.of_class`."""
    manifest: dict[str, Any] = field(default_factory=dict)
    """All inputs that determined the points."""


def grade(
    chapter: Master,
    submissions: Sequence[Path],
    output: Path,
    *,
    entries: Sequence[RosterEntry] = (),
    seed: str = "1",
    cpu_s: float = sandbox.CPU_S,
    resume: bool = False,
    claim: OutputClaim | None = None,
    jobs: int | None = None,
    executor: futures.Executor | None = None,
    progress: bool | Progress = True,
) -> GradedClass:
    """Judge the students' files in `submissions` for a chapter, `jobs` at a time (None: one for each CPU), and return
    all results with remarks and flags; each is stored in `output` as soon as it is there, with `resume` reused, and
    stale ones are removed. `entries` is the class list (empty: one student for each file), `seed` the one of hidden
    cases, `cpu_s` the limit of an exercise's processor time in s, `claim` the lock of `output`. Raises NetlabError for
    errors of the chapter, this machine or `output`, and GradingInterrupted after Ctrl-C.

    Parameters
    ----------
    submissions : sequence of Path
        Files, and directories of files.
    output : Path
        The directory in which each result is stored as soon as it is there.
    entries : sequence of Entry
        The class list; if empty, submissions are graded under their files' names.
    seed : str
        The seed of the hidden cases.
    cpu_s : float
        Processor time for one exercise, in s.
    resume : bool
        Reuse stored results that are still valid: for the same file, key, seed, code and kernel.
    claim : Claim, optional
        The lock of `output`; its `take` is called before anything is written there.
    jobs : int, optional
        The number of submissions judged in parallel; None means one for each CPU.
    executor : concurrent.futures.Executor, optional
        The executor that judges submissions; None means threads, because each submission runs in separate processes.
    progress : bool or callable
        Show a bar with an estimate, or call with the number of judged submissions and of all.
    """
    sandbox.require_isolation()
    chapter.exercises()
    stop_requested.clear()
    # If this process is killed, the next grading removes the directory with its unpacked files.
    with scratch.run_directory(0, for_guests=False) as unpacked:
        matched = match(collect(submissions, unpacked), list(entries), chapter.stem)
        if claim is not None:
            handed_in = [student for student, file in matched.files.items() if file is not None]
            claim.take("marks", chapter.stem, [entry.student for entry in entries], handed_in)
        by_student = {entry.student: entry for entry in entries}
        todo = _jobs(chapter, matched, by_student, seed, cpu_s)
        manifest = _manifest(chapter, todo, seed, cpu_s)
        (output / RESULTS).mkdir(parents=True, exist_ok=True)
        places = _places(output / RESULTS, todo, manifest)
        known = {
            job.student: judging.without_marks(job, marking.NOT_GRADED, matched.doubtful[job.student])
            for job in todo
            if job.student in matched.doubtful
        }
        to_keep = {student: place for student, place in places.items() if student not in known}
        if resume:
            known |= {
                student: found for student, place in to_keep.items() if (found := result_store.load(place)) is not None
            }
        waiting = [job for job in todo if job.student not in known]
        with (
            show_progress(progress, len(todo), "submissions", done=len(known), what="grading") as report_progress,
            closing(_outcomes(waiting, jobs, executor)) as outcomes,
        ):
            report_progress(len(known), len(todo))
            results, failures = _store_results(outcomes, known, to_keep, lambda done: report_progress(done, len(todo)))
    stored_flags = result_store.place(
        output / RESULTS, [sorted(place.name for place in places.values()), sorted(failures)]
    )
    found_flags = _flags(stored_flags, results, resume)
    current = {stored_flags, *(place for student, place in to_keep.items() if student not in failures)}
    for stale in set((output / RESULTS).glob("*.json")) - current:
        stale.unlink()
    return GradedClass(chapter, by_student, results, matched.notes, failures, found_flags, manifest)


def _jobs(
    chapter: Master, matched: FileAssignment, entries: Mapping[str, RosterEntry], seed: str, cpu_s: float
) -> list[Job]:
    """Return a job for each student in `matched`, with or without a file, in the order of their names; `entries` has
    the class list by student, `seed` is the one of hidden cases, and `cpu_s` the limit of an exercise's processor time
    in s.
    """
    return [
        Job(
            student,
            None if file is None else file.path,
            chapter.source,
            token=entries[student].token if student in entries else None,
            seed=seed,
            cpu_s=cpu_s,
            digest="" if file is None else digest_of(file.path),
            file="" if file is None else file.label,
        )
        for student, file in sorted(matched.files.items())
    ]


def _manifest(chapter: Master, todo: Sequence[Job], seed: str, cpu_s: float) -> dict[str, Any]:
    """Return all inputs that determine the points, as plain data: "chapter", "key" (a hash of notebook and marking
    scheme), "code", "kernel" (release), "kernel_sha256", "netlab" (version), "seed" (of hidden cases), "cpu_s" (the
    limit of an exercise's processor time in s) and "submissions" (the file's digest by student).
    """
    return {
        "chapter": chapter.stem,
        "key": master.digest([chapter.source, chapter.examiner_path]),
        "code": master.code_digest(),
        "kernel": pocket_kernel.find().release,
        "kernel_sha256": master.digest([pocket_kernel.find().path]),
        "netlab": VERSION,
        "seed": seed,
        "cpu_s": cpu_s,
        "submissions": {job.student: job.digest for job in todo},
    }


def _places(folder: Path, todo: Sequence[Job], manifest: Mapping[str, Any]) -> dict[str, Path]:
    """Return the path in `folder` of the result of each student with a job in `todo`, by student; the path changes with
    the submission and every input of `manifest` that affects the result.
    """
    conditions = {name: value for name, value in manifest.items() if name != "submissions"}
    return {
        job.student: result_store.place(folder, [job.student, job.digest, job.token, job.file, conditions])
        for job in todo
    }


def _store_results(
    outcomes: Iterable[tuple[Job, Any]],
    known: Mapping[str, dict[str, Any]],
    to_keep: Mapping[str, Path],
    report_progress: Callable[[int], object],
) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """Store each new result of `outcomes` (a job with its result or exception) at the student's path in `to_keep`.
    Return a pair: all results, with the `known` ones (by student), in a list in the order of students, and the reasons
    why submissions could not be judged, by student; such a result has no marks and is not stored. `report_progress` is called with
    the number of results.
    """
    results = dict(known)
    failures: dict[str, str] = {}
    for job, outcome in outcomes:
        if isinstance(outcome, BaseException):
            failures[job.student] = _failure_text(outcome)
            sentence = f"Not graded, and not because of the student: {failures[job.student]}"
            results[job.student] = judging.without_marks(job, marking.NOT_GRADED, sentence)
        else:
            results[job.student] = outcome
            result_store.store(to_keep[job.student], outcome)
        report_progress(len(results))
    return [results[student] for student in sorted(results)], failures


def _flags(place: Path, results: Sequence[Mapping[str, Any]], resume: bool) -> list[dict[str, Any]]:
    """Return the flags of a class as `flags.of_class` does, found by comparing its results; they are stored at the path
    `place`, because finding them takes long, and with `resume` those stored there, if any, are returned.
    """
    found = result_store.load(place) if resume else None
    if found is None:
        found = {"flags": flags.class_flags(results)}
        result_store.store(place, found)
    return list(found["flags"])


def _failure_text(error: BaseException) -> str:
    """Return a sentence about an error for reports: the text of a NetlabError in one line, or that the grader raised an
    error of this type, without its text, which may come from a student.
    """
    return one_line(str(error)) if isinstance(error, NetlabError) else f"the grader raised {type(error).__name__}."


def _outcomes(todo: Sequence[Job], jobs: int | None, executor: futures.Executor | None) -> Any:
    """Judge all jobs in `todo` by the executor (None: threads, `jobs` at a time, None for one for each CPU), and yield
    pairs of a job and its result (see `judging.judge`) or exception, each as soon as it is done. Raises
    GradingInterrupted after Ctrl-C; submissions being judged are abandoned then.
    """
    pool = executor or futures.ThreadPoolExecutor(jobs or len(os.sched_getaffinity(0)), thread_name_prefix="grading")
    running = {}
    try:
        running = {pool.submit(judging.judge, job): job for job in todo}
        for future in iter_completed(running):
            error = future.exception()
            # If the grader fails for one submission, it reports that and continues with the others.
            yield running.pop(future), error if error is not None else future.result()
    except KeyboardInterrupt:
        stop_requested.set()
        raise GradingInterrupted from None
    finally:
        for future in running:
            future.cancel()
        if executor is None:
            # This also runs after SIGTERM: submissions that are being judged are abandoned.
            stop_requested.set()
            pool.shutdown(cancel_futures=True)
            stop_requested.clear()


@dataclass(frozen=True)
class ReviewPoints:
    """The points and the comment of a reviewer for a written answer, and a fingerprint of the answer that was read."""

    points: float
    comment: str = ""
    """A sentence for the student."""
    words: str = ""
    """The digest of the answer that was read."""


def read_review(path: Path) -> dict[tuple[str, str], ReviewPoints]:
    """Return the points, comments and fingerprints of answers in the file at `path`, a `review.csv` that a reviewer has
    filled in, by (student, key of the exercise); rows without points are skipped, and a comma counts as a decimal
    point. Raises NetlabError when the file cannot be read or lacks columns, or points are not a number.
    """
    sheet = sheets.read_sheet(path, "review")
    columns = sheet.by_plain
    if not set(REVIEW_NEEDED) <= set(columns):
        raise NetlabError(f"{path} is not a review: it needs the columns {', '.join(REVIEW_NEEDED)}.")

    def cell(row: Mapping[str, str], name: str) -> str:
        """Return the text of a row (texts by heading) in the column with the normalized heading `name`; "" if there is
        none.
        """
        return unescape_formula(row.get(columns.get(name, name), ""))

    found = {}
    for _line, row in sheet:
        place, text = (one_line(cell(row, "student")), cell(row, "exercise")), cell(row, "points").replace(",", ".")
        if not text:
            continue
        try:
            points = float(text)
        except ValueError:
            # A line number would not help: an answer has many lines, and a spreadsheet counts rows.
            raise NetlabError(f"{path}: {', '.join(place)}: points must be a number, got {text[:40]!r}.") from None
        found[place] = ReviewPoints(points, one_line(cell(row, "comment"), 1000), cell(row, "words"))
    return found


def with_review(graded: GradedClass, points: Mapping[tuple[str, str], ReviewPoints]) -> GradedClass:
    """Return a copy of the graded class with a reviewer's `points` for written answers, given by (student, key of the
    exercise), as points, status (passed only with all points) and sentence of their marks; points for an answer that
    has changed since it was read are ignored, and a note says so. Raises NetlabError when points are for an unknown
    answer, or are out of range.
    """
    results: list[dict[str, Any]] = []
    used, changed = set(), []
    for result in graded.results:
        marks = []
        for mark in result["exercises"]:
            place = (result["student"], mark["key"])
            given = points.get(place)
            if given is not None:
                used.add(place)
                if not 0 <= given.points <= mark["of"]:
                    raise NetlabError(
                        f"review: {place[0]}, {place[1]}: points must be from 0 to {mark['of']:g}, got {given.points:g}."
                    )
                if given.words != mark["words"]:
                    changed.append(f"{place[0]} ({place[1]})")
                else:
                    status = marking.PASSED if given.points == mark["of"] else marking.FAILED
                    sentences = [given.comment or NO_COMMENT]
                    marks.append({**mark, "points": given.points, "status": status, "sentences": sentences})
                    continue
            marks.append(mark)
        results.append({**result, "exercises": marks})
    unknown = sorted(set(points) - used)
    if unknown:
        raise NetlabError(f"review: there is no {unknown[0][1]} of {unknown[0][0]}; keep the file's first two columns.")
    notes = [f"Other words than those that got points: {', '.join(changed)}. Read them again."] if changed else []
    return replace(graded, results=results, notes=[*graded.notes, *notes])
