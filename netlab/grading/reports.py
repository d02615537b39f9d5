"""What comes out of grading: tables for people and platforms, pages for students and instructors."""

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

from netlab.grading import kept, marking
from netlab.grading.grade import REVIEW_COLUMNS, Graded
from netlab.grading.helper import GaveUpError, helper
from netlab.grading.master import WORDS
from netlab.grading.text import file_name, harmless

GRADES = "grades.csv"
MOST_ROWS = 30


def write(graded: Graded, output: Path, *, show_expected: bool = False) -> None:
    """Write every report into a directory.

    Parameters
    ----------
    output : Path
        The directory; what an earlier grading wrote there is replaced.
    show_expected : bool
        Tell students the right numbers.
    """
    output.mkdir(parents=True, exist_ok=True)
    texts = {
        GRADES: grades_csv(graded),
        "moodle.csv": moodle_csv(graded),
        "canvas.csv": canvas_csv(graded),
        "junit.xml": junit_xml(graded),
        "flags.csv": _table(
            ("students", "kind", "exercise", "sentence"),
            ([", ".join(flag["students"]), flag["kind"], flag["exercise"], flag["sentence"]] for flag in graded.flags),
        ),
        "review.csv": review_csv(graded),
        "review.html": review_html(graded),
        "class.html": class_html(graded),
        "manifest.json": json.dumps(graded.manifest, indent=1, sort_keys=True) + "\n",
    }
    for name, text in texts.items():
        kept.write_whole(output / name, text)
    pages = output / "feedback"
    shutil.rmtree(pages, ignore_errors=True)
    pages.mkdir()
    for result in graded.results:
        kept.write_whole(
            pages / f"{file_name(result['student'])}.html", feedback_html(graded, result, show_expected=show_expected)
        )


def total(result: Mapping[str, Any]) -> float:
    """All points of a student."""
    return float(sum(mark["points"] for mark in result["exercises"]))


def most(result: Mapping[str, Any]) -> float:
    """All points that there are."""
    return float(sum(mark["of"] for mark in result["exercises"]))


def imported(result: Mapping[str, Any]) -> str:
    """The points that a platform is given: none for who was not graded, so that those that are there stay."""
    statuses = {mark["status"] for mark in result["exercises"]}
    return "" if marking.NOT_GRADED in statuses else _number(total(result))


def without_address(graded: Graded) -> list[str]:
    """Students of whom the import of Moodle knows nothing, because the class list has addresses and not theirs."""
    there = [entry.student for entry in graded.entries.values() if not entry.columns.get("email")]
    return there if len(there) < len(graded.entries) else []


def grades_csv(graded: Graded) -> str:
    """A line for each student and exercise."""
    return _table(
        ("student", "exercise", "points", "of", "status"),
        (
            [result["student"], mark["key"], _number(mark["points"]), _number(mark["of"]), mark["status"]]
            for result in graded.results
            for mark in result["exercises"]
        ),
    )


def moodle_csv(graded: Graded) -> str:
    """What Moodle's grade import takes: one line a student, with whichever of its own keys the class list has.

    Moodle stops at the first line whose student it does not know, so nobody beyond the class list is in it.
    """
    titles = {"email": "Email address", "student": "ID number"}
    by_email = any(entry.columns.get("email") for entry in graded.entries.values())
    key = "email" if by_email else "student"
    rows = []
    for result in graded.results:
        entry = graded.entries.get(result["student"])
        if graded.entries and entry is None:
            continue
        who = entry.columns.get("email", "") if by_email and entry else result["student"]
        if who:
            rows.append([who, imported(result), _summary(result)])
    return _table((titles[key], graded.master.stem, "Feedback comments"), rows)


def canvas_csv(graded: Graded) -> str:
    """What Canvas's gradebook import takes: its five columns, a column of points, and the line of points possible."""
    whole = max((most(result) for result in graded.results), default=0.0)
    rows: list[list[str]] = [["    Points Possible", "", "", "", "", _number(whole)]]
    for result in graded.results:
        entry = graded.entries.get(result["student"])
        columns: Mapping[str, str] = entry.columns if entry else {}
        rows.append(
            [
                entry.name if entry else result["student"],
                columns.get("canvas_id", ""),
                columns.get("sis_user_id", ""),
                columns.get("sis_login_id", "") or columns.get("email", ""),
                columns.get("section", ""),
                imported(result),
            ]
        )
    return _table(("Student", "ID", "SIS User ID", "SIS Login ID", "Section", graded.master.stem), rows)


def junit_xml(graded: Graded) -> str:
    """A test suite for each student, a test case for each exercise."""
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


def review_csv(graded: Graded) -> str:
    """A line for each answer in words, with room for a person's points, and with those that it has."""
    models = _models(graded)
    return _table(
        REVIEW_COLUMNS,
        (
            [
                result["student"],
                mark["key"],
                _number(mark["of"]),
                "" if mark["status"] == marking.REVIEW else _number(mark["points"]),
                "" if mark["status"] == marking.REVIEW else mark["sentences"][0],
                mark["words"],
                mark["answer"],
                models[result["token"]][mark["key"]],
            ]
            for result in graded.results
            for mark in result["exercises"]
            if _in_words(mark)
        ),
    )


def _in_words(mark: Mapping[str, Any]) -> bool:
    """Whether a person reads, or has read, this answer."""
    return mark["key"].endswith(WORDS) and mark["status"] in (marking.REVIEW, marking.PASSED, marking.FAILED)


def review_html(graded: Graded) -> str:
    """Answers in words beside model answer and rubric."""
    questions: dict[tuple[str, str], dict[str, Any]] = {}
    models = _models(graded)
    for result in graded.results:
        for mark in result["exercises"]:
            if not _in_words(mark):
                continue
            model = models[result["token"]][mark["key"]]
            wanted = next(each for each in graded.master.edition(result["token"]).wanted if each.key == mark["key"])
            question = questions.setdefault(
                (mark["key"], model),
                {"key": mark["key"], "of": _number(mark["of"]), "text": wanted.stub, "model": model, "answers": []},
            )
            question["answers"].append({"student": result["student"], "words": mark["answer"]})
    return _page("review.html.j2", chapter=graded.master.stem, questions=list(questions.values()))


def _models(graded: Graded) -> dict[str, dict[str, str]]:
    """The model answers, by token and exercise."""
    found: dict[str, dict[str, str]] = {}
    for result in graded.results:
        token = result["token"]
        if token not in found and any(_in_words(mark) for mark in result["exercises"]):
            edition = graded.master.edition(token)
            found[token] = {each.key: edition.model_answer(each) for each in edition.wanted if not each.name}
    return found


def feedback_html(graded: Graded, result: Mapping[str, Any], *, show_expected: bool = False) -> str:
    """What one student reads."""
    entry = graded.entries.get(result["student"])
    waiting = sum(mark["of"] for mark in result["exercises"] if mark["status"] == marking.REVIEW)
    headings = _headings(graded)
    marks = [
        {
            **mark,
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
        of=_number(most(result)),
        waiting=_number(waiting) if waiting else "",
        notes=result["notes"],
        marks=marks,
    )


def _headings(graded: Graded) -> dict[str, str]:
    """The heading under which each exercise stands."""
    found: dict[str, str] = {}
    heading = ""
    for cell in graded.master.edition().handed_out:
        if cell.kind == "markdown":
            lines = re.findall(r"^#{2,4}\s+(.+)$", cell.source, re.MULTILINE)
            heading = lines[-1] if lines else heading
        found[cell.id] = heading
    return found


def class_html(graded: Graded) -> str:
    """What the instructor looks at first."""
    results = graded.results
    totals = sorted(total(result) for result in results)
    whole = max((most(result) for result in results), default=0.0)
    keys = [mark["key"] for mark in results[0]["exercises"]] if results else []
    seen = {mark["status"] for result in results for mark in result["exercises"]}
    statuses = [status for status in marking.STATUSES if status in seen]
    exercises = []
    for place, key in enumerate(keys):
        marks = [result["exercises"][place] for result in results]
        counts = Counter(mark["status"] for mark in marks)
        exercises.append(
            {
                "key": key,
                "mean": f"{statistics.fmean(mark['points'] for mark in marks):.2f}",
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
        notes=notes(graded),
        statuses=statuses,
        exercises=exercises,
        distribution=_distribution(totals, whole),
        slips=[
            {"count": count, "key": key, "slip": slip}
            for (key, slip), count in sorted(slips.items(), key=lambda item: (-item[1], item[0]))[:MOST_ROWS]
        ],
        flags=graded.flags,
        table=[
            {
                "student": result["student"],
                "link": f"feedback/{file_name(result['student'])}.html",
                "points": _number(total(result)),
                "statuses": [mark["status"] for mark in result["exercises"]],
            }
            for result in results
        ],
    )


def notes(graded: Graded) -> list[str]:
    """What is to be said of the class before its points."""
    found = [*graded.notes]
    listed = any(entry.token for entry in graded.entries.values())
    if graded.entries and not listed and any(result["token"] for result in graded.results):
        found.append(
            "The class list has no tokens, so the numbers are those that each notebook names: grade with the class.csv that "
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
        found.append(f"Not in moodle.csv, because the class list has no email address of theirs: {', '.join(nowhere)}.")
    return [
        *found,
        *(f"{student}: not graded, and through no fault of theirs: {why}" for student, why in graded.failures.items()),
    ]


def _distribution(totals: Sequence[float], whole: float) -> list[dict[str, Any]]:
    """How many students got from 0 to 10, 10 to 20, ... per cent."""
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


def _summary(result: Mapping[str, Any]) -> str:
    return (
        " ".join(result["notes"][:1])
        if not any(mark["sentences"] for mark in result["exercises"])
        else "; ".join(
            f"{mark['key']}: {mark['status']}, {_number(mark['points'])} of {_number(mark['of'])}"
            for mark in result["exercises"]
        )
    )


def _table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(titles)
    writer.writerows([harmless(cell) for cell in row] for row in rows)
    return text.getvalue()


def _number(value: float) -> str:
    return f"{value:g}"


def _page(template: str, **words: Any) -> str:
    try:
        page: str = helper().ask("page", template=template, words=words)
    except GaveUpError as error:
        return f"<!doctype html><meta charset=utf-8><p>This page could not be made: {html.escape(str(error))}</p>\n"
    return page
