"""The real tools take the chapter: nbgrader and otter hand out no answer and give right, wrong and empty their points.

They are no part of netlab's environment. Install each into one of its own that also sees netlab, and name its directory of
programs: NETLAB_NBGRADER_BIN, NETLAB_OTTER_BIN. Without these the tests are skipped.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest

from netlab.grading import assign, leaks
from netlab.grading.master import Master
from tests.grading import classroom

pytestmark = pytest.mark.pocket
TIMEOUT_S = 280


def programs(variable: str) -> dict[str, str]:
    """The environment in which a tool's programs are found and the sample chapter can be imported."""
    place = os.environ.get(variable)
    if not place:
        pytest.skip(f"the tool is not installed; {variable} says where its programs are")
    return {**os.environ, "PATH": f"{place}{os.pathsep}{os.environ['PATH']}", "NETLAB_PROGRESS": "0"}


@pytest.fixture
def sample() -> Iterator[Master]:
    with classroom.sample_chapter() as chapter:
        yield chapter


@pytest.fixture
def site(tmp_path: Path) -> str:
    """A directory for PYTHONPATH with which a fresh Python knows the sample chapter."""
    place = tmp_path / "site"
    place.mkdir()
    (place / "sitecustomize.py").write_text(
        f"import netlab.chapters\nnetlab.chapters.__path__.append({str(classroom.SAMPLE / 'chapters')!r})\n"
    )
    return str(place)


def run(words: list[str], cwd: Path, environment: dict[str, str]) -> str:
    done = subprocess.run(words, cwd=cwd, env=environment, capture_output=True, text=True, timeout=TIMEOUT_S)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout


def answered(released: Path, target: Path, answers: dict[str, str]) -> None:
    """A submission made of the notebook that the tool hands out: each stub's cell gets the student's answer."""
    notebook = nbformat.read(released, as_version=4)
    stubs = {cell.id: cell.source for cell in classroom.notebook({}).cells if cell.id in answers}
    for cell in notebook.cells:
        for key, stub in stubs.items():
            if cell.cell_type == "code" and cell.source.startswith(stub.split("\n")[0]):
                cell.source = answers[key]
    target.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, target)


CODE = [key for key in classroom.OF if not key.endswith("-words")]
RIGHT = {key: classroom.RIGHT[key] for key in CODE}
WRONG = {
    **RIGHT,
    "limit": classroom.LIMIT + "return rate_mbps / (1 + 42 / payload_bytes)",
    "letter": "first_full = 'a'",
}
CLASS = {"right": RIGHT, "wrong": WRONG, "empty": {}}
EXPECTED = {"right": 9, "wrong": 7, "empty": 0}


def test_nbgrader_hands_out_no_answer_and_gives_the_points(sample: Master, site: str, tmp_path: Path) -> None:
    environment = {**programs("NETLAB_NBGRADER_BIN"), "PYTHONPATH": site}
    course = tmp_path / "course"
    assign.assign(sample, course, form="nbgrader")
    name = sample.stem
    run(["nbgrader", "generate_assignment", name, "--create"], course, environment)
    released = course / "release" / name / f"{name}.ipynb"
    leaks.require_no_answer([cell.source for cell in nbformat.read(released, as_version=4).cells], sample.edition())
    for student, answers in CLASS.items():
        answered(released, course / "submitted" / student / name / f"{name}.ipynb", answers)
    run(["nbgrader", "autograde", name, "--create"], course, environment)
    with sqlite3.connect(course / "gradebook.db") as database:
        rows = database.execute(
            "select student.id, sum(grade.auto_score) from grade join submitted_notebook on grade.notebook_id = "
            "submitted_notebook.id join submitted_assignment on submitted_notebook.assignment_id = submitted_assignment.id "
            "join student on submitted_assignment.student_id = student.id group by student.id"
        ).fetchall()
    assert {student: points or 0 for student, points in rows} == EXPECTED


def test_otter_hands_out_no_answer_and_gives_the_points(sample: Master, site: str, tmp_path: Path) -> None:
    environment = {**programs("NETLAB_OTTER_BIN"), "PYTHONPATH": site}
    assign.assign(sample, tmp_path, form="otter")
    name = sample.stem
    run(["otter", "assign", f"{name}.ipynb", "dist"], tmp_path, environment)
    released = tmp_path / "dist" / "student" / f"{name}.ipynb"
    leaks.require_no_answer([cell.source for cell in nbformat.read(released, as_version=4).cells], sample.edition())
    (archive,) = (tmp_path / "dist" / "autograder").glob("*.zip")
    found = {}
    for student, answers in CLASS.items():
        place = tmp_path / student
        answered(released, place / f"{name}.ipynb", answers)
        shutil.copy(archive, place / "autograder.zip")
        run(["otter", "run", "-a", "autograder.zip", "-o", ".", f"{name}.ipynb"], place, environment)
        tests = json.loads((place / "results.json").read_text())["tests"]
        found[student] = sum(test.get("score", 0) for test in tests)
    assert found == EXPECTED
