"""The figures of the chapter "Congestion control"."""

from __future__ import annotations

import pytest

import netlab as nl
from netlab.chapters.congestion_control import settings


@pytest.mark.library
def test_the_windows_of_several_controls_have_one_scale() -> None:
    path = settings.path(rate_mbps=10, delay_ms=20, queue_packets=33)
    runs = {name: nl.run(path, [nl.Tcp("h1", "h3", congestion=name)], duration_s=2) for name in ("reno", "cubic")}
    figure = settings.windows_figure(runs, 10, 40, 33, title="Two")
    assert [axis.matches for axis in figure.select_yaxes()] == ["y", "y"]
