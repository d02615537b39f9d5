"""`make quick` with programs that stand for the tools: its last lines name the reason of a failure."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

MAKEFILE = Path(__file__).resolve().parent.parent / "Makefile"
TOOLS = ("ruff", "mypy", "lint-imports", "python", "pytest")


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A directory with the project's Makefile, a set-up that does nothing, and tools that find nothing."""
    shutil.copy(MAKEFILE, tmp_path)
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "setup.sh").write_text("exit 0\n")
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    for tool in TOOLS:
        _stand_in(tmp_path, tool, f"{tool} found nothing", 0)
    return tmp_path


def _stand_in(clone: Path, tool: str, message: str, status: int, delay_s: float = 0) -> None:
    """Write a program for `tool` that prints `message` after `delay_s` seconds and exits with `status`."""
    program = clone / ".venv" / "bin" / tool
    program.write_text(f"#!/bin/sh\nsleep {delay_s}\necho '{message}'\nexit {status}\n")
    program.chmod(0o755)


def _run_quick(clone: Path) -> tuple[int, list[str]]:
    """Run `make quick` in the directory; return its status and the lines of the tools."""
    done = subprocess.run(
        ["make", "--no-print-directory", "quick"],
        cwd=clone,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, [line for line in done.stdout.splitlines() if "found" in line and "echo" not in line]


@pytest.mark.slow
def test_a_finding_of_lint_is_printed_after_tests_that_take_longer(clone: Path) -> None:
    _stand_in(clone, "mypy", "mypy found an error", 1)
    _stand_in(clone, "pytest", "pytest found nothing", 0, delay_s=0.5)
    status, lines = _run_quick(clone)
    assert status != 0
    assert lines[-1] == "mypy found an error"
    assert "pytest found nothing" in lines


@pytest.mark.slow
def test_a_failed_test_is_printed_last_when_lint_finds_nothing(clone: Path) -> None:
    _stand_in(clone, "pytest", "pytest found a failure", 1)
    _stand_in(clone, "mypy", "mypy found nothing", 0, delay_s=0.5)
    status, lines = _run_quick(clone)
    assert status != 0
    assert lines[-1] == "pytest found a failure"


def test_all_tools_are_shown_when_nothing_fails(clone: Path) -> None:
    status, lines = _run_quick(clone)
    assert status == 0
    assert [sum(line.startswith(tool) for line in lines) for tool in TOOLS] == [2, 1, 1, 1, 1]


def test_no_file_is_left_behind(clone: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    scratch = tmp_path_factory.mktemp("scratch")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(scratch))
        _run_quick(clone)
    assert list(scratch.iterdir()) == []
