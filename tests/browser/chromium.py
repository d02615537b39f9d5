"""Debian's Chromium without a window: a page's picture, and what stands in it after its scripts have run."""

from __future__ import annotations

import html
import re
import shutil
import subprocess
from pathlib import Path

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
OPTIONS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--force-device-scale-factor=1")
# Pages' own clock, which stands still while the browser works: a busy machine gives the same picture.
PATIENCE_MS = 20_000


def picture(page: Path, target: Path, width: int, height: int) -> Path:
    """Write a page's picture as PNG."""
    _run(
        page,
        f"--screenshot={target}",
        f"--window-size={width},{height}",
        f"--user-data-dir={target.parent / 'profile'}",
    )
    return target


def words(page: Path, name: str) -> str:
    """Return the text of the page's element with this id after its scripts have run."""
    shown = _run(page, "--dump-dom", f"--user-data-dir={page.parent / 'profile'}")
    found = re.search(rf'<pre id="{name}">(.*?)</pre>', shown, re.DOTALL)
    assert found is not None, shown[-2000:]
    return html.unescape(found[1])


def _run(page: Path, *options: str) -> str:
    assert PROGRAM is not None
    words = [PROGRAM, *OPTIONS, f"--virtual-time-budget={PATIENCE_MS}", *options, page.as_uri()]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout
