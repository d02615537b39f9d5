"""A live panel's curves in a browser, on a white and on a dark page."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image, ImageColor

from netlab.plots.theme import COLOURS
from netlab_engines.lab.strips import HEIGHT as STRIP_PX
from netlab_engines.lab.strips import LEFT, RIGHT, WIDTH, Strips
from tests.browser import chromium

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(chromium.PROGRAM is None, reason="needs Debian's chromium: apt install chromium"),
]

HEIGHT = 420
PLOT = WIDTH - LEFT - RIGHT
NEAR = 40  # of 255 in each colour: lines have soft edges


def drawn_points(pixels: npt.NDArray[np.int64], colour: str) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Rows and columns of the pixels that have about this colour, below the names."""
    apart = np.abs(pixels - np.array(ImageColor.getrgb(colour)))
    rows, columns = np.nonzero((apart.max(axis=2) < NEAR)[40:])
    return rows + 40, columns


@pytest.mark.parametrize("background", ["#ffffff", "#111111"])
def test_each_curve_is_in_its_strip_over_the_whole_time(tmp_path: Path, background: str) -> None:
    strips = Strips(("goodput_mbps", "backlog_packets"), window_s=10, points=101, names=["h1-h2 cubic"])
    for number in range(201):
        strips.add("goodput_mbps", "h1-h2 cubic", number / 10, 5)
        strips.add("backlog_packets", "queue r1-eth1", number / 10, number - 100)
    page = tmp_path / "page.html"
    page.write_text(
        f"<!doctype html><meta charset='utf-8'><body style='margin:0;background:{background}'>{strips.svg(20)}"
    )
    with Image.open(chromium.picture(page, tmp_path / "seen.png", WIDTH, HEIGHT)) as opened:
        pixels = np.asarray(opened.convert("RGB"), dtype=np.int64)
    goodput, backlog = drawn_points(pixels, COLOURS[0]), drawn_points(pixels, COLOURS[1])
    assert np.ptp(goodput[0]) <= 4 and np.ptp(goodput[1]) > PLOT - 5, "a level line from edge to edge"
    assert np.ptp(backlog[0]) > 0.9 * STRIP_PX and np.ptp(backlog[1]) > PLOT - 25, "a line that rises through its strip"
    assert goodput[0].max() < backlog[0].min()
    first, last = backlog[1].argmin(), backlog[1].argmax()
    assert backlog[0][first] > backlog[0][last], "upwards is more"
