"""The wheel alone, without a clone, a compiler, a cache and programs on the path."""

import importlib.util
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

import netlab
from netlab_kernel import archive
from tests.engines import webassembly

ROOT = Path(netlab.__file__).parents[1]
pytestmark = pytest.mark.library


def wheel_tool() -> Any:
    """Return the module that makes the wheel."""
    spec = importlib.util.spec_from_file_location("wheel_tool", ROOT / "tools" / "wheel.py")
    assert spec is not None and spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    return tool


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    wheel: Path = wheel_tool().make(webassembly.built(), tmp_path_factory.mktemp("dist"))
    return wheel


@pytest.fixture(scope="module")
def installed(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("installed")
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", target, made], check=True, timeout=300
    )
    return target


def run(installed: Path, home: Path, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, *words],
        env={"PYTHONPATH": str(installed), "HOME": str(home), "PATH": "/nonexistent"},
        cwd=home,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_first_experiment_runs_in_a_home_with_spaces_and_accents(installed: Path, tmp_path: Path) -> None:
    home = tmp_path / "José’s home"
    home.mkdir()
    said = run(installed, home, "-m", "netlab.commands.cli", "demo")
    assert "Theory and measurement agree" in said
    assert "(library engine" in said


def test_all_chapters_are_in_it_and_are_copied_to_the_home(installed: Path, tmp_path: Path) -> None:
    program = "from netlab_course import copies; print(*copies.update(copies.folder()), sep='\\n')"
    run(installed, tmp_path, "-c", program)
    copied = {path.name for path in (tmp_path / "netlab-chapters").glob("[!.]*")}
    assert copied == {path.name for path in (ROOT / "notebooks").glob("*.ipynb")} | {"glossary.md"}


def test_the_kernels_licence_and_all_that_its_source_is_made_of_are_in_it(made: Path) -> None:
    with zipfile.ZipFile(made) as wheel:
        names = {Path(name).name for name in wheel.namelist() if "/carried/libraries/" in name}
    assert names == set(archive.WASM.contents) >= {"COPYING", "SOURCE", "netlab.patch", "recipe.tar"}
