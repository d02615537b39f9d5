"""The contents of the image, its build, and the start of a student's server."""

from __future__ import annotations

import fnmatch
import re
import subprocess
from pathlib import Path
from types import ModuleType, SimpleNamespace

import nbformat
import pytest

from netlab_classroom.grading import assign
from netlab_classroom.grading.master import Master
from tests.programs import ROOT, load

SOLUTIONS = sorted((ROOT / "solutions").glob("[0-9]*.py"))


STUDENT_PACKAGES = load("tools/wheel.py").STUDENT_PACKAGES


@pytest.fixture(scope="module")
def image() -> ModuleType:
    return load("tools/image.py")


def in_a_clone() -> list[str]:
    """The files of a fresh clone; in a copy that git does not know, all but what is made here."""
    if (ROOT / ".git").exists():
        listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
        return listed.stdout.splitlines()
    created = re.compile(
        r"\.(venv|[a-z]+_cache|hypothesis|ipynb_checkpoints|setup.*)|build|dist|.*\.egg-info|__pycache__"
    )
    found = [path.relative_to(ROOT) for path in ROOT.rglob("*") if path.is_file()]
    return [str(path) for path in found if not any(created.fullmatch(part) for part in path.parts)]


@pytest.fixture(scope="module")
def copied_files() -> list[Path]:
    """The files that the Dockerfile takes out of a clone, such as the builder would choose them."""
    text = (ROOT / "binder" / "Dockerfile").read_text().replace("\\\n", " ")
    lines = [line.split()[1:] for line in text.splitlines() if line.startswith("COPY ") and "--from" not in line]
    sources = {source for line in lines for source in line[:-1]}
    ignored = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line and not line.startswith("#")]
    clone = in_a_clone()
    for source in sources:
        assert any(Path(name) == Path(source) or Path(source) in Path(name).parents for name in clone), source
    return [
        ROOT / name
        for name in clone
        if any(Path(name) == Path(source) or Path(source) in Path(name).parents for source in sources)
        and not any(fnmatch.fnmatch(Path(name).parts[0], pattern) for pattern in ignored)
    ]


def test_image_has_package_and_student_notebooks_and_no_solutions(copied_files):
    names = {path.relative_to(ROOT).parts[0] for path in copied_files}
    assert {*STUDENT_PACKAGES, "notebooks", "pyproject.toml", "requirements.lock", "requirements-hub.lock"} <= names
    assert names.isdisjoint({"solutions", "netlab_classroom", "tests", ".git"})
    assert not [path for path in copied_files if {"examiners", "solutions"} & set(path.parts)]
    notebooks = {path.name for path in copied_files if path.suffix == ".ipynb"}
    assert notebooks == {path.name for path in (ROOT / "notebooks").glob("*.ipynb")}


@pytest.mark.parametrize("source", SOLUTIONS, ids=lambda path: path.stem)
def test_no_line_of_an_answer_is_in_what_the_image_takes(source, copied_files):
    secrets = assign.secrets_of(Master(source).edition())
    assert secrets, "a chapter without answers proves nothing"
    (notebook,) = [path for path in copied_files if path.name == f"{source.stem}.ipynb"]
    lines = {line.strip() for cell in nbformat.read(notebook, 4).cells for line in cell.source.split("\n")}
    assert secrets.isdisjoint(lines)


def test_a_dockerignore_keeps_what_a_clone_gathers_out_of_the_builders_way():
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    for name in (".git", ".venv", "solutions", "tests", "build"):
        assert name in lines


def test_the_hubs_pins_add_to_the_others_and_contradict_none():
    def pins(name):
        rows = [line for line in (ROOT / name).read_text().splitlines() if line and line[0] != "#"]
        return dict(row.lower().replace("_", "-").split("==") for row in rows)

    own, students = pins("requirements-hub.lock"), pins("requirements.lock")
    assert "jupyterhub" in own
    assert not set(own) & set(students)


# The start of a student's server --------------------------------------------------------------------------------


def start(home: Path, monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("NETLAB_CHAPTERS", raising=False)
    jupyter = SimpleNamespace(ServerApp=SimpleNamespace(), LabApp=SimpleNamespace())
    path = ROOT / "binder" / "jupyter_server_config.py"
    exec(compile(path.read_text(), path, "exec"), {"c": jupyter})  # noqa: S102 (as Jupyter runs its settings)
    return jupyter


def test_an_empty_home_gets_the_chapters_at_the_first_start_and_keeps_them(tmp_path, monkeypatch):
    for _start in range(2):
        jupyter = start(tmp_path, monkeypatch)
        assert jupyter.LabApp.default_url == "/lab/tree/netlab-chapters/00_start_here.ipynb"
        assert jupyter.ServerApp.root_dir == str(tmp_path)
        own = tmp_path / "netlab-chapters" / "01_udp_loss.ipynb"
        if _start == 0:
            text = own.read_text().replace('"metadata"', '"metadata" ')
            own.write_text(text)
        else:
            assert own.read_text() == text


def test_read_only_home_is_reported_and_the_server_starts(tmp_path, monkeypatch, capsys):
    home = tmp_path / "home"
    home.write_text("")
    jupyter = start(home, monkeypatch)
    assert not hasattr(jupyter.LabApp, "default_url")
    assert "The chapters cannot be copied" in capsys.readouterr().err


def test_emulated_processor_is_named_for_the_other_architecture_only(image):
    words = image.builder_words("arm64", "base")
    assert words[words.index("--arch") + 1] == "arm64" and "QEMU_CPU=cortex-a72" in words
    assert "BASE=base" in words
    assert not any(word.startswith("QEMU_CPU") for word in image.builder_words("amd64", "base"))
