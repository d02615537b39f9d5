"""The positions of labels and dots in the board's pictures."""

from __future__ import annotations

import itertools
import random

from netlab_classroom.contest.drawing import LEFT, WIDTH, Plane, place_labels


def test_a_plane_puts_good_right_and_below() -> None:
    plane = Plane((0, 1), (1, 4), log_y=True)
    (left, top), (right, bottom) = plane.at(0, 4), plane.at(1, 1)
    assert left < right and top < bottom
    assert plane.at(0.5, 2) == ((left + right) / 2, (top + bottom) / 2)


def test_labels_overlap_no_dot_and_no_other_label() -> None:
    """Labels of dots that are close to each other, some of them at the right edge, as on the board of a class."""
    draw = random.Random(1)  # noqa: S311 (no secret)
    spots = [(draw.gauss(760, 25), draw.gauss(300, 50)) for _ in range(45)]
    dots = [
        {"x": min(x, 780.0), "y": y, "label": "student-23" * (number % 6 == 0)} for number, (x, y) in enumerate(spots)
    ]
    found = place_labels(dots)
    boxes = []
    for dot in found:
        if dot["label"]:
            left = dot["text_x"] - {"start": 0, "middle": 35, "end": 70}[dot["anchor"]]
            boxes.append((left, dot["text_y"] - 10, left + 70, dot["text_y"] + 2))
    assert len(boxes) == 8 and all(left >= LEFT and right <= WIDTH for left, _, right, _ in boxes)
    on_dots = [
        (box, dot)
        for box in boxes
        for dot in dots
        if box[0] < dot["x"] + 6 and box[2] > dot["x"] - 6 and box[1] < dot["y"] + 6 and box[3] > dot["y"] - 6
    ]
    on_labels = [
        (one, two)
        for one, two in itertools.combinations(boxes, 2)
        if one[0] < two[2] and two[0] < one[2] and one[1] < two[3] and two[1] < one[3]
    ]
    assert not on_dots and not on_labels
