"""Where things stand in the board's pictures."""

from __future__ import annotations

import itertools

from netlab.contest.drawing import LINE, Plane, apart


def test_a_plane_puts_good_right_and_below() -> None:
    plane = Plane((0, 1), (1, 4), log_y=True)
    (left, top), (right, bottom) = plane.at(0, 4), plane.at(1, 1)
    assert left < right and top < bottom
    assert plane.at(0.5, 2) == ((left + right) / 2, (top + bottom) / 2)


def test_labels_that_would_stand_on_each_other_are_a_line_apart() -> None:
    plane = Plane((0, 1), (1, 4))
    dots = [{**plane.dot(0.9, delay), "label": "x" * (delay != 3.02)} for delay in (3.0, 3.01, 3.02, 1.0)]
    found = [dot["text_y"] for dot in apart(dots) if dot["label"]]
    assert len(found) == 3 and all(below - above >= LINE for above, below in itertools.pairwise(found))
