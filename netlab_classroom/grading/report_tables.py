"""Reports of a grading for programs: tables for spreadsheets, Moodle and Canvas, and a JUnit file."""

import csv
import io
import re
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from netlab_classroom.grading import marking
from netlab_classroom.grading.grade import NO_COMMENT, REVIEW_COLUMNS, GradedClass
from netlab_classroom.grading.master import WORDS
from netlab_classroom.grading.roster import RosterEntry
from netlab_classroom.grading.text import escape_formula

GRADES, MOODLE, CANVAS = "grades.csv", "moodle.csv", "canvas.csv"
MAX_CELL_CHARACTERS = 30_000
"""A cell of Excel has at most 32 767 characters."""
LINE_END = " ¶ "
"""The sign exists in the code pages of Western Europe in which spreadsheets save."""
UTF_8_MARK = "\ufeff"
"""Excel takes UTF-8 without this mark at the file's start for a code page, and shows "ö" as "Ã¶"."""


def count_unreviewed(graded: GradedClass) -> int:
    """Return the number of answers in the graded class that wait for a reviewer's points."""
    return sum(mark["status"] == marking.REVIEW for result in graded.results for mark in result["exercises"])


def titles(graded: GradedClass) -> dict[str, str]:
    """Return the title of each exercise of the chapter, by key: the nearest heading above its cell, numbered if several
    exercises have the same heading; the key if there is none.
    """
    headings = headings_by_cell(graded)
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


def import_points(result: Mapping[str, Any]) -> str:
    """Return the sum of points in a student's result (of `judging.judge`) as text for a platform's import; "" if an
    exercise was not graded, so that points on the platform are kept.
    """
    statuses = {mark["status"] for mark in result["exercises"]}
    return "" if marking.NOT_GRADED in statuses else points_text(total(result))


def without_address(graded: GradedClass) -> list[str]:
    """Return the names of students (as in reports) who are missing in Moodle's table, because their row of the class
    list lacks the column that identifies students in Moodle; [] if all rows lack it.
    """
    _, column = moodle_key(graded)
    there = [entry.student for entry in graded.entries.values() if column and not entry.columns.get(column)]
    return there if len(there) < len(graded.entries) else []


def moodle_key(graded: GradedClass) -> tuple[str, str]:
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
    return table_text(
        ("student", "exercise", "points", "of", "status", "wrong tries"),
        (
            [
                result["student"],
                mark["key"],
                points_text(mark["points"]),
                points_text(mark["of"]),
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
    title, column = moodle_key(graded)
    named = titles(graded)
    rows = []
    for result in graded.results:
        entry = graded.entries.get(result["student"])
        if graded.entries and entry is None:
            continue
        who = entry.columns.get(column, "") if column and entry else result["student"]
        if who:
            rows.append([who, import_points(result), _summary(result, named)])
    return table_text((title, graded.master.stem, "Feedback comments"), rows)


def canvas_csv(graded: GradedClass) -> str:
    """Return the text of a CSV file for Canvas's gradebook import: a row of points possible, then a row for each
    student with the columns of the class list by which Canvas finds students ("" where the list has none) and the sum
    of points ("" if an exercise was not graded).

    A column that the class list lacks is empty: Canvas then finds the student by the others.
    """
    whole = max((max_points(result) for result in graded.results), default=0.0)
    columns = _canvas_columns(graded)
    rows: list[list[str]] = [["    Points Possible", *[""] * (len(columns) - 1), points_text(whole)]]
    for result in graded.results:
        entry = graded.entries.get(result["student"], RosterEntry(result["student"]))
        named = {**entry.columns, "name": entry.name}
        rows.append([*(named.get(column, "") for _, column in columns), import_points(result)])
    return table_text([*(title for title, _ in columns), graded.master.stem], rows)


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
                ET.SubElement(properties, "property", name=name, value=points_text(mark[name]))
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
    models, named = model_answers(graded), titles(graded)
    return table_text(
        REVIEW_COLUMNS,
        (
            [
                result["student"],
                mark["key"],
                named[mark["key"]],
                points_text(mark["of"]),
                "" if mark["status"] == marking.REVIEW else points_text(mark["points"]),
                "" if mark["status"] == marking.REVIEW else mark["sentences"][0],
                mark["words"],
                _in_a_cell(mark["answer"]),
                _in_a_cell(models[result["token"]][mark["key"]]),
            ]
            for result in graded.results
            for mark in result["exercises"]
            if is_written_answer(mark)
        ),
    )


def _in_a_cell(text: str) -> str:
    """Return a text in one line with the sign LINE_END for its line ends, cut to MAX_CELL_CHARACTERS characters, for a
    cell of a spreadsheet.
    """
    lines = (line.strip() for line in text.replace("\t", " ").split("\n"))
    line = LINE_END.join(filter(None, lines))
    return line if len(line) <= MAX_CELL_CHARACTERS else f"{line[:MAX_CELL_CHARACTERS]} …"


def is_written_answer(mark: Mapping[str, Any]) -> bool:
    """Return whether an exercise's mark (fields of ExerciseMark) is that of a written answer which a reviewer reads or
    has read.
    """
    return mark["key"].endswith(WORDS) and mark["status"] in (marking.REVIEW, marking.PASSED, marking.FAILED)


def model_answers(graded: GradedClass) -> dict[str, dict[str, str]]:
    """Return the instructor's answers to written questions, by token and then by key of the exercise, for all tokens of
    students with an attempted written answer: an answer may depend on a student's own numbers.
    """
    found: dict[str, dict[str, str]] = {}
    for result in graded.results:
        token = result["token"]
        if token not in found and any(is_written_answer(mark) for mark in result["exercises"]):
            edition = graded.master.edition(token)
            found[token] = {each.key: edition.model_answer(each) for each in edition.answer_cells if not each.name}
    return found


def headings_by_cell(graded: GradedClass) -> dict[str, str]:
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


def _summary(result: Mapping[str, Any], named: Mapping[str, str]) -> str:
    """Return the comment on a student's result for Moodle: status and points of each exercise, or the first note if
    nothing was marked. `named` has the exercises' titles by key.
    """
    if not any(mark["sentences"] for mark in result["exercises"]):
        return " ".join(result["notes"][:1])
    return "; ".join(f"{named[mark['key']]}: {_outcome(mark)}" for mark in result["exercises"])


def _outcome(mark: Mapping[str, Any]) -> str:
    """Return the status and the points of an exercise (`mark` has the fields of ExerciseMark) as text, such as "passed,
    2 of 2", with the reviewer's comment on a written answer; for an answer that waits for a review only the points that
    it can have, such as "..., of 2".
    """
    if mark["status"] == marking.REVIEW:
        return f"{mark['status']}, of {points_text(mark['of'])}"
    comment = mark["sentences"][0] if is_written_answer(mark) else NO_COMMENT
    given = f"{marking.shown_status(mark)}, {points_text(mark['points'])} of {points_text(mark['of'])}"
    return given if comment == NO_COMMENT else f"{given} ({comment})"


def table_text(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return the text of a CSV file with a row of titles and these rows of texts; cells that a spreadsheet would take
    for formulas get an apostrophe in front.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(titles)
    writer.writerows([escape_formula(cell) for cell in row] for row in rows)
    return text.getvalue()


def points_text(value: float) -> str:
    """Return a number of points as text without superfluous zeros, such as "2" or "2.5"."""
    return f"{value:g}"
