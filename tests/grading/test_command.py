"""`netlab grade` as an instructor calls it: what it keeps, and what it says."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest

from netlab.commands import cli
from netlab.grading import grade
from tests.grading import classroom

pytestmark = pytest.mark.pocket
# Nothing but an answer in words: no guest is needed to grade it.
WORDS = {"why-words": classroom.RIGHT["why-words"]}


@pytest.fixture
def words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The command that grades one submission."""
    (tmp_path / "in").mkdir()
    with classroom.sample_chapter():
        (tmp_path / "in" / "anna.ipynb").write_text(nbformat.writes(classroom.notebook(dict(WORDS))))
        monkeypatch.setattr("os.umask", lambda _mask: 0)
        command = ["grade", "sample", str(tmp_path / "in"), "--output", str(tmp_path / "out")]
        yield [*command, "--root", str(classroom.SAMPLE)]


def test_a_persons_points_stay_when_grading_is_repeated_without_naming_them(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(words) == 0
    assert "wait for a person: 1" in capsys.readouterr().out
    review = tmp_path / "out" / "review.csv"
    rows = list(csv.DictReader(review.open()))
    rows[0]["points"] = "1.5"
    with review.open("w") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    for _ in range(2):
        assert cli.main([*words, "--resume"]) == 0
        assert "the points of 1 answers in words" in capsys.readouterr().out
        assert "anna,why-words,1.5,2,failed" in (tmp_path / "out" / "grades.csv").read_text()


def test_ctrl_c_says_what_is_kept_and_nothing_else(
    words: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_words: object, **_more: object) -> None:
        raise grade.GradingInterrupted

    monkeypatch.setattr(grade, "grade", interrupted)
    assert cli.main(words) == 130
    said = capsys.readouterr()
    assert "What was graded is kept" in said.out and "nothing of it is kept" not in said.err
