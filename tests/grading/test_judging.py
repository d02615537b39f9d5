"""What is said of an answer."""

from __future__ import annotations

from netlab.course.checks import Number
from netlab.grading import marking


class Frame:
    """Something that prints its place in memory."""


def test_an_answer_is_shown_without_its_place_in_memory() -> None:
    """A second grading must give the same bytes."""
    check = Number(name="payload", expected=lambda: 1000.0, unit="bytes", tolerance=0.01, hints=["Count."])
    assert marking.shown(Frame(), check).endswith("Frame>")
    assert "0x" not in marking.shown([Frame(), {"x": Frame()}], check)
    assert marking.shown(1000.0, check) == "1000 bytes"
