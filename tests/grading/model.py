"""The solution's own answers, marked as a student's are, with many sets of own numbers: outside the sandbox, so without booting."""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import socket
import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import netlab
from netlab.base.errors import NetlabError
from netlab_classroom.grading import marking, plain, reading, runner
from netlab_classroom.grading.examiner import Exercise
from netlab_classroom.grading.guest_calls import CallChannel, StudentCodeError
from netlab_classroom.grading.judging import Examination, Job
from netlab_classroom.grading.master import Edition, Master
from netlab_classroom.grading.sandbox import Answerer, Ending, ExerciseOutcome
from netlab_classroom.grading.submission import AnswerCell
from netlab_course import authoring

MAX_TRIES = 20
RUNNER_FAILED = 70
"""The exit status of a child in which not the student's code but the runner raised an error."""


class UnisolatedSandbox:
    """Takes the sandbox's place for answers that are the instructor's: each runs in a fork of this process."""

    def __init__(self, *_settings: object) -> None:
        pass

    def work(self, exercises: Sequence[Mapping[str, Any]], answer: Answerer) -> list[ExerciseOutcome]:
        """Do what `ExerciseSandbox.work` does."""
        return [_outcome(exercise, answer) for exercise in exercises]


def _outcome(exercise: Mapping[str, Any], answer: Answerer) -> ExerciseOutcome:
    to_parent, from_child = os.pipe()
    grader_end, student = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        try:
            # Import modules that contain functions for runs again: there, these are the runner's.
            for name in [
                name for name in sys.modules if name.startswith(("netlab_course.chapters.", "netlab.runs.replications"))
            ]:
                home, _, last = name.rpartition(".")
                vars(sys.modules.get(home, netlab)).pop(last, None)
                del sys.modules[name]
            runner.prepare([exercise])
            with Path(os.devnull).open("w") as nowhere, contextlib.redirect_stdout(nowhere):
                runner.work(exercise, from_child, student.fileno())
            os._exit(0)
        except BaseException:  # noqa: BLE001 (an error of the runner's own; student code's errors are answers)
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(RUNNER_FAILED)
    student.close()
    os.close(from_child)
    message: dict[str, Any] = {}
    calls = CallChannel(grader_end, None)

    def reply(question: bytes) -> bytes:
        try:
            return json.dumps({"value": answer(plain.parse(question), calls)}).encode()
        except NetlabError as error:
            return json.dumps({"refused": str(error)}).encode()

    with os.fdopen(to_parent, "rb", 0) as text:
        # A child that has answered ends, which its channel shows as well.
        with contextlib.suppress(StudentCodeError):
            while text not in select.select([grader_end, text], [], [])[0]:
                calls.finish(reply(calls.receive()[1]))
        line = text.readline()
        if line[:1] == runner.ANSWER:
            message = plain.parse(line[1:])
    _, status = os.waitpid(pid, 0)
    if os.waitstatus_to_exitcode(status) == RUNNER_FAILED:
        raise RuntimeError("The runner failed; its standard error has the traceback.")
    grader_end.close()
    return ExerciseOutcome(Ending.ANSWERED if message else Ending.CRASHED, message)


def graded_by_code(chapter: Master, edition: Edition) -> Iterator[tuple[AnswerCell, Exercise]]:
    """The exercises of a chapter that are answered in code and have points."""
    exercises = chapter.exercises()
    for each in edition.answer_cells:
        exercise = exercises.get(each.key)
        if each.name and isinstance(exercise, Exercise):
            yield each, exercise


def lost_by_the_solution(
    chapter: Master, token: str, *, with_numbers: bool = False
) -> dict[str, tuple[str, float, list[str]]]:
    """Return the points that the solution's answers in code lose with the own numbers of a token: none, if the chapter is right.

    `with_numbers` leaves out what is the same for every token: answers that neither use own numbers nor need what does.
    """
    edition = chapter.edition(token)
    solution = {cell.id: cell.source for cell in edition.solved}
    calls = [each for each, _ in graded_by_code(chapter, edition)]
    answers = {each.key: reading.compose(edition.provided_cells, each.id, solution[each.id]) for each in calls}
    if with_numbers:
        calls = [
            each for each in calls if re.search(r"\bown\b", "\n".join([*answers[each.key]["given"], solution[each.id]]))
        ]
    marks = Examination(Job("", None, chapter.source, token), edition, chapter.exercises()).marks(calls, answers)
    return {
        key: (mark.status, mark.points, mark.sentences) for key, mark in marks.items() if mark.status != marking.PASSED
    }


def tokens(chapter: Master, number: int) -> list[str]:
    """Return tokens with different numbers, as many as asked for or as there are."""
    seen: dict[str, str] = {}
    for place in range(MAX_TRIES * number):
        own: SimpleNamespace = authoring.open_chapter_of(chapter.source, f"t{place}").own
        seen.setdefault(repr(sorted(vars(own).items())), f"t{place}")
        if len(seen) == number:
            break
    return list(seen.values())
