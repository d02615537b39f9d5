"""The figures of the chapter "Congestion control"."""

from __future__ import annotations

import pytest

import netlab as nl
from netlab_course.chapters.congestion_control import plots, settings


@pytest.mark.library
def test_the_windows_of_several_controls_have_one_scale() -> None:
    path = settings.path(rate_mbps=10, delay_ms=20, queue_packets=33)
    runs = {name: nl.run(path, [nl.Tcp("h1", "h3", congestion=name)], duration_s=2) for name in ("reno", "cubic")}
    figure = plots.windows_figure(runs, 10, 40, 33, title="Two")
    assert [axis.matches for axis in figure.select_yaxes()] == ["y", "y"]
    assert [trace.name for trace in figure.data if trace.showlegend] == ["BDP", "BDP + queue"], "once for all strips"


@pytest.mark.library
@pytest.mark.parametrize(
    ("control", "named"),
    [
        ("tahoe", ["slow start", "additive increase"]),
        ("reno", ["slow start", "additive increase", "multiplicative decrease:<br>fast retransmit, fast recovery"]),
        (
            "cubic",
            ["slow start", "climb along a cubic curve", "multiplicative decrease:<br>fast retransmit, fast recovery"],
        ),
        ("bbr", []),
    ],
)
def test_a_window_is_named_by_what_its_control_does(control: str, named: list[str]) -> None:
    """Only Reno and Tahoe add a segment in each round trip, Tahoe has no fast recovery, and BBR none of these phases."""
    run = nl.run(settings.path(), [nl.Tcp("h1", "h3", congestion=control)], duration_s=12, interval_s=0.04)
    figure = plots.window_figure(run, 10, 40, 33, title="One")
    assert [note.text for note in figure.layout.annotations] == named
    assert ("fast recovery" in {trace.name for trace in figure.data}) == (control in {"reno", "cubic"})
