"""Messages about the conditions on a built object or a measurement."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import jupytext  # type: ignore[import-untyped]
import pytest

from netlab_course.chapters.opening import judging_checks
from netlab_course.conditions import Measurement
from tests.chapters.checking import all_chapters, failure_text


def measurements() -> Iterator[tuple[str, Measurement]]:
    """Yield each check of a run of the student's with its topic."""
    for chapter in all_chapters():
        for check in judging_checks(chapter.begin()).values():
            if isinstance(check, Measurement):
                yield chapter.__name__.rsplit(".", 1)[-1], check


@pytest.mark.parametrize(("topic", "check"), [pytest.param(*each, id=each[1].key) for each in measurements()])
def test_what_is_no_run_is_to_be_kept_by_the_name_of_the_exercise(topic: str, check: Measurement) -> None:
    (source,) = (Path(__file__).parents[2] / "solutions").glob(f"*_{topic}.py")
    cells = "\n".join(cell.source for cell in jupytext.read(source, fmt="py:percent").cells)
    named = re.search(rf"chapter\.check\.{check.key}\((\w+)\)", cells)
    assert named is not None
    assert f"keep it: {named[1]} = nl.run(...)." in failure_text(check, 1.25)
