"""The settings of pytest: files that are left out, and a time limit for every test."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("marked", "expected", "ignored"),
    [
        ("pytestmark = pytest.mark.pocket", "not pocket and not slow", True),
        ("pytestmark = [pytest.mark.slow, pytest.mark.root]", "not pocket and not slow", True),
        ("@pytest.mark.pocket", "not pocket and not slow", False),
        ("pytestmark = pytest.mark.root", "not pocket and not slow", False),
        ("pytestmark = pytest.mark.pocket", "", False),
    ],
)
def test_files_whose_tests_all_boot_are_skipped_without_a_kernel(
    pytestconfig: pytest.Config, tmp_path: Path, marked: str, expected: str, ignored: bool
):
    hooks = next(each for each in pytestconfig.pluginmanager.get_plugins() if hasattr(each, "_BOOTS"))
    file = tmp_path / "test_something.py"
    file.write_text(f"import pytest\n\n{marked}\n")
    requested = SimpleNamespace(getoption=lambda _: expected)
    assert bool(hooks.pytest_ignore_collect(file, requested)) == ignored


@pytest.mark.slow
def test_a_test_that_hangs_ends_and_shows_where(tmp_path: Path) -> None:
    (tmp_path / "test_hanging.py").write_text("import time\n\ndef test_hanging():\n    time.sleep(1000)\n")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-c", ROOT / "pyproject.toml", "-o", "timeout=2", "-p", "no:cacheprovider", tmp_path],
        cwd=ROOT, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode != 0
    assert "Timeout" in done.stdout + done.stderr and "time.sleep(1000)" in done.stdout + done.stderr


def test_every_test_has_a_time_limit(request: pytest.FixtureRequest) -> None:
    assert 300 <= float(request.config.getini("timeout")) <= 1200
