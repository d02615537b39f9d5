"""Figures of the chapter "Your own congestion control"."""

from __future__ import annotations

import pandas as pd

from netlab_course.chapters.own_control import experiments


def test_the_names_of_controls_that_fill_the_queue_alike_do_not_lie_on_each_other() -> None:
    found = pd.DataFrame(
        {"control": ["cubic", "dctcp", "Aimd"], "goodput_mbps": [17.0] * 3, "rtt95_ms": [208.0, 195.0, 195.1]}
    )
    figure = experiments.plane(found, "three controls")
    assert len({trace.textposition for trace in figure.data}) == 3
    assert all(
        figure.layout.xaxis.range[0] < x < figure.layout.xaxis.range[1] for trace in figure.data for x in trace.x
    )


def test_a_students_control_at_the_place_of_one_of_linux_leaves_it_to_be_seen() -> None:
    found = pd.DataFrame({"control": ["dctcp", "Aimd"], "goodput_mbps": [17.0] * 2, "rtt95_ms": [195.0] * 2})
    linux, own = (trace.marker for trace in experiments.plane(found, "two controls").data)
    assert own.size <= 0.6 * linux.size
    assert linux.symbol.endswith("-open")
