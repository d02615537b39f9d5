"""The picture of a live panel's curves."""

from __future__ import annotations

import re

from netlab.plots.strips import Strips


def test_all_words_have_the_colour_of_the_pages_own() -> None:
    strips = Strips(("goodput_mbps", "backlog_packets"), window_s=10, points=11, names=["h1-h2 cubic"])
    strips.add("goodput_mbps", "h1-h2 cubic", 1, 5)
    strips.mark(2, "r1-h2 2 Mbit/s")
    words = re.findall("<text [^>]*>", strips.svg(20))
    assert len(words) > 10
    assert all('fill="currentColor"' in each for each in words)
