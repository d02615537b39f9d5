"""Grade a submission: extract the answers, run them in the sandbox, compare the results with hidden cases outside."""

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from netlab.base.errors import NetlabError
from netlab_classroom.grading import callee, plain, remote, sandbox
from netlab_classroom.grading.examiner import Exercise, WrittenAnswer
from netlab_classroom.grading.guest_calls import CallChannel
from netlab_classroom.grading.helper import GaveUpError, helper
from netlab_classroom.grading.laboratory import Laboratory
from netlab_classroom.grading.marking import (
    CRASHED,
    FAILED,
    MISSING,
    NOT_ATTEMPTED,
    NOT_GRADED,
    REVIEW,
    TIMED_OUT,
    UNREADABLE,
    ExerciseMark,
    RecordedFunction,
    expected_text,
    format_answer,
    grade,
)
from netlab_classroom.grading.master import Edition, Master
from netlab_classroom.grading.sandbox import CPU_S, Ending, ExerciseOutcome, ExerciseSandbox
from netlab_classroom.grading.submission import AnswerCell
from netlab_classroom.grading.text import one_line
from netlab_course.authoring import topic_of
from netlab_course.function_checks import Function

MAX_SENTENCE_CHARACTERS = 2_000
"""Characters of a message: a forged scenario may have as many mistakes as fit into a message of the guest."""
PRELUDE = "import math\n\nimport numpy as np\nimport pandas as pd\n\nimport netlab as nl\n"


@dataclass(frozen=True)
class Job:
    """A submission to be judged; plain data, so that any executor can take it."""

    student: str
    """The name of the student."""
    path: Path | None
    """The file; None when nothing was handed in."""
    source: Path
    """The chapter's source."""
    token: str | None = None
    """The seed of the student's own numbers; None takes the token in the submission."""
    seed: str = "1"
    """The seed of hidden cases and of graded runs."""
    cpu_s: float = CPU_S
    """Processor time for one exercise, in s."""
    digest: str = ""
    """The digest of the file, "" if it cannot be read."""
    file: str = ""
    """The name of the file in reports."""


Answer = Mapping[str, Any]
"""An answer in the form of `reading.compare`: `source`, `attempted`; for attempted code also `given`, `answer` and `comments`."""


def judge(job: Job) -> dict[str, Any]:
    """Judge one submission and return the result as plain data: "student", "file", "digest", "token", "other_token"
    (the notebook's if it differs from the class list's, else None), "notes" (sentences), "flags", "answers" (by
    key), and "exercises", a mark (a dict of the fields of ExerciseMark) for each exercise. It is complete even for a
    malicious or missing submission; NetlabError is raised only for errors of the chapter, its marking scheme or this
    machine.
    """
    master = Master(job.source)
    exercises = master.exercises()
    if job.path is None:
        return without_marks(job, MISSING, "Nothing was handed in.")
    path = os.fsdecode(job.path)
    try:
        read = helper().ask("read", path=path)
        if "error" in read:
            raise GaveUpError(read["error"])
        edition = master.edition(read["token"] if job.token is None else job.token)
        # A project may import any module, and has no own numbers.
        drawn = edition.chapter is not None
        if drawn and read["topic"] and read["topic"] != master.topic:
            return without_marks(job, UNREADABLE, f"This is the notebook of another chapter ({read['topic'][:40]}).")
        questions = [each for each in edition.answer_cells if each.key in exercises]
        found = helper().ask(
            "compare",
            path=path,
            handed_out=[[cell.id, cell.kind, cell.source] for cell in edition.handed_out],
            provided=edition.provided_cells,
            questions=[[each.key, each.id, each.name, each.stub] for each in questions],
        )
        if "error" in found:
            raise GaveUpError(found["error"])
    except GaveUpError as error:
        return without_marks(job, UNREADABLE, f"The file cannot be graded: {error}")
    marked = Examination(job, edition, exercises).marks(questions, found["answers"], found["added"])
    notes = found["notes"]
    other = read["token"] if drawn and job.token is not None and read["token"] != job.token else None
    if other is not None:
        notes.append("The notebook's token is another student's or was edited; the class list's numbers were used.")
    return {
        **_job_fields(job),
        "token": edition.token,
        "other_token": other,
        "notes": notes,
        "flags": found["flags"],
        "answers": {
            key: {name: answer.get(name) for name in ("answer", "source", "comments")}
            for key, answer in found["answers"].items()
        },
        "exercises": [vars(mark) for mark in marked.values()],
    }


def _job_fields(job: Job) -> dict[str, Any]:
    """Return the fields of a result that identify its submission: "student", "file" (its name in reports), "digest" and
    "token" (the class list's), the last three "" if there is none.
    """
    file = "" if job.path is None else job.file or one_line(os.fsdecode(job.path.name))
    return {"student": job.student, "file": file, "digest": job.digest, "token": job.token or ""}


def without_marks(job: Job, status: str, sentence: str) -> dict[str, Any]:
    """Return the result of a submission that cannot be marked, with the same fields as that of `judge`: every exercise
    has the status `status` (one of marking.STATUSES) and 0 points, and the only note is `sentence`, the reason.
    """
    exercises = Master(job.source).exercises()
    marked = [ExerciseMark(key, status, 0, exercise.points) for key, exercise in exercises.items()]
    return {
        **_job_fields(job),
        "other_token": None,
        "notes": [sentence],
        "flags": [],
        "answers": {},
        "exercises": [vars(each) for each in marked],
    }


class Examination:
    """The marking of one submission by a chapter's marking scheme; `exercises` has the scheme of
    each exercise by key.
    """

    def __init__(self, job: Job, edition: Edition, exercises: Mapping[str, Exercise | WrittenAnswer]) -> None:
        """Prepare the marking of a submission: its job, the chapter with the student's numbers, and the scheme of each
        exercise by key.
        """
        self._job, self._edition, self._exercises = job, edition, exercises
        self._seed = f"{job.seed}/{topic_of(job.source)}"
        self._laboratory = Laboratory(self._seed)
        self._probes: list[Any] = []
        self._transfers: list[tuple[Function, dict[str, Any]]] = []
        self._transfer_results: dict[int, dict[str, Any]] = {}
        self._requests: dict[str, dict[str, Any]] = {}

    def marks(
        self, questions: Sequence[AnswerCell], answers: Mapping[str, Answer], added: Sequence[str] = ()
    ) -> dict[str, ExerciseMark]:
        """Return the marks of the exercises in `questions` by key; `answers` has the answers by key, `added` the names that
        the student's own cells define, for explanations of errors. Answers in code run in the sandbox, all in one guest
        unless one crashes it. Raises RunError when a guest does not start.

        Parameters
        ----------
        added : sequence of str
            Names that the student's own cells define.
        """
        coded = [each for each in questions if each.name and answers[each.key]["attempted"]]
        requests = self._requests = {each.key: self._request(each, answers[each.key]) for each in coded}
        box = ExerciseSandbox(sandbox.shared_package(), self._job.cpu_s)
        outcomes = dict(zip(requests, box.work(list(requests.values()), self.answer), strict=True)) if coded else {}
        blamed = [key for key, outcome in outcomes.items() if "provided" in outcome.message]
        # The error of a provided cell may be forged by the answer: run those cells again without the answer.
        alone = [{**requests[key], "answer": f"{requests[key]['name']} = None", "calls": []} for key in blamed]
        faults = dict(zip(blamed, box.work(alone, self.answer), strict=True)) if blamed else {}
        found = {}
        for each in questions:
            mark = self._mark(each, answers[each.key], outcomes.get(each.key), faults.get(each.key))
            mark.sentences = [one_line(sentence, MAX_SENTENCE_CHARACTERS) for sentence in mark.sentences]
            _explain_missing_names(mark, added)
            found[each.key] = mark
        return found

    def _mark(
        self, question: AnswerCell, answer: Answer, outcome: ExerciseOutcome | None, alone: ExerciseOutcome | None
    ) -> ExerciseMark:
        """Return the mark of the exercise `question` from its answer ("source", "attempted" and more): status, points and
        feedback. `outcome` is the one of the answer in the sandbox, None if it did not run; `alone` is the one of the
        provided cells without the answer, None unless one of them had raised an error. An error of the check gives the
        status "not graded" and is not raised.
        """
        exercise = self._exercises[question.key]
        source = answer["source"]
        mark = ExerciseMark(
            question.key, NOT_ATTEMPTED, 0, exercise.points, ["Nothing was answered in its cell."], answer=source or ""
        )
        mark.wrong_tries = answer.get("wrong_tries", 0)
        check = self._edition.checks.get(question.key)
        mark.may_be_found_by_trial = check is not None and mark.wrong_tries >= check.many_tries
        if source is None:
            mark.status, mark.sentences = MISSING, ["The answer cell is missing."]
        elif not answer["attempted"]:
            return mark
        elif isinstance(exercise, WrittenAnswer):
            mark.status, mark.sentences = REVIEW, ["This answer is graded by hand."]
            mark.words, mark.counted = answer["words"], answer["counted"]
            if answer.get("predicted"):
                mark.answer = f"Predicted: {answer['predicted']}\n\n{source}"
        elif alone is not None and "provided" in alone.message:
            mark.status = NOT_GRADED
            mark.sentences = [
                f"A provided cell that it needs raised {one_line(str(alone.message['provided']))}. This is not your mistake."
            ]
        elif outcome is not None and (outcome.ending is not Ending.ANSWERED or alone is not None):
            mark.status = TIMED_OUT if outcome.ending is Ending.TIMED_OUT else CRASHED
            mark.sentences = [
                f"The answer gave no result: {outcome.reason or 'it wrote into the channel to the grader'}."
            ]
        elif outcome is not None:
            try:
                self._grade(mark, question, exercise, outcome.message)
            except Exception as error:  # noqa: BLE001 (an answer that a check cannot judge costs its own exercise)
                mark.status, mark.points, mark.parts = NOT_GRADED, 0, []
                mark.sentences = [f"Its check could not judge the answer ({type(error).__name__})."]
        return mark

    def _request(self, question: AnswerCell, answer: Answer) -> dict[str, Any]:
        """Return the request that runs an answer in code to the exercise `question` in the sandbox, as plain data:
        "topic", "token", "numbers" (the student's own), "key", the "name" to be defined, the sources of provided cells
        ("given") and of the "answer", the "calls" of a function, and "same_as", the functions that it may not use, each as
        a pair of its module and its name there.
        """
        same_as = getattr(self._edition.checks.get(question.key), "same_as", ())
        return {
            "topic": self._edition.chapter.topic,
            "token": self._edition.token,
            "numbers": plain.encode(dict(vars(self._edition.chapter.own))),
            "key": question.key,
            "name": question.name,
            "given": [PRELUDE, *answer["given"]],
            "answer": answer["answer"],
            "calls": self.calls(question),
            "same_as": [[each.__module__, each.__qualname__] for each in same_as],
        }

    def calls(self, question: AnswerCell) -> list[dict[str, Any]]:
        """Return the calls that a student's function must answer, as plain data: the arguments of each by name, or, for
        an exercise with transfers, which are recorded here, the transfer's number and its "window"; [] if the answer to
        the exercise `question` is not a function.
        """
        exercise, check = self._exercises[question.key], self._edition.checks[question.key]
        if not (isinstance(check, Function) and isinstance(exercise, Exercise)):
            return []
        trials, _ = exercise.trials(check, self._seed_of(question.key))
        if type(check).transfer is not Function.transfer:
            first = len(self._transfers)
            self._transfers += [(check, check.arguments(trial)) for trial in trials]
            return [{callee.TRANSFER: first + place, "window": trial["window"]} for place, trial in enumerate(trials)]
        return [{name: self._argument(value) for name, value in check.arguments(trial).items()} for trial in trials]

    def _argument(self, value: Any) -> Any:
        """Return an argument in its plain form: an array as {"array": list}, a function, which is kept, as {"probe":
        number}, which the student's code can evaluate only by a request, any other value itself.
        """
        if callable(value):
            self._probes.append(value)
            return {"probe": len(self._probes) - 1}
        if isinstance(value, np.ndarray):
            return {"array": value.tolist()}
        return value

    def answer(self, request: Mapping[str, Any], channel: CallChannel) -> Any:
        """Answer a request of student code (`request`, untrusted plain data with a "kind"): make a run ("run") or a
        transfer between its programs ("transfer"), or evaluate a probe ("probe"), and return the run's data, None or
        the value; `channel` calls the code's own classes. Raises NetlabError to refuse it.
        """
        kind = request.get("kind")
        if kind == "run" and isinstance(request.get("scenario"), dict):
            graded, own = request.get("graded") is not False, remote.requested_proxies(request, channel)
            return self._laboratory.measure(request["scenario"], graded=graded, own=own).to_dict()
        if kind == "transfer":
            return self._transfer(request.get(callee.TRANSFER), channel)
        if kind == "probe":
            return self._probe_value(request.get("number"), request.get("values"), request.get("named"))
        raise NetlabError("The grader does not know this question.")

    def _probe_value(self, number: Any, values: Any, named: Any) -> float | list[float]:
        """Return the value, a number or several, of the probe with this number (an index) for positional `values` and
        `named` arguments. Raises NetlabError if the untrusted request is not valid or the probe fails.
        """
        if not (isinstance(number, int) and 0 <= number < len(self._probes)):
            raise NetlabError("There is no such probe.")
        if not (isinstance(values, list) and isinstance(named, dict)):
            raise NetlabError("A probe takes numbers.")
        if not all(isinstance(value, (int, float)) and math.isfinite(value) for value in [*values, *named.values()]):
            raise NetlabError(
                f"The given function takes finite numbers, got {[*values, *named.values()]}; check what you pass to it."
            )
        try:
            found = self._probes[number](*values, **named)
            return [float(value) for value in found] if isinstance(found, tuple) else float(found)
        except (ArithmeticError, RuntimeError, TypeError, ValueError) as error:
            raise NetlabError(str(error)) from None

    def _transfer(self, number: Any, channel: CallChannel) -> None:
        """Run the hidden trial with this number (an index) between the student's programs, which are called through
        `channel`, and record its value for the marking, or the error with which it fails. Raises NetlabError when there
        is no such trial or it was already made.
        """
        if not (isinstance(number, int) and 0 <= number < len(self._transfers)) or number in self._transfer_results:
            raise NetlabError("There is no such transfer.")
        check, arguments = self._transfers[number]
        # Until the trial is over, its result is that nothing was delivered.
        self._transfer_results[number] = {"error": "it did not end"}
        try:
            self._transfer_results[number] = {
                "value": plain.encode(check.transfer(remote.program_proxies(channel), **arguments)),
            }
        except NetlabError as error:
            self._transfer_results[number] = {"error": str(error)}

    def _seed_of(self, key: str) -> str:
        """Return the seed (text) of the hidden cases of the exercise with this key: the seed of the grading, the
        chapter's topic and the key.
        """
        return f"{self._seed}/{key}"

    def _grade(self, mark: ExerciseMark, question: AnswerCell, exercise: Exercise, message: Mapping[str, Any]) -> None:
        """Compare the outcome of the answer to the exercise `question` in the sandbox (`message`, untrusted, with "value"
        or "error") with the right answer by the exercise's check and scheme, and write status, points, values and
        feedback into `mark`.
        """
        check = self._edition.checks[question.key]
        mark.expected = expected_text(check)
        if not isinstance(message.get("value"), dict):
            mark.status, mark.sentences = FAILED, [f"The answer raised {str(message.get('error', 'an error'))[:500]}."]
            mark.slip = mark.sentences[0].partition(":")[0]
            return
        try:
            answer = self._decode_answer(message, question.key)
            mark.value = format_answer(answer, check)
            grade(mark, exercise, check, answer, self._edition, self._seed_of(question.key))
        except NetlabError as error:
            mark.status, mark.sentences = FAILED, [str(error)]

    def _decode_answer(self, message: Mapping[str, Any], key: str) -> Any:
        """Return the answer to the exercise `key` in the form that a check can judge, from the message of the sandbox
        (untrusted, with "value" and "calls"): a function as its recorded results (not written yet: `...`), a class as a
        proxy, a run as a new measurement. Raises NetlabError when the message is not valid, or a measurement is
        refused.
        """
        value = plain.decode(message["value"])
        if isinstance(value, plain.ClassStandIn):
            return remote.isolated_class(sandbox.shared_package(), self._requests[key], name=value.name)
        if isinstance(value, plain.FunctionStandIn):
            calls = message.get("calls")
            return (
                ...
                if value.stub
                else RecordedFunction(self._call_results(key, calls if isinstance(calls, list) else []))
            )
        return self._measure(value)

    def _call_results(self, key: str, results: Sequence[Any]) -> list[Any]:
        """Return the results of the calls of the exercise's function, in order, each a dict with "value" or "error":
        for a transfer the result measured here, or an error if none was made, else the one in `results`, the untrusted
        results that the guest sent; calls without a result in `results` are left out.
        """
        found = []
        for call, each in zip(self._requests[key]["calls"], results, strict=False):
            other = {
                "error": each.get("error", "no transfer was made") if isinstance(each, dict) else "it gave no value"
            }
            found.append(self._transfer_results.get(call[callee.TRANSFER], other) if callee.TRANSFER in call else each)
        return found

    def _measure(self, value: Any) -> Any:
        """Return a decoded value of an answer in which each description of a run, also in lists and in the values of
        dictionaries, is replaced by the grader's own run, and that of a repeated run by a table; any other value is
        returned as it is. Raises NetlabError when a run is refused or fails.
        """
        if isinstance(value, plain.RunDescription):
            if value.seeds is not None:
                return self._laboratory.repeat(value.scenario, value.seeds)
            return self._laboratory.measure(value.scenario, graded=True)
        if isinstance(value, list):
            return [self._measure(item) for item in value]
        if isinstance(value, dict):
            return {name: self._measure(item) for name, item in value.items()}
        return value


def _explain_missing_names(mark: ExerciseMark, added: Sequence[str]) -> None:
    """Add a sentence to a mark whose feedback has a NameError, if one of the names in `added`, which the student's own
    cells define, is the missing one; at most one sentence is added.
    """
    results = " ".join(mark.sentences)
    for name in added:
        if f"NameError: name '{name}'" in results:
            mark.sentences.append(
                f"A cell of your own defines {name}; only the cells of answers are graded: define it in the answer's cell."
            )
            return
