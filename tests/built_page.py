"""The page in `build/lite` that `make lite` has made, for the tests that read or show it."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "build" / "lite"


def sources(root: Path = ROOT) -> list[Path]:
    """Return the files of a clone that decide what the page has besides netlab's own modules."""
    tools = [root / "tools" / f"{name}.py" for name in ("lite", "packs", "bytecode", "wheel", "wheel_file")]
    return [*tools, *(path for path in (root / "tools" / "page").rglob("*") if path.is_file())]


def why_unusable(page: Path = PAGE, root: Path = ROOT) -> str:
    """Return why the tests cannot use a page, and what to do; "" if it was made from the sources as they are."""
    # The script is one of the last files that are written; others have the time of their package.
    script = page / "static" / "netlab" / "loading.js"
    if not script.is_file():
        return "make lite makes the page"
    newest = max(sources(root), key=lambda path: path.stat().st_mtime_ns)
    if newest.stat().st_mtime_ns > script.stat().st_mtime_ns:
        return f"build/lite is older than {newest.relative_to(root)}: make lite"
    return ""


def require_page() -> Path:
    """Return the directory of the page; skip the test if there is none or if it is older than its sources."""
    if reason := why_unusable():
        pytest.skip(reason)
    return PAGE
