"""Reports of a grading: tables for people and platforms, pages for students and instructors."""

import csv
import html
import io
import json
import re
import shutil
import statistics
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from netlab_classroom.grading import marking, result_store
from netlab_classroom.grading.grade import REVIEW_COLUMNS, GradedClass
from netlab_classroom.grading.helper import GaveUpError, helper
from netlab_classroom.grading.master import WORDS
from netlab_classroom.grading.roster import Entry
from netlab_classroom.grading.text import file_name, harmless

GRADES, MOODLE, CANVAS = "grades.csv", "moodle.csv", "canvas.csv"
MAX_CELL_CHARACTERS = 30_000
"""A cell of Excel has at most 32 767 characters."""
LINE_END = " ¶ "
"""The sign exists in the code pages of Western Europe in which spreadsheets save."""
UTF_8_MARK = "\ufeff"
"""Excel takes UTF-8 without this mark at the file's start for a code page, and shows "ö" as "Ã¶"."""
MAX_ROWS = 30


def write(graded: GradedClass, output: Path, *, show_expected: bool = False, unreviewed: bool = False) -> None:
    """Write all reports of a graded class (tables, pages, students' pages in feedback, code in code) into the directory
    `output`, in place of earlier ones; the files for Moodle and Canvas only if no answer waits for review, or with
    `unreviewed`, and else earlier ones are removed. `show_expected` adds the right numbers to students' pages.

    Parameters
    ----------
    output : Path
        The directory; reports of an earlier grading are replaced.
    show_expected : bool
        Show students the right numbers.
    unreviewed : bool
        Write the platforms' files although answers are waiting for review.
    """
    output.mkdir(parents=True, exist_ok=True)
    texts = {
        GRADES: grades_csv(graded),
        "junit.xml": junit_xml(graded),
        "flags.csv": UTF_8_MARK
        + _table(
            ("students", "kind", "exercise", "sentence"),
            ([", ".join(flag["students"]), flag["kind"], flag["exercise"], flag["sentence"]] for flag in graded.flags),
        ),
        "review.csv": UTF_8_MARK + review_csv(graded),
        "review.html": review_html(graded),
        "class.html": class_html(graded, unreviewed=unreviewed),
        "manifest.json": json.dumps(graded.manifest, indent=1, sort_keys=True) + "\n",
    }
    if unreviewed or not waiting(graded):
        texts |= {MOODLE: moodle_csv(graded), CANVAS: canvas_csv(graded)}
    else:
        # Remove files of an earlier grading, which could be imported by mistake.
        for name in (MOODLE, CANVAS):
            (output / name).unlink(missing_ok=True)
    for name, text in texts.items():
        result_store.write_whole(output / name, text)
    pages = output / "feedback"
    shutil.rmtree(pages, ignore_errors=True)
    pages.mkdir()
    for result in graded.results:
        result_store.write_whole(
            pages / f"{file_name(result['student'])}.html", feedback_html(graded, result, show_expected=show_expected)
        )
    _write_code(graded, output / "code")


def _write_code(graded: GradedClass, directory: Path) -> None:
    """Write the code of each answer that was attempted to `<exercise>/<student>.py` in the directory, in place of all
    its earlier files, for programs that look for copies.
    """
    shutil.rmtree(directory, ignore_errors=True)
    for result in graded.results:
        for key, answer in result["taken"].items():
            if answer["answer"]:  # neither words nor an answer that was not attempted
                (directory / key).mkdir(parents=True, exist_ok=True)
                result_store.write_whole(
                    directory / key / f"{file_name(result['student'])}.py", answer["source"] + "\n"
                )


def waiting(graded: GradedClass) -> int:
    """Return the number of answers in the graded class that wait for a reviewer's points."""
    return sum(mark["status"] == marking.REVIEW for result in graded.results for mark in result["exercises"])


def titles(graded: GradedClass) -> dict[str, str]:
    """Return the title of each exercise of the chapter, by key: the nearest heading above its cell, numbered if several
    exercises have the same heading; the key if there is none.
    """
    headings = _headings(graded)
    keys = list(graded.master.exercises())
    shared = Counter(headings.get(key, "") for key in keys)
    seen: Counter[str] = Counter()
    found = {}
    for key in keys:
        heading = headings.get(key, "")
        seen[heading] += 1
        number = f" ({seen[heading]})" if shared[heading] > 1 else ""
        found[key] = f"{heading}{number}" if heading else key
    return found


def total(result: Mapping[str, Any]) -> float:
    """Return the sum of a student's points from the result of `judging.judge`, whose "exercises" have "points" each;
    answers that wait for review count 0.
    """
    return float(sum(mark["points"] for mark in result["exercises"]))


def max_points(result: Mapping[str, Any]) -> float:
    """Return the largest possible sum of points of a student from the result of `judging.judge`, whose "exercises" have
    "of", the maximum of each.
    """
    return float(sum(mark["of"] for mark in result["exercises"]))


def imported(result: Mapping[str, Any]) -> str:
    """Return the sum of points in a student's result (of `judging.judge`) as text for a platform's import; "" if an
    exercise was not graded, so that points on the platform are kept.
    """
    statuses = {mark["status"] for mark in result["exercises"]}
    return "" if marking.NOT_GRADED in statuses else _number(total(result))


def without_address(graded: GradedClass) -> list[str]:
    """Return the names of students (as in reports) who are missing in Moodle's table, because their row of the class
    list lacks the column that identifies students in Moodle; [] if all rows lack it.
    """
    _, column = _moodle_key(graded)
    there = [entry.student for entry in graded.entries.values() if column and not entry.columns.get(column)]
    return there if len(there) < len(graded.entries) else []


def _moodle_key(graded: GradedClass) -> tuple[str, str]:
    """Return the heading under which Moodle finds students, such as "Email address", and the column of the class list
    with it, the first that any student has; ("ID number", "") if there is none, for the student's identifier.
    """
    for title, column in (("Email address", "email"), ("ID number", "id_number"), ("Username", "username")):
        if any(entry.columns.get(column) for entry in graded.entries.values()):
            return title, column
    return "ID number", ""


def grades_csv(graded: GradedClass) -> str:
    """Return the text of a CSV file with a row for each student and exercise: the columns student, exercise (its key),
    points, of (the maximum), status, and "wrong tries" (the number that the notebook shows, "" for none).
    """
    return _table(
        ("student", "exercise", "points", "of", "status", "wrong tries"),
        (
            [
                result["student"],
                mark["key"],
                _number(mark["points"]),
                _number(mark["of"]),
                marking.shown_status(mark),
                str(mark["wrong_tries"] or ""),
            ]
            for result in graded.results
            for mark in result["exercises"]
        ),
    )


def moodle_csv(graded: GradedClass) -> str:
    """Return the text of a CSV file for Moodle's grade import, with a row for each student: the key by which Moodle
    finds the student, the sum of points ("" if an exercise was not graded), and a comment. Students who are not in the
    class list (if there is one), or lack the key, are left out.

    Moodle stops at the first row with an unknown student, so students who are not in the class list are left out.
    """
    title, column = _moodle_key(graded)
    named = titles(graded)
    rows = []
    for result in graded.results:
        entry = graded.entries.get(result["student"])
        if graded.entries and entry is None:
            continue
        who = entry.columns.get(column, "") if column and entry else result["student"]
        if who:
            rows.append([who, imported(result), _summary(result, named)])
    return _table((title, graded.master.stem, "Feedback comments"), rows)


def canvas_csv(graded: GradedClass) -> str:
    """Return the text of a CSV file for Canvas's gradebook import: a row of points possible, then a row for each
    student with the columns of the class list by which Canvas finds students ("" where the list has none) and the sum
    of points ("" if an exercise was not graded).

    A column that the class list lacks is empty: Canvas then finds the student by the others.
    """
    whole = max((max_points(result) for result in graded.results), default=0.0)
    columns = _canvas_columns(graded)
    rows: list[list[str]] = [["    Points Possible", *[""] * (len(columns) - 1), _number(whole)]]
    for result in graded.results:
        entry = graded.entries.get(result["student"], Entry(result["student"]))
        named = {**entry.columns, "name": entry.name}
        rows.append([*(named.get(column, "") for _, column in columns), imported(result)])
    return _table([*(title for title, _ in columns), graded.master.stem], rows)


def _canvas_columns(graded: GradedClass) -> list[tuple[str, str]]:
    """Return the columns of Canvas's table in order, each as a pair of Canvas's heading and the column of the class
    list; the name is in two columns if the class list has it so, and the columns of the integration and the root
    account are there only if the class list has them.
    """
    given = [entry.columns for entry in graded.entries.values()]
    has = {name for columns in given for name, value in columns.items() if value}
    split = {"first_name", "last_name", "canvas_id"} <= has and "name" not in has
    names = [("LastName", "last_name"), ("FirstName", "first_name")] if split else [("Student", "name")]
    own = [("ID", "canvas_id"), ("SIS User ID", "sis_user_id"), ("SIS Login ID", "sis_login_id")]
    more = [("Integration ID", "integration_id"), ("Root Account", "root_account")]
    return [*names, *own, *(each for each in more if each[1] in has), ("Section", "section")]


def junit_xml(graded: GradedClass) -> str:
    """Return the text of a JUnit file (XML) with a test suite for each student and a test case for each exercise, whose
    properties have the points; answers that were not attempted or wait for review count as skipped, and all others that
    did not pass as failures.
    """
    root = ET.Element("testsuites", name=graded.master.stem)
    for result in graded.results:
        marks = result["exercises"]
        skipped = [mark for mark in marks if mark["status"] in (marking.NOT_ATTEMPTED, marking.REVIEW)]
        failed = [mark for mark in marks if mark["status"] != marking.PASSED and mark not in skipped]
        suite = ET.SubElement(
            root,
            "testsuite",
            name=result["student"],
            tests=str(len(marks)),
            failures=str(len(failed)),
            errors="0",
            skipped=str(len(skipped)),
        )
        for mark in marks:
            case = ET.SubElement(suite, "testcase", classname=result["student"], name=mark["key"], time="0")
            properties = ET.SubElement(case, "properties")
            for name in ("points", "of"):
                ET.SubElement(properties, "property", name=name, value=_number(mark[name]))
            if mark in skipped:
                ET.SubElement(case, "skipped", message=mark["status"])
            elif mark in failed:
                ET.SubElement(case, "failure", message=mark["status"]).text = "\n".join(mark["sentences"])
    ET.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def review_csv(graded: GradedClass) -> str:
    """Return the text of a CSV file with a row for each written answer that was attempted: the columns REVIEW_COLUMNS,
    with points and comment empty until a reviewer gives them. Each cell is one line, and short enough for any
    spreadsheet.
    """
    models, named = _models(graded), titles(graded)
    return _table(
        REVIEW_COLUMNS,
        (
            [
                result["student"],
                mark["key"],
                named[mark["key"]],
                _number(mark["of"]),
                "" if mark["status"] == marking.REVIEW else _number(mark["points"]),
                "" if mark["status"] == marking.REVIEW else mark["sentences"][0],
                mark["words"],
                _in_a_cell(mark["answer"]),
                _in_a_cell(models[result["token"]][mark["key"]]),
            ]
            for result in graded.results
            for mark in result["exercises"]
            if _in_words(mark)
        ),
    )


def _in_a_cell(text: str) -> str:
    """Return a text in one line with the sign LINE_END for its line ends, cut to MAX_CELL_CHARACTERS characters, for a
    cell of a spreadsheet.
    """
    lines = (line.strip() for line in text.replace("\t", " ").split("\n"))
    line = LINE_END.join(filter(None, lines))
    return line if len(line) <= MAX_CELL_CHARACTERS else f"{line[:MAX_CELL_CHARACTERS]} …"


def _in_words(mark: Mapping[str, Any]) -> bool:
    """Return whether an exercise's mark (fields of ExerciseMark) is that of a written answer which a reviewer reads or
    has read.
    """
    return mark["key"].endswith(WORDS) and mark["status"] in (marking.REVIEW, marking.PASSED, marking.FAILED)


def review_html(graded: GradedClass) -> str:
    """Return the HTML page for reviewers of a graded class: the attempted written answers by question (apart for other
    model answers), with model answer and rubric; each has the points given so far and the flags of its student.
    """
    questions: dict[tuple[str, str], dict[str, Any]] = {}
    models, named = _models(graded), titles(graded)
    for result in graded.results:
        for mark in result["exercises"]:
            if not _in_words(mark):
                continue
            key, model = mark["key"], models[result["token"]][mark["key"]]
            wanted = next(each for each in graded.master.edition(result["token"]).answer_cells if each.key == key)
            question = questions.setdefault(
                (key, model),
                {
                    "key": key,
                    "title": named[key],
                    "of": _number(mark["of"]),
                    "text": _without_comments(wanted.stub),
                    "model": _without_comments(model),
                    "answers": [],
                },
            )
            read = mark["status"] != marking.REVIEW
            question["answers"].append(
                {
                    "student": result["student"],
                    "words": mark["answer"],
                    "given": f"{_number(mark['points'])} of {_number(mark['of'])}" if read else "",
                    "comment": mark["sentences"][0] if read else "",
                    "flags": [
                        {"kind": flag["kind"], "sentence": flag["sentence"], "others": _others(flag, result["student"])}
                        for flag in graded.flags
                        if result["student"] in flag["students"] and flag["exercise"] in ("", key)
                    ],
                }
            )
    return _page(
        "review.html.j2", chapter=graded.master.stem, questions=list(questions.values()), waiting=waiting(graded)
    )


def _others(flag: Mapping[str, Any], student: str) -> str:
    """Return the students of a flag other than `student` as text, separated by commas."""
    return ", ".join(other for other in flag["students"] if other != student)


def _without_comments(text: str) -> str:
    """Return a text of the chapter without HTML comments (<!-- ... -->), which are for the source only, and without
    outer spaces.
    """
    return re.sub(r"<!--.*?-->\n?", "", text, flags=re.DOTALL).strip()


def _models(graded: GradedClass) -> dict[str, dict[str, str]]:
    """Return the instructor's answers to written questions, by token and then by key of the exercise, for all tokens of
    students with an attempted written answer: an answer may depend on a student's own numbers.
    """
    found: dict[str, dict[str, str]] = {}
    for result in graded.results:
        token = result["token"]
        if token not in found and any(_in_words(mark) for mark in result["exercises"]):
            edition = graded.master.edition(token)
            found[token] = {each.key: edition.model_answer(each) for each in edition.answer_cells if not each.name}
    return found


def feedback_html(graded: GradedClass, result: Mapping[str, Any], *, show_expected: bool = False) -> str:
    """Return the HTML page of one student with the points and feedback of `result`, a student's result of
    `judging.judge`; `show_expected` adds the right numbers to answers that did not pass.
    """
    entry = graded.entries.get(result["student"])
    unread = sum(mark["of"] for mark in result["exercises"] if mark["status"] == marking.REVIEW)
    headings, named = _headings(graded), titles(graded)
    marks = [
        {
            **mark,
            "title": named[mark["key"]],
            "shown": marking.shown_status(mark),
            "waits": mark["status"] == marking.REVIEW,
            "points": _number(mark["points"]),
            "of": _number(mark["of"]),
            "expected": mark["expected"] if show_expected and mark["status"] != marking.PASSED else "",
            "parts": [
                {"label": part["label"], "points": _number(part["points"]), "of": _number(part["of"])}
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
        points=_number(total(result)),
        of=_number(max_points(result)),
        waiting=_number(unread) if unread else "",
        notes=result["notes"],
        marks=marks,
    )


def _headings(graded: GradedClass) -> dict[str, str]:
    """Return the nearest heading (of level 2 to 4) above or in each cell of the chapter's notebook, by the cell's id,
    which is also the key of an exercise; "" if there is none.
    """
    found: dict[str, str] = {}
    heading = ""
    for cell in graded.master.edition().handed_out:
        if cell.kind == "markdown":
            lines = re.findall(r"^#{2,4}\s+(.+)$", cell.source, re.MULTILINE)
            heading = lines[-1] if lines else heading
        found[cell.id] = heading
    return found


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
                "of": _number(marks[0]["of"]),
                "counts": [counts[status] for status in statuses],
            }
        )
    slips = Counter((mark["key"], mark["slip"]) for result in results for mark in result["exercises"] if mark["slip"])
    return _page(
        "class.html.j2",
        chapter=graded.master.stem,
        students=len(results),
        handed_in=sum(1 for result in results if result["file"]),
        lowest=_number(totals[0]) if totals else "0",
        highest=_number(totals[-1]) if totals else "0",
        median=_number(statistics.median(totals)) if totals else "0",
        of=_number(whole),
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
                "points": _number(total(result)),
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
    number = waiting(graded)
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
            f"Not in {MOODLE}, because the class list has no {_moodle_key(graded)[0]} of theirs: {', '.join(nowhere)}."
        )
    return [
        *found,
        *(f"{student}: not graded, and through no fault of theirs: {why}" for student, why in graded.failures.items()),
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


def _summary(result: Mapping[str, Any], named: Mapping[str, str]) -> str:
    """Return the comment on a student's result for Moodle: status and points of each exercise, or the first note if
    nothing was marked. `named` has the exercises' titles by key.
    """
    if not any(mark["sentences"] for mark in result["exercises"]):
        return " ".join(result["notes"][:1])
    return "; ".join(f"{named[mark['key']]}: {_outcome(mark)}" for mark in result["exercises"])


def _outcome(mark: Mapping[str, Any]) -> str:
    """Return the status and the points of an exercise (`mark` has the fields of ExerciseMark) as text, such as "passed,
    2 of 2"; for an answer that waits for a review only the points that it can have, such as "..., of 2".
    """
    if mark["status"] == marking.REVIEW:
        return f"{mark['status']}, of {_number(mark['of'])}"
    return f"{marking.shown_status(mark)}, {_number(mark['points'])} of {_number(mark['of'])}"


def _table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return the text of a CSV file with a row of titles and these rows of texts; cells that a spreadsheet would take
    for formulas get an apostrophe in front.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(titles)
    writer.writerows([harmless(cell) for cell in row] for row in rows)
    return text.getvalue()


def _number(value: float) -> str:
    """Return a number of points as text without superfluous zeros, such as "2" or "2.5"."""
    return f"{value:g}"


def _page(template: str, **words: Any) -> str:
    """Return the HTML page of the file `template` of this package's templates with the values `words`, made in the
    helper process; if that fails, a page with the reason.
    """
    try:
        page: str = helper().ask("page", template=template, words=words)
    except GaveUpError as error:
        return f"<!doctype html><meta charset=utf-8><p>This page could not be made: {html.escape(str(error))}</p>\n"
    return page
