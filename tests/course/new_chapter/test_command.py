"""A new chapter runs, lints and passes its tests as it is written; a bad name writes nothing."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from netlab.base.errors import NetlabError
from netlab.base.location import PACKAGES
from netlab.commands import cli
from netlab_course.new_chapter.command import MAX_NAME_LENGTH, create

ROOT = Path(__file__).parents[3]
# The parts of a clone that a chapter's tests and the linters need.
PARTS = (
    *PACKAGES, "tests/chapters", "tests/__init__.py", "tests/conftest.py", "tests/drawn.py", "tests/agreement.py",
    "tests/outputs.py", "tests/shared_runs.py",
    "tests/fake_runs.py", "tests/programs.py",
    "conftest.py", "pyproject.toml", "solutions/01_udp_loss.py", "solutions/examiners",
)  # fmt: skip


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Return a clone with the parts of this repository that a chapter needs."""
    root = tmp_path / "clone"
    for part in PARTS:
        (root / part).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, root / part, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / part, root / part)
    return root


@pytest.fixture
def empty_clone(tmp_path: Path) -> Path:
    """The folders of a clone, one chapter in them."""
    for folder in ("solutions/examiners", "netlab_course/chapters/udp_loss", "tests/chapters/udp_loss"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "solutions/07_udp_loss.py").touch()
    (tmp_path / "tests/chapters/checking.py").touch()
    return tmp_path


def all_files(root: Path) -> set[Path]:
    return set(root.rglob("*"))


def command(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python in the clone, so that the clone's netlab is imported."""
    environment = {**os.environ, "PYTHONPATH": str(root), "NETLAB_PROGRESS": "0"}
    return subprocess.run([sys.executable, *arguments], cwd=root, env=environment, capture_output=True, text=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a", "l" * MAX_NAME_LENGTH])
def test_written_files_are_formatted_and_pass_the_linter(clone: Path, name: str) -> None:
    written = create(name, clone)
    assert [str(path.relative_to(clone)) for path in written[:3]] == [
        f"solutions/02_{name}.py",
        f"solutions/examiners/{name}.py",
        f"netlab_course/chapters/{name}/__init__.py",
    ]
    for arguments in (["ruff", "check"], ["ruff", "format", "--check"]):
        done = command(
            clone, "-m", *arguments, f"netlab_course/chapters/{name}", f"tests/chapters/{name}", "solutions/examiners"
        )
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_its_tests_pass_as_printed(clone: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["new-chapter", "example", "--root", str(clone), "--title", "An example"]) == 0
    output = capsys.readouterr().out
    assert "wrote solutions/02_example.py" in output
    words = next(line for line in output.splitlines() if "-m pytest" in line).split()
    assert words[0] == ".venv/bin/python"
    done = command(clone, *words[1:], "-m", "not pocket", "-q", "-p", "no:cacheprovider")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "passed" in done.stdout
    assert 'chapter "An example"' in (clone / "netlab_course/chapters/example/check.py").read_text()


@pytest.mark.slow
def test_the_student_gets_a_stub_and_every_cell_of_the_order(clone: Path) -> None:
    source = create("example", clone)[0]
    program = (
        "import json, pathlib, sys; from netlab_course.authoring import student_notebook; "
        "json.dump([[cell.id, cell.source] for cell in student_notebook(pathlib.Path(sys.argv[1])).cells], sys.stdout)"
    )
    done = command(clone, "-c", program, str(source))
    assert done.returncode == 0, done.stderr
    cells = dict(json.loads(done.stdout))
    order = (
        "title imports predict network symbols limit limit-check run figure why panel published summary open versions"
    )
    assert [name for name in cells if name in order.split()] == order.split()
    assert "+ 14" not in cells["limit"]
    assert "10 Mbit/s and 500 bytes" in cells["limit-text"]


@pytest.mark.pocket
def test_its_notebooks_are_built_and_its_measurement_agrees(clone: Path) -> None:
    source = create("example", clone)[0]
    built = command(clone, "-m", "netlab_course.authoring", source.stem)
    assert built.returncode == 0, built.stdout + built.stderr
    assert (clone / "notebooks/02_example.ipynb").exists()
    assert "✓ goodput limit" in (clone / "solutions/02_example.ipynb").read_text()
    program = (
        "import pathlib; from netlab_classroom.grading import master; chapter = master.find('example', pathlib.Path()); "
        "print(sorted(chapter.exercises()), sorted(each.key for each in chapter.edition().answer_cells))"
    )
    marked = command(clone, "-c", program)
    assert marked.stdout.split("] ") == ["['limit', 'why-words'", "['limit', 'why-words']\n"], (
        marked.stdout + marked.stderr
    )
    measured = command(clone, "-m", "pytest", "-q", "tests/chapters/example/test_measured.py", "-p", "no:cacheprovider")
    assert measured.returncode == 0, measured.stdout + measured.stderr


@pytest.mark.parametrize(
    "name", ["", "Tcp", "tcp-fairness", "6tcp", "class", "../x", "tcp fairness", "l" * (MAX_NAME_LENGTH + 1), "é"]
)
def test_bad_name_is_reported_and_nothing_is_written(empty_clone: Path, name: str) -> None:
    before = all_files(empty_clone)
    with pytest.raises(NetlabError, match="name must be at most 30 lowercase letters, digits and _"):
        create(name, empty_clone)
    assert all_files(empty_clone) == before


@pytest.mark.parametrize("name", ["udp_loss", "checking"])
def test_taken_name_is_reported_and_nothing_is_written(empty_clone: Path, name: str) -> None:
    before = all_files(empty_clone)
    with pytest.raises(NetlabError, match=f"There is a chapter {name} already: .*{name}.*Choose another name"):
        create(name, empty_clone)
    assert all_files(empty_clone) == before


@pytest.mark.parametrize("title", ["", " x", 'so "called"', "a\nb", "x" * 41])
def test_bad_title_is_reported_and_nothing_is_written(empty_clone: Path, title: str) -> None:
    before = all_files(empty_clone)
    with pytest.raises(NetlabError, match="title must have 1 to 40 characters"):
        create("example", empty_clone, title)
    assert all_files(empty_clone) == before


def test_directory_that_is_no_clone_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["new-chapter", "example", "--root", str(tmp_path)]) == 1
    assert "not a netlab clone" in capsys.readouterr().err
    assert all_files(tmp_path) == set()


def test_chapter_is_written_completely_or_not_at_all(empty_clone: Path, monkeypatch) -> None:
    before = all_files(empty_clone)
    rename = Path.rename

    def fails_at_the_tests(self: Path, target: Path) -> Path:
        if "tests" in target.parts:
            raise OSError(28, "No space left on device", str(target))
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fails_at_the_tests)
    with pytest.raises(NetlabError, match="Nothing was written: No space left on device"):
        create("example", empty_clone)
    assert all_files(empty_clone) == before


def test_the_number_follows_the_last(empty_clone: Path) -> None:
    assert create("example", empty_clone)[0].name == "08_example.py"
