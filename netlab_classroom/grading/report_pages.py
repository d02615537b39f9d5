"""Reports of a grading for people: pages for reviewers, students and the instructor."""

import html
import re
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from netlab_classroom.grading import marking
from netlab_classroom.grading.grade import GradedClass
from netlab_classroom.grading.helper import GaveUpError, helper
from netlab_classroom.grading.report_tables import (
    CANVAS,
    MOODLE,
    count_unreviewed,
    headings_by_cell,
    is_written_answer,
    max_points,
    model_answers,
    moodle_key,
    points_text,
    titles,
    total,
    without_address,
)
from netlab_classroom.grading.text import file_name

MAX_ROWS = 30


def review_html(graded: GradedClass) -> str:
    """Return the HTML page for reviewers of a graded class: the attempted written answers by question (apart for other
    model answers), with model answer and rubric; each has the points given so far and the flags of its student.
    """
    questions: dict[tuple[str, str], dict[str, Any]] = {}
    models, named = model_answers(graded), titles(graded)
    for result in graded.results:
        for mark in result["exercises"]:
            if not is_written_answer(mark):
                continue
            key, model = mark["key"], models[result["token"]][mark["key"]]
            answer_cell = next(each for each in graded.master.edition(result["token"]).answer_cells if each.key == key)
            question = questions.setdefault(
                (key, model),
                {
                    "key": key,
                    "title": named[key],
                    "of": points_text(mark["of"]),
                    "text": _without_comments(answer_cell.stub),
                    "model": _without_comments(model),
                    "answers": [],
                },
            )
            read = mark["status"] != marking.REVIEW
            question["answers"].append(
                {
                    "student": result["student"],
                    "words": mark["answer"],
                    "given": f"{points_text(mark['points'])} of {points_text(mark['of'])}" if read else "",
                    "comment": mark["sentences"][0] if read else "",
                    "flags": [
                        {
                            "kind": flag["kind"],
                            "sentence": flag["sentence"],
                            "others": _other_students(flag, result["student"]),
                        }
                        for flag in graded.flags
                        if result["student"] in flag["students"] and flag["exercise"] in ("", key)
                    ],
                }
            )
    return _page(
        "review.html.j2",
        chapter=graded.master.stem,
        questions=list(questions.values()),
        waiting=count_unreviewed(graded),
    )


def _other_students(flag: Mapping[str, Any], student: str) -> str:
    """Return the students of a flag other than `student` as text, separated by commas."""
    return ", ".join(other for other in flag["students"] if other != student)


def _without_comments(text: str) -> str:
    """Return a text of the chapter without HTML comments (<!-- ... -->), which are for the source only, and without
    outer spaces.
    """
    return re.sub(r"<!--.*?-->\n?", "", text, flags=re.DOTALL).strip()


def feedback_html(graded: GradedClass, result: Mapping[str, Any], *, show_expected: bool = False) -> str:
    """Return the HTML page of one student with the points and feedback of `result`, a student's result of
    `judging.judge`; `show_expected` adds the right numbers to answers that did not pass.
    """
    entry = graded.entries.get(result["student"])
    unread = sum(mark["of"] for mark in result["exercises"] if mark["status"] == marking.REVIEW)
    headings, named = headings_by_cell(graded), titles(graded)
    marks = [
        {
            **mark,
            "title": named[mark["key"]],
            "shown": marking.shown_status(mark),
            "waits": mark["status"] == marking.REVIEW,
            "points": points_text(mark["points"]),
            "of": points_text(mark["of"]),
            "expected": mark["expected"] if show_expected and mark["status"] != marking.PASSED else "",
            "parts": [
                {"label": part["label"], "points": points_text(part["points"]), "of": points_text(part["of"])}
                for part in mark["parts"]
            ],
            "read": headings.get(mark["key"], "") if mark["status"] in (marking.FAILED, marking.NOT_ATTEMPTED) else "",
        }
        for mark in result["exercises"]
    ]
    return _page(
        "feedback.html.j2",
        chapter=graded.master.stem,
        student=result["student"],
        name=entry.name if entry else result["student"],
        points=points_text(total(result)),
        of=points_text(max_points(result)),
        waiting=points_text(unread) if unread else "",
        notes=result["notes"],
        marks=marks,
    )


def class_html(graded: GradedClass, *, unreviewed: bool = False) -> str:
    """Return the instructor's first HTML page about a graded class: notes, waiting answers, flags, the most usual
    mistakes (at most MAX_ROWS), and points by exercise and student. With `unreviewed` it says that the files for Moodle
    and Canvas lack the points of answers that wait for review, else that these files were not written.
    """
    results = graded.results
    totals = sorted(total(result) for result in results)
    whole = max((max_points(result) for result in results), default=0.0)
    keys = [mark["key"] for mark in results[0]["exercises"]] if results else []
    named = titles(graded)
    seen = {marking.shown_status(mark) for result in results for mark in result["exercises"]}
    statuses = [status for status in marking.SHOWN_STATUSES if status in seen]
    exercises = []
    for place, key in enumerate(keys):
        marks = [result["exercises"][place] for result in results]
        counts = Counter(marking.shown_status(mark) for mark in marks)
        mean = statistics.fmean(mark["points"] for mark in marks)
        exercises.append(
            {
                "key": key,
                "title": named[key],
                "mean": "-" if counts[marking.REVIEW] else f"{mean:.2f}",
                "of": points_text(marks[0]["of"]),
                "counts": [counts[status] for status in statuses],
            }
        )
    slips = Counter((mark["key"], mark["slip"]) for result in results for mark in result["exercises"] if mark["slip"])
    return _page(
        "class.html.j2",
        chapter=graded.master.stem,
        students=len(results),
        handed_in=sum(1 for result in results if result["file"]),
        lowest=points_text(totals[0]) if totals else "0",
        highest=points_text(totals[-1]) if totals else "0",
        median=points_text(statistics.median(totals)) if totals else "0",
        of=points_text(whole),
        waiting=waiting_sentence(graded, unreviewed=unreviewed),
        notes=notes(graded),
        statuses=statuses,
        exercises=exercises,
        distribution=_distribution(totals, whole),
        slips=[
            {"count": count, "key": key, "title": named[key], "slip": slip}
            for (key, slip), count in sorted(slips.items(), key=lambda item: (-item[1], item[0]))[:MAX_ROWS]
        ],
        flags=[{**flag, "title": named.get(flag["exercise"], flag["exercise"])} for flag in graded.flags],
        table=[
            {
                "student": result["student"],
                "link": f"feedback/{file_name(result['student'])}.html",
                "points": points_text(total(result)),
                "statuses": [_status_with_tries(mark) for mark in result["exercises"]],
            }
            for result in results
        ],
    )


def _status_with_tries(mark: Mapping[str, Any]) -> str:
    """Return the status of an exercise (`mark` has the fields of ExerciseMark) as text, with the number of wrong tries
    if they are enough to find the answer by trial.
    """
    status = marking.shown_status(mark)
    return f"{status} ({mark['wrong_tries']} wrong tries)" if mark["may_be_found_by_trial"] else status


def waiting_sentence(graded: GradedClass, *, unreviewed: bool = False) -> str:
    """Return a sentence about the answers of the class that wait for a reviewer, "" if there are none; with
    `unreviewed` it says that the files for Moodle and Canvas lack their points, else that these files were not written.
    """
    number = count_unreviewed(graded)
    if not number:
        return ""
    wait = "1 answer waits" if number == 1 else f"{number} answers wait"
    if unreviewed:
        return f"{wait} for review: all points, and those in {MOODLE} and {CANVAS}, are without them."
    return (
        f"{wait} for review: all points are without them, so {MOODLE} and {CANVAS} were not written. Points go into review.csv; "
        "then grade again with --resume. --unreviewed writes the files all the same."
    )


def notes(graded: GradedClass) -> list[str]:
    """Return sentences about the class for the instructor: remarks from grading; that the class list has no tokens; the
    unreadable submissions, and the students without a key of Moodle, in one sentence each; and a sentence for each
    submission that could not be judged. [] if all is well.
    """
    found = [*graded.notes]
    listed = any(entry.token for entry in graded.entries.values())
    if graded.entries and not listed and any(result["token"] for result in graded.results):
        found.append(
            "The class list has no tokens, so the numbers are those that each notebook names: grade with the tokens.csv that "
            "`netlab assign` wrote."
        )
    unread = [
        f"{result['student']} ({result['file']})"
        for result in graded.results
        if any(mark["status"] == marking.UNREADABLE for mark in result["exercises"])
    ]
    if unread:
        found.append(f"Could not be read: {len(unread)}: {', '.join(unread)}. Their pages say why.")
    nowhere = without_address(graded)
    if nowhere:
        found.append(
            f"Not in {MOODLE}, because the class list has no {moodle_key(graded)[0]} for them: {', '.join(nowhere)}."
        )
    return [
        *found,
        *(
            f"{student}: not graded, and not because of the student: {reason}"
            for student, reason in graded.failures.items()
        ),
    ]


def _distribution(totals: Sequence[float], whole: float) -> list[dict[str, Any]]:
    """Return ten steps of 10 per cent of the maximum `whole`, from 0 on, dicts with "label", the "count" of students
    whose total is in the step (the last includes the maximum), and the "width" of its bar in em, 20 for the tallest;
    `totals` has the students' points.
    """
    counts = Counter(min(9, int(10 * points / whole)) if whole else 0 for points in totals)
    tallest = max(counts.values(), default=1)
    return [
        {
            "label": f"{10 * step} to {10 * step + 10} %",
            "count": counts[step],
            "width": round(20 * counts[step] / tallest, 1),
        }
        for step in range(10)
    ]


def _page(template: str, **words: Any) -> str:
    """Return the HTML page of the file `template` of this package's templates with the values `words`, made in the
    helper process; if that fails, a page with the reason.
    """
    try:
        page: str = helper().ask("page", template=template, words=words)
    except GaveUpError as error:
        return f"<!doctype html><meta charset=utf-8><p>This page could not be made: {html.escape(str(error))}</p>\n"
    return page
