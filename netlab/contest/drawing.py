"""Where things stand in a picture of the board, which is SVG: its page takes no script, as all pages with students' text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

WIDTH, LEFT, RIGHT, TOP, BOTTOM = 800, 64, 20, 16, 52
TICKS = 6
LINE, NEAR = 14, 120


@dataclass(frozen=True)
class Plane:
    """Two axes.

    Attributes
    ----------
    x, y : tuple of float
        The ends of the axes.
    log_y : bool
    height : int
    """

    x: tuple[float, float]
    y: tuple[float, float]
    log_y: bool = False
    height: int = 460

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Where a point is, in the picture's own units."""
        across = (x - self.x[0]) / (self.x[1] - self.x[0])
        low, high, value = (math.log(each) for each in (*self.y, y)) if self.log_y else (*self.y, y)
        up = (value - low) / (high - low)
        width, height = WIDTH - LEFT - RIGHT, self.height - TOP - BOTTOM
        return round(LEFT + across * width, 1), round(TOP + (1 - up) * height, 1)

    def dot(self, x: float, y: float) -> dict[str, Any]:
        """A dot, and where its label goes: to the left of one at the right edge."""
        across, down = self.at(x, y)
        is_right = across > 0.8 * WIDTH
        return {
            "x": across, "y": down, "text_x": across + (-12 if is_right else 12), "text_y": down + 4,
            "anchor": "end" if is_right else "start",
        }  # fmt: skip

    def line(self, points: Sequence[Sequence[float]]) -> str:
        """Points of a line."""
        return " ".join("{},{}".format(*self.at(x, y)) for x, y in points)

    def frame(self) -> dict[str, Any]:
        """The picture's edges and ticks."""
        return {
            "width": WIDTH, "height": self.height, "left": LEFT, "right": WIDTH - RIGHT, "top": TOP,
            "bottom": self.height - BOTTOM,
            "x_ticks": [{"at": self.at(x, self.y[0])[0], "text": f"{x:g}"} for x in round_values(*self.x)],
            "y_ticks": [
                {"at": self.at(self.x[0], y)[1], "text": f"{y:g}"}
                for y in (doublings(*self.y) if self.log_y else round_values(*self.y))
            ],
        }  # fmt: skip


def apart(dots: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Dots whose labels are a line apart where they would stand on each other."""
    found: list[dict[str, Any]] = []
    for dot in sorted(dots, key=lambda each: (each["text_y"], each["text_x"])):
        above = (
            [each["text_y"] for each in found if each["label"] and abs(each["text_x"] - dot["text_x"]) < NEAR]
            if dot["label"]
            else []
        )
        found.append({**dot, "text_y": max([dot["text_y"], *(at + LINE for at in above if dot["text_y"] - at < LINE)])})
    return found


def round_values(low: float, high: float) -> list[float]:
    """Round values between two.

    >>> round_values(0, 1), round_values(0, 47)
    ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [0.0, 10.0, 20.0, 30.0, 40.0])
    """
    power = 10.0 ** math.floor(math.log10(high - low))
    step = next(power * each for each in (0.1, 0.2, 0.5, 1, 2, 5) if (high - low) / (power * each) <= TICKS)
    first = math.ceil(low / step)
    return [round(number * step, 6) for number in range(first, math.floor(high / step + 1e-9) + 1)]


def doublings(low: float, high: float) -> list[float]:
    """1, 1.5, 2, 3, 4, 6, 8 and so on, as far as they lie between two.

    >>> doublings(1, 5)
    [1.0, 1.5, 2.0, 3.0, 4.0]
    """
    values = [factor * 2.0**power for power in range(-2, 12) for factor in (1.0, 1.5)]
    return [value for value in values if low <= value <= high]
