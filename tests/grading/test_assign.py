"""The notebooks for a class: own numbers for each student, and nothing of the solutions."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest

from netlab.base.errors import NetlabError
from netlab.base.location import IMPORT_ROOT, package_directories
from netlab.commands.cli import main
from netlab_classroom.grading import assign, master, roster
from netlab_classroom.grading.assign import LeakError
from netlab_classroom.grading.master import Master
from netlab_classroom.grading.roster import RosterEntry
from netlab_course import authoring
from tests.grading import classroom

ROOT = IMPORT_ROOT


@pytest.fixture
def sample() -> Iterator[Master]:
    with classroom.sample_chapter() as chapter:
        yield chapter


def test_without_a_class_the_chapter_is_as_printed(sample: Master, tmp_path: Path) -> None:
    (place,) = assign.assign(sample, tmp_path)
    created = nbformat.read(place, as_version=4)
    assert [cell.source for cell in created.cells] == [
        cell.source for cell in authoring.student_notebook(sample.source).cells
    ]
    assert "begin()" in place.read_text()


@pytest.mark.slow
def test_no_two_students_share_figures_and_the_text_follows_them(sample: Master, tmp_path: Path) -> None:
    class_of_80 = [RosterEntry(f"s{number}") for number in range(80)]
    written = assign.assign(sample, tmp_path, entries=class_of_80)
    listed = roster.read_roster(tmp_path / assign.CLASS_LIST)
    numbers = [repr(sample.edition(entry.token or "").chapter.own) for entry in listed]
    assert len(set(numbers)) == len(written) - 1 == 80
    for entry in listed[:5]:
        own = sample.edition(entry.token or "").chapter.own
        text = (tmp_path / assign.NOTEBOOKS / f"{entry.student}_00_sample.ipynb").read_text()
        assert f'begin(\\"{entry.token}\\")' in text
        assert f"The link carries {own.rate_mbps} Mbit/s, and {own.worked_mbps:.3f}" in text


def test_a_class_larger_than_the_figures_is_refused(sample: Master, tmp_path: Path) -> None:
    with pytest.raises(NetlabError, match="too few combinations"):
        assign.assign(sample, tmp_path, entries=[RosterEntry(f"s{number}") for number in range(101)])


def test_a_late_joiner_does_not_change_the_numbers_of_others(sample: Master) -> None:
    first = assign.with_tokens(sample, [RosterEntry("a"), RosterEntry("b")])
    later = assign.with_tokens(sample, [RosterEntry("new"), *first])
    assert later[1:] == first


def test_the_same_class_gets_the_same_bytes_and_with_another_salt_others(sample: Master, tmp_path: Path) -> None:
    class_of_3 = [RosterEntry(name) for name in "abc"]
    texts = []
    for name, salt in (("one", ""), ("two", ""), ("three", "2027")):
        written = assign.assign(sample, tmp_path / name, entries=class_of_3, salt=salt)
        texts.append([path.read_text() for path in written])
    assert texts[0] == texts[1] != texts[2]


@pytest.mark.parametrize("source", sorted((ROOT / "solutions").glob("[0-9]*.py")), ids=lambda path: path.stem)
def test_no_chapter_hands_an_answer_out(source: Path) -> None:
    chapter = Master(source)
    if not chapter.examiner_path.is_file():
        pytest.skip("this chapter has no examiner yet")
    edition = chapter.edition()
    secrets = assign.secrets_of(edition)
    exercises = len(chapter.exercises())
    assert len(secrets) >= min(exercises, 4), "the instructor's version says nothing of its own, so this proves nothing"
    assign.require_no_answer([cell.source for cell in edition.handed_out], edition)


def test_a_notebook_with_an_answer_is_refused(sample: Master) -> None:
    edition = sample.edition()
    for line in ("    return rate_mbps * payload_bytes / (payload_bytes + 42)", "- names the queue (1)"):
        with pytest.raises(LeakError, match="would hand out an answer"):
            assign.require_no_answer(["x = 1\n" + line], edition)


def test_solved_hand_ins_have_every_answer_and_lie_apart_from_what_students_get(sample: Master, tmp_path: Path) -> None:
    entries = [RosterEntry("a"), RosterEntry("b")]
    assign.assign(sample, tmp_path / "out", entries=entries, solved=tmp_path / "solved")
    (one, other) = sorted((tmp_path / "solved").iterdir())
    assert [path.name for path in (one, other)] == ["a_00_sample.ipynb", "b_00_sample.ipynb"]
    assert one.read_text() != other.read_text(), "each has numbers of its own"
    created = {cell.id: cell.source for cell in nbformat.read(one, as_version=4).cells}
    assert (
        "return rate_mbps * payload_bytes" in created["limit"] and "What the queue cannot hold" in created["why-words"]
    )
    assert "SOLUTION" not in one.read_text(), "marks of the source would be in the report of the answers in words"
    for place in (tmp_path / "out", tmp_path / "out" / "solved"):
        with pytest.raises(NetlabError, match="which is for students"):
            assign.assign(sample, tmp_path / "out", entries=entries, solved=place)


def test_another_chapter_or_class_does_not_overwrite_the_tokens(sample: Master, tmp_path: Path) -> None:
    assign.assign(sample, tmp_path, entries=[RosterEntry("a"), RosterEntry("b")])
    before = (tmp_path / assign.CLASS_LIST).read_text()
    with pytest.raises(NetlabError, match="has the notebooks of 00_sample"):
        assign.assign(master.find("udp_loss", ROOT), tmp_path, entries=[RosterEntry("a"), RosterEntry("b")])
    with pytest.raises(NetlabError, match="another class"):
        assign.assign(sample, tmp_path, entries=[RosterEntry("x"), RosterEntry("y")])
    assert (tmp_path / assign.CLASS_LIST).read_text() == before


def test_the_package_holds_nothing_of_the_instructors(tmp_path: Path) -> None:
    """Students install `netlab` alone: without solutions, model answers and marking schemes."""
    listed = subprocess.run(
        [sys.executable, "-c", "import setuptools; print('\\n'.join(setuptools.find_packages(include=['netlab*'])))"],
        capture_output=True, text=True, check=True, cwd=ROOT,
    ).stdout.split()  # fmt: skip
    assert "netlab_classroom.grading" in listed and not [name for name in listed if not name.startswith("netlab")]
    package = "\n".join(path.read_text() for package in package_directories() for path in package.rglob("*.py"))
    assert "EXERCISES = {" not in package.replace("``EXERCISES = {", "")
    for source in sorted((ROOT / "solutions").glob("[0-9]*.py")):
        chapter = Master(source)
        words = (
            [chapter.edition().model_answer(each) for each in chapter.edition().answer_cells if not each.name]
            if (chapter.examiner_path.is_file())
            else []
        )
        for line in (line for text in words for line in text.split("\n") if len(line) > 30):
            assert line not in package


def test_command_reports_written_files(sample: Master, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    class_list = tmp_path / "class.csv"
    class_list.write_text("Student;Email address\nann;ann@example.org\nbob;\n")
    arguments = ["assign", "0", "--root", str(classroom.SAMPLE), "-o", str(tmp_path / "out")]
    assert main([*arguments, "--roster", str(class_list)]) == 0
    assert "one for each student: 2." in capsys.readouterr().out
    assert main([*arguments, "--roster", str(class_list), "--solved", str(tmp_path / "solved")]) == 0
    assert "not for students" in capsys.readouterr().out


def test_a_chapter_goes_by_number_topic_or_name() -> None:
    found = {
        master.find(name, ROOT).stem for name in ("1", "01", "udp_loss", "01_udp_loss", "notebooks/01_udp_loss.ipynb")
    }
    assert found == {"01_udp_loss"}
    with pytest.raises(NetlabError, match="did you mean 01_udp_loss"):
        master.find("udp_los", ROOT)
