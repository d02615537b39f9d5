"""What is collected where nothing is to boot."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest


@pytest.mark.parametrize(
    ("marked", "wanted", "ignored"),
    [
        ("pytestmark = pytest.mark.pocket", "not pocket and not slow", True),
        ("pytestmark = [pytest.mark.slow, pytest.mark.root]", "not pocket and not slow", True),
        ("@pytest.mark.pocket", "not pocket and not slow", False),
        ("pytestmark = pytest.mark.root", "not pocket and not slow", False),
        ("pytestmark = pytest.mark.pocket", "", False),
    ],
)
def test_only_files_of_which_every_test_boots_are_left_out_and_only_where_nothing_is_to_boot(
    pytestconfig: pytest.Config, tmp_path: Path, marked: str, wanted: str, ignored: bool
):
    hooks = next(each for each in pytestconfig.pluginmanager.get_plugins() if hasattr(each, "_BOOTS"))
    file = tmp_path / "test_something.py"
    file.write_text(f"import pytest\n\n{marked}\n")
    asked = SimpleNamespace(getoption=lambda _: wanted)
    assert bool(hooks.pytest_ignore_collect(file, asked)) == ignored
