"""Functions for the tests of all chapters' checks."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

import jupytext  # type: ignore[import-untyped]

import netlab as nl
from netlab_course import chapters
from netlab_course.chapters.opening import judging_checks
from netlab_course.checks import Check, Status
from netlab_course.library_calls import NOT_COUNTED
from netlab_course.tries import TryCounter


def all_chapters() -> list[ModuleType]:
    """Every package in `netlab_course/chapters/`."""
    return [
        importlib.import_module(f"netlab_course.chapters.{found.name}")
        for found in pkgutil.iter_modules(chapters.__path__)
        if found.ispkg
    ]


def checks_of(chapter: ModuleType, token: str = "") -> list[Check]:
    """The checks that a chapter's notebook can call."""
    return list(judging_checks(chapter.begin(token)).values())


def extremes(values: Iterable[float]) -> list[float]:
    """The smallest and the largest of the numbers that students may have: what holds at both holds between them, where
    it rises or falls with the number.
    """
    known = list(values)
    return [min(known), max(known)]


def passes(check: Check, answer: object) -> None:
    """Assert that an answer is right, and right again: judging must not use it up."""
    for _ in range(2):
        result = check.judge(answer)
        assert result.status is Status.PASSED, str(result)


def is_right_but_netlabs(check: Check, answer: object) -> None:
    """Assert that an answer is right in each trial, and does not count because it is netlab's own."""
    assert NOT_COUNTED in str(check.verdict(answer)), str(check.verdict(answer))


def failure_text(check: Check, answer: object) -> str:
    """Assert that an answer is wrong; what the check says about it, in one line."""
    result = check.judge(answer)
    assert result.status is Status.FAILED, str(result)
    return " ".join(str(result).split())


def count_tries(check: Check) -> list[str]:
    """Let a check count its wrong tries; return the list that grows by each different one."""
    seen: list[str] = []

    def record(_key: str, answer: str) -> int:
        seen.extend([answer] if answer not in seen else [])
        return len(seen)

    check.tries = TryCounter(record, lambda _key: len(seen))
    return seen


def names_of_cells(stem: str, *ids: str, **names: Any) -> dict[str, Any]:
    """The names that cells of a chapter's source define, when these cells and no others are executed, in this order.

    The cells know `nl` and `names`. Sweeps in them use the cache.
    """
    source = Path(__file__).parents[2] / "solutions" / f"{stem}.py"
    cells = {cell.metadata.get("id"): cell.source for cell in jupytext.read(source, fmt="py:percent").cells}
    defined: dict[str, Any] = {"nl": nl, **names}
    for name in ids:
        exec(compile(cells[name], f"{source}, cell {name}", "exec"), defined)  # noqa: S102 - the project's own source
    return defined
