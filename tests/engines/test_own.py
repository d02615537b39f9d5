"""The page about a user's own code: its examples run as they stand."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "build.md"


@pytest.mark.library
@pytest.mark.parametrize(("number", "lowest_mbps"), [(0, [1, 1]), (1, [0.1])])
def test_an_example_of_the_page_runs(number: int, lowest_mbps: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETLAB_PROGRESS", "0")
    example = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)[number]
    found: dict[str, Any] = {"__name__": "example"}
    exec(compile(example, str(PAGE), "exec"), found)  # noqa: S102 (the page is ours)
    assert (found["run"].flows.goodput_mbps > lowest_mbps).all()
    if number:
        assert (found["run"].flows[["duplicates", "missing_bytes", "wrong_bytes"]] == 0).all(axis=None)
