"""Reports for three submissions, without a guest."""

from __future__ import annotations

import csv
import io
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest

from netlab_classroom.grading import (
    flags,
    grade,
    judging,
    marking,
    merged,
    report_pages,
    report_tables,
    reports,
)
from netlab_classroom.grading.grade import GradedClass
from netlab_classroom.grading.judging import Job
from netlab_classroom.grading.roster import RosterEntry
from netlab_course.tries import WRONG_TRIES
from tests.grading import classroom, model

ROOT = Path(__file__).parents[2]
RIGHT = {key: classroom.RIGHT_ANSWERS[key] for key in ("limit", "letter", "search", "why-words")}
SLIP = "def limit_mbps(rate_mbps, payload_bytes):\n    return rate_mbps"
HANDED_IN = {
    "anna": RIGHT,
    "ben": {"limit": SLIP, "letter": RIGHT["letter"], "why-words": RIGHT["why-words"]},
    "cleo": None,
}
WRONG_LETTERS = {"anna": 1, "ben": 2}
"""The wrong letters of three that each tried: Ben tried all."""


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GradedClass]:
    """Anna is right, Ben has a slip and leaves one out, Cleo hands in nothing; nothing is asked that needs a run."""
    place = tmp_path_factory.mktemp("hand-ins")
    with classroom.sample_chapter() as chapter, pytest.MonkeyPatch.context() as patch:
        patch.setattr("netlab_classroom.grading.judging.ExerciseSandbox", model.UnisolatedSandbox)
        results = []
        for student, answers in HANDED_IN.items():
            path = None if answers is None else place / f"{student}.ipynb"
            if path is not None:
                notebook = classroom.notebook(dict(answers))
                (check,) = (cell for cell in notebook.cells if cell.id == "letter-check")
                metadata = {WRONG_TRIES: WRONG_LETTERS[student]}
                check.outputs = [nbformat.v4.new_output("display_data", {"text/plain": ""}, metadata=metadata)]
                path.write_text(nbformat.writes(notebook))
            results.append(judging.judge(Job(student, path, chapter.source, token="")))
        entries = {
            name: RosterEntry(name, {"name": name.title(), "email": f"{name}@example.org"}) for name in HANDED_IN
        }
        yield GradedClass(
            chapter, entries, results, ["A note."], flags=flags.class_flags(results), manifest={"seed": "1"}
        )


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_everybody_has_a_row_for_each_exercise(graded: GradedClass) -> None:
    given = {
        (row["student"], row["exercise"]): (row["points"], row["status"])
        for row in rows(report_tables.grades_csv(graded))
    }
    assert len(given) == len(HANDED_IN) * len(classroom.MAX_POINTS)
    assert given["anna", "limit"] == ("3", "passed")
    assert given["ben", "limit"] == ("0", "failed")
    assert given["ben", "search"] == ("0", "not attempted")
    assert {status for (student, _), (_, status) in given.items() if student == "cleo"} == {"missing"}


def test_only_answers_in_words_await_review_with_the_model_answer(graded: GradedClass) -> None:
    waiting = rows(report_tables.review_csv(graded))
    assert [(row["student"], row["exercise"], row["points"], row["of"]) for row in waiting] == [
        ("anna", "why-words", "", "2"),
        ("ben", "why-words", "", "2"),
    ]
    assert all("names the queue (1)" in row["model"] and "overflows" in row["answer"] for row in waiting)
    page = report_pages.review_html(graded)
    assert page.count("The queue overflows.") == 2 and "names the queue (1)" in page
    assert "Why does less arrive than is sent?" in page


def test_points_that_a_person_gave_count_and_stay_in_the_review(graded: GradedClass) -> None:
    (row, _) = rows(report_tables.review_csv(graded))
    read = {("anna", "why-words"): grade.ReviewPoints(1.5, "Good.", row["words"])}
    again = grade.with_review(graded, read)
    assert report_tables.total(again.results[0]) == report_tables.total(graded.results[0]) + 1.5
    kept = rows(report_tables.review_csv(again))[0]
    assert (kept["points"], kept["comment"]) == ("1.5", "Good.")


def test_moodle_gets_the_comments_of_a_reviewer(graded: GradedClass) -> None:
    (first, second) = rows(report_tables.review_csv(graded))
    read = {
        ("anna", "why-words"): grade.ReviewPoints(1.5, "Good.", first["words"]),
        ("ben", "why-words"): grade.ReviewPoints(2, "", second["words"]),
    }
    feedback = [row["Feedback comments"] for row in rows(report_tables.moodle_csv(grade.with_review(graded, read)))]
    assert "; why-words: partly correct, 1.5 of 2 (Good.); " in feedback[0]
    assert "; why-words: passed, 2 of 2; " in feedback[1]


def test_a_platform_gets_one_line_a_student_with_the_same_total(graded: GradedClass) -> None:
    moodle = {row["Email address"]: row[graded.master.stem] for row in rows(report_tables.moodle_csv(graded))}
    assert moodle == {"anna@example.org": "6", "ben@example.org": "1", "cleo@example.org": "0"}
    canvas = rows(report_tables.canvas_csv(graded))
    assert [row[graded.master.stem] for row in canvas] == [str(sum(classroom.MAX_POINTS.values())), "6", "1", "0"]


def test_canvas_gets_exactly_its_columns_of_the_class_list(graded: GradedClass) -> None:
    columns = {
        "name": "A B",
        "canvas_id": "7",
        "sis_user_id": "u7",
        "sis_login_id": "ab",
        "section": "S",
        "email": "a@x.org",
    }
    named = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
    for given, login in ((columns, "ab"), ({**columns, "sis_login_id": ""}, "")):
        entries = {**graded.entries, "anna": replace(graded.entries["anna"], columns=given)}
        points, anna, *_ = rows(report_tables.canvas_csv(replace(graded, entries=entries)))
        assert [anna[each] for each in named] == ["A B", "7", "u7", login, "S"]
        assert [points[each].strip() for each in named] == ["Points Possible", "", "", "", ""]


def test_canvas_gets_names_in_two_columns_and_its_columns_of_the_class_list(
    graded: GradedClass,
) -> None:
    """The order of columns in lib/gradebook_exporter.rb of Canvas."""
    given = {
        "first_name": "A",
        "last_name": "B",
        "canvas_id": "7",
        "integration_id": "i7",
        "root_account": "uni.edu",
        "section": "S",
    }
    entries = {**graded.entries, "anna": replace(graded.entries["anna"], columns=given)}
    nameless = {name: replace(each, columns={**each.columns, "name": ""}) for name, each in entries.items()}
    table = list(csv.reader(io.StringIO(report_tables.canvas_csv(replace(graded, entries=nameless)))))
    titles = "LastName,FirstName,ID,SIS User ID,SIS Login ID,Integration ID,Root Account,Section,00_sample"
    assert table[0] == titles.split(",")
    assert table[1][0].strip() == "Points Possible"
    assert table[2] == ["B", "A", "7", "", "", "i7", "uni.edu", "S", "6"]


def test_moodle_gets_the_key_that_the_class_list_has(graded: GradedClass) -> None:
    for column, title in (("id_number", "ID number"), ("username", "Username")):
        entries = {name: RosterEntry(name, {column: f"{name}-7"}) for name in graded.entries}
        moodle = rows(report_tables.moodle_csv(replace(graded, entries=entries)))
        assert [row[title] for row in moodle] == ["anna-7", "ben-7", "cleo-7"]


def test_no_file_of_a_platform_is_written_while_answers_wait_unless_it_is_asked_for(
    graded: GradedClass, tmp_path: Path
) -> None:
    """An import would tell everybody 0 points for words that nobody has read."""
    reports.write(graded, tmp_path, unreviewed=True)
    assert (tmp_path / "moodle.csv").is_file() and (tmp_path / "canvas.csv").is_file()
    reports.write(graded, tmp_path)
    assert not (tmp_path / "moodle.csv").exists() and not (tmp_path / "canvas.csv").exists()
    page = (tmp_path / "class.html").read_text()
    assert "2 answers wait for review" in page and "--unreviewed" in page
    words = next(line for line in page.split("\n") if "why-words" in line and "2</td>" in line)
    assert '<td class="number">-</td>' in words
    read = {
        (result["student"], mark["key"]): grade.ReviewPoints(mark["of"], "", mark["words"])
        for result in graded.results
        for mark in result["exercises"]
        if mark["status"] == marking.REVIEW
    }
    reports.write(grade.with_review(graded, read), tmp_path)
    assert (tmp_path / "moodle.csv").is_file() and "wait for review" not in (tmp_path / "class.html").read_text()


def test_exercises_go_by_their_titles_and_partial_points_are_partly_correct(
    graded: GradedClass, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = {key: f"Exercise {place}: `{key}` & $x^2$" for place, key in enumerate(classroom.MAX_POINTS, 1)}
    names["search"] = names["letter"]
    monkeypatch.setattr(report_tables, "headings_by_cell", lambda _graded: names)
    anna = graded.results[0]
    mark = next(mark for mark in anna["exercises"] if mark["key"] == "why-words")
    read = {("anna", "why-words"): grade.ReviewPoints(1.5, "Say `why`: $G_\\text{max}$ <b>.", mark["words"])}
    again = grade.with_review(graded, read)
    page = report_pages.feedback_html(again, again.results[0])
    assert "Exercise 1: <code>limit</code> &amp; <math" in page and '<span class="key">limit</span>' in page
    assert (
        "partly correct, 1.5 of 2 points" in page and "failed" not in page.partition("<body>")[2].partition("</h2>")[0]
    )
    assert "Say <code>why</code>: <math" in page and "&lt;b&gt;" in page
    assert report_tables.titles(graded)["letter"].endswith(" (1)") and report_tables.titles(graded)["search"].endswith(
        " (2)"
    )
    for text in (report_pages.class_html(again), report_pages.review_html(again), report_tables.moodle_csv(again)):
        assert "Exercise 4: " in text
    assert "Comment: Say <code>why</code>: <math" in report_pages.review_html(again)
    message = rows(report_tables.moodle_csv(again))[1]["Feedback comments"]
    assert ": waiting for review, of 2" in message and "review, 0" not in message


def test_flagged_answer_is_marked_in_the_review(graded: GradedClass) -> None:
    flag = {"students": ["anna", "ben"], "kind": flags.COPIED_WORDS, "exercise": "why-words", "sentence": "<i>Alike."}
    page = report_pages.review_html(replace(graded, flags=[flag]))
    assert "Flag: the same words, with ben. &lt;i&gt;Alike." in page and "with anna." in page
    assert page.count('class="flag"') == 2


def test_each_row_of_the_review_is_one_line_that_no_spreadsheet_takes_for_a_formula(graded: GradedClass) -> None:
    results = [{**each, "exercises": [{**mark} for mark in each["exercises"]]} for each in graded.results]
    for mark in results[0]["exercises"]:
        if mark["status"] == marking.REVIEW:
            mark["answer"] = '\uff1d1+1\n\tsecond; "line"\n' + "x" * 40_000
    text = report_tables.review_csv(replace(graded, results=results))
    assert len(text.strip().split("\n")) == 1 + 2
    anna = rows(text)[0]
    assert anna["answer"].startswith('\'\uff1d1+1 ¶ second; "line" ¶ xxx') and len(anna["answer"]) < 32_767
    assert anna["title"] == report_tables.titles(graded)["why-words"]


def test_student_missing_in_moodles_table_is_named(graded: GradedClass) -> None:
    """If nobody has an address, all students are in the table under their own names."""
    assert not report_tables.without_address(graded)
    nobody = {name: replace(entry, columns={}) for name, entry in graded.entries.items()}
    without = replace(graded, entries={**graded.entries, "ben": nobody["ben"]})
    assert len(rows(report_tables.moodle_csv(without))) == 2
    assert [note for note in report_pages.notes(without) if "moodle.csv" in note and note.endswith(": ben.")]
    assert [row["ID number"] for row in rows(report_tables.moodle_csv(replace(graded, entries=nobody)))] == list(nobody)
    assert not [note for note in report_pages.notes(replace(graded, entries=nobody)) if "moodle.csv" in note]


def test_student_without_marks_gets_the_first_note(graded: GradedClass) -> None:
    silent = {**graded.results[0], "notes": ["One.", "Two."]}
    silent["exercises"] = [{**mark, "sentences": []} for mark in silent["exercises"]]
    (anna, *_) = rows(report_tables.moodle_csv(replace(graded, results=[silent, *graded.results[1:]])))
    assert anna["Feedback comments"] == "One."


def test_failed_waiting_and_passed_answers_differ_for_programs(graded: GradedClass) -> None:
    suites = {suite.get("name"): suite for suite in ET.fromstring(report_tables.junit_xml(graded))}  # noqa: S314 (our own)
    assert (suites["anna"].get("failures"), suites["anna"].get("skipped")) == ("0", "3")
    assert (suites["ben"].get("failures"), suites["ben"].get("skipped")) == ("1", "4")
    assert suites["cleo"].get("failures") == str(len(classroom.MAX_POINTS))
    of = [case.find("properties/property[@name='of']") for case in suites["cleo"]]
    assert [float(each.get("value", "")) for each in of if each is not None] == [*classroom.MAX_POINTS.values()]


def test_feedback_has_the_right_figure_only_when_it_is_asked_for(graded: GradedClass) -> None:
    marks = [{**mark, "expected": "4.798 Mbit/s"} for mark in graded.results[1]["exercises"]]
    ben = {**graded.results[1], "exercises": marks}
    assert "4.798 Mbit/s" not in report_pages.feedback_html(graded, ben)
    page = report_pages.feedback_html(graded, ben, show_expected=True)
    # Not where the answer was right.
    assert page.count("4.798 Mbit/s") == sum(mark["status"] != marking.PASSED for mark in marks)


def test_student_reports_hold_right_figures_on_request_only(graded: GradedClass, tmp_path: Path) -> None:
    marks = [{**mark, "expected": "4.798 Mbit/s"} for mark in graded.results[1]["exercises"]]
    ben = replace(graded, results=[{**graded.results[1], "exercises": marks}])
    for more, there in (({}, False), ({"show_expected": True}, True)):
        reports.write(ben, tmp_path, **more)
        assert ("4.798 Mbit/s" in (tmp_path / "feedback" / "ben.html").read_text()) == there


def test_only_wrong_or_missing_answers_need_rereading(graded: GradedClass, monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing or unreadable file does not show what its student should read again."""
    monkeypatch.setattr(
        report_pages, "headings_by_cell", lambda _graded: dict.fromkeys(classroom.MAX_POINTS, "The limit")
    )
    anna, ben, cleo = (report_pages.feedback_html(graded, result) for result in graded.results)
    wrong = [mark for mark in graded.results[1]["exercises"] if mark["status"] in ("failed", "not attempted")]
    assert ben.count("To read again") == len(wrong) > 0
    assert "Nothing was answered in its cell." in anna and "To read again" not in cleo


def test_first_page_of_the_instructor_counts_submissions(graded: GradedClass) -> None:
    page = " ".join(report_pages.class_html(graded).split())
    assert "3 students; 2 handed in. Points: 0 to 6 of 11, median 1." in page
    assert "A note." in page and 'href="feedback/cleo.html"' in page
    # Two of three are in the first tenth, Anna in the sixth: her bar is half as long.
    assert 'class="number">1</td><td><span class="bar" style="width: 10.0em">' in page.partition("50 to 60 %")[2]


def test_the_page_names_wrong_tries_that_are_enough_to_find_the_answer(graded: GradedClass) -> None:
    given = {(row["student"], row["exercise"]): row["wrong tries"] for row in rows(report_tables.grades_csv(graded))}
    assert (given["anna", "letter"], given["ben", "letter"], given["ben", "limit"]) == ("1", "2", "")
    page = report_pages.class_html(graded)
    assert page.count(" wrong tries)") == 1 and "passed (2 wrong tries)" in page


def test_student_with_a_submission_gets_a_merged_notebook(graded: GradedClass, tmp_path: Path) -> None:
    merged.write(graded, tmp_path)
    assert sorted(path.name for path in tmp_path.glob("*.ipynb")) == ["anna.ipynb", "ben.ipynb"]


def test_a_merged_notebook_prints_the_points_of_each_part(graded: GradedClass) -> None:
    created = merged.notebook(graded.master, graded.results[0], "1")
    text = {cell.id: cell.outputs[0].text for cell in created.cells if cell.cell_type == "code" and cell.outputs}
    assert text["limit-part-1"] == "2 of 2 points\n" and text["letter-part-1"] == "1 of 1 points\n"
    answer = next(cell.source for cell in created.cells if cell.id == "limit")
    assert answer.startswith("%%answer limit\n") and "payload_bytes + 42" in answer
