"""Tests of the page use it only if it was made from the present sources."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.built_page import ROOT, sources, why_unusable

MADE_S = 1_700_000_000


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A directory with the page and its sources, which are older."""
    script = tmp_path / "build" / "lite" / "static" / "netlab" / "loading.js"
    for path in [script, *(tmp_path / source.relative_to(ROOT) for source in sources())]:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        os.utime(path, (MADE_S, MADE_S if path == script else MADE_S - 1))
    return tmp_path


@pytest.mark.parametrize("changed", ["tools/page/loading.js", "tools/lite.py", "tools/page/npm/package.json"])
def test_a_page_that_is_older_than_a_source_is_not_used(clone: Path, changed: str) -> None:
    page = clone / "build" / "lite"
    assert why_unusable(page, clone) == ""
    os.utime(clone / changed, (MADE_S + 1, MADE_S + 1))
    assert why_unusable(page, clone) == f"build/lite is older than {changed}: make lite"


def test_a_missing_page_is_made_by_make_lite(clone: Path) -> None:
    assert why_unusable(clone / "build" / "other", clone) == "make lite makes the page"
