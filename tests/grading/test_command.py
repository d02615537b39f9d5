"""`netlab grade` as an instructor calls it: what it keeps, and what it says."""

from __future__ import annotations

import contextlib
import csv
import os
import resource
import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
import pytest

from netlab.base.location import PACKAGE
from netlab.commands import cli
from netlab_classroom.grading import assign, grade, judging, marking, sheets
from netlab_classroom.grading.helper import Helper, stop_requested
from tests.grading import classroom

# Nothing but an answer in words: no guest is needed to grade it.
WORDS = {"why-words": classroom.RIGHT_ANSWERS["why-words"]}


class SharedHelper(Helper):
    """A helper that several threads may ask, one after the other."""

    def __init__(self) -> None:
        super().__init__()
        self.turn = threading.Lock()

    def ask(self, name: str, **content: Any) -> Any:
        with self.turn:
            return super().ask(name, **content)


@pytest.fixture(scope="module")
def shared_helper() -> Iterator[SharedHelper]:
    """Yield one process that reads and writes texts for all tests of this file, as each costs the start of a Python."""
    created = SharedHelper()
    yield created
    created.close()


@pytest.fixture
def words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shared_helper: SharedHelper) -> Iterator[list[str]]:
    """The command that grades one submission."""
    monkeypatch.setattr("netlab_classroom.grading.helper._thread_state", SimpleNamespace(helper=shared_helper))
    (tmp_path / "in").mkdir()
    with classroom.sample_chapter():
        (tmp_path / "in" / "anna.ipynb").write_text(nbformat.writes(classroom.notebook(dict(WORDS))))
        monkeypatch.setattr("os.umask", lambda _mask: 0)
        monkeypatch.setattr(
            "netlab_engines.kernels.pocket_kernel.find", lambda: SimpleNamespace(release="7.3", path=Path(__file__))
        )
        monkeypatch.setattr("netlab_classroom.grading.sandbox.require_isolation", lambda: None)
        command = ["grade", "sample", str(tmp_path / "in"), "--output", str(tmp_path / "out")]
        yield [*command, "--root", str(classroom.SAMPLE)]


@pytest.mark.slow
def test_a_persons_points_stay_when_grading_is_repeated_without_naming_them(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(words) == 0
    assert "wait for a person: 1" in capsys.readouterr().out
    review = tmp_path / "out" / "review.csv"
    rows = list(csv.DictReader(review.open(encoding="utf-8-sig")))
    rows[0]["points"] = "1.5"
    with review.open("w") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    for _ in range(2):
        assert cli.main([*words, "--resume"]) == 0
        assert "points for 1 answers in words" in capsys.readouterr().out
        assert "anna,why-words,1.5,2,partly correct" in (tmp_path / "out" / "grades.csv").read_text()


def test_ctrl_c_names_kept_results_only(
    words: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_words: object, **_more: object) -> None:
        raise grade.GradingInterrupted

    monkeypatch.setattr(grade, "grade", interrupted)
    assert cli.main(words) == 130
    output = capsys.readouterr()
    assert "Finished results are kept" in output.out and "nothing of it is kept" not in output.err


@pytest.mark.parametrize("ending", [SystemExit, KeyboardInterrupt])
def test_busy_students_are_not_waited_for(
    ending: type[BaseException], words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`kill` and Ctrl-C end it at once, and each also while a result is kept."""
    (tmp_path / "in" / "ben.ipynb").write_text((tmp_path / "in" / "anna.ipynb").read_text())
    started = threading.Event()

    def at_work(job: judging.Job) -> Any:
        if job.student == "anna":
            assert started.wait(60)
            return judging.without_marks(job, marking.MISSING, "")
        started.set()
        assert stop_requested.wait(60)
        raise KeyboardInterrupt

    def ended(*_kept: object) -> None:
        raise ending

    monkeypatch.setattr(judging, "judge", at_work)
    monkeypatch.setattr("netlab_classroom.grading.result_store.store", ended)
    began_s = time.monotonic()
    with contextlib.suppress(SystemExit):
        cli.main([*words, "--jobs", "2"])
    assert time.monotonic() - began_s < 30 and not stop_requested.is_set()


def test_a_number_below_the_least_is_refused_and_the_least_is_taken(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    for option, wrong, output in (
        ("--jobs", "0", "must be 1 or more, got 0"),
        ("--cpu-seconds", "0", "must be above 0, got 0"),
    ):
        assert cli.main([*words, option, wrong]) != 0
        assert output in capsys.readouterr().err
    assert cli.main([*words, "--jobs", "1", "--cpu-seconds", "0.5"]) == 0


def test_points_that_are_none_are_named_by_student_and_exercise(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A line would help nobody: an answer has many of them."""
    review = tmp_path / "r.csv"
    for points, output in (
        ("two", "anna, why-words: points must be a number, got 'two'"),
        ("7", "must be from 0 to 2, got 7"),
    ):
        review.write_text(f"student,exercise,points,words\nanna,why-words,{points},x\n")
        assert cli.main([*words, "--review", str(review)]) == 1
        assert output in capsys.readouterr().err


def test_a_spreadsheet_recognizes_utf_8_in_the_tables_that_a_person_opens(words: list[str], tmp_path: Path) -> None:
    assert cli.main(words) == 0
    for name in ("review.csv", "flags.csv"):
        assert sheets.read_sheet(tmp_path / "out" / name, name).encoding == "utf-8-sig"


def test_points_for_words_do_not_outlive_the_words(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(words) == 0
    review = tmp_path / "out" / "review.csv"
    # Save the file like a spreadsheet in Norway or Germany.
    rows = list(csv.DictReader(review.open(encoding="utf-8-sig")))
    rows[0].update(points="1,5", comment="Größer")
    with review.open("w", encoding="cp1252") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=";")
        writer.writeheader()
        writer.writerows(rows)
    assert cli.main([*words, "--resume"]) == 0
    assert "anna,why-words,1.5,2,partly correct" in (tmp_path / "out" / "grades.csv").read_text()
    other = {"why-words": classroom.RIGHT_ANSWERS["why-words"].replace("The queue overflows.", "No idea, sorry.")}
    (tmp_path / "in" / "anna.ipynb").write_text(nbformat.writes(classroom.notebook(dict(other))))
    capsys.readouterr()
    assert cli.main([*words, "--resume"]) == 0
    assert "Other words than those that got points: anna (why-words)" in capsys.readouterr().out
    assert "anna,why-words,0,2,waiting for review" in (tmp_path / "out" / "grades.csv").read_text()


def test_no_result_is_taken_over_when_code_that_measures_has_changed(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "netlab"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr("netlab_classroom.grading.master.package_directories", lambda: [package])
    judged: list[str] = []
    judge = judging.judge
    monkeypatch.setattr(judging, "judge", lambda job: judged.append(job.student) or judge(job))
    for changed, times in (("", 1), ("", 1), ("measure/tcp.py", 2), ("network/traces/train.json", 3)):
        if changed:
            (package / changed).write_text((package / changed).read_text() + "\n")
        assert cli.main([*words, "--resume"]) == 0
        assert len(judged) == times, changed


def test_another_chapter_leaves_a_review_as_it_is(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(words) == 0
    before = (tmp_path / "out" / "review.csv").read_text()
    other = ["grade", "udp_loss", *words[2:-2]]
    assert cli.main(other) == 1
    assert "has the marks of 00_sample" in capsys.readouterr().err
    (tmp_path / "in" / "anna.ipynb").rename(tmp_path / "in" / "late.ipynb")
    assert cli.main(words) == 1
    assert "not among SUBMISSIONS now: anna" in capsys.readouterr().err
    assert (tmp_path / "out" / "review.csv").read_text() == before


def test_names_are_harmless_in_every_table_and_on_the_terminal(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Formulas, escapes, a file name that is not UTF-8, halves of characters in an answer: everybody has a row everywhere."""
    created = nbformat.writes(classroom.notebook(dict(WORDS)))
    for name in ("=cmd|' !A0.ipynb", "+1+cmd.ipynb", "@x.ipynb", "\x1b[2Jx\x1b]0;owned\x07.ipynb", "a\nb.ipynb"):
        (tmp_path / "in" / name).write_text(created)
    Path(os.fsdecode(os.fsencode(tmp_path / "in") + b"/J\xfcrgen.ipynb")).write_text(created)
    (tmp_path / "in" / "half.ipynb").write_text(created.replace("The queue overflows.", "\\ud800 The queue."))
    (tmp_path / "in" / "pdf.ipynb").write_bytes(b"%PDF \xff")
    assert cli.main(words) == 0
    output = capsys.readouterr()
    assert "\x1b" not in output.out + output.err and "Could not be read: 1: pdf (pdf.ipynb)" in output.out
    out = tmp_path / "out"
    for table in out.glob("*.csv"):
        for row in csv.reader(table.open(encoding="utf-8")):
            assert not [cell for cell in row if cell.startswith(("=", "+", "-", "@", "\t"))], table
    students = {row["student"] for row in csv.DictReader((out / "grades.csv").open())}
    assert len(students) == 9 == len(list((out / "feedback").iterdir()))
    assert "pdf.ipynb" in (out / "class.html").read_text()


def test_a_full_disk_keeps_existing_files(words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A limit on the size of files stands for the disk: the table with a person's points is the first that does not fit."""
    long = {"why-words": WORDS["why-words"] + " It is full." * 1000}
    (tmp_path / "in" / "anna.ipynb").write_text(nbformat.writes(classroom.notebook(dict(long))))
    assert cli.main(words) == 0
    review = tmp_path / "out" / "review.csv"
    rows = list(csv.DictReader(review.open(encoding="utf-8-sig")))
    rows[0]["points"] = "1.5"
    with review.open("w") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    before = review.read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) // 2, limits[1]))
    try:
        assert cli.main([*words, "--resume"]) == 1
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert "cannot be written: File too large" in capsys.readouterr().err
    assert review.read_bytes() == before and not list(review.parent.glob(".new-*"))
    assert cli.main([*words, "--resume"]) == 0
    assert "anna,why-words,1.5,2,partly correct" in (tmp_path / "out" / "grades.csv").read_text()


@pytest.mark.slow
def test_class_list_without_drawn_tokens_is_reported(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    roster = tmp_path / "class.csv"
    roster.write_text("student\nanna\n")
    assert cli.main([*words, "--roster", str(roster)]) == 0
    assert "no tokens" not in capsys.readouterr().out, "the notebook has none either"
    (tmp_path / "in" / "anna.ipynb").write_text(nbformat.writes(classroom.notebook(dict(WORDS), "anna")))
    assert cli.main([*words, "--roster", str(roster)]) == 0
    output = capsys.readouterr().out
    assert "The class list has no tokens" in output and f"grade with the {assign.CLASS_LIST} that" in output
    roster.write_text("student,token\nanna,anna\n")
    assert cli.main([*words, "--roster", str(roster)]) == 0
    assert "no tokens" not in capsys.readouterr().out
