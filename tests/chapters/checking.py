"""Functions for the tests of all chapters' checks."""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType

from netlab_course import chapters
from netlab_course.checks import Check, Status


def all_chapters() -> list[ModuleType]:
    """Every package in `netlab_course/chapters/`."""
    return [
        importlib.import_module(f"netlab_course.chapters.{found.name}")
        for found in pkgutil.iter_modules(chapters.__path__)
        if found.ispkg
    ]


def checks_of(chapter: ModuleType, token: str = "") -> list[Check]:
    """The checks that a chapter's notebook can call."""
    return list(chapter.begin(token).checks.values())


def passes(check: Check, answer: object) -> None:
    """Assert that an answer is right, and right again: judging must not use it up."""
    for _ in range(2):
        result = check.judge(answer)
        assert result.status is Status.PASSED, str(result)


def said(check: Check, answer: object) -> str:
    """Assert that an answer is wrong; what the check says about it, in one line."""
    result = check.judge(answer)
    assert result.status is Status.FAILED, str(result)
    return " ".join(str(result).split())
