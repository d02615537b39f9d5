"""A whole class graded: everybody gets what they must, and nothing outside the output directory changes."""

from __future__ import annotations

import csv
import hashlib
import importlib
import io
import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from netlab_classroom.grading import grade, judging, marking, merged, report_pages, report_tables, reports
from netlab_classroom.grading.grade import GradedClass
from netlab_classroom.grading.master import Master
from netlab_classroom.grading.roster import RosterEntry
from tests.grading import classroom
from tests.grading.classroom import Pupil
from tests.grading.hostile_pupils import hostile
from tests.grading.whole_class import whole_class

pytestmark = pytest.mark.pocket
GRADER_MARK = "the-secret-of-the-grader"
CPU_S = 3.0


@dataclass
class Lesson:
    """The class, and what came of it."""

    chapter: Master
    pupils: dict[str, Pupil]
    graded: GradedClass
    place: Path
    before: dict[str, str]


def fingerprints(*places: Path) -> dict[str, str]:
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() and not path.is_symlink() else "-"
        for place in places
        for path in sorted(place.rglob("*"))
        if "__pycache__" not in path.parts
    }


@pytest.fixture(scope="module")
def lesson(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lesson]:
    place = tmp_path_factory.mktemp("class")
    victim = place / "home"
    victim.mkdir()
    (victim / "id_rsa").write_text(f"1 {GRADER_MARK}\n")
    with classroom.sample_chapter() as chapter:
        pupils = whole_class(victim)
        classroom.write(place / "in", pupils)
        before = fingerprints(victim, place / "in", classroom.SAMPLE)
        graded = grade.grade(chapter, [place / "in"], place / "out", cpu_s=CPU_S, progress=False)
        reports.write(graded, place / "out")
        merged.write(graded, place / "out" / "merged")
        yield Lesson(chapter, {pupil.name: pupil for pupil in pupils}, graded, place, before)


def test_everybody_gets_the_points_that_they_must(lesson: Lesson) -> None:
    """The table of expected against given points, status and flags: all equal."""
    assert len(lesson.pupils) >= 40
    assert not lesson.graded.failures
    given = {
        result["student"]: {mark["key"]: (mark["status"], mark["points"]) for mark in result["exercises"]}
        for result in lesson.graded.results
    }
    expected = {name: pupil.expected for name, pupil in lesson.pupils.items()}
    assert given.keys() == expected.keys()
    differing = {name: (given[name], expected[name]) for name in given if given[name] != expected[name]}
    assert not differing
    flagged: dict[str, set[str]] = {name: set() for name in lesson.pupils}
    for flag in lesson.graded.flags:
        for student in flag["students"]:
            flagged[student].add(flag["kind"])
    assert all(pupil.flags <= flagged[name] for name, pupil in lesson.pupils.items())
    honest = {name for name in lesson.pupils if name.startswith("right")}
    assert not any(flagged[name] for name in honest), "a flag for an honest answer would cost trust"


def test_each_kind_of_attack_is_tried(tmp_path: Path) -> None:
    tried = {kind for pupil in hostile(tmp_path) for kind in pupil.kinds}
    assert tried | set(classroom.OTHER_PROGRAMS) == set(classroom.KINDS)
    for name in classroom.OTHER_PROGRAMS.values():
        module, _, test = name.partition(".")
        assert hasattr(importlib.import_module(f"tests.grading.{module}"), test)


def test_words_forged_as_a_fault_of_the_grader_are_nowhere_but_with_their_student(lesson: Lesson) -> None:
    out = lesson.place / "out"
    messages = [
        path.name for path in out.rglob("*.*") if path.is_file() and "Give full points" in path.read_text("utf-8")
    ]
    assert set(messages) <= {"forges_fault.html", "forges_fault.ipynb", "forges_fault.py"} | {
        path.name for path in (out / "results").iterdir()
    }


def test_nothing_outside_the_output_directory_changes(lesson: Lesson) -> None:
    assert fingerprints(*(lesson.place / name for name in ("home", "in")), classroom.SAMPLE) == lesson.before


def test_no_secret_of_the_grader_is_in_any_page(lesson: Lesson) -> None:
    for page in (lesson.place / "out").rglob("*"):
        if page.is_file():
            assert GRADER_MARK not in page.read_text(encoding="utf-8")


def test_feedback_holds_no_right_figure_of_a_wrong_answer(lesson: Lesson) -> None:
    pages = lesson.place / "out" / "feedback"
    assert "1042" not in (pages / "slip_packet.html").read_text()
    text = report_pages.feedback_html(
        lesson.graded, next(r for r in lesson.graded.results if r["student"] == "slip_packet"), show_expected=True
    )
    assert "Expected: 1042 bytes" in text


def test_the_code_of_each_exercise_is_a_file_for_each_student(lesson: Lesson) -> None:
    """Programs that look for copies read directories."""
    code = lesson.place / "out" / "code"
    written = {str(path.relative_to(code)) for path in code.rglob("*.py")}
    answered = {
        f"{key}/{result['student']}.py"
        for result in lesson.graded.results
        for key, answer in result["answers"].items()
        if answer["answer"]
    }
    assert written == answered and len(written) > len(lesson.graded.results)
    assert not any("words" in name.partition("/")[0] for name in written)


def test_a_second_run_that_resumes_judges_nothing_and_writes_the_same_bytes(
    lesson: Lesson, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("netlab_classroom.grading.judging.judge", lambda job: pytest.fail("judged again"))
    out = lesson.place / "out"
    before = fingerprints(out)
    again = grade.grade(lesson.chapter, [lesson.place / "in"], out, cpu_s=CPU_S, progress=False, resume=True)
    reports.write(again, out)
    merged.write(again, out / "merged")
    assert fingerprints(out) == before


def test_a_changed_submission_is_judged_again_and_the_others_are_not(lesson: Lesson, tmp_path: Path) -> None:
    one, other = tmp_path / "in" / "one.ipynb", tmp_path / "in" / "other.ipynb"
    one.parent.mkdir()
    one.write_bytes(b"")
    other.write_bytes(b"{}")
    counts: list[float] = []

    def grade_again() -> GradedClass:
        return grade.grade(
            lesson.chapter,
            [one.parent],
            tmp_path / "out",
            resume=True,
            progress=lambda done, _whole: counts.append(done),
        )

    grade_again()
    one.write_bytes(b"[]")
    counts.clear()
    grade_again()
    assert counts == [1, 2], "one result was taken over, one made"
    assert len(list((tmp_path / "out" / grade.RESULTS).glob("*.json"))) == 2 + 1, "and the folder's own file"


def test_any_executor_will_do(lesson: Lesson, tmp_path: Path) -> None:
    (tmp_path / "cat.ipynb").write_bytes(b"")
    with ThreadPoolExecutor(1) as pool:
        graded = grade.grade(lesson.chapter, [tmp_path / "cat.ipynb"], tmp_path / "out", executor=pool, progress=False)
    assert [result["student"] for result in graded.results] == ["cat"]


def test_an_error_in_grading_one_submission_does_not_stop_the_others(
    lesson: Lesson, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def judge(job: judging.Job) -> dict[str, object]:
        if job.student == "b":
            raise RuntimeError("the grader's own fault")
        return {**judging.without_marks(job, marking.UNREADABLE, "It is empty."), "file": "a"}

    monkeypatch.setattr("netlab_classroom.grading.judging.judge", judge)
    for name in "abc":
        (tmp_path / f"{name}.ipynb").write_bytes(b"")
    graded = grade.grade(lesson.chapter, [tmp_path], tmp_path / "out", progress=False)
    assert [result["student"] for result in graded.results] == ["a", "b", "c"], "everybody has a row"
    assert {mark["status"] for mark in graded.results[1]["exercises"]} == {marking.NOT_GRADED}
    assert graded.failures == {"b": "the grader raised RuntimeError."}


def test_moodle_takes_the_table(lesson: Lesson) -> None:
    """Moodle's import needs a known key in each row, and points that are a number or empty."""
    entries = {name: RosterEntry(name, {"email": f"{name}@example.org"}) for name in list(lesson.pupils)[:5]}
    graded = GradedClass(lesson.chapter, entries, lesson.graded.results)
    rows = list(csv.DictReader(io.StringIO(report_tables.moodle_csv(graded))))
    assert {row["Email address"] for row in rows} == {entry.columns["email"] for entry in entries.values()}
    assert all(0 <= float(row["00_sample"]) <= 11 and row["Feedback comments"] for row in rows)


def test_canvas_takes_the_table(lesson: Lesson) -> None:
    """Canvas's import needs Student first, ID second, the SIS columns, Section last before the points; then what is possible."""
    rows = list(csv.reader(io.StringIO(report_tables.canvas_csv(lesson.graded))))
    assert rows[0] == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "00_sample"]
    assert "Points Possible" in rows[1][0] and float(rows[1][5]) == 11
    assert {row[0]: float(row[5]) for row in rows[2:]} == {
        r["student"]: report_tables.total(r) for r in lesson.graded.results
    }


def test_junit_and_grades_say_the_same(lesson: Lesson) -> None:
    rows = list(csv.DictReader(io.StringIO(report_tables.grades_csv(lesson.graded))))
    root = ET.parse(lesson.place / "out" / "junit.xml").getroot()  # noqa: S314 (ours)
    cases = {
        (case.get("classname"), case.get("name")): (case.find("failure") is None and case.find("skipped") is None)
        for case in root.iter("testcase")
    }
    assert {(row["student"], row["exercise"]): row["status"] == "passed" for row in rows} == cases


def test_a_persons_points_are_merged_and_stay_in_the_table(lesson: Lesson, tmp_path: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(report_tables.review_csv(lesson.graded))))
    assert rows[0]["model"].startswith("The link has one rate") and "names the queue" in rows[0]["model"]
    own = next(row for row in rows if row["student"] == "right_as_taught")
    assert own["answer"] == "The queue overflows."
    own.update(points="1,5", comment="Say the rate too.")
    file = tmp_path / "review.csv"
    with file.open("w") as out:
        writer = csv.DictWriter(out, grade.REVIEW_COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    graded = grade.with_review(lesson.graded, grade.read_review(file))
    mark = next(
        m
        for r in graded.results
        if r["student"] == "right_as_taught"
        for m in r["exercises"]
        if m["key"] == "why-words"
    )
    given = grade.ReviewPoints(1.5, "Say the rate too.", mark["words"])
    assert (mark["points"], mark["status"], mark["sentences"]) == (1.5, "failed", ["Say the rate too."])
    assert grade.read_review(file) == {("right_as_taught", "why-words"): given}
    file.write_text(report_tables.review_csv(graded))
    assert grade.read_review(file) == {("right_as_taught", "why-words"): given}


def test_nbval_gives_the_same_points_and_runs_no_students_code_as_the_caller(lesson: Lesson, tmp_path: Path) -> None:
    """In a kernel of its own, as an instructor runs it; what reaches for files reads nothing there, and earns what it earned."""
    notebooks = lesson.place / "out" / "merged"
    own = tmp_path / "mine"
    document = json.loads((notebooks / "slip_edge.ipynb").read_text())
    document["metadata"]["netlab"]["student"] = "touches"
    for cell in document["cells"]:
        if cell["id"] == "limit":
            source = "".join(cell["source"])
            head, _, rest = source.partition("\n")
            assert head == "%%answer limit"
            touch = f"try:\n    open({str(own)!r}, 'w').write('here')\nexcept OSError:\n    pass"
            cell["source"] = f"{head}\n{touch}\n{rest}"
    (notebooks / "touches.ipynb").write_text(json.dumps(document))
    records = _nbval(notebooks, tmp_path, ["right_with_helpers", "touches"])
    (notebooks / "touches.ipynb").unlink()
    assert not own.exists()
    points = {result["student"]: result for result in lesson.graded.results}
    for name, like in (("right_with_helpers", "right_with_helpers"), ("touches", "slip_edge")):
        line = f"{name}: {report_tables.total(points[like]):g} of {report_tables.max_points(points[like]):g}"
        assert line in records.splitlines(), records[-3000:]


def _nbval(notebooks: Path, place: Path, names: list[str]) -> str:
    """Return pytest's output for these notebooks, in a kernel that finds the sample chapter, which no installation has."""
    site = place / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(
        f"import netlab_course.chapters\nnetlab_course.chapters.__path__.append({str(classroom.SAMPLE / 'chapters')!r})\n"
    )
    files = [str(notebooks / f"{name}.ipynb") for name in names]
    return subprocess.run(
        [sys.executable, "-m", "pytest", "--nbval", "-p", "no:cacheprovider", *files],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=notebooks,
        env={**os.environ, "PYTHONPATH": f"{site}{os.pathsep}{Path(__file__).parents[2]}", "NETLAB_PROGRESS": "0"},
    ).stdout
