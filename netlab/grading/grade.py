"""A class graded: every submission judged, as many side by side as there are CPUs, each result kept as it is done."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent import futures
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from netlab import kernel
from netlab.base import scratch
from netlab.base.errors import NetlabError
from netlab.base.finished import as_finished
from netlab.base.progress_bar import Progress, shown_progress
from netlab.base.version import VERSION
from netlab.grading import flags, judging, kept, marking, master, sandbox, sheets
from netlab.grading.claim import Claim
from netlab.grading.helper import stopping
from netlab.grading.judging import Job
from netlab.grading.master import Master
from netlab.grading.roster import Entry, Matched, collect, match
from netlab.grading.submission import digest_of
from netlab.grading.text import bare, one_line

KEPT = "results"
REVIEW_COLUMNS = ("student", "exercise", "title", "of", "points", "comment", "words", "answer", "model")
"""`words` tells the answer that the points are for from any other."""
REVIEW_NEEDED = ("student", "exercise", "points", "words")


class GradingInterrupted(KeyboardInterrupt):
    """Grading was stopped; what was done is kept."""


@dataclass(frozen=True)
class Graded:
    """A class, graded."""

    master: Master
    """The chapter."""
    entries: dict[str, Entry]
    """The class list, by student."""
    results: list[dict[str, Any]]
    """The results of `judging.judge`: one for each student of the class list and for each other submission."""
    notes: list[str] = field(default_factory=list)
    """Remarks about the class as a whole."""
    failures: dict[str, str] = field(default_factory=dict)
    """Students whose submission could not be judged, through no fault of theirs, and why."""
    flags: list[dict[str, Any]] = field(default_factory=list)
    """The result of `flags.of_class`."""
    manifest: dict[str, Any] = field(default_factory=dict)
    """All that decided the points."""


def grade(
    chapter: Master,
    submissions: Sequence[Path],
    output: Path,
    *,
    entries: Sequence[Entry] = (),
    seed: str = "1",
    cpu_s: float = sandbox.CPU_S,
    resume: bool = False,
    claim: Claim | None = None,
    jobs: int | None = None,
    executor: futures.Executor | None = None,
    progress: bool | Progress = True,
) -> Graded:
    """Judge every submission of a class.

    Raises NetlabError when the chapter has no examiner, this machine cannot wall student code off, or `output` is of
    another chapter or class, or another grader's. Raises GradingInterrupted after Ctrl-C; `resume` goes on from there.

    Parameters
    ----------
    submissions : sequence of Path
        Files, and directories of files.
    output : Path
        Where each result is kept as soon as it is there.
    entries : sequence of Entry
        The class list; empty grades what was handed in under the files' names.
    seed : str
        What hidden cases follow from.
    cpu_s : float
        Processor time for one exercise, in s.
    resume : bool
        Take results that are there and still hold: of the same file, key, seed, code and kernel.
    claim : Claim, optional
        Whose `output` is; it is asked before anything is written there.
    jobs : int, optional
        How many are judged side by side; None is one for each CPU.
    executor : concurrent.futures.Executor, optional
        Where they are judged; None is threads, because each submission runs in processes of its own.
    progress : bool or callable
        Show a bar with an estimate, or call with the number done and of all.
    """
    sandbox.require_walls()
    chapter.exercises()
    stopping.clear()
    # After a kill the next one clears it away, with what was unpacked there.
    with scratch.run_directory(0, for_guests=False) as room:
        matched = match(collect(submissions, room), list(entries), chapter.stem)
        if claim is not None:
            handed_in = [student for student, file in matched.files.items() if file is not None]
            claim.take("marks", chapter.stem, [entry.student for entry in entries], handed_in)
        by_student = {entry.student: entry for entry in entries}
        todo = _jobs(chapter, matched, by_student, seed, cpu_s)
        manifest = _manifest(chapter, todo, seed, cpu_s)
        (output / KEPT).mkdir(parents=True, exist_ok=True)
        places = _places(output / KEPT, todo, manifest)
        known = {
            job.student: judging.without_marks(job, marking.NOT_GRADED, matched.doubtful[job.student])
            for job in todo
            if job.student in matched.doubtful
        }
        to_keep = {student: place for student, place in places.items() if student not in known}
        if resume:
            known |= {student: found for student, place in to_keep.items() if (found := kept.load(place)) is not None}
        waiting = [job for job in todo if job.student not in known]
        with (
            shown_progress(progress, len(todo), "submissions", done=len(known), what="grading") as tell,
            closing(_outcomes(waiting, jobs, executor)) as outcomes,
        ):
            tell(len(known), len(todo))
            results, failures = _judged(outcomes, known, to_keep, lambda done: tell(done, len(todo)))
    of_class = kept.place(output / KEPT, [sorted(place.name for place in places.values()), sorted(failures)])
    found_flags = _flags(of_class, results, resume)
    current = {of_class, *(place for student, place in to_keep.items() if student not in failures)}
    for stale in set((output / KEPT).glob("*.json")) - current:
        stale.unlink()
    return Graded(chapter, by_student, results, matched.notes, failures, found_flags, manifest)


def _jobs(chapter: Master, matched: Matched, entries: Mapping[str, Entry], seed: str, cpu_s: float) -> list[Job]:
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
    return {
        "chapter": chapter.stem,
        "key": master.digest([chapter.source, chapter.examiner_path]),
        "code": master.code_digest(),
        "kernel": kernel.find().release,
        "kernel_sha256": master.digest([kernel.find().path]),
        "netlab": VERSION,
        "seed": seed,
        "cpu_s": cpu_s,
        "submissions": {job.student: job.digest for job in todo},
    }


def _places(folder: Path, todo: Sequence[Job], manifest: Mapping[str, Any]) -> dict[str, Path]:
    """Return the path of each student's result; it changes with every input that affects the result."""
    conditions = {name: value for name, value in manifest.items() if name != "submissions"}
    return {job.student: kept.place(folder, [job.student, job.digest, job.token, job.file, conditions]) for job in todo}


def _judged(
    outcomes: Iterable[tuple[Job, Any]],
    known: Mapping[str, dict[str, Any]],
    to_keep: Mapping[str, Path],
    tell: Callable[[int], object],
) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """Results by student, those that are known and each that comes, which is kept; and who could not be judged, and why."""
    results = dict(known)
    failures: dict[str, str] = {}
    for job, outcome in outcomes:
        if isinstance(outcome, BaseException):
            failures[job.student] = _why(outcome)
            sentence = f"Not graded, and through no fault of the student's: {failures[job.student]}"
            results[job.student] = judging.without_marks(job, marking.NOT_GRADED, sentence)
        else:
            results[job.student] = outcome
            kept.store(to_keep[job.student], outcome)
        tell(len(results))
    return [results[student] for student in sorted(results)], failures


def _flags(place: Path, results: Sequence[Mapping[str, Any]], resume: bool) -> list[dict[str, Any]]:
    """The flags of a class; they take long to find, so they are kept with its results."""
    found = kept.load(place) if resume else None
    if found is None:
        found = {"flags": flags.of_class(results)}
        kept.store(place, found)
    return list(found["flags"])


def _why(error: BaseException) -> str:
    """Return a description of an error in the grader's words: the text of other errors may come from a student."""
    return one_line(str(error)) if isinstance(error, NetlabError) else f"the grader raised {type(error).__name__}."


def _outcomes(todo: Sequence[Job], jobs: int | None, executor: futures.Executor | None) -> Any:
    pool = executor or futures.ThreadPoolExecutor(jobs or len(os.sched_getaffinity(0)), thread_name_prefix="grading")
    running = {}
    try:
        running = {pool.submit(judging.judge, job): job for job in todo}
        for future in as_finished(running):
            error = future.exception()
            # A grader that breaks over one submission goes on with the others, and says so.
            yield running.pop(future), error if error is not None else future.result()
    except KeyboardInterrupt:
        stopping.set()
        raise GradingInterrupted from None
    finally:
        for future in running:
            future.cancel()
        if executor is None:
            # Also when SIGTERM ends it: nobody waits for those who are still at work.
            stopping.set()
            pool.shutdown(cancel_futures=True)
            stopping.clear()


@dataclass(frozen=True)
class Reviewed:
    """The points and the comment of a reviewer for an answer."""

    points: float
    comment: str = ""
    """A sentence for the student."""
    words: str = ""
    """The digest of the answer that was read."""


def read_review(path: Path) -> dict[tuple[str, str], Reviewed]:
    """The points that a person wrote into `review.csv`, by student and exercise; lines without any are left as they are.

    Raises NetlabError when the file is another one, or points are no number.
    """
    sheet = sheets.read(path, "review")
    columns = sheet.by_plain
    if not set(REVIEW_NEEDED) <= set(columns):
        raise NetlabError(f"{path} is no review: it needs the columns {', '.join(REVIEW_NEEDED)}.")

    def cell(row: Mapping[str, str], name: str) -> str:
        return bare(row.get(columns.get(name, name), ""))

    found = {}
    for _line, row in sheet:
        place, text = (one_line(cell(row, "student")), cell(row, "exercise")), cell(row, "points").replace(",", ".")
        if not text:
            continue
        try:
            points = float(text)
        except ValueError:
            # The line would help nobody: an answer has many, and a spreadsheet counts rows.
            raise NetlabError(f"{path}: {', '.join(place)}: points must be a number, got {text[:40]!r}.") from None
        found[place] = Reviewed(points, one_line(cell(row, "comment"), 1000), cell(row, "words"))
    return found


def with_review(graded: Graded, points: Mapping[tuple[str, str], Reviewed]) -> Graded:
    """The class with the points that a person gave to answers in words; for words that are others now they do not hold.

    Raises NetlabError when points are given to what is not there, or are out of range.
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
                    said = [given.comment or "Read by a person."]
                    marks.append({**mark, "points": given.points, "status": status, "sentences": said})
                    continue
            marks.append(mark)
        results.append({**result, "exercises": marks})
    unknown = sorted(set(points) - used)
    if unknown:
        raise NetlabError(f"review: there is no {unknown[0][1]} of {unknown[0][0]}; keep the file's first two columns.")
    notes = [f"Other words than those that got points: {', '.join(changed)}. Read them again."] if changed else []
    return replace(graded, results=results, notes=[*graded.notes, *notes])
