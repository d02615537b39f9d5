"""An output folder belongs to one chapter and class, and to one grader at a time."""

from __future__ import annotations

from pathlib import Path

import pytest

from netlab_classroom.grading.claim import ClaimError, claim_output

CLASS = [f"s{number}" for number in range(6)]


def take(place: Path, chapter: str, students: list[str], handed_in: list[str], *, allow_missing: bool = False) -> None:
    with claim_output(place, allow_missing=allow_missing) as claim:
        claim.take("marks", chapter, students, handed_in)


def test_a_folder_is_made_with_its_parents_and_an_existing_one_is_used(tmp_path: Path) -> None:
    for _ in range(2):
        take(tmp_path / "marks" / "2026" / "bdp", "05_bdp", CLASS, [])
    assert (tmp_path / "marks" / "2026" / "bdp").is_dir()


def test_refused_grading_leaves_no_folder_and_no_claim(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "notes.txt").write_text("mine")
    for place in (tmp_path / "new", tmp_path / "there"):
        with pytest.raises(ZeroDivisionError), claim_output(place):
            raise ZeroDivisionError
    assert [path.name for path in tmp_path.rglob("*")] == ["there", "notes.txt"]
    take(tmp_path / "there", "05_bdp", CLASS, [])
    with pytest.raises(ZeroDivisionError), claim_output(tmp_path / "there"):
        raise ZeroDivisionError
    with pytest.raises(ClaimError, match="of 05_bdp"):
        take(tmp_path / "there", "12_queues", CLASS, [])


def test_another_chapter_and_another_class_are_refused_and_a_late_joiner_is_not(tmp_path: Path) -> None:
    take(tmp_path, "05_bdp", CLASS, [])
    with pytest.raises(ClaimError, match="has the marks of 05_bdp: choose another --output for 12_queues"):
        take(tmp_path, "12_queues", CLASS, [])
    with pytest.raises(ClaimError, match="another class"):
        take(tmp_path, "05_bdp", ["t1", "t2"], [])
    take(tmp_path, "05_bdp", [*CLASS, "late"], [])


def test_submissions_that_are_missing_need_an_option(tmp_path: Path) -> None:
    take(tmp_path, "05_bdp", CLASS, CLASS)
    with pytest.raises(ClaimError, match="s1, s2, s3, s4, s5"):
        take(tmp_path, "05_bdp", CLASS, ["s0"])
    take(tmp_path, "05_bdp", CLASS, ["s0"], allow_missing=True)
    take(tmp_path, "05_bdp", CLASS, ["s0", "s1"])


def test_a_second_grader_is_refused_while_the_first_is_at_it(tmp_path: Path) -> None:
    with claim_output(tmp_path), pytest.raises(ClaimError, match="Another netlab writes"), claim_output(tmp_path):
        pass
    with claim_output(tmp_path):
        pass
