"""A student's own copies of the chapters."""

from __future__ import annotations

import copy
import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netlab.base.errors import NetlabError
from netlab.commands import cli
from netlab_course import catalogue, copies, progress_store
from netlab_course.marks import strip_markdown

Notebook = dict[str, Any]


def notebook(**cells: str) -> Notebook:
    created = [
        {"id": name.replace("_check", "-check"), "cell_type": "code", "source": source}
        for name, source in cells.items()
    ]
    return {"cells": created, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def sources(found: Notebook) -> dict[str, str]:
    return {cell["id"]: cell["source"] for cell in found["cells"]}


def save(path: Path, found: Notebook) -> None:
    path.write_text(json.dumps(found))


def load(path: Path) -> dict[str, str]:
    return sources(json.loads(path.read_text()))


OLD_CELLS = {"title": "old text", "limit": "x = ...", "limit_check": "check(x)", "figure": "plot(x)"}
OLD = notebook(**OLD_CELLS)
NEW = notebook(title="new text", limit="y = ...", limit_check="check(y)", figure="plot(x)", more="1 + 1")


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    arrived, own = tmp_path / "came", tmp_path / "mine"
    arrived.mkdir()
    monkeypatch.setenv(catalogue.VARIABLE, str(arrived))
    monkeypatch.setenv(copies.VARIABLE, str(own))
    save(arrived / "01_udp_loss.ipynb", OLD)
    return arrived, own


def test_the_project_and_the_pages_without_a_number_come_along(tmp_path: Path) -> None:
    assert {"project.ipynb is new.", "how_to_project.ipynb is new."} <= set(copies.update(tmp_path))
    assert (tmp_path / "project.ipynb").is_file()


def test_an_update_keeps_answers_and_own_cells_and_the_file_as_it_was(places: tuple[Path, Path]) -> None:
    arrived, own = places
    assert list(copies.update(own)) == ["01_udp_loss.ipynb is new."]
    worked = copy.deepcopy(OLD)
    worked["cells"][0]["source"] = "my note in the title"
    worked["cells"][1]["source"] = "x = 4.8"
    worked["cells"].insert(2, {"id": "mine", "cell_type": "code", "source": "print(x)"})
    worked["cells"][4]["source"] = "plot(2 * x)"
    save(own / "01_udp_loss.ipynb", worked)
    assert list(copies.update(own)) == [], "nothing came, nothing changes"
    save(arrived / "01_udp_loss.ipynb", NEW)
    (text,) = copies.update(own)
    assert "3 cells of yours are kept" in text
    assert load(own / "01_udp_loss.ipynb") == {
        "title": "new text",
        "limit": "x = 4.8",
        "mine": "print(x)",
        "limit-check": "check(y)",
        "figure": "plot(2 * x)",
        "more": "1 + 1",
    }
    (before,) = own.glob("01_udp_loss (*).ipynb")
    assert load(before) == sources(worked)
    assert list(copies.update(own)) == []


ASKED = "Why?\n*Your answer:* …"
NOW = strip_markdown("Why so, in one sentence?\n<!-- BEGIN SOLUTION -->\nBecause.\n<!-- END SOLUTION -->")


@pytest.mark.parametrize(
    ("written", "updated"),
    [
        ("Why?\n*Your answer:* because.", NOW.replace("…", "because.")),
        ("Why?\n*Your answer:* …\nBecause.\nMore.", f"{NOW}\nBecause.\nMore."),
        ("Because, instead of the question.", "Because, instead of the question."),
        (ASKED, NOW),
    ],
)
@pytest.mark.parametrize("kind", ["markdown", "raw", "code"])
def test_answer_in_words_is_kept_below_the_current_question(
    places: tuple[Path, Path], written: str, updated: str, kind: str
) -> None:
    """Also where a key in command mode has made its cell another one: it is text again."""

    def words(source: str, kind: str = "markdown") -> Notebook:
        return {"cells": [{"id": "why-words", "cell_type": kind, "source": source}], "metadata": {}}

    arrived, own = places
    save(arrived / "01_udp_loss.ipynb", words(ASKED))
    list(copies.update(own))
    save(own / "01_udp_loss.ipynb", words(written, kind))
    save(arrived / "01_udp_loss.ipynb", words(NOW))
    list(copies.update(own))
    (cell,) = json.loads((own / "01_udp_loss.ipynb").read_text())["cells"]
    assert (cell["cell_type"], cell["source"]) == ("markdown", updated)


@given(
    st.lists(st.sampled_from(["Why?", "", "*Your answer:* …", "Because."])),
    st.lists(st.sampled_from(["Why?", "", "More."])),
)
def test_no_line_that_a_student_wrote_is_lost_when_the_text_around_it_changes(
    theirs: list[str], new: list[str]
) -> None:
    merged = copies.merged_text(ASKED, "\n".join(theirs), "\n".join(new)).split("\n")
    assert merged.count("Because.") >= theirs.count("Because.")


def test_answers_without_a_place_are_reported_to_be_in_the_old_file(places: tuple[Path, Path]) -> None:
    arrived, own = places
    list(copies.update(own))
    worked = copy.deepcopy(OLD)
    worked["cells"][1]["source"] = "x = 4.8"
    worked["cells"][3]["source"] = "plot(2 * x)"
    save(own / "01_udp_loss.ipynb", worked)
    save(arrived / "01_udp_loss.ipynb", notebook(title="old text", figure="plot(x)"))
    (text,) = copies.update(own)
    (before,) = own.glob("01_udp_loss (*).ipynb")
    assert f"1 cell of yours is kept; what you wrote in 1 more is only in the file as it was: {before.name}." in text
    assert load(before)["limit"] == "x = 4.8"


def test_an_answer_follows_its_exercise_to_another_chapter(
    places: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also what was passed; the student is told where it is, and nothing is written over."""
    arrived, own = places
    monkeypatch.setenv(progress_store.VARIABLE, str(tmp_path / "data"))
    air = {"air": "a = ...", "air_check": "check(a)", "ceiling": "b = ..."}
    save(arrived / "01_udp_loss.ipynb", notebook(**OLD_CELLS, **air))
    list(copies.update(own))
    worked = notebook(**OLD_CELLS, **air)
    for name, written in ((1, "x = 4.8"), (4, "a = 30"), (6, "b = 24")):
        worked["cells"][name]["source"] = written
    save(own / "01_udp_loss.ipynb", worked)
    progress_store.record("udp_loss", "air")
    save(arrived / "01_udp_loss.ipynb", OLD)
    save(arrived / "16_wifi.ipynb", notebook(title="Wi-Fi", **air))
    changed, new = copies.update(own)
    (before,) = own.glob("01_udp_loss (*).ipynb")
    assert changed == (
        "01_udp_loss.ipynb is up to date; 1 cell of yours is kept; what you wrote in air and ceiling is in 16_wifi.ipynb now; "
        f"as it was: {before.name}."
    )
    assert new == "16_wifi.ipynb is new."
    assert load(own / "01_udp_loss.ipynb") == {**sources(OLD), "limit": "x = 4.8"}
    assert load(own / "16_wifi.ipynb") == {
        "title": "Wi-Fi",
        "air": "a = 30",
        "air-check": "check(a)",
        "ceiling": "b = 24",
    }
    assert progress_store.passed_exercises() == {"udp_loss": ["air"], "wifi": ["air"]}
    assert list(copies.update(own)) == []


def test_a_copy_takes_the_number_that_its_chapter_has_now(places: tuple[Path, Path]) -> None:
    arrived, own = places
    list(copies.update(own))
    save(own / "01_udp_loss.ipynb", notebook(**{**OLD_CELLS, "limit": "x = 4.8"}))
    (own / "01_udp_loss (2026-01-01 10.00.00).ipynb").touch()
    (arrived / "01_udp_loss.ipynb").unlink()
    save(arrived / "01_start_again.ipynb", OLD)
    save(arrived / "03_udp_loss.ipynb", NEW)
    changes = list(copies.update(own))
    assert changes[0] == "01_udp_loss.ipynb is 03_udp_loss.ipynb now, with what you wrote."
    assert changes[1] == "01_start_again.ipynb is new."
    assert "1 cell of yours is kept" in changes[2] and len(changes) == 3
    assert load(own / "03_udp_loss.ipynb")["limit"] == "x = 4.8"
    assert not (own / "01_udp_loss.ipynb").exists(), "one copy, not two"
    assert (own / "01_udp_loss (2026-01-01 10.00.00).ipynb").exists()
    assert list(copies.update(own)) == []


@pytest.mark.parametrize(
    ("requested", "there"),
    [("another question = ...", "another question = ..."), ("a = ...", "a = 5, answered before")],
)
def test_an_answer_goes_to_no_other_question_and_over_no_other_answer(
    places: tuple[Path, Path], requested: str, there: str
) -> None:
    arrived, own = places
    save(arrived / "01_udp_loss.ipynb", notebook(title="x", air="a = ..."))
    save(arrived / "16_wifi.ipynb", notebook(air=requested))
    list(copies.update(own))
    save(own / "01_udp_loss.ipynb", notebook(title="x", air="a = 30"))
    save(own / "16_wifi.ipynb", notebook(air=there))
    save(arrived / "01_udp_loss.ipynb", notebook(title="x"))
    (text,) = copies.update(own)
    (before,) = own.glob("01_udp_loss (*).ipynb")
    assert f"what you wrote in 1 more is only in the file as it was: {before.name}." in text
    assert load(own / "16_wifi.ipynb") == {"air": there}
    assert load(before)["air"] == "a = 30"


def test_a_notebook_that_cannot_be_read_is_kept_aside(places: tuple[Path, Path]) -> None:
    arrived, own = places
    list(copies.update(own))
    (own / "01_udp_loss.ipynb").write_text("{ half")
    save(arrived / "01_udp_loss.ipynb", NEW)
    (text,) = copies.update(own)
    assert "could not be read" in text
    assert load(own / "01_udp_loss.ipynb") == sources(NEW)
    assert [path.read_text() for path in own.glob("01_udp_loss (*).ipynb")] == ["{ half"]


WATCHED = """
import json, sys
from pathlib import Path
from netlab_course import copies
mine = Path(sys.argv[1])
looking = False

def look(event, arguments):
    global looking
    if looking or event not in ("open", "os.rename", "os.link", "os.remove", "shutil.copyfile"):
        return
    looking = True
    try:
        json.loads((mine / "01_udp_loss.ipynb").read_text())
    except (OSError, ValueError) as error:
        print(f"before {event} {arguments}: {error}")
    looking = False

sys.addaudithook(look)
print(*copies.update(mine))
"""


def test_a_notebook_exists_and_is_complete_at_every_moment_of_an_update(places: tuple[Path, Path]) -> None:
    arrived, own = places
    list(copies.update(own))
    save(own / "01_udp_loss.ipynb", {**OLD, "cells": [*OLD["cells"], {"id": "mine", "source": "1"}]})
    save(arrived / "01_udp_loss.ipynb", NEW)
    done = subprocess.run([sys.executable, "-c", WATCHED, own], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("01_udp_loss.ipynb is up to date; 1 cell of yours is kept")


@pytest.mark.parametrize("damaged", [False, True])
def test_a_full_disk_changes_nothing_and_leaves_nothing_behind(places: tuple[Path, Path], damaged: bool) -> None:
    arrived, own = places
    list(copies.update(own))
    worked = copy.deepcopy(OLD)
    worked["cells"][1]["source"] = "x = 4.8"
    text = "{ half" if damaged else json.dumps(worked)
    (own / "01_udp_loss.ipynb").write_text(text)
    save(arrived / "01_udp_loss.ipynb", {**NEW, "cells": [*NEW["cells"], {"id": "long", "source": "x" * 1000}]})
    # No file may grow beyond 500 bytes, which an update would need.
    program = (
        "import resource, signal, sys; from netlab.commands import cli\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500)); sys.exit(cli.main(['lab', '--update-only']))"
    )
    before = sorted(path.name for path in own.iterdir())
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "cannot be copied" in done.stderr and "Traceback" not in done.stderr
    assert "that has room" in done.stderr
    assert (own / "01_udp_loss.ipynb").read_text() == text
    assert sorted(path.name for path in own.iterdir()) == before
    list(copies.update(own))
    assert load(own / "01_udp_loss.ipynb")["limit"] == ("y = ..." if damaged else "x = 4.8")


def test_ctrl_c_after_the_replacement_keeps_the_students_file(
    places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    arrived, own = places
    list(copies.update(own))
    save(own / "01_udp_loss.ipynb", {**OLD, "cells": [*OLD["cells"], {"id": "mine", "source": "1"}]})
    save(arrived / "01_udp_loss.ipynb", NEW)
    replace = Path.replace

    def interrupted(path: Path, target: Path) -> Path:
        replace(path, target)
        if target.name == "01_udp_loss.ipynb":
            raise KeyboardInterrupt
        return target

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        list(copies.update(own))
    (kept,) = own.glob("01_udp_loss (*).ipynb")
    assert "mine" in load(kept) and not list(own.glob(".new-*"))


@pytest.mark.parametrize("links", [True, False])
def test_an_update_keeps_a_notebooks_mode_where_files_can_have_two_names_or_not(
    places: tuple[Path, Path], links: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    arrived, own = places
    book = own / "01_udp_loss.ipynb"
    list(copies.update(own))
    save(book, {**OLD, "cells": [*OLD["cells"], {"id": "mine", "source": "1"}]})
    save(arrived / "01_udp_loss.ipynb", NEW)
    book.chmod(0o640)
    if not links:

        def refuse(*_paths: Path) -> None:
            raise OSError(errno.EPERM, "no links")

        monkeypatch.setattr(os, "link", refuse)
    list(copies.update(own))
    (kept,) = own.glob("01_udp_loss (*).ipynb")
    assert [path.stat().st_mode & 0o777 for path in (book, kept)] == [0o640, 0o640]
    assert "mine" in load(kept) and "mine" in load(book)
    assert not list(own.glob(".new-*"))


def test_interrupted_update_continues_and_keeps_the_students_text(
    places: tuple[Path, Path],
) -> None:
    arrived, own = places
    list(copies.update(own))
    worked = copy.deepcopy(OLD)
    worked["cells"][1]["source"] = "x = 4.8"
    save(own / "01_udp_loss.ipynb", copies.merge(OLD, worked, NEW)[0])
    save(arrived / "01_udp_loss.ipynb", NEW)
    (text,) = copies.update(own)
    assert "1 cell of yours is kept" in text and "only in the file" not in text
    assert load(own / "01_udp_loss.ipynb") == {**sources(NEW), "limit": "x = 4.8"}


@given(st.dictionaries(st.sampled_from(["title", "limit", "limit-check", "figure"]), st.text(min_size=1)))
def test_merging_without_a_new_original_keeps_the_students_notebook(edits: dict[str, str]) -> None:
    other = copy.deepcopy(OLD)
    for cell in other["cells"]:
        cell["source"] = edits.get(cell["id"], cell["source"])
    merged, *_ = copies.merge(OLD, other, OLD)
    assert sources(merged) == sources(other)


@given(st.text(min_size=1))
def test_an_answer_always_survives(answer: str) -> None:
    other = copy.deepcopy(OLD)
    other["cells"][1]["source"] = answer
    merged, *_ = copies.merge(OLD, other, NEW)
    assert sources(merged)["limit"] in (answer, NEW["cells"][1]["source"] if answer == "x = ..." else answer)


def test_reset_brings_a_fresh_copy_and_keeps_the_old(
    places: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    _, own = places
    list(copies.update(own))
    for _ in range(2):
        save(own / "01_udp_loss.ipynb", NEW)
        assert cli.main(["reset", "1"]) == 0
    assert cli.main(["reset", "1"]) == 0
    assert load(own / "01_udp_loss.ipynb") == sources(OLD)
    kept = [sorted(load(path)) for path in own.glob("01_udp_loss (*).ipynb")]
    assert kept == [sorted(sources(NEW))] * 2, (
        "two resets within a second lose neither; a fresh copy needs no second one"
    )
    assert "Your work is kept in" in capsys.readouterr().out


def test_read_only_folder_is_reported(places: tuple[Path, Path]) -> None:
    with pytest.raises(NetlabError, match=copies.VARIABLE):
        list(copies.update(Path("/proc/nowhere")))


def test_lab_updates_copies_and_reports_where(places: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    _, own = places
    assert cli.main(["lab", "--update-only"]) == 0
    assert f"Your chapters are in {own}." in capsys.readouterr().out
    assert load(own / "01_udp_loss.ipynb") == sources(OLD)


def test_lab_opens_the_first_chapter(places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[list[str]] = []
    monkeypatch.setattr("os.execv", lambda _program, words: called.append(words))
    cli.main(["lab", "--", "--no-browser"])
    (words,) = called
    assert "--LabApp.default_url=/lab/tree/01_udp_loss.ipynb" in words
    assert f"--ServerApp.root_dir={places[1]}" in words
    assert words[-1] == "--no-browser"


def test_disk_of_windows_is_reported(places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.setattr("platform.release", lambda: "5.15.153.1-microsoft-standard-WSL2")
    monkeypatch.setattr(copies, "update", lambda where: iter(()))
    cli.main(["lab", "--update-only", "--folder", "/mnt/c/Users/anna/chapters"])
    assert "a disk of Windows" in capsys.readouterr().out


def test_the_glossary_is_next_to_the_chapters_and_follows_its_original(places: tuple[Path, Path]) -> None:
    notebooks, own = places
    docs = notebooks.parent / "docs" / "reference"
    docs.mkdir(parents=True)
    for text in ("old", "new"):
        (docs / "glossary.md").write_text(text)
        list(copies.update(own))
        assert (own / "glossary.md").read_text() == text
