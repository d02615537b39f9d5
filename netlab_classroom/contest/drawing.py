"""Layout of the contest's figures in SVG. Pages with students' text allow no scripts."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

WIDTH, LEFT, RIGHT, TOP, BOTTOM = 800, 64, 20, 16, 52
TICKS = 6
LINE, LETTER = 14, 7
"""The height of a line of a label, and the width of a letter."""
DOT, GAP = 8, 12

Box = tuple[float, float, float, float]
"""Left, top, right and bottom."""


@dataclass(frozen=True)
class Plane:
    """The two axes of a figure, `x` linear and `y` linear or logarithmic, and its height in units of the picture; its
    width is WIDTH.
    """

    x: tuple[float, float]
    y: tuple[float, float]
    """The ends of the axes."""
    log_y: bool = False
    height: int = 460

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Return the position in the picture of the point with the values `x` and `y` on the axes: the distances from
        the left and from the top, in units of the picture.
        """
        across = (x - self.x[0]) / (self.x[1] - self.x[0])
        low, high, value = (math.log(each) for each in (*self.y, y)) if self.log_y else (*self.y, y)
        up = (value - low) / (high - low)
        width, height = WIDTH - LEFT - RIGHT, self.height - TOP - BOTTOM
        return round(LEFT + across * width, 1), round(TOP + (1 - up) * height, 1)

    def line(self, points: Sequence[Sequence[float]]) -> str:
        """Return the positions of some points (pairs of values on the x and y axes) as text for the `points` of an SVG
        polyline.
        """
        return " ".join("{},{}".format(*self.at(x, y)) for x, y in points)

    def frame(self) -> dict[str, Any]:
        """Return the picture's "width", "height", edges "left", "right", "top" and "bottom", and the ticks "x_ticks"
        and "y_ticks" (lists of dicts with the position "at" and the number "text") as values for a template, in units
        of the picture.
        """
        return {
            "width": WIDTH, "height": self.height, "left": LEFT, "right": WIDTH - RIGHT, "top": TOP,
            "bottom": self.height - BOTTOM,
            "x_ticks": [{"at": self.at(x, self.y[0])[0], "text": f"{x:g}"} for x in round_values(*self.x)],
            "y_ticks": [
                {"at": self.at(self.x[0], y)[1], "text": f"{y:g}"}
                for y in (doublings(*self.y) if self.log_y else round_values(*self.y))
            ],
        }  # fmt: skip


def place_labels(dots: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return copies of the dots (dicts with "x", "y" and the text "label", "" for none) with the position of the label,
    "text_x", "text_y" and "anchor" for SVG: the nearest one that overlaps no dot and no earlier label, or the one that
    overlaps least. "far" is True if the label is so far away that it needs a line to its dot. All are in units of the
    picture.
    """
    occupied: list[Box] = [(dot["x"] - DOT, dot["y"] - DOT, dot["x"] + DOT, dot["y"] + DOT) for dot in dots]
    found = []
    for dot in dots:
        label = {"text_x": dot["x"], "text_y": dot["y"], "anchor": "start", "far": False}
        if dot["label"]:
            places = list(_places(dot["x"], dot["y"], LETTER * len(dot["label"])))
            label, box = min(places, key=lambda place: sum(_overlap_area(place[1], other) for other in occupied))
            occupied.append(box)
        found.append({**dot, **label})
    return found


def _places(x: float, y: float, width: float) -> Iterator[tuple[dict[str, Any], Box]]:
    """Yield the possible positions of a label of this width next to a dot at x, y that are inside the picture, nearest
    first: each as values for a template ("text_x", "text_y", "anchor", "far") and as the label's box (left, top, right,
    bottom). All are in units of the picture, from its left and top.
    """
    for away in range(GAP, 6 * GAP, GAP // 2):
        for side in (1, 0, -1):
            for lines in (0, -1, 1) if side else (-1, 1):
                left = x + away if side > 0 else x - away - width if side < 0 else x - width / 2
                down = y + lines * (away if side == 0 else away - GAP / 2) + LINE / 3
                if left >= LEFT and left + width <= WIDTH:
                    anchor = {1: "start", 0: "middle", -1: "end"}[side]
                    at = {"text_x": round(x + side * away, 1), "text_y": round(down, 1)}
                    place = {**at, "anchor": anchor, "far": away > GAP}
                    yield place, (left, down - LINE + 3, left + width, down + 3)


def _overlap_area(one: Box, other: Box) -> float:
    """Return the area that two boxes (left, top, right, bottom) share; 0 if they do not overlap."""
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    return max(width, 0.0) * max(height, 0.0)


def round_values(low: float, high: float) -> list[float]:
    """Return round values from `low` to `high`, ascending and at equal distances, at most about TICKS of them.

    >>> round_values(0, 1), round_values(0, 47)
    ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [0.0, 10.0, 20.0, 30.0, 40.0])
    """
    power = 10.0 ** math.floor(math.log10(high - low))
    step = next(power * each for each in (0.1, 0.2, 0.5, 1, 2, 5) if (high - low) / (power * each) <= TICKS)
    first = math.ceil(low / step)
    return [round(number * step, 6) for number in range(first, math.floor(high / step + 1e-9) + 1)]


def doublings(low: float, high: float) -> list[float]:
    """Return those of the values ..., 1, 1.5, 2, 3, 4, 6, 8, ... that lie from `low` to `high`, ascending.

    >>> doublings(1, 5)
    [1.0, 1.5, 2.0, 3.0, 4.0]
    """
    values = [factor * 2.0**power for power in range(-2, 12) for factor in (1.0, 1.5)]
    return [value for value in values if low <= value <= high]
