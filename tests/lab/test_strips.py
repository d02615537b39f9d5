"""The picture of a live panel's curves."""

from __future__ import annotations

import re

from netlab_engines.lab.strips import WIDTH, Strips


def test_all_words_have_the_colour_of_the_pages_own() -> None:
    strips = Strips(("goodput_mbps", "backlog_packets"), window_s=10, points=11, names=["h1-h2 cubic"])
    strips.add("goodput_mbps", "h1-h2 cubic", 1, 5)
    strips.mark(2, "r1-h2 2 Mbit/s")
    words = re.findall("<text [^>]*>", strips.svg(20))
    assert len(words) > 10
    assert all('fill="currentColor"' in each for each in words)


def test_names_do_not_overlap_and_are_within_the_picture() -> None:
    names = ["phone-server cubic", "queue laptop_12 to isp_edge1", "queue isp_edge1 to laptop_12", "h1-h2 udp"]
    strips = Strips(("goodput_mbps",), window_s=10, points=11, names=names)
    ends: dict[str, float] = {}
    for name in names:
        x, y = re.search(f'<text x="([0-9.]+)" y="([0-9.]+)"[^>]*>{name}</text>', strips.svg(20)).groups()
        assert float(x) >= ends.get(y, 0.0), name
        ends[y] = float(x) + 6.5 * len(name)
    assert len(ends) > 1 and all(end <= WIDTH for end in ends.values())
